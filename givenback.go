package weir

import "sync/atomic"

// givenBack tells leases what is given back, without the table. Keys share one of 64 places: a lease can take another key's
// permits for its own, which makes it hold fewer, never more.
type givenBack [64]giving

type giving struct {
	permits atomic.Uint64 // that have been given back, or are about to be
	under   atomic.Int64  // how many are at it
	_       [48]byte      // on a cache line of its own
}

// of is the place of a key.
func (g *givenBack) of(key uint64) *giving { return &g[key%uint64(len(g))] }

// begin counts permits that are about to be given back to a key: before they are, and before the clock is read for that.
// More than a lease can hold are as good as what it can hold, and so no number of them that anybody can reach comes back to
// where it was. Until end, a lease takes nothing that it would hold: it could not tell whether what it was given was taken
// before or after.
func (g *giving) begin(permits uint64) {
	g.under.Add(1)
	g.permits.Add(min(permits, mostLeased))
}

// end says that they have been given back.
func (g *giving) end() { g.under.Add(-1) }

// beginAll makes every lease let go of what it holds.
func (g *givenBack) beginAll() {
	for i := range g {
		g[i].begin(mostLeased)
	}
}

func (g *givenBack) endAll() {
	for i := range g {
		g[i].end()
	}
}
