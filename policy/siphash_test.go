package policy_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

// sequence is the bytes 0, 1, 2, ... that the authors of SipHash test with.
func sequence(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

// TestSipHash has the values that the authors published, least byte first as in their tables; the one of 15 bytes is worked
// through in their paper.
func TestSipHash(t *testing.T) {
	secret := policy.SipSecret(sequence(16))
	for n, want := range map[int]string{
		0: "310e0edd47db6f72", 1: "fd67dc93c539f874", 2: "5a4fa9d909806c0d", 3: "2d7efbd796666785", 7: "37d1018bf50002ab",
		8: "6224939a79f5f593", 15: "e545be4961ca29a1", 16: "db9bc2577fcc2a3f",
	} {
		raw, err := hex.DecodeString(want)
		require.NoError(t, err)
		var value uint64
		for i := range raw {
			value |= uint64(raw[i]) << (8 * i)
		}
		assert.Equal(t, value, policy.SipKeyBytes(sequence(n), secret), "%d bytes", n)
		assert.Equal(t, value, policy.SipKey(string(sequence(n)), secret), "%d bytes", n)
	}
	assert.Equal(t, uint64(0xa129ca6149be45e5), policy.SipKeyBytes(sequence(15), secret))
}

// Two strings that XXH64 cannot tell apart are different keys here, and each other secret makes others of them.
func TestSipHashTellsApart(t *testing.T) {
	a, err := hex.DecodeString("757365723a3030303030303030303432")
	require.NoError(t, err)
	b, err := hex.DecodeString("5580660a38e5a70f30303030df7bc148")
	require.NoError(t, err)
	seen := map[uint64]bool{}
	for i := range 100 {
		secret := policy.SipSecret{0: byte(i), 9: 7}
		seen[policy.SipKeyBytes(a, secret)] = true
		seen[policy.SipKeyBytes(b, secret)] = true
	}
	assert.Len(t, seen, 200)
}

func TestSipHashDoesNotAllocate(t *testing.T) {
	text, bytes := "a key of some length, longer than a word", []byte("another one")
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		policy.SipKey(text, policy.SipSecret{1})
		policy.SipKeyBytes(bytes, policy.SipSecret{1})
	}))
}
