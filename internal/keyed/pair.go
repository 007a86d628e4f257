package keyed

import "weir/policy"

// Pair is a Table for a policy with two limits: a policy.TwoCosts.
type Pair[S any, R Rules[S, R]] struct{ *Table[S, R] }

// Take2 is policy.TwoCosts' Take2.
func (p Pair[S, R]) Take2(now, key, cost, cost2 uint64) policy.Decision {
	return p.take(now, key, cost, cost2)
}

// Peek2 is policy.TwoCosts' Peek2.
func (p Pair[S, R]) Peek2(now, key, cost, cost2 uint64) policy.Decision {
	return p.peek(now, key, cost, cost2)
}

// Refund2 is policy.TwoCosts' Refund2.
func (p Pair[S, R]) Refund2(now, key, cost, cost2 uint64) policy.Outcome {
	return p.refund(now, key, cost, cost2)
}

// TakeUndo is policy.Undoer's TakeUndo.
func (p Pair[S, R]) TakeUndo(now, key, cost, cost2 uint64) (policy.Decision, func() bool) {
	return p.takeUndo(now, key, cost, cost2)
}
