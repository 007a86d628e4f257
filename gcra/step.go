package gcra

import (
	"weir/internal/arith"
	"weir/policy"
)

// State is a key's theoretical arrival time (TAT), in units of 1/Tick tick: the instant at which the next request would
// be exactly on schedule. It is below 2^63. A key never seen has 0.
type State = uint64

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

// Scale is the limit's units, and its horizon.
func (r *Rules) Scale() *policy.Scale { return &r.scale }

// debt is how far the schedule runs ahead of now, in units: 0 for an idle key. Without this floor, idle time would
// become credit. now is within the horizon, so its units are below 2^62.
func (r *Rules) debt(tat State, now uint64) uint64 { return arith.Sub(tat, now*r.scale.Tick) }

// Step decides a request of cost permits at tick now, and gives the state after it: the same state unless the request
// is allowed and costs something.
func (r *Rules) Step(tat State, now, cost uint64) (State, policy.Decision) {
	q, ok := r.scale.Demand(now, cost)
	if !ok {
		return tat, r.Peek(tat, now, cost)
	}
	debt := q.Debt(tat)
	if !q.Conforms(debt) {
		return tat, q.Denied(&r.scale, debt)
	}
	return q.After(debt), q.Allowed(&r.scale, debt)
}

// Peek decides as Step would and spends nothing: what remains is what there is now.
func (r *Rules) Peek(tat State, now, cost uint64) policy.Decision {
	if now > r.scale.Horizon {
		return policy.Refused(policy.PastHorizon)
	}
	debt := r.debt(tat, now)
	outcome, excess := r.scale.Judge(debt, cost)
	return policy.Metered(&r.scale, outcome, debt, excess)
}

// Refund is the state after giving back cost permits, however many: never better than idle. now is within the
// horizon.
func (r *Rules) Refund(tat State, now, cost uint64) State {
	debt := r.debt(tat, now)
	if debt == 0 {
		return tat
	}
	return now*r.scale.Tick + arith.Sub(debt, arith.Mul(cost, r.scale.Permit))
}

// Carry is the state under another limit: what is owed at now, in permits, rounded up to the other unit and at most the
// other burst. then is the same instant as now, counted in the other limit's ticks. Both are within their horizons.
func (r *Rules) Carry(tat State, now, then uint64, to *policy.Scale) State {
	debt := arith.MulDivCeil(r.debt(tat, now), to.Permit, r.scale.Permit)
	return then*to.Tick + min(to.Tolerance, debt)
}
