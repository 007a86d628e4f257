package keyed

import "math/bits"

// most is how many slots of an old array an insertion moves, and a key that must leave its slot for another one. So an array is
// moved on within slots/64 of these, and what they put in meanwhile fits: an array that grows has a fifth to spare, one of the
// same size was at most three fifths full of keys, and one that shrinks is at most half full and an eighth as long. No more
// slots of the new one can have been used than that, so one that never was is always left for a key that moves.
const most = 64

// insert puts a key that is not there into a locked shard. A table without bound looks at a line of slots for keys that are
// idle, whose words are at most idle, so that keys that come once do not pile up.
func (t *Words) insert(h, key, word, idle uint64) {
	n := shardOf(h)
	if !t.bounded() {
		t.tidy(n, h, idle)
	}
	t.stand(h, key, word)
	t.shards[n].live++
	t.sweeper.changed()
	if moving := t.moving.Load(); t.move(n, most) == 0 && moving != 0 {
		t.help(uint64(bits.TrailingZeros64(moving)))
	}
}

// help moves a part of another shard that nobody is at: so few hold two arrays at any time, though new keys come to a shard
// only one time in 64.
func (t *Words) help(n uint64) {
	if t.shards[n].mu.TryLock() {
		t.move(n, most)
		t.shards[n].mu.Unlock()
	}
}

// tidy looks for idle keys in the line where a new key's search begins, which is at hand, in a shard that is not moving. Once it
// has looked at as many lines as there are it lets the shard shrink.
func (t *Words) tidy(n, h, idle uint64) {
	sh, a := &t.shards[n], t.arrays[n].Load()
	if a.old.Load() != nil {
		return
	}
	i := a.home(h)
	behind := i + lineSlots
	for looked := 0; i < behind && looked < 2*lineSlots; looked++ {
		word := a.slot(i).word.Load()
		if word < taken || word&^taken > idle || !t.free(n, cell{a, a.slot(i), i, word}) {
			i++ // otherwise a key from behind may have moved into the slot
		}
	}
	if sh.tidied += lineSlots; sh.tidied >= a.size() {
		sh.tidied = 0
		t.shrink(n)
	}
}

// stand finds a key a slot, in another array if it must: where the array is too full, of keys or of gaps, or has too many
// slots on the key's way that may not be given to its word.
func (t *Words) stand(h, key, word uint64) {
	n := shardOf(h)
	a := t.arrays[n].Load()
	if !fits(t.shards[n].filled+1, a.size()) {
		a = t.resize(n, t.larger(n))
	}
	for !t.put(n, a, h, key, word, patience) {
		a = t.resize(n, t.larger(n))
	}
}

// patience is how many slots that may not be given to a word are passed on its way to one that may.
const patience = 32

// larger is the size to ask for where a shard must move: the same if gaps are what fills it.
func (t *Words) larger(n uint64) uint64 {
	sh := &t.shards[n]
	if 5*sh.live > 3*t.arrays[n].Load().size() {
		return next[uint64](n, sh.asked)
	}
	return sh.asked
}

// resize gives a shard another array, from which on its keys move there.
func (t *Words) resize(n, asked uint64) *array {
	for t.arrays[n].Load().old.Load() != nil {
		t.move(n, most)
	}
	sh, old := &t.shards[n], t.arrays[n].Load()
	a := newArray(newLines(paged[uint64](asked)), old.rules)
	a.old.Store(old)
	sh.asked, sh.filled, sh.moved, sh.highest, sh.left = asked, 0, 0, 0, 0
	t.moving.Or(1 << n)
	t.arrays[n].Store(a)
	return a
}

// move takes up to limit slots of a shard's old array to the new one, and answers how many it looked at. A key is in neither
// for a moment: who misses it waits for the lock.
func (t *Words) move(n uint64, limit int) (looked int) {
	sh, a := &t.shards[n], t.arrays[n].Load()
	old := a.old.Load()
	if old == nil {
		return 0
	}
	for ; looked < limit && sh.moved < old.size(); looked++ {
		s := old.slot(sh.moved)
		if word := s.empty(0); word >= taken {
			key := s.key.Load()
			t.put(n, a, t.place.hash(key), key, word&^taken, a.size())
			s.key.Store(gap)
		}
		sh.moved++
	}
	if sh.moved == old.size() {
		a.old.Store(nil)
		t.moving.And(^(uint64(1) << n))
	}
	return looked
}

// empty takes the mark off a word, so that no compare-and-swap on it succeeds any more, and gives the word as it was. The slot
// is left with at least so much.
func (s *wordSlot) empty(least uint64) uint64 {
	for {
		word := s.word.Load()
		if word < taken || s.word.CompareAndSwap(word, max(word&^taken, least)) {
			return word
		}
	}
}

// put stands a key in the first slot on its way that may have its word. It fails if so many free ones may not. An array that
// keys are moving to never is without one that may: see most.
func (t *Words) put(n uint64, a *array, h, key, word, patience uint64) bool {
	sh, slots := &t.shards[n], a.size()
	i := a.home(h)
	for range slots {
		s := a.slot(i)
		last, mark := s.word.Load(), s.key.Load()
		if last < taken {
			if mark != gap { // the search goes on behind it in either case
				sh.filled++
			}
			if word > last || last == 0 && mark == 0 {
				s.key.Store(key)
				s.word.Store(word | taken)
				return true
			}
			s.key.Store(gap)
			if patience--; patience == 0 {
				return false
			}
		}
		if i++; i == slots {
			i = 0
		}
	}
	return false
}

// dropped counts a key that has lost its slot.
func (t *Words) dropped(sh *wordShard, key uint64) {
	sh.tickets.void(key)
	sh.live--
	t.keys.Add(^uint64(0))
}
