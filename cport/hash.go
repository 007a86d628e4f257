//go:build cgo

package cport

/*
#cgo noescape weir_xxh64
#cgo nocallback weir_xxh64
#cgo noescape weir_siphash
#cgo nocallback weir_siphash

#include "weir/hash.h"
*/
import "C"

import "unsafe"

// KeyBytes is policy.KeyBytes, computed by C.
func KeyBytes(b []byte, seed uint64) uint64 {
	return uint64(C.weir_xxh64(unsafe.Pointer(unsafe.SliceData(b)), C.size_t(len(b)), C.uint64_t(seed)))
}

// Key32 is policy.Key32, computed by C.
func Key32(id uint32) uint64 { return uint64(C.weir_mix32(C.uint32_t(id))) }

// sipKey is SipHash-2-4; it is for tests.
func sipKey(b []byte, key *[16]byte) uint64 {
	return uint64(C.weir_siphash(unsafe.Pointer(unsafe.SliceData(b)), C.size_t(len(b)), (*C.uchar)(&key[0])))
}
