package keyed

import "weir/policy"

// Relimit is policy.Policy's Relimit. It holds all shards until every key is converted: no request is decided under the old
// limit once one has been under the new.
func (t *Words) Relimit(now uint64, l policy.Limit) error {
	to, err := t.remake(l)
	if err != nil {
		return err
	}
	t.lock()
	defer t.unlock()
	if err := t.within(now, now, to); err != nil {
		return err
	}
	t.carry(t, now, now, to)
	t.sweeper.changed()
	return nil
}

// Move is policy.Mover's Move.
func (t *Words) Move(now, then uint64, l policy.Limit) (policy.Policy, error) {
	to, err := t.remake(l)
	if err != nil {
		return nil, err
	}
	t.lock()
	defer t.unlock()
	if err := t.within(now, then, to); err != nil {
		return nil, err
	}
	next := &Words{remake: t.remake, capacity: t.capacity, fixed: t.fixed, place: t.place}
	t.carry(next, now, then, to)
	next.keys.Store(t.keys.Swap(0))
	for n := range t.arrays {
		left := newArray(newLines(1), t.arrays[n].Load().rules)
		left.gone = true
		t.arrays[n].Store(left)
		t.shards[n].live, t.shards[n].filled = 0, 0
	}
	return next, nil
}

func (t *Words) lock() {
	for i := range t.shards {
		t.shards[i].mu.Lock()
	}
}

func (t *Words) unlock() {
	for i := range t.shards {
		t.shards[i].mu.Unlock()
	}
}

// within refuses a table that has no keys any more, and an instant past the horizon of the rules in force or of those to
// come.
func (t *Words) within(now, then uint64, to WordRules) error {
	if t.arrays[0].Load().gone {
		return errMoved
	}
	if h := t.Horizon(); now > h {
		return pastHorizon(now, h)
	}
	if h := to.Scale().Horizon; then > h {
		return pastHorizon(then, h)
	}
	return nil
}

// carry converts every key of a locked table into arrays of the same size for another table, which may be the same.
func (t *Words) carry(next *Words, now, then uint64, to WordRules) {
	arrays := make([]*array, shardCount)
	for n := range t.arrays {
		for t.move(uint64(n), most) > 0 {
		}
		old := t.arrays[n].Load()
		arrays[n] = newArray(newLines(old.size()), to)
		sh := &next.shards[n]
		sh.live, sh.asked = t.shards[n].live, t.shards[n].asked
		sh.filled, sh.moved, sh.highest, sh.left = 0, 0, 0, 0
		for i := range old.size() {
			s := old.slot(i)
			if word := s.empty(0); word >= taken {
				key := s.key.Load()
				tat := old.rules.Carry(word&^taken, now, then, to.Scale())
				next.put(uint64(n), arrays[n], t.place.hash(key), key, tat, old.size())
			}
		}
	}
	for n, a := range arrays {
		next.arrays[n].Store(a)
	}
}
