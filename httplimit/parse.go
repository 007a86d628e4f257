package httplimit

import "strings"

// standings calls each with r and t of every item of a RateLimit field that has both. A field that is no list of items with
// parameters (RFC 9651, without inner lists, which the draft has none of) says nothing at all.
func standings(lines []string, each func(r, t uint64)) {
	const longest = 8 << 10
	text := strings.Join(lines, ",")
	if len(text) > longest {
		return
	}
	type standing struct{ r, t uint64 }
	var all []standing
	p := &parser{text}
	p.skip(" ")
	for {
		if _, ok := p.value(); !ok {
			return
		}
		r, t, ok := p.parameters()
		if !ok {
			return
		}
		if r != nil && t != nil {
			all = append(all, standing{*r, *t})
		}
		p.skip(" \t")
		if p.text == "" {
			break
		}
		if !p.take(",") {
			return
		}
		p.skip(" \t")
	}
	for _, s := range all {
		each(s.r, s.t)
	}
}

// parser reads what is left of a text.
type parser struct{ text string }

func (p *parser) skip(set string) { p.text = strings.TrimLeft(p.text, set) }

func (p *parser) take(prefix string) (ok bool) {
	p.text, ok = strings.CutPrefix(p.text, prefix)
	return ok
}

// parameters reads those of an item; r and t are nil where they are not whole numbers. Of one that comes twice the last counts.
func (p *parser) parameters() (r, t *uint64, ok bool) {
	for p.take(";") {
		p.skip(" ")
		name, ok := p.name()
		if !ok {
			return nil, nil, false
		}
		var value *uint64
		if p.take("=") {
			if value, ok = p.value(); !ok {
				return nil, nil, false
			}
		}
		switch name {
		case "r":
			r = value
		case "t":
			t = value
		}
	}
	return r, t, true
}

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

func (p *parser) name() (string, bool) {
	if p.text == "" || !strings.Contains(lower+"*", p.text[:1]) {
		return "", false
	}
	return p.run(lower + digits + "_-.*"), true
}

// run takes the bytes at the front that are in set.
func (p *parser) run(set string) string {
	n := len(p.text) - len(strings.TrimLeft(p.text, set))
	run := p.text[:n]
	p.text = p.text[n:]
	return run
}

// value reads a bare item, and gives it if it is a whole number from 0 on.
func (p *parser) value() (number *uint64, ok bool) {
	if p.text == "" {
		return nil, false
	}
	switch c := p.text[0]; {
	case c == '"':
		return nil, p.string()
	case c == '-' || strings.Contains(digits, p.text[:1]):
		return p.number()
	case c == ':':
		p.text = p.text[1:]
		p.run(lower + upper + digits + "+/=")
		return nil, p.take(":")
	case c == '?':
		return nil, p.take("?0") || p.take("?1")
	case c == '*' || strings.Contains(lower+upper, p.text[:1]):
		p.run(lower + upper + digits + ":/!#$%&'*+-.^_`|~")
		return nil, true
	}
	return nil, false // dates and texts of other scripts are for later revisions
}

// string reads a String: printable ASCII in quotes, with quotes and backslashes escaped.
func (p *parser) string() bool {
	for i := 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.text = p.text[i+1:]
			return true
		case c == '\\':
			if i++; i == len(p.text) || p.text[i] != '"' && p.text[i] != '\\' {
				return false
			}
		case c < ' ' || c > '~':
			return false
		}
	}
	return false
}

// number reads an Integer of up to 15 digits or a Decimal of up to 12 and 3.
func (p *parser) number() (*uint64, bool) {
	negative := p.take("-")
	whole := p.run(digits)
	if whole == "" || len(whole) > 15 {
		return nil, false
	}
	if p.take(".") {
		part := p.run(digits)
		return nil, len(whole) <= 12 && part != "" && len(part) <= 3
	}
	n := uint64(0)
	for _, d := range []byte(whole) {
		n = n*10 + uint64(d-'0') // 15 digits are below 2^50
	}
	if negative && n > 0 {
		return nil, true
	}
	return &n, true
}
