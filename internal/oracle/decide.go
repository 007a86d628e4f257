package oracle

import "weir/policy"

// Take decides whether key may spend at tick now, and spends if so: cost permits, and under a dual bucket's
// second limit cost2 (any other policy does not look at cost2). Costs are any number. Answer tells the key as
// it is afterwards; its times are ticks.
func (m *Model) Take(now, key, cost, cost2 uint64) policy.Answer {
	return m.request(now, key, [2]uint64{cost, cost2}, true)
}

// Peek gives the outcome, RetryAfter and Delay that Take would give, with Remaining, ResetAfter and Binding of
// the key as it stands. It changes nothing.
func (m *Model) Peek(now, key, cost, cost2 uint64) policy.Answer {
	return m.request(now, key, [2]uint64{cost, cost2}, false)
}

// Next is the least wait d, in ticks, such that a peek at now+d, nobody else coming, shows more remaining than
// one at now. It is 0 if nothing larger ever comes: what remains is all there can be, or now is beyond the
// horizon.
func (m *Model) Next(now, key uint64) uint64 {
	if now > m.horizon {
		return 0
	}
	shares, _ := m.look(key)
	var most uint64 = policy.Never
	for _, s := range shares {
		most = min(most, s.size())
	}
	left, _ := remaining(shares, now)
	if left == most {
		return 0
	}
	var wait uint64 // more is left once every share has it
	for _, s := range shares {
		wait = max(wait, s.untilFits(now, left+1))
	}
	return wait
}

// look finds the shares of key, or those of a key without state.
func (m *Model) look(key uint64) (shares []share, known bool) {
	if shares, known = m.keys[key]; known {
		return shares, true
	}
	return m.blank, false
}

// request answers in the order of the contract; charge spends what is allowed.
func (m *Model) request(now, key uint64, costs [2]uint64, charge bool) policy.Answer {
	if now > m.horizon {
		return refused(policy.PastHorizon)
	}
	shares, known := m.look(key)
	out := m.outcome(shares, known, now, costs)
	if out == policy.Full {
		return refused(policy.Full)
	}
	a := policy.Answer{Outcome: out}
	if out == policy.Allow {
		a.Delay = m.delay(shares, now)
		if charge {
			shares = m.spend(key, now, costs)
		}
	} else {
		a.RetryAfter, a.Binding = retry(shares, now, costs)
	}
	left, tightest := remaining(shares, now)
	a.Remaining, a.ResetAfter = left, untilNew(shares, now)
	if out == policy.Allow {
		a.Binding = tightest
	}
	return a
}

// refused is the answer that says nothing about the key.
func refused(o policy.Outcome) policy.Answer {
	return policy.Answer{Outcome: o, RetryAfter: policy.Never}
}

// outcome is steps 2 to 5 of the order of decision: each step looks at all shares before the next one is taken.
func (m *Model) outcome(shares []share, known bool, now uint64, costs [2]uint64) policy.Outcome {
	spends := false
	for i, s := range shares {
		if costs[i] > s.size() {
			return policy.TooCostly
		}
		spends = spends || costs[i] > 0
	}
	if !spends {
		return policy.Allow
	}
	if !known && m.bounded && uint64(len(m.keys)) >= m.room {
		return policy.Full
	}
	for i, s := range shares {
		if costs[i] > 0 && !s.fits(now, costs[i]) {
			return policy.Deny
		}
	}
	return policy.Allow
}

// retry is how long the longest waiting share of a refused request has to wait, and which one that is, the
// first on a tie. A cost that can never fit waits for ever; a share of 0 is allowed at once.
func retry(shares []share, now uint64, costs [2]uint64) (wait uint64, b policy.Binding) {
	for i, s := range shares {
		var w uint64
		switch {
		case costs[i] > s.size():
			w = policy.Never
		case costs[i] > 0:
			w = s.untilFits(now, costs[i])
		}
		if w > wait {
			wait, b = w, policy.Binding(i)
		}
	}
	return wait, b
}

// spend charges an allowed request and returns the shares of key as they are then. A key gets its room here.
func (m *Model) spend(key, now uint64, costs [2]uint64) []share {
	if costs[0] == 0 && (len(m.rules) == 1 || costs[1] == 0) {
		shares, _ := m.look(key)
		return shares
	}
	shares, known := m.keys[key]
	if !known {
		for _, r := range m.rules {
			shares = append(shares, r.fresh())
		}
		m.keys[key] = shares
	}
	for i, s := range shares {
		if costs[i] > 0 {
			s.spend(now, costs[i])
		}
	}
	return shares
}

// delay is, for a leaky bucket, how long it takes until all that is in it has leaked; 0 for any other policy.
func (m *Model) delay(shares []share, now uint64) uint64 {
	if m.name != leakyBucket {
		return 0
	}
	return untilNew(shares, now)
}

// untilNew is the least wait after which all shares are as good as fresh.
func untilNew(shares []share, now uint64) (wait uint64) {
	for _, s := range shares {
		wait = max(wait, s.untilNew(now))
	}
	return wait
}

// remaining is the most permits that fit every share at now, and the share that has the fewest, the first on a
// tie. It is found by trying, like the waits: this many fit, and one more does not.
func remaining(shares []share, now uint64) (left uint64, b policy.Binding) {
	left = policy.Never
	for i, s := range shares {
		size := s.size()
		n := least(size, func(n uint64) bool { return n >= size || !s.fits(now, n+1) })
		if n < left {
			left, b = n, policy.Binding(i)
		}
	}
	return left, b
}
