package slidinglog

import (
	"weir/internal/arith"
	"weir/internal/keyed"
	"weir/policy"
)

// State is a key's log: its admissions, oldest first, in a ring. Entries are numbered as they come and entry i stands in
// place i of the ring, modulo its length. A key never seen has the zero State.
type State struct {
	first, next uint64 // the oldest entry, and the one to come
	spent       uint64 // the running total before the oldest entry
	total       uint64 // the running total with the newest entry
	ring        keyed.Ring
}

// entry is the permits spent at one tick: the tick, and the running total of the log up to and with it. Totals wrap at
// 2^64; only their differences mean anything, and those are at most the permits in force when they were spent.
type entry [2]uint64

const tick, total = 0, 1

// Rules are the constants of one limit and, for the logs of one shard of a table, where their entries are.
type Rules struct {
	limit policy.Limit
	rings keyed.Rings[entry]
	kept  func(key uint64) *keyed.Ring // where the state of a key says which ring is its own
}

// horizon keeps a tick and a period below 2^63 together.
const horizon = 1<<62 - 1

// NewRules checks a limit: no second one, and no burst but the permits. The rules have no memory for logs yet: see Settle.
// The error is a *policy.LimitError.
func NewRules(l policy.Limit) (*Rules, error) {
	if err := l.Window(); err != nil {
		return nil, err
	}
	return &Rules{limit: l}, nil
}

// Limit is what the rules were made of.
func (r *Rules) Limit() policy.Limit { return r.limit }

// Horizon is the largest now that is decided, in ticks: 2^62 - 1, whatever the limit.
func (r *Rules) Horizon() uint64 { return horizon }

// Fresh is the state of a key never seen: an empty log.
func (r *Rules) Fresh() State { return State{} }

// Settle is the same rules with the memory for logs that the rules before them had, or with a new one.
func (r *Rules) Settle(before *Rules, state func(key uint64) *State) *Rules {
	settled := &Rules{limit: r.limit, kept: func(key uint64) *keyed.Ring { return &state(key).ring }}
	if before != nil {
		settled.rings = before.rings
	}
	return settled
}

// Keep says whose log it is.
func (r *Rules) Keep(key uint64, s State) { *r.rings.Owner(s.ring) = key }

// Drop gives back the memory of a log.
func (r *Rules) Drop(s State) { r.rings.Put(s.ring, r.kept) }

// log is a state and the entries of its ring. A key that was never seen has no ring, and no entry to look for.
type log struct {
	*State
	entries []entry
}

func (r *Rules) open(s *State) log {
	if s.ring.Class == 0 {
		return log{s, nil}
	}
	return log{s, r.rings.At(s.ring)}
}

func (l log) at(i uint64) *entry { return &l.entries[i&uint64(len(l.entries)-1)] }

// before is the running total before entry i, i up to next.
func (l log) before(i uint64) uint64 {
	if i == l.first {
		return l.spent
	}
	return l.at(i - 1)[total]
}

// search is the first entry from i on whose field, counted from base, is least or more; next if none is. The field does not
// fall from one entry to the next. It looks at O(log k) entries, k how far the one sought is from i.
func (l log) search(i, field, base, least uint64) uint64 {
	width := uint64(1)
	for i+width <= l.next && l.at(i + width - 1)[field]-base < least {
		i += width
		width *= 2
	}
	for end := min(i+width-1, l.next); i < end; {
		middle := i + (end-i)/2
		if l.at(middle)[field]-base < least {
			i = middle + 1
		} else {
			end = middle
		}
	}
	return i
}

// since is the first entry of a tick of least or later; next if there is none. As a rule none or one has expired since the
// log was last asked, and that is seen here.
func (l log) since(least uint64) uint64 {
	i := l.first
	for range 2 {
		if i == l.next || l.at(i)[tick] >= least {
			return i
		}
		i++
	}
	return l.search(i, tick, 0, least)
}

// view is a log as of one now.
type view struct {
	now, at uint64 // at never lies before the newest admission: the log does not run backwards
	live    uint64 // the first entry that still counts at `at`; next if none does
	used    uint64 // permits of the entries from live on
}

func (r *Rules) view(l log, now uint64) view {
	v := view{now: now, at: now, live: l.first}
	if l.first == l.next {
		return v
	}
	v.at = max(now, l.at(l.next - 1)[tick])
	if v.at >= r.limit.Period {
		v.live = l.since(v.at - r.limit.Period + 1)
	}
	v.used = l.total - l.before(v.live)
	return v
}

// left is the permits that could be spent: never negative, though a lowered limit may find more in the log.
func (r *Rules) left(used uint64) uint64 { return arith.Sub(r.limit.Permits, used) }

// expiry is the ticks until the first entry has expired with which at least enough permits are free again. enough is
// above 0 and at most what is used.
func (r *Rules) expiry(l log, v view, enough uint64) uint64 {
	i := l.search(v.live, total, l.before(v.live), enough)
	return l.at(i)[tick] + r.limit.Period - v.now
}

// Step decides whether cost permits can be spent at tick now without more than Permits in any Period ticks, and logs them
// if they can. The last argument is not used; it is there because a dual bucket takes two costs.
func (r *Rules) Step(s *State, now, cost, _ uint64) policy.Decision {
	if now > horizon {
		return policy.Refused(policy.PastHorizon)
	}
	l := r.open(s)
	v := r.view(l, now)
	outcome, retry := r.judge(l, v, cost)
	if outcome == policy.Allow && cost > 0 {
		l = r.charge(l, v, cost)
		v.live, v.used = l.first, v.used+cost
	}
	return r.decision(l, v, outcome, retry)
}

// Peek decides as Step would and logs nothing: what remains is what there is now.
func (r *Rules) Peek(s State, now, cost, _ uint64) policy.Decision {
	if now > horizon {
		return policy.Refused(policy.PastHorizon)
	}
	l := r.open(&s)
	v := r.view(l, now)
	outcome, retry := r.judge(l, v, cost)
	return r.decision(l, v, outcome, retry)
}

// judge decides, and for a denial finds the entry whose expiry frees enough.
func (r *Rules) judge(l log, v view, cost uint64) (policy.Outcome, uint64) {
	left := r.left(v.used)
	switch {
	case cost > r.limit.Permits:
		return policy.TooCostly, policy.Never
	case cost <= left:
		return policy.Allow, 0
	}
	return policy.Deny, r.expiry(l, v, v.used+cost-r.limit.Permits)
}

func (r *Rules) decision(l log, v view, outcome policy.Outcome, retry uint64) policy.Decision {
	left := r.left(v.used)
	if v.used == 0 {
		return policy.Answered(policy.Answer{Outcome: outcome, Remaining: left, RetryAfter: retry}, 0)
	}
	reset := l.at(l.next - 1)[tick] + r.limit.Period - v.now
	next := l.at(v.live)[tick] + r.limit.Period - v.now
	if v.used > r.limit.Permits { // the limit was lowered
		next = r.expiry(l, v, 1+v.used-r.limit.Permits)
	}
	return policy.Answered(policy.Answer{Outcome: outcome, Remaining: left, RetryAfter: retry, ResetAfter: reset}, next)
}

// leastRing is how long a ring is left, however little is in it.
const leastRing = 16

// charge forgets what has expired and logs permits at a tick that is not before the newest entry's; an equal tick is
// merged. The state before is still whole in the ring, so that Undo can go back to it: a ring is halved before anything is
// forgotten, and the place that is filled held none of its entries, because one place always stays free. Where that
// takes a ring of twice the length, nothing has expired.
func (r *Rules) charge(l log, v view, permits uint64) log {
	if n := l.next - l.first; len(l.entries) > leastRing && 8*(n+1) < uint64(len(l.entries)) {
		l = r.resize(l, l.ring.Class-1)
	}
	l.spent, l.first = l.before(v.live), v.live
	l.total += permits
	if l.first < l.next && l.at(l.next - 1)[tick] == v.at {
		l.at(l.next - 1)[total] = l.total
		return l
	}
	if l.next-l.first+1 >= uint64(len(l.entries)) {
		l = r.resize(l, l.ring.Class+1)
	}
	*l.at(l.next) = entry{v.at, l.total}
	l.next++
	return l
}

// resize moves the entries to a ring of another class: twice the length or half of it, so that an append is O(1) amortised.
// A new log has no owner yet: see Keep.
func (r *Rules) resize(old log, class uint32) log {
	left, owner := old.ring, uint64(0)
	if left.Class > 0 {
		owner = *r.rings.Owner(left)
	}
	old.ring = r.rings.Get(class, owner)
	l := r.open(old.State)
	for i := l.first; i < l.next; i++ {
		*l.at(i) = *old.at(i)
	}
	if left.Class > 0 {
		r.rings.Put(left, r.kept)
	}
	return l
}

// Refund is the state after taking out cost of the permits that count at now, the newest first; what has expired
// stays. The newest entry left is the log's clock again. now is within the horizon.
func (r *Rules) Refund(s State, now, cost, _ uint64) State {
	l := r.open(&s)
	give := min(cost, r.view(l, now).used)
	for give > 0 {
		newest := l.total - l.before(l.next-1)
		part := min(give, newest)
		give -= part
		l.total -= part
		if part == newest {
			l.next--
		} else {
			l.at(l.next - 1)[total] = l.total
		}
	}
	return s
}

// Undo is the state before an admission that led from before to after; false if more has been logged since: the number
// of the next entry tells and, within one tick, the total, which does not wrap there. The ring may have moved.
func (r *Rules) Undo(before, after, current State) (State, bool) {
	after.ring = current.ring
	if current != after {
		return current, false
	}
	before.ring = current.ring
	if l := r.open(&before); l.first < l.next {
		l.at(l.next - 1)[total] = l.total // the admission may have been merged into it
	}
	return before, true
}

// IdleAt is the first tick at which nothing counts any more; an empty log is idle always.
func (r *Rules) IdleAt(s State) uint64 {
	l := r.open(&s)
	if l.first == l.next {
		return 0
	}
	return l.at(l.next - 1)[tick] + r.limit.Period
}

// Carry is the log under other rules: the entries keep their ticks and count under the new numbers.
func (r *Rules) Carry(s State, _, _ uint64, _ *Rules) State { return s }
