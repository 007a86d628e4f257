package redislimit

import (
	"context"
	"maps"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"weir"
	"weir/policy"
)

// mostLeases is how many keys may have a lease at once: the hot ones are few. A key beyond them takes the room of one that
// nobody has in hand.
const mostLeases = 1024

// leases are the permits that this process has taken from the server and not yet spent. A nil one has none.
type leases struct {
	permits uint64
	mu      sync.RWMutex
	held    map[string]*lease // by the key as callers have it
}

// lease is what is left for one key.
type lease struct {
	grant atomic.Pointer[grant]
	token chan struct{} // full while somebody asks the server, who alone may look at the rest
	rules *rules        // what not is about
	not   time.Duration // on the limiter's own clock: the server has denied a whole grant until then
}

// grant is what the server has let this process spend, under the limit of that time.
type grant struct {
	rules *rules
	left  atomic.Int64
	sent  time.Duration // when the server was asked, on the limiter's own clock
	asNew time.Duration // what it said of when the key is as new
}

// spend takes a cost out of a grant. Where it is not there, what was taken for a moment is put back: others may find less
// than there is, never more.
func (g *grant) spend(r *rules, cost uint64) (left uint64, ok bool) {
	if g == nil || g.rules != r { // what was granted under another limit stays spent
		return 0, false
	}
	if n := g.left.Add(-int64(cost)); n >= 0 {
		return uint64(n), true
	}
	g.left.Add(int64(cost))
	return 0, false
}

// rest takes all that is left. Where somebody has taken more than there is for a moment it is he who is waited for: what he
// puts back is no more than what he took.
func (g *grant) rest() uint64 {
	for {
		switch left := g.left.Load(); {
		case left == 0:
			return 0
		case left > 0 && g.left.CompareAndSwap(left, 0):
			return uint64(left)
		}
		runtime.Gosched()
	}
}

func newLeases(permits uint64) *leases {
	return &leases{permits: permits, held: make(map[string]*lease)}
}

// fits says whether a cost may be taken out of a lease.
func (ls *leases) fits(r *rules, cost uint64) bool {
	return ls != nil && cost > 0 && cost <= ls.permits && !r.tooCostly(costs{ls.permits})
}

// of is the lease of a key. Where there is no room, one of eight is given up that nobody has in hand and of which nothing is
// lost: it is spent, or the key is as new by now. It is nil if there is none: then the key does without.
func (ls *leases) of(key string, now time.Duration) *lease {
	ls.mu.RLock()
	one := ls.held[key]
	ls.mu.RUnlock()
	if one != nil {
		return one
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if one = ls.held[key]; one != nil {
		return one
	}
	if len(ls.held) >= mostLeases {
		looked := 0
		for name, other := range ls.held {
			if other.spare(now) {
				delete(ls.held, name)
				break
			}
			if looked++; looked == 8 {
				break
			}
		}
		if len(ls.held) >= mostLeases {
			return nil
		}
	}
	one = &lease{token: make(chan struct{}, 1)}
	ls.held[key] = one
	return one
}

func (one *lease) spare(now time.Duration) bool {
	g := one.grant.Load()
	return len(one.token) == 0 && (g == nil || g.left.Load() == 0 || now-g.sent >= g.asNew)
}

// take spends out of the lease of a key, and takes another grant from the server where that is used up: one goroutine asks,
// the others wait for it, no longer than a call may take.
func (ls *leases) take(ctx context.Context, l *Limiter, f *force, key string, c weir.Cost) weir.Result {
	cost, _ := c.Permits()
	one := ls.of(key, l.elapsed())
	if one == nil {
		return l.direct(ctx, l.question("take", key, c))
	}
	if r, ok := one.spend(l, f.rules, cost); ok {
		return r
	}
	q := l.question("take", key, c)
	limited, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	select {
	case one.token <- struct{}{}:
	case <-limited.Done():
		return l.settle(ctx, q, reply{err: limited.Err()}).result
	}
	r, done := ls.refill(ctx, limited, l, one, q)
	<-one.token
	if done {
		return r
	}
	return l.direct(ctx, q)
}

func (one *lease) spend(l *Limiter, r *rules, cost uint64) (weir.Result, bool) {
	g := one.grant.Load()
	left, ok := g.spend(r, cost)
	if !ok {
		return weir.Result{}, false
	}
	l.counts.leased.Add(1)
	return g.answer(l, left), true
}

// refill spends a cost out of the lease, after asking the server for a grant if it must. done is false if there was none
// to be had, now or a moment ago. The caller has the token.
func (ls *leases) refill(ctx, limited context.Context, l *Limiter, one *lease, q question) (result weir.Result, done bool) {
	rules := q.force.rules
	if r, ok := one.spend(l, rules, q.cost[0]); ok { // somebody was faster
		return r, true
	}
	if one.rules == rules && l.elapsed() < one.not {
		return weir.Result{}, false
	}
	whole := q
	whole.plain, whole.cost = weir.N(ls.permits), costs{ls.permits}
	r := l.exchange(limited, whole)
	switch {
	case r.err != nil:
		return l.settle(ctx, q, r).result, true
	case r.result.OK():
		l.counts.leases.Add(1)
		l.counts.leased.Add(1)
		l.warm(ctx, whole)
		g := &grant{rules: rules, sent: r.sent, asNew: r.result.ResetAfter()}
		g.left.Store(int64(ls.permits - q.cost[0]))
		if old := one.grant.Swap(g); old != nil && old.rules == rules {
			g.left.Add(old.left.Swap(0))
		}
		return g.answer(l, uint64(max(0, g.left.Load()))), true
	case r.result.Outcome() == policy.Deny:
		one.rules, one.not = rules, r.sent+r.result.RetryAfter()
	}
	return weir.Result{}, false
}

// answer allows out of a grant. The key is as new when what the server said then has passed.
func (g *grant) answer(l *Limiter, left uint64) weir.Result {
	a := policy.Answer{Outcome: policy.Allow, Remaining: left}
	if wait := g.asNew - max(0, l.elapsed()-g.sent); wait > 0 {
		a.ResetAfter = uint64(wait)
	}
	return weir.NewResult(policy.Answered(a, 0), 1, 0)
}

// drop gives up the lease of a key.
func (ls *leases) drop(key string) {
	if ls == nil {
		return
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	delete(ls.held, key)
}

// GiveBack returns what is left of all leases to the server, when a process ends or a burst of requests is over. The first
// error, which wraps ErrUnavailable, says that some may stay spent.
func (l *Limiter) GiveBack(ctx context.Context) (first error) {
	if l.leases == nil {
		return nil
	}
	l.leases.mu.RLock()
	held := maps.Clone(l.leases.held) // they stay: whoever is spending out of one would lose the next grant
	l.leases.mu.RUnlock()
	for key, one := range held {
		g := one.grant.Load()
		if g == nil || g.rules != l.force.Load().rules {
			continue
		}
		left := g.rest()
		if left == 0 {
			continue
		}
		if err := l.Refund(ctx, key, weir.N(left)); err != nil && first == nil {
			first = err
		}
	}
	return first
}
