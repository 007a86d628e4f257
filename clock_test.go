package weir_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
)

// counting counts how often it is read.
type counting struct {
	fakeClock
	reads atomic.Int64
}

func (c *counting) Now() time.Duration {
	c.reads.Add(1)
	return c.fakeClock.Now()
}

func (c *counting) Sleep(ctx context.Context, d time.Duration) error {
	return c.fakeClock.Sleep(ctx, d)
}

// TestClockIsReadOnce a call, or not at all where the moment is given or none is needed; whatever becomes of the request.
func TestClockIsReadOnce(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		clock := new(counting)
		l, _ := made(t, name, limitOf(name, tenIn100ms), weir.WithClock(clock), weir.WithMaxKeys(2))
		assert.Equal(t, int64(1), clock.reads.Load(), "New")
		keys, costs, out := []string{"a", "a", "b"}, []weir.Cost{weir.N(1), weir.N(2), weir.N(3)}, make([]weir.Result, 3)
		both, err := weir.All(l)
		require.NoError(t, err)
		for _, row := range []struct {
			why   string
			do    func()
			reads int64
		}{
			{"allow, new", func() { l.Allow(ctx, "a") }, 1},
			{"allow, known", func() { l.Allow(ctx, "a") }, 1},
			{"allow n", func() { l.AllowN(ctx, "a", weir.N(2)) }, 1},
			{"denied", func() { l.AllowN(ctx, "a", weir.N(9)) }, 1},
			{"too costly", func() { l.AllowN(ctx, "a", weir.N(11)) }, 1},
			{"nothing", func() { l.AllowN(ctx, "a", weir.N(0)) }, 1},
			{"peek", func() { l.Peek(ctx, "a", weir.N(1)) }, 1},
			{"refund", func() { _ = l.Refund(ctx, "a", weir.N(1)) }, 1},
			{"the second key", func() { l.Allow(ctx, "b") }, 1},
			{"full, after a sweep", func() { l.Allow(ctx, "c") }, 1},
			{"peek, full", func() { l.Peek(ctx, "c", weir.N(1)) }, 1},
			{"room after a sweep", func() { clock.add(time.Hour); l.Allow(ctx, "c") }, 1},
			{"wait for what is there", func() { _ = l.Wait(ctx, "a", weir.N(1)) }, 1},
			{"now", func() { l.Now() }, 1},
			{"allow at", func() { l.AllowAt(5, "a", weir.N(1)) }, 0},
			{"a batch", func() { l.AllowBatch(5, keys, costs, out) }, 0},
			{"all", func() { both.Allow(ctx, "a") }, 1},
			{"all, peek", func() { both.Peek(ctx, "a", weir.N(1)) }, 1},
			{"forget", func() { _ = l.Forget(ctx, "a") }, 0},
			{"another limit", func() { _ = l.SetLimit(ctx, limitOf(name, weir.Per(20, time.Second))) }, 1},
			{"in other ticks", func() { _ = l.SetLimit(ctx, limitOf(name, weir.Per(997, time.Second))) }, 1},
			{"limit, keys, name", func() { l.Limit(); l.Keys(); l.Name() }, 0},
			{"past the horizon", func() { clock.set(1 << 62); l.Allow(ctx, "a") }, 1},
		} {
			before := clock.reads.Load()
			row.do()
			assert.Equal(t, row.reads, clock.reads.Load()-before, row.why)
		}
	})
}

// A lease reads it once a request too, whether it takes permits or has some.
func TestLeaseReadsTheClockOnce(t *testing.T) {
	clock := new(counting)
	l, _ := made(t, "gcra", tenIn100ms, weir.WithClock(clock))
	lease, err := l.Lease("a", 4)
	require.NoError(t, err)
	for n := int64(2); n < 20; n++ {
		lease.Allow()
		require.Equal(t, n, clock.reads.Load())
	}
	lease.AllowAt(0)
	require.Equal(t, int64(19), clock.reads.Load())
	require.NoError(t, l.Forget(ctx, "a"))
	require.True(t, lease.Allow())
	lease.Close()
	require.Equal(t, int64(21), clock.reads.Load())
}
