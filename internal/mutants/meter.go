package mutants

import "weir/policy"

// meter is what a key has spent under one limit of a bucket. Every answer is read off its debt; how the debt is stored
// is the form's.
type meter struct {
	*scale
	state
}

// state is the one or two numbers that are stored: a theoretical arrival time; a balance or a level and the tick at
// which it was right.
type state struct{ amount, last int64 }

// form is where GCRA, token bucket and leaky bucket differ.
type form interface {
	// debt is what a state owes at now.
	debt(s *scale, of state, now int64) int64
	// owing is the state that owes debt at now; was is the state before it.
	owing(s *scale, was state, now, debt int64) state
}

func (m *meter) debt(now int64) int64 { return m.form.debt(m.scale, m.state, now) }
func (m *meter) owe(now, debt int64)  { m.state = m.form.owing(m.scale, m.state, now, debt) }
func (m *meter) copied() share        { other := *m; return &other }

func (m *meter) judge(now int64, cost uint64) (policy.Outcome, uint64) {
	return m.scale.judge(m.debt(now), cost)
}

func (m *meter) left(now int64) uint64  { return m.scale.left(m.debt(now)) }
func (m *meter) reset(now int64) uint64 { return m.scale.reset(m.debt(now)) }

func (m *meter) spend(now int64, cost uint64) {
	debt := m.debt(now)
	after := debt + m.units(cost)
	after = or(m.fault, "interval-in-float64", after, m.inFloat(now, debt, cost))
	m.owe(now, after)
}

// inFloat is the debt after cost where the interval and the schedule are float64s, in ticks.
func (m *meter) inFloat(now, debt int64, cost uint64) int64 {
	schedule := float64(now) + float64(debt)/float64(m.p) + float64(cost)*m.ticksAPermit
	return int64(schedule*float64(m.p)) - now*m.p
}

// denied is told of a denial, and does nothing.
func (m *meter) denied(now int64, cost uint64) {
	if m.is("state-moved-on-denial") {
		m.spend(now, cost)
	}
	if m.is("denied-request-fills") {
		m.spend(now, cost)
	}
	if m.is("last-moved-though-nothing-refilled") {
		m.last = now
	}
	if m.is("refill-stored-on-denial") {
		m.owe(now, m.debt(now))
	}
}

// looked is told of a request that was allowed to spend nothing, and does nothing.
func (m *meter) looked(now int64) { m.owe(now, m.debt(now)) }

// delay is the ticks until what is in a leaky bucket has leaked.
func (m *meter) delay(now int64, cost uint64) uint64 {
	if _, queues := m.form.(leaky); !queues {
		return 0
	}
	ahead := m.debt(now)
	ahead = or(m.fault, "delay-after-the-pour", ahead, ahead+m.units(cost))
	return or(m.fault, "delay-rounded-down", m.ticks(ahead), uint64(ahead/m.p))
}

func (m *meter) refund(now int64, cost uint64) {
	debt := m.debt(now)
	if debt == 0 && !m.is("refund-of-an-idle-key") {
		return
	}
	back := product(cost, m.q)
	back = or(m.fault, "refund-product-wraps", back, int64(cost*uint64(m.q)))
	rest := max(0, debt-back)
	rest = or(m.fault, "refund-not-clamped", rest, debt-back)
	rest = or(m.fault, "refund-empties-more-than-it-may", rest, 0)
	m.owe(now, rest)
}

// gcra stores the theoretical arrival time.
type gcra struct{}

func (gcra) debt(s *scale, of state, now int64) int64 {
	debt := max(of.amount, now*s.p) - now*s.p
	return or(s.fault, "no-max-of-schedule-and-now", debt, of.amount-now*s.p)
}

func (gcra) owing(s *scale, _ state, now, debt int64) state { return state{amount: now*s.p + debt} }

// token stores the balance, and when it was right.
type token struct{}

func (token) debt(s *scale, of state, now int64) int64 {
	refill := s.flowed(of, now)
	refill = or(s.fault, "fraction-lost-at-refill", refill, refill/s.q*s.q)
	balance := of.amount + refill
	balance = or(s.fault, "float-tokens", balance, s.floatTokens(of, now))
	held := min(s.whole, balance)
	held = or(s.fault, "no-cap", held, balance)
	held = or(s.fault, "carry-kept-at-full", held, min(balance, s.whole+balance%s.q))
	return s.whole - held
}

// floatTokens is the balance where tokens and the rate are float64s.
func (s *scale) floatTokens(of state, now int64) int64 {
	tokens := float64(of.amount)/float64(s.q) + float64(now-of.last)*s.ratePerTick
	return int64(tokens * float64(s.q))
}

func (t token) owing(s *scale, was state, now, debt int64) state {
	last := s.stamp(was, now)
	if t.debt(s, was, now) == 0 && s.is("last-not-moved-while-full") {
		last = was.last
	}
	return state{s.whole - debt, last}
}

// leaky stores the level, and when it was right.
type leaky struct{}

func (leaky) debt(s *scale, of state, now int64) int64 {
	leak := s.flowed(of, now)
	leak = or(s.fault, "leak-rounded-up", leak, (leak+s.q-1)/s.q*s.q)
	level := max(0, of.amount-leak)
	return or(s.fault, "level-below-zero", level, of.amount-leak)
}

func (leaky) owing(s *scale, was state, now, debt int64) state { return state{debt, s.stamp(was, now)} }

// stamp is the tick that is stored beside what is right at now.
func (s *scale) stamp(was state, now int64) int64 {
	return or(s.fault, "backward-time-drains-for-good", now, max(now, was.last))
}

// flowed is what has been refilled or has leaked since a state was right: less than nothing at an earlier now.
func (s *scale) flowed(of state, now int64) int64 {
	elapsed := now - of.last
	elapsed = or(s.fault, "backward-time-mints", elapsed, max(0, elapsed))
	elapsed = or(s.fault, "elapsed-unsigned", elapsed, int64(min(uint64(elapsed), s.lastTick)))
	flow := elapsed * s.p
	return or(s.fault, "elapsed-product-wraps", flow, elapsed*s.permits/s.g)
}
