package weir_test

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
)

func TestSetLimitKeepsWhatWasSpent(t *testing.T) {
	second := func(l weir.Limit) weir.Limit { return limitOf("dualbucket", l) }
	for _, row := range []struct {
		why      string
		from, to weir.Limit
		spent    uint64
		left     uint64 // under the new limit, at once
	}{
		{"the same tick, a larger burst", weir.Per(100, time.Second), weir.Per(200, time.Second), 60, 140},
		{"the same tick, a smaller burst", weir.Per(100, time.Second), weir.Per(50, time.Second), 20, 30},
		{"what was spent is more than the new burst", weir.Per(100, time.Second), weir.Per(50, time.Second), 60, 0},
		{"1 ns to 10 ns", weir.Per(100, time.Second), weir.Per(997, time.Second), 60, 937},
		{"10 ns to 1 ns", weir.Per(997, time.Second), weir.Per(1000, time.Second), 60, 940},
		{"1 ns to 1 ms", weir.Per(100, time.Second), weir.Per(100_000_007, time.Second), 60, 99_999_947},
		{"1 ms to 1 ns", weir.Per(100_000_007, time.Second), weir.Per(100, time.Second), 99, 1},
		{"another period", weir.Per(100, time.Second), weir.Per(100, time.Hour), 60, 40},
		{"the same again", weir.Per(100, time.Second), weir.Per(100, time.Second), 60, 40},
	} {
		for _, name := range []string{"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"} {
			from, to := row.from, row.to
			if name == "dualbucket" {
				if to.Permits > 1_000_000 || from.Permits > 1_000_000 {
					continue // its second limit would bind
				}
				from, to = second(from), second(to)
			}
			l, _ := made(t, name, from)
			require.True(t, l.AllowN(ctx, "a", weir.N(row.spent)).OK())
			require.NoError(t, l.SetLimit(ctx, to), name)
			assert.Equal(t, to, l.Limit(), "as it was given")
			assert.Equal(t, row.left, l.Peek(ctx, "a", weir.N(0)).Remaining(), "%s: %s", name, row.why)
			assert.Equal(t, row.left, drain(l, "a"), "%s: %s", name, row.why)
			assert.Equal(t, to.Permits, drain(l, "b"), "%s: a new key has all of the new limit", name)
		}
	}
}

// There and back between ticks of 1 ns and of 10 ns, at odd moments: never better than without.
func TestSetLimitThereAndBackMintsNothing(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		slow, fast := limitOf(name, weir.Per(100, time.Second)), limitOf(name, weir.Per(997, time.Second).WithBurst(100))
		l, clock := made(t, name, slow)
		still, stillClock := made(t, name, slow)
		drain(l, "a")
		drain(still, "a")
		for i := range 50 {
			clock.add(time.Duration(i % 13))
			stillClock.add(time.Duration(i % 13))
			require.NoError(t, l.SetLimit(ctx, fast))
			require.NoError(t, l.SetLimit(ctx, slow))
			got, most := stands(l, "a"), stands(still, "a")
			require.LessOrEqual(t, got[0], most[0])
			require.GreaterOrEqual(t, got[1], most[1])
			require.Less(t, got[1]-most[1], int64(time.Duration(i+1)*1100*time.Nanosecond), "what rounding up costs is little")
		}
		assert.Equal(t, 1, l.Keys())
	})
}

func TestSetLimitRefusedChangesNothing(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		given := limitOf(name, tenIn100ms)
		l, _ := made(t, name, given)
		require.True(t, l.AllowN(ctx, "a", weir.N(4)).OK())
		before := stands(l, "a")
		bad := map[string]struct {
			limit weir.Limit
			is    error
		}{
			"no permits":      {limitOf(name, weir.Per(0, time.Second)), weir.ErrInvalidPermits},
			"no period":       {limitOf(name, weir.Per(1, 0)), weir.ErrInvalidPeriod},
			"negative period": {limitOf(name, weir.Per(1, -1)), weir.ErrInvalidPeriod},
			"too large":       {limitOf(name, weir.Per(1<<63, 999999999)), weir.ErrLimitTooLarge},
			"second":          {weir.Per(1, time.Second), weir.ErrInvalidSecond},
		}
		if name != "dualbucket" {
			bad["second"] = struct {
				limit weir.Limit
				is    error
			}{weir.Per(1, time.Second).And(weir.Per(1, time.Second)), weir.ErrInvalidSecond}
		}
		for why, row := range bad {
			err := l.SetLimit(ctx, row.limit)
			require.ErrorIs(t, err, row.is, why)
			assertOneLine(t, err)
			assert.Equal(t, given, l.Limit())
			assert.Equal(t, before, stands(l, "a"))
		}
	})
}

func TestSetLimitOfALogDropsABurstAndSaysSo(t *testing.T) {
	log, text := logged()
	l, _ := made(t, "slidinglog", weir.Per(10, time.Second), weir.WithLogger(log))
	require.NoError(t, l.SetLimit(ctx, weir.Per(5, time.Second).WithBurst(7)))
	assert.Equal(t, 1, strings.Count(text.String(), "\n"))
	assert.Equal(t, uint64(5), drain(l, "a"))
	assert.Equal(t, weir.Per(5, time.Second).WithBurst(7), l.Limit())
}

// the contract: what is owed is at most the new burst, so a smaller burst forgives what was spent above it; a change back
// does not bring that back. So the two bursts of the next test are the same.
func TestSetLimitToASmallerBurstForgives(t *testing.T) {
	for _, name := range []string{"gcra", "tokenbucket", "leakybucket", "dualbucket"} {
		large, small := limitOf(name, weir.Per(100, time.Second).WithBurst(150)), limitOf(name, weir.Per(100, time.Second))
		l, _ := made(t, name, large)
		require.Equal(t, uint64(150), drain(l, "a"))
		require.NoError(t, l.SetLimit(ctx, small))
		require.Equal(t, uint64(0), drain(l, "a"))
		require.NoError(t, l.SetLimit(ctx, large))
		assert.Equal(t, uint64(50), drain(l, "a"), name)
	}
	// A log keeps its entries, whatever the permits: nothing is forgiven.
	l, _ := made(t, "slidinglog", weir.Per(150, time.Second))
	require.Equal(t, uint64(150), drain(l, "a"))
	require.NoError(t, l.SetLimit(ctx, weir.Per(100, time.Second)))
	require.NoError(t, l.SetLimit(ctx, weir.Per(150, time.Second)))
	assert.Equal(t, uint64(0), drain(l, "a"))
}

// A limit changes between two ticks while eight goroutines ask for one key on a clock that stands still: no more than the
// burst comes through, whatever the moment of the change.
func TestSetLimitUnderwayAdmitsNoMore(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		for round := range 20 {
			slow, fast := limitOf(name, weir.Per(100, time.Second)), limitOf(name, weir.Per(997, time.Second).WithBurst(100))
			most := int64(100)
			if name == "slidinglog" {
				most = 997
			}
			l, _ := made(t, name, slow)
			var admitted atomic.Int64
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 200 {
						if l.Allow(ctx, "a").OK() {
							admitted.Add(1)
						}
					}
				})
			}
			for range 30 {
				require.NoError(t, l.SetLimit(ctx, fast))
				require.NoError(t, l.SetLimit(ctx, slow))
			}
			wg.Wait()
			require.LessOrEqual(t, admitted.Load(), most, "round %d", round)
			require.GreaterOrEqual(t, admitted.Load(), int64(100))
			require.Equal(t, 1, l.Keys())
		}
	})
}

// Refund, Peek, Forget and Wait live through the same changes, and a forgotten key stays forgotten.
func TestSetLimitUnderwayLosesNoForget(t *testing.T) {
	l, _ := made(t, "gcra", weir.Per(100, time.Second))
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_ = l.SetLimit(ctx, weir.Per(997, time.Second))
				_ = l.SetLimit(ctx, weir.Per(100, time.Second))
			}
		}
	})
	for range 300 {
		drain(l, "a")
		require.NoError(t, l.Refund(ctx, "a", weir.N(1)))
		require.NoError(t, l.Forget(ctx, "a"))
		require.Zero(t, l.Keys())
		require.Zero(t, l.Peek(ctx, "a", weir.N(1)).ResetAfter())
	}
	close(stop)
	wg.Wait()
}

// 139 a second have a horizon of 384 days on ticks of 1 ns. A log's is 146 years.
func TestPastTheHorizonStartsAnewAndSaysSoOnce(t *testing.T) {
	const years = 365 * 24 * time.Hour
	eachPolicy(t, func(t *testing.T, name string) {
		log, text := logged()
		limit := limitOf(name, weir.Per(139, time.Second))
		l, clock := made(t, name, limit, weir.WithLogger(log))
		drain(l, "a")
		drain(l, "b")
		if name == "slidinglog" {
			clock.add(145 * years)
		}
		clock.add(2 * years)
		var wg sync.WaitGroup
		for range 4 { // whoever comes first renews
			wg.Go(func() { l.Peek(ctx, "a", weir.N(1)) })
		}
		wg.Wait()
		assert.Equal(t, 1, strings.Count(text.String(), "\n"), text.String())
		assert.Contains(t, text.String(), "starting anew")
		assert.Zero(t, l.Keys(), "every key is as new")
		assert.Equal(t, limit, l.Limit())
		assert.Equal(t, uint64(139), drain(l, "a"))
		r := l.Allow(ctx, "a")
		assert.Equal(t, weir.ErrDenied, r.Err(), "and it goes on deciding")
		clock.add(r.RetryAfter())
		assert.True(t, l.Allow(ctx, "a").OK())
		assert.Equal(t, 1, strings.Count(text.String(), "\n"))
		if name != "slidinglog" {
			clock.add(2 * years)
			require.NoError(t, l.Refund(ctx, "a", weir.N(1)))
			assert.Equal(t, 2, strings.Count(text.String(), "\n"), "the next horizon is another time")
		}
	})
}

// The same where the first to come after the horizon is SetLimit: the keys are lost there too.
func TestSetLimitPastTheHorizonSaysSo(t *testing.T) {
	log, text := logged()
	l, clock := made(t, "gcra", weir.Per(139, time.Second), weir.WithLogger(log))
	drain(l, "a")
	clock.add(2 * 365 * 24 * time.Hour)
	require.NoError(t, l.SetLimit(ctx, weir.Per(100, time.Second)))
	assert.Equal(t, uint64(100), drain(l, "a"))
	assert.Equal(t, 1, strings.Count(text.String(), "starting anew"), "every key was lost: %q", text.String())
}

// A new limit may have a nearer horizon than the time that the limiter has run.
func TestSetLimitToANearerHorizonKeepsTheKeys(t *testing.T) {
	for _, name := range []string{"gcra", "tokenbucket", "leakybucket", "dualbucket"} {
		l, clock := made(t, name, limitOf(name, weir.Per(100, time.Second)), weir.WithLogger(slog.New(slog.DiscardHandler)))
		clock.add(3 * 365 * 24 * time.Hour)
		require.True(t, l.AllowN(ctx, "a", weir.N(60)).OK())
		require.NoError(t, l.SetLimit(ctx, limitOf(name, weir.Per(139, time.Second))), name)
		assert.Equal(t, uint64(79), l.Peek(ctx, "a", weir.N(0)).Remaining(), name)
	}
}
