package accesslog

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// layout reads lines by a format string, as nginx's log_format or Apache's LogFormat has it: fields with fixed text
// between.
type layout struct {
	parts      []part
	names      []string // of the fields, by number
	values     [][]byte
	time, size int // the numbers of two fields; size is -1 if every request costs 1
	key        *key
}

// part is a field and the text that stands before it; the last has no field.
type part struct {
	before string
	field  int // -1: none
}

func isLayout(format string) bool { return strings.ContainsAny(format, "$%") }

// layoutNames are what nginx and Apache call the things that have a name here. Any other field goes by its own name, in
// small letters: http_x_api_key of $http_x_api_key, x-api-key of %{X-Api-Key}i.
var layoutNames = map[string]string{
	"remote_addr": "client", "remote_user": "user", "time_local": "time", "time_iso8601": "time", "msec": "time",
	"request_method": "method", "request_uri": "path", "uri": "route", "server_protocol": "proto",
	"body_bytes_sent": "bytes", "bytes_sent": "bytes", "http_referer": "referrer", "http_user_agent": "agent",
	"%h": "client", "%a": "client", "%l": "ident", "%u": "user", "%t": "time", "%r": "request", "%s": "status",
	"%b": "bytes", "%B": "bytes", "%O": "bytes", "%m": "method", "%U": "route", "%H": "proto", "%v": "host", "%V": "host",
	"%{referer}i": "referrer", "%{user-agent}i": "agent", "%{host}i": "host", "%{c}a": "peer",
	"%{sec}t": "time", "%{msec}t": "time_msec", "%{usec}t": "time_usec",
}

func newLayout(format string, o Options) (*layout, error) {
	l := &layout{size: -1}
	if err := l.compile(format); err != nil {
		return nil, err
	}
	l.values = make([][]byte, len(l.names))
	wanted := []string{"time", "time_msec", "time_usec"}
	if o.Time != "" {
		wanted = []string{o.Time}
	}
	l.time = slices.IndexFunc(l.names, func(name string) bool { return slices.Contains(wanted, name) })
	if l.time < 0 {
		return nil, &OptionError{"format", format, "one with a time: $time_local, $time_iso8601, $msec or %t"}
	}
	known := "a field of the format string: " + strings.Join(l.names, ", ")
	if o.Cost != "" && o.Cost != costOne {
		if l.size = slices.Index(l.names, o.Cost); l.size < 0 {
			return nil, &OptionError{"cost", o.Cost, "1 or " + known}
		}
	}
	var ok bool
	if l.key, ok = newKey(cmp.Or(o.Key, clientField), l.find, l.at); !ok {
		return nil, &OptionError{"key", cmp.Or(o.Key, clientField), known}
	}
	return l, nil
}

// derived are the parts of a request and of a path; they are numbered from the last field on.
var derived = []struct {
	name, from string
	of         func([]byte) []byte
}{
	{"method", "request", func(r []byte) []byte { m, _, _ := splitRequest(r); return m }},
	{"path", "request", func(r []byte) []byte { _, p, _ := splitRequest(r); return p }},
	{"route", "request", func(r []byte) []byte { _, p, _ := splitRequest(r); return route(p) }},
	{"proto", "request", func(r []byte) []byte { _, _, p := splitRequest(r); return p }},
	{"route", "path", route},
}

func (l *layout) find(name string) int {
	if i := slices.Index(l.names, name); i >= 0 {
		return i
	}
	for i, d := range derived {
		if d.name == name && slices.Contains(l.names, d.from) {
			return len(l.names) + i
		}
	}
	return -1
}

func (l *layout) at(i int) []byte {
	if i < len(l.names) {
		return l.values[i]
	}
	d := derived[i-len(l.names)]
	return d.of(l.values[slices.Index(l.names, d.from)])
}

// compile takes a format string apart.
func (l *layout) compile(format string) error {
	rest, before := format, ""
	rest = strings.ReplaceAll(rest, `\"`, `"`) // as it stands between quotes in a configuration
	for rest != "" {
		name, length := variable(rest)
		switch {
		case length == 0:
			before, rest = before+rest[:1], rest[1:]
			continue
		case name == "%%":
			before, rest = before+"%", rest[length:]
			continue
		case before == "" && len(l.parts) > 0:
			return &OptionError{"format", format, "fields with something between; nothing stands before " + rest[:length]}
		case name == "":
			return &OptionError{"format", format, "made of fields that weir knows, not " + rest[:length]}
		}
		if name == "%t" { // Apache's has brackets of its own
			before += "["
		}
		l.parts = append(l.parts, part{before, len(l.names)})
		l.names = append(l.names, cmp.Or(layoutNames[name], strings.Trim(strings.ToLower(name), "%{}")))
		before, rest = "", rest[length:]
		if name == "%t" {
			before = "]"
		}
	}
	l.parts = append(l.parts, part{before, -1})
	return nil
}

// variable is the name of the field that s begins with, and the length of that; 0 if s begins with none, and no name for a
// time of a layout of its own.
func variable(s string) (name string, length int) {
	switch {
	case strings.HasPrefix(s, "$"):
		n := 1
		for n < len(s) && (isLetter(s[n]) || s[n] == '_' || s[n]-'0' <= 9) {
			n++
		}
		if strings.HasPrefix(s, "${") {
			end := strings.IndexByte(s, '}')
			return s[2:max(end, 2)], end + 1
		}
		if n == 1 {
			return "", 0
		}
		return s[1:n], n
	case strings.HasPrefix(s, "%%"):
		return "%%", 2
	case strings.HasPrefix(s, "%"):
		return directive(s)
	}
	return "", 0
}

// directive is Apache's: %, perhaps < or > or statuses, perhaps {NAME}, and a letter, two after ^.
func directive(s string) (name string, length int) {
	n := 1
	for n < len(s) && strings.IndexByte("<>!,0123456789", s[n]) >= 0 {
		n++
	}
	of := ""
	if n < len(s) && s[n] == '{' {
		end := strings.IndexByte(s[n:], '}')
		if end < 0 {
			return "", 0
		}
		of = s[n : n+end+1]
		n += end + 1
	}
	if n < len(s) && s[n] == '^' {
		n += 2
	}
	if n >= len(s) || !isLetter(s[n]) {
		return "", 0
	}
	letter := s[n : n+1]
	if of == "" {
		return "%" + letter, n + 1
	}
	name = "%" + strings.ToLower(of) + letter
	if letter == "t" && layoutNames[name] == "" {
		return "", n + 1
	}
	if known := layoutNames[name]; known != "" || letter == "t" {
		return name, n + 1
	}
	return strings.ToLower(of), n + 1
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func (l *layout) parse(line []byte) (entry, fault, error) {
	if !l.split(line) {
		return entry{}, badLayout, nil
	}
	e := entry{cost: 1}
	var ok bool
	if e.at, ok = l.when(); !ok {
		return entry{}, badTime, nil
	}
	if l.size >= 0 {
		if e.cost, ok = parseWhole(string(l.values[l.size])); !ok && !isDash(l.values[l.size]) {
			return entry{}, badCost, nil
		}
	}
	e.key = l.key.of()
	return e, whole, nil
}

func (l *layout) when() (instant, bool) {
	text := string(l.values[l.time])
	switch l.names[l.time] {
	case "time_msec":
		return parseParts(text, 1e3)
	case "time_usec":
		return parseParts(text, 1e6)
	}
	return parseAny(text)
}

// split finds the fields of a line. A field ends where the text after it begins; one between quotes at the next that no
// backslash escapes. What follows the last field is ignored if the text after it is empty and it was quoted or a space ends it.
func (l *layout) split(line []byte) bool {
	if !bytes.HasPrefix(line, []byte(l.parts[0].before)) {
		return false
	}
	line = line[len(l.parts[0].before):]
	for i := 0; i < len(l.parts)-1; i++ {
		after := l.parts[i+1].before
		end := l.end(line, l.parts[i].before, after)
		if end < 0 {
			return false
		}
		l.values[l.parts[i].field] = line[:end]
		line = line[min(len(line), end+len(after)):]
	}
	return true
}

// end is how long a field at the beginning of line is, which stands between two texts; -1 if it does not end.
func (l *layout) end(line []byte, before, after string) int {
	if after == "" {
		if i := bytes.IndexByte(line, ' '); i >= 0 {
			return i
		}
		return len(line)
	}
	if !strings.HasSuffix(before, `"`) || after[0] != '"' {
		return bytes.Index(line, []byte(after))
	}
	for from := 0; ; from++ {
		i := bytes.IndexByte(line[from:], '"')
		if i < 0 {
			return -1
		}
		if from += i; !escaped(line[:from]) {
			if !bytes.HasPrefix(line[from:], []byte(after)) {
				return -1
			}
			return from
		}
	}
}
