package policy_test

import (
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

// TestKeyString: the values that anybody can look up, with and without a seed (2654435761 is the one of xxHash's own
// sanity check).
func TestKeyString(t *testing.T) {
	for _, row := range []struct {
		s    string
		seed uint64
		want uint64
	}{
		{"", 0, 0xEF46DB3751D8E999},
		{"a", 0, 0xD24EC4F1A98C6E5B},
		{"abc", 0, 0x44BC2CF5AD770999},
		{"", 2654435761, 0xAC75FDA2929B17EF},
		{"user:00000000042", 0, policy.KeyBytes([]byte("user:00000000042"), 0)},
	} {
		assert.Equal(t, row.want, policy.KeyString(row.s, row.seed), "%q, seed %d", row.s, row.seed)
		assert.Equal(t, row.want, policy.KeyBytes([]byte(row.s), row.seed), "%q, seed %d: bytes", row.s, row.seed)
	}
	for n := range 200 {
		s := strings.Repeat("x", n)
		for _, seed := range []uint64{0, 1, 1 << 63, policy.Never} {
			require.Equal(t, policy.KeyString(s, seed), policy.KeyBytes([]byte(s), seed), "%d bytes", n)
			require.NotEqual(t, policy.KeyString(s, seed), policy.KeyString(s, seed^2), "%d bytes: the seed counts", n)
		}
	}
}

// TestXXH64IsNoDefence: the two strings of the contract meet under every seed, and not under the keyed hash.
func TestXXH64IsNoDefence(t *testing.T) {
	one, err := hex.DecodeString("757365723a3030303030303030303432")
	require.NoError(t, err)
	other, err := hex.DecodeString("5580660a38e5a70f30303030df7bc148")
	require.NoError(t, err)
	require.Equal(t, "user:00000000042", string(one))
	require.NotEqual(t, one, other)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range uint64(10_000) {
		seed := n
		if n >= 1000 {
			seed = r.Uint64()
		}
		require.Equal(t, policy.KeyBytes(one, seed), policy.KeyBytes(other, seed), "seed %d", seed)
		require.Equal(t, policy.KeyString(string(one), seed), policy.KeyString(string(other), seed), "seed %d", seed)
	}
	assert.NotEqual(t, policy.SecretKey(string(one)), policy.SecretKey(string(other)))
	assert.NotEqual(t, policy.SecretKeyBytes(one), policy.SecretKeyBytes(other))
}

// TestSecretKey: the same for the same bytes in one process, string or slice, and not the portable key.
func TestSecretKey(t *testing.T) {
	seen := map[uint64]string{}
	for n := range 300 {
		s := strings.Repeat("k", n)
		key := policy.SecretKey(s)
		require.Equal(t, key, policy.SecretKey(s))
		require.Equal(t, key, policy.SecretKeyBytes([]byte(s)))
		require.NotEqual(t, key, policy.KeyString(s, 0))
		require.NotContains(t, seen, key)
		seen[key] = s
	}
}

// unmix32 goes through mix32 from its end to its beginning, with the inverses of both factors modulo 2^32.
func unmix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7ed1b41d // 0xc2b2ae35 * 0x7ed1b41d = 1
	x ^= x>>13 ^ x>>26
	x *= 0xa5cb9243 // 0x85ebca6b * 0xa5cb9243 = 1
	return x ^ x>>16
}

// TestKey32: known values, and that no two ids share a key: it can be undone.
func TestKey32(t *testing.T) {
	for _, row := range []struct {
		id   uint32
		want uint64
	}{
		{0, 0},
		{1, 0x514E28B7},
		{1<<32 - 1, 0x81F16F39},
	} {
		assert.Equal(t, row.want, policy.Key32(row.id), "mix32(%d)", row.id)
	}
	r := rand.New(rand.NewPCG(1, 3))
	for n := range uint32(200_000) {
		id := n
		if n >= 100_000 {
			id = r.Uint32()
		}
		key := policy.Key32(id)
		require.Less(t, key, uint64(1<<32))
		if got := unmix32(uint32(key)); got != id {
			require.Equal(t, id, got)
		}
	}
}

var sink uint64

// TestKeysDoNotAllocate, however long the string and whatever the seed.
func TestKeysDoNotAllocate(t *testing.T) {
	for _, n := range []int{0, 1, 16, 31, 32, 33, 1000} {
		b := make([]byte, n)
		s := string(b)
		for _, row := range []struct {
			why string
			do  func()
		}{
			{"KeyString", func() { sink = policy.KeyString(s, 0) }},
			{"KeyString, seed", func() { sink = policy.KeyString(s, 7) }},
			{"KeyBytes", func() { sink = policy.KeyBytes(b, 0) }},
			{"KeyBytes, seed", func() { sink = policy.KeyBytes(b, 7) }},
			{"SecretKey", func() { sink = policy.SecretKey(s) }},
			{"SecretKeyBytes", func() { sink = policy.SecretKeyBytes(b) }},
			{"Key32", func() { sink = policy.Key32(uint32(n)) }},
		} {
			assert.Zero(t, testing.AllocsPerRun(100, row.do), "%s of %d bytes", row.why, n)
		}
	}
}
