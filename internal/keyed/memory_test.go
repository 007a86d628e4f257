package keyed_test

import (
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/dualbucket"
	"weir/gcra"
	"weir/leakybucket"
	"weir/policy"
	"weir/tokenbucket"
)

// held is the bytes of the heap after collection.
func held() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestBytesAKey: what a key takes, the table's every part included, at counts of live keys from 300,000 to 3,000,000, and
// that idle keys give all of it back. These are bytes under a fixed seed: the same on every machine of 64 bits.
func TestBytesAKey(t *testing.T) {
	if testing.Short() {
		t.Skip("needs 200 MB")
	}
	if math.MaxInt == math.MaxInt32 {
		t.Skip("the bounds are those of 64 bits")
	}
	const counts, least, most = 12, 300_000, 3_000_000
	dual := policy.Limit{Permits: 1, Period: 1, Burst: 1e6, Permits2: 1, Period2: 1, Burst2: 1e6}
	for _, row := range []struct {
		why         string
		make        policy.Maker
		l           policy.Limit
		mean, worst float64
	}{
		{"gcra", gcra.New, tickLimit, 22, 23},
		{"token bucket", tokenbucket.New, tickLimit, 33, 34},
		{"leaky bucket", leakybucket.New, tickLimit, 33, 34},
		{"dual bucket", dualbucket.New, dual, 33, 34},
	} {
		before, key := held(), uint64(0)
		p := over(row.make)(t, row.l, policy.Options{Seed: seed})
		sum, worst := 0.0, 0.0
		for i := range counts {
			n := uint64(math.Round(least * math.Pow(most/least, float64(i)/(counts-1))))
			for ; key < n; key++ {
				p.Take(0, key, 1)
			}
			bytes := float64(held()-before) / float64(n)
			t.Logf("%s, %d keys: %.2f bytes a key", row.why, n, bytes)
			sum += bytes
			worst = max(worst, bytes)
		}
		require.EqualValues(t, key, p.Keys())
		t.Logf("%s: %.2f bytes a key, %.2f at worst", row.why, sum/counts, worst)
		assert.LessOrEqual(t, sum/counts, row.mean, row.why)
		assert.LessOrEqual(t, worst, row.worst, row.why)
		freed, _ := p.Sweep(100, 0)
		require.EqualValues(t, key, freed)
		assert.Less(t, held()-before, 6<<20, "%s: what idle keys held is given back", row.why)
		runtime.KeepAlive(p)
	}
}
