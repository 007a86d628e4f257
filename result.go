package weir

import (
	"fmt"
	"math"
	"time"

	"weir/policy"
)

// Never is the RetryAfter of a request that no waiting can help: the largest duration, so that nobody sleeps a negative
// time or spins.
const Never = time.Duration(math.MaxInt64)

// Result is the complete answer to one request. It is a value: keep it, copy it. The zero Result answers nothing and
// never allows. OK says whether the request was allowed, Outcome what became of it.
type Result struct {
	decision // whose OK and Outcome are Result's: so that asking for them does not copy all of it
	tick     time.Duration
	into     time.Duration // how far into its tick the request came, so that waits are exact to the nanosecond
}

// decision is policy.Decision under a name that nobody else sees.
type decision = policy.Decision

// NewResult is for limiters of other packages: the answer d to a request that came into after the beginning of its tick. tick
// is above 0, into from 0 to below tick.
func NewResult(d policy.Decision, tick, into time.Duration) Result { return Result{d, tick, into} }

// Err is nil if the request was allowed; else ErrDenied, ErrTooCostly, ErrFull, ErrPastHorizon or ErrUnavailable.
func (r Result) Err() error { return r.Outcome().Err() }

// Remaining is the whole permits that could still be spent now, after this request; of two limits the smaller.
func (r Result) Remaining() uint64 { return r.decision.Remaining() }

// RetryAfter is 0 if allowed; for a denial the least wait after which the same request is allowed, if nobody else comes
// before; Never for every other outcome.
func (r Result) RetryAfter() time.Duration { return r.wait(r.decision.RetryAfter()) }

// ResetAfter is the least wait after which the key is as good as one never seen; of two limits the longer.
func (r Result) ResetAfter() time.Duration { return r.wait(r.decision.ResetAfter()) }

// Delay is how long to hold an allowed request of a leaky bucket so that the output is smooth; else 0.
func (r Result) Delay() time.Duration { return r.wait(r.decision.Delay()) }

// Next is the least wait until Remaining is larger than it is; 0 if it is as large as it can be.
func (r Result) Next() time.Duration { return r.wait(r.decision.Next()) }

// Binding says which limit of a dual bucket binds: the longer wait if refused, the fewer remaining if allowed.
func (r Result) Binding() policy.Binding { return r.decision.Binding() }

// String is the answer in a line, for logs and tests.
func (r Result) String() string {
	retry := r.RetryAfter().String()
	if r.RetryAfter() == Never {
		retry = "never"
	}
	return fmt.Sprintf("%s, remaining %d, retry after %s, reset after %s", r.Outcome(), r.Remaining(), retry, r.ResetAfter())
}

// wait turns ticks that are counted from the beginning of the request's tick into time from the request on.
func (r Result) wait(ticks uint64) time.Duration {
	if ticks == 0 {
		return 0
	}
	if r.tick <= 0 || ticks > uint64(Never/r.tick) {
		return Never
	}
	return time.Duration(ticks)*r.tick - r.into
}

// Answer is all of it as plain numbers, its times in nanoseconds; a RetryAfter of Never is policy.Never.
func (r Result) Answer() policy.Answer {
	a := policy.Answer{Outcome: r.Outcome(), Remaining: r.Remaining(), RetryAfter: policy.Never,
		ResetAfter: uint64(r.ResetAfter()), Delay: uint64(r.Delay()), Binding: r.Binding()}
	if r.RetryAfter() != Never {
		a.RetryAfter = uint64(r.RetryAfter())
	}
	return a
}
