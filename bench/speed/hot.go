package speed

import (
	"context"
	"fmt"
	"time"

	"weir/policy"
)

const (
	// hotSlice is how many decisions a slice of a hot row makes: a few ms at most.
	hotSlice = 1 << 17
	hotKey   = 42
)

// Names of rows that a target names.
const (
	swapFloor   = "floor: atomic load, compare-and-swap"
	loadFloor   = "floor: atomic load"
	hashedFloor = "floor: time.Since and the hash of 16 bytes"
	callFloor   = "floor: a call that mixes the key, compares and swaps"
	directRow   = "gcra.Direct, allowed"
	directNo    = "gcra.Direct, denied"
	hotRow      = "gcra, allowed"
	hotNo       = "gcra, denied"
	hotWeir     = "weir.New, string key and clock, allowed"
	fullLog     = "slidinglog, 1,000 permits, full and sliding"
)

// hot measures one key in the first cache, alone, beside the floors.
func (b *bench) hot(ctx context.Context) (section, error) {
	rows, err := hotRows(ctx)
	if err != nil {
		return section{}, err
	}
	s, err := rounds(ctx, rows, hotSlice, b.rounds)
	if err != nil {
		return section{}, err
	}
	sec := timed("One hot key, one goroutine", "Now is passed in and moves one tick a decision, or is read where the row says "+
		"clock. The policies are called through the Policy interface.", swapFloor, s, names(rows))
	times := func(row, floor string) float64 { return median(s.ratios(row, floor)) }
	sec.targets = []target{
		atMost("gcra.Direct, allowed, over an uncontended atomic load and compare-and-swap", times(directRow, swapFloor), 1.15, " x"),
		atMost("gcra.Direct, denied, above an atomic load", median(s.excess(directNo, loadFloor)), 2, " ns"),
		atMost("gcra, one hot key, allowed, over the same load and compare-and-swap", times(hotRow, swapFloor), 1.8, " x"),
		atMost("gcra, one hot key, denied, over the same load and compare-and-swap", times(hotNo, swapFloor), 1.1, " x"),
		atMost("weir.New, one hot string key and a clock, over time.Since and the hash", times(hotWeir, hashedFloor), 1.4, " x"),
		atMost("sliding log of 1,000, full and sliding, over gcra", times(fullLog, hotRow), 3, " x"),
	}
	return sec, nil
}

func hotRows(ctx context.Context) ([]row, error) {
	base, text := time.Now(), "client-000000042"
	word := new(line)
	rows := []row{
		here(swapFloor, loadSwap(word)),
		refused(loadFloor, load(word)),
		here("floor: mutex, lock and unlock", lockUnlock()),
		here("floor: time.Now", timeNow()),
		here("floor: time.Since", timeSince(base)),
		here("floor: the hash of 16 bytes", hash(text)),
		here(hashedFloor, sinceHash(base, text)),
		here(callFloor, leastTakes(newLeast(1), []uint64{hotKey})),
	}
	for _, d := range []struct {
		name  string
		limit policy.Limit
	}{{directRow, quick}, {directNo, never}} {
		l, err := directTakes(d.limit)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{d.name, here("", l).slice, d.limit == never})
	}
	for _, name := range []string{"gcra", "tokenbucket", "leakybucket", "dualbucket"} {
		allowed, err := made(name, quick)
		if err != nil {
			return nil, err
		}
		denied, err := made(name, never)
		if err != nil {
			return nil, err
		}
		denied.Take(0, hotKey, 1)
		rows = append(rows, here(name+", allowed", hotTakes(allowed, hotKey, 1, 1)), refused(name+", denied", hotTakes(denied, hotKey, 1, 1)))
	}
	logs, err := logRows()
	if err != nil {
		return nil, err
	}
	limiters, err := limiterRows(ctx, text)
	if err != nil {
		return nil, err
	}
	return append(append(rows, logs...), limiters...), nil
}

// limiterRows are a limiter with string keys: on its own clock, at a moment that the caller has read, and through a lease.
func limiterRows(ctx context.Context, key string) ([]row, error) {
	own, err := weirFast()
	if err != nil {
		return nil, err
	}
	given, err := weirFast()
	if err != nil {
		return nil, err
	}
	leased, err := weirFast()
	if err != nil {
		return nil, err
	}
	lease, err := hotLease(leased, key)
	if err != nil {
		return nil, err
	}
	return []row{
		here(hotWeir, hotAllow(ctx, own, key)),
		here("weir.New, string key, at a given moment", hotAllowAt(given, key)),
		here("weir.New, a lease of 64 permits, at a given moment", lease),
	}, nil
}

// logRows are sliding logs. In the full and sliding one each decision drops one entry and adds one. A denial asks for half of
// the permits, so that the entry whose expiry would do is in the middle of the log.
func logRows() ([]row, error) {
	full, err := made("slidinglog", policy.Limit{Permits: 1000, Period: 1000})
	if err != nil {
		return nil, err
	}
	for now := range uint64(1000) {
		full.Take(now, hotKey, 1)
	}
	rows := []row{here(fullLog, offset(full, 1000))}
	for _, n := range []uint64{1_000, 32_000, 1_000_000} {
		denied, err := made("slidinglog", policy.Limit{Permits: n, Period: 1 << 60})
		if err != nil {
			return nil, err
		}
		for now := range n {
			denied.Take(now, hotKey, 1)
		}
		rows = append(rows, refused(fmt.Sprintf("slidinglog, %s permits, full, denied", grouped(int(n))), hotTakes(denied, hotKey, 1, n/2)))
	}
	return rows, nil
}

// offset is hotTakes from a later now on.
//
//go:noinline
func offset(p policy.Policy, from uint64) loop {
	now := from
	return func(n int) (allowed int) {
		for t := now; t < now+uint64(n); t++ {
			if p.Take(t, hotKey, 1).OK() {
				allowed++
			}
		}
		now += uint64(n)
		return allowed
	}
}
