package keyed

import (
	"math"
	"sync"
	"sync/atomic"

	"weir/policy"
)

/*
Words is a table without locks on the way of a known key, for policies whose state is one word below 2^63 that an allowed
request always makes larger: GCRA's theoretical arrival time.

A slot is a key and a word. A request on a known key reads the word, then the key, and puts the next word in by
compare-and-swap; a denied one writes nothing. All else (a new key, a refund, an undo, a sweep) holds the shard's lock.

That a charge cannot go astray when a slot is given to another key rests on one rule: a slot never has a word under one key
that is not larger than all that it had under those before. A slot that is freed keeps the largest word it can have had,
marked as free, and goes to another key only if that key's word is larger; a key whose word gets smaller, by a refund or an
undo, stays where it is only if its word is still larger than what any slot of the array has been left with, and else goes
to another slot. So a compare-and-swap succeeds only if the slot has not changed hands since the word was read; where
nothing is to be written, the word is read once more instead.
*/
type Words struct {
	remake   func(policy.Limit) (WordRules, error)
	capacity uint64
	fixed    bool // all slots are there from the beginning
	place    placement
	arrays   [shardCount]atomic.Pointer[array]
	_        [64]byte // what every take reads is not on the cache line that every new key writes
	keys     atomic.Uint64
	moving   atomic.Uint64 // which shards move to another size, one bit each
	sweeper  sweeper
	shards   [shardCount]wordShard
}

// WordRules are the pure steps of GCRA under one limit, over the theoretical arrival time of a key. A key never seen has 0. It
// is what is asked for away from the way of a known key; on it, Scale says all.
type WordRules interface {
	Limit() policy.Limit
	Scale() *policy.Scale
	// Step decides, and gives the time after: a larger one if the outcome is Allow and the cost above 0, else the same.
	Step(tat, now, cost uint64) (uint64, policy.Decision)
	// Peek decides and spends nothing.
	Peek(tat, now, cost uint64) policy.Decision
	// Refund is the time after giving back; now is within the horizon.
	Refund(tat, now, cost uint64) uint64
	// Carry is the time under another limit; then is the same instant as now, in its ticks.
	Carry(tat, now, then uint64, to *policy.Scale) uint64
}

// wordShard is what the lock of a shard guards.
type wordShard struct {
	mu      sync.Mutex
	live    uint64 // its keys
	filled  uint64 // slots of the array that do not end a search: taken ones and gaps
	asked   uint64 // the size that the array was made for, a little below its own
	moved   uint64 // slots of the old array that have been emptied
	tidied  uint64 // slots that insertions have looked at for idle keys since the shard could last shrink
	highest uint64 // the largest word that a key had in the array before it got a smaller one
	left    uint64 // the largest word that a slot of the array was left with
	tickets tickets
}

// array is the slots of a shard under one limit. While the shard moves to another size, old is where some of its keys are
// still; they may be decided there until they move.
type array struct {
	lines []line
	scale *policy.Scale // the rules'
	rules WordRules
	old   atomic.Pointer[array]
	gone  bool // the keys are in another table now
}

func newArray(lines []line, rules WordRules) *array {
	return &array{lines: lines, scale: rules.Scale(), rules: rules}
}

func (a *array) size() uint64 { return uint64(len(a.lines)) * lineSlots }

func (a *array) slot(i uint64) *wordSlot { return &a.lines[i/lineSlots][i%lineSlots] }

type wordSlot struct{ word, key atomic.Uint64 }

// stands says whether the slot still has a word: whether it is still the key's whose word it was.
func (s *wordSlot) stands(word uint64) bool { return s.word.Load() == word }

// is says by a number whether the slot's key is key.
func (s *wordSlot) is(key uint64) uint64 {
	if s.key.Load() == key {
		return 1
	}
	return 0
}

// line is as many slots as fill a cache line of 64 bytes.
type line [lineSlots]wordSlot

const lineSlots = 4

// look is which slot of the line has a key, if one has. It reads without a branch: one that depends on memory that has not come
// yet is guessed, and a wrong guess costs as much as the memory. (No factor is a power of two, so that the compiler makes
// conditional moves of them.)
func (l *line) look(key uint64) uint64 {
	return (l[1].is(key)*5 + l[2].is(key)*6 + l[3].is(key)*7) % lineSlots
}

// newLines is lines for so many slots.
func newLines(slots uint64) []line { return make([]line, (slots+lineSlots-1)/lineSlots) }

// line is the one where the search for a key with hash h begins. (home is always below the number of lines; asked that way, the
// compiler keeps the line's address in a register and its slots at fixed distances from it.)
func (a *array) line(h uint64) *line {
	if i := home(h, uint64(len(a.lines))); i < uint64(len(a.lines)) {
		return &a.lines[i]
	}
	return nil
}

// next is the line after that one, where most of the other keys are.
func (a *array) next(h uint64) *line {
	i := home(h, uint64(len(a.lines))) + 1
	if i >= uint64(len(a.lines)) {
		i = 0
	}
	return &a.lines[i]
}

// taken marks the word of a slot that holds a key. The word of a slot that holds none is the last it had, without the
// mark; its key is one of the marks below, 0 if the slot never held any, or anything at all in the moment of a change.
const (
	taken = 1 << 63
	gap   = 1 // the search goes on behind it
	end   = 2 // the search ends here, as it does at 0
)

// NewWords makes a table under limit; remake makes rules of this and of any later limit.
func NewWords(limit policy.Limit, o policy.Options, remake func(policy.Limit) (WordRules, error)) (*Words, error) {
	rules, err := remake(limit)
	if err != nil {
		return nil, err
	}
	capacity, err := o.Capacity()
	if err != nil {
		return nil, err
	}
	t := &Words{remake: remake, capacity: capacity, fixed: capacity <= preallocated, place: newPlacement(o.Seed)}
	size := uint64(firstSlots)
	if t.fixed {
		size = (share(capacity) + lineSlots - 1) &^ (lineSlots - 1)
	}
	all, part := newLines(shardCount*size), size/lineSlots
	for n := range t.arrays {
		t.shards[n].asked = size
		t.arrays[n].Store(newArray(all[:part:part], rules))
		all = all[part:]
	}
	return t, nil
}

// cell is where a key was found, and its word. The slot is nil where it was not.
type cell struct {
	array *array
	slot  *wordSlot
	index uint64
	word  uint64
}

// find searches for a key: in the shard's array, and where it moves from. Not finding a key means nothing without the
// shard's lock.
func (t *Words) find(h, key uint64) cell {
	a := t.arrays[shardOf(h)].Load()
	slot, index, word := a.find(h, key)
	if slot == nil {
		if old := a.old.Load(); old != nil {
			a = old
			slot, index, word = a.find(h, key)
		}
	}
	return cell{a, slot, index, word}
}

// home is the slot where the search for a key with hash h begins: the first of a line.
func (a *array) home(h uint64) uint64 { return home(h, uint64(len(a.lines))) * lineSlots }

// find reads the word before the key: if the word is still there afterwards, it was this key's.
func (a *array) find(h, key uint64) (slot *wordSlot, index, word uint64) {
	n := a.size()
	for i, turns := a.home(h), 0; turns < 2; {
		s := a.slot(i)
		word, k := s.word.Load(), s.key.Load()
		if k == key && word >= taken {
			return s, i, word
		}
		if word < taken && k != gap {
			break
		}
		if i++; i == n {
			i, turns = 0, turns+1
		}
	}
	return nil, 0, 0
}

// Take is policy.Policy's Take. A known key is mostly in the line where its search begins, or else in the next.
func (t *Words) Take(now, key, cost uint64) policy.Decision {
	h := t.place.hash(key)
	a := t.arrays[shardOf(h)].Load()
	demand, ok := a.scale.Demand(now, cost)
	if !ok {
		return t.takeSlowly(h, now, key, cost)
	}
	line := a.line(h)
	slot := &line[line.look(key)]
	word := slot.word.Load()
	if slot.key.Load() != key || word < taken {
		line = a.next(h)
		slot = &line[line.look(key)]
		word = slot.word.Load()
		if slot.key.Load() != key || word < taken {
			return t.takeSlowly(h, now, key, cost)
		}
	}
	idle := demand.Now | taken // marked as the word is, so that the mark need not be taken off it
	next := max(word, idle)
	debt := next - idle
	if demand.Conforms(debt) {
		if slot.word.CompareAndSwap(word, next+demand.Price) {
			return demand.Allowed(a.scale, debt)
		}
	} else if slot.stands(word) {
		return demand.Denied(a.scale, debt)
	}
	return t.takeSlowly(h, now, key, cost)
}

// takeSlowly takes from any key.
func (t *Words) takeSlowly(h, now, key, cost uint64) policy.Decision {
	for {
		c := t.find(h, key)
		if c.slot == nil {
			if d, done := t.takeNew(h, now, key, cost); done {
				return d
			}
			continue
		}
		next, d := c.array.rules.Step(c.word&^taken, now, cost)
		if c.settle(next | taken) {
			return d
		}
	}
}

// settle puts next where the word was read; where nothing is to change, it looks whether the word still stands.
func (c *cell) settle(next uint64) bool {
	if next == c.word {
		return c.slot.stands(next)
	}
	return c.slot.word.CompareAndSwap(c.word, next)
}

// takeNew takes from a key that is not known; not done if it has become known.
func (t *Words) takeNew(h, now, key, cost uint64) (d policy.Decision, done bool) {
	sh := t.lockShard(h)
	defer sh.mu.Unlock()
	c := t.find(h, key)
	if c.slot != nil {
		return d, false
	}
	return t.takeFresh(c.array, h, now, key, cost), true
}

// takeFresh takes from a key that is not in a locked shard.
func (t *Words) takeFresh(a *array, h, now, key, cost uint64) policy.Decision {
	if a.gone {
		return policy.Decision{}
	}
	d := a.rules.Peek(0, now, cost)
	if !d.OK() || cost == 0 {
		return d
	}
	if !claim(&t.keys, t.capacity) {
		return policy.Refused(policy.Full)
	}
	tat, d := a.rules.Step(0, now, cost)
	t.insert(h, key, tat, now*a.scale.Tick)
	return d
}

// Peek is policy.Policy's Peek.
func (t *Words) Peek(now, key, cost uint64) policy.Decision {
	h := t.place.hash(key)
	for {
		c := t.find(h, key)
		if c.slot == nil {
			return t.peekLocked(h, now, key, cost)
		}
		d := c.array.rules.Peek(c.word&^taken, now, cost)
		if c.settle(c.word) {
			return d
		}
	}
}

func (t *Words) peekLocked(h, now, key, cost uint64) policy.Decision {
	sh := t.lockShard(h)
	defer sh.mu.Unlock()
	c := t.find(h, key)
	rules := c.array.rules
	switch {
	case c.slot != nil:
		return rules.Peek(c.word&^taken, now, cost)
	case c.array.gone:
		return policy.Decision{}
	}
	d := rules.Peek(0, now, cost)
	if d.OK() && cost > 0 && t.keys.Load() >= t.capacity {
		return policy.Refused(policy.Full)
	}
	return d
}

// Refund is policy.Policy's Refund.
func (t *Words) Refund(now, key, cost uint64) policy.Outcome {
	h := t.place.hash(key)
	sh := t.lockShard(h)
	defer sh.mu.Unlock()
	for {
		c := t.find(h, key)
		switch {
		case c.array.gone:
			return 0
		case now > c.array.scale.Horizon:
			return policy.PastHorizon
		case c.slot == nil:
			return policy.Allow
		}
		if t.lower(h, key, c, c.array.rules.Refund(c.word&^taken, now, cost)) {
			sh.tickets.void(key)
			return policy.Allow
		}
	}
}

// Forget is policy.Policy's Forget.
func (t *Words) Forget(key uint64) {
	h := t.place.hash(key)
	sh := t.lockShard(h)
	defer sh.mu.Unlock()
	for c := t.find(h, key); c.slot != nil; c = t.find(h, key) {
		if t.free(shardOf(h), c) {
			t.sweeper.changed()
			return
		}
	}
}

func (t *Words) lockShard(h uint64) *wordShard {
	sh := &t.shards[shardOf(h)]
	sh.mu.Lock()
	return sh
}

// Keys is policy.Policy's Keys.
func (t *Words) Keys() int { return int(min(t.keys.Load(), math.MaxInt)) }

// Horizon is policy.Policy's Horizon.
func (t *Words) Horizon() uint64 { return t.current().Scale().Horizon }

// Limit is policy.Policy's Limit.
func (t *Words) Limit() policy.Limit { return t.current().Limit() }

// current is the rules in force.
func (t *Words) current() WordRules { return t.arrays[0].Load().rules }

func (t *Words) bounded() bool { return t.capacity != policy.Never }
