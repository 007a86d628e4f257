// Package rivals puts other people's rate limiters through weir's vectors and says where each differs from the exact
// answer. A rival is asked only what it can answer; what it cannot is left out and counted.
package rivals

import (
	"context"
	"math"

	"weir/vectors"
)

// Rival is one library and what it may be asked.
type Rival struct {
	Name   string // its import path, artifact or crate
	Module string // of a Go rival: where its version is found
	Policy string // the policy that it is compared with
	Asks   Asks
	// Open makes the driver, building in dir what must be built; version is the library's, "" if the driver's hello says it.
	// A *missingError means that a tool is not there.
	Open func(ctx context.Context, dir string) (d vectors.Driver, version string, err error)
	// Design says which of its choices explains a difference; "" if none does.
	Design func(d Difference) string
	// Notes are what a reader of the table should know.
	Notes []string
}

// Asks is what a rival can be asked and what it reports.
type Asks struct {
	Can      []string // the capabilities of the suite
	Forget   bool     // a key can be forgotten
	Config   bool     // making one with a limit that cannot be ends in an error or a panic
	YesNo    bool     // one word for every refusal: too_costly counts as deny
	ZeroCost bool     // a request for nothing can be made
	MaxCost  uint64   // the largest cost that can be asked
	PeekCost uint64   // the only cost that can be peeked; 0 is any
	Queues   bool     // it never refuses: only requests that the exact policy allows are sent
	// Fields are the fields that it reports besides the outcome, for an operation that has this outcome.
	Fields func(op, outcome string) []string
}

// Difference is a case whose answer differs from the exact one.
type Difference struct {
	Case   vectors.Case
	Result vectors.Result
}

// anyCost is a MaxCost for a rival that takes every cost of the suite.
const anyCost = math.MaxInt64

// All are the rivals in the order of the table.
func All() []Rival {
	return []Rival{xtime(), juju(), jujuRate(), golimiter(), bucket4j(), throttledV2(), governor(), uber()}
}

// tooCostly says whether the step that differs asks for more than the burst.
func (d Difference) tooCostly() bool {
	step := d.step()
	return step != nil && step.Cost != nil && uint64(*step.Cost) > d.Case.Params.Limit().Burst
}

// step is the step that differs; nil if the case differs as a whole.
func (d Difference) step() *vectors.Step {
	if d.Result.Step == nil {
		return nil
	}
	return &d.Case.Steps[*d.Result.Step]
}

// steppedBack says whether time ran backwards at or before the step that differs.
func (d Difference) steppedBack() bool {
	var latest vectors.Number
	for i, s := range d.Case.Steps {
		if d.Result.Step == nil || i > *d.Result.Step {
			return false
		}
		if s.Now == nil {
			continue
		}
		if *s.Now < latest {
			return true
		}
		latest = *s.Now
	}
	return false
}

// always reports the same fields whatever is asked.
func always(fields ...string) func(op, outcome string) []string {
	return func(string, string) []string { return fields }
}
