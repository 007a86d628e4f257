package mutants

import (
	"slices"

	"weir/policy"
)

// model is one policy under one limit, over a plain map.
type model struct {
	fault
	name    string
	rules   []rule // one, or a dual bucket's two
	keys    map[uint64][]share
	bounded bool
	rooms   uint64 // if bounded
	latest  uint64 // the latest now of any request
}

// rule is one limit.
type rule interface {
	size() uint64
	horizon() uint64
	// fresh is the share of a key that is first seen at now.
	fresh(now int64) share
	// carried is what a share under another limit becomes when this one takes over at now.
	carried(old share, now int64) share
}

// share is what one key has spent under one limit.
type share interface {
	// judge gives, for Deny, the ticks to wait.
	judge(now int64, cost uint64) (policy.Outcome, uint64)
	spend(now int64, cost uint64)
	denied(now int64, cost uint64)
	looked(now int64)
	refund(now int64, cost uint64)
	// left, reset and delay are as the share stands.
	left(now int64) uint64
	reset(now int64) uint64
	delay(now int64, cost uint64) uint64
	copied() share
}

// newModel makes a model of the policy called name; rooms is looked at if it is bounded. The error is one of package
// policy's words.
func newModel(f fault, name string, l policy.Limit, bounded bool, rooms uint64) (*model, error) {
	noRoom := bounded && rooms == 0
	noRoom = or(f, "max-keys-not-checked", noRoom, false)
	if noRoom && f.is("max-keys-checked-first") {
		return nil, policy.ErrInvalidMaxKeys
	}
	rules, err := f.rulesOf(name, l)
	if err != nil {
		return nil, err
	}
	if noRoom {
		return nil, policy.ErrInvalidMaxKeys
	}
	return &model{fault: f, name: name, rules: rules, keys: map[uint64][]share{}, bounded: bounded, rooms: rooms}, nil
}

// horizonOf is the nearer horizon of all rules.
func (m *model) horizonOf(rules []rule) uint64 {
	first, last := rules[0].horizon(), rules[len(rules)-1].horizon()
	horizon := min(first, last)
	horizon = or(m.fault, "horizon-the-farther-of-two", horizon, max(first, last))
	horizon = or(m.fault, "horizon-of-the-first-limit", horizon, first)
	horizon = or(m.fault, "horizon-one-tick-later", horizon, horizon+1)
	return or(m.fault, "horizon-one-tick-earlier", horizon, horizon-1)
}

// past says whether a now is beyond what is decided.
func (m *model) past(now uint64) bool {
	past := now > m.horizonOf(m.rules)
	past = or(m.fault, "horizon-wraps", past, m.wraps(now))
	return or(m.fault, "horizon-not-checked", past, false)
}

// wraps is past where the units of now are multiplied out in 64 bits.
func (m *model) wraps(now uint64) bool {
	return slices.ContainsFunc(m.rules, func(r rule) bool {
		s, ok := r.(*scale)
		return ok && now*uint64(s.p) >= unitBound
	})
}

// request is a take, a peek or a refund.
type request struct {
	now, key uint64
	costs    [2]uint64 // the second is for a dual bucket
	peek     bool
}

func (r request) free() bool { return r.costs == [2]uint64{} }

// heard is a request as it comes in: here is what mutants hear wrong.
func (m *model) heard(r request) request {
	r.now = or(m.fault, "time-in-32-bits", r.now, uint64(uint32(r.now)))
	r.now = or(m.fault, "time-in-doubles", r.now, uint64(float64(r.now)))
	m.latest = max(m.latest, r.now)
	r.now = or(m.fault, "time-never-steps-back", r.now, m.latest)
	r.costs = or(m.fault, "cost-treated-as-1", r.costs, [2]uint64{min(r.costs[0], 1), min(r.costs[1], 1)})
	r.costs = or(m.fault, "cost-in-32-bits", r.costs, [2]uint64{uint64(uint32(r.costs[0])), uint64(uint32(r.costs[1]))})
	r.costs = or(m.fault, "cost2-ignored", r.costs, [2]uint64{r.costs[0], r.costs[0]})
	r.costs = or(m.fault, "costs-swapped", r.costs, [2]uint64{r.costs[1], r.costs[0]})
	if r.free() && m.is("zero-cost-treated-as-1") {
		r.costs = [2]uint64{1, 1}
	}
	r.key = m.named(r.key)
	return r
}

// named is the key under which a key is kept.
func (m *model) named(key uint64) uint64 {
	key = or(m.fault, "one-state-for-all-keys", key, 0)
	key = or(m.fault, "key-in-32-bits", key, uint64(uint32(key)))
	key = or(m.fault, "key-in-its-high-half", key, key>>32)
	return or(m.fault, "key-in-doubles", key, uint64(float64(key)))
}

// find is what a key has spent, which is nothing for one that holds no room.
func (m *model) find(key uint64, now int64) (shares []share, known bool) {
	if shares, known = m.keys[key]; known {
		return shares, true
	}
	return m.fresh(now), false
}

func (m *model) fresh(now int64) (shares []share) {
	for _, r := range m.rules {
		shares = append(shares, r.fresh(now))
	}
	return shares
}

// keep gives a key room.
func (m *model) keep(key uint64, shares []share) {
	lost := key == 0 && m.is("key-0-lost")
	lost = lost || key == 1<<64-1 && m.is("last-key-lost")
	if !lost {
		m.keys[key] = shares
	}
}
