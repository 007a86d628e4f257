package redislimit

import (
	"context"
	"slices"

	"weir"
	"weir/policy"
)

// fetch fetches grants for a key, unless somebody is at it: in a goroutine of its own, which ends with the call and when
// nobody waits. After each grant whoever waits for the token has it, and then looks after those in the line.
func (ls *leases) fetch(l *Limiter, one *lease, key string) {
	if !one.claim() {
		return // whoever has the token looks after those who wait
	}
	go func() {
		for ls.fetchOne(l, one, key) {
			<-one.token
			if !one.claim() {
				return
			}
		}
		ls.end(l, one, key)
	}()
}

// claim takes the token if it is there, and if no other key has the room of this one: then nobody would find what is fetched.
func (one *lease) claim() bool {
	select {
	case one.token <- struct{}{}:
	default:
		return false
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.gone {
		<-one.token
	}
	return !one.gone
}

// fetchOne fetches a grant where one is needed, and says whether it has. The caller has the token.
func (ls *leases) fetchOne(l *Limiter, one *lease, key string) bool {
	r := l.force.Load().rules
	one.serve(one.grant.Load(), r)
	n := ls.amount(r, one)
	if n == 0 {
		return false
	}
	g, err := ls.ask(l, one, key, n)
	if g == nil {
		one.dismiss(err)
		return false
	}
	ls.add(one, g, l.force.Load().rules)
	return true
}

// amount is how many permits to fetch: as many as a lease has, or, where somebody had to wait for the last ones, what those
// in the line want and four leases, less what is left. It is none where enough is left.
func (ls *leases) amount(r *rules, one *lease) uint64 {
	wanted, left := one.wanted(), uint64(0)
	if g := one.grant.Load(); g != nil && g.rules == r {
		left = g.left.Load()
	}
	switch {
	case wanted == 0 && left > ls.permits/2:
		return 0
	case one.hot:
		most := min(r.buckets[0].scale.Burst, sum(wanted, hotLeases*ls.permits-left))
		return max(ls.permits, most)
	}
	return ls.permits
}

// ask asks the server for a grant, and for less if it has denied more than a lease. It is nil if there is none to be had.
func (ls *leases) ask(l *Limiter, one *lease, key string, n uint64) (*grant, error) {
	ctx, cancel := l.limited(context.Background())
	defer cancel()
	q := l.question("take", key, weir.N(n))
	r := l.exchange(ctx, q)
	if r.err == nil && r.result.Outcome() != policy.Allow && n > ls.permits {
		q = l.question("take", key, weir.N(max(ls.permits, min(n, r.result.Remaining()))))
		r = l.exchange(ctx, q)
	}
	switch {
	case r.err != nil:
		return nil, l.said(r.err)
	case r.result.OK():
		l.counts.leases.Add(1)
		l.warm(ctx, q)
		g := &grant{rules: q.force.rules, sent: r.sent, asNew: r.result.ResetAfter()}
		g.left.Store(q.cost[0])
		return g, nil
	case r.result.Outcome() == policy.Deny:
		one.denied.Store(&deniedGrant{q.force.rules, r.sent + r.result.RetryAfter()})
	}
	return nil, nil
}

// add leaves a grant, and what was left before, to those in the line and then to whoever comes. What was fetched for those
// who have left the line since stays spent where it is more than may be held.
func (ls *leases) add(one *lease, g *grant, r *rules) {
	one.mu.Lock()
	waited := len(one.line) > 0
	one.mu.Unlock()
	old := one.grant.Load()
	if old != nil && old.rules == g.rules {
		g.left.Add(old.left.Swap(0))
	}
	one.serve(g, r)
	g.left.Store(min(g.left.Load(), hotLeases*ls.permits))
	one.grant.Store(g)
	one.hot = old != nil && waited
}

// serve spends a grant on those in the line, in their order, if it is of those rules.
func (one *lease) serve(g *grant, r *rules) {
	one.mu.Lock()
	defer one.mu.Unlock()
	served := 0
	for _, w := range one.line {
		left, ok := g.spend(r, w.cost)
		if !ok {
			break
		}
		w.told <- leaseWord{grant: g, left: left}
		served++
	}
	one.line = slices.Delete(one.line, 0, served)
}

// dismiss tells those in the line that there is no grant, and why if there should be one.
func (one *lease) dismiss(err error) {
	one.mu.Lock()
	defer one.mu.Unlock()
	for _, w := range one.line {
		w.told <- leaseWord{err: err}
	}
	one.line = nil
}
