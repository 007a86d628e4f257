package vectors_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"math/big"
	"math/bits"
	"os"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/vectors"
)

var update = flag.Bool("update", false, "write hash/*.json anew")

// TestHashFilesAreWhatTwoComputationsSay makes both files anew, every value computed twice by code that shares nothing.
func TestHashFilesAreWhatTwoComputationsSay(t *testing.T) {
	for name, file := range map[string]vectors.HashFile{"hash/xxh64.json": xxh64File(t), "hash/mix32.json": mix32File(t)} {
		want := marshal(t, file)
		if *update {
			require.NoError(t, os.WriteFile(name, want, 0o644))
		}
		got, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%s: run go test ./vectors -run Hash -update", name)
	}
}

// The values that anybody can look up.
func TestHashesOfNothing(t *testing.T) {
	assert.Equal(t, uint64(0xEF46DB3751D8E999), referenceXXH64(nil, 0))
	assert.Equal(t, uint64(0xD24EC4F1A98C6E5B), referenceXXH64([]byte("a"), 0))
	assert.Equal(t, uint64(0x44BC2CF5AD770999), referenceXXH64([]byte("abc"), 0))
	assert.Equal(t, uint32(0), bigMix32(0))
	assert.Equal(t, uint32(0x514E28B7), bigMix32(1))
}

// marshal writes a hash file with one case a line.
func marshal(t *testing.T, f vectors.HashFile) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"format\": 1,\n  \"hash\": %q,\n  \"cases\": [\n", f.Hash)
	for i, c := range f.Cases {
		line, err := json.Marshal(c)
		require.NoError(t, err)
		end := ","
		if i == len(f.Cases)-1 {
			end = ""
		}
		fmt.Fprintf(&b, "    %s%s\n", line, end)
	}
	b.WriteString("  ]\n}\n")
	return b.Bytes()
}

func xxh64File(t *testing.T) vectors.HashFile {
	f := vectors.HashFile{Format: vectors.Format, Hash: "xxh64"}
	add := func(name, comment string, b []byte, seed uint64) {
		digits, s := hex.EncodeToString(b), vectors.Number(seed)
		want := vectors.Number(referenceXXH64(b, seed))
		var d xxhash.Digest
		d.ResetWithSeed(seed)
		_, _ = d.Write(b)
		require.Equal(t, d.Sum64(), uint64(want), "%s: the two computations differ", name)
		require.Equal(t, policy.KeyBytes(b, seed), uint64(want), "%s: package policy differs", name)
		f.Cases = append(f.Cases, vectors.HashCase{ID: "hash/xxh64/" + name, Comment: comment, Hex: &digits, Seed: &s, Want: &want})
	}
	for i, seed := range []uint64{0, 1, 2654435761, 11400714785074694791} {
		for n := 0; n <= 100; n++ {
			b := make([]byte, n)
			for at := range b {
				b[at] = byte(at*31 + 7)
			}
			comment := ""
			if n == 100 {
				comment = "byte i of every input of this seed is (31 * i + 7) mod 256"
			}
			add(fmt.Sprintf("seed%d-length%d", i, n), comment, b, seed)
		}
	}
	other, err := hex.DecodeString("5580660a38e5a70f30303030df7bc148")
	require.NoError(t, err)
	for i, seed := range []uint64{0, 1, 42, 1 << 63, 1<<64 - 1} {
		collide := "this input and its twin have one key under every seed"
		add(fmt.Sprintf("collide%d-text", i), collide, []byte("user:00000000042"), seed)
		add(fmt.Sprintf("collide%d-twin", i), collide, other, seed)
		n := len(f.Cases)
		require.Equal(t, f.Cases[n-2].Want, f.Cases[n-1].Want)
	}
	for _, text := range []string{"a", "abc", "user:42", "192.0.2.1", "2001:db8::1", "Grüße"} {
		add("text-"+hex.EncodeToString([]byte(text)), "", []byte(text), 0)
	}
	return f
}

func mix32File(t *testing.T) vectors.HashFile {
	f := vectors.HashFile{Format: vectors.Format, Hash: "mix32"}
	for _, in := range []uint32{0, 1, 2, 3, 7, 10, 42, 255, 256, 1000, 65535, 65536, 65537, 1000003, 16777216,
		123456789, 305419896, 1 << 30, 1<<31 - 1, 1 << 31, 1<<31 + 1, 2654435761, 2863311530, 3735928559,
		1<<32 - 2, 1<<32 - 1} {
		want := bigMix32(in)
		require.Equal(t, in, unmix32(want), "mix32(%d): undoing it does not lead back", in)
		require.Equal(t, policy.Key32(in), uint64(want), "mix32(%d): package policy differs", in)
		arg, key := vectors.Number(in), vectors.Number(want)
		f.Cases = append(f.Cases, vectors.HashCase{ID: fmt.Sprintf("hash/mix32/%d", in), In: &arg, Want: &key})
	}
	return f
}

// The primes of the specification of XXH64, section "Overview".
const (
	prime1 = 0x9E3779B185EBCA87
	prime2 = 0xC2B2AE3D27D4EB4F
	prime3 = 0x165667B19E3779F9
	prime4 = 0x85EBCA77C2B2AE63
	prime5 = 0x27D4EB2F165667C5
)

// referenceXXH64 follows the specification of XXH64 step by step and does nothing for speed.
func referenceXXH64(b []byte, seed uint64) uint64 {
	length := uint64(len(b))
	acc := seed + prime5
	if len(b) >= 32 {
		p1, p2 := uint64(prime1), uint64(prime2)
		lanes := [4]uint64{seed + p1 + p2, seed + p2, seed, seed - p1}
		for ; len(b) >= 32; b = b[32:] {
			for i := range lanes {
				lanes[i] = round64(lanes[i], binary.LittleEndian.Uint64(b[8*i:]))
			}
		}
		acc = bits.RotateLeft64(lanes[0], 1) + bits.RotateLeft64(lanes[1], 7) +
			bits.RotateLeft64(lanes[2], 12) + bits.RotateLeft64(lanes[3], 18)
		for _, lane := range lanes {
			acc = (acc^round64(0, lane))*prime1 + prime4
		}
	}
	acc += length
	for ; len(b) >= 8; b = b[8:] {
		acc = bits.RotateLeft64(acc^round64(0, binary.LittleEndian.Uint64(b)), 27)*prime1 + prime4
	}
	for ; len(b) >= 4; b = b[4:] {
		acc = bits.RotateLeft64(acc^uint64(binary.LittleEndian.Uint32(b))*prime1, 23)*prime2 + prime3
	}
	for _, one := range b {
		acc = bits.RotateLeft64(acc^uint64(one)*prime5, 11) * prime1
	}
	acc = (acc ^ acc>>33) * prime2
	acc = (acc ^ acc>>29) * prime3
	return acc ^ acc>>32
}

func round64(acc, lane uint64) uint64 { return bits.RotateLeft64(acc+lane*prime2, 31) * prime1 }

// bigMix32 is mix32 over numbers without a width: shifts are divisions, products are reduced at the end.
func bigMix32(in uint32) uint32 {
	word := new(big.Int).Lsh(big.NewInt(1), 32)
	x := big.NewInt(int64(in))
	fold := func(by uint) { x.Xor(x, new(big.Int).Rsh(x, by)) }
	times := func(by int64) { x.Mod(x.Mul(x, big.NewInt(by)), word) }
	fold(16)
	times(0x85ebca6b)
	fold(13)
	times(0xc2b2ae35)
	fold(16)
	return uint32(x.Uint64())
}

// unmix32 undoes mix32 step by step, last first; 0xa5cb9243 and 0x7ed1b41d are the inverses of its factors.
func unmix32(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x7ed1b41d
	x ^= x>>13 ^ x>>26
	x *= 0xa5cb9243
	return x ^ x>>16
}
