package tokenbucket

import (
	"weir/internal/arith"
	"weir/policy"
)

// State is what a bucket holds: the balance, in units of 1/Permit permit, and the tick at which it was right. The
// balance is at most the tolerance, below 2^62, and below zero only after a refund at a tick before Last. A key never
// seen has a full bucket. Rules.Tokens reads whole permits and the fraction off it.
type State struct {
	Balance int64
	Last    uint64
}

// Tokens is a bucket as a reader wants to see it: Whole permits, and Fraction out of Of of the next one.
type Tokens struct {
	Whole, Fraction, Of uint64
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

// Fresh is the state of a key never seen: a full bucket.
func (r *Rules) Fresh() State { return State{Balance: int64(r.scale.Tolerance)} }

// balance is what the bucket holds at now, refilled exactly and never over full. At a tick before Last it is what it
// would have been then, below zero perhaps. now and Last are within the horizon, which caps the ticks between them: the
// refill is below 2^62, so every value here fits an int64.
func (r *Rules) balance(s State, now uint64) int64 {
	if now < s.Last {
		return s.Balance - int64((s.Last-now)*r.scale.Tick)
	}
	return min(int64(r.scale.Tolerance), s.Balance+int64((now-s.Last)*r.scale.Tick))
}

// missing is what the bucket lacks to be full, in units below 2^63: what the other two forms of the algorithm call debt.
func (r *Rules) missing(s State, now uint64) uint64 {
	return uint64(int64(r.scale.Tolerance) - r.balance(s, now))
}

// lacking is the state of a bucket that misses so much at now.
func (r *Rules) lacking(missing, now uint64) State {
	return State{int64(r.scale.Tolerance) - int64(missing), now}
}

// Tokens reads off the bucket at tick now; a balance below zero reads as nothing, and a now past the horizon as the horizon.
func (r *Rules) Tokens(s State, now uint64) Tokens {
	units := uint64(max(0, r.balance(s, min(now, r.scale.Horizon))))
	return Tokens{units / r.scale.Permit, units % r.scale.Permit, r.scale.Permit}
}

// Step decides a request of cost permits at tick now, and takes them out of the bucket if it is allowed. The last argument is
// not used; it is there because a dual bucket takes two costs.
func (r *Rules) Step(s *State, now, cost, _ uint64) policy.Decision {
	if now > r.scale.Horizon {
		return policy.Refused(policy.PastHorizon)
	}
	missing := r.missing(*s, now)
	outcome, excess := r.scale.Judge(missing, cost)
	if outcome == policy.Allow && cost > 0 {
		missing += cost * r.scale.Permit
		*s = r.lacking(missing, now)
	}
	return policy.Metered(&r.scale, outcome, missing, excess)
}

// Peek decides as Step would and spends nothing: what remains is what there is now.
func (r *Rules) Peek(s State, now, cost, _ uint64) policy.Decision {
	if now > r.scale.Horizon {
		return policy.Refused(policy.PastHorizon)
	}
	missing := r.missing(s, now)
	outcome, excess := r.scale.Judge(missing, cost)
	return policy.Metered(&r.scale, outcome, missing, excess)
}

// Refund is the state after putting cost permits back, however many: never over full. now is within the horizon.
func (r *Rules) Refund(s State, now, cost, _ uint64) State {
	missing := r.missing(s, now)
	if missing == 0 {
		return s
	}
	return r.lacking(arith.Sub(missing, arith.Mul(cost, r.scale.Permit)), now)
}

// IdleAt is the first tick at which the bucket is full.
func (r *Rules) IdleAt(s State) uint64 {
	return s.Last + r.scale.Ticks(r.missing(s, s.Last))
}

// Undo is the state before an admission that led from before to after; false if the state has changed since.
func (r *Rules) Undo(before, after, current State) (State, bool) { return before, current == after }

// Carry is the state under other rules: what is missing at now, in permits, rounded up to the other unit and at most
// the other burst. then is the same instant as now, counted in the other rules' ticks. Both are within their horizons.
func (r *Rules) Carry(s State, now, then uint64, to *Rules) State {
	missing := arith.MulDivCeil(r.missing(s, now), to.scale.Permit, r.scale.Permit)
	return to.lacking(min(to.scale.Tolerance, missing), then)
}
