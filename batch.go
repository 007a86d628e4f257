package weir

import (
	"sync"
	"time"

	"weir/policy"
)

// batchSize is how many requests of a batch go to the policy at once: enough for their cache misses to overlap.
const batchSize = 32

// scratch is what a batch needs, at any time one for each goroutine that decides one.
type scratch struct {
	keys, costs [batchSize]uint64
	decisions   [batchSize]policy.Decision
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// AllowBatch is AllowN of keys[i] and costs[i] for each i, in order, all at now, a reading of the limiter's clock; the
// answers go to out. It answers how many it decided: the length of the shortest of the three. Keys that are known cost no
// allocation. Where a policy is a policy.Batcher, 32 requests go to it at once, and only after those is room made for new
// keys that found none.
func (l *Local) AllowBatch(now time.Duration, keys []string, costs []Cost, out []Result) int {
	n := min(len(keys), len(costs), len(out))
	for from := 0; from < n; {
		e, at := l.at(now)
		if e.batcher == nil {
			out[from] = l.answer(now, l.key(keys[from]), costs[from])
			from++
			continue
		}
		to := min(from+batchSize, n)
		l.some(e, at, now, keys[from:to], costs[from:to], out[from:to])
		from = to
	}
	return n
}

// some decides at most batchSize requests.
func (l *Local) some(e *era, at instant, now time.Duration, keys []string, costs []Cost, out []Result) {
	s := scratches.Get().(*scratch)
	defer scratches.Put(s)
	for i, key := range keys {
		s.keys[i], s.costs[i] = l.key(key), costs[i].first
	}
	n := len(keys)
	e.batcher.TakeBatch(at.ticks, s.keys[:n], s.costs[:n], s.decisions[:n])
	e.tidy(at.ticks)
	for i, d := range s.decisions[:n] {
		if o := d.Outcome(); o == policy.Full || o == 0 {
			out[i] = l.answer(now, s.keys[i], costs[i])
		} else {
			out[i] = Result{d, e.tick, at.into}
		}
	}
}
