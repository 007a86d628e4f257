package keyed

// Slots is how many slots a table has, used or not.
func (t *Words) Slots() (n int) {
	for i := range t.arrays {
		a := t.arrays[i].Load()
		n += int(a.size())
		if old := a.old.Load(); old != nil {
			n += int(old.size())
		}
	}
	return n
}

// Moving is how many shards are on their way to another size.
func (t *Words) Moving() (n int) {
	for i := range t.arrays {
		if t.arrays[i].Load().old.Load() != nil {
			n++
		}
	}
	return n
}

// Moved is how many slots of old arrays have been emptied, in the shards that are moving.
func (t *Words) MovedSlots() (n uint64) {
	for i := range t.arrays {
		if t.arrays[i].Load().old.Load() != nil {
			n += t.shards[i].moved
		}
	}
	return n
}

// Handle is a key's word as a request found it.
type Handle struct {
	slot *wordSlot
	word uint64
}

// Handle is nothing for a key that is not known.
func (t *Words) Handle(key uint64) (h Handle, known bool) {
	c := t.find(t.place.hash(key), key)
	return Handle{c.slot, c.word}, c.slot != nil
}

// Stands says whether a charge on what was found would succeed.
func (h Handle) Stands() bool { return h.slot.word.Load() == h.word }

// Consistent says whether what the shards count is what is there.
func (t *Words) Consistent() bool {
	keys := uint64(0)
	for n := range t.arrays {
		sh, a := &t.shards[n], t.arrays[n].Load()
		live, filled := uint64(0), uint64(0)
		for i := range a.size() {
			s := a.slot(i)
			switch word := s.word.Load(); {
			case word >= taken:
				live, filled = live+1, filled+1
			case s.key.Load() == gap:
				filled++
			}
		}
		if filled != sh.filled {
			return false
		}
		if old := a.old.Load(); old != nil {
			for i := range old.size() {
				if old.slot(i).word.Load() >= taken {
					live++
				}
			}
		}
		if live != sh.live {
			return false
		}
		keys += live
	}
	return keys == t.keys.Load()
}

// Unseeded is where a key would stand if the seed were known.
func Unseeded(key uint64) uint64 { return placement{0, 1}.hash(key) }

// LongestSearch is how many slots are looked at for the key that is the farthest from where its search begins.
func (t *Words) LongestSearch() (longest uint64) {
	for n := range t.arrays {
		a := t.arrays[n].Load()
		for i := range a.size() {
			if s := a.slot(i); s.word.Load() >= taken {
				longest = max(longest, 1+distance(a.home(t.place.hash(s.key.Load())), i, a.size()))
			}
		}
	}
	return longest
}

// Arrays is a table's arrays.
type Arrays [shardCount]*array

// Arrays are others only if the table has allocated some.
func (t *Words) Arrays() (all Arrays) {
	for n := range t.arrays {
		all[n] = t.arrays[n].Load()
	}
	return all
}
