package main

import (
	"context"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"weir"
	"weir/cport"
	"weir/policy"
	"weir/vectors"
)

// verification is what verify was asked for.
type verification struct {
	impl, policy, from, id, addr  string
	port, protocol, expect, junit string
	asJSON, asTAP, strict, trace  bool
	long                          bool
	limit, startUp                time.Duration
}

func (v *verification) flags() *flag.FlagSet {
	f := flags("verify")
	f.StringVar(&v.impl, "impl", "all", "the implementation: `go, c, redis or all`; all is those of this process")
	f.StringVar(&v.addr, "addr", "", "with --impl redis: the `HOST:PORT` of a Redis or Valkey server, best one that holds nothing else")
	f.StringVar(&v.port, "port", "", "a port to run instead: a `command`, split into words without a shell")
	f.StringVar(&v.protocol, "protocol", "json", "what the port speaks: `json or text`")
	f.StringVar(&v.policy, "policy", "", "only these policies: `names` with commas between; hash stands for the hashes")
	f.StringVar(&v.from, "vectors", "", "a vector `file or folder` to take instead of the suite that is built in")
	f.BoolVar(&v.long, "long", false, "the long transcripts too: a million steps a policy")
	f.StringVar(&v.id, "case", "", "only the case of this `id`")
	f.BoolVar(&v.trace, "trace", false, "with --port and --case: print every line that goes to the port (->) and comes back (<-)")
	f.StringVar(&v.expect, "expect", "", "with --port: a `file` of cases that must fail, in lines GLOB # REASON")
	f.BoolVar(&v.asJSON, "json", false, "one JSON object a line, the last of each implementation with \"done\"")
	f.BoolVar(&v.asTAP, "tap", false, "the Test Anything Protocol, version 14")
	f.StringVar(&v.junit, "junit", "", "write a JUnit report to a `file` besides")
	f.BoolVar(&v.strict, "strict", false, "exit with 1 if anything was left out")
	f.DurationVar(&v.limit, "timeout", 5*time.Second, "with --port: how long a case may take, or 1,000 steps of a long one")
	f.DurationVar(&v.startUp, "startup", 30*time.Second, "with --port: how long its start may take")
	return f
}

// check refuses flags that do not go together.
func (v *verification) check(f *flag.FlagSet) error {
	given := map[string]bool{}
	f.Visit(func(one *flag.Flag) { given[one.Name] = true })
	if given["port"] && v.port == "" {
		return errors.New("port is empty, must be a command")
	}
	for _, name := range []string{"protocol", "expect", "trace", "timeout", "startup"} {
		if given[name] && v.port == "" {
			return fmt.Errorf("%s is given, but no port: it goes with --port", name)
		}
	}
	for name, value := range map[string]string{"policy": v.policy, "case": v.id, "vectors": v.from, "expect": v.expect, "junit": v.junit} {
		if given[name] && value == "" {
			return fmt.Errorf("%s is given, but empty", name)
		}
	}
	switch {
	case given["addr"] != (v.impl == "redis"):
		return fmt.Errorf("impl is %q and addr is %q: --impl redis and --addr go together", v.impl, v.addr)
	case given["port"] && given["impl"]:
		return fmt.Errorf("impl and port are given, must be one of them")
	case v.protocol != "json" && v.protocol != "text":
		return fmt.Errorf("protocol is %q, must be json or text", v.protocol)
	case v.asJSON && v.asTAP:
		return fmt.Errorf("json and tap are given, must be one of them")
	case v.long && v.id != "":
		return fmt.Errorf("long and case are given, must be one of them")
	case v.trace && v.id == "":
		return fmt.Errorf("trace is given, but no case: it goes with --case")
	case v.limit <= 0:
		return fmt.Errorf("timeout is %v, must be above 0", v.limit)
	case v.startUp <= 0:
		return fmt.Errorf("startup is %v, must be above 0", v.startUp)
	}
	return nil
}

// verify puts implementations through the vectors.
func verify(a app, args []string) (int, error) {
	defer a.tidy()()
	var v verification
	f := v.flags()
	if err := parse(a, f, args); err != nil {
		return usage, err
	}
	if err := v.check(f); err != nil {
		return usage, err
	}
	o := vectors.Options{Case: v.id}
	var err error
	if v.policy != "" {
		if o.Policies, err = names("policy", v.policy); err != nil {
			return usage, err
		}
	}
	suite, err := load(v.from)
	if err != nil {
		return usage, err
	}
	trials, left, err := v.candidates(a, suite, o)
	if err != nil {
		return usage, err
	}
	if v.long {
		transcripts, err := v.transcripts(o)
		if err != nil {
			return usage, err
		}
		for i := range trials {
			trials[i].long = transcripts
		}
	}
	return v.run(a, suite, trials, left)
}

// run puts every candidate through the suite and writes the reports.
func (v *verification) run(a app, suite vectors.Suite, trials []candidate, left []string) (int, error) {
	status := good
	var reports []vectors.Report
	for _, t := range trials {
		r, err := t.run(a, suite)
		if err != nil {
			return usage, err
		}
		reports = append(reports, r)
		if !r.OK(v.strict) {
			status = wrong
		}
		if unknown := r.Hello.Unknown(); len(unknown) > 0 {
			fmt.Fprintln(a.err, "not known here:", strings.Join(unknown, ", "))
		}
		if r.Ran() == 0 && a.ctx.Err() == nil {
			fmt.Fprintln(a.err, "nothing was run: the implementation claims none of what these cases need")
			status = wrong
		}
	}
	for _, what := range left {
		fmt.Fprintln(a.err, "left out:", what)
		if v.strict {
			status = wrong
		}
	}
	if err := v.write(a.out, reports); err != nil {
		return usage, err
	}
	return status, nil
}

// write writes the reports in the form that was asked for, and the JUnit file.
func (v *verification) write(out io.Writer, reports []vectors.Report) error {
	if v.junit != "" {
		err := writeFile(v.junit, func(w io.Writer) error { return vectors.WriteJUnit(w, reports...) })
		if err != nil {
			return fmt.Errorf("junit: %w", err)
		}
	}
	if v.asTAP {
		return vectors.WriteTAP(out, reports...)
	}
	for _, r := range reports {
		write := r.WriteTable
		if v.asJSON {
			write = r.WriteJSON
		}
		if err := write(out); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a whole file, or says why it could not.
func writeFile(name string, write func(io.Writer) error) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// candidate is an implementation and what of the suite it is put through.
type candidate struct {
	driver  vectors.Driver
	options vectors.Options
	long    []vectors.Long
}

// transcripts are the long ones of the policies that were asked for.
func (v *verification) transcripts(o vectors.Options) (all []vectors.Long, err error) {
	tree := vectors.FS()
	if v.from != "" {
		tree = os.DirFS(v.from)
	}
	for _, name := range vectors.Policies() {
		if len(o.Policies) > 0 && !slices.Contains(o.Policies, name) {
			continue
		}
		l, err := vectors.LoadLong(tree, name)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}

// candidates are the implementations to try; left says what of the suite or of the choice is not tried, and why.
func (v *verification) candidates(a app, s vectors.Suite, o vectors.Options) (all []candidate, left []string, err error) {
	if v.port != "" {
		c, err := v.program(a, s, o)
		return []candidate{c}, nil, err
	}
	if v.impl == "redis" {
		c, err := v.onServer(a, o)
		return []candidate{c}, nil, err
	}
	if !slices.Contains([]string{"go", "c", "all"}, v.impl) {
		return nil, nil, fmt.Errorf("impl is %q, must be go, c, redis or all", v.impl)
	}
	if v.impl != "c" {
		o.Replay = v.replay("--impl", "go")
		all = append(all, candidate{driver: vectors.NewRegistryDriver("weir", "go", weir.Registry()), options: o})
	}
	o.Replay = v.replay("--impl", "c")
	switch {
	case v.impl == "go":
	case cport.Available:
		all = append(all, inC(o))
	case v.impl == "c":
		return nil, nil, cport.ErrNoCgo
	default:
		left = []string{cport.ErrNoCgo.Error()}
	}
	return all, left, nil
}

// maker makes the policy of that name that is known to be right.
func maker(name string) policy.Maker {
	return func(l policy.Limit, o policy.Options) (policy.Policy, error) { return weir.Registry().New(name, l, o) }
}

// roomsInC is the max_keys of the C port where a case leaves it open: C allocates all of a table when it is made, and a
// sliding log's keys may be large.
const roomsInC = 1024

// inC is the C port. A sliding log in C has all its entries from the start, so it does not claim long ones.
func inC(o vectors.Options) candidate {
	d := vectors.NewRegistryDriver("weir cport", "c", cport.Registry()).Fixed(roomsInC).Without(vectors.CanLongLog)
	return candidate{driver: driverInC{d}, options: o}
}

// driverInC is the C port with the hashes that C computes.
type driverInC struct{ *vectors.RegistryDriver }

// Hello is the registry's, and the hashes.
func (d driverInC) Hello(ctx context.Context) (vectors.Hello, error) {
	h, err := d.RegistryDriver.Hello(ctx)
	h.Can = append(slices.Clone(h.Can), vectors.CanXXH64, vectors.CanMix32)
	return h, err
}

// Hash is the key that C makes.
func (d driverInC) Hash(_ context.Context, q vectors.HashRequest) (vectors.Number, error) {
	if q.Hash == vectors.CanMix32 {
		return vectors.Number(cport.Key32(uint32(*q.In))), nil
	}
	b, err := hex.DecodeString(*q.Hex)
	if err != nil {
		return 0, &vectors.DriverError{Verdict: vectors.ProtocolError, Text: err.Error()}
	}
	return vectors.Number(cport.KeyBytes(b, uint64(*q.Seed))), nil
}

func load(from string) (vectors.Suite, error) {
	if from == "" {
		return vectors.Load(vectors.FS())
	}
	return vectors.LoadPath(from)
}

// run puts a candidate through the suite. What goes wrong with a port before the first case or after the last is part of
// the report; the error is about what was asked for.
func (c candidate) run(a app, s vectors.Suite) (vectors.Report, error) {
	r, err := vectors.Run(a.ctx, s, c.driver, c.options)
	if known := (*vectors.DriverError)(nil); errors.As(err, &known) {
		r = vectors.Report{Suite: s.Version}
		r.Note("hello", known)
		c.long, err = nil, nil
	}
	for _, l := range c.long {
		if err == nil && (len(c.options.Policies) == 0 || slices.Contains(c.options.Policies, l.Policy)) {
			r.Results = append(r.Results, vectors.RunLong(a.ctx, c.driver, r.Hello, l, maker(l.Policy)))
		}
	}
	r.Note("bye", c.driver.Close())
	return r, err
}
