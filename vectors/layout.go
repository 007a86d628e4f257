package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// Layout is a file as the suite has it, for people and for stable diffs: a field a line, a step a line.
func Layout(f File) ([]byte, error) {
	l := layout{}
	l.printf("{\n  \"format\": %d,\n  \"policy\": %s,\n  \"category\": %s,\n  \"cases\": [\n", f.Format, l.inline(f.Policy),
		l.inline(f.Category))
	for i, c := range f.Cases {
		l.printf("    {\n%s\n    }%s\n", strings.Join(l.fields(c), ",\n"), comma(i, len(f.Cases)))
	}
	l.printf("  ]\n}\n")
	return l.text.Bytes(), l.err
}

// LayoutHash is a file of hash vectors as the suite has it: a case a line.
func LayoutHash(f HashFile) ([]byte, error) {
	l := layout{}
	l.printf("{\n  \"format\": %d,\n  \"hash\": %q,\n  \"cases\": [\n", f.Format, f.Hash)
	for i, c := range f.Cases {
		l.printf("    %s%s\n", l.compact(c), comma(i, len(f.Cases)))
	}
	l.printf("  ]\n}\n")
	return l.text.Bytes(), l.err
}

// JSONFiles are the files of a suite by name with slashes, laid out.
func JSONFiles(s Suite) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, f := range s.Files {
		text, err := Layout(f)
		if err != nil {
			return nil, err
		}
		files[path.Join(f.Policy, f.Category+".json")] = text
	}
	for _, h := range s.Hashes {
		text, err := LayoutHash(h)
		if err != nil {
			return nil, err
		}
		files[path.Join("hash", h.Hash+".json")] = text
	}
	return files, nil
}

// layout is a text in the making. The first error stays.
type layout struct {
	text bytes.Buffer
	err  error
}

func (l *layout) printf(format string, args ...any) { fmt.Fprintf(&l.text, format, args...) }

// fields are the lines of one case, without the commas between its fields.
func (l *layout) fields(c Case) []string {
	line := func(name string, v any) string { return fmt.Sprintf("      %q: %s", name, l.inline(v)) }
	list := []string{line("id", c.ID), line("comment", c.Comment), line("rules", append([]string{}, c.Rules...))}
	if len(c.Kills) > 0 {
		list = append(list, line("kills", c.Kills))
	}
	if len(c.Needs) > 0 {
		list = append(list, line("needs", c.Needs))
	}
	list = append(list, line("params", c.Params), line("max_keys", c.MaxKeys))
	if c.ConfigError != "" {
		return append(list, line("config_error", c.ConfigError))
	}
	steps := make([]string, len(c.Steps))
	for i, s := range c.Steps {
		steps[i] = "        " + l.inline(s)
	}
	return append(list, "      \"steps\": [\n"+strings.Join(steps, ",\n")+"\n      ]")
}

func comma(i, of int) string {
	if i+1 < of {
		return ","
	}
	return ""
}

// compact is v as JSON on one line without a space.
func (l *layout) compact(v any) string {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil && l.err == nil {
		l.err = err
	}
	return strings.TrimSuffix(raw.String(), "\n")
}

// inline is v as JSON on one line, with a space after every colon and comma that is no part of a string.
func (l *layout) inline(v any) string {
	var b strings.Builder
	quoted, escaped := false, false
	for _, r := range l.compact(v) {
		b.WriteRune(r)
		switch {
		case escaped:
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && (r == ',' || r == ':'):
			b.WriteByte(' ')
		}
	}
	return b.String()
}
