/*
Package keyed keeps the state of every key of a policy: the only locks, the only key tables, max_keys and sweep.

A table is split into shards by a hash of the key that is mixed with a secret seed. Each shard is an open-addressed
array behind a short lock; it grows and shrinks alone, a few slots at a time. A policy's arithmetic comes in as Rules: pure
functions over the state of one key. Nothing here knows what a state means.
*/
package keyed

import (
	"math"
	"math/bits"
	"sync/atomic"

	"weir/policy"
)

// Terms are what the pure steps of one policy under one limit, over the state S of a key, have in common in every table. R is
// the type that has them.
type Terms[S, R any] interface {
	// Limit is the limit that these rules were made of, and Horizon the largest now that they decide.
	Limit() policy.Limit
	Horizon() uint64
	// Fresh is the state of a key never seen.
	Fresh() S
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

// Rules are Terms for a Table. Those whose states hold memory of their own are a Keeper too.
type Rules[S, R any] interface {
	Terms[S, R]
	// Step decides, and spends: it changes the state if the outcome is Allow and the cost above 0, and only then.
	Step(s *S, now, cost, cost2 uint64) policy.Decision
}

// Keeper is Rules whose states are handles into memory that the rules keep. Each shard has its own, and asks nothing of
// it without the shard's lock.
type Keeper[S, R any] interface {
	Rules[S, R]
	// Settle is the same rules for one shard, with the memory that before has kept for it; before is the zero R where
	// the shard has none yet. state is where the shard holds the state of a key that it knows, so that a handle can be
	// changed when what it stands for has to move.
	Settle(before R, state func(key uint64) *S) R
	// Keep says whose state s is, once, after the Step that brought the key in; Drop gives back what it holds.
	Keep(key uint64, s S)
	Drop(s S)
}

// Table is a policy.Policy over Rules, for policies with one limit. Its zero value is of no use; New makes one.
type Table[S any, R Rules[S, R]] struct {
	remake   func(policy.Limit) (R, error)
	capacity uint64
	place    placement
	_        [64]byte // what every take reads is on another cache line than what every new key writes
	keys     atomic.Uint64
	moving   atomic.Uint64 // which shards move to another size, one bit each
	sweeper  sweeper
	shards   [shardCount]shard[S, R]
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
		sh := &t.shards[i]
		sh.number, sh.place, sh.moving = uint64(i), t.place, &t.moving
		sh.void = t.place.foreign(sh.number)
		sh.settle(rules)
		if capacity <= preallocated {
			sh.fixed = true
			sh.resize(share(capacity))
		}
	}
	return t, nil
}

// preallocated is the most keys for which a bounded table has all its slots from the beginning: 2^26, which takes 2 GB
// of addresses at 24 bytes a slot, or 2^20 where addresses have 32 bits.
const preallocated = 1 << (14 + 6*(bits.UintSize/32))

// share is the slots of a shard that has room for its part of so many keys and for six standard deviations more: how many
// keys come to a shard is binomial, with a variance just below the mean. One shard in a thousand million is ever asked for
// more, and grows. Bounds: maxKeys is at most preallocated, so the loop for the root ends after 2^10.
func share(maxKeys uint64) uint64 {
	mean := maxKeys/shardCount + 1
	root := uint64(1)
	for root*root < mean {
		root++
	}
	filled := min(mean+6*root, maxKeys)
	return max(firstSlots, filled+filled/4+1)
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
	if slots, i, known := sh.where(h, key); known {
		t.free(sh, slots, i)
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

func (t *Table[S, R]) take(now, key, cost, cost2 uint64) policy.Decision {
	sh, h := t.locate(key)
	sh.mu.Lock()
	d := t.takeIn(sh, h, now, key, cost, cost2)
	sh.mu.Unlock()
	return d
}

// takeIn takes from a key of a locked shard.
func (t *Table[S, R]) takeIn(sh *shard[S, R], h, now, key, cost, cost2 uint64) policy.Decision {
	if s := sh.find(h, key); s != nil {
		return sh.rules.Step(&s.state, now, cost, cost2)
	}
	if sh.moved {
		return policy.Decision{}
	}
	d := sh.rules.Peek(sh.rules.Fresh(), now, cost, cost2)
	if !d.OK() || cost|cost2 == 0 {
		return d
	}
	if !claim(&t.keys, t.capacity) {
		return policy.Refused(policy.Full)
	}
	s := sh.insert(h, key)
	d = sh.rules.Step(&s.state, now, cost, cost2)
	if sh.keeper != nil {
		sh.keeper.Keep(key, s.state)
	}
	t.moveOn(sh)
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
	if s := sh.find(h, key); s != nil {
		s.state = sh.rules.Refund(s.state, now, cost, cost2)
		sh.tickets.void(key)
		t.sweeper.changed()
	}
	return policy.Allow
}

// moveOn moves a part of a locked shard that moves to another size, or else of any shard that does and that nobody is at:
// so few hold two arrays at any time, though new keys come to a shard only one time in 64.
func (t *Table[S, R]) moveOn(sh *shard[S, R]) {
	if sh.old != nil {
		sh.move(2 * step)
		return
	}
	moving := t.moving.Load()
	if moving == 0 {
		return
	}
	if other := &t.shards[bits.TrailingZeros64(moving)]; other.mu.TryLock() {
		if other.old != nil {
			other.move(2 * step)
		}
		other.mu.Unlock()
	}
}

// claim takes one of a table's rooms, of which keys are taken. It fails only when all of them are.
func claim(keys *atomic.Uint64, capacity uint64) bool {
	for {
		n := keys.Load()
		if n >= capacity {
			return false
		}
		if keys.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// free empties slot i of a locked shard and gives its room back.
func (t *Table[S, R]) free(sh *shard[S, R], slots []slot[S], i uint64) {
	sh.remove(slots, i)
	t.keys.Add(^uint64(0))
}
