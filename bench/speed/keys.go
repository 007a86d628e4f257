package speed

import (
	"math"
	"math/rand/v2"
	"slices"
)

const (
	// million is how many keys the tables of most parts hold: 2^20, so that a mask finds the next one.
	million = 1 << 20
	// zipfSkew is the exponent of the skewed keys: the n-th most frequent of a million comes up in proportion to n^-1.1,
	// about as requests by client do.
	zipfSkew = 1.1
)

// mix is the output function of splitmix64 over multiples of its increment: a bijection, so a million numbers are a million
// different keys, the same in every child program.
func mix(i uint64) uint64 {
	x := (i + 1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// numbers are the first n keys.
func numbers(n int) []uint64 {
	keys := make([]uint64, n)
	for i := range keys {
		keys[i] = mix(uint64(i))
	}
	return keys
}

// texts are keys in 16 hexadecimal digits, one after the other in one block: what a rival keeps of them is not counted as
// its memory, and reading the next one misses no cache.
func texts(keys []uint64) []string {
	const digits = "0123456789abcdef"
	block := make([]byte, 0, 16*len(keys))
	for _, k := range keys {
		for shift := 60; shift >= 0; shift -= 4 {
			block = append(block, digits[k>>shift&15])
		}
	}
	all, out := string(block), make([]string, len(keys))
	for i := range out {
		out[i] = all[16*i : 16*i+16]
	}
	return out
}

// zipf is as many keys as there are in keys, drawn from them by Zipf's law.
func zipf(keys []uint64) []uint64 {
	law := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), zipfSkew, 1, uint64(len(keys)-1))
	out := make([]uint64, len(keys))
	for i := range out {
		out[i] = keys[law.Uint64()]
	}
	return out
}

// spaced are n counts from low to high, each the same factor above the one before.
func spaced(low, high, n int) []int {
	counts := make([]int, n)
	for i := range counts {
		at := float64(i) / float64(n-1)
		counts[i] = int(math.Round(float64(low) * math.Pow(float64(high)/float64(low), at)))
	}
	return counts
}

// median of the values; NaN of none.
func median(values []float64) float64 { return quantile(values, 0.5) }

// quantile is the value that a share q of the others, between 0 and 1, is at most; NaN of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	low := int(at)
	high := min(low+1, len(sorted)-1)
	return sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
}
