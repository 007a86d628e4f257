package keyed_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/internal/keyed"
	"weir/policy"
)

// TestChosenKeysDoNotCrowd: keys that a stranger has chosen to stand together, in one of 1024 parts, under the mix without its
// secret, are spread by the secret like any others: the longest search is that for random keys, give or take.
func TestChosenKeysDoNotCrowd(t *testing.T) {
	n := scaled(1_000_000, 50_000)
	search := func(next func() uint64) uint64 {
		p := madeWords(t, tickLimit, policy.Options{}).(interface {
			wordTable
			LongestSearch() uint64
		})
		for p.Keys() < n {
			p.Take(0, next(), 1)
		}
		return p.LongestSearch()
	}
	key := uint64(0)
	chosen := search(func() uint64 {
		for key++; keyed.Unseeded(key)>>54 != 7; key++ {
		}
		return key
	})
	random := search(rand.Uint64)
	t.Logf("the longest search: %d slots for chosen keys, %d for random ones", chosen, random)
	assert.Less(t, chosen, 8*random)
	assert.Less(t, chosen, uint64(4096))
}

// TestFloodOfNewKeys: a full table refuses a million new keys without allocating anything or moving any key, and every
// known key is where it was.
func TestFloodOfNewKeys(t *testing.T) {
	const room = 10_000
	p := madeWords(t, tickLimit, policy.Options{MaxKeys: room, Seed: seed})
	for key := range uint64(room) {
		require.True(t, p.Take(0, key, 1000).OK())
	}
	handles := make([]keyed.Handle, room)
	for key := range handles {
		handles[key], _ = p.Handle(uint64(key))
	}
	flood := uint64(room)
	allocs := testing.AllocsPerRun(scaled(500_000, 20_000), func() {
		flood++
		if p.Take(0, flood, 1).Outcome() != policy.Full {
			t.Error("a new key got in")
		}
	})
	assert.Zero(t, allocs)
	assert.Equal(t, room, p.Keys())
	for key, was := range handles {
		now, known := p.Handle(uint64(key))
		require.True(t, known && now == was)
	}
}
