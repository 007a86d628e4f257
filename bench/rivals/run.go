package rivals

import (
	"cmp"
	"context"
	"errors"
	"os"

	"weir/vectors"
)

// Outcome is what came of one rival.
type Outcome struct {
	Rival
	Version string
	Missing string   // why it was not run; the rest is empty then
	Total   int      // cases of its policy in the suite
	Whole   [2]Score // every field that it reports compared, by length of the tick
	Bare    [2]Score // its decisions alone
}

// Ticks are the two lengths of a tick, in nanoseconds, that each rival is run with.
var Ticks = [2]uint64{1, 1000}

// Score is what came of one run.
type Score struct {
	Run, Passed   int
	Steps, Fields int            // left out of the cases that were run
	NotAsked      map[string]int // cases, by reason
	Failed        []Difference
}

// Measure runs one rival.
func Measure(ctx context.Context, s vectors.Suite, r Rival) (Outcome, error) {
	o := Outcome{Rival: r}
	dir, err := os.MkdirTemp("", "weir-bench-")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(dir)
	driver, version, err := r.Open(ctx, dir)
	if missing := (*missingError)(nil); errors.As(err, &missing) {
		o.Missing = missing.what
		return o, nil
	} else if err != nil {
		return o, err
	}
	defer driver.Close()
	hello, err := driver.Hello(ctx)
	if err != nil {
		return o, err
	}
	o.Version = cmp.Or(version, hello.Version)
	for _, f := range s.Files {
		if f.Policy == r.Policy {
			o.Total += len(f.Cases)
		}
	}
	bare := r.Asks
	bare.Fields = always()
	for i, tick := range Ticks {
		d := &scaled{driver, hello, tick}
		if o.Whole[i], err = score(ctx, s, r.Policy, r.Asks, d); err != nil {
			return o, err
		}
		if o.Bare[i], err = score(ctx, s, r.Policy, bare, d); err != nil {
			return o, err
		}
	}
	return o, nil
}

// score runs what can be asked of the suite.
func score(ctx context.Context, all vectors.Suite, policy string, a Asks, d vectors.Driver) (Score, error) {
	s, left := Narrow(all, policy, a)
	report, err := vectors.Run(ctx, s, d, vectors.Options{})
	if err != nil {
		return Score{}, err
	}
	cases := map[string]vectors.Case{}
	for _, f := range s.Files {
		for _, c := range f.Cases {
			cases[c.ID] = c
		}
	}
	sc := Score{NotAsked: left.Cases}
	for _, r := range report.Results {
		switch {
		case r.Verdict == vectors.NotRun:
			return sc, errors.New(r.Why)
		case r.Verdict == vectors.Unsupported || r.Verdict == vectors.Skipped:
			sc.NotAsked[r.Why]++
			continue
		case r.Field == "config_error" && r.Wanted == "none":
			sc.NotAsked["it refuses the limit"]++
			continue
		case r.Verdict == vectors.Pass:
			sc.Passed++
		default:
			sc.Failed = append(sc.Failed, Difference{cases[r.ID], r})
		}
		sc.Run++
		sc.Steps += left.Steps[r.ID]
		sc.Fields += left.Fields[r.ID]
	}
	return sc, nil
}
