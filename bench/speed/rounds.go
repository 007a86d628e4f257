package speed

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// warmups are rounds that are run and not counted: caches, branch predictors, and the compiler of a Java child.
	warmups = 2
	// garbage is how much may pile up while the collector is off before it is run between two slices, in bytes.
	garbage = 1 << 30
)

// loop makes n decisions and answers how many were allowed: so the results are used, and a row that measures refusals where
// it should measure permits is found out. Whoever makes one is not inlined: in a caller that has grown large the compiler would
// inline less of what the loop calls, atomic operations included.
type loop func(n int) (allowed int)

// row is one candidate.
type row struct {
	name   string
	slice  func(n int) (allowed int, took time.Duration, err error)
	denied bool // every decision must be refused; else every one must be allowed
}

// here is a row of this process.
func here(name string, l loop) row {
	return row{name: name, slice: func(n int) (int, time.Duration, error) {
		start := threadTime()
		allowed := l(n)
		return allowed, threadTime() - start, nil
	}}
}

// refused is here for a row whose every decision must be refused.
func refused(name string, l loop) row {
	r := here(name, l)
	r.denied = true
	return r
}

// measure is one slice: ns a decision.
func (r row) measure(n int) (float64, error) {
	allowed, took, err := r.slice(n)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.name, err)
	}
	want := n
	if r.denied {
		want = 0
	}
	if allowed != want {
		return 0, fmt.Errorf("%s: %d of %d decisions allowed, want %d", r.name, allowed, n, want)
	}
	return float64(took.Nanoseconds()) / float64(n), nil
}

// samples are the ns a decision of each row, one a round.
type samples map[string][]float64

// rounds runs a slice of n decisions of every row in every round, in an order that is drawn anew each time, on one processor
// with the collector off.
func rounds(ctx context.Context, rows []row, n, count int) (samples, error) {
	defer pin(0)()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	out, draw := samples{}, rand.New(rand.NewPCG(3, 4))
	runtime.GC()
	clean := heapObjects()
	for round := range warmups + count {
		for _, i := range draw.Perm(len(rows)) {
			ns, err := rows[i].measure(n)
			if err != nil {
				return nil, err
			}
			if round >= warmups {
				out[rows[i].name] = append(out[rows[i].name], ns)
			}
			if heapObjects() > clean+garbage {
				runtime.GC()
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// heapObjects is the bytes of all objects on the heap, dead ones that nobody collected yet included. Reading it stops nobody.
func heapObjects() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// live is the bytes of the heap that are in use after a collection.
func live() uint64 {
	runtime.GC()
	return heapObjects()
}

// ratios is one row over another, round by round.
func (s samples) ratios(of, over string) []float64 {
	return s.pairs(of, over, func(a, b float64) float64 { return a / b })
}

// excess is one row less another, round by round, in ns.
func (s samples) excess(of, less string) []float64 {
	return s.pairs(of, less, func(a, b float64) float64 { return a - b })
}

func (s samples) pairs(one, other string, f func(a, b float64) float64) []float64 {
	a, b := s[one], s[other]
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = f(a[i], b[i])
	}
	return out
}

// fastest is the name of the row with the least median; "" of none.
func (s samples) fastest(names []string) string {
	best := ""
	for _, name := range names {
		if len(s[name]) > 0 && (best == "" || median(s[name]) < median(s[best])) {
			best = name
		}
	}
	return best
}
