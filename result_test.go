package weir_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir"
	"weir/policy"
)

// oddLimits count in ticks of every size and have emission intervals that do not come out even.
var oddLimits = []weir.Limit{
	weir.Per(3, time.Second),
	weir.Per(100, time.Second).WithBurst(20),
	weir.Per(997, time.Second),                     // 10 ns
	weir.Per(10_007, time.Second).WithBurst(5),     // 100 ns
	weir.Per(100_003, time.Second).WithBurst(3),    // 1 us
	weir.Per(1_000_003, time.Second).WithBurst(12), // 10 us
	weir.Per(10_000_019, time.Second),              // 100 us
	weir.Per(100_000_007, time.Second),             // 1 ms
	weir.Per(7, 1_000_003),                         // an odd number of nanoseconds
	weir.Per(1, 24*time.Hour).WithBurst(2),         // slow
}

// TestWaitsAreExactOnEveryPolicy asks, after a few requests at odd moments, one nanosecond before each wait is over and
// when it is.
func TestWaitsAreExactOnEveryPolicy(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		asked, denied := 0, 0
		rapid.Check(t, func(rt *rapid.T) {
			limit := rapid.SampledFrom(oddLimits).Draw(rt, "limit")
			if name == "dualbucket" {
				limit = limit.And(rapid.SampledFrom(oddLimits).Draw(rt, "second"))
				if _, err := weir.New(name, limit); err != nil {
					return // no tick suits both
				}
			}
			l, clock := made(t, name, limit)
			interval := int64(limit.Period) / int64(limit.Permits)
			for range rapid.IntRange(1, 12).Draw(rt, "requests") {
				clock.add(time.Duration(rapid.Int64Range(0, 2*interval+2_000_001).Draw(rt, "pause")))
				cost := costUpTo(l).Draw(rt, "cost")
				asked++
				denied += checkWaits(rt, l, clock, cost)
				l.AllowN(ctx, "a", cost)
			}
			cost := costUpTo(l).Draw(rt, "last cost")
			drain(l, "a")
			denied += checkWaits(rt, l, clock, cost)
		})
		assert.Greater(t, 5*denied, asked, "a fifth must be denials, or little was tested")
	})
}

// costUpTo draws costs that fit a limiter's burst, with each share by itself.
func costUpTo(l *weir.Local) *rapid.Generator[weir.Cost] {
	limit := l.Limit()
	most := func(permits, burst uint64) uint64 {
		if burst == 0 || l.Name() == "slidinglog" {
			return permits
		}
		return burst
	}
	first := most(limit.Permits, limit.Burst)
	second := max(first, 1)
	if limit.Permits2 > 0 {
		second = most(limit.Permits2, limit.Burst2)
	}
	return rapid.Custom(func(t *rapid.T) weir.Cost {
		return weir.Both(rapid.Uint64Range(0, first).Draw(t, "first"), rapid.Uint64Range(0, second).Draw(t, "second"))
	})
}

// checkWaits holds RetryAfter, ResetAfter and Next of a peek to what peeks at those moments say. It returns 1 if the
// peek was denied.
func checkWaits(t *rapid.T, l *weir.Local, clock *fakeClock, cost weir.Cost) (denied int) {
	now := clock.Now()
	defer clock.set(now)
	at := func(wait time.Duration) weir.Result {
		clock.set(now + wait)
		return l.Peek(ctx, "a", cost)
	}
	r := at(0)
	if r.Outcome() == policy.Deny {
		denied = 1
		require.Positive(t, r.RetryAfter())
		require.Equal(t, policy.Deny, at(r.RetryAfter()-1).Outcome(), "1 ns before it is due: %v", r)
		require.True(t, at(r.RetryAfter()).OK(), "when it is due: %v", r)
	} else {
		require.True(t, r.OK())
		require.Zero(t, r.RetryAfter())
	}
	if reset := r.ResetAfter(); reset > 0 {
		require.Equal(t, time.Duration(1), at(reset-1).ResetAfter(), "1 ns before: %v", r)
		require.Zero(t, at(reset).ResetAfter(), "after it: %v", r)
	}
	if next := r.Next(); next > 0 {
		require.Equal(t, r.Remaining(), at(next-1).Remaining(), "1 ns before the next permit: %v", r)
		require.Greater(t, at(next).Remaining(), r.Remaining(), "with the next permit: %v", r)
	}
	return denied
}

func TestLeakyBucketDelayIsExact(t *testing.T) {
	// 997/s counts in 10 ns: a permit leaks in 100300.9 ticks. Each row asks at another nanosecond of the tick.
	l, clock := made(t, "leakybucket", weir.Per(997, time.Second))
	base := clock.Now()
	for _, row := range []struct{ at, delay time.Duration }{
		{0, 0},               // the bucket was empty
		{0, 1_003_010},       // 1003009.03 ns of water, in whole ticks
		{9, 2_006_020 - 9},   // 2006018.05, from tick 0 on
		{10, 3_009_030 - 10}, // 3009027.08
		{1_000_007, 4_012_040 - 1_000_007},
	} {
		clock.set(base + row.at)
		r := l.Allow(ctx, "a")
		require.True(t, r.OK())
		assert.Equal(t, row.delay, r.Delay(), "at %v", row.at)
	}
}

func TestResultText(t *testing.T) {
	l, clock := made(t, "gcra", weir.Per(2, time.Second))
	assert.Equal(t, "allow, remaining 1, retry after 0s, reset after 500ms", l.Allow(ctx, "a").String())
	assert.Equal(t, "allow, remaining 0, retry after 0s, reset after 1s", l.Allow(ctx, "a").String())
	clock.add(100 * time.Millisecond)
	assert.Equal(t, "deny, remaining 0, retry after 400ms, reset after 900ms", l.Allow(ctx, "a").String())
	assert.Equal(t, "too_costly, remaining 0, retry after never, reset after 900ms", l.AllowN(ctx, "a", weir.N(3)).String())
	assert.Equal(t, "none, remaining 0, retry after never, reset after 0s", weir.Result{}.String())
}

func TestResultNeverAndZero(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, _ := made(t, name, limitOf(name, weir.Per(10, time.Second)), weir.WithMaxKeys(1))
		require.True(t, l.Allow(ctx, "a").OK())
		for _, row := range []struct {
			key  string
			cost uint64
			err  error
		}{
			{"a", 11, weir.ErrTooCostly},
			{"b", 1, weir.ErrFull},
			{"b", 1 << 63, weir.ErrTooCostly}, // decided before full
		} {
			for _, r := range []weir.Result{l.Peek(ctx, row.key, weir.N(row.cost)), l.AllowN(ctx, row.key, weir.N(row.cost))} {
				assert.Equal(t, row.err, r.Err())
				assert.False(t, r.OK())
				assert.Equal(t, weir.Never, r.RetryAfter())
			}
		}
	})
	var zero weir.Result
	assert.False(t, zero.OK())
	assert.Equal(t, weir.ErrUnavailable, zero.Err())
	assert.Equal(t, weir.Never, zero.RetryAfter())
	assert.Zero(t, zero.ResetAfter())
}

func TestDualBucketBinding(t *testing.T) {
	l, _ := made(t, "dualbucket", weir.Per(10, time.Second).And(weir.Per(3, time.Hour)))
	assert.Equal(t, policy.Second, l.Allow(ctx, "a").Binding(), "2 left of 3")
	assert.Equal(t, policy.First, l.AllowN(ctx, "a", weir.Both(8, 0)).Binding(), "1 left of 10, 2 of 3")
	r := l.AllowN(ctx, "a", weir.Both(2, 1))
	assert.Equal(t, policy.Deny, r.Outcome())
	assert.Equal(t, policy.First, r.Binding())
	assert.Equal(t, uint64(1), r.Remaining())
	r = l.AllowN(ctx, "a", weir.Both(0, 4))
	assert.Equal(t, policy.TooCostly, r.Outcome())
	assert.Equal(t, policy.Second, r.Binding())
}
