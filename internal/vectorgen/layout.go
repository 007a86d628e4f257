package vectorgen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"weir/vectors"
)

// layOut writes a file for people and for stable diffs: a field a line, a step a line.
func layOut(f vectors.File) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"format\": %d,\n  \"policy\": %s,\n  \"category\": %s,\n  \"cases\": [\n", f.Format,
		inline(f.Policy), inline(f.Category))
	for i, c := range f.Cases {
		b.WriteString("    {\n")
		b.WriteString(strings.Join(fieldsOf(c), ",\n"))
		b.WriteString("\n    }" + comma(i, len(f.Cases)) + "\n")
	}
	b.WriteString("  ]\n}\n")
	return b.Bytes()
}

// fieldsOf are the lines of one case, without the commas between its fields.
func fieldsOf(c vectors.Case) []string {
	line := func(name string, v any) string { return fmt.Sprintf("      %q: %s", name, inline(v)) }
	list := []string{line("id", c.ID), line("comment", c.Comment), line("rules", c.Rules)}
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
		steps[i] = "        " + inline(s)
	}
	return append(list, "      \"steps\": [\n"+strings.Join(steps, ",\n")+"\n      ]")
}

func comma(i, of int) string {
	if i+1 < of {
		return ","
	}
	return ""
}

// inline is v as JSON on one line, with a space after every colon and comma that is no part of a string.
func inline(v any) string {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // only what the types of package vectors can hold comes here
	}
	var b strings.Builder
	quoted, escaped := false, false
	for _, r := range strings.TrimSuffix(raw.String(), "\n") {
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
