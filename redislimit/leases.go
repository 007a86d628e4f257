package redislimit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"weir"
	"weir/policy"
)

// mostLeases is how many keys may have a lease at once: the hot ones are few. A key beyond them takes the room of one that
// nobody has in hand.
const mostLeases = 1024

// hotLeases is how many leases a key may hold for which requests had to wait.
const hotLeases = 4

// leases are the permits that this process has taken from the server and not yet spent. A nil one has none.
type leases struct {
	permits uint64 // below 2^53
	mu      sync.RWMutex
	held    map[string]*lease // by the key as callers have it
	told    sync.Pool         // of waiters that nobody knows any more
}

// lease is what is left for one key.
type lease struct {
	grant  atomic.Pointer[grant]
	denied atomic.Pointer[deniedGrant]
	token  chan struct{} // full while somebody asks the server for this key, who alone adds to what is left
	hot    bool          // somebody had to wait for the last grant; of whoever has the token
	mu     sync.Mutex
	line   []*leaseWaiter // those for whom there is too little, in the order in which they came
	gone   bool           // another key has its room
}

// grant is what the server has let this process spend, under the limit of that time.
type grant struct {
	rules *rules
	left  atomic.Uint64
	sent  time.Duration // when the server was asked, on the limiter's own clock
	asNew time.Duration // what it said of when the key is as new
}

// deniedGrant says that the server has denied a whole lease.
type deniedGrant struct {
	rules *rules
	until time.Duration // on the limiter's own clock
}

// leaseWaiter waits for a grant, and is told once.
type leaseWaiter struct {
	cost     uint64
	told     chan leaseWord // has room for it
	patience *time.Timer
}

// leaseWord is the grant out of which a cost was spent, and what was left; or why the server could not be asked; or neither:
// then no lease is to be had.
type leaseWord struct {
	grant *grant
	left  uint64
	err   error
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
			if other.evict(now) {
				delete(ls.held, name)
				break
			}
			if looked++; looked == 8 {
				return nil
			}
		}
	}
	one = &lease{token: make(chan struct{}, 1)}
	ls.held[key] = one
	return one
}

// evict takes its room from a lease of which nothing is lost.
func (one *lease) evict(now time.Duration) bool {
	one.mu.Lock()
	defer one.mu.Unlock()
	g := one.grant.Load()
	if len(one.line) > 0 || len(one.token) > 0 || g != nil && g.left.Load() > 0 && now-g.sent < g.asNew {
		return false
	}
	if g != nil {
		g.left.Store(0)
	}
	one.gone = true
	return true
}

// take spends out of the lease of a key, or waits for the next grant. When half a lease is left the next is fetched.
func (ls *leases) take(ctx context.Context, l *Limiter, f *force, key string, c weir.Cost) weir.Result {
	cost, _ := c.Permits()
	now := l.elapsed()
	one := ls.of(key, now)
	if one == nil {
		return l.direct(ctx, l.question("take", key, c))
	}
	g := one.grant.Load()
	left, ok := g.spend(f.rules, cost)
	if ok {
		if left <= ls.permits/2 && len(one.token) == 0 && !one.isDenied(f.rules, now) {
			ls.fetch(l, one, key)
		}
		l.counts.leased.Add(1)
		return g.answer(now, left)
	}
	if one.isDenied(f.rules, now) {
		return l.direct(ctx, l.question("take", key, c))
	}
	return ls.await(ctx, l, key, c)
}

func (one *lease) isDenied(r *rules, now time.Duration) bool {
	d := one.denied.Load()
	return d != nil && d.rules == r && now < d.until
}

// spend takes a cost out of a grant.
func (g *grant) spend(r *rules, cost uint64) (left uint64, ok bool) {
	if g == nil || g.rules != r { // what was granted under another limit stays spent
		return 0, false
	}
	for {
		switch left := g.left.Load(); {
		case left < cost:
			return 0, false
		case g.left.CompareAndSwap(left, left-cost):
			return left - cost, true
		}
	}
}

// answer allows out of a grant. The key is as new when what the server said then has passed.
func (g *grant) answer(now time.Duration, left uint64) weir.Result {
	a := policy.Answer{Outcome: policy.Allow, Remaining: left}
	if wait := g.asNew - max(0, now-g.sent); wait > 0 {
		a.ResetAfter = uint64(wait)
	}
	return weir.NewResult(policy.Answered(a, 0), 1, 0)
}

// await stands in the line of a key, for as long as a call may take.
func (ls *leases) await(ctx context.Context, l *Limiter, key string, c weir.Cost) weir.Result {
	w, ok := ls.told.Get().(*leaseWaiter)
	if !ok {
		w = &leaseWaiter{told: make(chan leaseWord, 1), patience: time.NewTimer(time.Hour)}
	}
	w.cost, _ = c.Permits()
	one := ls.join(key, l.elapsed(), w)
	if one == nil {
		return l.direct(ctx, l.question("take", key, c))
	}
	ls.fetch(l, one, key)
	w.patience.Reset(l.timeout)
	var word leaseWord
	select {
	case word = <-w.told:
	case <-w.patience.C:
		word = one.leave(w, context.DeadlineExceeded)
	case <-ctx.Done():
		word = one.leave(w, ctx.Err())
	}
	w.patience.Stop()
	ls.told.Put(w)
	switch {
	case word.grant != nil:
		l.counts.leased.Add(1)
		return word.grant.answer(l.elapsed(), word.left)
	case word.err != nil:
		return l.settle(ctx, l.question("take", key, c), reply{err: word.err}).result
	}
	return l.direct(ctx, l.question("take", key, c))
}

// join stands a waiter in the line of a key's lease; that is nil where there is no room for one.
func (ls *leases) join(key string, now time.Duration, w *leaseWaiter) *lease {
	for {
		one := ls.of(key, now)
		if one == nil {
			return nil
		}
		one.mu.Lock()
		if !one.gone {
			one.line = append(one.line, w)
			one.mu.Unlock()
			return one
		}
		one.mu.Unlock()
	}
}

// leave takes a waiter out of the line, with the word that it gets instead; unless it was told in the last moment.
func (one *lease) leave(w *leaseWaiter, err error) leaseWord {
	one.mu.Lock()
	defer one.mu.Unlock()
	if i := slices.Index(one.line, w); i >= 0 {
		one.line = slices.Delete(one.line, i, i+1)
		return leaseWord{err: err}
	}
	return <-w.told
}

// begin waits for the token of a lease.
func (one *lease) begin(ctx context.Context) error {
	select {
	case one.token <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: a lease is under way: %w", policy.ErrUnavailable, ctx.Err())
	}
}

// end gives the token on; whoever came in the meantime is fetched for.
func (ls *leases) end(l *Limiter, one *lease, key string) {
	<-one.token
	if one.wanted() > 0 {
		ls.fetch(l, one, key)
	}
}

// wanted is what those in the line want.
func (one *lease) wanted() (total uint64) {
	one.mu.Lock()
	defer one.mu.Unlock()
	for _, w := range one.line {
		total = sum(total, w.cost)
	}
	return total
}

// giveUp does something with what is left of a key's lease, while nobody fetches more.
func (ls *leases) giveUp(ctx context.Context, l *Limiter, key string, do func(*grant) error) error {
	if ls == nil {
		return do(nil)
	}
	ls.mu.RLock()
	one := ls.held[key]
	ls.mu.RUnlock()
	if one == nil {
		return do(nil)
	}
	if err := one.begin(ctx); err != nil {
		return err
	}
	defer ls.end(l, one, key)
	return do(one.grant.Load())
}

// GiveBack returns what is left of all leases to the server, when a process ends or a burst of requests is over; what is
// being fetched it waits for first. The first error, which wraps ErrUnavailable, says that some may stay spent.
func (l *Limiter) GiveBack(ctx context.Context) (first error) {
	if l.leases == nil {
		return nil
	}
	ctx = some(ctx)
	l.leases.mu.RLock()
	held := maps.Clone(l.leases.held)
	l.leases.mu.RUnlock()
	for key := range held {
		err := l.leases.giveUp(ctx, l, key, func(g *grant) error {
			if g == nil || g.rules != l.force.Load().rules {
				return nil
			}
			if left := g.left.Swap(0); left > 0 {
				return l.Refund(ctx, key, weir.N(left))
			}
			return nil
		})
		if err != nil && first == nil {
			first = err
		}
	}
	return first
}
