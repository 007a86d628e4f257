package keyed_test

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/internal/keyed"
	"weir/policy"
)

// mostMoved is how many keys one insertion may move.
const mostMoved = 64

// TestGrowthInSteps: while a table grows to 60,000 keys no take moves more than 64 of them, in whatever shard, only an
// insertion moves any, and no shard has to grow again before it has moved.
func TestGrowthInSteps(t *testing.T) {
	p := locked(t, tickLimit, policy.Options{Seed: seed}).(inside)
	begun, most, waiting := 0, 0, 0
	for key := range uint64(60_000) {
		keys, own, slots := p.Shard(key)
		require.True(t, p.Take(0, key, 1).OK())
		if _, _, now := p.Shard(key); now != slots {
			require.Zero(t, own, "key %d: grown again while it moves", key)
			begun++
			waiting += keys
		}
		left := p.Waiting()
		require.LessOrEqual(t, waiting-left, mostMoved, "key %d", key)
		most = max(most, waiting-left)
		p.Take(0, key, 1)
		require.Equal(t, left, p.Waiting(), "a known key moves nothing")
		waiting = left
	}
	assert.Equal(t, mostMoved, most)
	assert.Greater(t, begun, 64*12)
}

// TestShrinkInSteps: a step of a sweep moves no more keys than it was told to look at slots, and a pass takes no more steps
// than looking at every slot, once more at one that was freed, and moving every slot take.
func TestShrinkInSteps(t *testing.T) {
	const slots = 20
	p := filled(t, locked).(inside)
	p.Sweep(0, 0) // what grows has grown
	peak, steps, shrank := p.Slots(), 0, 0
	for done := false; !done; steps++ {
		before := p.Waiting()
		_, done = p.Sweep(1000+many*3/4-1, slots)
		moved := before - p.Waiting()
		require.LessOrEqual(t, moved, slots)
		if moved > 0 {
			shrank++
		}
	}
	const freed, ends = many * 3 / 4, 2 * 64
	assert.LessOrEqual(t, steps, (2*peak+freed+ends)/slots+1)
	assert.Greater(t, shrank, 10, "or nothing was moved")
	assert.Zero(t, p.Waiting())
	assert.Less(t, p.Slots(), peak/2)
	assert.Equal(t, many-freed, p.Keys())
}

// TestTableIsAMapWhileItMoves is a table that grows and shrinks all the time beside a map, with all operations drawn and all
// keys in one shard but 0 and 2^64-1. Thousands of operations meet a shard on the move.
func TestTableIsAMapWhileItMoves(t *testing.T) {
	for round, step := range []uint64{1, 1 << 44, 0x9e3779b97f4a7c15} {
		r := rand.New(rand.NewPCG(seed, uint64(round)))
		s := newMachine(t, locked, math.MaxInt, []uint64{0, policy.Never})
		for i := uint64(0); len(s.keys) < 20_000; i++ {
			if keyed.Place(seed, i*step)>>58 == 5 {
				s.keys = append(s.keys, i*step)
			}
		}
		p, met := s.p.(inside), 0
		top := 0 // of the keys that there may be
		for n := range 60_000 {
			if n%10_000 == 0 {
				top = 100 + r.IntN(len(s.keys)-100) // more of them, or fewer
			}
			key := s.keys[r.IntN(top)]
			if r.IntN(20) == 0 {
				key = s.keys[r.IntN(2)]
			}
			if _, waiting, _ := p.Shard(key); waiting > 0 {
				met++
			}
			s.operate(t, r, key)
			if n%4000 == 0 {
				s.checkKnown(t)
			}
		}
		s.checkKnown(t)
		assert.Greater(t, met, 1000, "or nothing was on the move")
	}
}

// operate does one drawn operation on a key, in the policy and in the model. A key is soon idle, so that a sweep frees much.
func (s *machine) operate(t require.TestingT, r *rand.Rand, key uint64) {
	idle, known := s.m[key]
	switch r.IntN(16) {
	case 0:
		s.forget(key)
		require.Zero(t, s.p.Peek(s.now, key, 0).ResetAfter(), "what has been moved is forgotten where it was, too")
	case 1:
		s.now += r.Uint64N(200)
	case 2:
		if r.IntN(40) == 0 {
			freed, _ := s.p.Sweep(s.now, 0)
			require.Equal(t, s.m.sweep(s.now), freed)
		}
	case 3:
		s.p.Refund(s.now, key, 5)
		if known && idle > s.now {
			s.m[key] = s.now + (idle - s.now) - min(5, idle-s.now)
		}
	case 4, 5:
		d, undo := s.p.(policy.Undoer).TakeUndo(s.now, key, 7, 7)
		require.True(t, d.OK())
		if r.IntN(2) == 0 {
			require.True(t, undo())
		} else {
			s.m[key] = max(idle, s.now) + 7
		}
	case 6:
		if r.IntN(400) == 0 {
			require.NoError(t, s.p.Relimit(s.now, tickLimit))
			for key, idle := range s.m {
				s.m[key] = max(idle, s.now)
			}
		}
	default:
		s.take(t, key, 1+r.Uint64N(3000))
	}
}

// checkKnown looks at every key of the model.
func (s *machine) checkKnown(t require.TestingT) {
	require.Equal(t, len(s.m), s.p.Keys())
	for key, idle := range s.m {
		if got := s.p.Peek(s.now, key, 0).ResetAfter(); got != idle-min(idle, s.now) {
			require.Equal(t, idle-min(idle, s.now), got, "key %d at %d", key, s.now)
		}
	}
}

// TestRelimitWhileItMoves: a new limit, in the same ticks or in others, reaches the keys too that wait to be moved.
func TestRelimitWhileItMoves(t *testing.T) {
	p, next := locked(t, tickLimit, policy.Options{Seed: seed}), uint64(0)
	grow := func() { // until many wait; key k has spent 1 + k
		for next < 20_000 || p.(inside).Waiting() < 200 {
			require.True(t, p.Take(0, next, 1+next).OK())
			next++
		}
	}
	check := func(permit uint64) {
		require.Zero(t, p.(inside).Waiting())
		require.EqualValues(t, next, p.Keys())
		for key := range next {
			if got := p.Peek(0, key, 0).ResetAfter(); got != permit*(1+key) {
				require.Equal(t, permit*(1+key), got, "key %d", key)
			}
		}
	}
	grow()
	require.NoError(t, p.Relimit(0, policy.Limit{Permits: 1, Period: 2, Burst: 1e6}))
	check(2)
	grow()
	moved, err := p.(policy.Mover).Move(0, 0, policy.Limit{Permits: 1, Period: 3, Burst: 1e6})
	require.NoError(t, err)
	require.Zero(t, p.Keys())
	p = moved
	check(3)
	grow()
}

// TestMovedByMany: eight goroutines bring in 10,000 keys each, take from them again, undo, forget every fourth, and sweep,
// all at once: at the end just those keys are there, with just what they spent.
func TestMovedByMany(t *testing.T) {
	const each = 10_000
	p := locked(t, tickLimit, policy.Options{})
	var undone, charged atomic.Int64
	together(func(worker uint64) {
		for i := range uint64(each) {
			key := i*goroutines + worker
			p.Take(0, key, 10)
			_, undo := p.(policy.Undoer).TakeUndo(0, key, 3, 3)
			if undo() {
				undone.Add(1)
			} else {
				charged.Add(3)
			}
			if i%4 == 0 {
				charged.Add(-int64(p.Peek(0, key, 0).ResetAfter() - 10))
				p.Forget(key)
			}
			if i%50 == 0 {
				p.Sweep(0, 100)
			}
		}
	})
	assert.Equal(t, each*goroutines*3/4, p.Keys())
	spent := int64(0)
	for key := range uint64(each * goroutines) {
		spent += int64(p.Peek(0, key, 0).ResetAfter())
	}
	assert.Equal(t, each*goroutines*3/4*10+charged.Load(), spent)
	assert.Positive(t, undone.Load())
}
