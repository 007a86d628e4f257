package main

import (
	"fmt"
	"slices"
	"strings"

	"weir"
	"weir/cport"
	"weir/vectors"
)

// verify puts implementations through the vectors.
func verify(a app, args []string) (int, error) {
	f := flags("verify")
	impl := f.String("impl", "all", "the implementation: `go, c or all`")
	policies := f.String("policy", "", "only these policies: `names` with commas between; hash stands for the hashes")
	from := f.String("vectors", "", "a vector `file or folder` to take instead of the suite that is built in")
	id := f.String("case", "", "only the case of this `id`")
	asJSON := f.Bool("json", false, "one JSON object a line, the last with \"done\"")
	strict := f.Bool("strict", false, "exit with 1 if anything was left out")
	if err := parse(a, f, args); err != nil {
		return usage, err
	}
	o := vectors.Options{Case: *id}
	var err error
	if *policies != "" {
		if o.Policies, err = names("policy", *policies); err != nil {
			return usage, err
		}
	}
	trials, left, err := implementations(*impl, o)
	if err != nil {
		return usage, err
	}
	suite, err := load(*from)
	if err != nil {
		return usage, err
	}
	status := good
	for _, t := range trials {
		ok, err := t.report(a, suite, *asJSON, *strict)
		if err != nil {
			return usage, err
		}
		if !ok {
			status = wrong
		}
	}
	for _, what := range left {
		fmt.Fprintln(a.err, "left out:", what)
		if *strict {
			status = wrong
		}
	}
	return status, nil
}

// candidate is an implementation and what of the suite it is put through.
type candidate struct {
	driver  vectors.Driver
	options vectors.Options
}

// implementations are those of a choice; left says what of the suite or of the choice is not tried, and why.
func implementations(impl string, o vectors.Options) (all []candidate, left []string, err error) {
	if !slices.Contains([]string{"go", "c", "all"}, impl) {
		return nil, nil, fmt.Errorf("impl is %q, must be go, c or all", impl)
	}
	if impl != "c" {
		all = append(all, candidate{vectors.NewRegistryDriver("weir", "go", weir.Registry()), o})
	}
	switch {
	case impl == "go":
	case cport.Available:
		var c candidate
		c, left = inC(o)
		all = append(all, c)
	case impl == "c":
		return nil, nil, cport.ErrNoCgo
	default:
		left = []string{cport.ErrNoCgo.Error()}
	}
	return all, left, nil
}

// inC is the C port. Unless policies are named it is put through those that it has.
func inC(o vectors.Options) (c candidate, left []string) {
	r := cport.Registry()
	if len(o.Policies) == 0 && o.Case == "" {
		o.Policies = r.Names()
		others := slices.DeleteFunc(append(vectors.Policies(), "hash"), func(name string) bool {
			return slices.Contains(o.Policies, name)
		})
		left = []string{"the C port does not have " + strings.Join(others, ", ")}
	}
	return candidate{vectors.NewRegistryDriver("weir cport", "c", r).Fixed(cport.DefaultMaxKeys), o}, left
}

func load(from string) (vectors.Suite, error) {
	if from == "" {
		return vectors.Load(vectors.FS())
	}
	return vectors.LoadPath(from)
}

// report runs a candidate and writes what came of it; ok says whether all is as it should be.
func (c candidate) report(a app, s vectors.Suite, asJSON, strict bool) (ok bool, err error) {
	defer c.driver.Close()
	r, err := vectors.Run(a.ctx, s, c.driver, c.options)
	if err != nil {
		return false, err
	}
	write := r.WriteTable
	if asJSON {
		write = r.WriteJSON
	}
	return r.OK(strict), write(a.out)
}
