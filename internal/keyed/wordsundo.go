package keyed

import "weir/policy"

// TakeUndo is policy.Undoer's; a policy with one limit has one cost.
func (t *Words) TakeUndo(now, key, cost, _ uint64) (policy.Decision, func() bool) {
	h := t.place.hash(key)
	sh := t.lockShard(h)
	defer sh.mu.Unlock()
	c, next, d := t.takeLocked(h, now, key, cost)
	switch {
	case !d.OK():
		return d, nil
	case cost == 0:
		return d, func() bool { return true }
	}
	u := undo{h, key, c.word, next | taken, c.slot != nil, sh.tickets.issue(key), c.array.rules}
	return d, func() bool { return t.undo(u) }
}

// takeLocked takes from a key of a locked shard, and gives what was found before and the word after.
func (t *Words) takeLocked(h, now, key, cost uint64) (c cell, next uint64, d policy.Decision) {
	for {
		c = t.find(h, key)
		if c.slot == nil {
			next, _ = c.array.rules.Step(0, now, cost)
			return c, next, t.takeFresh(c.array, h, now, key, cost)
		}
		if next, d = c.array.rules.Step(c.word&^taken, now, cost); c.settle(next | taken) {
			return c, next, d
		}
	}
}

// undo is an admission that can be taken back.
type undo struct {
	h, key        uint64
	before, after uint64
	known         bool
	ticket        uint64
	rules         WordRules
}

// undo puts the word back that was there before. A later admission has made the word larger; anything that can have made it
// smaller again, so that it only looks the same, has made the ticket worthless.
func (t *Words) undo(u undo) bool {
	sh := t.lockShard(u.h)
	defer sh.mu.Unlock()
	c := t.find(u.h, u.key)
	if !sh.tickets.good(u.ticket) || c.slot == nil || c.word != u.after || c.array.rules != u.rules {
		return false
	}
	if u.known {
		sh.tickets.void(u.key)
		return t.lower(u.h, u.key, c, u.before&^taken)
	}
	if !t.free(shardOf(u.h), c) {
		return false
	}
	t.sweeper.changed()
	return true
}
