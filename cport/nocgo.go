//go:build !cgo

package cport

import "weir/policy"

// Available says whether the C library is part of this program.
const Available = false

// New makes nothing: it answers ErrNoCgo.
func New(string, policy.Limit, uint64) (policy.Policy, error) { return nil, ErrNoCgo }

// Registry is empty.
func Registry() *policy.Registry { return new(policy.Registry) }
