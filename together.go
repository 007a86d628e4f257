package weir

import (
	"context"
	"reflect"
	"slices"

	"weir/policy"
)

// Ask is one of the limits that a request has to pass.
type Ask struct {
	Limiter Limiter
	Key     string
	Cost    Cost
}

// Joint is a Limiter that decides asks of several limiters of its kind in one step, such as redislimit's in one call to the
// server. Where the first limiter of a request is one, Together leaves the request to it if it can.
type Joint interface {
	Limiter
	// AllowTogether decides two asks or more, all or nothing, with the answers that Together gives, one for each ask; any other
	// number of them is taken for Unavailable. can is false, and nothing was decided, where it cannot decide these in one step:
	// because a limiter is of another kind, for instance.
	AllowTogether(ctx context.Context, asks []Ask) (answers []Result, can bool)
}

// Together decides a request under several limits with a key and a cost for each, all or nothing: it is allowed if every
// limiter allows its part, and then each is charged; else none is. The answers, one for each ask and in their order, are
// appended to answers, so that the caller may give the memory; where the request was refused, each says what its limiter
// alone would have answered. Asks of one limiter for one key must fit together. No asks are allowed. A nil Limiter answers
// Unavailable.
//
// A request that some would deny is turned down before anything is charged. Where another goroutine comes in between, what
// a Local or an All of them was charged is undone exactly, as All does. Limiters of other kinds are charged last and
// given back by Refund: with one of them that never happens, with more of them see Refund for what it is worth. So under
// contention Together may deny what a single lock would have allowed. None of this is so where the limiters are Joint and can
// decide in one step, as redislimit's can for keys of one hash tag on one server.
func Together(ctx context.Context, asks []Ask, answers []Result) (all []Result, allowed bool) {
	from := len(answers)
	own, joint := jointly(ctx, asks)
	answers = append(answers, own...)
	if !joint {
		for i := range asks {
			answers = append(answers, weigh(ctx, asks, i))
		}
	}
	own = answers[from:]
	allowed = true
	for i := range own {
		allowed = allowed && own[i].OK()
	}
	if allowed && !joint && len(asks) > 1 {
		allowed = charge(ctx, asks, own)
	}
	for i, a := range asks {
		if allowed || !own[i].OK() {
			tell(ctx, a.Limiter, a.Cost, own[i])
		}
	}
	return answers, allowed
}

// jointly leaves asks to their limiters, if these can decide them in one step.
func jointly(ctx context.Context, asks []Ask) (answers []Result, can bool) {
	if len(asks) < 2 {
		return nil, false
	}
	first, ok := bare(asks[0].Limiter).(Joint)
	if !ok {
		return nil, false
	}
	plain := make([]Ask, len(asks))
	for i, a := range asks {
		plain[i] = Ask{bare(a.Limiter), a.Key, a.Cost}
	}
	if answers, can = first.AllowTogether(ctx, plain); !can {
		return nil, false
	}
	if len(answers) != len(asks) { // it has decided, nobody knows what: to ask again could charge twice
		answers = slices.Repeat([]Result{{decision: policy.Refused(policy.Unavailable)}}, len(asks))
	}
	return answers, true
}

// weigh is what the limiter of ask i says: of all that the asks so far want of that key. One ask alone is charged at once.
func weigh(ctx context.Context, asks []Ask, i int) Result {
	a := asks[i]
	l := bare(a.Limiter)
	switch {
	case l == nil:
		return Result{decision: policy.Refused(policy.Unavailable)}
	case len(asks) == 1:
		return l.AllowN(ctx, a.Key, a.Cost)
	}
	return l.Peek(ctx, a.Key, a.Cost.plus(costOf(asks[:i], a)))
}

// costOf is what asks want together of a's limiter for a's key.
func costOf(asks []Ask, a Ask) (total Cost) {
	for i := range asks {
		if meet(asks[i], a) {
			total = total.plus(asks[i].Cost)
		}
	}
	return total
}

// meet says whether two asks are of one limiter for one key.
func meet(a, b Ask) bool { return a.Key == b.Key && same(bare(a.Limiter), bare(b.Limiter)) }

// firstOf is the first of asks that meets ask i.
func firstOf(asks []Ask, i int) int {
	for first := range asks[:i] {
		if meet(asks[first], asks[i]) {
			return first
		}
	}
	return i
}

// same says whether two limiters are one; those of a type that Go cannot compare are not.
func same(a, b Limiter) bool {
	if local, ok := a.(*Local); ok { // the usual one, which needs no reflection
		other, ok := b.(*Local)
		return ok && local == other
	}
	return a != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// undoer is a limiter that can take back exactly what it has just admitted.
type undoer interface {
	allowUndo(key string, c Cost) (r Result, undo func())
}

// exact is l as an undoer, nil if it is none. A limiter of another package that has a Local inside is none, though it has
// all that a Local has: what it decides itself must be asked.
func exact(l Limiter) undoer {
	switch l := l.(type) {
	case *Local:
		if _, ok := l.era.Load().policy.(policy.Undoer); ok {
			return l
		}
	case *group:
		return l
	}
	return nil
}

func (l *Local) allowUndo(key string, c Cost) (Result, func()) {
	k := l.key(key)
	r, back := l.takeUndo(l.Now(), k, c)
	return r, func() {
		back()
		l.queue.wake(k)
	}
}

// charge spends all asks, or none and then the answers are of those that refused. Those whose charge cannot be undone
// exactly come last. Asks of one limiter for one key are charged in one: of two admissions of a key only the later can be undone.
func charge(ctx context.Context, asks []Ask, answers []Result) bool {
	var undo []func()
	for _, exactly := range []bool{true, false} {
		for i, a := range asks {
			u := exact(bare(a.Limiter))
			if (u != nil) != exactly {
				continue
			}
			if first := firstOf(asks, i); first < i {
				answers[i] = answers[first]
				continue
			}
			var back func()
			answers[i], back = allow(ctx, u, a, a.Cost.plus(costOf(asks[i+1:], a)))
			if !answers[i].OK() {
				for _, back := range undo {
					back()
				}
				return false
			}
			undo = append(undo, back)
		}
	}
	return true
}

// allow is AllowN with an undo: u's, or else one that gives back what was admitted; what cannot be given back stays spent.
func allow(ctx context.Context, u undoer, a Ask, c Cost) (Result, func()) {
	if u != nil {
		return u.allowUndo(a.Key, c)
	}
	l := bare(a.Limiter)
	return l.AllowN(ctx, a.Key, c), func() { _ = l.Refund(context.WithoutCancel(ctx), a.Key, c) }
}
