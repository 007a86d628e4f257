package vectors

import (
	"bytes"
	"fmt"
	"path"
	"strconv"
)

// exported is a case as a form without macros has it: fills made into takes, in a table of 1,024 where the case leaves
// the number open.
type exported struct {
	Case
	needs []string // all of them
	steps []Expanded
	probe []bool // by step: a peek that only checks the denial before it
	skip  string // why it cannot be expanded
}

// export makes a case ready.
func exportCase(c Case) exported {
	e := exported{Case: c}
	all := Hello{MaxKeys: "*", Can: Capabilities(), Policies: []string{""}}
	q, steps, lacks := prepare(all, "", c)
	if lacks != "" {
		e.skip = lacks
		return e
	}
	e.MaxKeys, e.steps = q.MaxKeys, steps
	kept, peeks := withoutProbes(steps)
	there := map[int]bool{}
	for _, one := range kept {
		there[one.From] = true
	}
	e.probe = make([]bool, len(steps))
	for i, one := range steps {
		e.probe[i] = !there[one.From]
	}
	wanted := needs(c)
	if peeks {
		wanted = append(wanted, CanPeek)
	}
	if e.MaxKeys != "*" {
		wanted = append(wanted, CanMaxKeys)
	}
	for _, capability := range Capabilities() {
		if contains(wanted, capability) {
			e.needs = append(e.needs, capability)
		}
	}
	return e
}

// TextFiles are the cases of a suite in the text form that README.md defines, by file name with slashes.
func TextFiles(s Suite) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range s.Files {
		var b bytes.Buffer
		for i, c := range f.Cases {
			exportCase(c).text(&b, i+1, f.Policy)
		}
		files[path.Join(f.Policy, f.Category+".txt")] = b.Bytes()
	}
	for _, h := range s.Hashes {
		var b bytes.Buffer
		for i, c := range h.Cases {
			seq := strconv.Itoa(i + 1)
			fmt.Fprintf(&b, "id %s\nneeds %s\n", c.ID, h.Hash)
			fmt.Fprintf(&b, "> %s\n", hashLine(i+1, HashRequest{Hash: h.Hash, Hex: c.Hex, Seed: c.Seed, In: c.In}))
			fmt.Fprintf(&b, "< h %s %s\n< end %s\n\n", seq, numberText(c.Want), seq)
		}
		files[path.Join("hash", h.Hash+".txt")] = b.Bytes()
	}
	return files
}

// text writes one case.
func (e exported) text(b *bytes.Buffer, seq int, policy string) {
	fmt.Fprintf(b, "id %s\n", e.ID)
	if e.skip != "" {
		fmt.Fprintf(b, "# left out: %s\n\n", Clean(e.skip))
		return
	}
	if len(e.needs) > 0 {
		b.WriteString("needs")
		for _, capability := range e.needs {
			b.WriteString(" " + capability)
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "> %s\n", caseLine(seq, policy, e.MaxKeys, e.Params))
	for i, s := range e.steps {
		mark := "> "
		if e.probe[i] {
			mark = "? "
		}
		fmt.Fprintf(b, "%s%s\n< %s\n", mark, appendStepLine(nil, i, s.Step), answerLine(seq, i, s.want()))
	}
	fmt.Fprintf(b, "> end %d\n", seq)
	if e.ConfigError != "" {
		fmt.Fprintf(b, "< x %d %s\n", seq, e.ConfigError)
	}
	fmt.Fprintf(b, "< end %d\n\n", seq)
}

// answerLine is what step i must be answered; "-" is anything.
func answerLine(seq, i int, w Want) string {
	if w.Keys != nil {
		return fmt.Sprintf("k %d %d %d", seq, i, *w.Keys)
	}
	v := w.values()
	line := fmt.Sprintf("r %d %d", seq, i)
	for _, field := range v[:6] {
		line += " " + orDash(field)
	}
	return line
}
