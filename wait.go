package weir

import (
	"context"
	"fmt"
	"sync"
	"time"

	"weir/policy"
)

// queue holds those who wait, a line for each key. The first of a line sleeps until its permits are due; the others
// sleep until it is their turn, so that a grant wakes one goroutine.
type queue struct {
	mu    sync.Mutex
	lines map[uint64]*line
}

type line struct {
	waiting []*waiter // the first is being served
}

type waiter struct {
	cost Cost
	turn chan struct{} // closed when the waiter is the first
}

// join puts a waiter at the end of the key's line and says what is asked for ahead of it.
func (q *queue) join(key uint64, c Cost) (w *waiter, ahead Cost) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lines == nil {
		q.lines = make(map[uint64]*line)
	}
	ln := q.lines[key]
	if ln == nil {
		ln = new(line)
		q.lines[key] = ln
	}
	w = &waiter{c, make(chan struct{})}
	for _, other := range ln.waiting {
		ahead = ahead.plus(other.cost)
	}
	ln.waiting = append(ln.waiting, w)
	if len(ln.waiting) == 1 {
		close(w.turn)
	}
	return w, ahead
}

// leave takes a waiter out of its line and, if it was the first, gives the turn to the next.
func (q *queue) leave(key uint64, w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ln := q.lines[key]
	for i, other := range ln.waiting {
		if other == w {
			ln.waiting = append(ln.waiting[:i], ln.waiting[i+1:]...)
			if i == 0 && len(ln.waiting) > 0 {
				close(ln.waiting[0].turn)
			}
			break
		}
	}
	if len(ln.waiting) == 0 {
		delete(q.lines, key)
	}
}

// empty says whether nobody waits for the key.
func (q *queue) empty(key uint64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.lines[key] == nil
}

// bench is a limiter as those who wait see it: one key, already hashed.
type bench struct {
	queue *queue
	key   uint64
	clock Clock
	burst Cost
	take  func(Cost) Result
	peek  func(Cost) Result
}

// wait spends c as soon as the limit lets it.
func (b bench) wait(ctx context.Context, c Cost) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b.queue.empty(b.key) {
		if r := b.take(c); r.Outcome() != policy.Deny {
			return r.Err()
		}
	}
	w, ahead := b.queue.join(b.key, c)
	defer b.queue.leave(b.key, w)
	if err := b.hopeless(ctx, c, ahead); err != nil {
		return err
	}
	select {
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	return b.serve(ctx, c)
}

// hopeless finds at once what no turn can change: a cost that never fits, or a deadline before the earliest moment at
// which those ahead and then this one could have been served.
func (b bench) hopeless(ctx context.Context, c, ahead Cost) error {
	if r := b.peek(c); !r.OK() && r.Outcome() != policy.Deny {
		return r.Err()
	}
	return inTime(ctx, b.peek(c.plus(ahead).atMost(b.burst)))
}

// serve is the first of the line: it sleeps until its cost is due, and again if somebody who did not wait was faster.
func (b bench) serve(ctx context.Context, c Cost) error {
	for {
		r := b.take(c)
		if r.Outcome() != policy.Deny {
			return r.Err()
		}
		if err := inTime(ctx, r); err != nil {
			return err
		}
		if err := b.clock.Sleep(ctx, r.RetryAfter()); err != nil {
			return err
		}
	}
}

// inTime refuses to wait for what comes after the deadline.
func inTime(ctx context.Context, r Result) error {
	deadline, ok := ctx.Deadline()
	if !ok || r.Outcome() != policy.Deny || time.Until(deadline) >= r.RetryAfter() {
		return nil
	}
	return fmt.Errorf("weir: the cost fits in %v at the earliest: %w", r.RetryAfter(), context.DeadlineExceeded)
}

// burst is the largest cost that fits.
func (l *Local) burst() Cost {
	limit := l.era.Load().policy.Limit()
	if !limit.HasSecond() {
		return N(limit.Burst)
	}
	return Both(limit.Burst, limit.Burst2)
}

// Wait is Limiter's. Deadlines of ctx are on Go's own clock, whatever clock the limiter has.
func (l *Local) Wait(ctx context.Context, key string, c Cost) error {
	k := l.key(key)
	return bench{
		queue: &l.queue, key: k, clock: l.clock, burst: l.burst(),
		take: func(c Cost) Result { return l.take(k, c) },
		peek: func(c Cost) Result { return l.peek(k, c) },
	}.wait(ctx, c)
}
