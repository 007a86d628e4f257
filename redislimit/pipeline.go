package redislimit

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// flights is how many pipelines may be under way at once: more of them are shorter, and each costs both ends a system call.
const flights = 2

// longestFlight is how many calls a pipeline may have.
const longestFlight = 256

// Pipelined is a store that sends calls that come while others are under way together, in one Run of s. Where prompt says
// that a Run of s ends when its ctx does, a lone call is sent from the caller's own goroutine; else from another one, so
// that the caller can leave in time. Its goroutines end when nothing is under way. The stores of the adapters are of
// this kind.
func Pipelined(s Store, prompt bool) Store {
	if s == nil {
		return nil // which New refuses
	}
	return &pipelined{store: s, prompt: prompt}
}

type pipelined struct {
	store  Store
	prompt bool
	mu     sync.Mutex
	queue  []*passenger
	flying int
}

// passenger is a Run that waits for its replies.
type passenger struct {
	ctx     context.Context
	calls   []Call
	replies []Reply
	landed  chan struct{} // closed when replies are there
}

// Run is Store's.
func (s *pipelined) Run(ctx context.Context, calls []Call) []Reply {
	if err := ctx.Err(); err != nil {
		return failed(len(calls), err)
	}
	s.mu.Lock()
	if s.prompt && s.flying == 0 {
		s.flying++
		s.mu.Unlock()
		return s.alone(ctx, calls)
	}
	p := &passenger{ctx: ctx, calls: calls, landed: make(chan struct{})}
	s.queue = append(s.queue, p)
	if s.flying < flights {
		s.flying++
		go s.fly()
	}
	s.mu.Unlock()
	select {
	case <-p.landed:
		return p.replies
	case <-ctx.Done():
		return failed(len(calls), ctx.Err())
	}
}

// alone sends calls at once, in the caller's own goroutine. Those that come meanwhile go on without it.
func (s *pipelined) alone(ctx context.Context, calls []Call) []Reply {
	replies := ran(ctx, s.store, calls)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) > 0 {
		go s.fly()
	} else {
		s.flying--
	}
	return replies
}

func failed(n int, err error) []Reply {
	replies := make([]Reply, n)
	for i := range replies {
		replies[i].Err = err
	}
	return replies
}

// fly sends what has come together until nothing is left. A pipeline that is still under way at its deadline, on a
// connection that does not answer perhaps, loses its place to another one.
func (s *pipelined) fly() {
	for {
		runtime.Gosched() // whoever is about to ask comes aboard first
		s.mu.Lock()
		if len(s.queue) == 0 {
			s.flying--
			s.mu.Unlock()
			return
		}
		aboard, rest := boarding(s.queue)
		s.queue = rest
		s.mu.Unlock()
		last := deadline(aboard)
		late := time.AfterFunc(time.Until(last), s.fly)
		s.send(aboard, last)
		if !late.Stop() {
			return
		}
	}
}

// boarding takes the first of a queue for one pipeline.
func boarding(queue []*passenger) (aboard, rest []*passenger) {
	calls := 0
	for i, p := range queue {
		if calls += len(p.calls); i > 0 && calls > longestFlight {
			return queue[:i:i], queue[i:]
		}
	}
	return queue, nil
}

// send runs the calls of all who still wait and gives each its replies.
func (s *pipelined) send(aboard []*passenger, last time.Time) {
	ctx, cancel := context.WithDeadline(context.Background(), last)
	defer cancel()
	var calls []Call
	var waiting []*passenger
	for _, p := range aboard {
		if p.ctx.Err() == nil { // else it has gone
			calls, waiting = append(calls, p.calls...), append(waiting, p)
		}
	}
	if len(calls) == 0 {
		return
	}
	replies := ran(ctx, s.store, calls)
	for _, p := range waiting {
		p.replies, replies = replies[:len(p.calls)], replies[len(p.calls):]
		close(p.landed)
	}
}

// deadline is the last of those who wait: for one without, a time in which nobody waits in earnest.
func deadline(aboard []*passenger) time.Time {
	var last time.Time
	for _, p := range aboard {
		d, ok := p.ctx.Deadline()
		if !ok {
			d = time.Now().Add(time.Minute)
		}
		if d.After(last) {
			last = d
		}
	}
	return last
}
