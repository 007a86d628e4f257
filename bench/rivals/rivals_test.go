package rivals

import (
	"context"
	"flag"
	"os"
	"strings"
	"testing"

	"weir"
	"weir/vectors"
)

var update = flag.Bool("update", false, "write the table into README.md")

// begin and end stand around the table in both pages.
const begin, end = "<!-- rivals: begin -->\n", "<!-- rivals: end -->\n"

func suite(t *testing.T) vectors.Suite {
	t.Helper()
	s, err := vectors.Load(vectors.FS())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What every rival answers is in README.md; a rival whose tools are missing here is not compared.
func TestReadmeHasTheTable(t *testing.T) {
	s := suite(t)
	table, short, notes, missing := Head, ShortHead, "", 0
	page, front := read(t, own), read(t, project)
	for _, r := range All() {
		o, err := Measure(t.Context(), s, r)
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		if o.Missing != "" {
			t.Logf("%s: left out: %s", r.Name, o.Missing)
			missing++
			continue
		}
		table, short, notes = table+o.Row(), short+o.Short(), notes+o.Footnote()
		for _, part := range []struct{ in, text string }{{page, o.Row()}, {page, o.Footnote()}, {front, o.Short()}} {
			if !*update && !strings.Contains(part.in, part.text) {
				t.Errorf("a README lacks this; go test ./rivals -update writes it:\n%s", part.text)
			}
		}
	}
	switch {
	case *update && missing > 0:
		t.Fatal("nothing is written: not every rival could be run")
	case *update:
		rewrite(t, own, table+"\n"+notes)
		rewrite(t, project, short)
	}
}

// The pages that have the results: this module's, and the front page of the project.
const own, project = "../README.md", "../../README.md"

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func rewrite(t *testing.T, name, text string) {
	t.Helper()
	head, rest, found := strings.Cut(read(t, name), begin)
	_, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no %q and %q", name, begin, end)
	}
	if err := os.WriteFile(name, []byte(head+begin+text+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A limiter that is exact is right in every case that any rival is asked, at both ticks: what is left out and how times are
// made longer wrongs nobody.
func TestTheExactAnswerPasses(t *testing.T) {
	s := suite(t)
	for _, r := range All() {
		exact := &inWords{vectors.NewRegistryDriver("weir", "go", weir.Registry()), r.Asks}
		for _, tick := range Ticks {
			hello := vectors.Hello{Protocol: vectors.Protocol, Policies: []string{r.Policy}, Can: r.Asks.Can, MaxKeys: "*"}
			sc, err := score(t.Context(), s, r.Policy, r.Asks, &scaled{exact, hello, tick})
			if err != nil {
				t.Fatal(err)
			}
			if sc.Run == 0 {
				t.Errorf("%s, tick %d: nothing was run", r.Name, tick)
			}
			for _, d := range sc.Failed {
				t.Errorf("%s, tick %d: %s", r.Name, tick, d)
			}
		}
	}
}

// inWords answers with the words that a rival has: fewer than the suite's.
type inWords struct {
	vectors.Driver
	asks Asks
}

func (d *inWords) Run(ctx context.Context, q vectors.Request) (vectors.Reply, error) {
	reply, err := d.Driver.Run(ctx, q)
	if reply.ConfigError != "" {
		reply.ConfigError = refused
	}
	for i := range reply.Results {
		if d.asks.YesNo && reply.Results[i].Outcome == "too_costly" {
			reply.Results[i].Outcome = "deny"
		}
	}
	return reply, err
}
