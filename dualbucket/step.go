package dualbucket

import (
	"weir/internal/arith"
	"weir/policy"
)

// State is a key's theoretical arrival time under each limit, in that limit's own units. A key never seen has 0 in both.
type State struct {
	First, Second uint64
}

// Rules are the constants of two limits. They hold no state and may be shared; make them with NewRules.
type Rules struct {
	first, second policy.Scale
	horizon       uint64
	limit         policy.Limit
	pair          *policy.Pair
}

// NewRules checks both limits. The error is a *policy.LimitError.
func NewRules(l policy.Limit) (*Rules, error) {
	first, second, err := l.Scales()
	if err != nil {
		return nil, err
	}
	return &Rules{first, second, min(first.Horizon, second.Horizon), l, policy.NewPair(first, second)}, nil
}

// Limit is what the rules were made of.
func (r *Rules) Limit() policy.Limit { return r.limit }

// Horizon is the largest now that is decided, in ticks: the nearer of the two limits' own.
func (r *Rules) Horizon() uint64 { return r.horizon }

// Fresh is the state of a key never seen.
func (r *Rules) Fresh() State { return State{} }

// debts is what the key owes each limit at now, in the limit's own units, below 2^63. now is within the horizon.
func (r *Rules) debts(s State, now uint64) (debt, debt2 uint64) {
	return arith.Sub(s.First, now*r.first.Tick), arith.Sub(s.Second, now*r.second.Tick)
}

// verdict is what the two limits say of a request: it is allowed if both allow, too costly if it is for either, else
// denied. The outcomes are ordered so that the larger one is the answer.
type verdict struct {
	outcome         policy.Outcome
	excess, excess2 uint64
}

func (r *Rules) judge(debt, debt2, cost, cost2 uint64) verdict {
	outcome, excess := r.first.Judge(debt, cost)
	outcome2, excess2 := r.second.Judge(debt2, cost2)
	return verdict{max(outcome, outcome2), excess, excess2}
}

func (r *Rules) decision(v verdict, debt, debt2 uint64) policy.Decision {
	return policy.Dual(r.pair, v.outcome, debt, v.excess, debt2, v.excess2)
}

// Step decides a request of cost permits of the first limit and cost2 of the second at tick now, and charges both limits if
// it is allowed, or neither; a cost of 0 leaves its limit untouched.
func (r *Rules) Step(s *State, now, cost, cost2 uint64) policy.Decision {
	if now > r.horizon {
		return policy.Refused(policy.PastHorizon)
	}
	debt, debt2 := r.debts(*s, now)
	v := r.judge(debt, debt2, cost, cost2)
	if v.outcome == policy.Allow {
		debt, s.First = charge(&r.first, s.First, now, debt, cost)
		debt2, s.Second = charge(&r.second, s.Second, now, debt2, cost2)
	}
	return r.decision(v, debt, debt2)
}

// charge adds an allowed cost to one limit: what is owed then, and the theoretical arrival time that says so.
func charge(scale *policy.Scale, tat, now, debt, cost uint64) (owed, next uint64) {
	if cost == 0 {
		return debt, tat
	}
	debt += cost * scale.Permit
	return debt, now*scale.Tick + debt
}

// Peek decides as Step would and spends nothing: what remains is what there is now.
func (r *Rules) Peek(s State, now, cost, cost2 uint64) policy.Decision {
	if now > r.horizon {
		return policy.Refused(policy.PastHorizon)
	}
	debt, debt2 := r.debts(s, now)
	return r.decision(r.judge(debt, debt2, cost, cost2), debt, debt2)
}

// Refund is the state after giving back cost permits of the first limit and cost2 of the second, however many: never
// better than idle. now is within the horizon.
func (r *Rules) Refund(s State, now, cost, cost2 uint64) State {
	debt, debt2 := r.debts(s, now)
	return State{refund(&r.first, s.First, now, debt, cost), refund(&r.second, s.Second, now, debt2, cost2)}
}

func refund(scale *policy.Scale, tat, now, debt, cost uint64) uint64 {
	if debt == 0 {
		return tat
	}
	return now*scale.Tick + arith.Sub(debt, arith.Mul(cost, scale.Permit))
}

// Undo is the state before an admission that led from before to after; false if the state has changed since.
func (r *Rules) Undo(before, after, current State) (State, bool) { return before, current == after }

// IdleAt is the first tick at which neither limit is owed anything.
func (r *Rules) IdleAt(s State) uint64 { return max(r.first.Ticks(s.First), r.second.Ticks(s.Second)) }

// Carry is the state under other rules, limit by limit: what is owed at now, in permits, rounded up to the other unit
// and at most the other burst. then is the same instant as now, counted in the other rules' ticks. Both are within
// their horizons.
func (r *Rules) Carry(s State, now, then uint64, to *Rules) State {
	debt, debt2 := r.debts(s, now)
	return State{carry(&r.first, &to.first, debt, then), carry(&r.second, &to.second, debt2, then)}
}

func carry(from, to *policy.Scale, debt, then uint64) uint64 {
	return then*to.Tick + min(to.Tolerance, arith.MulDivCeil(debt, to.Permit, from.Permit))
}
