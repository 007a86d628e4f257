package replay_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/cmd/weir/internal/replay"
	"weir/internal/oracle"
	"weir/policy"
)

func reader(log []request) replay.Reader {
	return func(add func(time.Duration, []byte, uint64)) error {
		for _, q := range log {
			add(q.at, []byte(q.key), q.cost)
		}
		return nil
	}
}

func share(t testing.TB, text string) replay.Share {
	t.Helper()
	s, err := replay.ParseShare(text)
	require.NoError(t, err)
	return s
}

// untouched is which keys the oracle never refuses under a limit.
func untouched(t testing.TB, name string, l weir.Limit, log []request) map[string]bool {
	t.Helper()
	counted, tick, err := l.Counted(name)
	require.NoError(t, err)
	m, err := oracle.New(name, counted, false, 0)
	require.NoError(t, err)
	ids, good := map[string]uint64{}, map[string]bool{}
	for _, q := range log {
		id, known := ids[q.key]
		if !known {
			id = uint64(len(ids))
			ids[q.key], good[q.key] = id, true
		}
		if m.Take(uint64(q.at+replay.Origin)/uint64(tick), id, q.cost, q.cost).Outcome != policy.Allow {
			good[q.key] = false
		}
	}
	for key, is := range good {
		if !is {
			delete(good, key)
		}
	}
	return good
}

// leastFor tries every number from 1 on.
func leastFor(ok func(n uint64) bool) uint64 {
	n := uint64(1)
	for !ok(n) {
		n++
	}
	return n
}

// TestRecommendsTheLeast, by trying every permits, and then every burst, with the oracle.
func TestRecommendsTheLeast(t *testing.T) {
	for _, row := range []struct {
		percent string
		want    int // of the seven keys
	}{{"100", 7}, {"99.9", 7}, {"71.5", 6}, {"71.4", 5}, {"50", 4}, {"0.000000001", 1}} {
		for seed := range uint64(3) {
			log := drawn(seed+7, 250, true)
			_, found, err := replay.Recommend(reader(log), 2*time.Second, 0, share(t, row.percent))
			require.NoError(t, err)
			require.Len(t, found, 4)
			enough := func(name string, l weir.Limit) bool { return len(untouched(t, name, l, log)) >= row.want }
			permits := leastFor(func(n uint64) bool { return enough("gcra", weir.Per(n, 2*time.Second)) })
			burst := leastFor(func(n uint64) bool { return enough("gcra", weir.Per(permits, 2*time.Second).WithBurst(n)) })
			logged := leastFor(func(n uint64) bool { return enough("slidinglog", weir.Per(n, 2*time.Second)) })
			for _, one := range found {
				want := weir.Per(permits, 2*time.Second).WithBurst(burst)
				if one.Trial.Name == "slidinglog" {
					want = weir.Per(logged, 2*time.Second)
				}
				why := fmt.Sprintf("%s, %s %%, seed %d", one.Trial.Name, row.percent, seed)
				assert.Equal(t, want, one.Limit, why)
				assert.Equal(t, 7-len(untouched(t, one.Trial.Name, want, log)), int(one.Trial.KeysDenied()), why)
			}
		}
	}
}

// TestRecommendsTwoLimits: the first as for one limit, the second the least with which enough of those still pass.
func TestRecommendsTwoLimits(t *testing.T) {
	log := drawn(3, 300, true)
	_, found, err := replay.Recommend(reader(log), time.Second, 20*time.Second, share(t, "60"))
	require.NoError(t, err)
	require.Len(t, found, 5)
	one, two := found[0].Limit, found[4].Limit
	assert.Equal(t, one, weir.Limit{Permits: two.Permits, Period: two.Period, Burst: two.Burst})
	passing := func(second weir.Limit) int { return len(untouched(t, "dualbucket", one.And(second), log)) }
	assert.GreaterOrEqual(t, passing(weir.Per(two.Permits2, two.Period2).WithBurst(two.Burst2)), 5, "60 % of seven, rounded up")
	if two.Burst2 > 1 {
		assert.Less(t, passing(weir.Per(two.Permits2, two.Period2).WithBurst(two.Burst2-1)), 5)
	}
	if two.Permits2 > 1 {
		assert.Less(t, passing(weir.Per(two.Permits2-1, two.Period2)), 5)
	}
	assert.Equal(t, 7-passing(weir.Per(two.Permits2, two.Period2).WithBurst(two.Burst2)), int(found[4].Trial.KeysDenied()))
}

// TestRecommendStandsStill: a clock that steps back counts as one that stands still, key by key.
func TestRecommendStandsStill(t *testing.T) {
	log := []request{{0, "a", 1}, {time.Hour, "a", 1}, {time.Minute, "a", 1}, {time.Minute, "b", 1}}
	_, found, err := replay.Recommend(reader(log), time.Second, 0, share(t, "100"))
	require.NoError(t, err)
	assert.Equal(t, weir.Per(2, time.Second).WithBurst(2), found[0].Limit, "a has two at the hour")
	assert.Equal(t, weir.Per(2, time.Second), found[3].Limit)
	assert.Zero(t, found[0].Trial.KeysDenied())
}

func TestRecommendNothing(t *testing.T) {
	run, found, err := replay.Recommend(reader(nil), time.Second, 0, share(t, "100"))
	require.NoError(t, err)
	assert.Zero(t, run.Total)
	assert.Empty(t, found)
	broken := errors.New("broken")
	_, _, err = replay.Recommend(func(func(time.Duration, []byte, uint64)) error { return broken }, time.Second, 0, share(t, "100"))
	assert.ErrorIs(t, err, broken)
}

// TestRecommendOnAnotherLog: a log that was changed between two readings breaks nothing.
func TestRecommendOnAnotherLog(t *testing.T) {
	n := 0
	_, _, err := replay.Recommend(func(add func(time.Duration, []byte, uint64)) error {
		n++
		for i := range 10 * n {
			add(time.Duration(i), fmt.Append(nil, i), 1)
		}
		return nil
	}, time.Second, time.Minute, share(t, "100"))
	assert.NoError(t, err)
}

func TestParseShare(t *testing.T) {
	for _, text := range []string{"", "0", "0.0", "100.1", "101", "1000", "-1", "+1", "1e2", ".5", "99.9999999999", "a", "1.2.3", "99,9"} {
		_, err := replay.ParseShare(text)
		assert.EqualError(t, err, fmt.Sprintf("percentile is %q, must be above 0 and at most 100, with at most 9 digits after the point", text))
	}
	for _, text := range []string{"100", "100.000", "0.1", "5.", "099"} {
		_, err := replay.ParseShare(text)
		assert.NoError(t, err, text)
	}
}
