package config

import (
	"strings"

	"weir"
)

// bounds of names, those of httplimit.Rule.
const longestName = 64

// limit reads one named limit. The policy has to be known before the limits are tried under it.
func (c *checker) limit(key, n *node, path string) Limit {
	l := Limit{Name: key.text, Policy: "gcra", Keys: []string{"address"}, line: key.line, lines: map[string]int{}}
	c.name(key, path)
	var limit, plans *node
	c.fields(n, path, func(key, value *node, path string) {
		l.lines[key.text] = key.line
		switch key.text {
		case "policy":
			l.Policy = c.policy(value, path)
		case "limit":
			limit = value
		case "plans":
			plans = value
		case "key":
			l.Keys = c.keys(value, path)
		case "max_keys":
			l.MaxKeys = c.maxKeys(value, path)
		case "dry_run":
			l.DryRun = c.truth(value, path)
		default:
			c.unknown(key, path, "limit", "policy", "key", "plans", "max_keys", "dry_run")
		}
	})
	if limit != nil {
		l.Limit = c.rate(limit, path+".limit", l.Policy)
	} else if n.kind == mapping {
		c.say(key.line, path, "has no limit, must have one such as 100/s burst 20")
	}
	if plans != nil {
		l.Plans = map[string]weir.Limit{}
		c.fields(plans, path+".plans", func(key, value *node, path string) {
			c.name(key, path)
			l.Plans[key.text] = c.rate(value, path, l.Policy)
		})
	}
	return l
}

// name complains of a name that is too long, empty or not printable ASCII.
func (c *checker) name(n *node, path string) {
	if len(n.text) < 1 || len(n.text) > longestName {
		c.say(n.line, path, "is a name of %d bytes, must have from 1 to %d", len(n.text), longestName)
	}
	for _, b := range []byte(n.text) {
		if b < ' ' || b > '~' {
			c.say(n.line, path, "is a name with the byte %#x, must be printable ASCII", b)
			return
		}
	}
}

func (c *checker) policy(n *node, path string) string {
	if !c.is(n, scalar, path) {
		return ""
	}
	if err := weir.Registry().Check(n.text); err != nil {
		c.say(n.line, path, "%v", err)
	}
	return n.text
}

func (c *checker) truth(n *node, path string) bool {
	if c.is(n, scalar, path) && n.text != "true" && n.text != "false" {
		c.say(n.line, path, "is %.60q, must be true or false", n.text)
	}
	return n.text == "true"
}

func (c *checker) keys(n *node, path string) (keys []string) {
	for _, entry := range c.list(n, path) {
		keys = append(keys, entry.text)
		name, isHeader := strings.CutPrefix(entry.text, "header ")
		if entry.text != "address" && entry.text != "user" && !(isHeader && isToken(name)) {
			c.say(entry.line, path, "is %.60q, must be address, user or header NAME", entry.text)
		}
	}
	if len(keys) == 0 && n.kind == sequence && len(n.node) == 0 {
		c.say(n.line, path, "is an empty list, must name at least one")
	}
	return keys
}

// isToken says whether text can name a header field (RFC 9110, section 5.1).
func isToken(text string) bool {
	const others = "!#$%&'*+-.^_`|~"
	for _, b := range []byte(text) {
		if (b < '0' || b > '9') && (b|0x20 < 'a' || b|0x20 > 'z') && strings.IndexByte(others, b) < 0 {
			return false
		}
	}
	return text != ""
}
