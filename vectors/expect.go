package vectors

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"
)

// Expectations are the cases that a port is known to fail, each with a reason. They are run all the same and must fail:
// one that passes is as wrong as one that fails without being expected to.
type Expectations struct {
	name    string
	entries []expectation
}

type expectation struct {
	line         int
	glob, reason string
}

// maxExpectations bounds what is read.
const maxExpectations = 10000

// ReadExpectations reads a file of lines "glob # reason". The globs are those of path.Match over the ids of cases: * is
// any text without a slash. Blank lines and lines that begin with # are left out. name is for messages.
func ReadExpectations(name string, from io.Reader) (*Expectations, error) {
	e := &Expectations{name: name}
	lines := bufio.NewScanner(from)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		glob, reason, _ := strings.Cut(text, "#")
		one := expectation{n, strings.TrimSpace(glob), strings.TrimSpace(reason)}
		_, err := path.Match(one.glob, "")
		switch {
		case one.reason == "":
			return nil, fmt.Errorf("%s line %d: reason is missing: must be GLOB # REASON", Clean(name), n)
		case strings.ContainsAny(one.glob, " \t"):
			return nil, fmt.Errorf("%s line %d: glob is %q: must be one word", Clean(name), n, one.glob)
		case err != nil:
			return nil, fmt.Errorf("%s line %d: glob is %q: %w", Clean(name), n, one.glob, err)
		case len(e.entries) == maxExpectations:
			return nil, fmt.Errorf("%s line %d: one line too many: at most %d", Clean(name), n, maxExpectations)
		}
		e.entries = append(e.entries, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", Clean(name), err)
	}
	return e, nil
}

func (one expectation) matches(id string) bool {
	ok, _ := path.Match(one.glob, id) // ReadExpectations has refused what is no pattern
	return ok
}

// reason is why the case of an id is expected to fail; "" if it is not.
func (e *Expectations) reason(id string) string {
	if e == nil {
		return ""
	}
	for _, one := range e.entries {
		if one.matches(id) {
			return Clean(one.reason)
		}
	}
	return ""
}

// stale says, a line each, what is wrong with entries that have nothing to do with this run's results: those that match
// no case of the suite, or only cases that were not run because the port does not claim what they need.
func (e *Expectations) stale(s Suite, results []Result) []string {
	if e == nil {
		return nil
	}
	verdicts := map[string]Verdict{}
	for _, r := range results {
		verdicts[r.ID] = r.Verdict
	}
	ids := s.ids()
	var all []string
	for _, one := range e.entries {
		matched, unsupported := 0, 0
		for _, id := range ids {
			if one.matches(id) {
				matched++
				if verdicts[id] == Unsupported {
					unsupported++
				}
			}
		}
		at := fmt.Sprintf("%s line %d: %s ", e.name, one.line, one.glob)
		switch {
		case matched == 0:
			all = append(all, at+"matches no case")
		case matched == unsupported:
			all = append(all, at+"matches only cases that need what the port does not claim: leave it out")
		}
	}
	return all
}

// ids are those of all cases.
func (s Suite) ids() []string {
	var all []string
	for _, f := range s.Files {
		for _, c := range f.Cases {
			all = append(all, c.ID)
		}
	}
	for _, h := range s.Hashes {
		for _, c := range h.Cases {
			all = append(all, c.ID)
		}
	}
	return all
}
