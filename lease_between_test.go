package weir_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/gcra"
	"weir/policy"
)

// interrupted is a clock whose next reading, once, lets something else happen first.
type interrupted struct {
	now  time.Duration
	hook func()
}

func (c *interrupted) Now() time.Duration {
	if hook := c.hook; hook != nil {
		c.hook = nil
		hook()
	}
	return c.now
}

func (*interrupted) Sleep(context.Context, time.Duration) error { return nil }

// forgetting lets something happen just before a key is forgotten.
type forgetting struct {
	policy.Policy
	before func()
}

func (f forgetting) Forget(key uint64) {
	f.before()
	f.Policy.Forget(key)
}

// refunding lets something happen just before something is given back.
type refunding struct {
	policy.Policy
	before func()
}

func (r refunding) Refund(now, key, cost uint64) policy.Outcome {
	r.before()
	return r.Policy.Refund(now, key, cost)
}

// passed is how many permits are let through at once, by the limiter and then by the lease.
func passed(t *testing.T, l *weir.Local, lease *weir.Lease) (n int) {
	t.Helper()
	for l.Allow(ctx, "a").OK() {
		require.Less(t, n, 1000)
		n++
	}
	for lease.Allow() {
		require.Less(t, n, 1000)
		n++
	}
	return n
}

// TestLeaseTakesWhileSomethingIsGivenBack: a lease that takes its permits between the moment when somebody is about to give
// back and the moment when he has must not hold them as if nothing had been given back.
func TestLeaseTakesWhileSomethingIsGivenBack(t *testing.T) {
	for _, name := range []string{"gcra", "tokenbucket", "leakybucket"} {
		make := func(clock *interrupted, o ...weir.Option) *weir.Local {
			l, err := weir.New(name, weir.Per(10, time.Second), append(o, weir.WithClock(clock))...)
			require.NoError(t, err)
			return l
		}
		lease := func(l *weir.Local, n uint64) *weir.Lease {
			s, err := l.Lease("a", n)
			require.NoError(t, err)
			return s
		}

		clock := &interrupted{}
		l := make(clock)
		s := lease(l, 5)
		require.True(t, l.AllowN(ctx, "a", weir.N(5)).OK())
		clock.hook = func() { s.AllowAt(0) }
		require.NoError(t, l.Refund(ctx, "a", weir.N(5)))
		clock.now = 500 * time.Millisecond
		assert.LessOrEqual(t, passed(t, l, s), 10, "%s: a refund", name)

		clock = &interrupted{}
		l = make(clock)
		one, other := lease(l, 5), lease(l, 5)
		require.True(t, one.Allow())
		clock.hook = func() { other.AllowAt(0) }
		one.Close()
		clock.now = 500 * time.Millisecond
		assert.LessOrEqual(t, passed(t, l, other), 10, "%s: another lease that closes", name)

		clock = &interrupted{}
		l = make(clock)
		s = lease(l, 10)
		clock.hook = func() { s.AllowAt(0) }
		require.NoError(t, l.SetLimit(ctx, weir.Per(100, time.Second).WithBurst(10)))
		clock.now = 100 * time.Millisecond
		assert.LessOrEqual(t, passed(t, l, s), 10, "%s: another limit", name)
	}
}

// TestLeaseTakesBeforeForget is the same where the key is forgotten.
func TestLeaseTakesBeforeForget(t *testing.T) {
	hook := func() {}
	var r policy.Registry
	require.NoError(t, r.Add("gcra", func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		p, err := gcra.New(l, o)
		return forgetting{p, func() { hook() }}, err
	}))
	l, err := weir.New("gcra", weir.Per(10, time.Second), weir.WithClock(&interrupted{}), weir.WithRegistry(&r))
	require.NoError(t, err)
	s, err := l.Lease("a", 10)
	require.NoError(t, err)
	hook = func() { s.AllowAt(0) }
	require.NoError(t, l.Forget(ctx, "a"))
	assert.LessOrEqual(t, passed(t, l, s), 10)
}

// TestLeaseClosesBeforeForget: what a lease gives back is of the key as it was, not of one that is forgotten in between: others
// have taken from that by then.
func TestLeaseClosesBeforeForget(t *testing.T) {
	hook := func() {}
	var r policy.Registry
	require.NoError(t, r.Add("gcra", func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		p, err := gcra.New(l, o)
		return refunding{p, func() { hook() }}, err
	}))
	l, err := weir.New("gcra", weir.Per(10, time.Second), weir.WithClock(&interrupted{}), weir.WithRegistry(&r))
	require.NoError(t, err)
	s, err := l.Lease("a", 10)
	require.NoError(t, err)
	require.True(t, s.Allow())
	var spent atomic.Uint64
	var done atomic.Bool
	hook = func() {
		go func() {
			defer done.Store(true)
			if assert.NoError(t, l.Forget(ctx, "a")) {
				for l.Allow(ctx, "a").OK() {
					spent.Add(1)
				}
			}
		}()
		for turn := 0; turn < 10_000 && !done.Load(); turn++ { // time enough, if it does not have to wait
			runtime.Gosched()
		}
	}
	s.Close()
	for !done.Load() {
		runtime.Gosched()
	}
	for l.Allow(ctx, "a").OK() {
		spent.Add(1)
	}
	assert.EqualValues(t, 10, spent.Load())
}
