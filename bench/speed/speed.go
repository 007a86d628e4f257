// Package speed measures what a decision costs, beside other limiters and beside floors: the least that a processor must do
// for one. The floors and rivals run in the same process and rounds as weir, so that a ratio means something on a noisy machine.
package speed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// Options say how much is measured.
type Options struct {
	// Quick takes a minute or two, with few rounds and a table that grows to a million keys: to see that all works.
	Quick bool
	// Huge goes on to 100,000,000 keys where cost is measured by number of keys, and takes 8 GB for it.
	Huge bool
	// Update is a README.md between whose marks the report is written, beside its pictures; "" prints the report only.
	Update string
	// Command is what the report says it was made by.
	Command string
}

// bench is one run.
type bench struct {
	rounds, slowRounds int // of rows of this project and floors, and of rivals
	counts             int // of live keys at which memory is measured
	growKeys, growths  int
	sizeKeys, logLines int
	governor, bucket4j *child // nil: left out
	log                io.Writer
	bars               []bar
	curves             []curve
}

func newBench(o Options, log io.Writer) *bench {
	b := &bench{rounds: 41, slowRounds: 21, counts: 128, growKeys: 10_000_000, growths: 3, sizeKeys: 10_000_000,
		logLines: 2_000_000, log: log}
	if o.Quick {
		b.rounds, b.slowRounds, b.counts, b.growKeys, b.growths, b.sizeKeys, b.logLines = 7, 3, 16, 1_000_000, 1, 1_000_000, 200_000
	}
	if o.Huge {
		b.sizeKeys = 100_000_000
	}
	return b
}

// say tells of what is left out, and how far the run is.
func (b *bench) say(format string, words ...any) { fmt.Fprintf(b.log, "speed: "+format+"\n", words...) }

// Write measures, and writes the report to out and what is left out to log. A missed target is no error.
func Write(ctx context.Context, o Options, out, log io.Writer) error {
	b := newBench(o, log)
	began := time.Now()
	folder, err := os.MkdirTemp("", "weir-speed")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	defer b.children(ctx, folder)()
	sections, err := b.all(ctx)
	if err != nil {
		return err
	}
	b.say("took %s", time.Since(began).Round(time.Second))
	var report bytes.Buffer
	b.report(&report, o, sections)
	if _, err := out.Write(report.Bytes()); err != nil || o.Update == "" {
		return err
	}
	return b.update(o.Update, report.Bytes())
}

// children starts the programs in other languages, or says why one is left out. The answer stops them.
func (b *bench) children(ctx context.Context, folder string) (stop func()) {
	var all []*child
	for _, c := range []struct {
		folder string
		make   func(ctx context.Context, folder string) (*child, error)
		to     **child
	}{{"governor", newGovernor, &b.governor}, {"bucket4j", newBucket4j, &b.bucket4j}} {
		one, err := c.make(ctx, filepath.Join(folder, c.folder))
		if err != nil {
			b.say("left out: %s: %v", c.folder, err)
			continue
		}
		*c.to, all = one, append(all, one)
	}
	return func() {
		for _, c := range all {
			if err := c.stop(); err != nil {
				b.say("%s: %v", c.name, err)
			}
		}
	}
}

// all runs the parts one after the other: each builds what it measures and drops it, so that no part's heap is another's.
func (b *bench) all(ctx context.Context) ([]section, error) {
	var sections []section
	for _, part := range []func(context.Context) (section, error){
		b.hot, b.random, b.told, b.own, b.direct, b.two, b.sizes, b.memory, b.growth, b.simulate,
	} {
		begin := time.Now()
		s, err := part(ctx)
		if err != nil {
			return nil, err
		}
		sections = append(sections, s)
		b.say("%s: %s", s.title, time.Since(begin).Round(time.Second/10))
		runtime.GC()
	}
	return sections, nil
}

// report writes the targets and then each part.
func (b *bench) report(out io.Writer, o Options, sections []section) {
	fmt.Fprintf(out, "%s, command `%s`. %s.\n\n", time.Now().UTC().Format(time.DateOnly), o.Command, machine())
	fmt.Fprintf(out, "### Targets\n\nEach number is the median of the rounds' ratios, or differences.\n\n")
	var lines [][]string
	for _, s := range sections {
		for _, t := range s.targets {
			lines = append(lines, []string{t.claim, t.bound, t.measured, t.verdict()})
		}
	}
	table(out, right, []string{"", "target", "measured", ""}, lines)
	for _, s := range sections {
		s.write(out)
	}
	fmt.Fprintf(out, "### Rivals\n\n")
	versions := versions()
	var rivals [][]string
	for _, r := range append(keyedRivals(), rival{"uber/ratelimit", "go.uber.org/ratelimit", "Take, which sleeps where others refuse; one key", nil}) {
		rivals = append(rivals, []string{r.name, versions[r.module], r.how})
	}
	for _, c := range []*child{b.governor, b.bucket4j} {
		if c != nil {
			rivals = append(rivals, []string{c.name, c.version, c.how})
		}
	}
	table(out, left, []string{"rival", "version", "driven by"}, rivals)
}

const (
	begin = "<!-- speed: begin -->"
	end   = "<!-- speed: end -->"
	// pictures stand above the report in the page.
	pictures = "![A million random keys, ns a decision, weir and rivals](rivals.svg)\n\n![ns a decision by number of keys](keys.svg)\n\n"
)

// update puts the report between the marks of a page, and the pictures beside it.
func (b *bench) update(page string, report []byte) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	head, rest, found := strings.Cut(string(text), begin+"\n")
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s: no %q and %q after it", page, begin, end)
	}
	picture, err := drawBars(b.bars)
	if err != nil {
		return err
	}
	curves, err := drawCurves(b.curves)
	if err != nil {
		return err
	}
	folder := filepath.Dir(page)
	return errors.Join(
		os.WriteFile(filepath.Join(folder, "rivals.svg"), picture, 0o644),
		os.WriteFile(filepath.Join(folder, "keys.svg"), curves, 0o644),
		os.WriteFile(page, []byte(head+begin+"\n"+pictures+string(bytes.TrimSpace(report))+"\n"+end+tail), 0o644))
}
