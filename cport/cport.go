// cgo compiles unity.c, which includes all of src; without cgo see nocgo.go.

//go:build cgo

package cport

/*
#cgo CFLAGS: -std=c11 -I${SRCDIR}/include -DWEIR_NO_MALLOC

#include "any.h"
*/
import "C"

import (
	"fmt"
	"math/rand/v2"
	"sort"

	"weir/policy"
)

// Available says whether the C library is part of this program.
const Available = true

// New makes the policy of that name, decided by C, for exactly maxKeys keys; the dual bucket is a policy.TwoCosts. The
// error is as policy.Registry's New: it wraps policy.ErrUnknownPolicy, or a *policy.LimitError for a limit or a maxKeys (0,
// or so many that the table would be above MaxBytes) that is refused.
func New(name string, l policy.Limit, maxKeys uint64) (policy.Policy, error) {
	return Registry().New(name, l, policy.Options{MaxKeys: maxKeys, Bounded: true})
}

// Registry holds the policies that the C library has, which are all five. A table of C is always bounded: Options without
// a bound give it DefaultMaxKeys.
func Registry() *policy.Registry {
	r := new(policy.Registry)
	for _, k := range kinds {
		_ = r.Add(k.name, k.make) // good names in an empty registry
	}
	return r
}

// kind is a policy of the C library, by the number that any.h has for it.
type kind struct {
	name   string
	number C.int
	check  func(policy.Limit) error // what Go says of a limit
}

var kinds = []kind{
	{"gcra", C.WEIR_ANY_GCRA, bucket},
	{"tokenbucket", C.WEIR_ANY_TOKENBUCKET, bucket},
	{"leakybucket", C.WEIR_ANY_LEAKYBUCKET, bucket},
	{"slidinglog", C.WEIR_ANY_SLIDINGLOG, policy.Limit.Window},
	{"dualbucket", C.WEIR_ANY_DUALBUCKET, buckets},
}

func bucket(l policy.Limit) error { _, err := l.Scale(); return err }

func buckets(l policy.Limit) error { _, _, err := l.Scales(); return err }

// make is the kind's policy.Maker. A seed of 0 draws a secret one.
func (k kind) make(l policy.Limit, o policy.Options) (policy.Policy, error) {
	var bytes C.size_t
	if code := C.weir_any_size(k.number, limitOf(l), 1, &bytes); code != C.WEIR_OK && code != C.WEIR_ERR_MAX_KEYS {
		return nil, k.refusal(code, l)
	}
	first := k.roomy(l)
	maxKeys := k.capacity(first, o)
	if maxKeys == 0 || !k.fits(first, maxKeys, &bytes) {
		return nil, k.badMaxKeys(first, maxKeys)
	}
	seed := o.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t := &table{kind: k, block: make([]uint64, (bytes+7)/8)}
	code := C.weir_any_init(k.number, t.words(), bytes, limitOf(first), C.uint64_t(maxKeys), C.uint64_t(seed))
	if code != C.WEIR_OK {
		return nil, k.refusal(code, l)
	}
	if first != l {
		if err := t.Relimit(0, l); err != nil {
			return nil, err
		}
	}
	if k.number == C.WEIR_ANY_DUALBUCKET {
		return pair{t}, nil
	}
	return t, nil
}

// roomy is the limit to make a table with before it is put under l: one that gives a sliding log LogEntries at least.
func (k kind) roomy(l policy.Limit) policy.Limit {
	if k.number != C.WEIR_ANY_SLIDINGLOG || min(l.Permits, l.Period) >= LogEntries {
		return l
	}
	return policy.Limit{Permits: max(l.Permits, LogEntries), Period: max(l.Period, LogEntries)}
}

// capacity is the max_keys that options ask of a C table.
func (k kind) capacity(l policy.Limit, o policy.Options) uint64 {
	if o.MaxKeys > 0 || o.Bounded {
		return o.MaxKeys
	}
	most := uint64(sort.Search(DefaultMaxKeys, func(i int) bool { return k.bytes(l, uint64(i)+1) > DefaultBytes }))
	return max(most, 1)
}

// bytes is what a table takes: more than MaxBytes for one that C cannot address.
func (k kind) bytes(l policy.Limit, maxKeys uint64) uint64 {
	var bytes C.size_t
	if C.weir_any_size(k.number, limitOf(l), C.uint64_t(maxKeys), &bytes) != C.WEIR_OK {
		return MaxBytes + 1
	}
	return uint64(bytes)
}

// fits says whether a table is within MaxBytes, and how large it is.
func (k kind) fits(l policy.Limit, maxKeys uint64, bytes *C.size_t) bool {
	*bytes = C.size_t(k.bytes(l, maxKeys))
	return uint64(*bytes) <= MaxBytes
}

// refusal says in Go's words why C refused a limit. C has decided; Go only finds the field, the value and the bound for
// the message.
func (k kind) refusal(code C.weir_error, l policy.Limit) error {
	word := C.GoString(C.weir_error_word(code))
	if err := k.check(l); err != nil && policy.Code(err) == word {
		return err
	}
	return fmt.Errorf("cport: the C library refuses %+v, and the Go side cannot tell why: %w",
		l, &policy.LimitError{Code: word})
}

// badMaxKeys is the refusal of a table for no keys or for too many; it finds out how many there may be.
func (k kind) badMaxKeys(l policy.Limit, maxKeys uint64) error {
	e := policy.LimitError{Code: string(policy.ErrInvalidMaxKeys), Field: "max_keys", Value: maxKeys, Need: "at least", Bound: 1}
	if maxKeys > 0 {
		var bytes C.size_t
		most := sort.Search(int(MaxBytes/16), func(i int) bool { return !k.fits(l, uint64(i)+1, &bytes) })
		e.Need, e.Bound = "at most", uint64(most)
	}
	return &e
}

func limitOf(l policy.Limit) C.weir_limit {
	return C.weir_limit{
		permits: C.uint64_t(l.Permits), period: C.uint64_t(l.Period), burst: C.uint64_t(l.Burst),
		permits2: C.uint64_t(l.Permits2), period2: C.uint64_t(l.Period2), burst2: C.uint64_t(l.Burst2),
	}
}
