package gcra

import (
	"weir/internal/arith"
	"weir/policy"
)

// State is a key's theoretical arrival time (TAT), in units of 1/Tick tick: the instant at which the next request would
// be exactly on schedule. It is below 2^63. A key never seen has 0.
type State uint64

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

// Fresh is the state of a key never seen.
func (r *Rules) Fresh() State { return 0 }

// debt is how far the schedule runs ahead of now, in units: 0 for an idle key. Without this floor, idle time would
// become credit. now is within the horizon, so its units are below 2^62.
func (r *Rules) debt(tat State, now uint64) uint64 { return arith.Sub(uint64(tat), now*r.scale.Tick) }

// Step decides a request of cost permits at tick now, and gives the state after it: the same state unless the request
// is allowed and costs something. Both TAT and debt stay below 2^63: what is allowed ends at most the tolerance, below
// 2^62, ahead of the latest now, itself below 2^62. The last argument is not used; it is there because a dual bucket
// takes two costs.
func (r *Rules) Step(tat State, now, cost, _ uint64) (State, policy.Decision) {
	if now > r.scale.Horizon {
		return tat, policy.Refused(policy.PastHorizon)
	}
	debt := r.debt(tat, now)
	outcome, excess := r.scale.Judge(debt, cost)
	if outcome == policy.Allow && cost > 0 {
		debt += cost * r.scale.Permit
		tat = State(now*r.scale.Tick + debt)
	}
	return tat, policy.Metered(&r.scale, outcome, debt, excess)
}

// Peek decides as Step would and spends nothing: what remains is what there is now.
func (r *Rules) Peek(tat State, now, cost, _ uint64) policy.Decision {
	if now > r.scale.Horizon {
		return policy.Refused(policy.PastHorizon)
	}
	debt := r.debt(tat, now)
	outcome, excess := r.scale.Judge(debt, cost)
	return policy.Metered(&r.scale, outcome, debt, excess)
}

// Refund is the state after giving back cost permits, however many: never better than idle. now is within the
// horizon.
func (r *Rules) Refund(tat State, now, cost, _ uint64) State {
	debt := r.debt(tat, now)
	if debt == 0 {
		return tat
	}
	return State(now*r.scale.Tick + arith.Sub(debt, arith.Mul(cost, r.scale.Permit)))
}

// Undo is the state before an admission that led from before to after; false if the state has changed since.
func (r *Rules) Undo(before, after, current State) (State, bool) { return before, current == after }

// IdleAt is the first tick at which the key is as good as one never seen.
func (r *Rules) IdleAt(tat State) uint64 { return r.scale.Ticks(uint64(tat)) }

// Carry is the state under other rules: what is owed at now, in permits, rounded up to the other unit and at most the
// other burst. then is the same instant as now, counted in the other rules' ticks. Both are within their horizons.
func (r *Rules) Carry(tat State, now, then uint64, to *Rules) State {
	debt := arith.MulDivCeil(r.debt(tat, now), to.scale.Permit, r.scale.Permit)
	return State(then*to.scale.Tick + min(to.scale.Tolerance, debt))
}
