package weir_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/policy"
)

// countingClock is the bubble's clock, and counts who sleeps on it.
type countingClock struct {
	base   time.Time
	sleeps atomic.Int64
}

func (c *countingClock) Now() time.Duration { return time.Since(c.base) }

func (c *countingClock) Sleep(ctx context.Context, d time.Duration) error {
	c.sleeps.Add(1)
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// bubble runs a test on each policy inside synctest, with a limiter on the bubble's clock. No time passes in it but what
// somebody sleeps, so an equality of times is exact.
func bubble(t *testing.T, l weir.Limit, test func(t *testing.T, l *weir.Local, clock *countingClock), o ...weir.Option) {
	eachPolicy(t, func(t *testing.T, name string) {
		synctest.Test(t, func(t *testing.T) {
			clock := &countingClock{base: time.Now()}
			limiter, err := weir.New(name, limitOf(name, l), append(o, weir.WithClock(clock))...)
			require.NoError(t, err)
			test(t, limiter, clock)
		})
	})
}

// arrivals lets waiters come one after the other and notes when each was served, and with what error.
type arrivals struct {
	mu     sync.Mutex
	start  time.Time
	order  []int
	after  map[int]time.Duration
	errors map[int]error
}

func newArrivals() *arrivals {
	return &arrivals{start: time.Now(), after: map[int]time.Duration{}, errors: map[int]error{}}
}

// come starts waiter i and returns when it sleeps or has been served.
func (a *arrivals) come(ctx context.Context, i int, l weir.Limiter, c weir.Cost) {
	go func() {
		err := l.Wait(ctx, "a", c)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.after[i], a.errors[i] = time.Since(a.start), err
		if err == nil {
			a.order = append(a.order, i)
		}
	}()
	synctest.Wait()
}

// pass lets time go by, and returns when all that it brings has been done.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestWaitSleepsUntilTheExactInstant(t *testing.T) {
	bubble(t, tenIn100ms, func(t *testing.T, l *weir.Local, clock *countingClock) {
		time.Sleep(17 * time.Nanosecond)
		drain(l, "a")
		start, wait := time.Now(), l.Peek(ctx, "a", weir.N(3)).RetryAfter()
		require.NoError(t, l.Wait(ctx, "a", weir.N(3)))
		assert.Equal(t, wait, time.Since(start))
		assert.Equal(t, int64(1), clock.sleeps.Load())
		start = time.Now()
		require.NoError(t, l.Wait(ctx, "b", weir.N(10)), "what fits is not waited for")
		assert.Zero(t, time.Since(start))
	})
}

// The default clock is the process's own, which inside a bubble is the bubble's; ticks of 10 ns make no difference.
func TestWaitOnTheDefaultClock(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		synctest.Test(t, func(t *testing.T) {
			l, err := weir.New(name, limitOf(name, weir.Per(997, time.Second)))
			require.NoError(t, err)
			time.Sleep(1234567 * time.Nanosecond)
			drain(l, "a")
			start, wait := time.Now(), l.Peek(ctx, "a", weir.N(1)).RetryAfter()
			require.Positive(t, wait)
			require.NoError(t, l.Wait(ctx, "a", weir.N(1)))
			assert.Equal(t, wait, time.Since(start))
			time.Sleep(time.Second + time.Millisecond)
			assert.Zero(t, l.Peek(ctx, "a", weir.N(0)).ResetAfter())
		})
	})
}

func TestWaitServesInOrderWithOneWakeAGrant(t *testing.T) {
	bubble(t, weir.Per(1, 100*time.Millisecond), func(t *testing.T, l *weir.Local, clock *countingClock) {
		drain(l, "a")
		const waiters = 20
		a, want := newArrivals(), []int(nil)
		for i := range waiters {
			a.come(ctx, i, l, weir.N(1))
			want = append(want, i)
		}
		assert.Equal(t, int64(1), clock.sleeps.Load(), "the others wait for their turn")
		pass(waiters * 100 * time.Millisecond)
		assert.Equal(t, want, a.order)
		for i := range waiters {
			require.NoError(t, a.errors[i])
			assert.Equal(t, time.Duration(i+1)*100*time.Millisecond, a.after[i], "waiter %d", i)
		}
		assert.Equal(t, int64(waiters), clock.sleeps.Load())
	})
}

// A small cost does not overtake a large one, though it would fit when it comes, and other keys are another line.
func TestWaitLargeCostIsNotOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := weir.New("gcra", tenIn100ms)
		require.NoError(t, err)
		drain(l, "a")
		a := newArrivals()
		a.come(ctx, 0, l, weir.N(10))
		require.NoError(t, l.Wait(ctx, "b", weir.N(10)))
		require.Zero(t, time.Since(a.start))
		pass(50 * time.Millisecond)
		require.True(t, l.Peek(ctx, "a", weir.N(1)).OK())
		a.come(ctx, 1, l, weir.N(1))
		pass(time.Second)
		assert.Equal(t, []int{0, 1}, a.order)
		assert.Equal(t, map[int]time.Duration{0: 100 * time.Millisecond, 1: 110 * time.Millisecond}, a.after)
	})
}

// Somebody who does not wait may take what a waiter was sleeping for: of 2 permits that are due after 200 ms one is taken
// at 150 ms. The waiter sleeps again, and is not lost.
func TestWaitSleepsAgainWhenOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := weir.New("gcra", weir.Per(1, 100*time.Millisecond).WithBurst(2))
		require.NoError(t, err)
		drain(l, "a")
		a := newArrivals()
		a.come(ctx, 0, l, weir.N(2))
		pass(150 * time.Millisecond)
		require.True(t, l.Allow(ctx, "a").OK())
		pass(time.Second)
		assert.Equal(t, 300*time.Millisecond, a.after[0])
	})
}

func TestWaitGivesUpAtOnceWhenTheDeadlineComesFirst(t *testing.T) {
	bubble(t, tenIn100ms, func(t *testing.T, l *weir.Local, clock *countingClock) {
		drain(l, "a")
		wait, before, start := l.Peek(ctx, "a", weir.N(1)).RetryAfter(), stands(l, "a"), time.Now()
		short, cancel := context.WithTimeout(ctx, wait-1)
		defer cancel()
		err := l.Wait(short, "a", weir.N(1))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assertOneLine(t, err)
		assert.Zero(t, time.Since(start))
		assert.Zero(t, clock.sleeps.Load())
		assert.Equal(t, before, stands(l, "a"), "nothing is spent")
		enough, cancel := context.WithTimeout(ctx, wait+1)
		defer cancel()
		require.NoError(t, l.Wait(enough, "a", weir.N(1)))
		assert.Equal(t, wait, time.Since(start))
	})
}

func TestWaitNeverWaitsForWhatCannotBe(t *testing.T) {
	bubble(t, tenIn100ms, func(t *testing.T, l *weir.Local, clock *countingClock) {
		drain(l, "a")
		done, cancel := context.WithCancel(ctx)
		cancel()
		late, cancel := context.WithDeadline(ctx, time.Now().Add(-1))
		defer cancel()
		a := newArrivals()
		a.come(ctx, 0, l, weir.N(1)) // there is a line
		for _, row := range []struct {
			why  string
			ctx  context.Context
			key  string
			cost uint64
			is   error
		}{
			{"too costly, of a key without a line", ctx, "stranger", 11, weir.ErrTooCostly},
			{"too costly, behind others", ctx, "a", 11, weir.ErrTooCostly},
			{"no room", ctx, "stranger", 1, weir.ErrFull},
			{"cancelled before", done, "a", 1, context.Canceled},
			{"cancelled before, though it would fit", done, "stranger", 0, context.Canceled},
			{"late", late, "a", 1, context.DeadlineExceeded},
		} {
			err := l.Wait(row.ctx, row.key, weir.N(row.cost))
			assert.ErrorIs(t, err, row.is, row.why)
		}
		assert.Zero(t, time.Since(a.start))
		assert.Equal(t, int64(1), clock.sleeps.Load())
		require.NoError(t, l.Wait(ctx, "stranger", weir.N(0)), "a cost of 0 fits always")
		assert.Equal(t, 1, l.Keys())
		pass(time.Second)
	}, weir.WithMaxKeys(1))
}

// A cost of 0 is always allowed: it has nothing to wait for, whoever waits.
func TestWaitForNothingDoesNotQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := weir.New("gcra", tenIn100ms)
		require.NoError(t, err)
		drain(l, "a")
		a := newArrivals()
		a.come(ctx, 0, l, weir.N(1))
		require.NoError(t, l.Wait(ctx, "a", weir.N(0)))
		assert.Zero(t, time.Since(a.start))
		pass(time.Second)
	})
}

func TestWaitErrorsAreThoseOfAPeek(t *testing.T) {
	for outcome, err := range map[policy.Outcome]error{policy.TooCostly: weir.ErrTooCostly, policy.Full: weir.ErrFull,
		policy.PastHorizon: weir.ErrPastHorizon, policy.Unavailable: weir.ErrUnavailable} {
		assert.True(t, errors.Is(outcome.Err(), err))
	}
}
