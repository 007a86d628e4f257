package keyed_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/gcra"
	"weir/internal/keyed"
	"weir/policy"
)

// wordTable is what a table of words shows to tests.
type wordTable interface {
	policy.Policy
	policy.Undoer
	Handle(key uint64) (keyed.Handle, bool)
	Slots() int
	Moving() int
	MovedSlots() uint64
	Consistent() bool
	Arrays() keyed.Arrays
}

func madeWords(t testing.TB, l policy.Limit, o policy.Options) wordTable {
	t.Helper()
	p, err := gcra.New(l, o)
	require.NoError(t, err)
	return p.(wordTable)
}

// scaled is n, or less of it under -short.
func scaled(n, short int) int {
	if testing.Short() {
		return short
	}
	return n
}

// crowded is keys of one shard whose search begins in the last lines of its slots, so that runs are long and
// wrap around.
func crowded(n int) (keys []uint64) {
	for key := uint64(0); len(keys) < n; key++ {
		if h := keyed.Place(seed, key); h>>58 == 5 && h<<6>>59 >= 29 {
			keys = append(keys, key)
		}
	}
	return keys
}

// TestFoundIsItsKeys: what was found for a key is that key's as long as it stands, whatever happened to the table since:
// refunds, undoes and forgets that make words smaller, a clock that goes back, keys that move, slots that go to others.
// Otherwise a charge could go to another key.
func TestFoundIsItsKeys(t *testing.T) {
	t.Logf("PCG seed %d", seed)
	type handle struct {
		key   uint64
		found keyed.Handle
	}
	for _, row := range []struct {
		why  string
		keys []uint64
		o    policy.Options
	}{
		{"bounded", crowded(40), policy.Options{Seed: seed, MaxKeys: 25}},
		{"bounded and tiny", crowded(9), policy.Options{Seed: seed, MaxKeys: 3}},
		{"without bound", crowded(40), policy.Options{Seed: seed}},
		{"without bound, keys that are the marks of free slots", []uint64{0, 1, 2, policy.Never, 3, 4}, policy.Options{Seed: seed}},
		{"without bound, large", crowded(400), policy.Options{Seed: seed}},
	} {
		p := madeWords(t, policy.Limit{Permits: 1, Period: 1, Burst: 5}, row.o)
		r := rand.New(rand.NewPCG(seed, uint64(len(row.keys))))
		var handles []handle
		var undoes []func() bool
		stood := 0
		for now, end := uint64(10), uint64(scaled(10_000, 1000)); now < end; now += r.Uint64N(2) {
			key, cost, at := row.keys[r.IntN(len(row.keys))], 1+r.Uint64N(5), now-r.Uint64N(10)
			switch r.IntN(12) {
			case 0:
				p.Forget(key)
			case 1:
				p.Refund(at, key, cost)
			case 2:
				p.Sweep(at, r.IntN(20))
			case 3:
				if _, undo := p.TakeUndo(at, key, cost, cost); undo != nil {
					undoes = append(undoes, undo)
				}
			case 4:
				if n := len(undoes); n > 0 {
					undoes[n-1]()
					undoes = undoes[:n-1]
				}
			default:
				p.Take(at, key, cost)
			}
			if f, known := p.Handle(key); known {
				handles = append(handles, handle{key, f})
			}
			if len(handles) > 64 {
				handles = handles[1:]
			}
			for _, h := range handles {
				if !h.found.Stands() {
					continue
				}
				stood++
				if now, known := p.Handle(h.key); !known || now != h.found {
					require.Fail(t, "a charge on the way would be another key's", "%s: key %d", row.why, h.key)
				}
			}
			require.True(t, p.Consistent(), row.why)
		}
		assert.Greater(t, stood, 100, "%s: the test has looked at something", row.why)
	}
}

// TestWordsIdleKeysGiveWay: in a table without bound new keys make room by themselves where others are idle at their now, so
// that keys that come once do not make the table grow for ever, and a table that was large once gets small again.
func TestWordsIdleKeysGiveWay(t *testing.T) {
	p := madeWords(t, policy.Limit{Permits: 1, Period: 1, Burst: 5}, policy.Options{Seed: seed})
	for key := range uint64(scaled(1_000_000, 100_000)) {
		require.True(t, p.Take(key, key, 5).OK())
	}
	assert.Less(t, p.Slots(), 64*100, "a few keys are busy at any time")
	large := madeWords(t, policy.Limit{Permits: 1, Period: 1, Burst: 1e6}, policy.Options{Seed: seed})
	for key := range uint64(50_000) {
		large.Take(0, key, 1000)
	}
	for key := range uint64(200_000) {
		large.Take(1000+key, 1e6+key, 1)
	}
	assert.Less(t, large.Slots(), 64*100)
	require.True(t, large.Consistent())
}

// TestWordsMoveInSteps: no insertion moves more than 64 slots, and a shard has moved before it must move again.
func TestWordsMoveInSteps(t *testing.T) {
	p := madeWords(t, policy.Limit{Permits: 1, Period: 1, Burst: 1e6}, policy.Options{Seed: seed})
	moves, most, n := 0, uint64(0), scaled(300_000, 30_000)
	for key := range uint64(n) {
		moving, before := p.Moving(), p.MovedSlots()
		require.True(t, p.Take(0, key, 1000).OK())
		if after := p.MovedSlots(); moving == p.Moving() && moving > 0 {
			require.LessOrEqual(t, after-min(after, before), uint64(64))
			most = max(most, after-min(after, before))
		} else if p.Moving() > moving {
			moves++
		}
	}
	assert.Equal(t, uint64(64), most)
	assert.Greater(t, moves, 64*8)
	require.Equal(t, n, p.Keys())
	for key := range uint64(n) {
		require.Equal(t, uint64(1000), p.Peek(0, key, 1).ResetAfter())
	}
	require.True(t, p.Consistent())
}

// TestBoundedAllocatesOnce: filling a bounded table needs no array but those it was made with; nor does keeping on at its
// bound, with idle keys swept and new ones coming. That a take needs nothing else is what it does a hundred thousand times
// between the allocations that the run time makes for itself.
func TestBoundedAllocatesOnce(t *testing.T) {
	room := scaled(100_000, 5_000)
	p := madeWords(t, policy.Limit{Permits: 1, Period: 1, Burst: 1e6}, policy.Options{Seed: seed, MaxKeys: uint64(room)})
	arrays, key := p.Arrays(), uint64(0)
	for range room {
		key++
		p.Take(0, key, key)
	}
	require.True(t, arrays == p.Arrays())
	require.Equal(t, room, p.Keys())
	require.Equal(t, policy.Full, p.Take(0, key+1, 1).Outcome())
	now := uint64(0)
	allocs := testing.AllocsPerRun(5, func() {
		for range room {
			now++
			key++
			p.Sweep(now, 200)
			p.Take(now, key, uint64(room))
		}
	})
	assert.Less(t, allocs, float64(room)/1000)
	assert.True(t, arrays == p.Arrays())
	assert.Greater(t, p.Keys(), room/2)
	require.True(t, p.Consistent())
}
