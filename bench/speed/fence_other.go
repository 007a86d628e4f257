//go:build !amd64

package speed

import "sync/atomic"

var fenced atomic.Uint64

// fence orders memory only: a processor may still begin the next decision before the last is done, so cold decisions look
// cheaper than they are, and so does their floor.
func fence() { fenced.Add(1) }

// fenceName says what fence is here.
const fenceName = "an atomic addition, which does not stop speculation"
