/*
Package dualbucket is two limits over the same key, decided as one: a request passes both or is charged to neither.

# What it is

Each key has two buckets, first and second, each with a rate and a burst of its own. A request has a cost in each. It is
allowed only if both allow it; then both are charged. If either denies, neither is.

# When to use it

  - For a sustained and a peak rate: 100 a second with a burst of 20, and no more than 5000 an hour.
  - For two kinds of cost: requests and bytes, calls and tokens of a language model, messages and recipients.
  - Wherever two limiters in a row would be wrong: the first would charge for what the second denies.

# When not

  - When one limit is enough: package gcra keeps half the state.
  - When there are three or more, or when they have different keys (a user and a tenant): weir.All joins limiters.
  - When one limit is a literal "never more than N in any window": package slidinglog, joined by weir.All.

# How it works

Both limits are the generic cell rate algorithm, each with a theoretical arrival time in its own units; see package
gcra for the arithmetic. Each share of a request is decided by itself, and then

	too_costly   if either share is more than its burst
	deny         else, if either limit denies
	allow        else, and both are charged

	remaining    the smaller of the two
	retry after  the larger of the two
	reset after  the larger of the two
	binding      which of the two that was: by the longer wait if refused, by the fewer remaining if allowed

A share of 0 is always allowed and leaves its limit as it is.

# Ties

Within each limit a request that fits exactly is allowed. Between the two, the first binds on a tie.

# Exactness bound

Each limit is exact below 2^62 in its own units, else limit_too_large. The horizon is the nearer of the two; beyond it the
answer is past_horizon.

# Parameters

  - Permits, Period, Burst: the first limit.
  - Permits2, Period2, Burst2: the second. All three are needed; a dual bucket without a second limit is refused with
    invalid_second.

# Complexity

O(1) a request, amortised over the growth of the table: one lookup, two comparisons.

# Memory

16 bytes of state a key: two theoretical arrival times. In a table, with the key, that is a slot of 24 bytes, and two
thirds to five sixths of the slots of a table that grows are in use: 33 bytes a key, all included, when there are many. A
table with a bound of up to 2^26 keys has all its slots from the beginning, five for every four keys and some to spare: 31
bytes for each of a million. A key that owes neither limit anything carries no information and can be dropped.

# Source

The ATM Forum, Traffic Management Specification Version 4.0 (1996), which polices a peak and a sustainable cell rate with
two generic cell rate algorithms in coordinated mode; RFC 2697 and RFC 2698, the single and two rate three color
markers, which meter with two token buckets.

# Notes

The three color markers sort packets into three; this decides yes or no. No patents are known.
*/
package dualbucket

import (
	_ "embed"

	"weir/internal/keyed"
	"weir/policy"
)

//go:embed dualbucket.go
var source string

// Doc is this package's page: what a dual bucket is, when to take it and when not.
func Doc() string { return policy.Page(source) }

// New makes a dual bucket a key under two limits. It is a policy.Maker. The policy is also a policy.TwoCosts, a
// policy.Undoer, a policy.Batcher and a policy.Mover. The error is a *policy.LimitError.
func New(l policy.Limit, o policy.Options) (policy.Policy, error) {
	t, err := keyed.New[State](l, o, NewRules)
	if err != nil {
		return nil, err
	}
	return keyed.Pair[State, *Rules]{Table: t}, nil
}
