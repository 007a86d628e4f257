package weir_test

import (
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir"
	"weir/policy"
)

// ticks are those that a limiter may count in, from the contract.
var ticks = []time.Duration{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000}

// oracleTick is the contract's rule over big integers: the finest tick that divides the period and puts the horizon, the largest
// now with now * p < 2^62, 365 days away or more. 0 if there is none. p and q are the units of a tick and of a permit.
func oracleTick(permits uint64, period time.Duration, burst uint64) (tick time.Duration, p, q *big.Int) {
	most := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 62), big.NewInt(1))
	year := big.NewInt(365 * 24 * 3600 * 1e9)
	for _, t := range ticks {
		if period%t != 0 {
			continue
		}
		n, d := new(big.Int).SetUint64(permits), big.NewInt(int64(period/t))
		g := new(big.Int).GCD(nil, nil, n, d)
		p, q = new(big.Int).Div(n, g), new(big.Int).Div(d, g)
		tolerance := new(big.Int).Mul(q, new(big.Int).SetUint64(burst))
		horizon := new(big.Int).Div(most, p)
		if tolerance.Cmp(most) <= 0 && new(big.Int).Mul(horizon, big.NewInt(int64(t))).Cmp(year) >= 0 {
			return t, p, q
		}
	}
	return 0, p, q
}

// measured is the tick that a limiter counts in, seen from outside. A key that is drained t into a tick waits t less
// than one drained as the tick begins.
func measured(t testing.TB, l weir.Limit) (tick, wait time.Duration) {
	limiter, clock := made(t, "gcra", l)
	base := clock.Now()
	waitAt := func(at time.Duration) time.Duration {
		clock.set(base + at)
		require.NoError(t, limiter.Forget(ctx, "a"))
		drain(limiter, "a")
		return limiter.Allow(ctx, "a").RetryAfter()
	}
	wait = waitAt(0)
	for _, tick := range ticks {
		if waitAt(tick) == wait {
			require.Equal(t, wait-(tick-1), waitAt(tick-1), "the end of a tick of %v", tick)
			return tick, wait
		}
	}
	return 0, wait
}

func TestTicksAreTheFinestWithAYear(t *testing.T) {
	// p is the permits without what they have in common with the period. 2^62 - 1 units hold a year of 3.1536e16 ns
	// up to p = 146, and ten times that for each coarser tick.
	for _, row := range []struct {
		limit weir.Limit
		tick  time.Duration
		wait  time.Duration // of a drained key for one permit: ceil(period / tick / permits) ticks
	}{
		{weir.Per(1, time.Second), 1, time.Second},
		{weir.Per(3, time.Second), 1, 333_333_334},
		{weir.Per(100, time.Second).WithBurst(20), 1, 10 * time.Millisecond}, // p is 1
		{weir.Per(139, time.Second), 1, 7_194_245},                           // p is 139, 384 days
		{weir.Per(146, time.Second), 1, 6_849_316},                           // p is 73
		{weir.Per(149, time.Second), 10, 6_711_410},                          // p is 149, 358 days only; 6711409.4 ns
		{weir.Per(997, time.Second), 10, 1_003_010},                          // 1003009.03 ns
		{weir.Per(1453, time.Second), 10, 688_240},                           // 688231.2 ns
		{weir.Per(1471, time.Second), 100, 679_900},                          // 679809.7 ns
		{weir.Per(10_007, time.Second), 100, 100_000},                        // 99930.05 ns
		{weir.Per(100_003, time.Second), time.Microsecond, 10_000},           // 9999.7 ns
		{weir.Per(1_000_003, time.Second), 10 * time.Microsecond, 10_000},    // 999.997 ns, so one tick
		{weir.Per(10_000_019, time.Second), 100 * time.Microsecond, 100_000}, // less than a tick too
		{weir.Per(100_000_007, time.Second), time.Millisecond, 1_000_000},
		{weir.Per(146, 1_000_000_007), 1, 6_849_316},                // an odd period has 1 ns ticks only
		{weir.Per(997, 10_000_000_010), 10, 10_030_100},             // or 10 ns at most; 10030090.3 ns
		{weir.Per(1_000_000_000, time.Second), 1, 1},                // a permit each tick
		{weir.Per(1_000_000_000, time.Minute), 1, 60},               // p is 1
		{weir.Per(1, 100*365*24*time.Hour), 1, 876_000 * time.Hour}, // a century
		// A burst that 62 bits do not hold needs coarser ticks too: 1e9 permits of 6e10 ns are 6e19 units, above
		// 4.6e18; in 10 ns ticks 6e18, still above.
		{weir.Per(1, time.Minute).WithBurst(1_000_000_000), 100, time.Minute},
	} {
		t.Run(row.limit.String(), func(t *testing.T) {
			burst := max(row.limit.Burst, 1)
			oracle, _, _ := oracleTick(row.limit.Permits, row.limit.Period, burst)
			require.Equal(t, row.tick, oracle, "the row itself")
			tick, wait := measured(t, row.limit)
			assert.Equal(t, row.tick, tick)
			assert.Equal(t, row.wait, wait)
		})
	}
}

func TestTicksRefuseABurstThatATickRefillsOver(t *testing.T) {
	for _, row := range []struct {
		limit weir.Limit
		least uint64
	}{
		{weir.Per(1_000_001, time.Second).WithBurst(1), 11},    // 10 us ticks refill 10.00001 permits
		{weir.Per(1_000_001, time.Second).WithBurst(10), 11},   // still a little too few
		{weir.Per(2_000_000_000, time.Second).WithBurst(1), 2}, // two a nanosecond
		{weir.Per(100_000_007, time.Second).WithBurst(99), 100_001},
		{weir.Per(146, 1).WithBurst(145), 146},
	} {
		t.Run(row.limit.String(), func(t *testing.T) {
			_, err := weir.New("gcra", row.limit)
			require.ErrorIs(t, err, weir.ErrInvalidBurst)
			e := limitError(t, err)
			assert.Equal(t, policy.LimitError{Code: "invalid_burst", Field: "burst", Value: row.limit.Burst,
				Need: "at least", Bound: row.least}, *e)
			_, err = weir.New("gcra", row.limit.WithBurst(row.least))
			require.NoError(t, err, "the least burst is accepted")
			_, err = weir.New("gcra", row.limit.WithBurst(row.least-1))
			require.ErrorIs(t, err, weir.ErrInvalidBurst, "one less is not")
			// The same for either limit of a dual bucket.
			_, err = weir.New("dualbucket", row.limit.And(weir.Per(1, time.Second)))
			assert.Equal(t, "burst", limitError(t, err).Field)
			_, err = weir.New("dualbucket", weir.Per(1, time.Second).And(row.limit))
			assert.Equal(t, "burst2", limitError(t, err).Field)
			assert.Equal(t, row.least, limitError(t, err).Bound)
		})
	}
}

func TestTicksRefuseWhatIsTooFast(t *testing.T) {
	for _, row := range []struct {
		limit weir.Limit
		bound uint64
	}{
		{weir.Per(149, 1_000_000_007), 146},                 // 1 ns ticks, 146 units of one permit
		{weir.Per(298, 2_000_000_014), 292},                 // the same twice
		{weir.Per(146_235_607, time.Second), 146_235_604},   // 1 ms ticks, a year of 31,536,000,000 of them
		{weir.Per(1_000_000_007, time.Second), 146_235_604}, // far too fast
	} {
		t.Run(row.limit.String(), func(t *testing.T) {
			tick, _, _ := oracleTick(row.limit.Permits, row.limit.Period, row.limit.Permits)
			require.Zero(t, tick, "the row itself")
			_, err := weir.New("gcra", row.limit)
			require.ErrorIs(t, err, weir.ErrLimitTooLarge)
			e := limitError(t, err)
			assert.Equal(t, "permits", e.Field)
			assert.Equal(t, row.limit.Permits, e.Value)
			assert.Equal(t, row.bound, e.Bound)
			row.limit.Permits = e.Bound
			_, err = weir.New("gcra", row.limit)
			require.NoError(t, err, "the bound is accepted")
			_, err = weir.New("dualbucket", weir.Per(1, time.Second).And(weir.Per(e.Value, row.limit.Period)))
			assert.Equal(t, "permits2", limitError(t, err).Field)
		})
	}
}

// drawnLimit draws numbers of every size; periods mostly of round numbers, as people write them.
func drawnLimit(t *rapid.T) weir.Limit {
	size := func(label string, bits int) uint64 {
		return rapid.Uint64Range(1, 1<<rapid.IntRange(1, bits).Draw(t, label+" bits")).Draw(t, label)
	}
	unit := rapid.SampledFrom([]time.Duration{1, 10, 1000, 10_000, 1_000_000, time.Second, time.Hour}).Draw(t, "unit")
	l := weir.Per(size("permits", 40), unit*time.Duration(size("periods", 12)))
	if rapid.Bool().Draw(t, "with burst") {
		l = l.WithBurst(size("burst", 50))
	}
	return l
}

func TestTicksProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawnLimit(t)
		burst := l.Burst
		if burst == 0 {
			burst = l.Permits
		}
		tick, p, q := oracleTick(l.Permits, l.Period, burst)
		_, err := weir.New("gcra", l)
		if tick == 0 {
			require.ErrorIs(t, err, weir.ErrLimitTooLarge)
			var e *policy.LimitError
			require.ErrorAs(t, err, &e)
			checkBound(t, l, e)
			return
		}
		least := new(big.Int).Div(new(big.Int).Add(p, new(big.Int).Sub(q, big.NewInt(1))), q)
		if least.Cmp(new(big.Int).SetUint64(burst)) > 0 {
			require.ErrorIs(t, err, weir.ErrInvalidBurst)
			var e *policy.LimitError
			require.ErrorAs(t, err, &e)
			require.Equal(t, least.Uint64(), e.Bound)
			return
		}
		require.NoError(t, err)
	})
}

// checkBound tries the bound of a limit that is too large: what it was refused for must be gone.
func checkBound(t *rapid.T, l weir.Limit, e *policy.LimitError) {
	switch e.Field {
	case "permits":
		l.Permits = e.Bound
	case "burst":
		l.Burst = e.Bound
	default:
		t.Fatalf("refused for %s", e.Field)
	}
	require.Positive(t, e.Bound)
	_, err := weir.New("gcra", l)
	var next *policy.LimitError
	if errors.As(err, &next) {
		require.False(t, next.Field == e.Field && next.Code == e.Code, "%v, though %v", err, e)
	}
}
