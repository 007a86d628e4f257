package policy

import (
	"hash/maphash"

	"github.com/cespare/xxhash/v2"
)

// KeyString is the portable key of a string: XXH64, the 64-bit hash of xxHash by Yann Collet, over its bytes. Every
// port in every language gives the same key for the same seed; take seed 0 unless there is a reason not to.
//
// It is no defence against strangers: strings that collide under every seed are known. Where strangers choose the
// strings use SecretKey.
func KeyString(s string, seed uint64) uint64 {
	if seed == 0 {
		return xxhash.Sum64String(s)
	}
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	_, _ = d.WriteString(s) // never fails
	return d.Sum64()
}

// KeyBytes is KeyString of a byte slice.
func KeyBytes(b []byte, seed uint64) uint64 {
	if seed == 0 {
		return xxhash.Sum64(b)
	}
	var d xxhash.Digest
	d.ResetWithSeed(seed)
	_, _ = d.Write(b) // never fails
	return d.Sum64()
}

// Key32 is the key of a 32-bit id, and the default for integers: mix32, the finaliser of MurmurHash3 by Austin Appleby.
// It is a bijection, so different ids have different keys; 0 stays 0.
func Key32(id uint32) uint64 {
	id ^= id >> 16
	id *= 0x85ebca6b
	id ^= id >> 13
	id *= 0xc2b2ae35
	id ^= id >> 16
	return uint64(id)
}

// processSecret keys SecretKey: drawn once, known to nobody.
var processSecret = maphash.MakeSeed()

// SecretKey is the key of a string that strangers choose: a hash keyed with a secret of this process (hash/maphash), so
// that nobody can make two strings meet. It means nothing in another process or after a restart. It does not allocate.
func SecretKey(s string) uint64 { return maphash.String(processSecret, s) }

// SecretKeyBytes is SecretKey of the same bytes.
func SecretKeyBytes(b []byte) uint64 { return maphash.Bytes(processSecret, b) }
