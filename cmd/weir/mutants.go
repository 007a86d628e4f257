package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"weir/internal/mutants"
	"weir/vectors"
)

// score puts the suite through deliberately wrong policies: it must fail every one of them.
func score(a app, args []string) (int, error) {
	defer a.tidy()()
	f := flags("mutants")
	policies := f.String("policy", "", "only these policies: `names` with commas between; hash stands for the hashes")
	id := f.String("mutant", "", "only the fault of this `id`")
	from := f.String("vectors", "", "a vector `file or folder` to take instead of the suite that is built in")
	asJSON := f.Bool("json", false, "one JSON object a line, the last with \"done\"")
	if err := parse(a, f, args); err != nil {
		return usage, err
	}
	o := mutants.Options{Mutant: *id}
	var err error
	if *policies != "" {
		if o.Policies, err = names("policy", *policies); err != nil {
			return usage, err
		}
	}
	suite, err := load(*from)
	if err != nil {
		return usage, err
	}
	s, err := mutants.Run(a.ctx, suite, o)
	if err != nil {
		return usage, err
	}
	write := writeScore
	if *asJSON {
		write = writeScoreJSON
	}
	if err := write(a.out, s, *id != ""); err != nil {
		return wrong, err
	}
	if len(s.Survivors()) > 0 {
		return wrong, nil
	}
	return good, nil
}

// shownCases is how many of a mutant's killers a line of the table names.
const shownCases = 3

// writeScore writes the score for a person: a line a mutant, the survivors, the cases that kill nothing, the score. In
// full every killer is named.
func writeScore(to io.Writer, s mutants.Score, full bool) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "mutant\tpolicy\tcases\tcategories\tkilled by\n")
	for _, t := range s.Trials {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%s\n", t.ID, t.Policy, len(t.Killers), len(t.Categories()), fate(t, full))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, t := range s.Survivors() {
		fmt.Fprintf(to, "\nSURVIVES %s of %s: %s\n", t.ID, t.Policy, meaning(t))
	}
	if len(s.Idle) > 0 {
		fmt.Fprintf(to, "\n%d cases kill nothing:\n", len(s.Idle))
		for _, id := range s.Idle {
			fmt.Fprintf(to, "  %s\n", vectors.Clean(id))
		}
	}
	_, err := fmt.Fprintf(to, "\n%s\n", s.Line())
	return err
}

// fate is, for the table, what became of a mutant: its killers, one of each category first.
func fate(t mutants.Trial, full bool) string {
	if len(t.Killers) == 0 && t.Equivalent != "" {
		return "nobody: equivalent"
	}
	if len(t.Killers) == 0 {
		return "nobody"
	}
	killers := t.Examples()
	more := ""
	if !full && len(killers) > shownCases {
		killers, more = killers[:shownCases], " ..."
	}
	var ids []string
	for _, k := range killers {
		id := strings.TrimPrefix(k.Case, t.Policy+"/")
		if k.Verdict != vectors.Fail {
			id += " (" + string(k.Verdict) + ")"
		}
		ids = append(ids, vectors.Clean(id))
	}
	return strings.Join(ids, " ") + more
}

// meaning says what a mutant that is not as it must be does.
func meaning(t mutants.Trial) string {
	f, _ := mutants.Find(t.ID)
	if t.Equivalent != "" {
		return fmt.Sprintf("is said to change no answer (%s), but %s finds one", t.Equivalent, t.Killers[0].Case)
	}
	return f.Wrong
}

// trialLine is a line of the JSON report.
type trialLine struct {
	mutants.Mutant
	Wrong      string           `json:"wrong"`
	Equivalent bool             `json:"equivalent"`
	OK         bool             `json:"ok"`
	Categories []string         `json:"categories"`
	Killers    []mutants.Killer `json:"killers"`
}

// scoreLine is the last line, by which a reader knows that it has all.
type scoreLine struct {
	Done      bool             `json:"done"`
	Suite     string           `json:"suite"`
	Narrowed  bool             `json:"narrowed"`
	Mutants   int              `json:"mutants"`
	Killed    int              `json:"killed"`
	Mortal    int              `json:"mortal"` // those that must be killed
	Survivors []mutants.Mutant `json:"survivors"`
	Cases     int              `json:"cases"`
	Idle      []string         `json:"idle"`
}

// writeScoreJSON writes a line a mutant, with all of its killers, and one with the score.
func writeScoreJSON(to io.Writer, s mutants.Score, _ bool) error {
	w := bufio.NewWriter(to)
	enc := json.NewEncoder(w)
	for _, t := range s.Trials {
		f, _ := mutants.Find(t.ID)
		line := trialLine{t.Mutant, f.Wrong, t.Equivalent != "", t.OK(), append([]string{}, t.Categories()...),
			append([]mutants.Killer{}, t.Killers...)}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	killed, mortal := s.Killed()
	last := scoreLine{Done: true, Suite: s.Suite, Narrowed: s.Narrowed, Mutants: len(s.Trials), Killed: killed,
		Mortal: mortal, Survivors: []mutants.Mutant{}, Cases: s.Cases, Idle: append([]string{}, s.Idle...)}
	for _, t := range s.Survivors() {
		last.Survivors = append(last.Survivors, t.Mutant)
	}
	if err := enc.Encode(last); err != nil {
		return err
	}
	return w.Flush()
}
