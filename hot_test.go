package weir_test

import (
	"hash/maphash"
	"slices"
	"testing"
	"time"

	"weir"
)

var sink uint64

// BenchmarkHot asks for one hot key of 16 bytes, beside the floor that nothing with a clock and keyed strings can be under:
// time.Since and the hash. All take turns, a thousand calls each, so that whatever else the machine does falls on all
// alike; it reports the median of each in ns, and Allow as so many times the floor.
func BenchmarkHot(b *testing.B) {
	const calls, key = 1000, "client-42:abcdef"
	// A limit that one key cannot exhaust, in ticks of a nanosecond.
	l, err := weir.New("gcra", weir.Per(1_000_000_000, time.Second))
	tens, err2 := weir.New("gcra", weir.Per(999_999_990, time.Second)) // in ticks of 10 ns
	coarse, err3 := weir.NewCoarse(time.Millisecond)
	if err != nil || err2 != nil || err3 != nil {
		b.Fatal(err, err2, err3)
	}
	defer coarse.Close()
	onCoarse, _ := weir.New("gcra", weir.Per(1_000_000_000, time.Second), weir.WithClock(coarse))
	slower, _ := weir.New("gcra", weir.Per(10_000_000, time.Second).WithBurst(1<<40)) // permits that last
	lease, _ := slower.Lease(key, 64)
	base, seed, now := time.Now(), maphash.MakeSeed(), l.Now()
	keys, costs, out := make([]string, calls), make([]weir.Cost, calls), make([]weir.Result, calls)
	for i := range keys {
		keys[i], costs[i] = key, weir.N(1)
	}
	rows := []struct {
		name string
		do   func()
	}{
		{"floor", func() {
			for range calls {
				sink += uint64(time.Since(base)) + maphash.String(seed, key)
			}
		}},
		{"allow", func() { spend(l, key, calls) }},
		{"allow-10ns-tick", func() { spend(tens, key, calls) }},
		{"allow-coarse", func() { spend(onCoarse, key, calls) }},
		{"allow-at", func() {
			for range calls {
				if l.AllowAt(now, key, weir.N(1)).OK() {
					sink++
				}
			}
		}},
		{"batch", func() { l.AllowBatch(now, keys, costs, out) }},
		{"lease", func() {
			for range calls {
				if lease.Allow() {
					sink++
				}
			}
		}},
		{"lease-at", func() {
			now := slower.Now()
			for range calls {
				if lease.AllowAt(now) {
					sink++
				}
			}
		}},
	}
	times := make([][]float64, len(rows))
	for b.Loop() {
		for i, row := range rows {
			begin := time.Now()
			row.do()
			times[i] = append(times[i], float64(time.Since(begin))/calls)
		}
	}
	for i, row := range rows {
		slices.Sort(times[i])
		b.ReportMetric(times[i][len(times[i])/2], row.name+"-ns")
	}
	b.ReportMetric(times[1][len(times[1])/2]/times[0][len(times[0])/2], "allow/floor")
	b.ReportMetric(0, "ns/op")
}

func spend(l *weir.Local, key string, calls int) {
	for range calls {
		if l.Allow(ctx, key).OK() {
			sink++
		}
	}
}
