/*
Package gcra is the generic cell rate algorithm: an exact rate limiter that keeps one number a key.

# What it is

Each key has a theoretical arrival time (TAT): the instant at which its next request would be exactly on schedule, if
requests came evenly at the permitted rate. A request that comes after its TAT is late and conforms. One that comes
before is early, and conforms as long as it is early by no more than the burst tolerance. Everything that another
limiter keeps (how many permits are banked, how much of the next one has accrued) is implied by how far the TAT is
ahead of now.

# When to use it

  - When there are many keys: the state is one integer, 8 bytes, where a token bucket keeps two.
  - When the state lives in a shared store or in hardware: one integer is read, compared and written, which a
    compare-and-swap, a short script or a packet filter can do in one piece.
  - When you would take a token bucket anyway: the answers are the same, in every field, for every sequence of
    requests. Package tokenbucket says it in the words that more people know.
  - When in doubt.

# When not

  - When you must guarantee "never more than N in any window" to the letter: like every bucket it admits up to
    burst + rate * window. Package slidinglog gives that guarantee.
  - When someone has to read the stored state in a debugger: a TAT means nothing without now. Package tokenbucket keeps
    the balance itself.
  - When two limits apply to one request: package dualbucket decides both at once.

# How it works

With g = gcd(permits, period), time is counted in units of g/permits tick, so that a tick is p = permits/g units and a
permit costs q = period/g units. Nothing is ever rounded, whether or not the period divides by the permits:

	s    = now * p                   now, in units
	L    = burst * q                 the burst tolerance
	debt = max(TAT, s) - s           how far the schedule runs ahead
	allow if debt + cost * q <= L, and then TAT = s + debt + cost * q

	remaining   = floor((L - debt) / q), never below 0
	retry after = ceil((debt + cost * q - L) / p)
	reset after = ceil(debt / p)

The maximum is what keeps idle time from becoming credit: a key that slept for a day may spend a burst, not a day's
worth. A cost above the burst is refused first, because a key that has been idle for long passes the comparison with
any cost.

# Ties

A request that fits exactly is allowed: the boundary belongs to the caller. At 3 permits a 1000 ticks and a burst of 1
the emission interval is 333.33 ticks; the second request is denied at tick 333, with 1 tick to wait, and allowed at 334.

# Exactness bound

All quantities are integers below 2^62 and all sums below 2^63. A limit whose burst costs 2^62 units or more is refused
with limit_too_large. The horizon, the largest now that is decided, is the largest with now * p below 2^62: 146 years of
nanoseconds for 100 permits a second, where p is 1. A limiter by weir.New counts coarser ticks where p is large. Beyond it the answer is past_horizon, never a wrong number.

# Parameters

  - Permits per Period ticks: the rate. The emission interval T is Period / Permits.
  - Burst: the most permits that can be spent at once, at least 1. The tolerance tau of the standards, for requests of
    cost 1, is (Burst - 1) * T: at a Burst of 1 it enforces exact spacing.

# Complexity

O(1) a request, amortised over the growth of the table: one lookup, a comparison, an addition, no division until a quotient is asked for.

# Memory

8 bytes of state a key. In a table, with the key, that is a slot of 16 bytes, and two thirds to five sixths of the slots of
a table that grows are in use: 22 bytes a key, all included, when there are many. A table with a bound of up to 2^26 keys has
all its slots from the beginning, five for every four keys and some to spare. An idle key carries no information and can be
dropped; a table without bound looks for such keys at every new one. Direct, for a single key, is one atomic word and the
constants of its limit.

# Source

ITU-T Recommendation I.371, Traffic control and congestion control in B-ISDN; The ATM Forum, Traffic Management
Specification Version 4.0 (1996), which defines the algorithm twice, as virtual scheduling and as a continuous-state leaky
bucket, and notes that the two are equivalent. This is virtual scheduling, the form that stores one timestamp.

# Notes

GCRA, the token bucket and the leaky bucket as a meter are one algorithm under the three names that people look for. What
differs is what is stored, and so what is plain to a reader. A known key takes no lock: a request loads its TAT and puts the
next one in by compare-and-swap, and a denied one writes nothing. No patents are known; the specifications are public.
Keys are integers: package policy makes them of strings, and of 32-bit ids by mix32.
*/
package gcra

import (
	_ "embed"
	"sync/atomic"

	"weir/internal/keyed"
	"weir/policy"
)

//go:embed gcra.go
var source string

// Doc is this package's page: what GCRA is, when to take it and when not.
func Doc() string { return policy.Page(source) }

// New makes GCRA under a limit, which must have no second one. It is a policy.Maker. The policy is also a
// policy.Undoer, a policy.Mover, a policy.Batcher and a policy.Fetcher. The error is a *policy.LimitError.
func New(l policy.Limit, o policy.Options) (policy.Policy, error) {
	t, err := keyed.NewWords(l, o, func(l policy.Limit) (keyed.WordRules, error) { return NewRules(l) })
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Direct is GCRA for one key that has no name: one atomic word, no table. It is safe for concurrent use and must not be
// copied; make one with NewDirect. The zero Direct decides nothing.
type Direct struct {
	_     [64]byte // what is written stands on a cache line of its own
	tat   atomic.Uint64
	_     [56]byte
	rules Rules
}

// NewDirect makes a limiter for one key. The error is a *policy.LimitError.
func NewDirect(l policy.Limit) (*Direct, error) {
	rules, err := NewRules(l)
	if err != nil {
		return nil, err
	}
	return &Direct{rules: *rules}, nil
}

// Take decides a request of cost permits at tick now, and spends them if it is allowed: one load and one
// compare-and-swap where nobody else comes between. A denied request writes nothing.
func (d *Direct) Take(now, cost uint64) policy.Decision {
	scale := &d.rules.scale
	q, ok := scale.Demand(now, cost)
	if !ok { // as Peek does, but here: a function that calls none has no frame to set up
		if now > scale.Horizon {
			return policy.Refused(policy.PastHorizon)
		}
		debt := d.rules.debt(d.tat.Load(), now)
		outcome, excess := scale.Judge(debt, cost)
		return policy.Metered(scale, outcome, debt, excess)
	}
	for {
		tat := d.tat.Load()
		if tat <= q.Now { // idle. A branch is guessed; a maximum would wait for the load
			if d.tat.CompareAndSwap(tat, q.After(0)) {
				return q.Allowed(scale, 0)
			}
			continue
		}
		debt := tat - q.Now
		if !q.Conforms(debt) {
			return q.Denied(scale, debt)
		}
		if d.tat.CompareAndSwap(tat, q.After(debt)) {
			return q.Allowed(scale, debt)
		}
	}
}

// Peek is what Take would decide; it changes nothing. Remaining and ResetAfter are as they stand.
func (d *Direct) Peek(now, cost uint64) policy.Decision {
	return d.rules.Peek(d.tat.Load(), now, cost)
}

// Refund gives back cost permits of an earlier request, never making the key better than new. The outcome is Allow, or
// PastHorizon and nothing is changed.
func (d *Direct) Refund(now, cost uint64) policy.Outcome {
	if now > d.rules.scale.Horizon {
		return policy.PastHorizon
	}
	for {
		tat := d.tat.Load()
		if d.tat.CompareAndSwap(tat, d.rules.Refund(tat, now, cost)) {
			return policy.Allow
		}
	}
}

// Horizon is the largest now that is decided, in ticks.
func (d *Direct) Horizon() uint64 { return d.rules.scale.Horizon }

// Limit is the limit in force.
func (d *Direct) Limit() policy.Limit { return d.rules.Limit() }
