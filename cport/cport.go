// cgo compiles unity.c, which includes all of src; without cgo see nocgo.go.

//go:build cgo

package cport

/*
#cgo CFLAGS: -std=c11 -I${SRCDIR}/include -DWEIR_NO_MALLOC
#include "weir/weir.h"
*/
import "C"

import (
	"fmt"

	"weir/policy"
)

// Available says whether the C library is part of this program.
const Available = true

// New makes the policy of that name, decided by C, for exactly maxKeys keys. The error is as policy.Registry's
// New: it wraps policy.ErrUnknownPolicy, or a *policy.LimitError for a limit or a maxKeys (0, or above MaxKeys)
// that is refused.
func New(name string, l policy.Limit, maxKeys uint64) (policy.Policy, error) {
	return Registry().New(name, l, policy.Options{MaxKeys: maxKeys, Bounded: true})
}

// Registry holds the policies that the C library has. A table of C is always bounded: Options without a bound give
// it DefaultMaxKeys.
func Registry() *policy.Registry {
	r := new(policy.Registry)
	_ = r.Add("gcra", newGCRA) // a good name in an empty registry
	return r
}

// capacity is the max_keys that options ask of a C table.
func capacity(o policy.Options) uint64 {
	if o.MaxKeys == 0 && !o.Bounded {
		return DefaultMaxKeys
	}
	return o.MaxKeys
}

// refusal says in Go's words why C refused a limit or max_keys. C has decided; Go only finds the field, the value
// and the bound for the message.
func refusal(code C.weir_error, l policy.Limit, maxKeys uint64) error {
	word := C.GoString(C.weir_error_word(code))
	if code == C.WEIR_ERR_MAX_KEYS {
		return badMaxKeys(maxKeys)
	}
	if _, err := l.Scale(); err != nil && policy.Code(err) == word {
		return err
	}
	return fmt.Errorf("cport: the C library refuses %+v for %d keys, and the Go side cannot tell why: %w",
		l, maxKeys, &policy.LimitError{Code: word})
}

// badMaxKeys is the refusal of a table for no keys or for too many.
func badMaxKeys(maxKeys uint64) error {
	e := policy.LimitError{Code: string(policy.ErrInvalidMaxKeys), Field: "max_keys", Value: maxKeys,
		Need: "at most", Bound: MaxKeys}
	if maxKeys == 0 {
		e.Need, e.Bound = "at least", 1
	}
	return &e
}
