package redislimit

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"weir"
	"weir/policy"
)

// lines holds those who wait in this process, a line for each key. The first of a line sleeps until its cost is due.
type lines struct {
	mu   sync.Mutex
	held map[string][]*waiter
}

type waiter struct {
	cost costs
	turn chan struct{} // closed when the waiter is the first
}

// join puts a waiter at the end of a key's line, and says what those before it ask for.
func (l *lines) join(name string, c costs) (w *waiter, ahead costs) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = make(map[string][]*waiter)
	}
	for _, other := range l.held[name] {
		ahead = costs{sum(ahead[0], other.cost[0]), sum(ahead[1], other.cost[1])}
	}
	w = &waiter{c, make(chan struct{})}
	if len(l.held[name]) == 0 {
		close(w.turn)
	}
	l.held[name] = append(l.held[name], w)
	return w, ahead
}

// leave takes a waiter out of its line and gives the turn on if it had it.
func (l *lines) leave(name string, w *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.held[name]
	for i, other := range line {
		if other != w {
			continue
		}
		line = append(line[:i], line[i+1:]...)
		if i == 0 && len(line) > 0 {
			close(line[0].turn)
		}
		break
	}
	if l.held[name] = line; len(line) == 0 {
		delete(l.held, name)
	}
}

func sum(a, b uint64) uint64 {
	if a+b < a {
		return math.MaxUint64
	}
	return a + b
}

// change is something to come for which sleepers are woken.
type change struct {
	coming context.Context
	happen context.CancelFunc
}

func newChange() *change {
	coming, happen := context.WithCancel(context.Background())
	return &change{coming, happen}
}

// change is the change to come; the next one is another.
func (l *Limiter) change() *change { return l.changed.Swap(newChange()) }

// Wait is weir.Limiter's. Those who wait for one key in one process are served in the order in which they came; between
// processes whoever asks first after the moment is. A change that another process makes is seen at the moment that the
// server foretold. Where the server cannot be asked it is the fail mode that allows, denies or gives ErrUnavailable.
// Deadlines of ctx are on Go's own clock.
func (l *Limiter) Wait(ctx context.Context, key string, c weir.Cost) error {
	ctx = some(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	name := keyName(l.stem, key)
	first, second := c.Permits()
	w, ahead := l.lines.join(name, costs{first, second})
	defer l.lines.leave(name, w)
	if err := l.hopeless(ctx, key, costs{first, second}, ahead); err != nil {
		return err
	}
	select {
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		again, err := l.serve(ctx, key, c)
		if !again {
			return err
		}
	}
}

// hopeless is the error of one who has others before it, if the deadline comes before even as much as fits at once of what
// they all ask for can be spent, or if the cost can never fit.
func (l *Limiter) hopeless(ctx context.Context, key string, c, ahead costs) error {
	if ahead == (costs{}) || c == (costs{}) {
		return nil
	}
	r := l.Peek(ctx, key, weir.Both(c[0], c[1]))
	if err := ended(ctx); err != nil {
		return err
	}
	if !r.OK() && r.Outcome() != policy.Deny {
		return r.Err()
	}
	f := l.force.Load()
	most := [2]uint64{f.rules.limit.Burst, f.rules.limit.Burst2}
	if f.rules.name == slidingLog {
		most[0] = f.rules.limit.Permits
	}
	r = l.Peek(ctx, key, weir.Both(min(sum(c[0], ahead[0]), most[0]), min(sum(c[1], ahead[1]), most[1])))
	if r.Outcome() == policy.Deny {
		return inTime(ctx, r.RetryAfter())
	}
	return nil
}

// serve is one attempt of the first of a line: it takes, or sleeps until its cost is due or something has changed.
func (l *Limiter) serve(ctx context.Context, key string, c weir.Cost) (again bool, err error) {
	sleep, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(l.changed.Load().coming, cancel)
	defer stop()
	r := l.AllowN(ctx, key, c)
	gone := ended(ctx)
	switch {
	case r.OK():
		return false, nil
	case gone != nil:
		return false, gone
	case r.Outcome() != policy.Deny:
		return false, r.Err()
	}
	if err := inTime(ctx, r.RetryAfter()); err != nil {
		return false, err
	}
	err = l.sleep(sleep, r.RetryAfter())
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err == nil || sleep.Err() != nil:
		return true, nil
	}
	return false, err
}

// inTime refuses to wait for what comes after the deadline.
func inTime(ctx context.Context, wait time.Duration) error {
	deadline, ok := ctx.Deadline()
	if !ok || time.Until(deadline) >= wait {
		return nil
	}
	return fmt.Errorf("redislimit: the cost fits in %v at the earliest: %w", wait, context.DeadlineExceeded)
}

func (l *Limiter) sleep(ctx context.Context, d time.Duration) error {
	if l.clock != nil {
		return l.clock.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
