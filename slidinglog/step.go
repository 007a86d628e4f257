package slidinglog

import (
	"sort"

	"weir/internal/arith"
	"weir/policy"
)

// State is a key's log: its admissions, oldest first, in a ring. It shares the ring with the states that it came from,
// so only the newest state of a key may be used on. A key never seen has the zero State.
type State struct {
	ring   []entry // empty, or a power of two; one slot stays free, see append
	head   int     // where the oldest entry is
	n      int     // how many entries there are
	spent  uint64  // the running total before the oldest entry
	total  uint64  // the running total with the newest entry
	newest uint64  // the tick of the newest entry
}

// entry is the permits spent at one tick, as the running total of the log up to and with it. Totals wrap at 2^64; only
// their differences mean anything, and those are at most the permits in force when they were spent.
type entry struct {
	tick, total uint64
}

// Rules are the constants of one limit. They hold no state and may be shared; make them with NewRules.
type Rules struct{ limit policy.Limit }

// horizon keeps a tick and a period below 2^63 together.
const horizon = 1<<62 - 1

// NewRules checks a limit: no second one, and no burst but the permits. The error is a *policy.LimitError.
func NewRules(l policy.Limit) (*Rules, error) {
	if err := l.Window(); err != nil {
		return nil, err
	}
	return &Rules{l}, nil
}

// Limit is what the rules were made of.
func (r *Rules) Limit() policy.Limit { return r.limit }

// Horizon is the largest now that is decided, in ticks: 2^62 - 1, whatever the limit.
func (r *Rules) Horizon() uint64 { return horizon }

// Fresh is the state of a key never seen: an empty log.
func (r *Rules) Fresh() State { return State{} }

func (s *State) at(i int) *entry { return &s.ring[(s.head+i)&(len(s.ring)-1)] }

// before is the running total before entry i, i up to n.
func (s *State) before(i int) uint64 {
	if i == 0 {
		return s.spent
	}
	return s.at(i - 1).total
}

// view is a log as of one now.
type view struct {
	now, at uint64 // at never lies before the newest admission: the log does not run backwards
	live    int    // the first entry that still counts at `at`; n if none does
	used    uint64 // permits of the entries from live on
}

func (r *Rules) view(s *State, now uint64) view {
	v := view{now: now, at: now}
	if s.n == 0 {
		return v
	}
	v.at = max(now, s.newest)
	v.live = sort.Search(s.n, func(i int) bool { return s.at(i).tick+r.limit.Period > v.at })
	v.used = s.total - s.before(v.live)
	return v
}

// left is the permits that could be spent: never negative, though a lowered limit may find more in the log.
func (r *Rules) left(used uint64) uint64 { return arith.Sub(r.limit.Permits, used) }

// expiry is the ticks until the first entry has expired with which at least enough permits are free again. enough is
// above 0 and at most what is used.
func (r *Rules) expiry(s *State, v view, enough uint64) uint64 {
	from := s.before(v.live)
	i := v.live + sort.Search(s.n-v.live, func(i int) bool { return s.before(v.live+i+1)-from >= enough })
	return s.at(i).tick + r.limit.Period - v.now
}

// Step decides whether cost permits can be spent at tick now without more than Permits in any Period ticks, and gives
// the state after it: the same state unless the request is allowed and costs something. The last argument is not used;
// it is there because a dual bucket takes two costs.
func (r *Rules) Step(s State, now, cost, _ uint64) (State, policy.Decision) {
	if now > horizon {
		return s, policy.Refused(policy.PastHorizon)
	}
	v := r.view(&s, now)
	outcome, retry := r.judge(&s, v, cost)
	if outcome == policy.Allow && cost > 0 {
		s.drop(v.live)
		s.append(v.at, cost)
		v.live, v.used = 0, v.used+cost
	}
	return s, r.decision(&s, v, outcome, retry)
}

// Peek decides as Step would and logs nothing: what remains is what there is now.
func (r *Rules) Peek(s State, now, cost, _ uint64) policy.Decision {
	if now > horizon {
		return policy.Refused(policy.PastHorizon)
	}
	v := r.view(&s, now)
	outcome, retry := r.judge(&s, v, cost)
	return r.decision(&s, v, outcome, retry)
}

// judge decides, and for a denial finds the entry whose expiry frees enough.
func (r *Rules) judge(s *State, v view, cost uint64) (policy.Outcome, uint64) {
	left := r.left(v.used)
	switch {
	case cost > r.limit.Permits:
		return policy.TooCostly, policy.Never
	case cost <= left:
		return policy.Allow, 0
	}
	return policy.Deny, r.expiry(s, v, v.used+cost-r.limit.Permits)
}

func (r *Rules) decision(s *State, v view, outcome policy.Outcome, retry uint64) policy.Decision {
	a := policy.Answer{Outcome: outcome, Remaining: r.left(v.used), RetryAfter: retry}
	next := uint64(0)
	if v.used > 0 {
		a.ResetAfter = s.newest + r.limit.Period - v.now
		next = r.expiry(s, v, 1+arith.Sub(v.used, r.limit.Permits))
	}
	return policy.Answered(a, next)
}

// drop forgets the k oldest entries.
func (s *State) drop(k int) {
	if k == 0 {
		return
	}
	s.spent = s.before(k)
	s.head = (s.head + k) & (len(s.ring) - 1)
	s.n -= k
}

// append logs permits at a tick that is not before the newest entry's; an equal tick is merged. The slot that it
// fills never held one of the entries that drop forgot just before, because one slot always stays free: so the state
// before both is still whole, and Undo can go back to it.
func (s *State) append(tick, permits uint64) {
	s.total += permits
	if s.n > 0 && s.newest == tick {
		s.at(s.n - 1).total = s.total
		return
	}
	switch {
	case s.n+1 >= len(s.ring):
		s.resize(max(2, 2*len(s.ring)))
	case len(s.ring) > leastRing && 8*(s.n+1) < len(s.ring):
		s.resize(len(s.ring) / 2)
	}
	s.n++
	s.newest = tick
	*s.at(s.n - 1) = entry{tick, s.total}
}

// leastRing is how long a ring is left, however little is in it.
const leastRing = 16

// resize moves the entries to another ring: of twice the length or of half, so that an append is O(1) amortised.
func (s *State) resize(length int) {
	ring := make([]entry, length)
	for i := range s.n {
		ring[i] = *s.at(i)
	}
	s.ring, s.head = ring, 0
}

// Refund is the state after taking out cost of the permits that count at now, the newest first; what has expired
// stays. The newest entry left is the log's clock again. now is within the horizon.
func (r *Rules) Refund(s State, now, cost, _ uint64) State {
	give := min(cost, r.view(&s, now).used)
	for give > 0 {
		newest := s.total - s.before(s.n-1)
		part := min(give, newest)
		give -= part
		s.total -= part
		if part == newest {
			s.n--
		} else {
			s.at(s.n - 1).total = s.total
		}
	}
	if s.n > 0 {
		s.newest = s.at(s.n - 1).tick
	}
	return s
}

// Undo is the state before an admission that led from before to after; false if more has been logged since. The totals
// alone would not tell: they wrap. Within the permits of one tick they do not.
func (r *Rules) Undo(before, after, current State) (State, bool) {
	if current.total != after.total || current.newest != after.newest {
		return current, false
	}
	if before.n > 0 {
		before.at(before.n - 1).total = before.total // the admission may have been merged into it
	}
	return before, true
}

// IdleAt is the first tick at which nothing counts any more; an empty log is idle always.
func (r *Rules) IdleAt(s State) uint64 {
	if s.n == 0 {
		return 0
	}
	return s.newest + r.limit.Period
}

// Carry is the log under other rules: the entries keep their ticks and count under the new numbers.
func (r *Rules) Carry(s State, _, _ uint64, _ *Rules) State { return s }
