package weir

import "sync/atomic"

// givenBack counts the permits that have been given back, so that a lease learns of them without the table. Keys share a
// counter with one in 64: a lease can take another key's permits for its own, which makes it hold fewer, never more.
type givenBack [64]atomic.Uint64

// of is the counter of a key.
func (g *givenBack) of(key uint64) *atomic.Uint64 { return &g[key%uint64(len(g))] }

// note counts permits that are about to be given back to a key: before they are, and before the clock is read for that.
// More than a lease can hold are as good as what it can hold, and so no number of them that anybody can reach comes back to
// where it was.
func (g *givenBack) note(key, permits uint64) { g.of(key).Add(min(permits, mostLeased)) }

// noteAll makes every lease let go of what it holds.
func (g *givenBack) noteAll() {
	for i := range g {
		g[i].Add(mostLeased)
	}
}
