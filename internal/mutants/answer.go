package mutants

import (
	"slices"

	"weir/policy"
)

// answer is the plain numbers of a decision, read off the key as it stands after it.
func (m *model) answer(r request, shares []share, v verdict) policy.Answer {
	now := int64(r.now)
	var left, reset []uint64
	for _, s := range shares {
		left, reset = append(left, s.left(now)), append(reset, s.reset(now))
	}
	left = or(m.fault, "remaining-before-the-request", left, v.left)
	reset = or(m.fault, "reset-before-the-request", reset, v.reset)
	a := policy.Answer{Outcome: v.outcome}
	a.Remaining = m.remaining(v, left)
	a.RetryAfter = m.retry(v)
	a.ResetAfter = slices.Max(reset)
	a.ResetAfter = or(m.fault, "reset-the-nearer-of-two", a.ResetAfter, slices.Min(reset))
	if v.outcome == policy.Deny && m.is("reset-0-on-denial") {
		a.ResetAfter = 0
	}
	if v.outcome == policy.Allow || m.is("delay-on-denial") {
		a.Delay = v.delay
	}
	if len(shares) == 2 {
		a.Binding = m.binding(v, left)
	}
	return a
}

func (m *model) remaining(v verdict, left []uint64) uint64 {
	smaller := slices.Min(left)
	smaller = or(m.fault, "remaining-the-larger-of-two", smaller, slices.Max(left))
	smaller = or(m.fault, "remaining-of-the-first-limit", smaller, left[0])
	if v.outcome == policy.Deny && m.is("remaining-0-on-denial") {
		return 0
	}
	if v.outcome == policy.TooCostly && m.is("remaining-0-for-too-costly") {
		return 0
	}
	return smaller
}

func (m *model) retry(v verdict) uint64 {
	switch v.outcome {
	case policy.Allow:
		return 0
	case policy.TooCostly:
		return or[uint64](m.fault, "too-costly-answered-with-retry-0", policy.Never, 0)
	}
	longer := slices.Max(v.waits)
	return or(m.fault, "retry-the-shorter-of-two", longer, slices.Min(v.waits))
}

// binding is the limit that decides: by the waits of a refusal, by what is left after an allowance.
func (m *model) binding(v verdict, left []uint64) policy.Binding {
	bySecond := v.waits[1] > v.waits[0]
	bySecond = or(m.fault, "binding-second-on-a-tie-of-waits", bySecond, v.waits[1] >= v.waits[0])
	if v.outcome == policy.Allow {
		bySecond = left[1] < left[0]
		bySecond = or(m.fault, "binding-before-the-request", bySecond, v.left[1] < v.left[0])
		bySecond = or(m.fault, "binding-second-on-a-tie", bySecond, left[1] <= left[0])
	}
	if v.outcome != policy.Allow && m.is("binding-of-a-denial-by-what-is-left") {
		bySecond = left[1] < left[0]
	}
	bySecond = or(m.fault, "binding-always-first", bySecond, false)
	bySecond = or(m.fault, "binding-reversed", bySecond, !bySecond)
	if bySecond {
		return policy.Second
	}
	return policy.First
}
