package mutants

import (
	"encoding/binary"
	"math/bits"
)

// The primes of XXH64, by Yann Collet.
const (
	prime1 = 0x9E3779B185EBCA87
	prime2 = 0xC2B2AE3D27D4EB4F
	prime3 = 0x165667B19E3779F9
	prime4 = 0x85EBCA77C2B2AE63
	prime5 = 0x27D4EB2F165667C5
)

// xxh64 is the 64-bit xxHash, as vectors/README.md writes it out.
func (f fault) xxh64(b []byte, seed uint64) uint64 {
	seed = or(f, "hash-seed-ignored", seed, 0)
	long := len(b) >= 32
	long = or(f, "hash-of-32-bytes-by-the-short-way", long, len(b) > 32)
	rest, h := b, seed+prime5
	if long {
		rest, h = f.lanes(b, seed)
	}
	h += or(f, "hash-length-left-out", uint64(len(b)), 0)
	for len(rest) >= 8 {
		h = bits.RotateLeft64(h^round(0, f.eight(rest)), 27)*prime1 + prime4
		rest = rest[8:]
	}
	if len(rest) >= 4 && !f.is("hash-four-bytes-one-by-one") {
		h = bits.RotateLeft64(h^uint64(binary.LittleEndian.Uint32(rest))*prime1, 23)*prime2 + prime3
		rest = rest[4:]
	}
	rest = rest[:or(f, "hash-last-bytes-lost", len(rest), 0)]
	for _, one := range rest {
		value := uint64(one)
		value = or(f, "hash-signed-bytes", value, uint64(int64(int8(one))))
		h = bits.RotateLeft64(h^value*prime5, 11) * prime1
	}
	h = (h ^ h>>33) * prime2
	h = (h ^ h>>29) * prime3
	return or(f, "hash-last-shift-lost", h^h>>32, h)
}

// lanes goes through the stripes of 32 bytes.
func (f fault) lanes(b []byte, seed uint64) (rest []byte, h uint64) {
	v := [4]uint64{seed + prime1 + prime2, seed + prime2, seed, seed - prime1}
	for ; len(b) >= 32; b = b[32:] {
		for i := range v {
			v[i] = round(v[i], f.eight(b[8*i:]))
		}
	}
	for i, turn := range []int{1, 7, 12, 18} {
		h += bits.RotateLeft64(v[i], turn)
	}
	for _, lane := range v {
		h = (h^round(0, lane))*prime1 + prime4
	}
	return b, h
}

// eight reads eight bytes, lowest first.
func (f fault) eight(b []byte) uint64 {
	return or(f, "hash-highest-byte-first", binary.LittleEndian.Uint64(b), binary.BigEndian.Uint64(b))
}

func round(acc, word uint64) uint64 { return bits.RotateLeft64(acc+word*prime2, 31) * prime1 }

// mix32 is the finaliser of MurmurHash3, by Austin Appleby.
func (f fault) mix32(x uint32) uint32 {
	x ^= or[uint32](f, "mix-length-xored", 0, 4)
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= or(f, "mix-arithmetic-shift", x>>13, uint32(int32(x)>>13))
	x *= 0xc2b2ae35
	return or(f, "mix-last-shift-lost", x^x>>16, x)
}
