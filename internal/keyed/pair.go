package keyed

import "weir/policy"

// Movable is a Table whose keys can be carried over to a clock with another tick: a policy.Mover.
type Movable[S any, R Rules[S, R]] struct{ *Table[S, R] }

// Move is policy.Mover's Move.
func (m Movable[S, R]) Move(now, then uint64, l policy.Limit) (policy.Policy, error) {
	next, err := m.Moved(now, then, l)
	if err != nil {
		return nil, err
	}
	return Movable[S, R]{next}, nil
}

// Pair is a Table for a policy with two limits: a policy.TwoCosts and a policy.Mover.
type Pair[S any, R Rules[S, R]] struct{ *Table[S, R] }

// Move is policy.Mover's Move.
func (p Pair[S, R]) Move(now, then uint64, l policy.Limit) (policy.Policy, error) {
	next, err := p.Moved(now, then, l)
	if err != nil {
		return nil, err
	}
	return Pair[S, R]{next}, nil
}

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
