/*
Package slidinglog is the sliding window log: never more than N permits in any window, to the letter.

# What it is

Each key has a log of what it was allowed and when. A request is allowed if, with it, no window of one period holds
more than the permits. Nothing is averaged and no window has a fixed start: the window that counts is the one that ends
now.

# When to use it

  - When the promise is "at most N in any hour" and somebody will hold you to it: a contract, a regulator, a partner's
    own limiter on the other side.
  - When the numbers are small: a few log-ins a minute, a hundred messages a day.

# When not

  - When N is large and keys are many: the log of a key grows with what it spends, up to min(permits, period) entries of 16
    bytes a key. A million permits can take 17 MB a key. The bucket policies take 8 or 16 bytes.
  - When clients should come evenly: the log lets a client spend all of a window at once and then makes it wait for a
    whole one. Packages gcra, tokenbucket and leakybucket give permits back one by one.

# How it works

A permit spent at tick t counts at now while now < t + period:

	at   = max(now, tick of the newest admission)      the log never runs backwards
	used = permits of the entries with tick + period > at
	allow if cost <= permits - used, and then drop what has expired and append (at, cost)

	remaining   = permits - used, never below 0
	retry after = tick of the oldest entry whose expiry frees enough + period - now
	reset after = tick of the newest entry + period - now, if anything counts

Entries of one tick are merged. Each entry carries the running total of the log, so that what is used, and the entry whose
expiry frees enough, are found by binary search: a denied request walks nothing and writes nothing.

# Ties

A window has an end that does not belong to it: a permit spent at 0 under a period of 1000 counts at 999 and no longer at
1000. A request that asks for exactly what is left is allowed.

# Exactness bound

There is nothing to round. Permits and Period are below 2^62, else limit_too_large; the horizon is 2^62 - 1 ticks, 146
years of nanoseconds. Beyond it the answer is past_horizon.

# Parameters

  - Permits per Period ticks: the most in any window of that length.
  - Burst is not a parameter: 0, or equal to Permits, which is the burst by nature.

# Complexity

O(1) amortised an allowed request: the entries that have expired are the oldest, and are looked for from there. O(log n) a
denied one, over the n entries of the key; a refund takes O(1) an entry that it removes.

# Memory

Up to min(permits, period) entries of 16 bytes a key, one for every tick at which something was spent, in a ring whose length
is a power of two: it doubles as it fills and halves as it empties. Rings of up to 32 entries share memory by the KB, without
gaps. There are 40 bytes of state a key besides: in a table, with the key, a slot of 48 bytes, and two thirds to five
sixths of the slots of a table that grows are in use. A full log of 1000 entries takes 17 bytes an entry, all included. A
table with a bound of up to 2^26 keys has all its slots from the beginning, but no rings. A log in which nothing counts any
more carries no information and can be dropped.

# Source

The sliding window log is folklore; the name is that of the rate limiting literature of the 2010s. The guarantee is
the definition itself.

# Notes

This is the only one of the five with that guarantee: every bucket admits up to burst + rate * window. A fixed window
counter, which looks alike and is cheap, admits up to twice the permits around the turn of a window; it is not offered.
When the clock steps back a request counts as of the newest admission, so that no window, wherever it is laid, holds more
than the permits. No patents are known.
*/
package slidinglog

import (
	_ "embed"

	"weir/internal/keyed"
	"weir/policy"
)

//go:embed slidinglog.go
var source string

// Doc is this package's page: what a sliding log is, when to take it and when not.
func Doc() string { return policy.Page(source) }

// New makes a sliding log a key under a limit, which must have no second one and no burst but its permits. It is a
// policy.Maker. The policy is also a policy.Undoer and a policy.Batcher. The error is a *policy.LimitError.
func New(l policy.Limit, o policy.Options) (policy.Policy, error) {
	t, err := keyed.New[State](l, o, NewRules)
	if err != nil {
		return nil, err
	}
	return t, nil
}
