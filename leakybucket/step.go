package leakybucket

import (
	"weir/internal/arith"
	"weir/policy"
)

// State is what is in a bucket: the water, in units of 1/Permit permit, and the tick at which it was right. The water
// is below 2^63. A key never seen has an empty bucket.
type State struct {
	Water uint64
	Last  uint64
}

// Rules are the constants of one limit. They hold no state and may be shared; make them with NewRules.
type Rules struct {
	scale policy.Scale
	limit policy.Limit
}

// NewRules checks a limit, which must have no second one. The error is a *policy.LimitError.
func NewRules(l policy.Limit) (*Rules, error) {
	scale, err := l.Scale()
	if err != nil {
		return nil, err
	}
	return &Rules{scale, l}, nil
}

// Limit is what the rules were made of.
func (r *Rules) Limit() policy.Limit { return r.limit }

// Horizon is the largest now that is decided, in ticks: the largest whose units stay below 2^62.
func (r *Rules) Horizon() uint64 { return r.scale.Horizon }

// Fresh is the state of a key never seen: an empty bucket.
func (r *Rules) Fresh() State { return State{} }

// water is what is in the bucket at now: what has leaked since is gone, and never more than there was. At a tick
// before Last it is what was in it then. now and Last are within the horizon, so what leaks between them is below 2^62.
func (r *Rules) water(s State, now uint64) uint64 {
	if now < s.Last {
		return s.Water + (s.Last-now)*r.scale.Tick
	}
	return arith.Sub(s.Water, (now-s.Last)*r.scale.Tick)
}

// Step decides whether cost permits can be poured in at tick now, and pours them in if they can. The decision's Delay is how
// long what was in the bucket before takes to leak. The last argument is not used; it is there because a dual bucket takes
// two costs.
func (r *Rules) Step(s *State, now, cost, _ uint64) policy.Decision {
	if now > r.scale.Horizon {
		return policy.Refused(policy.PastHorizon)
	}
	water := r.water(*s, now)
	outcome, wait := r.judge(water, cost)
	if outcome == policy.Allow && cost > 0 {
		water += cost * r.scale.Permit
		*s = State{water, now}
	}
	return policy.Metered(&r.scale, outcome, water, wait)
}

// Peek decides as Step would and pours nothing in: what remains is what there is now.
func (r *Rules) Peek(s State, now, cost, _ uint64) policy.Decision {
	if now > r.scale.Horizon {
		return policy.Refused(policy.PastHorizon)
	}
	water := r.water(s, now)
	outcome, wait := r.judge(water, cost)
	return policy.Metered(&r.scale, outcome, water, wait)
}

// judge gives the units that a request waits for: denied, what must leak before it fits; allowed, all that is ahead of
// it in the queue.
func (r *Rules) judge(water, cost uint64) (policy.Outcome, uint64) {
	outcome, wait := r.scale.Judge(water, cost)
	if outcome == policy.Allow {
		wait = water
	}
	return outcome, wait
}

// Refund is the state after taking cost permits out again, however many: never below empty. now is within the horizon.
func (r *Rules) Refund(s State, now, cost, _ uint64) State {
	water := r.water(s, now)
	if water == 0 {
		return s
	}
	return State{arith.Sub(water, arith.Mul(cost, r.scale.Permit)), now}
}

// Undo is the state before an admission that led from before to after; false if the state has changed since.
func (r *Rules) Undo(before, after, current State) (State, bool) { return before, current == after }

// IdleAt is the first tick at which the bucket is empty.
func (r *Rules) IdleAt(s State) uint64 { return s.Last + r.scale.Ticks(s.Water) }

// Carry is the state under other rules: what is in the bucket at now, in permits, rounded up to the other unit and at
// most the other burst. then is the same instant as now, counted in the other rules' ticks. Both are within their
// horizons.
func (r *Rules) Carry(s State, now, then uint64, to *Rules) State {
	water := arith.MulDivCeil(r.water(s, now), to.scale.Permit, r.scale.Permit)
	return State{min(to.scale.Tolerance, water), then}
}
