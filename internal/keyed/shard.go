package keyed

// find gives the slot of a key. If the key has none it gives the empty slot where it would go, which means nothing
// in a shard without slots. Linear probing; an empty slot always exists, since at most three quarters are used.
func (sh *shard[S, R]) find(h, key uint64) (i uint64, known bool) {
	if len(sh.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(sh.slots) - 1)
	for i = h & mask; sh.slots[i].held; i = (i + 1) & mask {
		if sh.slots[i].key == key {
			return i, true
		}
	}
	return i, false
}

// state is the state of a key, or that of a key never seen.
func (sh *shard[S, R]) state(h, key uint64) (s S, known bool) {
	if i, known := sh.find(h, key); known {
		return sh.slots[i].state, true
	}
	return sh.rules.Fresh(), false
}

// insert puts in a key that is not there, growing first where it must.
func (sh *shard[S, R]) insert(t *Table[S, R], h, key uint64, state S) {
	if 4*(sh.used+1) > 3*len(sh.slots) {
		sh.resize(t, max(firstSlots, 2*len(sh.slots)))
	}
	i, _ := sh.find(h, key)
	sh.slots[i] = slot[S]{key: key, held: true, state: state}
	sh.renew(i)
	sh.used++
}

// shrink gives back slots that a peak has left: unless one in eight is used there are too many.
func (sh *shard[S, R]) shrink(t *Table[S, R]) {
	size := len(sh.slots)
	for size > firstSlots && 8*sh.used < size {
		size /= 2
	}
	if size < len(sh.slots) {
		sh.resize(t, size)
	}
}

// resize moves the keys to so many slots. A sweep under way may see a key that moves twice or not at all.
func (sh *shard[S, R]) resize(t *Table[S, R], size int) {
	old := sh.slots
	sh.slots = make([]slot[S], size)
	for _, s := range old {
		if s.held {
			i, _ := sh.find(t.place.hash(s.key), s.key)
			sh.slots[i] = s
		}
	}
}

// remove empties slot i and closes the gap: any key further along the run that would be found no more, had the run
// an empty slot there, moves into it.
func (sh *shard[S, R]) remove(t *Table[S, R], i uint64) {
	mask := uint64(len(sh.slots) - 1)
	for j := (i + 1) & mask; sh.slots[j].held; j = (j + 1) & mask {
		home := t.place.hash(sh.slots[j].key) & mask
		if (j-home)&mask >= (j-i)&mask {
			sh.slots[i] = sh.slots[j]
			i = j
		}
	}
	sh.slots[i] = slot[S]{}
	sh.used--
}
