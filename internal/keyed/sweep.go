package keyed

import (
	"math"
	"sync"
	"sync/atomic"
)

// sweeper goes through a table's slots a few at a time. After a whole pass, as long as nothing happens that could make a
// key idle sooner, no key can be idle before the earliest idle tick that the pass saw: until then a sweep in steps has
// nothing to do and costs O(1).
type sweeper struct {
	mu       sync.Mutex
	shard    int // where the next step goes on
	slot     int
	earliest uint64 // the first tick at which a key that this pass saw is idle
	since    uint64 // changes when this pass began
	quiet    uint64 // no key is idle before this tick,
	quietFor uint64 // as long as changes is this
	changes  atomic.Uint64
}

// changed says that a key came, went or was given something back, or that the limit changed: whatever can make an
// idle key earlier than a pass has seen. An allowed request of a known key only makes it later.
func (w *sweeper) changed() { w.changes.Add(1) }

func (w *sweeper) begin() {
	w.shard, w.slot, w.earliest, w.since = 0, 0, math.MaxUint64, w.changes.Load()
}

// sweep goes on with a pass over a table, or over the whole of it where slots is 0 or less. shard looks at no more than limit
// slots at the cursor, in one shard, and moves the cursor on.
func (w *sweeper) sweep(now uint64, slots int, shard func(now uint64, limit int) (freed, looked int)) (freed int, done bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if slots <= 0 {
		w.begin()
		slots = math.MaxInt
	} else if w.quietFor == w.changes.Load() && now < w.quiet {
		return 0, true
	}
	if w.shard == 0 && w.slot == 0 {
		w.begin()
	}
	for slots > 0 && w.shard < shardCount {
		n, looked := shard(now, slots)
		freed += n
		slots -= looked
	}
	if w.shard < shardCount {
		return freed, false
	}
	w.quiet, w.quietFor = w.earliest, w.since
	w.shard, w.slot = 0, 0
	return freed, true
}

// Sweep is policy.Policy's Sweep. Looking at all holds one shard's lock after the other, for as long as it takes to
// look at that shard. Looking at some takes O(slots) beyond the runs that a freed key closes. A shard that a peak has left
// too large is moved to fewer slots at its end.
func (t *Table[S, R]) Sweep(now uint64, slots int) (freed int, done bool) {
	return t.sweeper.sweep(now, slots, t.sweepShard)
}

// sweepShard looks at no more than limit slots at the cursor, in one shard; a slot that a move to another size leaves counts
// as one, and so does the end of a shard. Freeing a key may move another one into its slot, so that slot is looked at
// again.
func (t *Table[S, R]) sweepShard(now uint64, limit int) (freed, looked int) {
	w := &t.sweeper
	sh := &t.shards[w.shard]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	now = min(now, sh.rules.Horizon())
	for looked < limit {
		switch {
		case sh.old != nil:
			looked += int(sh.move(uint64(limit - looked)))
			continue
		case w.slot < len(sh.slots):
			freed += t.sweepSlot(sh, now)
		case sh.shrink():
			w.slot = len(sh.slots) // all that will stand there has been looked at
		default:
			w.shard, w.slot = w.shard+1, 0
			return freed, looked + 1
		}
		looked++
	}
	return freed, looked
}

// sweepSlot frees the key at the cursor if it is idle, and else goes on behind it.
func (t *Table[S, R]) sweepSlot(sh *shard[S, R], now uint64) (freed int) {
	w := &t.sweeper
	if s := &sh.slots[w.slot]; s.key != 0 {
		idle := sh.rules.IdleAt(s.state)
		if idle <= now {
			t.free(sh, sh.slots, uint64(w.slot))
			return 1
		}
		w.earliest = min(w.earliest, idle)
	}
	w.slot++
	return 0
}
