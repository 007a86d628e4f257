package explain

import (
	"fmt"
	"math/big"
	"strings"

	"weir/policy"
)

// window is a sliding log, by key.
type window struct {
	permits, period uint64
	logs            map[uint64][]entry
}

type entry struct{ tick, permits uint64 }

// at is the tick as of which a key is judged: the log does not run backwards.
func (w *window) at(key, now uint64) uint64 {
	if log := w.logs[key]; len(log) > 0 {
		return max(now, log[len(log)-1].tick)
	}
	return now
}

// counting is the entries that count at a tick, and their permits.
func (w *window) counting(key, at uint64) (live []entry, used uint64) {
	for _, e := range w.logs[key] {
		if at-min(at, e.tick) < w.period {
			live = append(live, e)
			used += e.permits
		}
	}
	return live, used
}

func (w *window) state(key, now uint64) string {
	const most = 8
	at := w.at(key, now)
	live, used := w.counting(key, at)
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d permits in the %d ticks up to %d", used, w.permits, w.period, at)
	for i, e := range live {
		if i == most {
			fmt.Fprintf(&b, ", and %d entries more", len(live)-most)
			break
		}
		fmt.Fprintf(&b, ", %d at %d", e.permits, e.tick)
	}
	return b.String()
}

func (w *window) weigh(key, now, cost uint64) verdict {
	live, used := w.counting(key, w.at(key, now))
	switch {
	case cost > w.permits:
		return verdict{policy.TooCostly, nil, fmt.Sprintf("cost %d > permits %d: it can never fit", cost, w.permits)}
	case cost == 0:
		return verdict{policy.Allow, new(big.Int), "a cost of 0 is always allowed and changes nothing"}
	case used <= w.permits && cost <= w.permits-used:
		return verdict{policy.Allow, new(big.Int), fmt.Sprintf("used + cost = %d + %d <= permits = %d: it fits", used, cost, w.permits)}
	}
	over := new(big.Int).Add(whole(used), whole(cost))
	over.Sub(over, whole(w.permits))
	sum := fmt.Sprintf("used + cost = %d + %d > permits = %d: %v too many", used, cost, w.permits, over)
	freed := new(big.Int)
	for _, e := range live {
		if freed.Add(freed, whole(e.permits)).Cmp(over) >= 0 {
			wait := new(big.Int).Add(whole(e.tick), whole(w.period))
			wait.Sub(wait, whole(now))
			return verdict{policy.Deny, wait, fmt.Sprintf("%s; enough when that of tick %d is %d old: %d + %d - %d = %v ticks", sum, e.tick,
				w.period, e.tick, w.period, now, wait)}
		}
	}
	return verdict{policy.Deny, nil, sum}
}

func (w *window) spend(key, now, cost uint64) {
	if cost == 0 {
		return
	}
	at := w.at(key, now)
	live, _ := w.counting(key, at)
	if n := len(live); n > 0 && live[n-1].tick == at {
		live[n-1].permits += cost
	} else {
		live = append(live, entry{at, cost})
	}
	w.logs[key] = live
}

// refund takes out permits that count, the newest first.
func (w *window) refund(key, now, cost uint64) {
	_, used := w.counting(key, w.at(key, now))
	log := w.logs[key]
	for give := min(cost, used); give > 0; {
		newest := &log[len(log)-1]
		part := min(give, newest.permits)
		give -= part
		if newest.permits -= part; newest.permits == 0 {
			log = log[:len(log)-1]
		}
	}
	if log != nil {
		w.logs[key] = log
	}
}

func (w *window) forget(key uint64) { delete(w.logs, key) }

func (w *window) idle(key, now uint64) bool {
	for _, e := range w.logs[key] {
		if e.tick >= now || now-e.tick < w.period {
			return false
		}
	}
	return true
}

func (w *window) keys() (all []uint64) {
	for key := range w.logs {
		all = append(all, key)
	}
	return all
}

func (w *window) relimit(_, permits, period, _ uint64) { w.permits, w.period = permits, period }

func (w *window) horizon() uint64 { return 1<<62 - 1 }

func (w *window) level(key, now uint64, of int64) int64 {
	_, used := w.counting(key, w.at(key, now))
	part := new(big.Int).Mul(whole(used), big.NewInt(of))
	part.Add(part, whole(w.permits)).Sub(part, big.NewInt(1)).Div(part, whole(w.permits))
	return min(part.Int64(), of)
}

func (w *window) String() string {
	return fmt.Sprintf("a permit spent at a tick counts until %d ticks later; at most %d count", w.period, w.permits)
}
