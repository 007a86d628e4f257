// Package observe counts what limiters decide, and logs what is odd. Counts is a weir.Observer that counts, and an
// expvar.Var; packages prom and telemetry below, modules of their own, show it to Prometheus and OpenTelemetry. Log is an
// Observer that says odd things to a slog.Logger, not often, and Steady a clock that says when it has stepped back. No key
// is in any of it.
//
//	var api observe.Counts
//	limiter := weir.Observed(local, api.Observer())
//	expvar.Publish("weir.api", &api)
package observe

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"weir"
	"weir/policy"
)

// Counts counts what becomes of requests. The zero Counts is ready. It is safe for concurrent use and must not be copied.
type Counts struct {
	outcomes    [policy.Unavailable + 1]atomic.Uint64
	waits       atomic.Uint64
	waitsFailed atomic.Uint64
	waited      atomic.Int64
}

// Reading is what has been counted. The numbers are read one after the other, so that a request that comes meanwhile may be
// in some of them.
type Reading struct {
	// Allowed and the five that follow count the decisions of Allow and AllowN by outcome.
	Allowed     uint64 `json:"allow"`
	Denied      uint64 `json:"deny"`
	TooCostly   uint64 `json:"too_costly"`
	Full        uint64 `json:"full"`
	PastHorizon uint64 `json:"past_horizon"`
	Unavailable uint64 `json:"unavailable"`
	// Waits counts those that Wait let go on, WaitsFailed those that it did not.
	Waits       uint64 `json:"waits"`
	WaitsFailed uint64 `json:"waits_failed"`
	// Waited is how long both took together, in nanoseconds.
	Waited time.Duration `json:"waited_ns"`
}

// Observer is what counts.
func (c *Counts) Observer() weir.Observer {
	return weir.Observer{Decided: c.decided, Waited: c.waitedFor}
}

func (c *Counts) decided(_ context.Context, _ weir.Cost, r weir.Result) {
	o := r.Outcome()
	if o < policy.Allow || o > policy.Unavailable {
		o = policy.Unavailable // nobody answered
	}
	c.outcomes[o].Add(1)
}

func (c *Counts) waitedFor(_ context.Context, _ weir.Cost, waited time.Duration, err error) {
	if err != nil {
		c.waitsFailed.Add(1)
	} else {
		c.waits.Add(1)
	}
	c.waited.Add(int64(waited))
}

// Read is what has been counted so far.
func (c *Counts) Read() Reading {
	return Reading{
		Allowed: c.outcomes[policy.Allow].Load(), Denied: c.outcomes[policy.Deny].Load(),
		TooCostly: c.outcomes[policy.TooCostly].Load(), Full: c.outcomes[policy.Full].Load(),
		PastHorizon: c.outcomes[policy.PastHorizon].Load(), Unavailable: c.outcomes[policy.Unavailable].Load(),
		Waits: c.waits.Load(), WaitsFailed: c.waitsFailed.Load(), Waited: time.Duration(c.waited.Load()),
	}
}

// Outcomes calls each for every outcome with its word, such as "too_costly", and how many there were.
func (r Reading) Outcomes(each func(outcome string, n uint64)) {
	for i, n := range []uint64{r.Allowed, r.Denied, r.TooCostly, r.Full, r.PastHorizon, r.Unavailable} {
		each((policy.Allow + policy.Outcome(i)).String(), n)
	}
}

// String is the reading as JSON, which makes Counts an expvar.Var.
func (c *Counts) String() string {
	text, _ := json.Marshal(c.Read()) // numbers
	return string(text)
}
