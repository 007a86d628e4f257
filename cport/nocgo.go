//go:build !cgo

package cport

import "weir/policy"

// Available says whether the C library is part of this program.
const Available = false

// New makes nothing: it answers ErrNoCgo.
func New(string, policy.Limit, uint64) (policy.Policy, error) { return nil, ErrNoCgo }

// Registry is empty.
func Registry() *policy.Registry { return new(policy.Registry) }

// KeyBytes is policy.KeyBytes.
func KeyBytes(b []byte, seed uint64) uint64 { return policy.KeyBytes(b, seed) }

// Key32 is policy.Key32.
func Key32(id uint32) uint64 { return policy.Key32(id) }
