package redislimit

import "sync/atomic"

// Counts are how many requests went which way since the limiter was made.
type Counts struct {
	// Allowed and Denied are those that the server decided; Refused those that it had nothing to decide of: too costly, or
	// past the horizon.
	Allowed, Denied, Refused uint64
	// Cached are denials from the cache, Leased what was allowed out of a lease, Leases the leases taken.
	Cached, Leased, Leases uint64
	// Unavailable are those that the fail mode answered.
	Unavailable uint64
	// Carried are keys that had to be carried over from another limit.
	Carried uint64
}

type counters struct {
	allowed, denied, refused, cached, leased, leases, unavailable, carried atomic.Uint64
}

// Counts are the counts so far.
func (l *Limiter) Counts() Counts {
	c := &l.counts
	return Counts{Allowed: c.allowed.Load(), Denied: c.denied.Load(), Refused: c.refused.Load(), Cached: c.cached.Load(),
		Leased: c.leased.Load(), Leases: c.leases.Load(), Unavailable: c.unavailable.Load(), Carried: c.carried.Load()}
}
