package speed

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	// sizeRounds is how many rounds each size gets.
	sizeRounds = 9
	// rateKeys is up to how many keys x/time/rate is measured: above, its objects take more memory than is reasonable here.
	rateKeys = 10_000_000
)

// drawn are a million draws from the first n keys: fewer than there are where there are more, but still 64 MB of lines.
func drawn(n int) []uint64 {
	draw, out := rand.New(rand.NewPCG(5, 6)), make([]uint64, million)
	for i := range out {
		out[i] = mix(draw.Uint64N(uint64(n)))
	}
	return out
}

// sizes measures how a decision's cost grows with the number of keys.
func (b *bench) sizes(ctx context.Context) (section, error) {
	sec := section{title: "Cost by number of keys", head: []string{"keys", "floor, ns", "gcra, ns", "times the floor", "x/time/rate, sharded map, ns"},
		note: "Keys drawn at random from those that are live, one goroutine, now passed in. The floor's table has 32 bytes a key."}
	var floors, ours, rates points
	for keys := 1000; keys <= b.sizeKeys; keys *= 10 {
		s, err := b.size(ctx, keys)
		if err != nil {
			return section{}, err
		}
		floor, ns := median(s["floor"]), median(s["gcra"])
		line := []string{grouped(keys), number(floor), number(ns), number(median(s.ratios("gcra", "floor"))), ""}
		if rate := s["rate"]; len(rate) > 0 {
			line[4] = number(median(rate))
			rates = append(rates, point{keys, median(rate)})
		}
		floors, ours = append(floors, point{keys, floor}), append(ours, point{keys, ns})
		sec.lines = append(sec.lines, line)
	}
	b.curves = []curve{{"x/time/rate, sharded map", rates}, {"weir gcra", ours}, {"floor: load, compare-and-swap", floors}}
	return sec, nil
}

func (b *bench) size(ctx context.Context, keys int) (samples, error) {
	p, err := made("gcra", steady)
	if err != nil {
		return nil, err
	}
	for i := range uint64(keys) {
		p.Take(0, mix(i), steadyDebt)
	}
	draws := drawn(keys)
	rows := []row{here("floor", randomSwap(lines(keys), draws)), here("gcra", takes(p, draws))}
	if keys <= min(rateKeys, b.growKeys) {
		m := newByNumber(newRate)
		for i := range uint64(keys) {
			m.get(mix(i))
		}
		rows = append(rows, here("rate", eachAt(draws, func(now, key uint64) bool {
			return m.get(key).AllowN(start.Add(time.Duration(now)), 1)
		})))
	}
	return rounds(ctx, rows, randomSlice, min(sizeRounds, b.rounds))
}
