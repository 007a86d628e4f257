package mutants

import (
	"maps"
	"slices"

	"weir/policy"
)

// verdict is what the limits say of a request, and what the key has before it.
type verdict struct {
	outcome     policy.Outcome
	said        []policy.Outcome // by each limit
	waits       []uint64         // of each limit
	delay       uint64
	left, reset []uint64 // of each limit
}

// decide goes through the order of decisions.
func (m *model) decide(r request) policy.Answer {
	r.peek = or(m.fault, "peek-consumes", r.peek, false)
	r.now = or(m.fault, "time-stands-still-past-the-horizon", r.now, min(r.now, m.horizonOf(m.rules)))
	late := m.past(r.now)
	late = or(m.fault, "too-costly-before-horizon", late, late && !m.tooCostly(r))
	late = or(m.fault, "zero-cost-before-horizon", late, late && !r.free())
	if late {
		return policy.Answer{Outcome: policy.PastHorizon, RetryAfter: policy.Never}
	}
	r = m.heard(r)
	shares, known := m.find(r.key, int64(r.now))
	v := m.weigh(r, shares)
	noRoom := m.noRoom(r, known)
	if noRoom && m.is("full-comes-first") {
		return m.full(r, shares)
	}
	switch {
	case v.outcome == policy.TooCostly:
		if m.is("too-costly-makes-a-key") {
			m.keep(r.key, shares)
		}
	case r.free():
		m.looked(r, shares, known)
	case noRoom:
		return m.full(r, shares)
	case v.outcome == policy.Deny:
		m.denied(r, shares, v)
	default:
		shares = m.spend(r, shares)
	}
	return m.answer(r, shares, v)
}

func (m *model) tooCostly(r request) bool {
	return r.costs[0] > m.rules[0].size() || len(m.rules) > 1 && r.costs[1] > m.rules[1].size()
}

// weigh asks every limit: too costly if it is for one, else denied if one denies, else allowed.
func (m *model) weigh(r request, shares []share) (v verdict) {
	now := int64(r.now)
	for i, s := range shares {
		outcome, wait := s.judge(now, r.costs[i])
		v.said, v.waits = append(v.said, outcome), append(v.waits, wait)
		v.left, v.reset = append(v.left, s.left(now)), append(v.reset, s.reset(now))
	}
	v.outcome = slices.Max(v.said)
	v.outcome = or(m.fault, "or-for-and", v.outcome, slices.Min(v.said))
	v.outcome = or(m.fault, "only-the-first-limit-decides", v.outcome, v.said[0])
	v.outcome = or(m.fault, "only-the-second-limit-decides", v.outcome, v.said[len(v.said)-1])
	if slices.Contains(v.said, policy.Deny) && m.is("deny-before-too-costly") {
		v.outcome = policy.Deny
	}
	v.delay = shares[0].delay(now, r.costs[0])
	return v
}

// noRoom says whether the key would need a room and there is none.
func (m *model) noRoom(r request, known bool) bool {
	known = or(m.fault, "known-keys-full-too", known, false)
	if known || !m.bounded {
		return false
	}
	if r.costs[0] == 0 && m.is("no-room-needed-without-a-first-share") {
		return false
	}
	if r.peek && m.is("peek-never-full") {
		return false
	}
	rooms := m.rooms
	rooms = or(m.fault, "max-keys-plus-one", rooms, rooms+1)
	rooms = or(m.fault, "max-keys-minus-one", rooms, rooms-1)
	if uint64(len(m.keys)) >= rooms && m.is("bounded-table-reclaims-by-itself") {
		m.sweep(int64(r.now))
	}
	full := uint64(len(m.keys)) >= rooms
	if full && !r.peek && m.is("evicts-a-live-key") {
		delete(m.keys, slices.Min(slices.Collect(maps.Keys(m.keys))))
		return false
	}
	return full
}

// full is the answer to a new key where no room is free.
func (m *model) full(r request, shares []share) policy.Answer {
	a := policy.Answer{Outcome: policy.Full, RetryAfter: policy.Never}
	a.RetryAfter = or(m.fault, "full-answered-with-retry-0", a.RetryAfter, 0)
	a.Remaining = or(m.fault, "full-tells-the-burst", 0, shares[0].left(int64(r.now)))
	return a
}

// looked is told of a request that was allowed to spend nothing, and does nothing.
func (m *model) looked(r request, shares []share, known bool) {
	if m.is("zero-cost-makes-a-key") {
		m.keep(r.key, shares)
	}
	if known && m.is("zero-cost-moves-time") {
		shares[0].looked(int64(r.now))
	}
}

// denied is told of a denial, and does nothing.
func (m *model) denied(r request, shares []share, v verdict) {
	now := int64(r.now)
	if r.peek {
		return
	}
	for i, s := range shares {
		s.denied(now, r.costs[i])
	}
	if v.said[0] == policy.Allow && m.is("first-charged-though-the-second-denies") {
		shares[0].spend(now, r.costs[0])
	}
	if v.said[len(v.said)-1] == policy.Allow && m.is("second-charged-though-the-first-denies") {
		shares[1].spend(now, r.costs[1])
	}
}

// spend charges every limit its share, and gives the key its room; a peek leaves all as it is.
func (m *model) spend(r request, shares []share) []share {
	if r.peek {
		return m.peeked(r, shares)
	}
	for i, s := range shares {
		m.charge(s, r, i)
	}
	if r.costs[0] == 0 && m.is("key-lost-without-a-first-share") {
		return shares
	}
	m.keep(r.key, shares)
	return shares
}

// charge charges one limit. A share of 0 changes nothing.
func (m *model) charge(s share, r request, i int) {
	now, cost := int64(r.now), r.costs[i]
	cost = or(m.fault, "zero-share-charges", cost, max(cost, 1))
	switch {
	case cost > 0:
		s.spend(now, cost)
	case m.is("zero-share-moves-time"):
		s.looked(now)
	}
}

// peeked is told of a peek that a take would be allowed, and changes nothing.
func (m *model) peeked(r request, shares []share) []share {
	if m.is("peek-makes-a-key") {
		m.keep(r.key, shares)
	}
	if m.is("peek-moves-time") {
		for _, s := range shares {
			s.looked(int64(r.now))
		}
	}
	if m.is("peek-tells-what-is-left-after") {
		after := make([]share, len(shares))
		for i, s := range shares {
			after[i] = s.copied()
			m.charge(after[i], r, i)
		}
		return after
	}
	return shares
}
