package mutants

import (
	"math/bits"

	"weir/policy"
)

// unitBound is what every quantity in units stays below.
const unitBound = 1 << 62

// numbers are the three numbers of one limit.
type numbers struct{ permits, period, burst uint64 }

// rulesOf checks the limit of the policy called name and makes its rules: one, or a dual bucket's two. The error is one of
// package policy's words.
func (f fault) rulesOf(name string, l policy.Limit) ([]rule, error) {
	all := []numbers{{l.Permits, l.Period, l.Burst}}
	second := numbers{l.Permits2, l.Period2, l.Burst2}
	if dual := name == "dualbucket"; dual {
		all = append(all, second)
	}
	if err := f.check(name, all, second); err != nil {
		return nil, err
	}
	if f.is("limits-swapped") {
		all[0], all[1] = all[1], all[0]
	}
	var rules []rule
	for _, n := range all {
		rules = append(rules, f.ruleOf(name, n))
	}
	return rules, nil
}

func (f fault) ruleOf(name string, n numbers) rule {
	switch name {
	case "slidinglog":
		return newWindow(f, n)
	case "tokenbucket":
		return newScale(f, n, token{})
	case "leakybucket":
		return newScale(f, n, leaky{})
	}
	return newScale(f, n, gcra{})
}

// check goes through the table of refusals: the second limit's being there, then each limit by itself.
func (f fault) check(name string, all []numbers, second numbers) error {
	if f.is("parameters-not-validated") {
		return nil
	}
	misfit := (second != numbers{}) != (name == "dualbucket")
	misfit = or(f, "second-limit-not-checked", misfit, false)
	if misfit {
		return policy.ErrInvalidSecond
	}
	if f.is("second-checked-first") {
		all = []numbers{all[1], all[0]}
	}
	for _, n := range all {
		if err := f.checkOne(name, n); err != nil {
			return err
		}
	}
	return nil
}

func (f fault) checkOne(name string, n numbers) error {
	badBurst := n.burst == 0
	if name == "slidinglog" {
		badBurst = n.burst != 0 && n.burst != n.permits
	}
	badBurst = or(f, "burst-not-checked", badBurst, false)
	if badBurst && f.is("burst-checked-first") {
		return policy.ErrInvalidBurst
	}
	switch {
	case n.permits == 0:
		return policy.ErrInvalidPermits
	case n.period == 0:
		return policy.ErrInvalidPeriod
	case badBurst:
		return policy.ErrInvalidBurst
	case f.tooLarge(name, n):
		return policy.ErrLimitTooLarge
	}
	return nil
}

// tooLarge says whether anything of a limit has 62 bits or more.
func (f fault) tooLarge(name string, n numbers) bool {
	bound := uint64(unitBound)
	bound = or(f, "bound-of-63-bits", bound, 1<<63)
	bound = or(f, "bound-of-61-bits", bound, 1<<61)
	large := n.permits >= bound || n.period >= bound
	if name != "slidinglog" {
		g := f.common(n)
		hi, tolerance := bits.Mul64(n.burst, n.period/g)
		hi = or(f, "tolerance-wraps", hi, 0)
		large = hi != 0 || tolerance >= bound || n.permits/g >= bound
	}
	return or(f, "size-not-checked", large, false)
}

// common is the greatest common divisor of permits and period, by which both are reduced.
func (f fault) common(n numbers) uint64 {
	a, b := n.permits, n.period
	for b != 0 {
		a, b = b, a%b
	}
	return or(f, "rate-not-reduced", a, 1)
}
