package rivals

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"weir/vectors"
)

// Head is the head of the table.
const Head = `| rival | version | compared with | run, of all cases | all fields right, tick 1 ns | tick 1 µs | decisions right, tick 1 ns | tick 1 µs | differs, all fields, 1 ns | of these by design |
| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |
`

// Write measures all rivals and writes the table and its notes to out; a rival that could not be run is told of in log.
func Write(ctx context.Context, out, log io.Writer) error {
	s, err := vectors.Load(vectors.FS())
	if err != nil {
		return err
	}
	notes := ""
	fmt.Fprint(out, Head)
	for _, r := range All() {
		o, err := Measure(ctx, s, r)
		if err != nil {
			return fmt.Errorf("%s: %w", r.Name, err)
		}
		if o.Missing != "" {
			fmt.Fprintf(log, "%s: left out: %s\n", r.Name, o.Missing)
			continue
		}
		fmt.Fprint(out, o.Row())
		notes += o.Footnote()
	}
	fmt.Fprint(out, "\n"+notes)
	return nil
}

// Row is the rival's line of the table.
func (o Outcome) Row() string {
	w, b := o.Whole, o.Bare
	return fmt.Sprintf("| %s | %s | %s | %d of %d | %s | %s | %s | %s | %s | %s |\n", o.Name, o.Version, o.Policy, w[0].Run, o.Total,
		w[0].right(), w[1].right(), b[0].right(), b[1].right(), categories(w[0].Failed), categories(o.byDesign(w[0].Failed)))
}

// ShortHead is the head of the table in the project's README.
const ShortHead = `| limiter | version | as | all fields right | decisions right | decisions right at 1 µs | by design |
| --- | --- | --- | ---: | ---: | ---: | ---: |
`

// Short is the rival's line of that table: at a tick of 1 ns but for one column, and how many of the cases that are not
// right a choice of the rival's explains.
func (o Outcome) Short() string {
	w, b := o.Whole, o.Bare
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %d of %d |\n", o.Name, o.Version, o.Policy, w[0].right(), b[0].right(),
		b[1].right(), len(o.byDesign(w[0].Failed)), len(w[0].Failed))
}

func (sc Score) right() string { return fmt.Sprintf("%d of %d", sc.Passed, sc.Run) }

// byDesign are the differences that a choice of the rival's explains.
func (o Outcome) byDesign(all []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(all), func(d Difference) bool { return o.Design(d) == "" })
}

// categories counts differences by category, in the order of the suite.
func categories(all []Difference) string {
	var names []string
	count := map[string]int{}
	for _, d := range all {
		if count[d.Result.Category]++; count[d.Result.Category] == 1 {
			names = append(names, d.Result.Category)
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, count[name])
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// Footnote is what the table has no room for.
func (o Outcome) Footnote() string {
	var b strings.Builder
	w := o.Whole[0]
	fmt.Fprintf(&b, "**%s %s**\n\n", o.Name, o.Version)
	for _, note := range o.Notes {
		fmt.Fprintf(&b, "- %s\n", note)
	}
	fmt.Fprintf(&b, "- not asked: %s; left out of the cases run: %d steps, %d fields\n", reasons(w.NotAsked), w.Steps, w.Fields)
	for _, why := range kinds(w.Failed, o.Design) {
		fmt.Fprintf(&b, "- by design: %s: %s\n", why, smallest(w.Failed, why, o.Design))
	}
	o.footnotes(&b, "a tick of 1 ns", append(slices.Clone(o.Bare[0].Failed), w.Failed...))
	o.footnotes(&b, "a tick of 1 µs", append(slices.Clone(o.Bare[1].Failed), o.Whole[1].Failed...))
	return b.String() + "\n"
}

// footnotes names the smallest case of each kind of difference that is not by design.
func (o Outcome) footnotes(b *strings.Builder, tick string, all []Difference) {
	kind := func(d Difference) string {
		switch {
		case o.Design(d) != "":
			return ""
		case d.Result.Field == "":
			return "no answer"
		case d.tooCostly():
			return d.Result.Field + ", of a cost above the burst"
		}
		return d.Result.Field
	}
	for _, name := range kinds(all, kind) {
		fmt.Fprintf(b, "- %s, at %s: %s\n", name, tick, smallest(all, name, kind))
	}
}

// kinds are the kinds of the differences, "" left out, in the order in which they first occur.
func kinds(all []Difference, kind func(Difference) string) []string {
	var names []string
	for _, d := range all {
		if name := kind(d); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// reasons lists what was not asked, most first.
func reasons(count map[string]int) string {
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b))
	})
	total := 0
	for i, name := range names {
		total += count[name]
		names[i] = fmt.Sprintf("%s %d", name, count[name])
	}
	return fmt.Sprintf("%d cases (%s)", total, strings.Join(names, ", "))
}

// smallest is, in words, the difference of a kind with the fewest steps before it, none of them back in time if it can be.
func smallest(all []Difference, name string, kind func(Difference) string) string {
	fit := slices.DeleteFunc(slices.Clone(all), func(d Difference) bool { return kind(d) != name })
	return slices.MinFunc(fit, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.backwards(), b.backwards()), cmp.Compare(a.at(), b.at()))
	}).String()
}

func (d Difference) backwards() int {
	if d.steppedBack() {
		return 1
	}
	return 0
}

func (d Difference) at() int {
	if d.Result.Step == nil {
		return 0
	}
	return *d.Result.Step
}

// String is the case, its limit, and what differs first.
func (d Difference) String() string {
	l, r := d.Case.Params.Limit(), d.Result
	text := fmt.Sprintf("`%s`, %d per %d, burst %d,", r.ID, l.Permits, l.Period, l.Burst)
	if s := d.step(); s != nil {
		text += fmt.Sprintf(" step %d, %s", d.at(), s.Op)
		if s.Cost != nil {
			text += fmt.Sprintf(" of %d", *s.Cost)
		}
		if s.Now != nil {
			text += fmt.Sprintf(" at %d", *s.Now)
		}
	}
	if r.Field == "" {
		return text + ": " + r.Why
	}
	return fmt.Sprintf("%s: %s wanted %s, got %s", text, r.Field, r.Wanted, r.Got)
}
