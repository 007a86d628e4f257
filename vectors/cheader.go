package vectors

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"strings"
)

// cTypes is the head of the C header: what its tables are made of.
//
//go:embed vectors.h.txt
var cTypes string

// WriteCHeader writes a suite as one C11 header of constant tables, for a test that has neither Go nor JSON. The header
// says itself what its tables are.
func WriteCHeader(to io.Writer, s Suite) error {
	w := bufio.NewWriter(to)
	fmt.Fprintf(w, cTypes, orNone(s.Version))
	var cases []string
	for _, f := range s.Files {
		for _, c := range f.Cases {
			e := exportCase(c)
			if e.skip != "" {
				fmt.Fprintf(w, "/* %s is left out: %s */\n", e.ID, strings.ReplaceAll(Clean(e.skip), "*/", "* /"))
				continue
			}
			name := fmt.Sprintf("weir_vector_%d", len(cases))
			count := e.writeSteps(w, name)
			if count == 0 {
				name = "NULL"
			}
			cases = append(cases, fmt.Sprintf("    {%q, %s, %s, %s, %s, %s, %s, %s, %d},\n", e.ID, cWord("WEIR_VECTOR_", f.Policy),
				cNeeds(e.needs), cLimit(e.Params), cBool(e.MaxKeys == "*"), cNumber(maxKeysOf(e.MaxKeys)), cRefusal(e.ConfigError),
				name, count))
		}
	}
	cTable(w, "weir_vector_case", "weir_vectors", "WEIR_VECTORS", cases)
	var hashes []string
	for _, h := range s.Hashes {
		for _, c := range h.Cases {
			hashes = append(hashes, cHash(h.Hash, c))
		}
	}
	cTable(w, "weir_vector_hash", "weir_hash_vectors", "WEIR_HASH_VECTORS", hashes)
	fmt.Fprint(w, "#endif\n")
	return w.Flush()
}

// cTable writes a table and its length. C has no empty tables, so one entry of zeros stands in one.
func cTable(w io.Writer, of, name, length string, rows []string) {
	fmt.Fprintf(w, "#define %s %d\n", length, len(rows))
	if len(rows) == 0 {
		rows = []string{"    {0}\n"}
	}
	fmt.Fprintf(w, "static const struct %s %s[] = {\n%s};\n\n", of, name, strings.Join(rows, ""))
}

// writeSteps writes the steps of a case, the takes of a fill as one step, and says how many there are.
func (e exported) writeSteps(w io.Writer, name string) int {
	var rows []string
	for i := 0; i < len(e.steps); i++ {
		s, repeat := e.steps[i].Step, 1
		if e.Steps[e.steps[i].From].Op == "fill" {
			for i+1 < len(e.steps) && e.steps[i+1].From == e.steps[i].From {
				i++
				repeat++
			}
		}
		limit := "{0, 0, 0, 0, 0, 0}"
		if s.Params != nil {
			limit = cLimit(*s.Params)
		}
		cost2 := s.Cost2
		if cost2 == nil {
			cost2 = s.Cost
		}
		rows = append(rows, fmt.Sprintf("    {%s, %s, %s, %s, %s, %s, %s, %d, %s, %s},\n", cWord("WEIR_VECTOR_", s.Op), cNumber(s.Now),
			cNumber(s.Key), cNumber(s.Cost), cNumber(cost2), cBool(s.Cost2 != nil), cBool(e.probe[i]), repeat, limit,
			cWant(e.steps[i].want())))
	}
	if len(rows) > 0 {
		fmt.Fprintf(w, "static const struct weir_vector_step %s[] = {\n%s};\n", name, strings.Join(rows, ""))
	}
	return len(rows)
}

func cWant(w Want) string {
	fields := []string{}
	for i, name := range fieldNames {
		if w.values()[i] != "" {
			fields = append(fields, cWord("WEIR_VECTOR_HAS_", name))
		}
	}
	if len(fields) == 0 {
		fields = []string{"0"}
	}
	retry := "0"
	if w.RetryAfter != nil {
		retry = "UINT64_MAX"
		if *w.RetryAfter != Never {
			retry = cNumber((*Number)(w.RetryAfter))
		}
	}
	return fmt.Sprintf("{%s, %s, %s, %s, %s, %s, %s, %s}", strings.Join(fields, "|"), cOutcome(w.Outcome), cNumber(w.Remaining), retry,
		cNumber(w.ResetAfter), cNumber(w.Delay), cBool(w.Binding == "second"), cNumber(w.Keys))
}

func cHash(hash string, c HashCase) string {
	digits, length := "", 0
	if c.Hex != nil {
		length = len(*c.Hex) / 2
		for i := 0; i < len(*c.Hex); i += 2 {
			digits += `\x` + (*c.Hex)[i:i+2]
		}
	}
	return fmt.Sprintf("    {%q, %s, \"%s\", %d, %s, %s, %s},\n", c.ID, cWord("WEIR_VECTOR_", hash), digits, length, cNumber(c.Seed),
		cNumber(c.In), cNumber(c.Want))
}

func cWord(prefix, word string) string { return prefix + strings.ToUpper(word) }

func cOutcome(word string) string {
	if word == "" {
		return "WEIR_VECTOR_NO_OUTCOME"
	}
	if contains(outcomeWords, word) {
		return cWord("WEIR_VECTOR_", word)
	}
	return cRefusal(word)
}

// cRefusal is a word of config_error.
func cRefusal(word string) string {
	if word == "" {
		return "WEIR_VECTOR_MADE"
	}
	return cWord("WEIR_VECTOR_", word)
}

func cNeeds(all []string) string {
	if len(all) == 0 {
		return "0"
	}
	words := make([]string, len(all))
	for i, word := range all {
		words[i] = cWord("WEIR_VECTOR_NEEDS_", word)
	}
	return strings.Join(words, "|")
}

func cLimit(p Params) string {
	l := p.Limit()
	return fmt.Sprintf("{%d, %d, %d, %d, %d, %d}", l.Permits, l.Period, l.Burst, l.Permits2, l.Period2, l.Burst2)
}

func cNumber(n *Number) string {
	if n == nil {
		return "0"
	}
	if *n > 1<<63-1 {
		return numberText(n) + "u" // else it would fit no type of C
	}
	return numberText(n)
}

func cBool(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func maxKeysOf(text string) *Number {
	n, ok := canonical(text)
	if !ok {
		return nil
	}
	return &n
}
