package accesslog

import (
	"bytes"
	"cmp"
	"slices"
)

// weblog reads the common and the combined log format, as the documentation of Apache's mod_log_config has them:
//
//	%h %l %u %t "%r" %>s %b
//	%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-agent}i"
type weblog struct {
	combined bool
	bytes    bool // the size is the cost
	key      *key
	fields   fields
}

// fields are slices of one line. stamp has lost its brackets, the quoted ones their quotes.
type fields struct {
	client, ident, user, stamp, request, status, referrer, agent []byte

	size uint64
}

// keys are the fields that may be a key; a common log lacks the last two.
var keys = []struct {
	name string
	of   func(*fields) []byte
}{
	{"client", func(f *fields) []byte { return f.client }},
	{"ident", func(f *fields) []byte { return f.ident }},
	{"user", func(f *fields) []byte { return f.user }},
	{"method", func(f *fields) []byte { m, _, _ := splitRequest(f.request); return m }},
	{"path", func(f *fields) []byte { _, p, _ := splitRequest(f.request); return p }},
	{"route", func(f *fields) []byte { _, p, _ := splitRequest(f.request); return route(p) }},
	{"proto", func(f *fields) []byte { _, _, p := splitRequest(f.request); return p }},
	{"status", func(f *fields) []byte { return f.status }},
	{"referrer", func(f *fields) []byte { return f.referrer }},
	{"agent", func(f *fields) []byte { return f.agent }},
}

func newWeblog(name string, o Options) (*weblog, error) {
	w := &weblog{combined: name == combined, bytes: o.Cost == costBytes}
	if o.Cost != "" && o.Cost != costOne && o.Cost != costBytes {
		return nil, &OptionError{"cost", o.Cost, oneOf([]string{costOne, costBytes})}
	}
	if o.Time != "" {
		return nil, &OptionError{"time", o.Time, "left out (the log's format is " + name + ")"}
	}
	known := keys
	if !w.combined {
		known = keys[:len(keys)-2]
	}
	var names []string
	for _, k := range known {
		names = append(names, k.name)
	}
	find := func(name string) int { return slices.Index(names, name) }
	var ok bool
	w.key, ok = newKey(cmp.Or(o.Key, keys[0].name), find, func(i int) []byte { return keys[i].of(&w.fields) })
	if !ok {
		return nil, &OptionError{"key", o.Key, oneOf(names) + " (the log's format is " + name + ")"}
	}
	return w, nil
}

func (w *weblog) parse(line []byte) (entry, fault, error) {
	f := &w.fields
	rest, bad := f.splitHead(line)
	if bad == whole {
		bad = f.splitTail(rest, w.combined)
	}
	if bad != whole {
		return entry{}, bad, nil
	}
	at, ok := parseStamp(string(f.stamp))
	if !ok {
		return entry{}, badTime, nil
	}
	e := entry{at: at, key: w.key.of(), cost: 1}
	if w.bytes {
		e.cost = f.size
	}
	return e, whole, nil
}

// splitHead takes what stands before the request.
func (f *fields) splitHead(line []byte) (rest []byte, bad fault) {
	f.client, rest = word(line)
	f.ident, rest = word(rest)
	if len(f.client) == 0 || len(f.ident) == 0 {
		return nil, noClient
	}
	// The user is who somebody said to be and may hold spaces.
	end := bytes.Index(rest, []byte(" ["))
	if end <= 0 {
		return nil, noClient
	}
	f.user, rest = rest[:end], rest[end+len(" ["):]
	// A virtual host before the client, as in Apache's vhost_combined, would else pass for the client, unnoticed.
	if len(f.user) > 1 && f.user[0] == '-' && f.user[1] == ' ' {
		return nil, extraField
	}
	if len(rest) <= len(stampLayout)+1 || rest[len(stampLayout)] != ']' || rest[len(stampLayout)+1] != ' ' {
		return nil, badTime
	}
	f.stamp = rest[:len(stampLayout)]
	return rest[len(stampLayout)+len("] "):], whole
}

// splitTail takes what follows the time.
func (f *fields) splitTail(rest []byte, combined bool) fault {
	var ok bool
	if f.request, rest, ok = quoted(rest); !ok {
		return noRequest
	}
	if f.status, rest = word(rest); !isDash(f.status) && !(len(f.status) == 3 && isWhole(string(f.status))) {
		return badStatus
	}
	size, rest := word(rest)
	if f.size, ok = parseWhole(string(size)); !ok && !isDash(size) {
		return badSize
	}
	if !combined {
		return whole
	}
	if f.referrer, rest, ok = quoted(rest); !ok {
		return noReferrer
	}
	if f.agent, _, ok = quoted(rest); !ok {
		return noAgent
	}
	return whole
}

// splitRequest takes a request apart. A path may hold spaces, since some clients do not escape them.
func splitRequest(request []byte) (method, path, proto []byte) {
	method, path = word(request)
	if last := bytes.LastIndexByte(path, ' '); bytes.HasPrefix(path[last+1:], []byte("HTTP/")) {
		path, proto = path[:max(last, 0)], path[last+1:]
	}
	return orDash(method), orDash(path), orDash(proto)
}

// route is a path without its query.
func route(path []byte) []byte {
	before, _, _ := bytes.Cut(path, []byte("?"))
	return before
}

// word is what stands before the first space, and what after it; all and nothing if there is none.
func word(b []byte) (first, rest []byte) {
	if i := bytes.IndexByte(b, ' '); i >= 0 {
		return b[:i], b[i+1:]
	}
	return b, nil
}

// quoted is what stands between the quote that b must begin with and the next that no backslash escapes, after which
// b must end or go on with a space; and what follows that.
func quoted(b []byte) (text, rest []byte, ok bool) {
	if len(b) == 0 || b[0] != '"' {
		return nil, nil, false
	}
	b = b[1:]
	for end := 0; ; end++ {
		i := bytes.IndexByte(b[end:], '"')
		if i < 0 {
			return nil, nil, false
		}
		if end += i; !escaped(b[:end]) {
			text, rest = b[:end], b[end+1:]
			break
		}
	}
	if len(rest) == 0 {
		return text, rest, true
	}
	return text, rest[1:], rest[0] == ' '
}

// escaped says whether before ends in an odd number of backslashes: an even one is backslashes that are escaped. Each
// run is looked at once, for the quote that ends it, so that no line takes more than linear time.
func escaped(before []byte) bool {
	n := len(before)
	for n > 0 && before[n-1] == '\\' {
		n--
	}
	return (len(before)-n)%2 == 1
}

var dash = []byte("-")

func isDash(b []byte) bool { return len(b) == 1 && b[0] == '-' }

func orDash(b []byte) []byte {
	if len(b) == 0 {
		return dash
	}
	return b
}
