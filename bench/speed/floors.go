package speed

import (
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"weir/policy"
)

// line is a word alone on a cache line.
type line struct {
	word atomic.Uint64
	_    [56]byte
}

// sink takes what a loop found, so that no compiler may leave the loop out.
var sink atomic.Uint64

// loadSwap is the least that can spend a permit safely: one atomic load and one compare-and-swap.
//
//go:noinline
func loadSwap(w *line) loop {
	return func(n int) (done int) {
		for range n {
			old := w.word.Load()
			if w.word.CompareAndSwap(old, old+1) {
				done++
			}
		}
		return done
	}
}

// load is the least that can refuse one.
//
//go:noinline
func load(w *line) loop {
	return func(n int) (done int) {
		sum := uint64(0)
		for range n {
			sum += w.word.Load()
		}
		sink.Add(sum)
		return 0
	}
}

// lockUnlock is an uncontended mutex around an addition.
//
//go:noinline
func lockUnlock() loop {
	var m sync.Mutex
	var total int
	return func(n int) int {
		before := total
		for range n {
			m.Lock()
			total++
			m.Unlock()
		}
		return total - before
	}
}

// timeNow and timeSince are what a reading of the clock costs.
//
//go:noinline
func timeNow() loop {
	return func(n int) (done int) {
		for range n {
			if !time.Now().IsZero() {
				done++
			}
		}
		return done
	}
}

//go:noinline
func timeSince(base time.Time) loop {
	return func(n int) (done int) {
		for range n {
			if time.Since(base) > 0 {
				done++
			}
		}
		return done
	}
}

// hash is the hash that a limiter makes keys of strings with.
//
//go:noinline
func hash(key string) loop {
	return func(n int) int {
		sum := uint64(0)
		for range n {
			sum += policy.SecretKey(key)
		}
		sink.Add(sum)
		return n
	}
}

// sinceHash is a reading of the clock and a hash: the least that a limiter with a clock and string keys does.
//
//go:noinline
func sinceHash(base time.Time, key string) loop {
	return func(n int) int {
		sum := uint64(0)
		for range n {
			sum += uint64(time.Since(base)) + policy.SecretKey(key)
		}
		sink.Add(sum)
		return n
	}
}

// lines are enough of them for so many keys at 32 bytes a key, a power of two: 32 MiB for a million.
func lines(keys int) []line { return make([]line, linesFor(keys)) }

func linesFor(keys int) int {
	n := 1
	for n*64 < keys*32 {
		n *= 2
	}
	return n
}

// randomSwap is loadSwap on the line that the next key names. The processor may overlap the misses of several.
//
//go:noinline
func randomSwap(table []line, keys []uint64) loop {
	at := 0
	return func(n int) (done int) {
		for i := at; i < at+n; i++ {
			w := &table[keys[i&(len(keys)-1)]&uint64(len(table)-1)].word
			old := w.Load()
			if w.CompareAndSwap(old, old+1) {
				done++
			}
		}
		at += n
		return done
	}
}

// fencedSwap is randomSwap with a fence after each, so that no two misses overlap.
//
//go:noinline
func fencedSwap(table []line, keys []uint64) loop {
	at := 0
	return func(n int) (done int) {
		for i := at; i < at+n; i++ {
			w := &table[keys[i&(len(keys)-1)]&uint64(len(table)-1)].word
			old := w.Load()
			if w.CompareAndSwap(old, old+1) {
				done++
			}
			fence()
		}
		at += n
		return done
	}
}

// least is the least that a keyed limiter behind a call can be: it mixes the key with a secret, goes to the one line that it may
// be in, compares a word of it, judges another and puts in the next. It can hold no table: nothing says whose line it is.
type least struct {
	table          []pairLine
	secret, spread uint64
	price, spare   uint64
}

// pairLine is two words on a cache line.
type pairLine struct {
	tat, other atomic.Uint64
	_          [48]byte
}

func newLeast(keys int) *least {
	return &least{make([]pairLine, linesFor(keys)), rand.Uint64(), rand.Uint64() | 1, 1, 1 << 62}
}

// take answers in four words, as a Decision is.
//
//go:noinline
func (l *least) take(now, key, cost uint64) (debt, excess, price, allowed uint64) {
	hi, lo := bits.Mul64(key^l.secret, l.spread)
	hi, _ = bits.Mul64(hi^lo, uint64(len(l.table)))
	slot := &l.table[hi]
	tat := slot.tat.Load()
	price = cost * l.price
	debt = max(tat, now) - now
	if slot.other.Load() != 0 || debt > l.spare-price {
		return debt, debt + price - l.spare, price, 0
	}
	if !slot.tat.CompareAndSwap(tat, now+debt+price) {
		return debt, 0, price, 0
	}
	return debt, 0, price, 1
}

// leastTakes goes round keys, now moving steadyStep ticks a decision.
//
//go:noinline
func leastTakes(l *least, keys []uint64) loop {
	at := 0
	return func(n int) (done int) {
		for i := at; i < at+n; i++ {
			_, _, _, allowed := l.take(uint64(i)*steadyStep, keys[i&(len(keys)-1)], 1)
			done += int(allowed)
		}
		at += n
		return done
	}
}

// leastAllows makes keys of strings, and reads the clock for each.
func leastAllows(l *least, base time.Time) func(key string) bool {
	return func(key string) bool {
		_, _, _, allowed := l.take(uint64(time.Since(base)), policy.SecretKey(key), 1)
		return allowed == 1
	}
}
