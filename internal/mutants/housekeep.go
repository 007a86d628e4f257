package mutants

import (
	"slices"

	"weir/policy"
)

// refund gives back a cost under each limit.
func (m *model) refund(r request) policy.Outcome {
	late := m.past(r.now)
	late = or(m.fault, "refund-past-the-horizon", late, false)
	if late {
		return policy.PastHorizon
	}
	r = m.heard(r)
	r.costs = or(m.fault, "refund-counts-as-1", r.costs, [2]uint64{min(r.costs[0], 1), min(r.costs[1], 1)})
	r.costs = or(m.fault, "refund-of-the-first-cost-to-both", r.costs, [2]uint64{r.costs[0], r.costs[0]})
	r.costs = or(m.fault, "refund-to-the-first-limit-only", r.costs, [2]uint64{r.costs[0], 0})
	r.costs = or(m.fault, "refund-is-a-no-op", r.costs, [2]uint64{})
	shares, known := m.find(r.key, int64(r.now))
	known = known || m.is("refund-makes-a-key")
	if !known {
		return policy.Allow
	}
	for i, s := range shares {
		s.refund(int64(r.now), r.costs[i])
	}
	m.keep(r.key, shares)
	if m.idle(shares, int64(r.now)) && m.is("refund-frees-the-room") {
		delete(m.keys, r.key)
	}
	return policy.Allow
}

// forget makes a key as if it had never been seen.
func (m *model) forget(key uint64) {
	key = m.named(key)
	switch {
	case m.is("forget-is-a-no-op"):
	case m.is("forget-empties-the-table"):
		clear(m.keys)
	case m.is("forget-keeps-the-room"):
		m.refresh(key)
	default:
		delete(m.keys, key)
	}
}

// refresh makes a key that holds room as good as new, and leaves it its room.
func (m *model) refresh(key uint64) {
	if _, known := m.keys[key]; known {
		m.keys[key] = m.fresh(0)
	}
}

// idle says whether a key is as good as new.
func (m *model) idle(shares []share, now int64) bool {
	return !slices.ContainsFunc(shares, func(s share) bool { return s.reset(now) > 0 })
}

// sweepAt is a sweep as it comes in: beyond the horizon it counts as one at it.
func (m *model) sweepAt(now uint64) {
	at := min(now, m.horizonOf(m.rules))
	at = or(m.fault, "sweep-past-the-horizon-not-capped", at, now)
	if now > at && m.is("sweep-past-the-horizon-ignored") {
		return
	}
	m.sweep(int64(at))
}

// sweep frees the keys that are idle.
func (m *model) sweep(now int64) {
	now = or(m.fault, "sweep-one-tick-early", now, now+1)
	now = or(m.fault, "sweep-one-tick-late", now, now-1)
	for key, shares := range m.keys {
		idle := m.idle(shares, now)
		idle = or(m.fault, "sweep-drops-live-keys", idle, true)
		idle = or(m.fault, "sweep-frees-nothing", idle, false)
		idle = or(m.fault, "sweep-goes-by-the-first-limit", idle, m.idle(shares[:1], now))
		idle = or(m.fault, "sweep-frees-on-either-limit", idle, m.idle(shares[:1], now) || m.idle(shares[len(shares)-1:], now))
		switch {
		case idle && m.is("sweep-keeps-the-room"):
			m.refresh(key)
		case idle:
			delete(m.keys, key)
		}
	}
}

// relimit puts another limit in force, under which every key keeps what it has spent.
func (m *model) relimit(now uint64, l policy.Limit) error {
	to, err := m.rulesOf(m.name, l)
	if err != nil {
		return err
	}
	late := m.past(now)
	late = or(m.fault, "relimit-past-the-old-horizon", late, false)
	lateThen := now > m.horizonOf(to)
	lateThen = or(m.fault, "relimit-past-the-new-horizon", lateThen, false)
	late = late || lateThen
	late = or(m.fault, "relimit-past-the-horizon", late, false)
	if late {
		return policy.ErrPastHorizon
	}
	if m.is("relimit-is-a-no-op") {
		return nil
	}
	for key, shares := range m.keys {
		if m.idle(shares, int64(now)) && m.is("relimit-idle-key-loses-its-room") {
			delete(m.keys, key)
			continue
		}
		m.keys[key] = m.carried(shares, to, int64(now))
	}
	if m.is("relimit-drops-all-keys") {
		clear(m.keys)
	}
	m.rules = to
	return nil
}

func (m *model) carried(shares []share, to []rule, now int64) []share {
	kept := make([]share, len(shares))
	for i, s := range shares {
		kept[i] = to[i].carried(s, now)
	}
	return kept
}
