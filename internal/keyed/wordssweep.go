package keyed

import "math"

// Sweep is policy.Policy's Sweep. Looking at all holds one shard's lock after the other, for as long as it takes to
// look at that shard; known keys of other shards and of this one go on. Looking at some takes O(slots) beyond the runs that
// a freed key closes.
func (t *Words) Sweep(now uint64, slots int) (freed int, done bool) {
	return t.sweeper.sweep(now, slots, t.sweepShard)
}

// sweepShard looks at no more than limit slots of the shard at the cursor, first of all at those that are still to move.
func (t *Words) sweepShard(now uint64, limit int) (freed, looked int) {
	w := &t.sweeper
	n, cursor := uint64(w.shard), uint64(w.slot)
	sh := &t.shards[n]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	a := t.arrays[n].Load()
	if sh.filled == 0 && a.old.Load() == nil { // a shard with no key and no gap is one look
		cursor = a.size()
	}
	looked = t.move(n, limit)
	idle := min(now, a.scale.Horizon) * a.scale.Tick
	freed, more, earliest := t.sweepSlots(n, &cursor, idle, limit-looked)
	w.slot = int(cursor)
	looked += more
	if earliest != math.MaxUint64 {
		w.earliest = min(w.earliest, a.scale.Ticks(earliest))
	}
	if cursor >= a.size() && a.old.Load() == nil && !t.shrink(n) {
		w.shard, w.slot = w.shard+1, 0
		looked++ // a shard that took no look counts too, so that a step is bounded
	}
	return freed, looked
}

// sweepSlots looks at no more than limit slots of a locked shard from a cursor on, until the end of the array, and frees
// those whose words are at most idle. earliest is the smallest of the other words.
func (t *Words) sweepSlots(n uint64, cursor *uint64, idle uint64, limit int) (freed, looked int, earliest uint64) {
	a := t.arrays[n].Load()
	earliest = math.MaxUint64
	for ; *cursor < a.size() && looked < limit; looked++ {
		s := a.slot(*cursor)
		word := s.word.Load()
		if word >= taken && word&^taken <= idle {
			if t.free(n, cell{a, s, *cursor, word}) {
				freed++
			}
			continue // a key may have moved into the slot
		}
		if word >= taken {
			earliest = min(earliest, word&^taken)
		}
		*cursor++
	}
	return freed, looked, earliest
}

// shrink gives a shard of a table that has not all slots from the beginning, of which less than a third is in use, an array
// of two thirds of that size or less, of which at most half will be.
func (t *Words) shrink(n uint64) bool {
	slots, live := t.arrays[n].Load().size(), t.shards[n].live
	if t.fixed || slots <= firstSlots || 3*live >= slots {
		return false
	}
	t.resize(n, max(firstSlots, slots/8, 2*live))
	return true
}
