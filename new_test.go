package weir_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/policy"
)

func TestNewMakesEachPolicy(t *testing.T) {
	require.Equal(t, []string{"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"}, weir.Names())
	eachPolicy(t, func(t *testing.T, name string) {
		given := limitOf(name, weir.Per(10, 100*time.Millisecond))
		l, err := weir.New(name, given)
		require.NoError(t, err)
		assert.Equal(t, name, l.Name())
		assert.Equal(t, given, l.Limit())
		assert.True(t, l.Allow(ctx, "a").OK())
		assert.Equal(t, 1, l.Keys())
	})
}

func TestDescribe(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		page, err := weir.Describe(name)
		require.NoError(t, err)
		for _, part := range []string{"What it is", "When to use it", "When not", "How it works", "Ties",
			"Exactness bound", "Parameters", "Complexity", "Memory", "Source", "Notes"} {
			assert.Contains(t, page, part)
		}
	})
	_, err := weir.Describe("gcar")
	assertListsNames(t, err)
}

func TestNewUnknownNameListsTheKnown(t *testing.T) {
	for _, name := range []string{
		"",            // nothing
		"GCRA",        // names are lower case
		"gcra ",       // and exact
		"fixedwindow", // a policy that is not offered
		"a\nb",        // stays one line
	} {
		_, err := weir.New(name, weir.Per(1, time.Second))
		assertListsNames(t, err)
	}
	empty := new(policy.Registry)
	_, err := weir.New("gcra", weir.Per(1, time.Second), weir.WithRegistry(empty))
	require.ErrorIs(t, err, weir.ErrUnknownPolicy)
}

func assertListsNames(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, weir.ErrUnknownPolicy)
	for _, known := range weir.Names() {
		assert.ErrorContains(t, err, known)
	}
	assertOneLine(t, err)
}

func assertOneLine(t *testing.T, err error) {
	t.Helper()
	assert.NotContains(t, err.Error(), "\n")
	assert.Less(t, len(err.Error()), 400)
}

func TestNewRefusesBadLimits(t *testing.T) {
	second := weir.Per(5, time.Hour)
	for _, row := range []struct {
		why, name string
		limit     weir.Limit
		is        error
		text      string // all of it
	}{
		{"no permits", "gcra", weir.Per(0, time.Second), weir.ErrInvalidPermits,
			"gcra: invalid_permits: permits is 0, must be at least 1"},
		{"no permits but a burst", "tokenbucket", weir.Per(0, time.Second).WithBurst(3), weir.ErrInvalidPermits,
			"tokenbucket: invalid_permits: permits is 0, must be at least 1"},
		{"no period", "leakybucket", weir.Per(1, 0), weir.ErrInvalidPeriod,
			"leakybucket: invalid_period: period is 0, must be at least 1"},
		{"negative period", "gcra", weir.Per(1, -time.Second), weir.ErrInvalidPeriod,
			"gcra: invalid_period: period is -1s, must be at least 1ns"},
		{"the most negative period", "slidinglog", weir.Per(1, math.MinInt64), weir.ErrInvalidPeriod,
			"slidinglog: invalid_period: period is -2562047h47m16.854775808s, must be at least 1ns"},
		{"nothing at all", "gcra", weir.Limit{}, weir.ErrInvalidPermits,
			"gcra: invalid_permits: permits is 0, must be at least 1"},
		{"a log without permits", "slidinglog", weir.Per(0, time.Second), weir.ErrInvalidPermits,
			"slidinglog: invalid_permits: permits is 0, must be at least 1"},
		{"a log without a period", "slidinglog", weir.Per(1, 0), weir.ErrInvalidPeriod,
			"slidinglog: invalid_period: period is 0, must be at least 1"},
		{"a log of 2^62 permits", "slidinglog", weir.Per(1<<62, time.Second), weir.ErrLimitTooLarge,
			"slidinglog: limit_too_large: permits is 4611686018427387904, must be at most 4611686018427387903"},
		{"a log of a period of 2^62", "slidinglog", weir.Per(1, 1<<62), weir.ErrLimitTooLarge,
			"slidinglog: limit_too_large: period is 4611686018427387904, must be at most 4611686018427387903"},
		{"a burst that 62 bits do not hold", "gcra", weir.Per(1, 1001*time.Nanosecond).WithBurst(1 << 60), weir.ErrLimitTooLarge,
			"gcra: limit_too_large: burst is 1152921504606846976, must be at most 4607078939487900"},
		{"a dual bucket with one limit", "dualbucket", weir.Per(1, time.Second), weir.ErrInvalidSecond,
			"dualbucket: invalid_second: permits2 is 0, must be at least 1"},
		{"a single one with two", "gcra", weir.Per(1, time.Second).And(second), weir.ErrInvalidSecond,
			"gcra: invalid_second: permits2 is 5, must be exactly 0"},
		{"a log with two", "slidinglog", weir.Per(1, time.Second).And(second), weir.ErrInvalidSecond,
			"slidinglog: invalid_second: permits2 is 5, must be exactly 0"},
		{"the second without permits", "dualbucket", second.And(weir.Per(0, time.Second)), weir.ErrInvalidPermits,
			"dualbucket: invalid_permits: permits2 is 0, must be at least 1"},
		{"the second without a period", "dualbucket", second.And(weir.Per(1, 0)), weir.ErrInvalidPeriod,
			"dualbucket: invalid_period: period2 is 0, must be at least 1"},
		{"the second with a negative period", "dualbucket", second.And(weir.Per(1, -1)), weir.ErrInvalidPeriod,
			"dualbucket: invalid_period: period2 is -1ns, must be at least 1ns"},
		{"the first fault of the first limit comes first", "dualbucket", weir.Per(0, 0).And(weir.Per(0, time.Second)), weir.ErrInvalidPermits,
			"dualbucket: invalid_permits: permits is 0, must be at least 1"},
	} {
		t.Run(row.why, func(t *testing.T) {
			l, err := weir.New(row.name, row.limit)
			require.ErrorIs(t, err, row.is)
			assert.Equal(t, row.text, err.Error())
			assert.Nil(t, l)
		})
	}
}

func TestNewRefusesBadOptions(t *testing.T) {
	good := weir.Per(1, time.Second)
	for _, row := range []struct {
		why    string
		option weir.Option
		text   string
	}{
		{"no clock", weir.WithClock(nil), "clock is nil"},
		{"no registry", weir.WithRegistry(nil), "registry is nil"},
		{"no logger", weir.WithLogger(nil), "logger is nil"},
		{"room for no key", weir.WithMaxKeys(0), "invalid_max_keys: max_keys is 0, must be at least 1"},
	} {
		t.Run(row.why, func(t *testing.T) {
			l, err := weir.New("gcra", good, row.option)
			require.ErrorContains(t, err, row.text)
			assert.Nil(t, l)
			assertOneLine(t, err)
		})
	}
	_, err := weir.New("gcra", good, weir.WithMaxKeys(0))
	require.ErrorIs(t, err, weir.ErrInvalidMaxKeys)
}

// No panic on any input: an Option may be nil, as one chosen by an if without an else is.
func TestNewTakesANilOptionWithoutPanic(t *testing.T) {
	require.NotPanics(t, func() { _, _ = weir.New("gcra", weir.Per(1, time.Second), nil) })
}

func TestNewFillsTheBurst(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, _ := made(t, name, limitOf(name, weir.Per(7, time.Second)))
		assert.Equal(t, uint64(7), drain(l, "a"), "the default burst is the permits")
		assert.Equal(t, weir.ErrTooCostly, l.AllowN(ctx, "b", weir.N(8)).Err())
		assert.Equal(t, uint64(0), l.Limit().Burst, "Limit is as it was given")
	})
	// The second burst is filled from the second permits.
	l, _ := made(t, "dualbucket", weir.Per(100, time.Second).And(weir.Per(3, time.Hour)))
	assert.Equal(t, uint64(3), drain(l, "a"))
}

func TestNewSlidingLogDropsABurstAndSaysSoOnce(t *testing.T) {
	for _, row := range []struct {
		burst uint64
		lines int
	}{
		{0, 0},  // none
		{10, 0}, // its permits, which are its burst by nature
		{20, 1}, // dropped
		{1, 1},  // dropped too, though it is smaller
	} {
		log, text := logged()
		l, _ := made(t, "slidinglog", weir.Per(10, time.Second).WithBurst(row.burst), weir.WithLogger(log))
		for range 3 {
			l.Allow(ctx, "a")
		}
		assert.Equal(t, row.lines, strings.Count(text.String(), "\n"), text.String())
		assert.Equal(t, uint64(7), l.Peek(ctx, "a", weir.N(0)).Remaining())
		if row.lines > 0 {
			assert.Contains(t, text.String(), "burst")
		}
	}
}
