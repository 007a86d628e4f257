/*
Package leakybucket is the leaky bucket: a limiter that also tells how long to hold each request, so that the output
is smooth.

# What it is

Each key has a bucket that leaks at a steady rate and starts empty. A request pours its cost in and is denied if that
would make the bucket overflow. As a meter, that is all. As a queue, an allowed request also has a place in line: what was
in the bucket before it must leak first, and the decision's delay says how long that takes. Hold each request for its
delay and they leave evenly spaced, whatever bursts they came in.

# When to use it

  - When what is behind the limiter wants an even load: a payment provider that counts calls a second, a disk, a
    modem, a person.
  - When work may wait a little: the burst is then the longest queue, in permits.

# When not

  - When requests should pass at once or not at all: the delay is of no use then. Packages gcra and tokenbucket decide the
    same.
  - When you must guarantee "never more than N in any window" at the input to the letter: a bucket admits up to
    burst + rate * window. Package slidinglog gives that guarantee.

# How it works

With g = gcd(permits, period), a permit is q = period/g units of water and every tick leaks p = permits/g units:

	water = max(0, water - (now - last) * p)
	allow if water + cost * q <= burst * q, and then water = water + cost * q, last = now

	delay       = ceil(water / p)              with the water before the request, if it is allowed
	remaining   = floor((burst * q - water) / q), never below 0
	retry after = ceil((water + cost * q - burst * q) / p)
	reset after = ceil(water / p)

A denied request pours nothing in. At an earlier now than last the water is what was in the bucket then: a clock that steps
back mints nothing.

# Ties

A request that fills the bucket exactly to the brim is allowed. At 3 permits a 1000 ticks and a burst of 1 the second
request is denied at tick 333, with 1 tick to wait, and allowed at 334.

# Exactness bound

All quantities are integers below 2^62 and all sums below 2^63. A limit whose burst is 2^62 units or more is refused with
limit_too_large. The horizon, the largest now that is decided, is the largest with now * p below 2^62: 146 years of
nanoseconds for 100 permits a second, where p is 1. A limiter by weir.New counts coarser ticks where p is large. Beyond it the answer is past_horizon, never a wrong number. The delay is rounded up to the
next whole tick, each time from the exact water, so that rounding never adds up.

# Parameters

  - Permits per Period ticks: the rate of the leak, and of the smooth output.
  - Burst: how much the bucket holds, at least 1; the longest queue, with the request that leaves at once.

# Complexity

O(1) a request, amortised over the growth of the table: one lookup, a multiplication, a comparison, an addition. The leak is computed when somebody asks; there
is no timer and no queue is kept: whoever holds the request keeps it.

# Memory

16 bytes of state a key: the water and the tick at which it was right. In a table, with the key, that is a slot of 24
bytes, and two thirds to five sixths of the slots of a table that grows are in use: 33 bytes a key, all included, when
there are many. A table with a bound of up to 2^26 keys has all its slots from the beginning, five for every four keys and
some to spare: 31 bytes for each of a million. An empty bucket carries no information and can be dropped.

# Source

J. Turner, New directions in communications (or which way to the information age?), IEEE Communications Magazine 24(10),
1986, for the meter; the continuous-state leaky bucket of ITU-T I.371 and of the ATM Forum's Traffic Management
Specification 4.0 (1996), with which this agrees cell by cell.

# Notes

The leaky bucket as a meter, the token bucket and GCRA are one algorithm: the water here is what is missing there to a
full bucket. Many programs that are called leaky buckets are only the queue, or only the meter; this one is both. No
patents are known.
*/
package leakybucket

import (
	_ "embed"

	"weir/internal/keyed"
	"weir/policy"
)

//go:embed leakybucket.go
var source string

// Doc is this package's page: what a leaky bucket is, when to take it and when not.
func Doc() string { return policy.Page(source) }

// New makes a leaky bucket a key under a limit, which must have no second one. It is a policy.Maker. The policy is also
// a policy.Undoer, a policy.Batcher and a policy.Mover. The error is a *policy.LimitError.
func New(l policy.Limit, o policy.Options) (policy.Policy, error) {
	t, err := keyed.New[State](l, o, NewRules)
	if err != nil {
		return nil, err
	}
	return keyed.Movable[State, *Rules]{Table: t}, nil
}
