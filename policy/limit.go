package policy

import (
	"math"
	"math/bits"
)

// Never is the RetryAfter of a request that no waiting can help. It is the largest value of its type, so that
// nobody sleeps a negative time or spins.
const Never = math.MaxUint64

// unitBound is what every quantity in units stays below, so that the sum of any two fits 63 bits.
const unitBound = 1 << 62

// Limit is what a policy enforces: Permits per Period ticks, and at most Burst permits at once. The second three
// numbers are a dual bucket's second limit and 0 for every other policy.
//
// Permits, Period and Burst are at least 1. With g = gcd(Permits, Period), Burst*Period/g and Permits/g stay below
// 2^62. A sliding log has no burst of its own: its Burst is 0 or Permits, and Permits and Period stay below 2^62.
type Limit struct {
	Permits, Period, Burst    uint64
	Permits2, Period2, Burst2 uint64
}

// HasSecond says whether any number of the second limit is set.
func (l Limit) HasSecond() bool { return l.Permits2|l.Period2|l.Burst2 != 0 }

// Scale checks l as the one limit of a bucket and gives its exact units. The error is a *LimitError.
func (l Limit) Scale() (Scale, error) {
	if err := l.single(); err != nil {
		return Scale{}, err
	}
	return newScale(l.Permits, l.Period, l.Burst, "")
}

// Scales checks l as the two limits of a dual bucket and gives the exact units of each. The error is a
// *LimitError; everything wrong with the first limit is found before anything wrong with the second.
func (l Limit) Scales() (first, second Scale, err error) {
	if !l.HasSecond() {
		return first, second, tooSmall(ErrInvalidSecond, "permits2", 0, 1)
	}
	if first, err = newScale(l.Permits, l.Period, l.Burst, ""); err != nil {
		return first, second, err
	}
	second, err = newScale(l.Permits2, l.Period2, l.Burst2, "2")
	return first, second, err
}

// Window checks l as the limit of a sliding log: at most Permits in any Period ticks. The error is a *LimitError.
func (l Limit) Window() error {
	if err := l.single(); err != nil {
		return err
	}
	if err := positive(l.Permits, l.Period, ""); err != nil {
		return err
	}
	if l.Burst != 0 && l.Burst != l.Permits {
		return &LimitError{string(ErrInvalidBurst), "burst", l.Burst, "exactly", l.Permits}
	}
	if l.Permits >= unitBound {
		return tooLarge("permits", l.Permits, unitBound-1)
	}
	if l.Period >= unitBound {
		return tooLarge("period", l.Period, unitBound-1)
	}
	return nil
}

// single refuses a second limit.
func (l Limit) single() error {
	for _, f := range []struct {
		name  string
		value uint64
	}{{"permits2", l.Permits2}, {"period2", l.Period2}, {"burst2", l.Burst2}} {
		if f.value != 0 {
			return &LimitError{string(ErrInvalidSecond), f.name, f.value, "exactly", 0}
		}
	}
	return nil
}

func positive(permits, period uint64, suffix string) error {
	if permits == 0 {
		return tooSmall(ErrInvalidPermits, "permits"+suffix, 0, 1)
	}
	if period == 0 {
		return tooSmall(ErrInvalidPeriod, "period"+suffix, 0, 1)
	}
	return nil
}

// Scale is one limit in units in which nothing is ever rounded. With g = gcd(permits, period), a tick is
// permits/g units and a permit period/g, so that the emission interval period/permits, a rational number, need
// never be computed: a permit is Permit/Tick ticks. All fields are below 2^62.
type Scale struct {
	// Tick is p, the units that one tick leaks or refills.
	Tick uint64
	// Permit is q, the units that one permit costs.
	Permit uint64
	// Tolerance is L, the units that Burst permits cost: the burst tolerance.
	Tolerance uint64
	// Burst is the most permits that can be spent at once.
	Burst uint64
	// Horizon is the largest now with now * Tick below 2^62.
	Horizon uint64

	second *Scale  // of the first of a Pair
	told   *answer // of a decision whose words do not hold it
}

func newScale(permits, period, burst uint64, suffix string) (Scale, error) {
	if err := positive(permits, period, suffix); err != nil {
		return Scale{}, err
	}
	if burst == 0 {
		return Scale{}, tooSmall(ErrInvalidBurst, "burst"+suffix, 0, 1)
	}
	g := gcd(permits, period)
	p, q := permits/g, period/g
	if q >= unitBound {
		return Scale{}, tooLarge("period"+suffix, period, (unitBound-1)*g)
	}
	hi, tolerance := bits.Mul64(burst, q)
	if hi != 0 || tolerance >= unitBound {
		return Scale{}, tooLarge("burst"+suffix, burst, (unitBound-1)/q)
	}
	if p >= unitBound {
		return Scale{}, tooLarge("permits"+suffix, permits, (unitBound-1)*g)
	}
	return Scale{Tick: p, Permit: q, Tolerance: tolerance, Burst: burst, Horizon: (unitBound - 1) / p}, nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Judge decides a request of cost permits on a bucket that owes debt units: the conformance test of the GCRA
// (ITU-T I.371, ATM Forum TM 4.0), which is that of the token bucket and of the leaky bucket as a meter too. A tie
// conforms, and a cost of 0 always does. For Deny, excess is the units that must leak first; it is Never for
// TooCostly and 0 for Allow. debt is below 2^63.
func (s *Scale) Judge(debt, cost uint64) (o Outcome, excess uint64) {
	if cost > s.Burst {
		return TooCostly, Never
	}
	spare := s.Tolerance - cost*s.Permit
	if debt <= spare || cost == 0 {
		return Allow, 0
	}
	return Deny, debt - spare
}

// Remaining is the whole permits that a bucket that owes debt units could still spend: rounded down, never negative.
func (s *Scale) Remaining(debt uint64) uint64 {
	if debt >= s.Tolerance {
		return 0
	}
	return (s.Tolerance - debt) / s.Permit
}

// Ticks is the least whole number of ticks in which units leak. Never stays Never.
func (s *Scale) Ticks(units uint64) uint64 {
	if units == Never || s.Tick == 0 { // a zero Scale leaks nothing
		return Never
	}
	whole := units / s.Tick
	if whole*s.Tick < units {
		whole++
	}
	return whole
}

// Next is the least whole number of ticks until Remaining is larger; 0 for a bucket that owes nothing.
func (s *Scale) Next(debt uint64) uint64 {
	if debt == 0 {
		return 0
	}
	more := (s.Remaining(debt) + 1) * s.Permit
	return s.Ticks(debt + more - s.Tolerance)
}
