package keyed

import (
	"fmt"

	"weir/policy"
)

// Relimit is policy.Policy's Relimit. It holds all shards until every key is converted.
func (t *Table[S, R]) Relimit(now uint64, l policy.Limit) error {
	to, err := t.remake(l)
	if err != nil {
		return err
	}
	t.lock()
	defer t.unlock()
	if err := t.within(now, now, to); err != nil {
		return err
	}
	t.carry(now, now, to)
	t.sweeper.changed()
	return nil
}

// Moved is policy.Mover's Move, between tables.
func (t *Table[S, R]) Moved(now, then uint64, l policy.Limit) (*Table[S, R], error) {
	to, err := t.remake(l)
	if err != nil {
		return nil, err
	}
	t.lock()
	defer t.unlock()
	if err := t.within(now, then, to); err != nil {
		return nil, err
	}
	t.carry(now, then, to)
	next := &Table[S, R]{remake: t.remake, capacity: t.capacity, place: t.place}
	next.keys.Store(t.keys.Swap(0))
	for i := range t.shards {
		old, sh := &t.shards[i], &next.shards[i]
		sh.fixed, sh.number, sh.place, sh.void = old.fixed, old.number, old.place, old.void
		sh.moving = &next.moving
		sh.slots, sh.asked, sh.used = old.slots, old.asked, old.used
		sh.rules = old.rules
		sh.settle(to)
		old.moved, old.slots, old.used = true, nil, 0
	}
	return next, nil
}

func (t *Table[S, R]) lock() {
	for i := range t.shards {
		t.shards[i].mu.Lock()
	}
}

func (t *Table[S, R]) unlock() {
	for i := range t.shards {
		t.shards[i].mu.Unlock()
	}
}

// within refuses a table that has no keys any more, and an instant past the horizon of the rules in force or of those to
// come.
func (t *Table[S, R]) within(now, then uint64, to R) error {
	if t.shards[0].moved {
		return errMoved
	}
	if h := t.shards[0].rules.Horizon(); now > h {
		return pastHorizon(now, h)
	}
	if h := to.Horizon(); then > h {
		return pastHorizon(then, h)
	}
	return nil
}

// errMoved refuses another limit for keys that are in another table.
var errMoved = fmt.Errorf("%w: the keys have been moved already", policy.ErrUnavailable)

func pastHorizon(now, horizon uint64) error {
	return fmt.Errorf("%w: now is %d, must be at most %d", policy.ErrPastHorizon, now, horizon)
}

// carry converts every key of a locked table, and ends every move of a shard to another size.
func (t *Table[S, R]) carry(now, then uint64, to R) {
	for i := range t.shards {
		sh := &t.shards[i]
		sh.settled()
		for j := range sh.slots {
			if s := &sh.slots[j]; s.key != 0 {
				s.state = sh.rules.Carry(s.state, now, then, to)
			}
		}
		sh.settle(to)
	}
}
