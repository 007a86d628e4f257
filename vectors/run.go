package vectors

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
)

// roomsForFill is the max_keys of a case that fills the table and leaves the number open, for a port that can have any.
const roomsForFill = "1024"

// Options narrow a run. The zero Options run everything.
type Options struct {
	// Policies are the policies to run, "hash" standing for the hash vectors; none means all.
	Policies []string
	// Case is the id of the only case to run; "" means all.
	Case string
	// Each, if set, is told every result as it comes.
	Each func(Result)
	// Expect are the failures that are expected.
	Expect *Expectations
	// Replay, if set, gives the command line that runs the case of an id alone.
	Replay func(id string) string
}

// Result is what became of one case.
type Result struct {
	ID       string  `json:"id"`
	Policy   string  `json:"policy"`   // "hash" for a hash vector
	Category string  `json:"category"` // the hash's name for a hash vector
	Verdict  Verdict `json:"verdict"`
	Why      string  `json:"why,omitempty"` // in words, for every verdict but pass
	// Step is the index of the step of the case that differs; nil if the case differs as a whole.
	Step *int `json:"step,omitempty"`
	// Op, Field, Wanted and Got say what differs first. A field that the port did not give is "absent".
	Op     string `json:"op,omitempty"`
	Field  string `json:"field,omitempty"`
	Wanted string `json:"wanted,omitempty"`
	Got    string `json:"got,omitempty"`
	// LeftOut is how many probes were left out because the port has no peek.
	LeftOut int `json:"left_out,omitempty"`
	// Expected is why the case is expected to fail; "" if it is not.
	Expected string `json:"expected,omitempty"`
	// Hint is the likely cause, Stderr what the port wrote to standard error, Replay the command that runs this case
	// alone. They are there when something is wrong, if at all.
	Hint   string   `json:"hint,omitempty"`
	Stderr []string `json:"stderr,omitempty"`
	Replay string   `json:"replay,omitempty"`

	origin *Case      // what was run, for a case that failed
	steps  []Expanded // as sent
	got    []Want     // as answered
}

// Run puts a driver through a suite and says what became of each case. The error is about the options or the driver's
// hello; whatever a case meets is its verdict, and the run goes on. When ctx ends, the cases left are not_run.
func Run(ctx context.Context, s Suite, d Driver, o Options) (Report, error) {
	if err := o.check(s); err != nil {
		return Report{}, err
	}
	hello, err := d.Hello(ctx)
	if err == nil {
		err = hello.check()
	}
	if err != nil {
		return Report{}, fmt.Errorf("hello: %w", err)
	}
	r := Report{Suite: s.Version, Hello: hello, Narrowed: len(o.Policies) > 0 || o.Case != ""}
	add := func(one Result) {
		o.annotate(&one)
		r.Results = append(r.Results, one)
		if o.Each != nil {
			o.Each(one)
		}
	}
	for _, f := range s.Files {
		for i := range f.Cases {
			if o.wants(f.Policy, f.Cases[i].ID) {
				add(runCase(ctx, d, hello, f, &f.Cases[i]))
			}
		}
	}
	for _, h := range s.Hashes {
		for _, c := range h.Cases {
			if o.wants("hash", c.ID) {
				add(runHash(ctx, d, hello, h.Hash, c))
			}
		}
	}
	r.Stale = o.Expect.stale(s, r.Results)
	return r, nil
}

// annotate adds to a result what the options know about its case.
func (o Options) annotate(r *Result) {
	r.Expected = o.Expect.reason(r.ID)
	if o.Replay != nil && r.wrong() {
		r.Replay = o.Replay(r.ID)
	}
}

// check refuses options that fit nothing in the suite.
func (o Options) check(s Suite) error {
	known := append(Policies(), "hash")
	for _, name := range o.Policies {
		if !contains(known, name) {
			return fmt.Errorf("policy is %q: must be one of %s", name, list(known))
		}
	}
	for _, f := range s.Files {
		if slices.ContainsFunc(f.Cases, func(c Case) bool { return o.wants(f.Policy, c.ID) }) {
			return nil
		}
	}
	for _, h := range s.Hashes {
		if slices.ContainsFunc(h.Cases, func(c HashCase) bool { return o.wants("hash", c.ID) }) {
			return nil
		}
	}
	if o.Case != "" {
		return fmt.Errorf("case is %q: no case of these vectors and policies has that id", o.Case)
	}
	return fmt.Errorf("policy is %q: these vectors have no case of it", list(o.Policies))
}

func (o Options) wants(policy, id string) bool {
	return (len(o.Policies) == 0 || contains(o.Policies, policy)) && (o.Case == "" || o.Case == id)
}

// check refuses a hello that cannot be worked with.
func (h Hello) check() error {
	if h.Protocol != Protocol {
		return &DriverError{Verdict: ProtocolError, Text: fmt.Sprintf("protocol is %d: must be %d", h.Protocol, Protocol)}
	}
	n, err := strconv.ParseUint(h.MaxKeys, 10, 64)
	if h.MaxKeys != "*" && (err != nil || n == 0 || strconv.FormatUint(n, 10) != h.MaxKeys) {
		return &DriverError{Verdict: ProtocolError, Text: fmt.Sprintf(`max_keys is %q: must be "*" or a number above 0`, h.MaxKeys)}
	}
	return nil
}

func runCase(ctx context.Context, d Driver, hello Hello, f File, c *Case) Result {
	r := Result{ID: c.ID, Policy: f.Policy, Category: f.Category, origin: c}
	if ctx.Err() != nil {
		return r.verdict(NotRun, "the run was ended: "+context.Cause(ctx).Error())
	}
	q, steps, lacks := prepare(hello, f.Policy, *c)
	if lacks != "" {
		return r.verdict(Unsupported, lacks)
	}
	r.steps = steps
	r.LeftOut = leftOut(*c, steps)
	reply, err := d.Run(ctx, q)
	if err != nil {
		return r.failed(ctx, err)
	}
	if r = r.judge(*c, reply); r.Verdict != Pass {
		r.Stderr = reply.Stderr
	}
	return r
}

// leftOut is how many steps of c that are no fill are missing in steps.
func leftOut(c Case, steps []Expanded) int {
	there := map[int]bool{}
	for _, e := range steps {
		there[e.From] = true
	}
	n := 0
	for i, s := range c.Steps {
		if s.Op != "fill" && !there[i] {
			n++
		}
	}
	return n
}

func runHash(ctx context.Context, d Driver, hello Hello, hash string, c HashCase) Result {
	r := Result{ID: c.ID, Policy: "hash", Category: hash}
	if ctx.Err() != nil {
		return r.verdict(NotRun, "the run was ended: "+context.Cause(ctx).Error())
	}
	if !hello.Able(hash) {
		return r.verdict(Unsupported, hash)
	}
	got, err := d.Hash(ctx, HashRequest{Hash: hash, Hex: c.Hex, Seed: c.Seed, In: c.In})
	if err != nil {
		return r.failed(ctx, err)
	}
	if got != *c.Want {
		return r.differs(nil, "hash", "key", strconv.FormatUint(uint64(*c.Want), 10), strconv.FormatUint(uint64(got), 10))
	}
	return r.verdict(Pass, "")
}

// failed is what a driver's error means.
func (r Result) failed(ctx context.Context, err error) Result {
	if known := (*DriverError)(nil); errors.As(err, &known) {
		r.Hint, r.Stderr = Clean(known.Hint), known.Stderr
		return r.verdict(known.Verdict, known.Text)
	}
	if ctx.Err() != nil {
		return r.verdict(NotRun, "the run was ended: "+context.Cause(ctx).Error())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return r.verdict(Timeout, err.Error())
	}
	return r.verdict(Crash, err.Error())
}

// prepare makes the request of a case for an implementation; lacks is what the implementation would need besides.
func prepare(hello Hello, policy string, c Case) (q Request, steps []Expanded, lacks string) {
	if !contains(hello.Policies, policy) {
		return q, nil, "policy " + policy
	}
	q = Request{Policy: policy, Params: c.Params}
	fills := slices.ContainsFunc(c.Steps, func(s Step) bool { return s.Op == "fill" })
	if q.MaxKeys, lacks = table(hello, c.MaxKeys, fills); lacks != "" {
		return q, nil, lacks
	}
	rooms, err := strconv.ParseUint(q.MaxKeys, 10, 64)
	if err != nil {
		rooms = fillAny
	}
	if steps, err = expand(c.Steps, rooms); err != nil {
		return q, nil, err.Error()
	}
	wanted := needs(c)
	if !hello.Able(CanPeek) {
		var peeks bool
		if steps, peeks = withoutProbes(steps); peeks {
			wanted = append(wanted, CanPeek)
		}
	}
	for _, capability := range wanted {
		if !hello.Able(capability) {
			return q, nil, capability
		}
	}
	q.Steps = make([]Step, len(steps))
	for i, e := range steps {
		q.Steps[i] = e.Step
		q.Steps[i].Want = nil // a port is never told
	}
	return q, steps, ""
}

// table is the max_keys to make the policy of a case with.
func table(hello Hello, wanted string, fills bool) (maxKeys, lacks string) {
	switch {
	case wanted == "*" && fills && hello.MaxKeys == "*" && hello.Able(CanMaxKeys):
		return roomsForFill, ""
	case wanted == "*" && fills && hello.MaxKeys == "*":
		return "", CanMaxKeys
	case wanted == "*" || wanted == hello.MaxKeys:
		return hello.MaxKeys, ""
	case hello.Able(CanMaxKeys):
		return wanted, ""
	}
	return "", CanMaxKeys
}

// needs is what a case says it needs and what its steps use. max_keys is not among them: that is for table.
func needs(c Case) []string {
	all := slices.DeleteFunc(slices.Clone(c.Needs), func(s string) bool { return s == CanMaxKeys })
	for _, s := range c.Steps {
		switch s.Op {
		case CanRefund, CanSweep, CanRelimit:
			all = append(all, s.Op)
		}
		if s.Cost2 != nil {
			all = append(all, CanCost2)
		}
	}
	return all
}
