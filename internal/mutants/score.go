package mutants

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"weir/vectors"
)

// Mutant is a fault in one policy.
type Mutant struct {
	ID     string `json:"mutant"`
	Policy string `json:"policy"` // "hash" for a fault of a hash
}

// Killer is a case that a mutant does not pass.
type Killer struct {
	Case     string          `json:"case"`
	Category string          `json:"category"` // the hash's name for a hash vector
	Verdict  vectors.Verdict `json:"verdict"`
}

// Trial is what became of one mutant.
type Trial struct {
	Mutant
	Equivalent string // the argument, if nothing can kill it
	Killers    []Killer
}

// Categories are those of the killers, in their order.
func (t Trial) Categories() []string {
	var names []string
	for _, k := range t.Killers {
		if !slices.Contains(names, k.Category) {
			names = append(names, k.Category)
		}
	}
	return names
}

// Examples are the killers, the first of each category before the rest.
func (t Trial) Examples() []Killer {
	var first, rest []Killer
	seen := map[string]bool{}
	for _, k := range t.Killers {
		if seen[k.Category] {
			rest = append(rest, k)
			continue
		}
		seen[k.Category] = true
		first = append(first, k)
	}
	return append(first, rest...)
}

// OK says whether the mutant is killed, or lives as it must because it changes no answer.
func (t Trial) OK() bool { return (t.Equivalent != "") == (len(t.Killers) == 0) }

// Options narrow a score. The zero Options try every mutant.
type Options struct {
	Policies []string // those to try, "hash" standing for the hashes; none means all
	Mutant   string   // the id of the only fault to try; "" means all
}

// Mutants are those that o asks for, in the order of the catalogue. Asking for what there is not is an error.
func (o Options) Mutants() ([]Mutant, error) {
	known := append(vectors.Policies(), "hash")
	for _, name := range o.Policies {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("policy is %q: must be one of %v", name, known)
		}
	}
	if _, ok := Find(o.Mutant); o.Mutant != "" && !ok {
		return nil, fmt.Errorf("mutant is %q: there is none of that id", o.Mutant)
	}
	var list []Mutant
	for _, f := range Catalogue() {
		for _, name := range f.Policies {
			if (o.Mutant == "" || f.ID == o.Mutant) && (len(o.Policies) == 0 || slices.Contains(o.Policies, name)) {
				list = append(list, Mutant{f.ID, name})
			}
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("mutant is %q: does not apply to %v", o.Mutant, o.Policies)
	}
	return list, nil
}

// Score is what became of the mutants.
type Score struct {
	Suite    string
	Narrowed bool // the options left a part of the catalogue out
	single   bool // one fault only: nothing is known of cases that kill nothing
	Trials   []Trial
	// Idle are the cases of the policies tried that no mutant fails; none if only one fault was tried.
	Idle []string
	// Cases is how many cases the policies tried have.
	Cases int
}

// Survivors are the mutants that are not as they must be: alive without an argument, or killed in spite of one.
func (s Score) Survivors() []Trial {
	return slices.DeleteFunc(slices.Clone(s.Trials), Trial.OK)
}

// Killed counts the mutants that are killed, and those that must be: all but the equivalent ones.
func (s Score) Killed() (killed, mortal int) {
	for _, t := range s.Trials {
		if t.Equivalent == "" {
			mortal++
			if len(t.Killers) > 0 {
				killed++
			}
		}
	}
	return killed, mortal
}

// Line is the score in one line.
func (s Score) Line() string {
	killed, mortal := s.Killed()
	percent := 100.0
	if mortal > 0 {
		percent = 100 * float64(killed) / float64(mortal)
	}
	line := fmt.Sprintf("score: %d of %d mutants killed (%.4g %%)", killed, mortal, percent)
	if n := len(s.Trials) - mortal; n > 0 {
		line += fmt.Sprintf(", %d equivalent", n)
	}
	if line += fmt.Sprintf("; %d cases", s.Cases); !s.single {
		line += fmt.Sprintf(", %d kill nothing", len(s.Idle))
	}
	return line
}

// Run tries every mutant that o asks for on its policy's part of a suite. The error is about the options, or ctx's.
func Run(ctx context.Context, suite vectors.Suite, o Options) (Score, error) {
	list, err := o.Mutants()
	if err != nil {
		return Score{}, err
	}
	s := Score{Suite: suite.Version, Narrowed: o.Mutant != "" || len(o.Policies) > 0,
		single: o.Mutant != "", Trials: make([]Trial, len(list))}
	errs := make([]error, len(list))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				s.Trials[i], errs[i] = Try(ctx, suite, list[i])
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return Score{}, err
		}
	}
	s.tally(suite)
	return s, nil
}

// Try puts one mutant through its policy's part of a suite.
func Try(ctx context.Context, suite vectors.Suite, m Mutant) (Trial, error) {
	f, _ := Find(m.ID)
	t := Trial{Mutant: m, Equivalent: f.Equivalent}
	r, err := vectors.Run(ctx, suite, Driver(m.ID), vectors.Options{Policies: []string{m.Policy}})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return t, err
	}
	for _, one := range r.Results {
		if one.Verdict != vectors.Pass {
			t.Killers = append(t.Killers, Killer{one.ID, one.Category, one.Verdict})
		}
	}
	return t, nil
}

// Kills says why a case of f does not kill the mutant of an id in f's policy; nil if it does.
func Kills(ctx context.Context, f vectors.File, c vectors.Case, id string) error {
	fault, known := Find(id)
	switch {
	case !known:
		return fmt.Errorf("kills is %q: there is none of that id", id)
	case !fault.Applies(f.Policy):
		return fmt.Errorf("kills is %q: does not apply to %s", id, f.Policy)
	}
	f.Cases = []vectors.Case{c}
	t, err := Try(ctx, vectors.Suite{Files: []vectors.File{f}}, Mutant{id, f.Policy})
	if err == nil && len(t.Killers) == 0 {
		err = fmt.Errorf("kills is %q: the case does not kill it", id)
	}
	return err
}

// tally counts the cases of the policies tried and finds those that killed nothing.
func (s *Score) tally(suite vectors.Suite) {
	tried, kills := map[string]bool{}, map[string]bool{}
	for _, t := range s.Trials {
		tried[t.Policy] = true
		for _, k := range t.Killers {
			kills[k.Case] = true
		}
	}
	count := func(policy, id string) {
		if !tried[policy] {
			return
		}
		s.Cases++
		if !s.single && !kills[id] {
			s.Idle = append(s.Idle, id)
		}
	}
	for _, f := range suite.Files {
		for _, c := range f.Cases {
			count(f.Policy, c.ID)
		}
	}
	for _, h := range suite.Hashes {
		for _, c := range h.Cases {
			count("hash", c.ID)
		}
	}
}
