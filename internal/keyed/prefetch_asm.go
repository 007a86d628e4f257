//go:build amd64 || arm64

package keyed

// prefetch asks for a line and does not wait for it.
//
//go:noescape
func prefetch(p *line)
