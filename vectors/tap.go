package vectors

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteTAP writes reports as one stream of the Test Anything Protocol, version 14. What makes a report not OK is "not ok"
// there; unsupported cases are skipped, expected failures are TODO.
func WriteTAP(to io.Writer, reports ...Report) error {
	w := bufio.NewWriter(to)
	count := 0
	for _, r := range reports {
		count += len(r.Results) + len(r.Stale)
	}
	fmt.Fprintf(w, "TAP version 14\n1..%d\n", count)
	n := 0
	for _, r := range reports {
		for _, one := range r.Results {
			n++
			one.tap(w, n, r.label())
		}
		for _, text := range r.Stale {
			n++
			fmt.Fprintf(w, "not ok %d - %s\n", n, tapText(text))
		}
		fmt.Fprintf(w, "# %s: %s\n", tapText(r.label()), tapText(r.Line()))
	}
	return w.Flush()
}

// tapText is text for a description: clean, and without the two characters that mean something there.
func tapText(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(Clean(s))
}

func (r Result) tap(w io.Writer, n int, label string) {
	name := fmt.Sprintf("%d - %s: %s", n, tapText(label), tapText(r.ID))
	switch {
	case r.Verdict == Unsupported:
		fmt.Fprintf(w, "ok %s # SKIP unsupported: %s\n", name, tapText(r.Why))
	case r.Verdict == Pass && r.Expected == "":
		fmt.Fprintf(w, "ok %s\n", name)
	case r.Verdict == Pass:
		fmt.Fprintf(w, "not ok %s\n", name)
		tapDetails(w, [][2]string{{"message", "passes, but is expected to fail: " + r.Expected}, {"verdict", "pass"}}, nil)
	default:
		directive := ""
		if !r.wrong() {
			directive = " # TODO " + tapText(r.Expected)
		}
		fmt.Fprintf(w, "not ok %s%s\n", name, directive)
		tapDetails(w, [][2]string{{"message", r.Why}, {"verdict", string(r.Verdict)}, {"hint", r.Hint}, {"field", r.Field},
			{"wanted", r.Wanted}, {"got", r.Got}, {"replay", r.Replay}}, r.Stderr)
	}
}

// tapDetails writes a block of YAML. Its strings are quoted as Go does in ASCII, which is YAML too once they are clean.
func tapDetails(w io.Writer, fields [][2]string, stderr []string) {
	fmt.Fprintln(w, "  ---")
	for _, f := range fields {
		if f[1] != "" {
			fmt.Fprintf(w, "  %s: %s\n", f[0], strconv.Quote(escape(f[1])))
		}
	}
	for i, line := range stderr {
		if i == 0 {
			fmt.Fprintln(w, "  stderr:")
		}
		fmt.Fprintf(w, "    - %s\n", strconv.Quote(Clean(line)))
	}
	fmt.Fprintln(w, "  ...")
}
