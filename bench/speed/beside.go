package speed

import (
	"context"
	"slices"
	"time"
)

const (
	sharedMap   = "x/time/rate, sharded map"
	frozenRow   = "weir gcra, frozen clock"
	governorRow = "governor (Rust), keyed, DashMap, frozen clock"
	givenRow    = "weir gcra"
)

// told measures weir beside the rivals that can be told the time.
func (b *bench) told(ctx context.Context) (section, error) {
	keys := numbers(million)
	one, err := held("gcra", keys)
	if err != nil {
		return section{}, err
	}
	frozen, err := held("gcra", keys)
	if err != nil {
		return section{}, err
	}
	rivals, err := given(keys, texts(keys))
	if err != nil {
		return section{}, err
	}
	rows := append([]row{
		here(givenRow, eachAt(keys, func(now, key uint64) bool { return one.Take(now, key, 1).OK() })),
		here(frozenRow, eachAt(keys, func(_, key uint64) bool { return frozen.Take(0, key, 1).OK() })),
	}, rivals...)
	if b.governor != nil {
		rows = append(rows, b.governor.row(governorRow, "frozen"))
	}
	s, err := rounds(ctx, rows, slowSlice, b.slowRounds)
	if err != nil {
		return section{}, err
	}
	sec := timed("Beside rivals, a million random keys, now passed in", "As above, through a closure in every row of this process; "+
		"64-bit keys, but strings for throttled. governor's clock stands still, since it cannot be told the time.", givenRow, s, names(rows))
	faster := func(rival, row string) float64 { return median(s.ratios(rival, row)) }
	best := s.fastest(names(rivals))
	sec.targets = []target{
		atLeast("a million random keys, now passed in, faster than the fastest Go rival ("+best+")", faster(best, givenRow), 4.5, " x"),
		atLeast("the same, faster than x/time/rate in a sharded map", faster(sharedMap, givenRow), 8, " x"),
	}
	if b.governor != nil {
		sec.targets = append(sec.targets,
			atLeast("a million random keys, frozen clock, faster than governor", faster(governorRow, frozenRow), 3, " x"))
	}
	return sec, nil
}

const (
	ownRow  = "weir.New, gcra"
	bareRow = "bare: time.Since, the hash, and a call that mixes, compares and swaps"
)

// own measures weir beside all rivals of many keys, each with string keys and its own clock, and how much each holds a key.
func (b *bench) own(ctx context.Context) (section, error) {
	keys := texts(numbers(million))
	before := live()
	limiter, err := weirHeld(ctx, keys)
	if err != nil {
		return section{}, err
	}
	bytes := map[string]float64{ownRow: float64(live()-before) / million}
	rows := []row{here(ownRow, each(keys, func(key string) bool { return limiter.Allow(ctx, key).OK() }))}
	var rivals []string
	for _, r := range keyedRivals() {
		before := live()
		allow, done, err := r.open()
		if err != nil {
			return section{}, err
		}
		defer done()
		each(keys, allow)(million)
		bytes[r.name] = float64(live()-before) / million
		rows, rivals = append(rows, here(r.name, each(keys, allow))), append(rivals, r.name)
	}
	for _, c := range []*child{b.governor, b.bucket4j} {
		if c != nil {
			rows = append(rows, c.row(c.name, "strings"))
		}
	}
	limiters := names(rows)
	rows = append(rows, here(bareRow, each(keys, leastAllows(newLeast(len(keys)), time.Now()))))
	s, err := rounds(ctx, rows, slowSlice, b.slowRounds)
	if err != nil {
		return section{}, err
	}
	sec := timed("Beside rivals, a million random keys, strings, each with its own clock", "The same million strings of 16 bytes for all. "+
		"Bytes a key are the heap after a collection, less what it was before, with a million keys; the strings themselves are not counted.",
		ownRow, s, names(rows))
	sec.addBytes(bytes)
	best := s.fastest(rivals)
	lean := slices.MinFunc(rivals, func(x, y string) int { return int(bytes[x] - bytes[y]) })
	faster := func(rival string) float64 { return median(s.ratios(rival, ownRow)) }
	sec.targets = []target{
		atLeast("a million random keys, each with its own clock, faster than the fastest Go rival ("+best+")", faster(best), 2.5, " x"),
		atLeast("the same, faster than x/time/rate in a sharded map", faster(sharedMap), 5, " x"),
		atMost("bytes a key, of the leanest rival's ("+lean+")", bytes[ownRow]/bytes[lean], 0.6, " x"),
	}
	b.bars = bars(s, limiters)
	return sec, nil
}

// addBytes adds a column of bytes a key.
func (s *section) addBytes(bytes map[string]float64) {
	s.head = append(s.head, "bytes a key")
	for i, l := range s.lines {
		cell := ""
		if n, ok := bytes[l[0]]; ok {
			cell = number(n)
		}
		s.lines[i] = append(l, cell)
	}
}

// direct measures the limiters of one key, each with its own clock.
func (b *bench) direct(ctx context.Context) (section, error) {
	limiter, err := weirFast()
	if err != nil {
		return section{}, err
	}
	const key = "client-000000042"
	rows := append([]row{here(ownRow, times(func() bool { return limiter.Allow(ctx, key).OK() }))}, directRivals()...)
	if b.governor != nil {
		rows = append(rows, b.governor.row(b.governor.name, "direct"))
	}
	if b.bucket4j != nil {
		rows = append(rows, b.bucket4j.row(b.bucket4j.name, "direct"))
	}
	s, err := rounds(ctx, rows, hotSlice, b.slowRounds)
	if err != nil {
		return section{}, err
	}
	sec := timed("Beside rivals, one key, each with its own clock", "The rivals are limiters of one key with nothing to look up; weir's "+
		"row looks up a string among its keys.", ownRow, s, names(rows))
	return sec, nil
}
