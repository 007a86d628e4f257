package keyed_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/leakybucket"
	"weir/policy"
)

// slow is 2 permits per 1e9 ticks: within these tests a key that spent stays busy.
var slow = policy.Limit{Permits: 2, Period: 1e9, Burst: 2}

const goroutines = 8

// together runs work in all goroutines at once and waits for them.
func together(work func(worker uint64)) {
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i := range uint64(goroutines) {
		wg.Go(func() {
			<-begin
			work(i)
		})
	}
	close(begin)
	wg.Wait()
}

// TestCapacityExactlyFull: as many keys as there are rooms, wanted by eight goroutines at once in eight different orders,
// all get in and none ever sees full; the next key does.
func TestCapacityExactlyFull(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		const room = 1000
		for round := range 10 {
			p := made(t, slow, policy.Options{MaxKeys: room})
			var full, allowed atomic.Int64
			together(func(worker uint64) {
				for i := range uint64(room) {
					switch p.Take(0, (i*(2*worker+1)+worker*125)%room, 1).Outcome() {
					case policy.Full:
						full.Add(1)
					case policy.Allow:
						allowed.Add(1)
					}
					if n := p.Keys(); n > room {
						t.Errorf("%d keys, room for %d", n, room)
					}
				}
			})
			assert.Zero(t, full.Load(), "round %d: full while a room was left", round)
			assert.Equal(t, room, p.Keys())
			assert.Equal(t, policy.Full, p.Take(0, room, 1).Outcome())
			assert.Equal(t, policy.Full, p.Peek(0, room, 1).Outcome())
		}
	})
}

// TestCapacityNeverMore: four times as many keys as rooms: exactly as many as there are rooms get in, and the count
// never passes it.
func TestCapacityNeverMore(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		for _, room := range []int{1, 2, 63, 64, 65, 1000} {
			p := made(t, slow, policy.Options{MaxKeys: uint64(room)})
			var in [4 * 1000]atomic.Bool
			together(func(worker uint64) {
				for i := range uint64(4 * room) {
					key := (i + worker*uint64(room)/2) % uint64(4*room)
					if p.Take(0, key, 1).OK() {
						in[key].Store(true)
					}
					if n := p.Keys(); n > room {
						t.Errorf("%d keys, room for %d", n, room)
					}
				}
			})
			n := 0
			for i := range in {
				if in[i].Load() {
					n++
					assert.NotEqual(t, policy.Full, p.Peek(0, uint64(i), 1).Outcome(), "a known key is served when full")
				}
			}
			assert.Equal(t, room, n)
			assert.Equal(t, room, p.Keys())
		}
	})
}

// TestCapacityChurn: goroutines that hold all rooms together, each forgetting a key of its own before it brings in another,
// are never told full.
func TestCapacityChurn(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		const own = 16
		p := made(t, slow, policy.Options{MaxKeys: own * goroutines})
		together(func(worker uint64) {
			first := worker << 32
			for i := range uint64(3000) {
				if i >= own {
					p.Forget(first + i - own)
				}
				if o := p.Take(0, first+i, 1).Outcome(); o != policy.Allow {
					t.Errorf("%v with a room left", o)
					return
				}
				if n := p.Keys(); n > own*goroutines {
					t.Errorf("%d keys", n)
				}
			}
		})
		assert.Equal(t, own*goroutines, p.Keys())
	})
}

// TestCapacityNoTrace: what is refused, peeked, given back or costs nothing takes no room.
func TestCapacityNoTrace(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		for _, row := range []struct {
			why string
			do  func(p policy.Policy)
		}{
			{"a peek", func(p policy.Policy) { p.Peek(0, 7, 1) }},
			{"a cost of 0", func(p policy.Policy) { p.Take(0, 7, 0) }},
			{"too costly", func(p policy.Policy) { p.Take(0, 7, 3) }},
			{"past the horizon", func(p policy.Policy) { p.Take(1<<62, 7, 1) }},
			{"a refund of what was never spent", func(p policy.Policy) { p.Refund(0, 7, 1) }},
			{"forgetting", func(p policy.Policy) { p.Forget(7) }},
			{"a sweep", func(p policy.Policy) { p.Sweep(0, 0) }},
			{"taken and forgotten", func(p policy.Policy) { p.Take(0, 7, 1); p.Forget(7) }},
			{"taken and swept", func(p policy.Policy) { p.Take(0, 7, 1); p.Sweep(1e9, 0) }},
			{"forgotten twice", func(p policy.Policy) { p.Take(0, 7, 1); p.Forget(7); p.Forget(7) }},
		} {
			p := made(t, slow, policy.Options{MaxKeys: 1})
			row.do(p)
			assert.Zero(t, p.Keys(), row.why)
			assert.Equal(t, policy.Allow, p.Take(0, 8, 1).Outcome(), "%s: the room is there", row.why)
			row.do(p) // and when it is full
			assert.LessOrEqual(t, p.Keys(), 1, row.why)
		}
	})
}

// TestCapacityKnownKeys: a full table serves the keys that it knows, and a room stays taken until a sweep finds the key
// idle.
func TestCapacityKnownKeys(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		p := made(t, slow, policy.Options{MaxKeys: 1})
		for _, row := range []struct {
			why  string
			do   func() policy.Outcome
			want policy.Outcome
		}{
			{"the room is taken", func() policy.Outcome { return p.Take(0, 7, 1).Outcome() }, policy.Allow},
			{"by a key that is served on", func() policy.Outcome { return p.Take(0, 7, 1).Outcome() }, policy.Allow},
			{"and denied", func() policy.Outcome { return p.Take(0, 7, 1).Outcome() }, policy.Deny},
			{"nobody else gets in", func() policy.Outcome { return p.Take(0, 8, 1).Outcome() }, policy.Full},
			{"but for nothing", func() policy.Outcome { return p.Take(0, 8, 0).Outcome() }, policy.Allow},
			{"too costly is said before full", func() policy.Outcome { return p.Take(0, 8, 3).Outcome() }, policy.TooCostly},
			{"idle keys keep their room", func() policy.Outcome { return p.Take(1e10, 8, 1).Outcome() }, policy.Full},
			{"refunded to as new too", func() policy.Outcome { p.Refund(0, 7, 9); return p.Take(0, 8, 1).Outcome() }, policy.Full},
			{"until a sweep", func() policy.Outcome { p.Sweep(0, 0); return p.Take(0, 8, 1).Outcome() }, policy.Allow},
			{"and then the other is new", func() policy.Outcome { return p.Take(0, 7, 1).Outcome() }, policy.Full},
			{"2^64-1 is a key like any other", func() policy.Outcome {
				p.Forget(8)
				return p.Take(0, policy.Never, 1).Outcome()
			}, policy.Allow},
			{"and not 0", func() policy.Outcome { return p.Take(0, 0, 1).Outcome() }, policy.Full},
		} {
			require.Equal(t, row.want, row.do(), row.why)
		}
	})
}

// TestNoRoomAtAll: a bounded table for no keys is refused, and says what is wrong; bounds of any size are not allocated.
func TestNoRoomAtAll(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		_, err := leakybucket.New(slow, policy.Options{Bounded: true})
		require.ErrorIs(t, err, policy.ErrInvalidMaxKeys)
		require.EqualError(t, err, "invalid_max_keys: max_keys is 0, must be at least 1")
		p := made(t, slow, policy.Options{MaxKeys: policy.Never})
		require.True(t, p.Take(0, 7, 1).OK())
	})
}
