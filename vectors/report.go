package vectors

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Report is what came of a run.
type Report struct {
	Suite    string // the suite's version
	Hello    Hello
	Narrowed bool // the options left a part of the suite out
	Results  []Result
	Stale    []string // what is wrong with the expectations
}

// Counts says how many cases had each verdict.
type Counts map[Verdict]int

// Total is the number of all cases.
func (c Counts) Total() int {
	n := 0
	for _, one := range c {
		n += one
	}
	return n
}

// Counts counts the results of policy, all of them if policy is "".
func (r Report) Counts(policy string) Counts {
	c := Counts{}
	for _, one := range r.Results {
		if policy == "" || one.Policy == policy {
			c[one.Verdict]++
		}
	}
	return c
}

// Conformant says whether there was something to run and all of it passed whole: nothing failed, was skipped or
// unsupported or expected to fail, and no probe was left out.
func (r Report) Conformant() bool {
	for _, one := range r.Results {
		if one.Verdict != Pass || one.LeftOut > 0 || one.Expected != "" {
			return false
		}
	}
	return len(r.Results) > 0 && len(r.Stale) == 0
}

// OK says whether all is as it should be: every case passed, or needs what the implementation does not claim, or failed
// as expected. strict counts as wrong what was left out for want of a capability.
func (r Report) OK(strict bool) bool {
	for _, one := range r.Results {
		if one.wrong() || strict && (one.Verdict == Unsupported || one.LeftOut > 0) {
			return false
		}
	}
	return len(r.Results) > 0 && len(r.Stale) == 0
}

// wrong says whether a result is not as it should be.
func (r Result) wrong() bool {
	switch r.Verdict {
	case Pass:
		return r.Expected != ""
	case Unsupported:
		return false
	case NotRun:
		return true
	}
	return r.Expected == ""
}

// Note adds what went wrong outside of any case, at hello or bye, as a result of its own; nil is nothing.
func (r *Report) Note(at string, err error) {
	if err != nil {
		one := Result{ID: "protocol/" + at, Policy: "protocol", Category: at}
		r.Results = append(r.Results, one.failed(context.Background(), err))
	}
}

// Ran is how many cases were put to the implementation.
func (r Report) Ran() int {
	c := r.Counts("")
	return len(r.Results) - c[Unsupported] - c[NotRun]
}

// Line is the last line of a report: "conformant: n of n", or "partial: n of m" and the same by policy. It says
// so when only a part of the suite was asked for.
func (r Report) Line() string {
	all := r.Counts("")
	word, selected := "partial", ""
	if r.Conformant() {
		word = "conformant"
	}
	if r.Narrowed {
		selected = " selected"
	}
	line := fmt.Sprintf("%s: %d of %d%s", word, all[Pass], all.Total(), selected)
	if word == "conformant" {
		return line
	}
	var parts []string
	for _, policy := range r.distinct(policyOf) {
		c := r.Counts(policy)
		parts = append(parts, fmt.Sprintf("%s %d of %d", policy, c[Pass], c.Total()))
	}
	if n := r.expected(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d expected to fail", n))
	}
	if n := r.leftOut(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d probes left out for want of peek", n))
	}
	if len(parts) > 0 {
		line += " (" + strings.Join(parts, ", ") + ")"
	}
	return line
}

func (r Report) expected() int {
	n := 0
	for _, one := range r.Results {
		if one.Expected != "" {
			n++
		}
	}
	return n
}

func (r Report) leftOut() int {
	n := 0
	for _, one := range r.Results {
		n += one.LeftOut
	}
	return n
}

// WriteTable writes the report for a person: every failing case step by step, a table by policy and category, what was
// left out and why, and Line.
func (r Report) WriteTable(to io.Writer) error {
	w := bufio.NewWriter(to)
	for _, one := range r.Results {
		if one.wrong() && one.Verdict != NotRun {
			one.show(w)
		}
	}
	if r.Hello.Name != "" {
		fmt.Fprintf(w, "%s %s, %s, vectors %s\n\n", Clean(r.Hello.Name), Clean(r.Hello.Version), Clean(r.Hello.Language),
			Clean(orNone(r.Suite)))
	}
	writeGrid(w, r.grid(), "")
	if len(r.Results) > 0 {
		fmt.Fprintf(w, "\n%s\n", r.verdicts())
	}
	r.writeReasons(w)
	fmt.Fprintf(w, "\n%s\n", r.Line())
	return w.Flush()
}

// grid is the table: a row a category, a column a policy, in each cell how many cases passed, and of how many if not all
// did.
func (r Report) grid() [][]string {
	policies, categories := r.distinct(policyOf), r.distinct(func(one Result) string { return one.Category })
	rows := [][]string{append([]string{"category"}, policies...)}
	for _, category := range categories {
		row := []string{category}
		for _, policy := range policies {
			row = append(row, r.inCategory(policy, category).cell())
		}
		rows = append(rows, row)
	}
	total := []string{"total"}
	for _, policy := range policies {
		total = append(total, r.Counts(policy).cell())
	}
	return append(rows, total)
}

// cell is "" for nothing, else the number that passed and, if not all did, of how many.
func (c Counts) cell() string {
	switch n := c.Total(); {
	case n == 0:
		return ""
	case c[Pass] == n:
		return strconv.Itoa(n)
	default:
		return fmt.Sprintf("%d/%d", c[Pass], n)
	}
}

// verdicts says how many cases had each verdict that occurs.
func (r Report) verdicts() string {
	var parts []string
	counts := r.Counts("")
	for _, v := range Verdicts() {
		if counts[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[v], v))
		}
	}
	return strings.Join(parts, ", ")
}

func policyOf(one Result) string { return one.Policy }

// distinct is what the results have of something, in order.
func (r Report) distinct(of func(Result) string) (all []string) {
	for _, one := range r.Results {
		if !contains(all, of(one)) {
			all = append(all, of(one))
		}
	}
	return all
}

func (r Report) inCategory(policy, category string) Counts {
	c := Counts{}
	for _, one := range r.Results {
		if one.Policy == policy && one.Category == category {
			c[one.Verdict]++
		}
	}
	return c
}

// writeReasons lists why cases were not run, one line a reason.
func (r Report) writeReasons(w io.Writer) {
	var reasons []string
	count := map[string]int{}
	for _, one := range r.Results {
		reason := ""
		switch {
		case one.Verdict == Unsupported || one.Verdict == NotRun:
			reason = string(one.Verdict) + ": " + one.Why
		case one.Verdict != Pass && one.Expected != "":
			reason = string(one.Verdict) + " as expected: " + one.Expected
		}
		if reason != "" {
			if count[reason]++; count[reason] == 1 {
				reasons = append(reasons, reason)
			}
		}
	}
	for i, reason := range reasons {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%d %s\n", count[reason], Clean(reason))
	}
	for i, text := range r.Stale {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, Clean(text))
	}
}

// writeGrid writes rows in columns under the first row, numbers to the right and words to the left, each line after
// indent.
func writeGrid(w io.Writer, rows [][]string, indent string) {
	width, numeric := make([]int, len(rows[0])), make([]bool, len(rows[0]))
	for i := range width {
		numeric[i] = true
		for at, row := range rows {
			width[i] = max(width[i], utf8.RuneCountInString(row[i]))
			numeric[i] = numeric[i] && (at == 0 || row[i] == "" || strings.ContainsAny(row[i][len(row[i])-1:], "0123456789"))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if numeric[i] {
				cell, pad = pad, cell
			}
			line.WriteString(cell + pad + "  ")
		}
		fmt.Fprintln(w, indent+strings.TrimRight(line.String(), " "))
	}
}

// resultLine is a result with the implementation that it is of: reports of several may follow each other.
type resultLine struct {
	Result
	Name string `json:"name"`
}

// closing is the last line of a JSON report, by which a reader knows that it has all.
type closing struct {
	Done       bool     `json:"done"`
	Suite      string   `json:"suite"`
	Name       string   `json:"name"`
	Version    string   `json:"version"`
	Language   string   `json:"language"`
	Cases      int      `json:"cases"`
	Counts     Counts   `json:"counts"`
	LeftOut    int      `json:"left_out"`
	Expected   int      `json:"expected,omitempty"`
	Stale      []string `json:"stale,omitempty"`
	Narrowed   bool     `json:"narrowed"`
	Conformant bool     `json:"conformant"`
}

func cleaned(all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, Clean(s))
	}
	return out
}

// WriteJSON writes one object a line: a result each, with the implementation's name, then one with "done" and the counts.
func (r Report) WriteJSON(to io.Writer) error {
	w := bufio.NewWriter(to)
	enc := json.NewEncoder(w)
	for _, one := range r.Results {
		if err := enc.Encode(resultLine{one, Clean(r.Hello.Name)}); err != nil {
			return err
		}
	}
	last := closing{true, Clean(r.Suite), Clean(r.Hello.Name), Clean(r.Hello.Version), Clean(r.Hello.Language),
		len(r.Results), r.Counts(""), r.leftOut(), r.expected(), cleaned(r.Stale), r.Narrowed, r.Conformant()}
	if err := enc.Encode(last); err != nil {
		return err
	}
	return w.Flush()
}
