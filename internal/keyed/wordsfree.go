package keyed

// lower gives a key a word that may be smaller than the one it was found with. It fails if the word has changed since.
func (t *Words) lower(h, key uint64, c cell, word uint64) bool {
	n := shardOf(h)
	sh := &t.shards[n]
	switch {
	case word|taken == c.word:
		return c.slot.stands(c.word)
	case word > sh.left && c.array == t.arrays[n].Load():
		if !c.slot.word.CompareAndSwap(c.word, word|taken) {
			return false
		}
		sh.highest = max(sh.highest, c.word&^taken)
	default: // a key that has left its slot may have had such a word: this one takes another slot
		if !t.clear(n, c) {
			return false
		}
		t.stand(h, key, word)
		t.move(n, most)
	}
	t.sweeper.changed()
	return true
}

// free takes a key out of a locked shard; not if its word has changed.
func (t *Words) free(n uint64, c cell) bool {
	key := c.slot.key.Load()
	if !t.clear(n, c) {
		return false
	}
	t.dropped(&t.shards[n], key)
	return true
}

// clear makes a gap of a key's slot, and closes it; not if its word has changed.
func (t *Words) clear(n uint64, c cell) bool {
	sh, last := &t.shards[n], c.word&^taken
	newest := c.array == t.arrays[n].Load()
	if newest {
		last = max(last, sh.highest)
	}
	if !c.slot.word.CompareAndSwap(c.word, last) {
		return false
	}
	c.slot.key.Store(gap)
	if newest {
		sh.left = max(sh.left, last)
		t.close(n, c.array, c.index)
	}
	return true
}

// close fills a gap with keys from further along, or ends the search at it, unless a key behind it must be found over it
// that may not move into it.
func (t *Words) close(n uint64, a *array, hole uint64) {
	slots := a.size()
	needed := false
	i := hole
	for range slots {
		if i++; i == slots {
			i = 0
		}
		s := a.slot(i)
		word, key := s.word.Load(), s.key.Load()
		if word < taken {
			if key != gap {
				break
			}
			continue
		}
		if from := a.home(t.place.hash(key)); distance(from, i, slots) < distance(hole, i, slots) {
			continue // its search begins behind the hole
		}
		if !t.shards[n].shift(s, a.slot(hole)) {
			needed = true
			continue
		}
		hole, needed = i, false
	}
	if !needed {
		t.end(n, a, hole)
	}
}

// shift moves a key into a gap, if its word may stand there.
func (sh *wordShard) shift(from, to *wordSlot) bool {
	if from.word.Load()&^taken <= to.word.Load() {
		return false // the word can only have grown since
	}
	key, word := from.key.Load(), from.empty(sh.highest)
	sh.left = max(sh.left, word&^taken, sh.highest)
	from.key.Store(gap)
	to.key.Store(key)
	to.word.Store(word)
	return true
}

// end ends the search at a gap, and at the gaps before it if it was the last of its run already.
func (t *Words) end(n uint64, a *array, i uint64) {
	slots := a.size()
	for range slots {
		s := a.slot(i)
		if s.word.Load() >= taken || s.key.Load() != gap {
			return
		}
		s.key.Store(end)
		t.shards[n].filled--
		if i == 0 {
			i = slots
		}
		i--
	}
}
