/*
Package weir limits rates: exactly, by a policy that you choose by name.

	limiter, err := weir.New("gcra", weir.Per(100, time.Second).WithBurst(20))
	...
	if r := limiter.Allow(ctx, clientID); !r.OK() {
		// r.RetryAfter() is exact: one nanosecond earlier the same request is denied, then it is allowed
	}

A Limiter takes string keys and durations, reads a monotonic clock, and may be shared by any number of goroutines. It
starts none itself. Every answer is complete: outcome, remaining, retry after, reset after. All is counted in integers;
nothing is ever rounded but what a wait in whole ticks and a remainder in whole permits must be: waits up, permits down. A
tick is a nanosecond for limits of small numbers, 100 a second say; see New.

The five policies are gcra, tokenbucket, leakybucket, slidinglog and dualbucket; Describe tells about each. Below the
limiters, package policy has the same five over integer keys and explicit ticks, for those who bring their own clock.
*/
package weir

import (
	"weir/dualbucket"
	"weir/gcra"
	"weir/leakybucket"
	"weir/policy"
	"weir/slidinglog"
	"weir/tokenbucket"
)

const (
	slidingLog = "slidinglog" // the one policy that has no burst of its own
	dualBucket = "dualbucket" // the one that must have a second limit
)

var five = []struct {
	name string
	make policy.Maker
	doc  func() string
}{
	{"gcra", gcra.New, gcra.Doc},
	{"tokenbucket", tokenbucket.New, tokenbucket.Doc},
	{"leakybucket", leakybucket.New, leakybucket.Doc},
	{slidingLog, slidinglog.New, slidinglog.Doc},
	{dualBucket, dualbucket.New, dualbucket.Doc},
}

// Registry is a new registry that holds the five policies. Add your own to it and hand it to WithRegistry.
func Registry() *policy.Registry {
	r := new(policy.Registry)
	for _, p := range five {
		_ = r.Add(p.name, p.make) // the names above are good and differ
	}
	return r
}

// Names lists the five policies.
func Names() []string { return Registry().Names() }

// Describe is the page of one of the five policies: what it is, when to take it and when not, how it works, its ties, its
// exactness bound, parameters, complexity, memory, source and notes. The error, for any other name, wraps
// ErrUnknownPolicy and lists the names.
func Describe(name string) (string, error) {
	for _, p := range five {
		if p.name == name {
			return p.doc(), nil
		}
	}
	return "", Registry().Check(name)
}
