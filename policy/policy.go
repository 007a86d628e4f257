/*
Package policy holds the words that every part of weir shares: what a limit is, what a decision says, what a policy can
be asked, the errors, the registry of policies by name, and how keys are made.

Everything here counts in whole ticks and whole permits. A tick is whatever the caller's clock counts in: a caller that
passes nanoseconds as now passes nanoseconds as a limit's Period. Nothing here reads a clock.
*/
package policy

// Policy decides requests under one limit, for any number of keys. It is safe for concurrent use. now is ticks on the
// caller's clock, which should be monotonic; what happens when it steps back is defined: the request is judged as of
// that earlier now, and no key is ever admitted more than the limit measured on the latest now of its allowed requests.
//
// A request is decided in this order: now beyond Horizon is PastHorizon; a cost above the burst is TooCostly; a cost
// of 0 is allowed and changes nothing; a key that holds no room where none is left is Full; else the policy says
// Allow or Deny. Only an allowed request changes anything.
type Policy interface {
	// Take decides whether key may spend cost permits at now, and spends them if so.
	Take(now, key, cost uint64) Decision
	// Peek gives the outcome, the RetryAfter and the Delay that Take would give, with Remaining and ResetAfter as they
	// stand. It changes nothing and takes no room.
	Peek(now, key, cost uint64) Decision
	// Refund gives back cost permits of an earlier request, never making a key better than new. An unknown key stays
	// unknown. The outcome is Allow, or PastHorizon and nothing is changed. Refund soon, and what was spent last: a late
	// refund gives credit for what has come back by itself.
	Refund(now, key, cost uint64) Outcome
	// Forget makes key as if it had never been seen; its room is free.
	Forget(key uint64)
	// Sweep frees the room of keys that are idle at now, that is, as good as never seen. slots is how many slots of the
	// table to look at, going on where the last call stopped; 0 or less looks at all. A now beyond the horizon counts as
	// the horizon. freed is how many keys were freed, done whether the pass has come to the table's end.
	Sweep(now uint64, slots int) (freed int, done bool)
	// Relimit puts the same policy under another limit at now. What a key has spent is kept, in permits, rounded up
	// and never more than the new burst. The error is a *LimitError, or wraps ErrPastHorizon when now is past
	// the old horizon or the new; then nothing is changed.
	Relimit(now uint64, l Limit) error
	// Keys is how many keys hold room.
	Keys() int
	// Horizon is the largest now that the policy decides.
	Horizon() uint64
	// Limit is the limit in force.
	Limit() Limit
}

// TwoCosts is a Policy with two limits over the same key, each with a cost of its own. Its plain Take, Peek and
// Refund use one cost for both.
type TwoCosts interface {
	Policy
	// Take2 is Take with cost for the first limit and cost2 for the second: both are charged or neither is. A cost of
	// 0 leaves its limit as it is.
	Take2(now, key, cost, cost2 uint64) Decision
	// Peek2 is Peek with two costs.
	Peek2(now, key, cost, cost2 uint64) Decision
	// Refund2 is Refund with two costs.
	Refund2(now, key, cost, cost2 uint64) Outcome
}

// Fetcher is a Policy that can have a key's state brought from memory ahead of time.
type Fetcher interface {
	Policy
	// Fetch asks the memory for what the policy holds of a key, and does not wait for it: for those who know the key before
	// they know now, since to read a clock takes as long as memory does to come. It decides nothing and changes nothing.
	Fetch(key uint64)
}

// Batcher is a Policy that decides many requests in one call.
type Batcher interface {
	Policy
	// TakeBatch takes costs[i] of keys[i] for each i, in order, all at now, and puts the decisions into out. It answers how
	// many it decided: the length of the shortest of the three.
	TakeBatch(now uint64, keys, costs []uint64, out []Decision) int
}

// Undoer is a Policy whose admissions can be undone exactly, so that several policies can decide all or nothing.
type Undoer interface {
	Policy
	// TakeUndo is Take (Take2 for a policy with two costs) with an undo for what it admitted. undo puts the key back as
	// it was before, its room included, and answers true; if anything else has changed the key since, it leaves the
	// charge where it is and answers false: a permit too few, never one too many. A policy need
	// remember only the latest admissions that may be undone: it refuses older ones. undo is nil unless the decision is Allow.
	TakeUndo(now, key, cost, cost2 uint64) (d Decision, undo func() bool)
}

// Mover is a Policy whose keys can be carried over to a clock with another tick.
type Mover interface {
	Policy
	// Move is Relimit where the new limit counts in other ticks: then is the same instant as now in the new ones. The
	// keys move to the policy that it returns; the old one is empty, answers every request from then on with the zero
	// Decision, and refuses another limit and another move with ErrUnavailable. On an error, which is as Relimit's, nothing
	// is moved.
	Move(now, then uint64, l Limit) (Policy, error)
}

// Options say how a policy keeps its keys. The zero Options are an unbounded table.
type Options struct {
	// MaxKeys, if above 0, makes the table bounded: it holds exactly that many keys and answers Full to a new one when
	// there is no room. A bounded table never frees room by itself: that is for Sweep and Forget.
	MaxKeys uint64
	// Bounded makes the table bounded whatever MaxKeys is, so that a MaxKeys of 0 is refused with ErrInvalidMaxKeys.
	Bounded bool
	// Seed decides where keys stand in the table. 0, the default, draws a secret one for each table, so that no
	// stranger can choose keys that crowd together.
	Seed uint64
}

// Capacity is how many keys a table made with o holds at most: Never for an unbounded one. The error, of a bounded
// table for no keys, is a *LimitError for ErrInvalidMaxKeys.
func (o Options) Capacity() (uint64, error) {
	switch {
	case o.MaxKeys > 0:
		return o.MaxKeys, nil
	case o.Bounded:
		return 0, tooSmall(ErrInvalidMaxKeys, "max_keys", 0, 1)
	}
	return Never, nil
}

// Maker makes a policy under a limit: gcra.New is one. It refuses a limit with a *LimitError and makes nothing.
type Maker func(Limit, Options) (Policy, error)
