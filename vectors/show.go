package vectors

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// shownBefore is how many steps before the one that differs are worth showing.
const shownBefore = 12

// show writes a case that went wrong: what it is, then its steps up to the one that differs, with what was wanted and
// got, the differing fields marked.
func (r Result) show(w io.Writer) {
	fmt.Fprintf(w, "%s %s\n", strings.ToUpper(string(r.Verdict)), Clean(r.ID))
	if c := r.origin; c != nil {
		if c.Comment != "" {
			fmt.Fprintf(w, "    %s\n", Clean(c.Comment))
		}
		fmt.Fprintf(w, "    params %s; max_keys %s\n", paramsText(c.Params), Clean(c.MaxKeys))
	}
	if r.got != nil && r.Step != nil {
		r.showSteps(w)
	}
	if r.Verdict == Pass {
		fmt.Fprintf(w, "    passes, but is expected to fail: %s\n", Clean(r.Expected))
	} else {
		fmt.Fprintf(w, "    %s\n", Clean(r.Why))
	}
	if r.Hint != "" {
		fmt.Fprintf(w, "    hint: %s\n", Clean(r.Hint))
	}
	for _, line := range r.Stderr {
		fmt.Fprintf(w, "    standard error: %s\n", Clean(line))
	}
	if r.Replay != "" {
		fmt.Fprintf(w, "    replay: %s\n", escape(r.Replay))
	}
	fmt.Fprintln(w)
}

// showSteps writes the table of steps. The column of marks comes first, so that a search for "!" finds the fault.
func (r Result) showSteps(w io.Writer) {
	bad := r.firstBad()
	from := max(0, bad-shownBefore)
	if from > 0 {
		fmt.Fprintf(w, "    (%d steps before, as wanted)\n", from)
	}
	rows := [][]string{append([]string{"", "step", "op", "now", "key", "cost", "cost2", ""}, fieldNames[:]...)}
	for i := from; i <= bad; i++ {
		e := r.steps[i]
		want, got := e.want().values(), r.got[i].values()
		request := []string{"", strconv.Itoa(e.From), e.Step.Op, numberText(e.Step.Now), numberText(e.Step.Key),
			numberText(e.Step.Cost), numberText(e.Step.Cost2)}
		if i < bad {
			rows = append(rows, append(append(request, ""), want[:]...))
			continue
		}
		rows = append(rows, append(append(request, "wanted"), want[:]...))
		rows = append(rows, append([]string{"!", "", "", "", "", "", "", "got"}, marked(want, got)...))
	}
	writeGrid(w, withoutEmpty(rows), "    ")
	if rest := len(r.steps) - bad - 1; rest > 0 {
		fmt.Fprintf(w, "    (%d steps after)\n", rest)
	}
}

// firstBad is the index among the steps sent of the one that r tells of.
func (r Result) firstBad() int {
	for i, e := range r.steps {
		want, got := e.want().values(), r.got[i].values()
		for f := range want {
			if want[f] != "" && want[f] != got[f] {
				return i
			}
		}
	}
	return len(r.steps) - 1
}

// marked are the fields of got that were asked for, a "!" before each that differs.
func marked(want, got [len(fieldNames)]string) []string {
	out := make([]string, len(want))
	for f := range want {
		switch {
		case want[f] == "":
		case want[f] == got[f]:
			out[f] = got[f]
		default:
			out[f] = "!" + Clean(orAbsent(got[f]))
		}
	}
	return out
}

// withoutEmpty leaves out the columns that hold nothing below their heading.
func withoutEmpty(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for column := range rows[0] {
		used := false
		for _, row := range rows[1:] {
			used = used || row[column] != ""
		}
		for i, row := range rows {
			if used {
				out[i] = append(out[i], row[column])
			}
		}
	}
	return out
}

func paramsText(p Params) string {
	var parts []string
	for _, f := range []struct {
		name  string
		value *Number
	}{{"permits", p.Permits}, {"period", p.Period}, {"burst", p.Burst},
		{"permits2", p.Permits2}, {"period2", p.Period2}, {"burst2", p.Burst2}} {
		if f.value != nil {
			parts = append(parts, f.name+" "+numberText(f.value))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
