package keyed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/dualbucket"
	"weir/internal/keyed"
	"weir/leakybucket"
	"weir/policy"
	"weir/tokenbucket"
)

// TestBoundedTableAllocatesOnce: filling a bounded table from empty to full, and once more after a sweep, allocates nothing;
// and the sweep gives nothing back.
func TestBoundedTableAllocatesOnce(t *testing.T) {
	for _, row := range []struct {
		why  string
		make policy.Maker
		l    policy.Limit
	}{
		{"token bucket", tokenbucket.New, tickLimit},
		{"leaky bucket", leakybucket.New, tickLimit},
		{"dual bucket", dualbucket.New, policy.Limit{Permits: 1, Period: 1, Burst: 1e6, Permits2: 1, Period2: 1, Burst2: 1e6}},
	} {
		for _, room := range []uint64{1, 10, 1000, 100_000} {
			p := over(row.make)(t, row.l, policy.Options{MaxKeys: room, Seed: seed})
			slots, now, ok := slotsOf(p), uint64(0), true
			assert.Less(t, testing.AllocsPerRun(1, func() {
				now += 100
				p.Sweep(now, 0)
				for key := range room {
					ok = p.Take(now, key*0x9e3779b97f4a7c15, 1).OK() && ok
				}
			}), 8.0, "%s, %d keys: the run time makes some for itself, 64 shards would more", row.why, room)
			assert.True(t, ok)
			assert.EqualValues(t, room, p.Keys())
			assert.Equal(t, policy.Full, p.Take(now, 1, 1).Outcome())
			assert.Equal(t, slots, slotsOf(p), "%s, %d keys", row.why, room)
		}
	}
}

// TestOneShardOfABoundedTable: a bounded table whose keys all want to stand in one shard, which was made for a part of them,
// grows there and holds them.
func TestOneShardOfABoundedTable(t *testing.T) {
	const room = 2000
	keys := []uint64{}
	for key := uint64(0); len(keys) < room; key++ {
		if keyed.Place(seed, key)>>58 == 5 {
			keys = append(keys, key)
		}
	}
	p := locked(t, tickLimit, policy.Options{MaxKeys: room, Seed: seed})
	for i, key := range keys {
		require.True(t, p.Take(0, key, 1+uint64(i)).OK())
		for j, known := range keys[:i+1] {
			if i%100 == 0 {
				require.EqualValues(t, 1+j, p.Peek(0, known, 0).ResetAfter())
			}
		}
	}
	require.Equal(t, policy.Full, p.Take(0, 1<<40, 1).Outcome())
}

// TestLargeBounds: a bound of any size is accepted; one above 2^26 keys is not allocated for.
func TestLargeBounds(t *testing.T) {
	for _, room := range []uint64{1<<26 + 1, 1 << 40, policy.Never} {
		p := locked(t, tickLimit, policy.Options{MaxKeys: room})
		assert.Zero(t, slotsOf(p))
		assert.True(t, p.Take(0, 7, 1).OK())
		assert.LessOrEqual(t, slotsOf(p), 8)
	}
}
