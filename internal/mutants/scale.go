package mutants

import (
	"math"
	"math/bits"

	"weir/policy"
)

// scale is one limit of a bucket in units in which nothing is rounded: a tick is p of them, a permit is q, the whole
// burst is whole.
type scale struct {
	fault
	form         form
	p, q, whole  int64
	permits, g   int64 // as given, and what they were reduced by
	burst        uint64
	lastTick     uint64
	ratePerTick  float64 // for the mutants that count in floats
	ticksAPermit float64
}

func newScale(f fault, n numbers, way form) *scale {
	g := f.common(n)
	g = or(f, "interval-truncated", g, n.permits)
	s := &scale{fault: f, form: way, g: int64(g), permits: int64(n.permits), burst: n.burst}
	s.burst = or(f, "burst-plus-one", s.burst, n.burst+1)
	s.burst = or(f, "burst-minus-one", s.burst, n.burst-1)
	s.p, s.q = int64(n.permits/g), int64(n.period/g)
	s.whole = int64(s.burst) * s.q
	s.lastTick = (unitBound - 1) / uint64(s.p)
	s.ratePerTick = float64(n.permits) / float64(n.period)
	s.ticksAPermit = float64(n.period) / float64(n.permits)
	return s
}

func (s *scale) size() uint64    { return s.burst }
func (s *scale) horizon() uint64 { return s.lastTick }

// fresh is a meter that owes nothing.
func (s *scale) fresh(now int64) share {
	m := &meter{scale: s}
	m.owe(0, 0)
	if s.is("starts-empty") {
		m.owe(now, s.whole)
	}
	return m
}

// units is what cost permits are worth, or the largest number there is.
func (s *scale) units(cost uint64) int64 {
	return or(s.fault, "product-wraps", product(cost, s.q), int64(cost*uint64(s.q)))
}

// product is a*b, or the largest number there is where that is more.
func product(a uint64, b int64) int64 {
	hi, lo := bits.Mul64(a, uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// judge decides cost on a bucket that owes debt. wait is in ticks.
func (s *scale) judge(debt int64, cost uint64) (o policy.Outcome, wait uint64) {
	pour := s.units(cost)
	tooCostly := pour > s.whole
	tooCostly = or(s.fault, "cost-above-burst-not-checked", tooCostly, false)
	tooCostly = or(s.fault, "cost-of-burst-refused", tooCostly, pour >= s.whole)
	if tooCostly {
		return policy.TooCostly, policy.Never
	}
	spare := s.whole - pour
	fits := debt <= spare
	fits = or(s.fault, "less-for-at-most", fits, debt < spare)
	fits = or(s.fault, "more-for-at-least", fits, s.whole-debt > pour)
	free := cost == 0
	free = or(s.fault, "zero-cost-denied-in-debt", free, false)
	if fits || free {
		return policy.Allow, 0
	}
	return policy.Deny, s.retry(debt, cost, debt-spare)
}

// retry is the ticks until the excess has leaked.
func (s *scale) retry(debt int64, cost uint64, excess int64) uint64 {
	excess = or(s.fault, "retry-to-the-schedule", excess, debt)
	excess = or(s.fault, "retry-ignores-the-partial-permit", excess, int64(cost-s.left(debt))*s.q)
	wait := s.ticks(excess)
	wait = or(s.fault, "retry-rounded-down", wait, uint64(excess/s.p))
	return or(s.fault, "retry-one-tick-late", wait, wait+1)
}

// left is the whole permits that could still be spent.
func (s *scale) left(debt int64) uint64 {
	spare := s.whole - debt
	spare = or(s.fault, "remaining-rounded-up", spare, spare+s.q-1)
	left := max(0, spare) / s.q
	left = or(s.fault, "remaining-below-zero", left, spare/s.q)
	return uint64(left)
}

// reset is the ticks until the debt is paid.
func (s *scale) reset(debt int64) uint64 {
	ticks := s.ticks(debt)
	ticks = or(s.fault, "reset-minus-tolerance", ticks, s.ticks(debt-s.whole))
	return or(s.fault, "reset-rounded-down", ticks, uint64(max(0, debt)/s.p))
}

// ticks is the least number of ticks in which units leak.
func (s *scale) ticks(units int64) uint64 {
	if units <= 0 {
		return 0
	}
	return uint64((units-1)/s.p) + 1
}

// carried is old, of another scale, under this one: what it owes, in permits, rounded up, at most the burst.
func (s *scale) carried(old share, now int64) share {
	was := old.(*meter)
	debt := was.debt(now)
	kept := s.converted(debt, was.scale)
	kept = or(s.fault, "relimit-mints-a-burst", kept, 0)
	kept = or(s.fault, "relimit-keeps-units", kept, debt)
	kept = or(s.fault, "relimit-keeps-ticks", kept, product(was.ticks(debt), s.p))
	kept = or(s.fault, "relimit-keeps-what-is-left", kept, s.whole-product(was.left(debt), s.q))
	capped := min(s.whole, kept)
	capped = or(s.fault, "relimit-not-capped", capped, kept)
	m := &meter{scale: s}
	m.owe(now, capped)
	if debt == 0 && s.is("relimit-idle-as-never-seen") {
		m.owe(0, 0)
	}
	return m
}

// converted is debt, in units of another scale, in units of this one, rounded up.
func (s *scale) converted(debt int64, was *scale) int64 {
	hi, lo := bits.Mul64(uint64(debt), uint64(s.q))
	hi = or(s.fault, "relimit-product-wraps", hi, 0)
	if hi >= uint64(was.q) {
		return math.MaxInt64
	}
	quotient, rest := bits.Div64(hi, lo, uint64(was.q))
	rest = or(s.fault, "relimit-rounded-down", rest, 0)
	if rest > 0 {
		quotient++
	}
	return int64(min(quotient, math.MaxInt64))
}
