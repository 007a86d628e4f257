package keyed_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

// TestRefundsWhileKeysMove: one key that spends and is given back again and again, in a shard that is on its way to another
// size and to which no new key comes, costs no other key its charge or its room.
func TestRefundsWhileKeysMove(t *testing.T) {
	for _, o := range []policy.Options{{Seed: seed}, {Seed: seed, MaxKeys: 1 << 27}} {
		p := madeWords(t, policy.Limit{Permits: 1, Period: 1, Burst: 1000}, o)
		keys := crowded(400)
		n := 0
		for ; n < 100 || p.Moving() == 0; n++ {
			p.Take(0, keys[n], 10)
		}
		for i := range 5000 {
			key := keys[i/50%n]
			require.True(t, p.Take(0, key, 900).OK())
			require.Equal(t, policy.Allow, p.Refund(0, key, 900))
			if i%3 == 0 { // and what has been forgotten leaves slots that no smaller word may have
				p.Take(0, keys[n], 1000)
				p.Forget(keys[n])
			}
		}
		require.Equal(t, n, p.Keys())
		require.True(t, p.Consistent())
		for _, key := range keys[:n] {
			require.Equal(t, uint64(10), p.Peek(0, key, 0).ResetAfter())
		}
	}
}

// TestRefundsStayInPlace: giving back allocates nothing in a bounded table, and leaves no gaps behind.
func TestRefundsStayInPlace(t *testing.T) {
	const room = 10_000
	p := madeWords(t, policy.Limit{Permits: 1, Period: 1, Burst: 1000}, policy.Options{Seed: seed, MaxKeys: room})
	for key := range uint64(room) {
		p.Take(0, key, 10)
	}
	was, _ := p.Handle(7)
	allocs := testing.AllocsPerRun(10_000, func() {
		p.Take(0, 7, 900)
		p.Refund(0, 7, 900)
	})
	assert.Zero(t, allocs)
	now, known := p.Handle(7)
	assert.True(t, known && now == was)
}

// TestWordsAsIfAlone: whatever is taken, given back, undone, forgotten and swept of many keys, in a table that grows and
// shrinks, each key owes exactly what the same requests leave it owing in a table of its own.
func TestWordsAsIfAlone(t *testing.T) {
	t.Logf("PCG seed %d", seed)
	limit := policy.Limit{Permits: 1, Period: 1, Burst: 100}
	for _, row := range []struct {
		why  string
		keys []uint64
		o    policy.Options
	}{
		{"bounded", crowded(60), policy.Options{Seed: seed, MaxKeys: 60}},
		{"without bound", crowded(600), policy.Options{Seed: seed}},
		{"the marks", []uint64{0, 1, 2, 3, policy.Never}, policy.Options{Seed: seed}},
	} {
		p := madeWords(t, limit, row.o)
		alone := map[uint64]policy.Policy{}
		for _, key := range row.keys {
			alone[key] = made1(t, limit)
		}
		r := rand.New(rand.NewPCG(seed, 7))
		for i, end, now := 0, scaled(60_000, 6000), uint64(0); i < end; i++ {
			if r.IntN(4) == 0 {
				now += r.Uint64N(5)
			}
			if i%2000 == 0 {
				now += 200 // all are idle
			}
			key, cost := row.keys[r.IntN(len(row.keys))], 1+r.Uint64N(60)
			own := alone[key]
			switch r.IntN(8) {
			case 0:
				p.Forget(key)
				own.Forget(key)
			case 1, 2:
				require.Equal(t, own.Refund(now, key, cost), p.Refund(now, key, cost))
			case 3:
				p.Sweep(now, 1+r.IntN(50)) // frees nothing that matters at this now or later
			case 4:
				if d, undo := p.TakeUndo(now, key, cost, cost); d.OK() {
					p.Take(now, row.keys[r.IntN(len(row.keys))], 101)
					require.True(t, undo(), row.why)
				}
			default:
				require.Equal(t, own.Take(now, key, cost).Answer(), p.Take(now, key, cost).Answer(), row.why)
			}
			if got, want := p.Peek(now, key, 1).Answer(), own.Peek(now, key, 1).Answer(); got != want {
				require.Equal(t, want, got, "%s: key %d, step %d", row.why, key, i)
			}
		}
		require.True(t, p.Consistent(), row.why)
		for _, key := range row.keys {
			require.Equal(t, alone[key].Peek(1e6, key, 1).Answer(), p.Peek(1e6, key, 1).Answer())
		}
	}
}

// made1 is a table for one key alone.
func made1(t *testing.T, l policy.Limit) policy.Policy {
	t.Helper()
	p := madeWords(t, l, policy.Options{MaxKeys: 1})
	return p
}
