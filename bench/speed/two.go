package speed

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// both runs two loops of n/2 decisions at the same time, each on its own processor. The time is that of the slower one's
// thread, over all n decisions, so a row in ns a decision is half of what each goroutine sees.
func both(name string, one, other loop) row {
	return row{name: name, slice: func(n int) (int, time.Duration, error) {
		var ready, allowed atomic.Int64
		var done sync.WaitGroup
		var took [2]time.Duration
		for i, l := range []loop{one, other} {
			done.Go(func() {
				defer pin(i)()
				ready.Add(1)
				for ready.Load() < 2 { // until both are on a processor, so that no scheduler comes between
				}
				start := threadTime()
				allowed.Add(int64(l(n / 2)))
				took[i] = threadTime() - start
			})
		}
		done.Wait()
		return int(allowed.Load()), max(took[0], took[1]), nil
	}}
}

// two measures how decisions a second grow from one goroutine to two, beside how the floor's do.
func (b *bench) two(ctx context.Context) (section, error) {
	uniform := numbers(million)
	rows, kinds := []row{}, []string{"uniform keys", "Zipf keys"}
	for i, keys := range [][]uint64{uniform, zipf(uniform)} {
		more, err := scalings(kinds[i], uniform, keys)
		if err != nil {
			return section{}, err
		}
		rows = append(rows, more...)
	}
	s, err := rounds(ctx, rows, randomSlice, b.rounds)
	if err != nil {
		return section{}, err
	}
	sec := section{title: "Two goroutines", head: []string{"", "ns, one goroutine", "ns, two", "decisions a second, two over one"},
		note: "A million keys, uniform and by Zipf's law with an exponent of 1.1, now passed in; ns a decision of all goroutines together. " +
			"Each goroutine has a processor of its own, and goes through the keys from another place."}
	for i := 0; i < len(rows); i += 2 {
		one, pair := rows[i].name, rows[i+1].name
		sec.lines = append(sec.lines, []string{one, number(median(s[one])), number(median(s[pair])), number(median(s.ratios(one, pair)))})
	}
	scale := func(what string) []float64 { return s.ratios(what+kinds[0], what+kinds[0]+", two") }
	ours, floors := scale("gcra, "), scale("floor, ")
	relative := make([]float64, len(ours))
	for i := range ours {
		relative[i] = ours[i] / floors[i]
	}
	sec.targets = []target{atLeast("two goroutines, random keys: of how the floor scales", median(relative), 0.9, " x")}
	return sec, nil
}

// scalings are floor, weir and x/time/rate, with one goroutine and then with two on the same table.
func scalings(kind string, all, keys []uint64) ([]row, error) {
	table := lines(million)
	p, err := held("gcra", all)
	if err != nil {
		return nil, err
	}
	m := newByNumber(newRate)
	rates := func(keys []uint64) loop {
		return eachAt(keys, func(now, key uint64) bool { return m.get(key).AllowN(start.Add(time.Duration(now)), 1) })
	}
	swaps := func(keys []uint64) loop { return swapUntil(table, keys) }
	ours := func(keys []uint64) loop { return takes(p, keys) }
	elsewhere := append(append([]uint64{}, keys[len(keys)/2:]...), keys[:len(keys)/2]...)
	var rows []row
	for _, c := range []struct {
		name string
		loop func([]uint64) loop
	}{{"floor, ", swaps}, {"gcra, ", ours}, {"x/time/rate in a sharded map, ", rates}} {
		rows = append(rows, here(c.name+kind, c.loop(keys)), both(c.name+kind+", two", c.loop(keys), c.loop(elsewhere)))
	}
	return rows, nil
}

// swapUntil is randomSwap that tries again when another goroutine came between.
//
//go:noinline
func swapUntil(table []line, keys []uint64) loop {
	at := 0
	return func(n int) int {
		for i := at; i < at+n; i++ {
			w := &table[keys[i&(len(keys)-1)]&uint64(len(table)-1)].word
			for old := w.Load(); !w.CompareAndSwap(old, old+1); old = w.Load() {
			}
		}
		at += n
		return n
	}
}
