package vectors

import (
	"context"
	"slices"
)

// Driver puts one implementation through cases. A policy in this process, a library behind a foreign function call and a
// program that speaks a protocol are all one, so the runner knows nothing of how the answers come.
//
// An error says why there is no answer: a *DriverError names the verdict; a context's error is a timeout, or the end of
// the whole run; anything else counts as a crash. After an error the driver must be ready for the next case, started
// anew if need be. Methods are called one at a time.
type Driver interface {
	// Hello says what the implementation is and what it can do. It is asked once, first.
	Hello(ctx context.Context) (Hello, error)
	// Run puts a fresh policy through all steps of one case. It keeps its own time limit.
	Run(ctx context.Context, q Request) (Reply, error)
	// Hash gives the key of one input. It is asked only what Hello says the implementation can.
	Hash(ctx context.Context, q HashRequest) (Number, error)
	// Close ends the implementation.
	Close() error
}

// Hello is what an implementation says of itself.
type Hello struct {
	Protocol int      `json:"protocol"`
	Name     string   `json:"name"`
	Version  string   `json:"version"`
	Language string   `json:"language"`
	Policies []string `json:"policies"`
	Can      []string `json:"can"`
	MaxKeys  string   `json:"max_keys"` // a number, or "*" for unbounded
}

// Able says whether the implementation has a capability.
func (h Hello) Able(capability string) bool { return slices.Contains(h.Can, capability) }

// Unknown are the policies and capabilities that the implementation claims and this suite does not know: newer ones, or
// slips of the pen.
func (h Hello) Unknown() []string {
	var all []string
	for _, word := range h.Policies {
		if !contains(Policies(), word) {
			all = append(all, Clean(word))
		}
	}
	for _, word := range h.Can {
		if !contains(Capabilities(), word) {
			all = append(all, Clean(word))
		}
	}
	return all
}

// Request is a case as an implementation sees it: without what it must answer, fills made into takes, and max_keys "*"
// only for an implementation that is unbounded.
type Request struct {
	Policy  string `json:"policy"`
	Params  Params `json:"params"`
	MaxKeys string `json:"max_keys"`
	Steps   []Step `json:"steps"`
}

// Reply is what became of a case: a result for each step, or the one of the other three that is not empty.
type Reply struct {
	Results     []Want `json:"results,omitempty"`
	ConfigError string `json:"config_error,omitempty"` // the policy was refused when made
	Skipped     string `json:"skipped,omitempty"`      // why the implementation would not run the case
	Error       string `json:"error,omitempty"`        // why it did not understand

	// Stderr is what the implementation wrote to standard error meanwhile, in lines fit to be shown. It is for people and
	// changes no verdict.
	Stderr []string `json:"-"`
}

// HashRequest is one input of a hash: Hex and Seed for xxh64, In for mix32.
type HashRequest struct {
	Hash string  `json:"hash"`
	Hex  *string `json:"hex,omitempty"`
	Seed *Number `json:"seed,omitempty"`
	In   *Number `json:"in,omitempty"`
}

// Verdict is what became of a case.
type Verdict string

// The verdicts. Only pass is good; unsupported is nobody's fault.
const (
	Pass          Verdict = "pass"
	Fail          Verdict = "fail"           // an answer differs
	Crash         Verdict = "crash"          // the implementation ended or panicked
	Timeout       Verdict = "timeout"        // no answer in time
	ProtocolError Verdict = "protocol_error" // an answer that is not one
	Unsupported   Verdict = "unsupported"    // the case needs what the implementation does not say it can
	Skipped       Verdict = "skipped"        // the implementation would not run it
	NotRun        Verdict = "not_run"        // the run ended before its turn
)

// Verdicts lists them in the order in which a report shows them.
func Verdicts() []Verdict {
	return []Verdict{Pass, Fail, Crash, Timeout, ProtocolError, Skipped, NotRun, Unsupported}
}

// DriverError says why a driver has no answer.
type DriverError struct {
	Verdict Verdict
	Text    string
	Hint    string   // the likely cause, if there is one
	Stderr  []string // as in Reply

	inStep bool // the answer was bad but whole, so the next one can be read
}

// Error is the verdict and the reason, in one line.
func (e *DriverError) Error() string { return string(e.Verdict) + ": " + Clean(e.Text) }
