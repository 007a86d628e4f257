package keyed

import (
	"runtime"

	"weir/policy"
)

const (
	batchGroup = 64      // requests that are looked up together
	batchKeys  = 1 << 18 // a table of fewer keys, of 9 MB, is mostly in caches: looking twice costs as much as it gains
)

// TakeBatch is policy.Batcher's TakeBatch. In a large table most of a take is the wait for memory: so the slots of a group of
// requests are looked at first, one wait running into the next, and then decided in order.
func (t *Table[S, R]) TakeBatch(now uint64, keys, costs []uint64, out []policy.Decision) int {
	n := min(len(keys), len(costs), len(out))
	large := t.keys.Load() >= batchKeys
	for from := 0; from < n; from += batchGroup {
		to := min(n, from+batchGroup)
		if large {
			t.touch(keys[from:to])
		}
		for i := from; i < to; i++ {
			out[i] = t.take(now, keys[i], costs[i], costs[i])
		}
	}
	return n
}

// touch brings the slots where keys may stand into the cache.
func (t *Table[S, R]) touch(keys []uint64) {
	seen := uint64(0)
	for _, key := range keys {
		sh, h := t.locate(key)
		sh.mu.Lock()
		if i := home(h, uint64(len(sh.slots))); i < uint64(len(sh.slots)) {
			seen += sh.slots[i].key
		}
		sh.mu.Unlock()
	}
	runtime.KeepAlive(seen) // or nothing would be read
}
