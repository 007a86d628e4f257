package weir

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weir/policy"
)

// All joins limiters into one that decides all or nothing: a request is allowed if every member allows it, and then
// each is charged; else none is. Its answers are those of the members taken together: remaining is the smallest, retry
// after and reset after the largest, and the outcome that of the member with the longest wait, the first on a tie.
//
// Members decide one after the other. A request that some would deny is turned down before anything is charged. Where
// another goroutine comes in between, what was charged already is undone exactly; if in that moment someone else was
// admitted on the same key, the charge stays where it is. So under contention All may deny what a single lock would
// have allowed, and never allows what it would have denied.
//
// Refund and Forget go to every member. SetLimit is refused: set the limit of a member. Limit is the first member's, and
// Wait sleeps on the first member's clock. A Cost of Both is charged by each member as it would charge it alone. The error is one line: no members, one that is nil or there twice, or one whose policy cannot undo an admission.
func All(members ...*Local) (Limiter, error) {
	if len(members) == 0 {
		return nil, errors.New("All: has 0 members, must be at least 1")
	}
	seen := make(map[*Local]bool)
	for i, m := range members {
		switch {
		case m == nil:
			return nil, fmt.Errorf("All: member %d is nil", i+1)
		case seen[m]:
			return nil, fmt.Errorf("All: member %d is there twice", i+1)
		case m.era.Load() == nil:
			return nil, fmt.Errorf("All: member %d was not made by New", i+1)
		}
		if _, ok := m.era.Load().policy.(policy.Undoer); !ok {
			return nil, fmt.Errorf("All: member %d: this implementation of %s cannot undo an admission", i+1, m.name)
		}
		seen[m] = true
	}
	return &group{members: members}, nil
}

type group struct {
	members []*Local
	queue   queue
}

func (g *group) Allow(ctx context.Context, key string) Result { return g.AllowN(ctx, key, N(1)) }

func (g *group) AllowN(_ context.Context, key string, c Cost) Result {
	r, _ := g.allowUndo(key, c)
	return r
}

// allowUndo is AllowN with an undo for what it admitted.
func (g *group) allowUndo(key string, c Cost) (all Result, back func()) {
	now := g.now()
	if all = g.peek(now, key, c); !all.OK() {
		return all, nil
	}
	var undo []func() bool
	all = Result{}
	for i, m := range g.members {
		r, back := m.takeUndo(now[i], m.key(key), c)
		all = both(all, r, i == 0)
		if !r.OK() {
			g.undo(undo, key)
			return all, nil
		}
		undo = append(undo, back)
	}
	return all, func() { g.undo(undo, key) }
}

// now is a reading of each member's clock.
func (g *group) now() []time.Duration {
	now := make([]time.Duration, len(g.members))
	for i, m := range g.members {
		now[i] = m.Now()
	}
	return now
}

// undo takes back what the first members have charged; whoever waits for one of them looks again.
func (g *group) undo(undo []func() bool, key string) {
	for i, back := range undo {
		back()
		g.members[i].queue.wake(g.members[i].key(key))
	}
}

func (g *group) Peek(_ context.Context, key string, c Cost) Result { return g.peek(g.now(), key, c) }

func (g *group) peek(now []time.Duration, key string, c Cost) Result {
	var all Result
	for i, m := range g.members {
		all = both(all, m.peek(now[i], m.key(key), c), i == 0)
	}
	return all
}

// both is two members' answers as one, in nanoseconds; alone, b's.
func both(a, b Result, alone bool) Result {
	answer := b.Answer()
	next := b.Next()
	if !alone {
		other := a.Answer()
		if answer.RetryAfter <= other.RetryAfter {
			answer.Outcome, answer.RetryAfter = other.Outcome, other.RetryAfter
		}
		next = nextOf(a, b)
		answer.Remaining = min(answer.Remaining, other.Remaining)
		answer.ResetAfter = max(answer.ResetAfter, other.ResetAfter)
		answer.Delay = max(answer.Delay, other.Delay)
	}
	answer.Binding = policy.First
	return Result{decision: policy.Answered(answer, uint64(next)), tick: 1}
}

// nextOf is when the smaller remaining grows: of equal ones when both have, and never (0) if one is as large as it can be.
func nextOf(a, b Result) time.Duration {
	switch {
	case a.Remaining() < b.Remaining():
		return a.Next()
	case b.Remaining() < a.Remaining():
		return b.Next()
	case a.Next() == 0 || b.Next() == 0:
		return 0
	}
	return max(a.Next(), b.Next())
}

// takeUndo is take with an undo for what it admitted.
func (l *Local) takeUndo(now time.Duration, key uint64, c Cost) (r Result, undo func() bool) {
	r = l.insist(now, func(e *era, ticks uint64) (d policy.Decision) {
		undoer, ok := e.policy.(policy.Undoer)
		if !ok {
			return policy.Refused(policy.Unavailable)
		}
		d, undo = undoer.TakeUndo(ticks, key, c.first, c.second)
		if d.OK() {
			e.tidy(ticks)
		}
		return d
	})
	return r, undo
}

func (g *group) Refund(ctx context.Context, key string, c Cost) error {
	return g.each(func(m *Local) error { return m.Refund(ctx, key, c) })
}

func (g *group) Forget(ctx context.Context, key string) error {
	return g.each(func(m *Local) error { return m.Forget(ctx, key) })
}

// each does something for every member, and gives the first error.
func (g *group) each(do func(*Local) error) (first error) {
	for _, m := range g.members {
		if err := do(m); err != nil && first == nil {
			first = err
		}
	}
	return first
}

func (g *group) Wait(ctx context.Context, key string, c Cost) error {
	var heard []seat
	for _, m := range g.members {
		heard = append(heard, seat{m, m.key(key)})
	}
	return bench{
		queue: &g.queue, key: policy.SecretKey(key), clock: g.members[0].clock, heard: heard,
		take: func(c Cost) Result { return g.AllowN(ctx, key, c) },
		peek: func(c Cost) Result { return g.peek(g.now(), key, c) },
		earliest: func(total Cost) (wait time.Duration) {
			for _, m := range g.members {
				wait = max(wait, m.earliest(m.key(key), total))
			}
			return wait
		},
	}.wait(ctx, c)
}

func (g *group) SetLimit(context.Context, Limit) error {
	return errors.New("All: has a limit for each member: set the member's")
}

func (g *group) Limit() Limit { return g.members[0].Limit() }
