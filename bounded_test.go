package weir_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
)

// One-shot keys come one a microsecond and are idle 10 ms later, so 10,000 at most are live at once.
func TestOneShotKeysDoNotPileUp(t *testing.T) {
	const live, most = 10_000, 40_000
	eachPolicy(t, func(t *testing.T, name string) {
		keys := 300_000
		if name == "gcra" && !testing.Short() && !underRace {
			keys = 5_000_000
		}
		l, clock := made(t, name, limitOf(name, weir.Per(1, live*time.Microsecond)))
		held := 0
		buffer := make([]byte, 0, 32)
		for i := range keys {
			buffer = strconv.AppendInt(buffer[:0], int64(i), 10)
			if !l.Allow(ctx, string(buffer)).OK() {
				t.Fatalf("key %d is new and denied", i)
			}
			held = max(held, l.Keys())
			clock.add(time.Microsecond)
		}
		assert.Less(t, held, most)
		assert.GreaterOrEqual(t, held, live, "those that are live must be there")
	})
}

// letsIn asks with n new keys and lets each try again while a sweep goes on. A pass over a table of n keys looks at no more
// than 64 shards of 8 slots, or 4 slots a key if that is more, and SweepSlots of them a try.
func letsIn(t testing.TB, l weir.Limiter, n, round int) {
	t.Helper()
	tries := (64 + max(64*8, 4*n)) / weir.SweepSlots
	for i := range n {
		key, ok := strconv.Itoa(round)+":"+strconv.Itoa(i), false
		for range tries + 1 {
			if ok = l.Allow(ctx, key).OK(); ok {
				break
			}
		}
		require.True(t, ok, "round %d: key %d of %d is shut out", round, i, n)
	}
}

func TestBoundedLetsInWhereAllAreIdle(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		for _, n := range []int{1, 2, 7, 64, 1000} {
			l, clock := made(t, name, limitOf(name, weir.Per(1, 100*time.Millisecond)), weir.WithMaxKeys(uint64(n)))
			for round := range 6 {
				letsIn(t, l, n, round)
				require.Equal(t, n, l.Keys())
				require.Equal(t, weir.ErrFull, l.Allow(ctx, "one more").Err(), "all are live")
				clock.add(100*time.Millisecond - 1)
				for range 100 {
					require.Equal(t, weir.ErrFull, l.Allow(ctx, "one more").Err(), "1 ns before they are idle")
				}
				clock.add(1)
			}
		}
	})
}

// Of n rooms on a clock that stands still exactly n keys come in, and full is only said when all are taken.
func TestBoundedIsExactUnderEightGoroutines(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		const rooms, workers, each = 1000, 8, 300
		l, _ := made(t, name, limitOf(name, weir.Per(2, time.Hour)), weir.WithMaxKeys(rooms))
		var in, early, over atomic.Int64
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for i := range each {
					switch r := l.Allow(ctx, strconv.Itoa(w*each+i)); {
					case r.OK():
						in.Add(1)
					case r.Err() != weir.ErrFull || l.Keys() != rooms:
						early.Add(1)
					}
					if l.Keys() > rooms {
						over.Add(1)
					}
				}
			})
		}
		wg.Wait()
		assert.Equal(t, int64(rooms), in.Load())
		assert.Zero(t, early.Load(), "full while a room was left")
		assert.Zero(t, over.Load(), "more keys than rooms")
	})
}

// Keys come, go idle and are forgotten, under eight goroutines and a clock that runs: never more than the rooms, and at
// the end all of them can be had.
func TestBoundedNeverHoldsMore(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		const rooms = 100
		l, clock := made(t, name, limitOf(name, tenIn100ms), weir.WithMaxKeys(rooms))
		var over atomic.Int64
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for i := range 3000 {
					key := strconv.Itoa((i * (w + 1)) % 500)
					switch i % 7 {
					case 5:
						_ = l.Forget(ctx, key)
					case 6:
						_ = l.Refund(ctx, key, weir.N(1))
					default:
						l.Allow(ctx, key)
					}
					if l.Keys() > rooms || l.Keys() < 0 {
						over.Add(1)
					}
					clock.add(50 * time.Microsecond)
				}
			})
		}
		wg.Wait()
		assert.Zero(t, over.Load())
		clock.add(time.Second)
		letsIn(t, l, rooms, -1)
		assert.Equal(t, rooms, l.Keys())
	})
}

func TestConcurrentOneKeyIsExact(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, clock := made(t, name, limitOf(name, weir.Per(1000, time.Second)))
		for range 3 { // the second and third time after a second's rest
			assert.Equal(t, []int64{1000}, hammer(l, 1, 8, 250))
			clock.add(time.Second)
		}
	})
}

func TestConcurrentManyKeysAreExact(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		const keys, limit = 200, 11
		l, _ := made(t, name, limitOf(name, weir.Per(limit, time.Second)))
		for key, n := range hammer(l, keys, 8, keys*3) {
			require.Equal(t, int64(limit), n, "key %d", key)
		}
		assert.Equal(t, keys, l.Keys())
	})
}

// hammer lets workers ask for keys in turn, each a number of times, and counts what each key was admitted.
func hammer(l weir.Limiter, keys, workers, each int) []int64 {
	admitted := make([]atomic.Int64, keys)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				key := (i + w*7) % keys
				if l.Allow(ctx, strconv.Itoa(key)).OK() {
					admitted[key].Add(1)
				}
			}
		})
	}
	wg.Wait()
	counts := make([]int64, keys)
	for i := range counts {
		counts[i] = admitted[i].Load()
	}
	return counts
}

// A request of a known key costs no allocation, whatever the answer and however the key is made.
func TestKnownKeysCostNoAllocation(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		for how, option := range map[string]weir.Option{
			"default hash": weir.WithMaxKeys(10), "XXH64": weir.WithXXH64(0), "XXH64 with a seed": weir.WithXXH64(7),
		} {
			l, clock := made(t, name, limitOf(name, weir.Per(1000, time.Second)), option)
			for range 1000 { // a log has its ring, then
				l.Allow(ctx, "a")
				clock.add(time.Millisecond)
			}
			for what, ask := range map[string]func(){
				"Allow":  func() { clock.add(time.Millisecond); l.Allow(ctx, "a") },
				"AllowN": func() { clock.add(3 * time.Millisecond); l.AllowN(ctx, "a", weir.Both(2, 3)) },
				"denied": func() { l.AllowN(ctx, "a", weir.N(1000)) },
				"Peek":   func() { l.Peek(ctx, "a", weir.N(1)) },
			} {
				assert.Zero(t, testing.AllocsPerRun(200, ask), "%s, %s", what, how)
			}
		}
	})
}
