package gcra_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/gcra"
	"weir/policy"
)

// TestBatchIsTakes: a batch decides as one take after the other, keys that are there twice and keys that are new included,
// whatever its length; the shortest slice says how many.
func TestBatchIsTakes(t *testing.T) {
	limit := policy.Limit{Permits: 3, Period: 100, Burst: 7}
	for _, room := range []uint64{0, 60} {
		one, err := gcra.New(limit, policy.Options{MaxKeys: room})
		require.NoError(t, err)
		all, err := gcra.New(limit, policy.Options{MaxKeys: room})
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(1, room))
		outcomes := map[policy.Outcome]int{}
		for now := uint64(0); now < 20_000; now += r.Uint64N(200) {
			n := r.IntN(100)
			keys, costs, out := make([]uint64, n), make([]uint64, n+r.IntN(3)), make([]policy.Decision, n+r.IntN(3))
			for i := range keys {
				keys[i] = r.Uint64N(80)
			}
			for i := range costs {
				costs[i] = r.Uint64N(9)
			}
			require.Equal(t, n, all.(policy.Batcher).TakeBatch(now, keys, costs, out))
			for i, key := range keys {
				want := one.Take(now, key, costs[i])
				require.Equal(t, want.Answer(), out[i].Answer())
				outcomes[want.Outcome()]++
			}
			if room > 0 { // without bound, which idle keys have given way depends on where the keys stand
				require.Equal(t, one.Keys(), all.Keys())
			}
		}
		assert.NotZero(t, outcomes[policy.Allow])
		assert.NotZero(t, outcomes[policy.Deny])
		assert.NotZero(t, outcomes[policy.TooCostly])
		assert.Equal(t, room > 0, outcomes[policy.Full] > 0)
	}
	p, err := gcra.New(limit, policy.Options{})
	require.NoError(t, err)
	b := p.(policy.Batcher)
	assert.Zero(t, b.TakeBatch(0, nil, nil, nil))
	assert.Equal(t, 1, b.TakeBatch(0, []uint64{1, 2}, []uint64{1}, make([]policy.Decision, 5)))
	assert.Equal(t, 2, b.TakeBatch(0, []uint64{1, 2, 3}, []uint64{1, 1, 1}, make([]policy.Decision, 2)))
	assert.Equal(t, 2, p.Keys())
}

// TestNoAllocation: no request of a known key allocates, denied or allowed, alone or in a batch.
func TestNoAllocation(t *testing.T) {
	p, err := gcra.New(policy.Limit{Permits: 1, Period: 1, Burst: 5}, policy.Options{})
	require.NoError(t, err)
	direct, err := gcra.NewDirect(policy.Limit{Permits: 1, Period: 1, Burst: 5})
	require.NoError(t, err)
	keys, costs, out := make([]uint64, 64), make([]uint64, 64), make([]policy.Decision, 64)
	for i := range keys {
		keys[i], costs[i] = uint64(i), uint64(i%7)
	}
	now := uint64(0)
	for _, key := range keys {
		p.Take(now, key, 1)
	}
	for why, do := range map[string]func(){
		"take allowed": func() { now += 5; p.Take(now, 1, 1) },
		"take denied":  func() { p.Take(now, 1, 5) },
		"too costly":   func() { p.Take(now, 1, 6) },
		"peek":         func() { p.Peek(now, 1, 1) },
		"peek unknown": func() { p.Peek(now, 1000, 1) },
		"batch":        func() { now += 3; p.(policy.Batcher).TakeBatch(now, keys, costs, out) },
		"direct":       func() { direct.Take(now, 1); direct.Peek(now, 1) },
	} {
		assert.Zero(t, testing.AllocsPerRun(1000, do), why)
	}
}

// TestFetch: having a key brought from memory decides nothing and makes no room for it; also in a table that grows, and in one
// whose keys have moved on.
func TestFetch(t *testing.T) {
	l := policy.Limit{Permits: 1, Period: 1, Burst: 5}
	p, err := gcra.New(l, policy.Options{})
	require.NoError(t, err)
	fetcher, ok := p.(policy.Fetcher)
	require.True(t, ok)
	for key := range uint64(10_000) {
		fetcher.Fetch(key)
		require.EqualValues(t, key, p.Keys())
		require.Equal(t, allow(2, 3), p.Take(0, key, 3).Answer())
		fetcher.Fetch(key)
		require.Equal(t, allow(2, 3), p.Peek(0, key, 0).Answer())
	}
	next, err := p.(policy.Mover).Move(0, 0, l)
	require.NoError(t, err)
	fetcher.Fetch(1)
	assert.Zero(t, p.Keys())
	assert.Zero(t, testing.AllocsPerRun(100, func() { next.(policy.Fetcher).Fetch(1) }))
	assert.Equal(t, allow(2, 3), next.Peek(0, 1, 0).Answer())
}
