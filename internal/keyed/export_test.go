package keyed

import "unsafe"

// Place is where a table with that seed has a key: the shard in the highest bits, the slot in the lowest.
func Place(seed, key uint64) uint64 { return newPlacement(seed).hash(key) }

// Slots is how many slots a table has, used or not.
func (t *Table[S, R]) Slots() (n int) {
	for i := range t.shards {
		n += len(t.shards[i].slots)
	}
	return n
}

// SlotSize is what a key takes in the slots.
func SlotSize[S any]() uintptr { return unsafe.Sizeof(slot[S]{}) }
