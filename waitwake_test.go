package weir_test

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/gcra"
	"weir/policy"
)

// fickle is a GCRA whose peeks allow and whose takes are denied a second later.
type fickle struct{ policy.Policy }

func (f fickle) TakeUndo(now, key, cost, cost2 uint64) (policy.Decision, func() bool) {
	time.Sleep(time.Second) // the bubble's: time for somebody else
	return policy.Answered(policy.Answer{Outcome: policy.Deny, RetryAfter: 1}, 0), nil
}

func fickleRegistry(t *testing.T) *policy.Registry {
	r := new(policy.Registry)
	require.NoError(t, r.Add("gcra", func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		p, err := gcra.New(l, o)
		return fickle{p}, err
	}))
	return r
}

// granted waits on a limiter in a goroutine and gives how long that took.
func granted(l weir.Limiter) <-chan time.Duration {
	took := make(chan time.Duration, 1)
	began := time.Now()
	go func() {
		if l.Wait(context.Background(), "a", weir.N(1)) == nil {
			took <- time.Since(began)
		}
		close(took)
	}()
	return took
}

// A charge that All takes back lets pass at once who began to wait while it stood.
func TestWaitWakesForAnUndo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hourly, err := weir.New("gcra", weir.Per(1, time.Hour))
		require.NoError(t, err)
		other, err := weir.New("gcra", weir.Per(1, time.Hour), weir.WithRegistry(fickleRegistry(t)))
		require.NoError(t, err)
		both, err := weir.All(hourly, other)
		require.NoError(t, err)
		go both.Allow(context.Background(), "a")
		synctest.Wait() // the first member is charged, the second thinks it over
		assert.Equal(t, time.Second, <-granted(hourly))
	})
}

// What is given back to a member, or a new limit for it, wakes who waits on All.
func TestWaitOnAllHearsMembers(t *testing.T) {
	for _, row := range []struct {
		what string
		do   func(l *weir.Local) error
	}{
		{"a refund", func(l *weir.Local) error { return l.Refund(ctx, "a", weir.N(1)) }},
		{"a key forgotten", func(l *weir.Local) error { return l.Forget(ctx, "a") }},
		{"a faster limit", func(l *weir.Local) error { return l.SetLimit(ctx, weir.Per(60, time.Minute)) }},
	} {
		synctest.Test(t, func(t *testing.T) {
			hourly, err := weir.New("gcra", weir.Per(1, time.Hour))
			require.NoError(t, err)
			often, err := weir.New("gcra", weir.Per(100, time.Second))
			require.NoError(t, err)
			both, err := weir.All(often, hourly)
			require.NoError(t, err)
			require.True(t, both.Allow(ctx, "a").OK())
			took := granted(both)
			time.Sleep(time.Minute)
			require.NoError(t, row.do(hourly))
			assert.LessOrEqual(t, <-took, time.Minute+time.Second, row.what)
		})
	}
}

// stuck is a clock whose sleeps end at once though no time passes.
type stuck struct{}

func (stuck) Now() time.Duration                         { return 0 }
func (stuck) Sleep(context.Context, time.Duration) error { return nil }

// A clock that does not do what it is told cannot make a waiter deaf.
func TestWaitOnAStuckClockHearsItsContext(t *testing.T) {
	l, err := weir.New("gcra", weir.Per(1, time.Second), weir.WithClock(stuck{}))
	require.NoError(t, err)
	require.NoError(t, l.Wait(ctx, "a", weir.N(1)))
	cancelled, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- l.Wait(cancelled, "a", weir.N(1)) }()
	cancel()
	assert.ErrorIs(t, <-done, context.Canceled)
}

// A peak leaves few keys behind: 200,000 of them, all idle, and then as many new ones with one live at a time.
func TestPeakIsForgotten(t *testing.T) {
	peak := 200_000
	l, clock := made(t, "gcra", weir.Per(1, time.Millisecond))
	for i := range peak {
		l.AllowN(ctx, strconv.Itoa(i), weir.N(1))
	}
	require.Equal(t, peak, l.Keys())
	for i := range peak {
		clock.add(time.Millisecond)
		l.AllowN(ctx, strconv.Itoa(peak+i), weir.N(1))
	}
	assert.Less(t, l.Keys(), 1000)
}
