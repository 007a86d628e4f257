package speed

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// section is one table of the report.
type section struct {
	title   string
	note    string // what was measured and how, one paragraph
	head    []string
	lines   [][]string
	targets []target
}

// target is one claim and what became of it.
type target struct {
	claim, bound string
	measured     string
	met          bool
}

// atMost and atLeast judge a number against a bound; unit follows both.
func atMost(claim string, got, bound float64, unit string) target {
	return target{claim, "<= " + number(bound) + unit, measured(got, unit), got <= bound}
}

func atLeast(claim string, got, bound float64, unit string) target {
	return target{claim, ">= " + number(bound) + unit, measured(got, unit), got >= bound}
}

func measured(got float64, unit string) string {
	if math.IsNaN(got) {
		return notMeasured
	}
	return number(got) + unit
}

const notMeasured = "not measured"

// number is short: three digits that count, no exponent.
func number(x float64) string {
	switch {
	case math.Abs(x) >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case math.Abs(x) >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// timed is a section of rows in ns with their ratio to one of them. A row that was not run is left out.
func timed(title, note, floor string, s samples, names []string) section {
	sec := section{title: title, note: note, head: []string{"", "ns", "quartiles", "times " + strings.TrimPrefix(floor, "floor: ")}}
	for _, name := range names {
		ns := s[name]
		if len(ns) == 0 {
			continue
		}
		ratio := number(median(s.ratios(name, floor)))
		if name == floor {
			ratio = "1"
		}
		quartiles := number(quantile(ns, 0.25)) + " to " + number(quantile(ns, 0.75))
		sec.lines = append(sec.lines, []string{name, number(median(ns)), quartiles, ratio})
	}
	return sec
}

func names(rows []row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.name
	}
	return out
}

// write writes the section's table.
func (s section) write(out io.Writer) {
	fmt.Fprintf(out, "### %s\n\n%s\n\n", s.title, s.note)
	if len(s.lines) > 0 {
		table(out, right, s.head, s.lines)
	}
}

// right and left say where the columns after the first stand.
const right, left = "---:", "---"

// table is a Markdown table.
func table(out io.Writer, columns string, head []string, lines [][]string) {
	fmt.Fprintf(out, "| %s |\n| ---%s |\n", strings.Join(head, " | "), strings.Repeat(" | "+columns, len(head)-1))
	for _, l := range lines {
		fmt.Fprintf(out, "| %s |\n", strings.Join(l, " | "))
	}
	fmt.Fprintln(out)
}

// verdict is a target's last word.
func (t target) verdict() string {
	switch {
	case t.met:
		return "met"
	case t.measured == notMeasured:
		return ""
	}
	return "**missed**"
}
