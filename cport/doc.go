/*
Package cport binds the C library of weir (include/weir, src) to Go: the same policies with the same answers, decided
by C.

It is there to verify the C port with the tools of this module and to measure it; a Go program that only wants to
limit a rate is served better by the Go policies, which need no cgo and do not pay for a crossing at each request.

	p, err := cport.New("gcra", policy.Limit{Permits: 100, Period: 1_000_000_000, Burst: 20}, 10_000)
	...
	if p.Take(now, key, 1).OK() { ... }

A table of the C library is always bounded and all of it is allocated when it is made: at most 24 bytes a key for
the GCRA, 36 for the token, leaky and dual bucket, and for the sliding log 64 and 16 more for each of min(permits, period)
entries, of which New gives a key LogEntries at least. Here the block belongs to Go (a slice without pointers, given to C
for the length of a call), so there is nothing to close and no memory to leak: Close is there for those who look for it.

Every policy here has TakeBatch too: many requests in one crossing.

Without cgo the package is there and empty: Available is false, Registry has no policies and New says why.
*/
package cport

import (
	"embed"
	"errors"
)

// ErrNoCgo is what New answers in a program that was built without cgo.
var ErrNoCgo = errors.New("cport: built without cgo, so the C library is not here: have a C compiler and set CGO_ENABLED=1")

// DefaultMaxKeys is how many keys a table holds that Registry makes for Options without a bound, since a C table has one
// always: 1.5 MiB of the GCRA. A sliding log, whose keys may be huge, has fewer where they would take more than
// DefaultBytes, but one at least.
const (
	DefaultMaxKeys        = 1 << 16
	DefaultBytes   uint64 = 64 << 20
)

// LogEntries is how many entries a key of a sliding log has at least, so that a small limit can be raised later. A
// Relimit to one that needs more entries, min(permits, period), than the table was made with is refused with
// limit_too_large.
const LogEntries = 16

// MaxBytes is the most that this binding makes a table of: 48 GiB where an int has 64 bits, which are 2^31 keys of the
// GCRA, and 768 MiB where it has 32. More is refused with invalid_max_keys, though C could address more: Go ends the
// whole program when it finds no memory, so a number that is a mistake should not come so far. What is within the bound
// may still be more than the machine has.
const MaxBytes uint64 = 24 << (25 + 6*(^uint(0)>>63))

// The C sources are embedded so that an edit of them reaches Go's build cache, which looks only at files beside
// cport.go, and so that `go mod vendor` copies them.
//
//go:embed include/weir/*.h src/*.c src/*.h
var source embed.FS

// Source is the C library as it stands in this version of the module, include/weir and src: os.CopyFS writes it
// out for a program in C.
func Source() embed.FS { return source }
