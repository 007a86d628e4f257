/*
Package cport binds the C library of weir (include/weir, src) to Go: the same policies with the same answers, decided
by C.

It is there to verify the C port with the tools of this module and to measure it; a Go program that only wants to
limit a rate is served better by the Go policies, which need no cgo and do not pay for a crossing at each request.

	p, err := cport.New("gcra", policy.Limit{Permits: 100, Period: 1_000_000_000, Burst: 20}, 10_000)
	...
	if p.Take(now, key, 1).OK() { ... }

A table of the C library is always bounded and all of it is allocated when it is made: at most 24 bytes a key of
the GCRA. Here the block belongs to Go (a slice without pointers, given to C for the length of a call), so there is
nothing to close and no memory to leak.

Without cgo the package is there and empty: Available is false, Registry has no policies and New says why.
*/
package cport

import (
	"embed"
	"errors"
)

// ErrNoCgo is what New answers in a program that was built without cgo.
var ErrNoCgo = errors.New("cport: built without cgo, so the C library is not here: have a C compiler and set CGO_ENABLED=1")

// DefaultMaxKeys is how many keys a table holds that Registry makes for Options without a bound: a C table has one
// always, and these take 1.5 MiB.
const DefaultMaxKeys = 1 << 16

// MaxKeys is the most keys that this binding makes a table for: 2^31 (48 GiB) where an int has 64 bits and 2^25
// (768 MiB) where it has 32. More is refused with invalid_max_keys, though C could address more: Go ends the whole
// program when it finds no memory, so a number that is a mistake should not come so far. What is within the bound
// may still be more than the machine has.
const MaxKeys uint64 = 1 << (25 + 6*(^uint(0)>>63))

// The C sources are embedded so that an edit of them reaches Go's build cache, which looks only at files beside
// cport.go, and so that `go mod vendor` copies them.
//
//go:embed include/weir/*.h src/*.c src/*.h
var source embed.FS

// Source is the C library as it stands in this version of the module, include/weir and src: os.CopyFS writes it
// out for a program in C.
func Source() embed.FS { return source }
