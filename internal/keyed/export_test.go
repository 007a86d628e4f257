package keyed

import "unsafe"

// Place is where a table with that seed has a key: the shard in the highest bits, and how far into the shard in those below.
func Place(seed, key uint64) uint64 { return newPlacement(seed).hash(key) }

// Slots is how many slots a table has, used or not.
func (t *Table[S, R]) Slots() (n int) {
	for i := range t.shards {
		n += len(t.shards[i].slots) + len(t.shards[i].old)
	}
	return n
}

// Waiting is how many keys have not been moved yet, in shards that move to another size.
func (t *Table[S, R]) Waiting() (n int) {
	for i := range t.shards {
		n += t.shards[i].waiting()
	}
	return n
}

// Shard tells of the shard of a key: its keys, how many of them wait to be moved, and its slots.
func (t *Table[S, R]) Shard(key uint64) (keys, waiting, slots int) {
	sh, _ := t.locate(key)
	return int(sh.used), sh.waiting(), len(sh.slots)
}

func (sh *shard[S, R]) waiting() (n int) {
	for gone := sh.gone; sh.old != nil && gone < uint64(len(sh.old)); gone++ {
		if sh.old[after(sh.start, gone, uint64(len(sh.old)))].key != 0 {
			n++
		}
	}
	return n
}

// SlotSize is what a key takes in the slots.
func SlotSize[S any]() uintptr { return unsafe.Sizeof(slot[S]{}) }

// Entries is how many entries there is memory for.
func (r *Rings[E]) Entries() (n int) {
	for i := range r.pools {
		for _, c := range r.pools[i].chunks {
			n += len(c.entries)
		}
	}
	return n
}

// Sizes is what size is asked for after asked in a table of S, and how many slots both are.
func Sizes[S any](shard, asked uint64) (size, before, slots uint64) {
	size = next[S](shard, asked)
	return size, paged[S](asked), paged[S](size)
}
