package policy_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

const bound = 1 << 62

func limit(permits, period, burst uint64) policy.Limit {
	return policy.Limit{Permits: permits, Period: period, Burst: burst}
}

func dual(permits, period, burst, permits2, period2, burst2 uint64) policy.Limit {
	return policy.Limit{Permits: permits, Period: period, Burst: burst, Permits2: permits2, Period2: period2, Burst2: burst2}
}

// The three ways to read a limit.
func bucket(l policy.Limit) error  { _, err := l.Scale(); return err }
func window(l policy.Limit) error  { return l.Window() }
func buckets(l policy.Limit) error { _, _, err := l.Scales(); return err }

// TestLimitErrors has every refusal of the contract, which comes first where several apply, and beside each the nearest limit
// that is legal.
func TestLimitErrors(t *testing.T) {
	for _, row := range []struct {
		why  string
		read func(policy.Limit) error
		l    policy.Limit
		want string // "" for a legal limit
	}{
		{"a second limit: first number", bucket, dual(0, 0, 0, 5, 6, 7), "invalid_second: permits2 is 5, must be exactly 0"},
		{"its period alone", bucket, dual(1, 1, 1, 0, 6, 7), "invalid_second: period2 is 6, must be exactly 0"},
		{"its burst alone", bucket, dual(1, 1, 1, 0, 0, 7), "invalid_second: burst2 is 7, must be exactly 0"},
		{"a log with one", window, dual(0, 0, 0, 0, 0, 7), "invalid_second: burst2 is 7, must be exactly 0"},
		{"two buckets without", buckets, limit(0, 0, 0), "invalid_second: permits2 is 0, must be at least 1"},
		{"nothing given", bucket, limit(0, 0, 0), "invalid_permits: permits is 0, must be at least 1"},
		{"permits before size", bucket, limit(0, bound, bound), "invalid_permits: permits is 0, must be at least 1"},
		{"then the period", bucket, limit(1, 0, 0), "invalid_period: period is 0, must be at least 1"},
		{"period before size", bucket, limit(bound, 0, bound), "invalid_period: period is 0, must be at least 1"},
		{"then the burst", bucket, limit(bound, bound, 0), "invalid_burst: burst is 0, must be at least 1"},
		{"the smallest limit", bucket, limit(1, 1, 1), ""},
		{"L = 2^62", bucket, limit(1, 1, bound), "limit_too_large: burst is 4611686018427387904, must be at most 4611686018427387903"},
		{"L = 2^62-1", bucket, limit(1, 1, bound-1), ""},
		{"L = 2^31 * 2^31", bucket, limit(1, 1<<31, 1<<31), "limit_too_large: burst is 2147483648, must be at most 2147483647"},
		{"L = 2^31 * (2^31-1)", bucket, limit(1, 1<<31, 1<<31-1), ""},
		{"L beyond 64 bits", bucket, limit(1, 1<<40, 1<<40), "limit_too_large: burst is 1099511627776, must be at most 4194303"},
		{"in lowest terms it fits", bucket, limit(1<<20, 1<<40, 1<<40), ""},
		{"q = 2^62: not even one", bucket, limit(1, bound, 1), "limit_too_large: period is 4611686018427387904, must be at most 4611686018427387903"},
		{"q = 2^62-1: one", bucket, limit(1, bound-1, 1), ""},
		{"q = 2^62-1: not two", bucket, limit(1, bound-1, 2), "limit_too_large: burst is 2, must be at most 1"},
		{"2 per 2^63 is 1 per 2^62", bucket, limit(2, 1<<63, 1), "limit_too_large: period is 9223372036854775808, must be at most 9223372036854775806"},
		{"2 per 2^63-2", bucket, limit(2, 1<<63-2, 1), ""},
		{"p = 2^62", bucket, limit(bound, 1, 1), "limit_too_large: permits is 4611686018427387904, must be at most 4611686018427387903"},
		{"p = 2^62-1", bucket, limit(bound-1, 1, 1), ""},
		{"p = 2^61 in lowest terms", bucket, limit(bound, 2, 1), ""},
		{"a log of any burst", window, limit(3, 10, 2), "invalid_burst: burst is 2, must be exactly 3"},
		{"no permits come first", window, limit(0, 0, 2), "invalid_permits: permits is 0, must be at least 1"},
		{"then the period", window, limit(3, 0, 2), "invalid_period: period is 0, must be at least 1"},
		{"the burst before the size", window, limit(bound, bound, 2), "invalid_burst: burst is 2, must be exactly 4611686018427387904"},
		{"permits 2^62", window, limit(bound, bound, 0), "limit_too_large: permits is 4611686018427387904, must be at most 4611686018427387903"},
		{"period 2^62", window, limit(1, bound, 0), "limit_too_large: period is 4611686018427387904, must be at most 4611686018427387903"},
		{"the largest log", window, limit(bound-1, bound-1, 0), ""},
		{"its burst is its permits", window, limit(bound-1, 1, bound-1), ""},
		{"all of the first limit", buckets, dual(1, 1, bound, 0, 0, 1), "limit_too_large: burst is 4611686018427387904, must be at most 4611686018427387903"},
		{"before the second: permits", buckets, dual(1, 1, 1, 0, 0, 1), "invalid_permits: permits2 is 0, must be at least 1"},
		{"its period", buckets, dual(1, 1, 1, 1, 0, 0), "invalid_period: period2 is 0, must be at least 1"},
		{"its burst", buckets, dual(1, 1, 1, 1, 1, 0), "invalid_burst: burst2 is 0, must be at least 1"},
		{"its size", buckets, dual(1, 1, 1, 1, 2, bound/2), "limit_too_large: burst2 is 2305843009213693952, must be at most 2305843009213693951"},
		{"its p", buckets, dual(1, 1, 1, bound, 1, 1), "limit_too_large: permits2 is 4611686018427387904, must be at most 4611686018427387903"},
		{"its q", buckets, dual(1, 1, 1, 1, bound, 1), "limit_too_large: period2 is 4611686018427387904, must be at most 4611686018427387903"},
		{"two largest", buckets, dual(1, 1, bound-1, bound-1, 1, 1), ""},
	} {
		err := row.read(row.l)
		if row.want == "" {
			assert.NoError(t, err, row.why)
			continue
		}
		assert.EqualError(t, err, row.want, row.why)
	}
}

// TestLimitErrorsWrap: each error is its sentinel, names the vectors' word, and holds field, value and bound.
func TestLimitErrorsWrap(t *testing.T) {
	_, capacity := policy.Options{Bounded: true}.Capacity()
	for _, row := range []struct {
		err, sentinel error
		want          policy.LimitError
	}{
		{bucket(dual(1, 1, 1, 0, 6, 0)), policy.ErrInvalidSecond, policy.LimitError{Code: "invalid_second", Field: "period2", Value: 6, Need: "exactly"}},
		{bucket(limit(0, 1, 1)), policy.ErrInvalidPermits, policy.LimitError{Code: "invalid_permits", Field: "permits", Need: "at least", Bound: 1}},
		{bucket(limit(1, 0, 1)), policy.ErrInvalidPeriod, policy.LimitError{Code: "invalid_period", Field: "period", Need: "at least", Bound: 1}},
		{window(limit(4, 1, 9)), policy.ErrInvalidBurst, policy.LimitError{Code: "invalid_burst", Field: "burst", Value: 9, Need: "exactly", Bound: 4}},
		{bucket(limit(1, 2, bound)), policy.ErrLimitTooLarge, policy.LimitError{Code: "limit_too_large", Field: "burst", Value: bound, Need: "at most", Bound: bound/2 - 1}},
		{capacity, policy.ErrInvalidMaxKeys, policy.LimitError{Code: "invalid_max_keys", Field: "max_keys", Need: "at least", Bound: 1}},
	} {
		require.ErrorIs(t, row.err, row.sentinel)
		var got *policy.LimitError
		require.ErrorAs(t, row.err, &got)
		assert.Equal(t, row.want, *got)
		assert.Equal(t, row.want.Code, policy.Code(row.err))
		assert.Equal(t, row.want.Code, policy.Code(fmt.Errorf("gcra: %w", row.err)), "wrapped once more")
		assert.NotErrorIs(t, row.err, policy.ErrUnknownPolicy)
	}
	assert.Empty(t, policy.Code(nil))
	assert.Empty(t, policy.Code(errors.New("invalid_burst")), "the word alone is not the error")
	assert.Equal(t, "past_horizon", policy.Code(fmt.Errorf("%w: now is 5", policy.ErrPastHorizon)))
}

// TestScale: the exact units, with the horizon's own last tick.
func TestScale(t *testing.T) {
	for _, row := range []struct {
		why  string
		l    policy.Limit
		want policy.Scale
	}{
		{"3 per 1000", limit(3, 1000, 1), policy.Scale{Tick: 3, Permit: 1000, Tolerance: 1000, Burst: 1, Horizon: (bound - 1) / 3}},
		{"100/s in nanoseconds is 1 per 10 ms", limit(100, 1e9, 10), policy.Scale{Tick: 1, Permit: 1e7, Tolerance: 1e8, Burst: 10, Horizon: bound - 1}},
		{"more than one a tick", limit(10, 4, 7), policy.Scale{Tick: 5, Permit: 2, Tolerance: 14, Burst: 7, Horizon: (bound - 1) / 5}},
		{"p = 2^61: 1 is the last", limit(1<<61, 1, 1), policy.Scale{Tick: 1 << 61, Permit: 1, Tolerance: 1, Burst: 1, Horizon: 1}},
		{"p = 2^62-1", limit(bound-1, 1, 1), policy.Scale{Tick: bound - 1, Permit: 1, Tolerance: 1, Burst: 1, Horizon: 1}},
	} {
		got, err := row.l.Scale()
		require.NoError(t, err, row.why)
		assert.Equal(t, row.want, got, row.why)
		assert.Less(t, got.Horizon*got.Tick, uint64(bound), row.why)
		assert.GreaterOrEqual(t, (got.Horizon+1)*got.Tick, uint64(bound), row.why)
	}
}

// TestCapacity: bounded if asked, in either way.
func TestCapacity(t *testing.T) {
	for _, row := range []struct {
		why  string
		o    policy.Options
		want uint64
	}{
		{"the zero Options are unbounded", policy.Options{}, policy.Never},
		{"a number makes it bounded", policy.Options{MaxKeys: 3}, 3},
		{"both", policy.Options{MaxKeys: 3, Bounded: true}, 3},
	} {
		got, err := row.o.Capacity()
		require.NoError(t, err, row.why)
		assert.Equal(t, row.want, got, row.why)
	}
	got, err := policy.Options{Bounded: true}.Capacity()
	assert.Zero(t, got)
	assert.ErrorIs(t, err, policy.ErrInvalidMaxKeys)
}
