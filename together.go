package weir

import (
	"context"
	"reflect"

	"weir/policy"
)

// Ask is one of the limits that a request has to pass.
type Ask struct {
	Limiter Limiter
	Key     string
	Cost    Cost
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
// contention Together may deny what a single lock would have allowed. redislimit.Together does it in one call to the server.
func Together(ctx context.Context, asks []Ask, answers []Result) (all []Result, allowed bool) {
	from := len(answers)
	allowed = true
	for i := range asks {
		r := weigh(ctx, asks, i)
		answers = append(answers, r)
		allowed = allowed && r.OK()
	}
	own := answers[from:]
	if allowed && len(asks) > 1 {
		allowed = charge(ctx, asks, own)
	}
	for i, a := range asks {
		if allowed || !own[i].OK() {
			tell(ctx, a.Limiter, a.Cost, own[i])
		}
	}
	return answers, allowed
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
	total := a.Cost
	for _, earlier := range asks[:i] {
		if earlier.Key == a.Key && same(bare(earlier.Limiter), l) {
			total = total.plus(earlier.Cost)
		}
	}
	return l.Peek(ctx, a.Key, total)
}

// same says whether two limiters are one; those of a type that Go cannot compare are not.
func same(a, b Limiter) bool {
	return a != nil && reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// undoer is a limiter that can take back exactly what it has just admitted.
type undoer interface {
	allowUndo(key string, c Cost) (r Result, undo func())
	undoes() bool
}

func (l *Local) undoes() bool {
	_, ok := l.era.Load().policy.(policy.Undoer)
	return ok
}

func (l *Local) allowUndo(key string, c Cost) (Result, func()) {
	k := l.key(key)
	r, back := l.takeUndo(l.Now(), k, c)
	return r, func() {
		back()
		l.queue.wake(k)
	}
}

func (g *group) undoes() bool { return true }

// charge spends all asks, or none and then the answers are of those that refused. Those whose charge cannot be undone
// exactly come last.
func charge(ctx context.Context, asks []Ask, answers []Result) bool {
	var undo []func()
	for _, exactly := range []bool{true, false} {
		for i := range asks {
			u, _ := bare(asks[i].Limiter).(undoer)
			if exact := u != nil && u.undoes(); exact != exactly {
				continue
			}
			var back func()
			if exactly {
				answers[i], back = u.allowUndo(asks[i].Key, asks[i].Cost)
			} else {
				answers[i], back = allowRefund(ctx, asks[i])
			}
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

// allowRefund is AllowN with an undo that gives back what it admitted; what cannot be given back stays spent.
func allowRefund(ctx context.Context, a Ask) (Result, func()) {
	l := bare(a.Limiter)
	return l.AllowN(ctx, a.Key, a.Cost), func() { _ = l.Refund(ctx, a.Key, a.Cost) }
}
