package vectors

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The elements of a JUnit report, as the tools of continuous integration read them.
type (
	junitReport struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitCounts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string     `xml:"classname,attr"`
		Name    string     `xml:"name,attr"`
		Failure *junitNote `xml:"failure"`
		Error   *junitNote `xml:"error"`
		Skipped *junitNote `xml:"skipped"`
		Stderr  string     `xml:"system-err,omitempty"`
	}
	junitNote struct {
		Type    string `xml:"type,attr,omitempty"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// WriteJUnit writes reports as one JUnit XML file: a suite for each category of each policy of each implementation. What
// makes a report not OK is a failure or an error there; unsupported cases and expected failures are skipped.
func WriteJUnit(to io.Writer, reports ...Report) error {
	all := junitReport{Name: "weir vectors"}
	for _, r := range reports {
		index := map[string]int{}
		for _, one := range r.Results {
			name := r.label() + "." + one.Policy + "." + one.Category
			at, known := index[name]
			if !known {
				at = len(all.Suites)
				index[name] = at
				all.Suites = append(all.Suites, junitSuite{Name: name})
			}
			all.Suites[at].add(one.junit(name))
		}
		for _, text := range r.Stale {
			s := junitSuite{Name: r.label() + ".expectations"}
			s.add(junitCase{Class: s.Name, Name: Clean(text), Failure: &junitNote{Type: "stale", Message: Clean(text)}})
			all.Suites = append(all.Suites, s)
		}
	}
	for _, s := range all.Suites {
		all.sum(s.junitCounts)
	}
	text, err := xml.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(to, xml.Header+string(text)+"\n")
	return err
}

// label names the implementation of a report.
func (r Report) label() string {
	if r.Hello.Name == "" {
		return "port"
	}
	return Clean(r.Hello.Name)
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	one := junitCounts{Tests: 1}
	switch {
	case c.Failure != nil:
		one.Failures = 1
	case c.Error != nil:
		one.Errors = 1
	case c.Skipped != nil:
		one.Skipped = 1
	}
	s.sum(one)
}

func (c *junitCounts) sum(other junitCounts) {
	c.Tests += other.Tests
	c.Failures += other.Failures
	c.Errors += other.Errors
	c.Skipped += other.Skipped
}

func (r Result) junit(class string) junitCase {
	c := junitCase{Class: class, Name: Clean(r.ID)}
	switch {
	case r.Verdict == Unsupported:
		c.Skipped = &junitNote{Message: "unsupported: " + Clean(r.Why)}
	case r.Verdict == Pass && r.Expected != "":
		c.Failure = &junitNote{Type: "unexpected_pass", Message: "passes, but is expected to fail: " + Clean(r.Expected)}
	case r.Verdict == Pass:
	case !r.wrong():
		c.Skipped = &junitNote{Message: fmt.Sprintf("%s as expected: %s", r.Verdict, Clean(r.Expected))}
	default:
		var b strings.Builder
		r.show(&b)
		note := &junitNote{Type: string(r.Verdict), Message: Clean(r.Why), Text: b.String()}
		if r.Verdict == Fail || r.Verdict == Skipped {
			c.Failure = note
		} else {
			c.Error = note
		}
		for _, line := range r.Stderr {
			c.Stderr += Clean(line) + "\n"
		}
	}
	return c
}
