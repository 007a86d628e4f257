package weir_test

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
)

// TestNoAllocations: a known key costs none, whatever is asked, whatever the answer, on each clock, with the key a string or
// bytes, however long.
func TestNoAllocations(t *testing.T) {
	coarse, err := weir.NewCoarse(time.Millisecond)
	require.NoError(t, err)
	defer coarse.Close()
	registry, _ := inBatches(t)
	options := map[string][]weir.Option{
		"own clock":    nil,
		"coarse clock": {weir.WithClock(coarse)},
		"xxh64":        {weir.WithXXH64(7)},
		"batcher":      {weir.WithRegistry(registry)},
	}
	for why, o := range options {
		eachPolicy(t, func(t *testing.T, name string) {
			l, err := weir.New(name, limitOf(name, weir.Per(3, time.Hour)), o...)
			require.NoError(t, err)
			for _, length := range []int{16, 100} {
				noAllocations(t, why, l, make([]byte, length))
			}
		})
	}
}

func noAllocations(t *testing.T, why string, l *weir.Local, raw []byte) {
	t.Helper()
	key := string(raw)
	keys, costs, out := make([]string, 40), make([]weir.Cost, 40), make([]weir.Result, 40)
	for i := range keys {
		keys[i], costs[i] = key, weir.N(1)
	}
	var limiter weir.Limiter = l
	var r weir.Result
	for range 3 { // it is known, and its log has its size
		l.Allow(ctx, key)
		limiter.Refund(ctx, key, weir.N(1))
	}
	for _, row := range []struct {
		what string
		do   func()
	}{
		{"allow", func() { r = l.Allow(ctx, key) }},
		{"allow, through the interface", func() { r = limiter.Allow(ctx, key) }},
		{"allow n", func() { r = l.AllowN(ctx, key, weir.N(2)) }},
		{"allow n, nothing", func() { r = l.AllowN(ctx, key, weir.N(0)) }},
		{"too costly", func() { r = l.AllowN(ctx, key, weir.N(4)) }},
		{"peek", func() { r = l.Peek(ctx, key, weir.N(1)) }},
		{"allow at", func() { r = l.AllowAt(l.Now(), key, weir.N(1)) }},
		{"bytes", func() { r = l.Allow(ctx, unsafe.String(unsafe.SliceData(raw), len(raw))) }},
		{"bytes, through the interface", func() { r = limiter.Allow(ctx, unsafe.String(unsafe.SliceData(raw), len(raw))) }},
		{"a batch", func() { l.AllowBatch(l.Now(), keys, costs, out) }},
		{"refund and allow", func() { _ = l.Refund(ctx, key, weir.N(1)); r = l.Allow(ctx, key) }},
	} {
		assert.Zero(t, testing.AllocsPerRun(100, row.do), "%s, %s, %d bytes: %v", why, row.what, len(raw), r)
	}
}

// A lease makes none, whether it has permits, takes some, is denied or gives them back.
func TestLeaseDoesNotAllocate(t *testing.T) {
	clock := &stepping{}
	l, err := weir.New("gcra", weir.Per(1000, time.Second), weir.WithClock(clock))
	require.NoError(t, err)
	lease, err := l.Lease("a", 8)
	require.NoError(t, err)
	allowed, asked := 0, 0
	assert.Zero(t, testing.AllocsPerRun(3000, func() {
		clock.add(700 * time.Microsecond)
		for range 2 {
			if asked++; lease.Allow() {
				allowed++
			}
		}
	}))
	assert.Greater(t, allowed, asked/4)
	assert.Less(t, allowed, asked, "some were denied")
	assert.Zero(t, testing.AllocsPerRun(100, func() { clock.add(time.Second); lease.Allow(); lease.Close() }))
}
