/*
Package tokenbucket is the token bucket: the rate limiter that everyone can picture.

# What it is

Each key has a bucket of permits that starts full. A request takes permits out; the bucket refills at a steady rate and
never holds more than the burst. A request that asks for more than is there is denied.

# When to use it

  - When people have to read, explain or change the limiter: "permits in a bucket" needs no paragraph.
  - When the balance itself is wanted, on a dashboard or in a debugger: the state says what there is. Reader reads off
    the whole permits and the fraction of the next.
  - When clients may save up: an idle key can spend a burst at once.

# When not

  - When state a key is what counts: package gcra decides the same, in every field, from half the state.
  - When you must guarantee "never more than N in any window" to the letter: a bucket admits up to burst + rate * window.
    Package slidinglog gives that guarantee.
  - When the output has to be smooth: package leakybucket tells how long to hold each request.

# How it works

With g = gcd(permits, period), a permit is q = period/g units and every tick refills p = permits/g units. The fraction
of a permit that has come in is kept, in units, and carried to the next refill, so that 3 permits a 1000 ticks is exactly
3 permits a 1000 ticks for ever:

	balance = min(burst * q, balance + (now - last) * p)
	allow if cost * q <= balance, and then balance = balance - cost * q, last = now

	remaining   = floor(balance / q), never below 0
	retry after = ceil((cost * q - balance) / p)
	reset after = ceil((burst * q - balance) / p)

The elapsed ticks are capped by the horizon before they are multiplied. At an earlier now than last the balance is
what it was then, below zero perhaps: a clock that steps back mints nothing. A denied request changes nothing: neither the
balance nor last.

# Ties

A request that asks for exactly what is there is allowed. At 3 permits a 1000 ticks and a burst of 1 the second request is
denied at tick 333, with 1 tick to wait, and allowed at 334.

# Exactness bound

All quantities are integers below 2^62 and all sums below 2^63. A limit whose burst is 2^62 units or more is refused with
limit_too_large. The horizon, the largest now that is decided, is the largest with now * p below 2^62: 146 years of
nanoseconds for 100 permits a second, where p is 1. A limiter by weir.New counts coarser ticks where p is large. Beyond it the answer is past_horizon, never a wrong number.

# Parameters

  - Permits per Period ticks: the rate of the refill.
  - Burst: what the bucket holds when full, at least 1.

# Complexity

O(1) a request, amortised over the growth of the table: one lookup, a multiplication, a comparison, a subtraction. Refill is computed when somebody asks; there is
no timer.

# Memory

16 bytes of state a key: the balance and the tick at which it was right. In a table, with the key, that is a slot of 24
bytes, and two thirds to five sixths of the slots of a table that grows are in use: 33 bytes a key, all included, when
there are many. A table with a bound of up to 2^26 keys has all its slots from the beginning, five for every four keys and
some to spare: 31 bytes for each of a million. A full bucket carries no information and can be dropped.

# Source

J. Turner, New directions in communications (or which way to the information age?), IEEE Communications Magazine 24(10),
1986, describes the counter of which this is the mirror image; RFC 2697 and RFC 2698 meter traffic with token
buckets. That it conforms exactly where the generic cell rate algorithm does follows from ITU-T I.371 and the ATM Forum's
Traffic Management Specification 4.0.

# Notes

The token bucket, GCRA and the leaky bucket as a meter are one algorithm: what is missing here to a full bucket is what
is owed there. No patents are known.
*/
package tokenbucket

import (
	_ "embed"

	"weir/internal/keyed"
	"weir/policy"
)

//go:embed tokenbucket.go
var source string

// Doc is this package's page: what a token bucket is, when to take it and when not.
func Doc() string { return policy.Page(source) }

// Reader is a policy whose buckets can be read: what New makes is one.
type Reader interface {
	policy.Policy
	// Tokens is what the key's bucket holds at tick now.
	Tokens(now, key uint64) Tokens
}

type table struct{ *keyed.Table[State, *Rules] }

// New makes a token bucket a key under a limit, which must have no second one. It is a policy.Maker. The policy is also
// a Reader, a policy.Undoer, a policy.Batcher and a policy.Mover. The error is a *policy.LimitError.
func New(l policy.Limit, o policy.Options) (policy.Policy, error) {
	t, err := keyed.New[State](l, o, NewRules)
	if err != nil {
		return nil, err
	}
	return table{t}, nil
}

// Move is policy.Mover's.
func (t table) Move(now, then uint64, l policy.Limit) (policy.Policy, error) {
	next, err := t.Moved(now, then, l)
	if err != nil {
		return nil, err
	}
	return table{next}, nil
}

// Tokens is Reader's.
func (t table) Tokens(now, key uint64) Tokens {
	state, rules := t.State(key)
	return rules.Tokens(state, now)
}
