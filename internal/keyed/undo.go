package keyed

import "weir/policy"

// TakeUndo is policy.Undoer's; a policy with one limit has one cost.
func (t *Table[S, R]) TakeUndo(now, key, cost, _ uint64) (policy.Decision, func() bool) {
	return t.takeUndo(now, key, cost, cost)
}

// takeUndo's undo tells by a ticket whether the key was given something back since, or went and came again: a state that
// looks the same is not enough then.
func (t *Table[S, R]) takeUndo(now, key, cost, cost2 uint64) (policy.Decision, func() bool) {
	sh, h := t.locate(key)
	sh.mu.Lock()
	before, known := sh.state(h, key)
	d := t.takeIn(sh, h, now, key, cost, cost2)
	after, _ := sh.state(h, key)
	rules, ticket := sh.rules, uint64(0)
	if d.OK() && cost|cost2 > 0 {
		ticket = sh.tickets.issue(key)
	}
	sh.mu.Unlock()
	if !d.OK() {
		return d, nil
	}
	if cost|cost2 == 0 {
		return d, func() bool { return true }
	}
	return d, func() bool {
		sh.mu.Lock()
		defer sh.mu.Unlock()
		if !sh.tickets.good(ticket) || any(sh.rules) != any(rules) {
			return false
		}
		slots, i, held := sh.where(h, key)
		if !held {
			return false
		}
		state, ok := rules.Undo(before, after, slots[i].state)
		switch {
		case ok && known:
			slots[i].state = state
			sh.tickets.void(key)
		case ok:
			t.free(sh, slots, i)
		}
		t.sweeper.changed()
		return ok
	}
}
