package vectors

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FileError is what is wrong with a file of the suite: where it stands, what it says and what it should. Its text is one
// line, fit for a terminal whatever the file holds.
type FileError struct {
	File    string
	Case    string // id; "" for the file as a whole
	Step    int    // index; -1 for the case as a whole
	Field   string // "" where no single field is at fault
	Value   string // as written in the file; "" if it is missing or too long to show
	Problem string
}

// Error is one line: file, case, step, field, value, problem; what does not apply is left out.
func (e *FileError) Error() string {
	var b strings.Builder
	b.WriteString(Clean(e.File))
	if e.Case != "" {
		b.WriteString(": case " + Clean(e.Case))
	}
	if e.Step >= 0 {
		b.WriteString(": step " + strconv.Itoa(e.Step))
	}
	if e.Field != "" {
		b.WriteString(": " + Clean(e.Field))
	}
	if e.Value != "" {
		b.WriteString(" is " + Clean(e.Value))
	}
	b.WriteString(": " + Clean(e.Problem))
	return b.String()
}

// place is where a reader stands in a file.
type place struct {
	file, id string
	step     int
	prefix   string // of field names, such as "want."
}

func (p place) fault(field, value, problem string, args ...any) error {
	if field != "" {
		field = p.prefix + field
	}
	return &FileError{p.file, p.id, p.step, field, value, fmt.Sprintf(problem, args...)}
}

// cleanLimit is how many bytes of foreign text are worth showing.
const cleanLimit = 400

// Clean makes text from a file or a port fit for a terminal or a report: everything that does not print (control
// characters, line ends, marks that turn the direction of writing, broken UTF-8) is written as Go would escape it,
// and what is longer than 400 bytes is cut.
func Clean(s string) string {
	if len(s) > cleanLimit {
		return escape(s[:cleanLimit]) + "..."
	}
	return escape(s)
}

// escape is Clean for text that is shown at any length.
func escape(s string) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteString(s[:n])
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		s = s[n:]
	}
	return b.String()
}
