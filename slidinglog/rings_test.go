package slidinglog_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/slidinglog"
)

// plain is a key's log as the definition has it: the tick of every permit that was spent, oldest first.
type plain []uint64

// used is what counts at the log's own now, and that now.
func (p plain) used(now, period uint64) (used int, at uint64) {
	at = now
	if len(p) > 0 {
		at = max(now, p[len(p)-1])
	}
	for _, tick := range p {
		if tick+period > at {
			used++
		}
	}
	return used, at
}

// take is the log after a request, and its outcome, remaining and retry_after.
func (p plain) take(now, period uint64, permits, cost int) (after plain, o policy.Outcome, left int, retry uint64) {
	used, at := p.used(now, period)
	if short := used + cost - permits; short > 0 && cost > 0 {
		return p, policy.Deny, permits - used, p[len(p)-used+short-1] + period - now
	}
	after = append(after, p[len(p)-used:]...) // what has expired is dropped, and a later refund does not bring it back
	for range cost {
		after = append(after, at)
	}
	return after, policy.Allow, permits - used - cost, 0
}

func (p plain) refund(now, period uint64, cost int) plain {
	used, _ := p.used(now, period)
	return p[:len(p)-min(used, cost)]
}

// TestManyLogs: six hundred keys that share the memory for rings, growing, shrinking, forgotten, swept, refunded and
// undone in drawn order, each beside the list of what it spent. So rings move under their owners all the time.
func TestManyLogs(t *testing.T) {
	const period = 1000
	for round, permits := range []int{40, 16, 7} {
		r := rand.New(rand.NewPCG(11, uint64(round)))
		p, err := slidinglog.New(policy.Limit{Permits: uint64(permits), Period: period}, policy.Options{Seed: 1 + uint64(round)})
		require.NoError(t, err)
		logs, now := map[uint64]plain{}, uint64(0)
		check := func(key uint64) {
			used, _ := logs[key].used(now, period)
			require.EqualValues(t, permits-used, p.Peek(now, key, 0).Remaining(), "key %d at %d", key, now)
		}
		for range 60_000 {
			now += r.Uint64N(4)
			key, other, at := r.Uint64N(600)<<(20*round), r.Uint64N(600)<<(20*round), now-min(now, r.Uint64N(20))
			key *= r.Uint64N(2) * r.Uint64N(2) // three in four are key 0
			cost := r.IntN(4)
			switch r.IntN(40) {
			case 0:
				p.Forget(key)
				delete(logs, key)
			case 1:
				p.Refund(at, key, uint64(cost))
				if _, known := logs[key]; known {
					logs[key] = logs[key].refund(at, period, cost)
				}
			case 2:
				p.Sweep(now-min(now, 20), r.IntN(200)+1) // frees what counts no more, nor at any now to come
			case 3:
				now += r.Uint64N(period)
			case 4, 5, 6:
				if d, undo := p.(policy.Undoer).TakeUndo(at, key, uint64(cost), 0); d.OK() {
					if other != key && r.IntN(2) == 0 {
						p.Forget(other) // the ring of another key moves into its place
						delete(logs, other)
					}
					require.True(t, undo())
					check(key)
				}
			default:
				after, outcome, left, retry := logs[key].take(at, period, permits, cost)
				d := p.Take(at, key, uint64(cost))
				require.Equal(t, outcome, d.Outcome())
				require.EqualValues(t, left, d.Remaining())
				require.Equal(t, retry, d.RetryAfter())
				if d.OK() && cost > 0 {
					logs[key] = after
				}
			}
		}
		for key := range logs {
			check(key)
		}
	}
}

// held is the bytes of the heap after collection.
func held() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// TestBytesAnEntry: what an entry takes, the table's every part included, where a thousand permits are spent one by one and
// the window slides; and that idle logs give all of it back.
func TestBytesAnEntry(t *testing.T) {
	const keys, permits = 200, 1000
	before := held()
	p, err := slidinglog.New(policy.Limit{Permits: permits, Period: permits}, policy.Options{Seed: 1})
	require.NoError(t, err)
	now := uint64(0)
	for ; now < 2*permits+500; now++ {
		for key := range uint64(keys) {
			require.True(t, p.Take(now, key, 1).OK())
		}
	}
	require.Zero(t, p.Peek(now-1, 7, 0).Remaining(), "full")
	bytes := float64(held()-before) / (keys * permits)
	t.Logf("%.2f bytes an entry", bytes)
	assert.LessOrEqual(t, bytes, 20.0)
	freed, _ := p.Sweep(now+permits, 0)
	assert.Equal(t, keys, freed)
	assert.Less(t, held()-before, 100<<10)
	runtime.KeepAlive(p)
}

// TestRingsShrink: a log that was long and is short gives its memory back, to the table and to the heap.
func TestRingsShrink(t *testing.T) {
	const keys, permits = 50, 4000
	before := held()
	p, err := slidinglog.New(policy.Limit{Permits: permits, Period: permits}, policy.Options{Seed: 1})
	require.NoError(t, err)
	for now := range uint64(permits) {
		for key := range uint64(keys) {
			p.Take(now, key, 1)
		}
	}
	peak := held() - before
	for i := range uint64(40) {
		for key := range uint64(keys) {
			require.True(t, p.Take(permits*(i+3), key, 1).OK())
		}
	}
	assert.Less(t, held()-before, peak/20)
	runtime.KeepAlive(p)
}

// TestSteadyLogAllocatesNothing: nor does it where the window slides over the end of the ring, again and again.
func TestSteadyLogAllocatesNothing(t *testing.T) {
	p := made(t, 1000, 1000)
	now := uint64(0)
	take := func() { now++; p.Take(now, 7, 1) }
	for range 3000 {
		take()
	}
	assert.Zero(t, testing.AllocsPerRun(5000, take))
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Take(now, 7, 1000) }), "denied")
	assert.Zero(t, testing.AllocsPerRun(100, func() { p.Peek(now, 7, 1) }))
}

// TestUndoOfATakeThatHalves: an undone take leaves no trace where it forgot nearly all of a long log, nor where it came next
// and the ring was halved.
func TestUndoOfATakeThatHalves(t *testing.T) {
	for _, between := range []uint64{0, 1, 2} {
		p, twin := made(t, 100, 100), made(t, 100, 100)
		both := func(now uint64) {
			require.True(t, p.Take(now, 7, 1).OK())
			twin.Take(now, 7, 1)
		}
		for now := range uint64(100) {
			both(now)
		}
		for i := range between {
			both(190 + i)
		}
		_, undo := p.(policy.Undoer).TakeUndo(195, 7, 3, 3)
		require.True(t, undo())
		for now := uint64(90); now < 300; now++ {
			require.Equal(t, twin.Peek(now, 7, 2).Answer(), p.Peek(now, 7, 2).Answer(), "%d takes between, at %d", between, now)
		}
	}
}
