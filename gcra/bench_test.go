package gcra_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"weir/gcra"
	"weir/policy"
)

// generous lets one request through at every tick.
var generous = policy.Limit{Permits: 1, Period: 1, Burst: 10}

// sparing denies everything after the first request for longer than a benchmark lasts.
var sparing = policy.Limit{Permits: 1, Period: 1 << 60, Burst: 1}

func make1(b *testing.B, l policy.Limit) policy.Policy {
	p, err := gcra.New(l, policy.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkFloor is what any limiter that is safe for concurrent use pays for a decision: an atomic load and a
// compare-and-swap on one line.
func BenchmarkFloor(b *testing.B) {
	var word atomic.Uint64
	for b.Loop() {
		w := word.Load()
		word.CompareAndSwap(w, w+1)
	}
}

func BenchmarkDirectAllowed(b *testing.B) {
	d, err := gcra.NewDirect(generous)
	if err != nil {
		b.Fatal(err)
	}
	now := uint64(0)
	for b.Loop() {
		now++
		if !d.Take(now, 1).OK() {
			b.Fatal("denied")
		}
	}
}

func BenchmarkDirectDenied(b *testing.B) {
	d, err := gcra.NewDirect(sparing)
	if err != nil {
		b.Fatal(err)
	}
	d.Take(0, 1)
	for b.Loop() {
		if d.Take(1, 1).OK() {
			b.Fatal("allowed")
		}
	}
}

func BenchmarkHotAllowed(b *testing.B) {
	p := make1(b, generous)
	now := uint64(0)
	for b.Loop() {
		now++
		if !p.Take(now, 7, 1).OK() {
			b.Fatal("denied")
		}
	}
}

func BenchmarkHotDenied(b *testing.B) {
	p := make1(b, sparing)
	p.Take(0, 7, 1)
	for b.Loop() {
		if p.Take(1, 7, 1).OK() {
			b.Fatal("allowed")
		}
	}
}

const many = 1 << 20

func manyKeys() []uint64 {
	keys := make([]uint64, many)
	for i := range keys {
		keys[i] = rand.Uint64()
	}
	return keys
}

// BenchmarkFloorRandom is the same on a random line of 32 MiB.
func BenchmarkFloorRandom(b *testing.B) {
	table := make([]atomic.Uint64, 32<<20/8)
	for i := range table {
		table[i].Store(1)
	}
	keys := manyKeys()
	i := 0
	for b.Loop() {
		word := &table[keys[i&(many-1)]&(32<<20/8-1)]
		w := word.Load()
		word.CompareAndSwap(w, w+1)
		i++
	}
}

func BenchmarkRandomAllowed(b *testing.B) {
	p := make1(b, generous)
	keys := manyKeys()
	for _, key := range keys {
		p.Take(0, key, 1)
	}
	i := 0
	for b.Loop() {
		p.Take(uint64(i), keys[i&(many-1)], 1)
		i++
	}
}
