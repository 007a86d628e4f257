package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"weir"
	"weir/httplimit"
	"weir/policy"
)

// File is what a file says, checked.
type File struct {
	// Address is how clients' addresses are found.
	Address httplimit.Address
	// Limits are in the order of the file.
	Limits []Limit
}

// Limit is one named limit of a file.
type Limit struct {
	// Name is 1 to 64 printable ASCII characters.
	Name string
	// Policy is one of the five.
	Policy string
	// Limit holds for everybody who has no plan.
	Limit weir.Limit
	// Plans are the limits of those who have one, by the plan's name.
	Plans map[string]weir.Limit
	// Keys are address, user or header NAME: the first that is there counts.
	Keys []string
	// MaxKeys bounds the keys of each limiter, 0 for no bound.
	MaxKeys uint64
	// DryRun lets requests through whatever the answer.
	DryRun bool

	line  int            // of its name
	lines map[string]int // of its fields
}

// mostBytes is how long a file may be.
const mostBytes = 1 << 20

// Parse checks a whole file. It is JSON if the name ends so, else YAML. The error is a Faults with everything that is wrong.
func Parse(name string, text []byte) (*File, error) {
	c := &checker{file: name}
	if len(text) > mostBytes {
		return nil, Faults{{name, 1, fmt.Sprintf("is longer than %d bytes", mostBytes)}}
	}
	root, err := read(name, text)
	if err != nil {
		fault := Fault{name, 1, ""}
		errors.As(err, &fault)
		return nil, Faults{fault}
	}
	f := c.root(root)
	if len(c.faults) > 0 {
		slices.SortStableFunc(c.faults, func(a, b Fault) int { return cmp.Compare(a.Line, b.Line) })
		return nil, c.faults
	}
	return f, nil
}

// ParseFile is Parse of a file on disk. The error is a Faults, or says why the file cannot be read.
func ParseFile(path string) (*File, error) {
	text, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

// checker gathers faults.
type checker struct {
	file   string
	faults Faults
}

// say adds a fault. path names the field, "" for the file.
func (c *checker) say(line int, path, format string, a ...any) {
	text := fmt.Sprintf(format, a...)
	if path != "" {
		text = path + ": " + text
	}
	const most = 300
	if len(text) > most {
		text = text[:most] + "..."
	}
	c.faults = append(c.faults, Fault{c.file, line, oneLine(text)})
}

// oneLine spells out what would break the line or talk to a terminal.
func oneLine(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "?") {
		if unicode.IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// is says whether n is of a kind, and complains if not.
func (c *checker) is(n *node, k kind, path string) bool {
	if n.kind != k {
		c.say(n.line, path, "is %v, must be %v", n.kind, k)
	}
	return n.kind == k
}

// fields calls each for the fields of a mapping that has each name once.
func (c *checker) fields(n *node, path string, each func(key, value *node, path string)) {
	if !c.is(n, mapping, path) {
		return
	}
	seen := make(map[string]int)
	for i, key := range n.keys {
		at := key.text
		if path != "" {
			at = path + "." + key.text
		}
		switch first, twice := seen[key.text]; {
		case key.kind != scalar:
			c.say(key.line, path, "has a name that is %v, must be text", key.kind)
		case twice:
			c.say(key.line, at, "is there twice, first on line %d", first)
		default:
			seen[key.text] = key.line
			each(key, n.node[i], at)
		}
	}
}

func (c *checker) unknown(key *node, path string, known ...string) {
	c.say(key.line, path, "is not known, must be one of %s", strings.Join(known, ", "))
}

func (c *checker) root(n *node) *File {
	f := &File{}
	if n.kind == null {
		c.say(n.line, "", "is empty, must have limits")
		return f
	}
	has := false
	c.fields(n, "", func(key, value *node, path string) {
		switch key.text {
		case "proxies":
			c.proxies(value, &f.Address)
		case "ipv6_bits":
			bits, ok := c.number(value, path, 128)
			f.Address.Bits6 = int(bits)
			if ok && bits == 0 {
				c.say(value.line, path, "is 0, must be from 1 to 128")
			}
		case "limits":
			has = true
			c.fields(value, path, func(key, value *node, path string) { f.Limits = append(f.Limits, c.limit(key, value, path)) })
		default:
			c.unknown(key, path, "limits", "proxies", "ipv6_bits")
		}
	})
	if n.kind == mapping && (!has || len(f.Limits) == 0 && len(c.faults) == 0) {
		c.say(n.line, "", "has no limits, must have at least one")
	}
	return f
}

func (c *checker) proxies(n *node, a *httplimit.Address) {
	before := len(c.faults)
	c.fields(n, "proxies", func(key, value *node, path string) {
		switch key.text {
		case "trusted":
			for _, entry := range c.list(value, path) {
				a.Trusted = append(a.Trusted, c.prefix(entry, path))
			}
		case "header":
			if c.is(value, scalar, path) {
				a.Header = value.text
			}
		default:
			c.unknown(key, path, "trusted", "header")
		}
	})
	if before == len(c.faults) {
		if _, err := (httplimit.Address{Trusted: a.Trusted, Header: a.Header}).Key(); err != nil {
			c.say(n.line, "proxies", "%v", err)
		}
	}
}

// list is the entries of a list, or a value alone.
func (c *checker) list(n *node, path string) (entries []*node) {
	if n.kind == scalar {
		return []*node{n}
	}
	if !c.is(n, sequence, path) {
		return nil
	}
	for _, entry := range n.node {
		if c.is(entry, scalar, path) {
			entries = append(entries, entry)
		}
	}
	return entries
}

// prefix reads a network, or an address as the network of one.
func (c *checker) prefix(n *node, path string) netip.Prefix {
	p, err := netip.ParsePrefix(n.text)
	if err == nil {
		if p != p.Masked() {
			c.say(n.line, path, "is %s, must be %s", n.text, p.Masked())
		}
		return p
	}
	addr, err := netip.ParseAddr(n.text)
	if err != nil || addr.Zone() != "" {
		c.say(n.line, path, "is %.60q, must be an address or a network, such as 10.0.0.0/8", n.text)
		return netip.Prefix{}
	}
	return netip.PrefixFrom(addr, addr.BitLen())
}

func (c *checker) number(n *node, path string, most uint64) (uint64, bool) {
	if !c.is(n, scalar, path) {
		return 0, false
	}
	v, err := strconv.ParseUint(n.text, 10, 64)
	if err != nil || v > most {
		c.say(n.line, path, "is %.60q, must be a whole number up to %d", n.text, most)
		return 0, false
	}
	return v, true
}

// discard is for limiters that are made to see whether they can be.
var discard = weir.WithLogger(slog.New(slog.DiscardHandler))

// rate reads the text of a limit and tries it under its policy.
func (c *checker) rate(n *node, path, name string) (l weir.Limit) {
	if !c.is(n, scalar, path) {
		return l
	}
	l, err := weir.ParseLimit(n.text)
	if err == nil && name == slidingLog && l.Burst != 0 && l.Burst != l.Permits {
		err = errors.New("a sliding log has no burst of its own: leave it out")
	}
	if err == nil && slices.Contains(weir.Names(), name) { // an unknown policy is a fault by itself
		_, err = weir.New(name, l, discard)
	}
	if err != nil {
		c.say(n.line, path, "%v", err)
	}
	return l
}

const slidingLog = "slidinglog"

func (c *checker) maxKeys(n *node, path string) uint64 {
	v, ok := c.number(n, path, 1<<63-1)
	if !ok {
		return 0
	}
	if _, err := (policy.Options{MaxKeys: v, Bounded: true}).Capacity(); err != nil {
		c.say(n.line, path, "%v", err)
	}
	return v
}
