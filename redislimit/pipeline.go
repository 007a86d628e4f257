package redislimit

import (
	"context"
	"runtime"
	"sync"
	"time"
)

// A pipeline leaves at once while fewer are under way than leastFlights and one more for each flightSpacing that they take,
// up to mostFlights: more of them are shorter, and each costs both ends a system call, but on a long way to the server a
// call that waits for one to come back waits long.
const (
	leastFlights  = 2
	mostFlights   = 8 // of a pool of connections that has others to serve
	flightSpacing = 200 * time.Microsecond
)

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
	took   time.Duration // a flight, of late
	landed sync.Pool     // of passengers that nobody knows any more
}

// passenger is a Run that waits for its replies.
type passenger struct {
	ctx      context.Context
	deadline time.Time // zero: none
	calls    []Call
	replies  []Reply
	landed   chan struct{} // has room for one: the replies are there
	patience *time.Timer
}

// Run is Store's.
func (s *pipelined) Run(ctx context.Context, calls []Call) []Reply {
	deadline, _ := ctx.Deadline()
	if h, ok := ctx.(*hurried); ok {
		ctx = h.Context
	}
	if err := ctx.Err(); err != nil {
		return failed(len(calls), err)
	}
	s.mu.Lock()
	if s.prompt && s.flying == 0 {
		s.flying++
		s.mu.Unlock()
		return s.alone(ctx, deadline, calls)
	}
	p, ok := s.landed.Get().(*passenger)
	if !ok {
		p = &passenger{landed: make(chan struct{}, 1), patience: time.NewTimer(time.Hour)}
	}
	p.ctx, p.deadline, p.calls = ctx, deadline, calls
	s.queue = append(s.queue, p)
	if s.flying < s.flights() {
		s.flying++
		go s.fly()
	}
	s.mu.Unlock()
	return s.wait(p)
}

// wait is the rest of a passenger's way.
func (s *pipelined) wait(p *passenger) []Reply {
	var late <-chan time.Time
	if !p.deadline.IsZero() {
		p.patience.Reset(time.Until(p.deadline))
		late = p.patience.C
	}
	err := context.DeadlineExceeded
	select {
	case <-p.landed:
		replies := p.replies
		p.patience.Stop()
		p.ctx, p.calls, p.replies = nil, nil, nil
		s.landed.Put(p)
		return replies
	case <-late:
	case <-p.ctx.Done():
		err = p.ctx.Err()
		p.patience.Stop()
	}
	return failed(len(p.calls), err) // it is not used again: somebody may have it aboard
}

// hurried is a ctx of a call to a pipelined store: it tells a deadline, to which the store keeps, and has no timer, which would
// cost as much as all else of a call. It does not end at the deadline: only the store may have it.
type hurried struct {
	context.Context
	deadline time.Time
}

func (h *hurried) Deadline() (time.Time, bool) { return h.deadline, true }

// limited is ctx with the deadline of a call.
func (l *Limiter) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := l.store.(*pipelined); !ok {
		return context.WithTimeout(ctx, l.timeout)
	}
	deadline := time.Now().Add(l.timeout)
	if sooner, ok := ctx.Deadline(); ok && sooner.Before(deadline) {
		deadline = sooner
	}
	return &hurried{ctx, deadline}, func() {}
}

// flights is how many may be under way. The caller has the lock.
func (s *pipelined) flights() int {
	return int(min(mostFlights, leastFlights+s.took/flightSpacing))
}

// note takes down how long a flight took: a mean in which each weighs an eighth.
func (s *pipelined) note(took time.Duration) { s.took += (took - s.took) / 8 }

// alone sends calls at once, in the caller's own goroutine. Those that come meanwhile go on without it.
func (s *pipelined) alone(ctx context.Context, deadline time.Time, calls []Call) []Reply {
	if !deadline.IsZero() {
		timed, cancel := context.WithDeadline(ctx, deadline)
		defer cancel()
		ctx = timed
	}
	begin := time.Now()
	replies := ran(ctx, s.store, calls)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(time.Since(begin))
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
		begin, last := time.Now(), deadline(aboard)
		late := time.AfterFunc(last.Sub(begin), s.fly)
		s.send(aboard, begin, last)
		if !late.Stop() {
			return
		}
		s.mu.Lock()
		s.note(time.Since(begin))
		s.mu.Unlock()
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
func (s *pipelined) send(aboard []*passenger, now, last time.Time) {
	ctx, cancel := context.WithDeadline(context.Background(), last)
	defer cancel()
	calls, waiting := make([]Call, 0, len(aboard)), aboard[:0]
	for _, p := range aboard {
		if p.ctx.Err() == nil && (p.deadline.IsZero() || now.Before(p.deadline)) { // else it has gone
			calls, waiting = append(calls, p.calls...), append(waiting, p)
		}
	}
	if len(calls) == 0 {
		return
	}
	replies := ran(ctx, s.store, calls)
	for _, p := range waiting {
		p.replies, replies = replies[:len(p.calls)], replies[len(p.calls):]
		p.landed <- struct{}{}
	}
}

// deadline is the last of those who wait: for one without, a time in which nobody waits in earnest.
func deadline(aboard []*passenger) time.Time {
	var last time.Time
	for _, p := range aboard {
		d := p.deadline
		if d.IsZero() {
			d = time.Now().Add(time.Minute)
		}
		if d.After(last) {
			last = d
		}
	}
	return last
}
