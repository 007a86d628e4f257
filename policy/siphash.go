package policy

import (
	"encoding/binary"
	"math/bits"
)

// SipSecret is the 128-bit key of SipHash. Draw it at random (crypto/rand), keep it secret, and give the same one to every
// process that must make the same keys.
type SipSecret [16]byte

// SipKey is the key of a string that strangers choose where several processes, or Go and C, must agree on it: SipHash-2-4
// by Jean-Philippe Aumasson and Daniel J. Bernstein (2012), 64 bits. Within one process SecretKey is faster. It does not
// allocate.
func SipKey(s string, secret SipSecret) uint64 { return sipHash(s, secret) }

// SipKeyBytes is SipKey of the same bytes.
func SipKeyBytes(b []byte, secret SipSecret) uint64 { return sipHash(b, secret) }

// sip is the state of SipHash: four words that are mixed with 2 rounds for each 8 bytes and 4 at the end.
type sip struct{ a, b, c, d uint64 }

func (s *sip) rounds(n int) {
	for range n {
		s.a += s.b
		s.c += s.d
		s.b = bits.RotateLeft64(s.b, 13) ^ s.a
		s.d = bits.RotateLeft64(s.d, 16) ^ s.c
		s.a = bits.RotateLeft64(s.a, 32)
		s.c += s.b
		s.a += s.d
		s.b = bits.RotateLeft64(s.b, 17) ^ s.c
		s.d = bits.RotateLeft64(s.d, 21) ^ s.a
		s.c = bits.RotateLeft64(s.c, 32)
	}
}

func (s *sip) word(m uint64) {
	s.d ^= m
	s.rounds(2)
	s.a ^= m
}

func sipHash[T string | []byte](text T, secret SipSecret) uint64 {
	k0, k1 := binary.LittleEndian.Uint64(secret[:8]), binary.LittleEndian.Uint64(secret[8:])
	s := sip{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	last := uint64(len(text)) << 56
	for ; len(text) >= 8; text = text[8:] {
		word := uint64(0)
		for i := range 8 {
			word |= uint64(text[i]) << (8 * i)
		}
		s.word(word)
	}
	for i := range len(text) {
		last |= uint64(text[i]) << (8 * i)
	}
	s.word(last)
	s.c ^= 0xff
	s.rounds(4)
	return s.a ^ s.b ^ s.c ^ s.d
}
