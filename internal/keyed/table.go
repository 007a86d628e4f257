/*
Package keyed keeps the state of every key of a policy: the only locks, the only key tables, max_keys and sweep.

A table is split into shards by a hash of the key that is mixed with a secret seed. Each shard is an open-addressed
array behind a short lock; it grows and shrinks alone. A policy's arithmetic comes in as Rules: pure functions over the state of
one key. Nothing here knows what a state means.
*/
package keyed

import (
	"math"
	"sync"
	"sync/atomic"

	"weir/policy"
)

// Rules are the pure steps of one policy under one limit, over the state S of a key. R is the Rules type itself.
type Rules[S, R any] interface {
	// Limit is the limit that these rules were made of, and Horizon the largest now that they decide.
	Limit() policy.Limit
	Horizon() uint64
	// Fresh is the state of a key never seen.
	Fresh() S
	// Step decides, and gives the state after; the same state unless the outcome is Allow and the cost above 0.
	Step(s S, now, cost, cost2 uint64) (S, policy.Decision)
	// Peek decides and spends nothing.
	Peek(s S, now, cost, cost2 uint64) policy.Decision
	// Refund is the state after giving back; now is within the horizon.
	Refund(s S, now, cost, cost2 uint64) S
	// Undo is the state before the step that led from before to after, or false if current is no longer after. Nothing
	// has been given back to the key between after and current.
	Undo(before, after, current S) (S, bool)
	// IdleAt is the first now at which s is as good as Fresh.
	IdleAt(s S) uint64
	// Carry is s under other rules; then is the same instant as now, in the ticks of the others.
	Carry(s S, now, then uint64, to R) S
}

// Table is a policy.Policy over Rules, for policies with one limit. Its zero value is of no use; New makes one.
type Table[S any, R Rules[S, R]] struct {
	remake   func(policy.Limit) (R, error)
	capacity uint64
	place    placement
	keys     atomic.Uint64
	sweeper  sweeper
	shards   [shardCount]shard[S, R]
}

type shard[S any, R Rules[S, R]] struct {
	mu    sync.Mutex
	moved bool // the keys are in another table now
	rules R
	slots []slot[S] // empty, or a power of two of which at most three quarters are used
	used  int
	stamp uint32   // the last slot stamp given out
	_     [64]byte // the next shard's lock is on another cache line
}

type slot[S any] struct {
	key   uint64
	held  bool
	stamp uint32 // another one whenever the key came or was given something back: fits the padding
	state S
}

// New makes a table under limit; remake makes rules of this and of any later limit.
func New[S any, R Rules[S, R]](limit policy.Limit, o policy.Options, remake func(policy.Limit) (R, error)) (*Table[S, R], error) {
	rules, err := remake(limit)
	if err != nil {
		return nil, err
	}
	capacity, err := o.Capacity()
	if err != nil {
		return nil, err
	}
	t := &Table[S, R]{remake: remake, capacity: capacity, place: newPlacement(o.Seed)}
	for i := range t.shards {
		t.shards[i].rules = rules
	}
	return t, nil
}

// locate gives a key's shard and the hash that places it there.
func (t *Table[S, R]) locate(key uint64) (*shard[S, R], uint64) {
	h := t.place.hash(key)
	return &t.shards[shardOf(h)], h
}

// Take is policy.Policy's Take.
func (t *Table[S, R]) Take(now, key, cost uint64) policy.Decision {
	return t.take(now, key, cost, cost)
}

// Peek is policy.Policy's Peek.
func (t *Table[S, R]) Peek(now, key, cost uint64) policy.Decision {
	return t.peek(now, key, cost, cost)
}

// Refund is policy.Policy's Refund.
func (t *Table[S, R]) Refund(now, key, cost uint64) policy.Outcome {
	return t.refund(now, key, cost, cost)
}

// Forget is policy.Policy's Forget.
func (t *Table[S, R]) Forget(key uint64) {
	sh, h := t.locate(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if i, known := sh.find(h, key); known {
		t.free(sh, i)
		t.sweeper.changed()
	}
}

// Keys is policy.Policy's Keys.
func (t *Table[S, R]) Keys() int { return int(min(t.keys.Load(), math.MaxInt)) }

// Horizon is policy.Policy's Horizon.
func (t *Table[S, R]) Horizon() uint64 { return t.current().Horizon() }

// Limit is policy.Policy's Limit.
func (t *Table[S, R]) Limit() policy.Limit { return t.current().Limit() }

// State is a key's state with the rules that it stands under; that of a key never seen if it has none.
func (t *Table[S, R]) State(key uint64) (S, R) {
	sh, h := t.locate(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	s, _ := sh.state(h, key)
	return s, sh.rules
}

// current is the rules in force: every shard has the same ones whenever all their locks are free.
func (t *Table[S, R]) current() R {
	sh := &t.shards[0]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.rules
}

// TakeUndo is policy.Undoer's; a policy with one limit has one cost.
func (t *Table[S, R]) TakeUndo(now, key, cost, _ uint64) (policy.Decision, func() bool) {
	return t.takeUndo(now, key, cost, cost)
}

func (t *Table[S, R]) takeUndo(now, key, cost, cost2 uint64) (policy.Decision, func() bool) {
	sh, h := t.locate(key)
	sh.mu.Lock()
	before, known := sh.state(h, key)
	d := t.takeIn(sh, h, now, key, cost, cost2)
	after, _ := sh.state(h, key)
	rules, stamp := sh.rules, uint32(0)
	if i, held := sh.find(h, key); held {
		stamp = sh.slots[i].stamp
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
		i, held := sh.find(h, key)
		if !held || sh.slots[i].stamp != stamp || any(sh.rules) != any(rules) {
			return false
		}
		state, ok := rules.Undo(before, after, sh.slots[i].state)
		switch {
		case ok && known:
			sh.slots[i].state = state
			sh.renew(i)
		case ok:
			t.free(sh, i)
		}
		t.sweeper.changed()
		return ok
	}
}

func (t *Table[S, R]) take(now, key, cost, cost2 uint64) policy.Decision {
	sh, h := t.locate(key)
	sh.mu.Lock()
	d := t.takeIn(sh, h, now, key, cost, cost2)
	sh.mu.Unlock()
	return d
}

// takeIn takes from a key of a locked shard.
func (t *Table[S, R]) takeIn(sh *shard[S, R], h, now, key, cost, cost2 uint64) policy.Decision {
	if sh.moved {
		return policy.Decision{}
	}
	i, known := sh.find(h, key)
	if known {
		state, d := sh.rules.Step(sh.slots[i].state, now, cost, cost2)
		if d.OK() {
			sh.slots[i].state = state
		}
		return d
	}
	d := sh.rules.Peek(sh.rules.Fresh(), now, cost, cost2)
	if !d.OK() || cost|cost2 == 0 {
		return d
	}
	if !t.claim() {
		return policy.Refused(policy.Full)
	}
	state, d := sh.rules.Step(sh.rules.Fresh(), now, cost, cost2)
	sh.insert(t, h, key, state)
	t.sweeper.changed()
	return d
}

func (t *Table[S, R]) peek(now, key, cost, cost2 uint64) policy.Decision {
	sh, h := t.locate(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.moved {
		return policy.Decision{}
	}
	state, known := sh.state(h, key)
	d := sh.rules.Peek(state, now, cost, cost2)
	if !known && d.OK() && cost|cost2 > 0 && t.keys.Load() >= t.capacity {
		return policy.Refused(policy.Full)
	}
	return d
}

func (t *Table[S, R]) refund(now, key, cost, cost2 uint64) policy.Outcome {
	sh, h := t.locate(key)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	if sh.moved {
		return 0
	}
	if now > sh.rules.Horizon() {
		return policy.PastHorizon
	}
	if i, known := sh.find(h, key); known {
		sh.slots[i].state = sh.rules.Refund(sh.slots[i].state, now, cost, cost2)
		sh.renew(i)
		t.sweeper.changed()
	}
	return policy.Allow
}

// claim takes one of the table's rooms. It fails only when all of them are taken.
func (t *Table[S, R]) claim() bool {
	for {
		n := t.keys.Load()
		if n >= t.capacity {
			return false
		}
		if t.keys.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// free empties slot i of a locked shard and gives its room back.
func (t *Table[S, R]) free(sh *shard[S, R], i uint64) {
	sh.remove(t, i)
	t.keys.Add(^uint64(0))
}

// renew gives slot i a stamp that no slot of its shard has had: an undo from before is refused from now on.
func (sh *shard[S, R]) renew(i uint64) {
	sh.stamp++
	sh.slots[i].stamp = sh.stamp
}
