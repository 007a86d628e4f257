package speed

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"time"

	"golang.org/x/time/rate"
)

const (
	// collections is how many forced collections a median is taken of.
	collections = 11
	// finest is up to how many ns a histogram tells each from the next.
	finest = 1 << 20
)

// histogram counts latencies in ns; those of finest and above count as finest, but for the worst.
type histogram struct {
	count [finest + 1]uint32
	total int
	worst int64
}

func (h *histogram) add(ns int64) {
	h.count[min(max(ns, 0), finest)]++
	h.total++
	h.worst = max(h.worst, ns)
}

// quantile is the least latency that a share q of all is at most.
func (h *histogram) quantile(q float64) float64 {
	want, seen := int(math.Ceil(q*float64(h.total))), 0
	for ns, n := range h.count {
		if seen += int(n); seen >= want {
			return float64(ns)
		}
	}
	return finest
}

// latencies reads the clock after each call of step, n times.
func latencies(n int, step func(i uint64)) *histogram {
	h, base := new(histogram), time.Now()
	last := time.Since(base)
	for i := range uint64(n) {
		step(i)
		now := time.Since(base)
		h.add(int64(now - last))
		last = now
	}
	return h
}

// collection is what a forced collection costs, the median of several.
type collection struct{ wall, pause, mark float64 } // ms; mark is processor time

func collect() collection {
	runtime.GC()
	var wall, pause, mark []float64
	for range collections {
		before, start := spent(), time.Now()
		runtime.GC()
		wall = append(wall, time.Since(start).Seconds()*1e3)
		after := spent()
		pause, mark = append(pause, after.pause-before.pause), append(mark, after.mark-before.mark)
	}
	return collection{median(wall), median(pause), median(mark)}
}

// spent is what the collector has cost since the process began, in ms.
func spent() collection {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	sample := []metrics.Sample{{Name: "/cpu/classes/gc/mark/dedicated:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/assist:cpu-seconds"},
		{Name: "/cpu/classes/gc/mark/idle:cpu-seconds"}}
	metrics.Read(sample)
	c := collection{pause: float64(stats.PauseTotalNs) / 1e6}
	for _, s := range sample {
		c.mark += s.Value.Float64() * 1e3
	}
	return c
}

// grown is one growth of a table from nothing.
type grown struct {
	mean        float64 // ns an insertion, without readings of the clock between them
	clock, take *histogram
	empty, full collection
}

// grow grows the table that open makes twice: for the mean, and for the latencies. The collector is on, as it would be.
func grow(n int, open func() (insert func(i uint64), err error)) (g grown, err error) {
	g.empty = collect()
	insert, err := open()
	if err != nil {
		return g, err
	}
	unpin := pin(0)
	begin := threadTime()
	for i := range uint64(n) {
		insert(i)
	}
	g.mean = float64((threadTime() - begin).Nanoseconds()) / float64(n)
	unpin()
	g.full = collect()
	runtime.KeepAlive(insert)
	if insert, err = open(); err != nil {
		return g, err
	}
	runtime.GC()
	defer pin(0)()
	g.clock = latencies(n, func(uint64) {})
	g.take = latencies(n, insert)
	return g, nil
}

// growth measures tables that grow from empty, and what the collector makes of them.
func (b *bench) growth(ctx context.Context) (section, error) {
	sec := section{title: "Growth and the collector", head: []string{"", "ns an insertion", "p99.99, ns", "worst, ns", "clock alone, p99.99",
		"worst", "collection, ms", "of an empty heap", "pauses, ms", "marking, processor ms"},
		note: fmt.Sprintf("From empty to %s live keys, the collector on, one goroutine. The latencies include one reading of the clock each; "+
			"beside them is the same loop without the insertion. A collection is a forced one with all keys live, the median of %d; "+
			"pauses and marking are of one collection. The median of %d growths, one for x/time/rate.", grouped(b.growKeys), collections, b.growths)}
	var insertion, excess []float64
	for _, c := range []struct {
		name    string
		open    func() (func(i uint64), error)
		growths int
	}{
		{"gcra", inserts("gcra"), b.growths},
		{"tokenbucket", inserts("tokenbucket"), b.growths},
		{"x/time/rate, one map", rateInserts, 1}, // marking its objects takes the better part of a minute
	} {
		var all []grown
		for range c.growths {
			g, err := grow(b.growKeys, c.open)
			if err != nil {
				return section{}, err
			}
			if all = append(all, g); ctx.Err() != nil {
				return section{}, ctx.Err()
			}
		}
		if c.name == "gcra" {
			insertion = pick(all, func(g grown) float64 { return g.mean })
			excess = pick(all, func(g grown) float64 { return g.full.wall - g.empty.wall })
		}
		sec.lines = append(sec.lines, growthLine(c.name, all))
	}
	count := grouped(b.growKeys) + " keys"
	sec.targets = []target{
		atMost("gcra, from empty to "+count+", mean an insertion", median(insertion), 450, " ns"),
		atMost("gcra, a forced collection with "+count+" live, above an empty heap's", median(excess), 2, " ms"),
	}
	return sec, nil
}

func pick(all []grown, f func(grown) float64) []float64 {
	out := make([]float64, len(all))
	for i, g := range all {
		out[i] = f(g)
	}
	return out
}

func growthLine(name string, all []grown) []string {
	line := []string{name}
	for _, f := range []func(grown) float64{
		func(g grown) float64 { return g.mean },
		func(g grown) float64 { return g.take.quantile(0.9999) },
		func(g grown) float64 { return float64(g.take.worst) },
		func(g grown) float64 { return g.clock.quantile(0.9999) },
		func(g grown) float64 { return float64(g.clock.worst) },
		func(g grown) float64 { return g.full.wall },
		func(g grown) float64 { return g.empty.wall },
		func(g grown) float64 { return g.full.pause },
		func(g grown) float64 { return g.full.mark },
	} {
		line = append(line, number(median(pick(all, f))))
	}
	return line
}

// inserts is a policy that gets one new key after the other.
func inserts(name string) func() (func(i uint64), error) {
	return func() (func(i uint64), error) {
		p, err := made(name, steady)
		return func(i uint64) { p.Take(0, mix(i), 1) }, err
	}
}

// rateInserts is one map, which one goroutine can do with, of x/time/rate.
func rateInserts() (func(i uint64), error) {
	m := map[uint64]*rate.Limiter{}
	return func(i uint64) {
		l := newRate()
		l.AllowN(start, 1)
		m[mix(i)] = l
	}, nil
}
