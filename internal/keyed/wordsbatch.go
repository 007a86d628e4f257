package keyed

import "weir/policy"

// ahead is how many keys of a batch are on their way from memory while one is decided.
const ahead = 16

// TakeBatch is policy.Batcher's.
func (t *Words) TakeBatch(now uint64, keys, costs []uint64, out []policy.Decision) int {
	n := min(len(keys), len(costs), len(out))
	keys, costs, out = keys[:n], costs[:n], out[:n]
	for _, key := range keys[:min(n, ahead)] {
		t.fetch(key)
	}
	for i, key := range keys {
		if i+ahead < n {
			t.fetch(keys[i+ahead])
		}
		out[i] = t.Take(now, key, costs[i])
	}
	return n
}

// fetch asks for the line where the search for a key begins.
func (t *Words) fetch(key uint64) {
	h := t.place.hash(key)
	prefetch(t.arrays[shardOf(h)].Load().line(h))
}
