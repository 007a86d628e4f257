//go:build !amd64 && !arm64

package keyed

// prefetch reads a line that nobody waits for.
//
//go:noinline
func prefetch(p *line) uint64 { return p[0].word.Load() }
