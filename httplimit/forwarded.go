package httplimit

import "strings"

// chain takes the entries of a list field off its end, over all its lines. A comma in a quoted string does not part
// entries. A quote that a client has left open does no harm: what trusted proxies wrote stands to the right of it and is
// read first.
type chain struct {
	lines  []string // those not begun yet
	line   string   // what is left of the one that is
	begun  bool
	quotes bool // the field has quoted strings
}

// pop is the last entry that is not empty, without the spaces around it.
func (c *chain) pop() (entry string, ok bool) {
	for {
		if !c.begun {
			if len(c.lines) == 0 {
				return "", false
			}
			last := len(c.lines) - 1
			c.line, c.lines, c.begun = c.lines[last], c.lines[:last], true
		}
		comma := c.lastComma()
		entry = strings.Trim(c.line[comma+1:], " \t")
		c.begun = comma >= 0
		c.line = c.line[:max(comma, 0)]
		if entry != "" {
			return entry, true
		}
	}
}

// lastComma is where the last comma of the line is that parts entries, or -1.
func (c *chain) lastComma() int {
	if !c.quotes {
		return strings.LastIndexByte(c.line, ',')
	}
	return lastOutside(c.line, ',')
}

// lastOutside is where the last b of a text is that is in no quoted string, or -1. It reads from the right, and so does not
// care what came before.
func lastOutside(text string, b byte) int {
	quoted := false
	for i := len(text) - 1; i >= 0; i-- {
		switch {
		case text[i] == '"' && !(quoted && i > 0 && text[i-1] == '\\'): // before an opening quote stands no backslash
			quoted = !quoted
		case text[i] == b && !quoted:
			return i
		}
	}
	return -1
}

// forwardedFor is the node that the for parameter of an element of a Forwarded field names (RFC 7239, section 4). ok is
// false if there is none or more than one.
func forwardedFor(element string) (node string, ok bool) {
	for element != "" {
		semicolon := lastOutside(element, ';')
		name, value, paired := strings.Cut(element[semicolon+1:], "=")
		element = element[:max(semicolon, 0)]
		if !paired || !strings.EqualFold(strings.Trim(name, " \t"), "for") {
			continue
		}
		if ok {
			return "", false
		}
		node, ok = unquoted(strings.Trim(value, " \t")), true
	}
	return node, ok
}

// unquoted is a quoted string as what it says, anything else as it is.
func unquoted(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	text = text[1 : len(text)-1]
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
