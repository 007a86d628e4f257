package agree_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/gcra"
	"weir/policy"
)

const goroutines = 8

// together runs work in all goroutines at once and waits for them.
func together(work func(worker int)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range goroutines {
		wg.Go(func() {
			<-begin
			work(i)
		})
	}
	close(begin)
	wg.Wait()
}

// ample is a policy that admits n permits at once, by its first limit where it has two.
func ample(t *testing.T, s subject, n uint64) policy.Policy {
	t.Helper()
	l := policy.Limit{Permits: n, Period: 1e9, Burst: n}
	if s.name == "dualbucket" {
		l.Permits2, l.Period2, l.Burst2 = n, 1e9, n+1
	}
	p, err := s.make(l, policy.Options{})
	require.NoError(t, err)
	return p
}

// TestConcurrentOneKey: eight goroutines that ask for more than the limit at one now get exactly the limit, all together.
func TestConcurrentOneKey(t *testing.T) {
	const limit, asks = 10_000, 4000
	for _, s := range five {
		p := ample(t, s, limit)
		var allowed atomic.Int64
		together(func(int) {
			for range asks {
				if p.Take(1e6, 7, 1).OK() {
					allowed.Add(1)
				}
			}
		})
		assert.Equal(t, int64(limit), allowed.Load(), s.name)
		assert.Equal(t, 1, p.Keys(), s.name)
	}
}

// TestConcurrentDirect is the same for the one word of gcra.Direct, with refunds of what was got: the limit and what came
// back, exactly.
func TestConcurrentDirect(t *testing.T) {
	const limit, asks = 10_000, 4000
	d, err := gcra.NewDirect(policy.Limit{Permits: limit, Period: 1e9, Burst: limit})
	require.NoError(t, err)
	var allowed, refunded atomic.Int64
	together(func(int) {
		for i := range asks {
			if !d.Take(1e6, 1).OK() {
				continue
			}
			allowed.Add(1)
			if i%5 == 0 {
				d.Refund(1e6, 1)
				refunded.Add(1)
			}
		}
	})
	for d.Take(1e6, 1).OK() { // what was refunded last
		allowed.Add(1)
	}
	assert.Positive(t, refunded.Load())
	assert.Equal(t, limit+refunded.Load(), allowed.Load())
}

// TestConcurrentManyKeys: each of fifty keys gets exactly the limit, however eight goroutines share them, while others
// peek, count keys and sweep.
func TestConcurrentManyKeys(t *testing.T) {
	const limit, keys = 300, 50
	for _, s := range five {
		p := ample(t, s, limit)
		var allowed [keys]atomic.Int64
		together(func(worker int) {
			for i := range 100 * keys {
				key := uint64((i + 7*worker) % keys)
				if p.Take(1e6, key, 1).OK() {
					allowed[key].Add(1)
				}
				if i%16 == 0 {
					p.Peek(1e6, key, 1)
					p.Keys()
					p.Sweep(1e6, 10)
				}
			}
		})
		for key := range allowed {
			assert.Equal(t, int64(limit), allowed[key].Load(), "%s: key %d", s.name, key)
		}
		assert.Equal(t, keys, p.Keys(), s.name)
	}
}

// TestConcurrentMovingClock: goroutines whose clocks go forward together admit at most burst + rate * elapsed, exactly so
// where enough ask.
func TestConcurrentMovingClock(t *testing.T) {
	const permits, period, burst, ticks = 3, 10, 20, 10_000
	for _, s := range meters {
		p, err := s.make(policy.Limit{Permits: permits, Period: period, Burst: burst}, policy.Options{})
		require.NoError(t, err)
		var clock atomic.Uint64
		var allowed atomic.Int64
		together(func(int) {
			for {
				now := clock.Add(1) / goroutines
				if now > ticks {
					return
				}
				if p.Take(now, 7, 1).OK() {
					allowed.Add(1)
				}
			}
		})
		most := int64(burst + permits*ticks/period)
		for p.Take(ticks, 7, 1).OK() {
			allowed.Add(1)
		}
		assert.Equal(t, most, allowed.Load(), s.name)
	}
}

// TestConcurrentUndo: what is undone is there for others, and nothing is admitted twice: in the end exactly the limit
// minus the charges that stayed is left.
func TestConcurrentUndo(t *testing.T) {
	const limit = 5000
	for _, s := range five {
		p := ample(t, s, limit)
		var charged atomic.Int64
		together(func(worker int) {
			for i := range 1000 {
				d, undo := p.(policy.Undoer).TakeUndo(1e6, 7, 1, 1)
				if !d.OK() {
					continue
				}
				if i%2 == 0 || !undo() {
					charged.Add(1)
				}
			}
		})
		left := p.Peek(1e6, 7, 1).Remaining()
		assert.Equal(t, limit, int(charged.Load())+int(left), s.name)
	}
}

// TestConcurrentEverything: all calls at once, for the race detector; in the end the policy still keeps its promises.
func TestConcurrentEverything(t *testing.T) {
	for _, s := range five {
		l := small(t, s).Limit()
		p, err := s.make(l, policy.Options{MaxKeys: 40})
		require.NoError(t, err)
		together(func(worker int) {
			for i := range uint64(6000) {
				key, now := i*7%60, 10*i
				switch (int(i) + worker) % 12 {
				case 0:
					p.Refund(now, key, 1)
				case 1:
					p.Forget(key)
				case 2:
					p.Sweep(now, 20)
				case 3:
					_ = p.Relimit(now, l)
				case 4:
					if _, undo := p.(policy.Undoer).TakeUndo(now, key, 1, 1); undo != nil {
						undo()
					}
				case 5:
					p.Peek(now, key, 1)
					p.Limit()
					p.Horizon()
				default:
					p.Take(now, key, 1)
				}
				if n := p.Keys(); n > 40 {
					t.Errorf("%s: %d keys in a table for 40", s.name, n)
				}
			}
		})
		p.Sweep(p.Horizon(), 0)
		assert.Zero(t, p.Keys(), s.name)
		assert.True(t, p.Take(p.Horizon(), 7, 10).OK(), s.name)
		assert.False(t, p.Take(p.Horizon(), 7, 1).OK(), s.name)
	}
}
