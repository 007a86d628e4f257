package keyed

import (
	"sync"
	"sync/atomic"
	"unsafe"
)

// step is how many keys an insertion moves, at most, while a shard moves to another array; it looks at twice as many slots
// at most.
const step = 64

// shard is the keys of one part of the hashes. Its keys stand in slots; while it moves to another size those that have not
// been moved yet stand in old, and nothing is put in there any more.
type shard[S any, R Rules[S, R]] struct {
	mu    sync.Mutex
	rules R
	slots []slot[S] // nothing, or room for every key of the shard with a sixth to spare
	void  uint64    // a key that is in another shard, so that no key of this one is kept as 0
	old   []slot[S]
	start uint64 // the slot of old that is moved first: the one before it is empty, so that no run goes around it
	gone  uint64 // how many slots of old from start on have been moved

	number  uint64 // which shard this is
	place   placement
	moving  *atomic.Uint64 // the table's: bit number is set while old is there
	keeper  Keeper[S, R]   // the rules, if they are one
	asked   uint64         // how many slots there would be if they did not have to fill pages: see paged
	used    uint64         // keys, in both arrays
	tickets tickets
	fixed   bool // made for all the keys that there may be: never shrinks
	moved   bool // the keys are in another table now

	_ [64]byte // the next shard's lock is on another cache line
}

// slot is a key and its state.
type slot[S any] struct {
	key   uint64 // xor the shard's void; 0: the slot is empty
	state S
}

// settle puts a shard under rules.
func (sh *shard[S, R]) settle(rules R) {
	if keeper, ok := any(rules).(Keeper[S, R]); ok {
		rules = keeper.Settle(sh.rules, func(key uint64) *S { return &sh.find(sh.place.hash(key), key).state })
		sh.keeper = any(rules).(Keeper[S, R])
	}
	sh.rules = rules
}

// find is the slot of a key, nil if it has none. Linear probing; an empty slot always exists, since a sixth of them are.
func (sh *shard[S, R]) find(h, key uint64) *slot[S] {
	mark, slots := key^sh.void, sh.slots
	for i := home(h, uint64(len(slots))); i < uint64(len(slots)); {
		s := &slots[i]
		if s.key == mark {
			return s
		}
		if s.key == 0 {
			break
		}
		if i++; i == uint64(len(slots)) {
			i = 0
		}
	}
	if sh.old == nil {
		return nil
	}
	if i, known := sh.findOld(h, mark); known {
		return &sh.old[i]
	}
	return nil
}

// findOld is where a key stands in old. A slot that has been moved counts as one that is taken by another key. The slot
// before start ends the search: it is empty.
func (sh *shard[S, R]) findOld(h, mark uint64) (i uint64, known bool) {
	n := uint64(len(sh.old))
	i = home(h, n)
	if distance(sh.start, i, n) < sh.gone {
		i = after(sh.start, sh.gone, n)
	}
	for sh.old[i].key != 0 {
		if sh.old[i].key == mark {
			return i, true
		}
		i = after(i, 1, n)
	}
	return 0, false
}

// where is the array that a key stands in, and at which slot.
func (sh *shard[S, R]) where(h, key uint64) (slots []slot[S], i uint64, known bool) {
	mark, n := key^sh.void, uint64(len(sh.slots))
	for i = home(h, n); i < n && sh.slots[i].key != 0; i = after(i, 1, n) {
		if sh.slots[i].key == mark {
			return sh.slots, i, true
		}
	}
	if sh.old == nil {
		return nil, 0, false
	}
	i, known = sh.findOld(h, mark)
	return sh.old, i, known
}

// after is the slot so many further on, around the end. i and by are below n.
func after(i, by, n uint64) uint64 {
	if i += by; i >= n {
		i -= n
	}
	return i
}

// state is the state of a key, or that of a key never seen.
func (sh *shard[S, R]) state(h, key uint64) (s S, known bool) {
	if at := sh.find(h, key); at != nil {
		return at.state, true
	}
	return sh.rules.Fresh(), false
}

// vacant is the empty slot where a key that is not there goes.
func (sh *shard[S, R]) vacant(h uint64) *slot[S] {
	n := uint64(len(sh.slots))
	i := home(h, n)
	for sh.slots[i].key != 0 {
		i = after(i, 1, n)
	}
	return &sh.slots[i]
}

// insert puts in a key that is not there, as one never seen. Where there is no room the shard begins to move to a larger
// array; the table sees to it that every insertion moves a part from then on.
func (sh *shard[S, R]) insert(h, key uint64) *slot[S] {
	if !fits(sh.used+1, uint64(len(sh.slots))) {
		sh.resize(next[S](sh.number, sh.asked))
	}
	s := sh.vacant(h)
	*s = slot[S]{key ^ sh.void, sh.rules.Fresh()}
	sh.used++
	return s
}

// shrink begins to give back slots that a peak has left, unless half of them are used or it would be few, and says whether
// it did.
func (sh *shard[S, R]) shrink() bool {
	n := uint64(len(sh.slots))
	size := sh.used + sh.used/2 + n/32 + firstSlots
	if sh.fixed || 2*sh.used >= n || 8*paged[S](size) > 7*n {
		return false
	}
	sh.resize(size)
	return true
}

// resize begins to move the keys to so many slots. It is never asked for before the last move has ended:
//
// An insertion looks at 64 slots of old at least, so the move from n slots ends with insertion k = n/64 + 1 or before, and
// what has to fit then is the keys at the beginning and k more. A shard that grows begins with 5n/6 at most and has room
// for five sixths of 9n/8: enough for n of 23 and more, and those of less double. A shard that shrinks from n slots with u
// keys has room for five sixths of 3u/2 + n/32 + 8, which is more than u + n/40 + 6.
func (sh *shard[S, R]) resize(size uint64) {
	sh.old, sh.asked = sh.slots, size
	sh.slots = make([]slot[S], paged[S](size))
	sh.start, sh.gone = 0, 0
	if len(sh.old) == 0 {
		sh.old = nil
		return
	}
	sh.moving.Or(1 << sh.number)
	for sh.old[sh.start].key != 0 {
		sh.start++
	}
	sh.start = after(sh.start, 1, uint64(len(sh.old)))
}

// move moves on: step keys at most, out of so many slots at most. It says how many it looked at.
func (sh *shard[S, R]) move(slots uint64) (looked uint64) {
	n := uint64(len(sh.old))
	for moved := 0; moved < step && looked < slots && sh.gone < n-1; looked++ {
		s := &sh.old[after(sh.start, sh.gone, n)]
		sh.gone++
		if s.key != 0 {
			*sh.vacant(sh.place.hash(s.key ^ sh.void)) = *s
			moved++
		}
	}
	if sh.gone == n-1 { // the last one is empty
		sh.old = nil
		sh.moving.And(^(uint64(1) << sh.number))
	}
	return looked
}

// settled ends a move that is under way.
func (sh *shard[S, R]) settled() {
	for sh.old != nil {
		sh.move(step)
	}
}

// remove empties slot i of one of the two arrays and closes the gap: any key further along the run that would be found no
// more, had the run an empty slot there, moves into it. In old no slot that has been moved is among them: they are
// behind an empty one.
func (sh *shard[S, R]) remove(slots []slot[S], i uint64) {
	if sh.keeper != nil {
		sh.keeper.Drop(slots[i].state)
	}
	sh.tickets.void(slots[i].key ^ sh.void)
	n := uint64(len(slots))
	for j := after(i, 1, n); slots[j].key != 0; j = after(j, 1, n) {
		home := home(sh.place.hash(slots[j].key^sh.void), n)
		if distance(home, j, n) >= distance(i, j, n) {
			slots[i] = slots[j]
			i = j
		}
	}
	slots[i] = slot[S]{}
	sh.used--
}

// next is the size to ask for after asked: that by which the array really grows by an eighth at least, see paged.
func next[S any](shard, asked uint64) uint64 {
	size := grown(shard, asked)
	for 8*paged[S](size) < 9*paged[S](asked) {
		size = grown(shard, size)
	}
	return size
}

// paged is at least so many slots: what the allocator hands out above 32 KB is whole pages of 8 KB, and all of them are
// used. The next size does not follow from this one, or shards of one number of pages would grow together for ever.
func paged[S any](slots uint64) uint64 {
	const page, least = 8 << 10, 32 << 10
	size := uint64(unsafe.Sizeof(slot[S]{}))
	if slots*size <= least {
		return slots
	}
	return (slots*size + page - 1) / page * page / size
}
