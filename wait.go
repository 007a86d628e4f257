package weir

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"weir/internal/arith"
	"weir/policy"
)

// queue holds those who wait, a line for each key. The first of a line sleeps until its permits are due; the others
// sleep until it is their turn, so that a grant wakes one goroutine. Its lock is held while a waiter takes its permits and
// goes, so that a newcomer never counts both the waiter and what it was charged.
type queue struct {
	mu    sync.Mutex
	lines map[uint64][]*waiter          // the first of each is being served
	ears  map[uint64]map[*waiter]func() // who sleeps until a key changes, here or in a group, and how to end that
}

type waiter struct {
	cost Cost
	turn chan struct{} // closed when the waiter is the first
}

// join puts a waiter at the end of a key's line. The queue is locked.
func (q *queue) join(key uint64, c Cost) *waiter {
	if q.lines == nil {
		q.lines = make(map[uint64][]*waiter)
	}
	w := &waiter{c, make(chan struct{})}
	if len(q.lines[key]) == 0 {
		close(w.turn)
	}
	q.lines[key] = append(q.lines[key], w)
	return w
}

// ahead is what those who wait for a key ask for together. The queue is locked.
func (q *queue) ahead(key uint64) (total Cost) {
	for _, w := range q.lines[key] {
		total = total.plus(w.cost)
	}
	return total
}

// leave takes a waiter out of its line, if it is still there, and gives the turn on if it had it. The queue is locked.
func (q *queue) leave(key uint64, w *waiter) {
	line := q.lines[key]
	for i, other := range line {
		if other != w {
			continue
		}
		line = append(line[:i], line[i+1:]...)
		if i == 0 && len(line) > 0 {
			close(line[0].turn)
		}
		q.lines[key] = line
		if len(line) == 0 {
			delete(q.lines, key)
		}
		return
	}
}

// listen has a sleeper told when something is given back to a key, until deaf is called.
func (q *queue) listen(key uint64, w *waiter, wake func()) (deaf func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ears == nil {
		q.ears = make(map[uint64]map[*waiter]func())
	}
	if q.ears[key] == nil {
		q.ears[key] = make(map[*waiter]func())
	}
	q.ears[key][w] = wake
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if delete(q.ears[key], w); len(q.ears[key]) == 0 {
			delete(q.ears, key)
		}
	}
}

// wake lets those look again who sleep for a key.
func (q *queue) wake(key uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, wake := range q.ears[key] {
		wake()
	}
}

// change is a change of limit to come, for sleepers to hear of.
type change struct {
	coming context.Context
	happen context.CancelFunc
}

func newChange() *change {
	coming, happen := context.WithCancel(context.Background())
	return &change{coming, happen}
}

// bench is a limiter as those see it who wait for one key.
type bench struct {
	queue    *queue
	key      uint64
	clock    Clock
	heard    []seat // whose changes matter
	take     func(Cost) Result
	peek     func(Cost) Result
	earliest func(total Cost) time.Duration
}

// seat is a key as one limiter knows it.
type seat struct {
	limiter *Local
	key     uint64
}

// wait spends c as soon as the limit lets it.
func (b bench) wait(ctx context.Context, c Cost) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w, err := b.enter(ctx, c)
	if w == nil {
		return err
	}
	defer b.leave(w)
	select {
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		again, err := b.serve(ctx, w)
		if !again {
			return err
		}
	}
}

// enter spends c at once where nobody waits and it fits, else joins the line, unless what is asked for ahead makes the
// deadline hopeless. There is no waiter if nothing is left to wait for.
func (b bench) enter(ctx context.Context, c Cost) (*waiter, error) {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	ahead := b.queue.ahead(b.key)
	if ahead == (Cost{}) || c == (Cost{}) { // whoever waits asks for something, so nobody does
		if r := b.take(c); r.Outcome() != policy.Deny {
			return nil, r.Err()
		}
	} else if r := b.peek(c); !r.OK() && r.Outcome() != policy.Deny {
		return nil, r.Err()
	}
	if err := inTime(ctx, b.earliest(c.plus(ahead))); err != nil {
		return nil, err
	}
	return b.queue.join(b.key, c), nil
}

func (b bench) leave(w *waiter) {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	b.queue.leave(b.key, w)
}

// serve is one attempt of the first of the line: it takes, or sleeps until its cost is due or something has changed.
// again says that it is to try once more, which it must also if somebody who did not wait was faster.
func (b bench) serve(ctx context.Context, w *waiter) (again bool, err error) {
	sleep, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, s := range b.heard {
		stop := context.AfterFunc(s.limiter.changed.Load().coming, cancel)
		defer stop()
		defer s.limiter.queue.listen(s.key, w, cancel)()
	}
	r := b.attempt(w)
	switch {
	case r.Outcome() != policy.Deny:
		return false, r.Err()
	case ctx.Err() != nil:
		return false, ctx.Err()
	}
	if err := inTime(ctx, r.RetryAfter()); err != nil {
		return false, err
	}
	err = b.clock.Sleep(sleep, r.RetryAfter())
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case sleep.Err() != nil:
		return true, nil
	}
	return false, err
}

// attempt takes and, unless it has to wait, leaves the line.
func (b bench) attempt(w *waiter) Result {
	b.queue.mu.Lock()
	defer b.queue.mu.Unlock()
	r := b.take(w.cost)
	if r.Outcome() != policy.Deny {
		b.queue.leave(b.key, w)
	}
	return r
}

// inTime refuses to wait for what comes after the deadline.
func inTime(ctx context.Context, wait time.Duration) error {
	deadline, ok := ctx.Deadline()
	if !ok || time.Until(deadline) >= wait {
		return nil
	}
	return fmt.Errorf("weir: the cost fits in %v at the earliest: %w", wait, context.DeadlineExceeded)
}

// earliest is a wait before which a total of costs, each of which fits by itself, cannot have been spent: what fits at once
// comes when it can, the rest at the rate.
func (l *Local) earliest(key uint64, total Cost) time.Duration {
	e := l.era.Load()
	limit := e.policy.Limit()
	if l.name == slidingLog {
		whole := arith.Sub(total.first, 1) / limit.Permits
		rest := total.first - whole*limit.Permits
		return later(l.peek(l.Now(), key, N(rest)), arith.Mul(whole, limit.Period), e.tick)
	}
	first := min(total.first, limit.Burst)
	wait := later(l.peek(l.Now(), key, Both(first, 0)), arith.MulDivFloor(total.first-first, limit.Period, limit.Permits), e.tick)
	if limit.HasSecond() {
		second := min(total.second, limit.Burst2)
		wait = max(wait, later(l.peek(l.Now(), key, Both(0, second)),
			arith.MulDivFloor(total.second-second, limit.Period2, limit.Permits2), e.tick))
	}
	return wait
}

// later is so many ticks after what r has to wait, and a little less than Never where that does not fit.
func later(r Result, ticks uint64, tick time.Duration) time.Duration {
	wait := arith.Mul(ticks, uint64(tick))
	if r.Outcome() == policy.Deny {
		wait = sum(wait, uint64(r.RetryAfter()))
	}
	return time.Duration(min(wait, math.MaxInt64-1))
}

// Wait is Limiter's. Deadlines of ctx are on Go's own clock, whatever clock the limiter has.
func (l *Local) Wait(ctx context.Context, key string, c Cost) error {
	if l.era.Load().two == nil {
		c.second = c.first
	}
	k := l.key(key)
	return bench{
		queue: &l.queue, key: k, clock: l.clock, heard: []seat{{l, k}},
		take:     func(c Cost) Result { return l.answer(l.Now(), k, c) },
		peek:     func(c Cost) Result { return l.peek(l.Now(), k, c) },
		earliest: func(total Cost) time.Duration { return l.earliest(k, total) },
	}.wait(ctx, c)
}
