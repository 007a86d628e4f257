//go:build cgo

package cport_test

import (
	"encoding/binary"
	"encoding/hex"
	"testing"

	"weir/cport"
	"weir/policy"
	"weir/vectors"
)

func TestHashVectors(t *testing.T) {
	suite, err := vectors.Load(vectors.FS())
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, file := range suite.Hashes {
		for _, c := range file.Cases {
			got := uint64(0)
			if file.Hash == vectors.CanMix32 {
				got = cport.Key32(uint32(*c.In))
			} else {
				b, err := hex.DecodeString(*c.Hex)
				if err != nil {
					t.Fatal(err)
				}
				got = cport.KeyBytes(b, uint64(*c.Seed))
			}
			if got != uint64(*c.Want) {
				t.Errorf("%s: %d, want %d", c.ID, got, *c.Want)
			}
			asked++
		}
	}
	if asked < 400 {
		t.Errorf("only %d hashes were asked", asked)
	}
}

// Every length up to beyond a few stripes, at every alignment, as Go computes it.
func TestXXH64IsThatOfGo(t *testing.T) {
	b := make([]byte, 300)
	for i := range b {
		b[i] = byte(i * 7)
	}
	for from := range 8 {
		for to := from; to <= len(b); to++ {
			seed := uint64(from) * 0x9E3779B97F4A7C15
			if got, want := cport.KeyBytes(b[from:to], seed), policy.KeyBytes(b[from:to], seed); got != want {
				t.Fatalf("bytes %d to %d: %#x, want %#x", from, to, got, want)
			}
		}
	}
}

var sipKey = [16]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// The vectors of SipHash's authors, vectors_sip64 of their reference implementation: the key is 00 to 0f, and the input
// of n bytes 00, 01, and so on. That of 15 bytes is in the paper too.
func TestSipHashVectors(t *testing.T) {
	published := map[int]string{
		0:  "310e0edd47db6f72",
		1:  "fd67dc93c539f874",
		2:  "5a4fa9d909806c0d",
		3:  "2d7efbd796666785",
		4:  "b7877127e09427cf",
		5:  "8da699cd64557618",
		6:  "cee3fe586e46c9cb",
		7:  "37d1018bf50002ab",
		8:  "6224939a79f5f593",
		9:  "b0e4a90bdf82009e",
		10: "f3b9dd94c5bb5d7a",
		11: "a7ad6b22462fb3f4",
		12: "fbe50e86bc8f1e75",
		13: "903d84c02756ea14",
		14: "eef27a8e90ca23f7",
		15: "e545be4961ca29a1",
		60: "e1915f5cb1eca46c",
		61: "f325965ca16d629f",
		62: "575ff28e60381be5",
		63: "724506eb4c328a95",
	}
	input := make([]byte, 64)
	for i := range input {
		input[i] = byte(i)
	}
	for n, want := range published {
		if got := hex.EncodeToString(binary.LittleEndian.AppendUint64(nil, cport.SipKey(input[:n], &sipKey))); got != want {
			t.Errorf("%d bytes: %s, want %s", n, got, want)
		}
	}
	if got := cport.SipKey(input[:15], &sipKey); got != 0xa129ca6149be45e5 {
		t.Errorf("the paper's: %#x", got)
	}
}

// The two strings that meet under every seed of XXH64 do not under SipHash.
func TestColliding(t *testing.T) {
	one := []byte("user:00000000042")
	two, err := hex.DecodeString("5580660a38e5a70f30303030df7bc148")
	if err != nil {
		t.Fatal(err)
	}
	for _, seed := range []uint64{0, 1, 0x9E3779B97F4A7C15} {
		if cport.KeyBytes(one, seed) != cport.KeyBytes(two, seed) {
			t.Errorf("seed %d: they are said to collide", seed)
		}
	}
	if cport.SipKey(one, &sipKey) == cport.SipKey(two, &sipKey) {
		t.Error("they collide under SipHash")
	}
}
