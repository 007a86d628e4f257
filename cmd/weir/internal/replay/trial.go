package replay

import (
	"fmt"
	"math/bits"
	"slices"
	"time"

	"weir"
	"weir/policy"
)

// Trial is one policy of a run, and the score of it.
type Trial struct {
	// Name is the policy's; Given is the part of the limit that it has.
	Name  string
	Given weir.Limit
	// Limit is Given in ticks, and Tick how long one is.
	Limit policy.Limit
	Tick  time.Duration
	// Counts are requests by outcome.
	Counts [policy.Unavailable + 1]uint64
	// Denied is the requests that were denied or too costly, by key; it ends at the last key that the policy has met.
	Denied []uint64
	// Longest is the longest that a leaky bucket would have a request held, in ticks; 0 for every other policy.
	Longest uint64
	Steps

	windows []window // by key
	series  *Series  // what a picture is drawn from; nil while none is
}

func newTrial(name string, l weir.Limit) (*Trial, error) {
	if err := unknown(name); err != nil {
		return nil, err
	}
	limit, tick, err := l.Counted(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	steps, err := NewSteps(name, limit)
	if err != nil {
		return nil, err
	}
	return &Trial{Name: name, Given: l, Limit: limit, Tick: tick, Steps: steps}, nil
}

// add decides one request, at nanoseconds of the log's clock.
func (t *Trial) add(at uint64, id int, cost uint64) {
	now := at / uint64(t.Tick)
	if t.series != nil {
		t.series.before(t, at, id)
	}
	d := t.Take(id, now, cost)
	outcome := d.Outcome()
	t.Counts[outcome]++
	for id >= len(t.Denied) {
		t.Denied = append(t.Denied, 0)
		t.windows = append(t.windows, window{})
	}
	switch outcome {
	case policy.Allow:
		t.windows[id].add(at, cost, t.Limit.Period*uint64(t.Tick))
		if t.Name == "leakybucket" {
			t.Longest = max(t.Longest, d.Delay())
		}
	case policy.Deny, policy.TooCostly:
		t.Denied[id]++
	}
	if t.series != nil {
		t.series.after(t, at, id, d)
	}
}

// Keys is how many keys were let through at a cost.
func (t *Trial) Keys() uint64 {
	return count(t.windows, func(w window) bool { return w.most > 0 })
}

// KeysDenied is how many keys were refused at least once.
func (t *Trial) KeysDenied() uint64 {
	return count(t.Denied, func(n uint64) bool { return n > 0 })
}

func count[T any](all []T, is func(T) bool) (n uint64) {
	for _, one := range all {
		if is(one) {
			n++
		}
	}
	return n
}

// Most is the largest cost that any key was let through within a period of the (first) limit, and whose it was; -1 if
// nothing was.
func (t *Trial) Most() (most uint64, id int) {
	id = -1
	for i, w := range t.windows {
		if w.most > most {
			most, id = w.most, i
		}
	}
	return most, id
}

// Worst are the keys that were refused most often, at most n, those of equal count in the order in which they came.
func (t *Trial) Worst(n int) []int {
	var ids []int
	for id, denied := range t.Denied {
		if n == 0 || denied == 0 || len(ids) == n && denied <= t.Denied[ids[n-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(ids, denied, func(other int, denied uint64) int {
			if t.Denied[other] >= denied {
				return -1
			}
			return 1
		})
		ids = slices.Insert(ids[:min(len(ids), n-1)], at, id)
	}
	return ids
}

// Burst is the most permits that can be spent at once: of a sliding log the permits, of a dual bucket the smaller.
func (t *Trial) Burst() uint64 {
	switch t.Name {
	case slidingLog:
		return t.Limit.Permits
	case dualBucket:
		return min(t.Limit.Burst, t.Limit.Burst2)
	}
	return t.Limit.Burst
}

// Bound is the most that one key can be let through in a window of one period of the (first) limit: burst + rate *
// window, of a dual bucket the smaller of both limits; the permits of a sliding log.
func (t *Trial) Bound() uint64 {
	l := t.Limit
	bound := saturated(l.Burst, l.Permits)
	switch t.Name {
	case slidingLog:
		return l.Permits
	case dualBucket:
		high, low := bits.Mul64(l.Permits2, l.Period)
		if high < l.Period2 {
			refilled, _ := bits.Div64(high, low, l.Period2)
			bound = min(bound, saturated(l.Burst2, refilled))
		}
	}
	return bound
}

func saturated(a, b uint64) uint64 {
	if a+b < a {
		return policy.Never
	}
	return a + b
}

// level is how many permits a key has spent and not yet got back at nanoseconds of the log's clock; 0 past the horizon.
func (t *Trial) level(at uint64, id int) uint64 {
	now := at / uint64(t.Tick)
	if now > t.Horizon {
		return 0
	}
	return t.Burst() - min(t.Burst(), t.Peek(id, now, 0).Remaining())
}

// LevelAt is the permits that a key has spent and not got back at a moment since the first line of the log.
func (t *Trial) LevelAt(at time.Duration, id int) uint64 { return t.level(clock(at), id) }

// window is what one key was let through within a period, and the most that it ever was.
type window struct {
	spent     []spending // within the period that ends at the newest
	sum, most uint64
}

type spending struct{ at, cost uint64 }

// add counts an admission. A clock that steps back stands still here, as it does for the sliding log.
func (w *window) add(now, cost, period uint64) {
	if cost == 0 {
		return
	}
	last := len(w.spent) - 1
	if last >= 0 && now <= w.spent[last].at {
		w.spent[last].cost += cost
		w.sum += cost
		w.most = max(w.most, w.sum)
		return
	}
	for len(w.spent) > 0 && now-w.spent[0].at >= period {
		w.sum -= w.spent[0].cost
		w.spent = w.spent[1:]
	}
	w.spent = append(w.spent, spending{now, cost})
	w.sum += cost
	w.most = max(w.most, w.sum)
}
