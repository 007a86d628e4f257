package weir_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/gcra"
	"weir/policy"
)

// Who cannot be served in time because of those ahead is told so at once: 10 and then 1 permit of an empty key are due
// after 110 ms.
func TestWaitBehindOthersGivesUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := weir.New("gcra", tenIn100ms.WithBurst(20))
		require.NoError(t, err)
		drain(l, "a")
		a := newArrivals()
		a.come(ctx, 0, l, weir.N(10))
		short, cancel := context.WithTimeout(ctx, 110*time.Millisecond-1)
		defer cancel()
		require.ErrorIs(t, l.Wait(short, "a", weir.N(1)), context.DeadlineExceeded)
		require.Zero(t, time.Since(a.start))
		enough, cancel := context.WithTimeout(ctx, 110*time.Millisecond+1)
		defer cancel()
		a.come(enough, 1, l, weir.N(1))
		pass(time.Second)
		assert.Equal(t, []int{0, 1}, a.order)
		assert.Equal(t, 110*time.Millisecond, a.after[1])
	})
}

// The same where the line asks for more than one burst, as every line of two does at a burst of 1: three ahead are due
// after 300 ms, so a deadline of 350 ms cannot be met by the fourth.
func TestWaitBehindMoreThanABurstGivesUpAtOnce(t *testing.T) {
	bubble(t, weir.Per(1, 100*time.Millisecond), func(t *testing.T, l *weir.Local, _ *countingClock) {
		drain(l, "a")
		a := newArrivals()
		for i := range 3 {
			a.come(ctx, i, l, weir.N(1))
		}
		short, cancel := context.WithTimeout(ctx, 350*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, l.Wait(short, "a", weir.N(1)), context.DeadlineExceeded)
		assert.Zero(t, time.Since(a.start), "it is known from the start")
		pass(time.Second)
	})
}

func TestWaitCancelledWakesTheNext(t *testing.T) {
	bubble(t, weir.Per(1, 100*time.Millisecond), func(t *testing.T, l *weir.Local, clock *countingClock) {
		drain(l, "a")
		first, cancelFirst := context.WithCancel(ctx)
		third, cancelThird := context.WithCancel(ctx)
		a := newArrivals()
		a.come(first, 0, l, weir.N(1))
		a.come(ctx, 1, l, weir.N(1))
		a.come(third, 2, l, weir.N(1))
		a.come(ctx, 3, l, weir.N(1))
		pass(30 * time.Millisecond)
		cancelThird() // in the middle of the line
		cancelFirst() // the one that sleeps
		synctest.Wait()
		require.Equal(t, int64(2), clock.sleeps.Load(), "the second sleeps now")
		pass(time.Second)
		assert.ErrorIs(t, a.errors[0], context.Canceled)
		assert.ErrorIs(t, a.errors[2], context.Canceled)
		assert.Equal(t, []int{1, 3}, a.order)
		assert.Equal(t, 30*time.Millisecond, a.after[0])
		assert.Equal(t, 100*time.Millisecond, a.after[1], "the permit that the first gave up")
		assert.Equal(t, 200*time.Millisecond, a.after[3])
	})
}

// A line whose deadlines pass while it waits leaves nothing behind: synctest fails if a goroutine is left, and the next
// to come is served at once.
func TestWaitLeavesNoLineBehind(t *testing.T) {
	bubble(t, weir.Per(1, 100*time.Millisecond), func(t *testing.T, l *weir.Local, clock *countingClock) {
		drain(l, "a")
		a := newArrivals()
		stop, cancel := context.WithCancel(ctx)
		for i := range 50 {
			a.come(stop, i, l, weir.N(1))
		}
		cancel()
		synctest.Wait()
		for i := range 50 {
			require.True(t, errors.Is(a.errors[i], context.Canceled))
		}
		pass(100 * time.Millisecond)
		sleeps, start := clock.sleeps.Load(), time.Now()
		require.NoError(t, l.Wait(ctx, "a", weir.N(1)), "nothing was spent by those who left")
		assert.Zero(t, time.Since(start))
		assert.Equal(t, sleeps, clock.sleeps.Load())
	})
}

// A key that nobody waits for any more costs no memory.
func TestWaitLeavesNoMemoryBehind(t *testing.T) {
	l, _ := made(t, "gcra", tenIn100ms)
	short, cancel := context.WithDeadline(ctx, time.Now().Add(time.Hour))
	defer cancel()
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	require.NoError(t, l.SetLimit(ctx, weir.Per(1, 24*time.Hour)))
	const keys = 50_000
	var before int64
	for i := range 2 * keys {
		if i == keys { // tables have grown as far as they will
			before = heap()
		}
		key := strconv.Itoa(i)
		require.True(t, l.Allow(ctx, key).OK())
		require.ErrorIs(t, l.Wait(short, key, weir.N(1)), context.DeadlineExceeded)
		require.NoError(t, l.Forget(ctx, key))
	}
	assert.Less(t, heap()-before, int64(keys*16), "less than a pointer and a count a key")
	runtime.KeepAlive(l)
}

func TestWaitMeetsANewLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := weir.New("gcra", tenIn100ms)
		require.NoError(t, err)
		drain(l, "a")
		a := newArrivals()
		a.come(ctx, 0, l, weir.N(5))
		require.NoError(t, l.SetLimit(ctx, weir.Per(4, time.Second)))
		pass(time.Second)
		assert.ErrorIs(t, a.errors[0], weir.ErrTooCostly, "what can never fit any more ends")
	})
}

// Wait spends a cost as soon as the limit lets it, and a new limit acts at once: a waiter of a slow limit must not sleep
// out its old wait, here an hour, when the limit in force would have let it through long ago.
func TestWaitWakesForAFasterLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := weir.New("gcra", weir.Per(1, time.Hour))
		require.NoError(t, err)
		drain(l, "a")
		a := newArrivals()
		a.come(ctx, 0, l, weir.N(1))
		require.NoError(t, l.SetLimit(ctx, weir.Per(10, time.Second)))
		wait := l.Peek(ctx, "a", weir.N(1)).RetryAfter()
		pass(2 * time.Hour)
		assert.Equal(t, wait, a.after[0])
	})
}

// held is a policy whose Take, once told so, does something more after it has allowed; it counts peeks.
type held struct {
	policy.Policy
	after func()
	peeks atomic.Int64
}

func (h *held) Take(now, key, cost uint64) policy.Decision {
	d := h.Policy.Take(now, key, cost)
	if after := h.after; after != nil && d.OK() {
		h.after = nil
		after()
	}
	return d
}

func (h *held) Peek(now, key, cost uint64) policy.Decision {
	h.peeks.Add(1)
	return h.Policy.Peek(now, key, cost)
}

// One that has been served, but has not left its line yet, must not be counted twice against the deadline of one that
// comes in that moment: its cost is in the peek already.
func TestWaitDoesNotCountTheServedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := new(held)
		r := new(policy.Registry)
		require.NoError(t, r.Add("held", func(l policy.Limit, o policy.Options) (p policy.Policy, err error) {
			h.Policy, err = gcra.New(l, o)
			return h, err
		}))
		l, err := weir.New("held", weir.Per(1, time.Second).WithBurst(10), weir.WithRegistry(r))
		require.NoError(t, err)
		drain(l, "a")
		var second error
		a := newArrivals()
		h.after = func() { // after 1 s: the permit is charged, its waiter still in the line
			before := h.peeks.Load()
			go func() {
				enough, cancel := context.WithTimeout(ctx, 1500*time.Millisecond)
				defer cancel()
				second = l.Wait(enough, "a", weir.N(1))
			}()
			for i := 0; i < 100_000 && h.peeks.Load() == before; i++ {
				runtime.Gosched() // until it has joined and peeked, or some lock keeps it from that
			}
		}
		a.come(ctx, 0, l, weir.N(1))
		pass(5 * time.Second)
		require.NoError(t, a.errors[0])
		require.NoError(t, second, "its permit is due 1 s later, in time")
	})
}
