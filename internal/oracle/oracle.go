/*
Package oracle is the second opinion: a slow model of the five policies that is exact because it computes with
rational numbers of any size, and right because it follows definitions instead of formulas. A bucket key is "so
many permits owed, as of that tick", a rational that leaks permits/period at every tick; a sliding log is a list
that is walked from end to end. Nothing here knows units, carries, tolerances or theoretical arrival times, and
no waiting time is ever divided out: each is searched for, as the least tick at which what it promises has come
true and one tick before which it has not.

The production policies and this package share no code but the plain words of package policy (Limit's fields,
Outcome, Answer, Binding, Never). Where both say the same, a vector may be written.
*/
package oracle

import "weir/policy"

// Model is one policy under one limit, for any number of keys. It answers to the tick and to the permit what
// the contract says. It is not safe for concurrent use. Make one with New; the zero Model does nothing useful.
type Model struct {
	name    string
	rules   []rule // one, or a dual bucket's two
	horizon uint64
	keys    map[uint64][]share // who holds room, and a share under each rule
	blank   []share            // what a key without state is judged by; never changed
	bounded bool
	room    uint64 // if bounded, how many keys there is room for
}

// rule is one limit.
type rule interface {
	// fresh is the share of a key never seen.
	fresh() share
	// carried is what old, a share under another limit of the same policy, becomes when this one takes over at
	// now.
	carried(old share, now uint64) share
	// horizon is the largest now that the limit decides.
	horizon() uint64
}

// share is what one key has spent under one rule.
type share interface {
	// size is the most permits that can be spent at once.
	size() uint64
	// fits says whether cost permits more, cost above 0, are within the limit at now.
	fits(now, cost uint64) bool
	// untilFits is the least wait such that fits at now+wait if nobody else comes; cost is from 1 to size.
	untilFits(now, cost uint64) uint64
	// untilNew is the least wait such that the share is as good as a fresh one at now+wait.
	untilNew(now uint64) uint64
	// spend adds cost permits, which fit, at now.
	spend(now, cost uint64)
	// refund takes cost permits back, never more than there are.
	refund(now, cost uint64)
}

// New makes the model of the policy called name: gcra, tokenbucket, leakybucket, slidinglog or dualbucket. A
// bounded model has room for exactly maxKeys keys; otherwise maxKeys is not looked at. The error is a
// *ConfigError and then the model is nil.
func New(name string, l policy.Limit, bounded bool, maxKeys uint64) (*Model, error) {
	rules, err := rulesOf(name, l)
	if err != nil {
		return nil, err
	}
	if bounded && maxKeys == 0 {
		return nil, &ConfigError{Code: "invalid_max_keys"}
	}
	m := &Model{name: name, keys: map[uint64][]share{}, bounded: bounded, room: maxKeys}
	m.adopt(rules)
	return m, nil
}

// adopt puts rules in force. Of two horizons the nearer one counts.
func (m *Model) adopt(rules []rule) {
	m.rules, m.blank, m.horizon = rules, nil, policy.Never
	for _, r := range rules {
		m.blank = append(m.blank, r.fresh())
		m.horizon = min(m.horizon, r.horizon())
	}
}

// Horizon is the largest now, in ticks, that the model decides.
func (m *Model) Horizon() uint64 { return m.horizon }

// Keys is how many keys hold room: those with an allowed take of a cost above 0 that no sweep has found idle
// and nobody has forgotten since.
func (m *Model) Keys() int { return len(m.keys) }

// Forget makes key as if it had never been seen; its room is free. An unknown key stays unknown.
func (m *Model) Forget(key uint64) { delete(m.keys, key) }

// Sweep frees the room of every key that is as good as new at now (in ticks; beyond the horizon it counts as
// the horizon) and returns how many keys hold room afterwards.
func (m *Model) Sweep(now uint64) int {
	now = min(now, m.horizon)
	for key, shares := range m.keys {
		if untilNew(shares, now) == 0 {
			delete(m.keys, key)
		}
	}
	return len(m.keys)
}

// Refund gives back, at tick now, cost permits of an earlier request of key; a dual bucket gives back cost
// under its first limit and cost2 under its second, any other policy does not look at cost2. A key never
// becomes better than new, and keeps its room; an unknown one stays unknown. The outcome is Allow, or
// PastHorizon and nothing has changed.
func (m *Model) Refund(now, key, cost, cost2 uint64) policy.Outcome {
	if now > m.horizon {
		return policy.PastHorizon
	}
	costs := [2]uint64{cost, cost2}
	for i, s := range m.keys[key] {
		s.refund(now, costs[i])
	}
	return policy.Allow
}

// Relimit puts the same policy under limit l at tick now. What a key has spent is kept: in a bucket as permits
// owed, rounded up to what the new limit can count and never more than its burst, in a sliding log as the
// entries held. The outcome is Allow, or PastHorizon if now is beyond the old horizon or the new one. The error
// is a *ConfigError if l is invalid for the policy, and then the outcome is 0. Unless the outcome is Allow
// nothing has changed.
func (m *Model) Relimit(now uint64, l policy.Limit) (policy.Outcome, error) {
	rules, err := rulesOf(m.name, l)
	if err != nil {
		return 0, err
	}
	if now > m.horizon {
		return policy.PastHorizon, nil
	}
	for _, r := range rules {
		if now > r.horizon() {
			return policy.PastHorizon, nil
		}
	}
	m.adopt(rules)
	for _, shares := range m.keys {
		for i, s := range shares {
			shares[i] = rules[i].carried(s, now)
		}
	}
	return policy.Allow, nil
}
