package keyed_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"weir/policy"
)

// TestBatch: a batch decides as one take after the other would, and as many as all three slices have; in a small table and in
// a large one, and where the batch itself brings in the keys that it meets again.
func TestBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(seed, 5))
	for _, known := range []uint64{0, 300_000} {
		one, all := locked(t, slow, policy.Options{}), locked(t, slow, policy.Options{})
		for key := range known {
			one.Take(0, key, 1)
			all.Take(0, key, 1)
		}
		for range 200 {
			keys, costs := make([]uint64, r.IntN(300)), make([]uint64, 150+r.IntN(150))
			for i := range keys {
				keys[i] = r.Uint64N(100) << r.IntN(40)
			}
			for i := range costs {
				costs[i] = r.Uint64N(4)
			}
			now, out := r.Uint64N(1e10), make([]policy.Decision, 200)
			n := all.(policy.Batcher).TakeBatch(now, keys, costs, out)
			require.Equal(t, min(len(keys), len(costs), len(out)), n)
			for i := range out {
				want := policy.Decision{}
				if i < n {
					want = one.Take(now, keys[i], costs[i])
				}
				require.Equal(t, want.Answer(), out[i].Answer(), "%d of %d", i, n)
			}
		}
	}
}

// TestBatchAllocatesNothing, large or small.
func TestBatchAllocatesNothing(t *testing.T) {
	for _, known := range []uint64{100, 300_000} {
		p := locked(t, tickLimit, policy.Options{})
		keys, costs, out := make([]uint64, known), make([]uint64, known), make([]policy.Decision, known)
		for i := range keys {
			keys[i], costs[i] = uint64(i), 1
		}
		batch := func() { p.(policy.Batcher).TakeBatch(0, keys, costs, out) }
		batch()
		require.Zero(t, testing.AllocsPerRun(3, batch))
	}
}
