package keyed_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/internal/keyed"
)

// lender is owners with a ring each, and what they wrote into it.
type lender struct {
	rings keyed.Rings[uint64]
	held  map[uint64]*keyed.Ring
}

func (l *lender) get(owner uint64, class uint32) {
	ring := l.rings.Get(class, owner)
	for i := range l.rings.At(ring) {
		l.rings.At(ring)[i] = owner<<32 + uint64(i)
	}
	l.held[owner] = &ring
}

func (l *lender) put(owner uint64) {
	ring := *l.held[owner]
	delete(l.held, owner)
	l.rings.Put(ring, func(owner uint64) *keyed.Ring { return l.held[owner] })
}

func (l *lender) check(t *testing.T) {
	for owner, ring := range l.held {
		entries := l.rings.At(*ring)
		require.Len(t, entries, 1<<ring.Class)
		require.Equal(t, owner, *l.rings.Owner(*ring))
		for i, entry := range entries {
			if entry != owner<<32+uint64(i) {
				require.Equal(t, owner<<32+uint64(i), entry, "ring of 2^%d, entry %d", ring.Class, i)
			}
		}
	}
}

// TestRings: through 20,000 drawn loans of all lengths every owner finds in its ring what it wrote, wherever the ring has
// moved; and at the end, when few are left, little memory is.
func TestRings(t *testing.T) {
	r := rand.New(rand.NewPCG(seed, 9))
	l := lender{held: map[uint64]*keyed.Ring{}}
	for n := range uint64(20_000) {
		l.get(n, 1+uint32(r.IntN(1+r.IntN(9))))
		if n%3 == 0 || len(l.held) > 1000 {
			for owner := range l.held {
				l.put(owner)
				if r.IntN(2) == 0 {
					break
				}
			}
		}
		if n%500 == 0 {
			l.check(t)
		}
	}
	for owner := range l.held {
		if len(l.held) > 3 {
			l.put(owner)
		}
	}
	l.check(t)
	assert.Len(t, l.held, 3)
	assert.LessOrEqual(t, l.rings.Entries(), 3*512)
}

// TestRingsStandClose: rings that are shorter than a chunk share chunks of 64 entries, longer ones have one each, and
// chunks that hold none are dropped.
func TestRingsStandClose(t *testing.T) {
	for _, row := range []struct {
		why     string
		class   uint32
		rings   uint64
		entries int
	}{
		{"one ring of two takes a chunk", 1, 1, 64},
		{"32 of two fit in it", 1, 32, 64},
		{"one more takes another", 1, 33, 128},
		{"one of 64 is a chunk", 6, 1, 64},
		{"as two are two", 6, 2, 128},
		{"a longer one has its own", 10, 1, 1024},
	} {
		l := lender{held: map[uint64]*keyed.Ring{}}
		for owner := range row.rings {
			l.get(owner, row.class)
		}
		assert.Equal(t, row.entries, l.rings.Entries(), row.why)
		l.check(t)
		for owner := range row.rings { // the first first, so that the last moves
			l.put(owner)
			l.check(t)
		}
		assert.Zero(t, l.rings.Entries(), row.why)
	}
}
