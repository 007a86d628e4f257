package accesslog

import (
	"bytes"
	"cmp"
	"net/netip"
	"strings"

	"github.com/tidwall/gjson"
)

// objects reads JSON lines: one object a line, as Caddy, Traefik, Envoy and many others log.
type objects struct {
	costs []string // where the cost may be; nil if every request costs 1
	times []string
	key   *key
	wants []want // the fields that the key asks for
	line  string
	cell  []byte
	nul   bool // there is one in the key
}

// want is a field of the key: the names that it may go by, and what is made of it.
type want struct {
	names []string
	of    func([]byte) []byte
}

// fieldNames are what servers call a thing in JSON, a path where it is nested, the first that a line has; Caddy, Traefik,
// Envoy, nginx and Apache as their documentation suggests.
var fieldNames = map[string][]string{
	"time": {"time", "ts", "timestamp", "@timestamp", "start_time", "StartUTC", "StartLocal", "time_iso8601", "time_local",
		"msec", "datetime"},
	"client": {"client", "request.client_ip", "request.remote_ip", "ClientHost", "remote_addr", "remote_ip", "client_ip",
		"downstream_remote_address", "downstream_direct_remote_address", "ClientAddr", "ip"},
	"user":     {"user", "user_id", "ClientUsername", "remote_user"},
	"method":   {"method", "request.method", "RequestMethod", "request_method"},
	"path":     {"path", "request.uri", "RequestPath", "request_uri", "uri"},
	"proto":    {"proto", "protocol", "request.proto", "RequestProtocol", "server_protocol"},
	"status":   {"status", "response_code", "DownstreamStatus"},
	"host":     {"host", "request.host", "RequestHost", "authority"},
	"referrer": {"referrer", "referer", "request.headers.Referer.0", "request_Referer", "http_referer"},
	"agent":    {"agent", "user_agent", "request.headers.User-Agent.0", "request_User-Agent", "http_user_agent"},
	"bytes":    {"bytes", "size", "bytes_sent", "DownstreamContentSize", "body_bytes_sent"},
}

// queries are what gjson takes for more than a name.
const queries = "+|#*?@!{[\\"

func newObjects(o Options) (*objects, error) {
	f := &objects{times: called(cmp.Or(o.Time, timeColumn)), cell: []byte{}}
	if o.Time != "" {
		f.times = []string{o.Time}
	}
	if strings.ContainsAny(o.Time, queries) {
		return nil, &OptionError{"time", o.Time, "the name of a field, with . for a nested one"}
	}
	if o.Cost != "" && o.Cost != costOne {
		f.costs = called(o.Cost)
	}
	if strings.ContainsAny(o.Cost, queries) {
		return nil, &OptionError{"cost", o.Cost, "1, bytes or the name of a field, with . for a nested one"}
	}
	var ok bool
	if f.key, ok = newKey(cmp.Or(o.Key, clientField), f.want, f.at); !ok {
		return nil, &OptionError{"key", o.Key, "names of fields, with . for nested ones, and + or | between several"}
	}
	return f, nil
}

// called are the names that a field may go by.
func called(name string) []string {
	if names := fieldNames[name]; names != nil {
		return names
	}
	return []string{name}
}

// want is the number of a field that the key asks for.
func (f *objects) want(name string) int {
	if name == "" || strings.ContainsAny(name, queries) {
		return -1
	}
	w := want{called(name), nil}
	switch name {
	case "route":
		w = want{called("path"), route}
	case clientField:
		w.of = withoutPort
	}
	f.wants = append(f.wants, w)
	return len(f.wants) - 1
}

// withoutPort is an address without the port that some servers log with it: each connection has another.
func withoutPort(client []byte) []byte {
	if a, err := netip.ParseAddrPort(string(client)); err == nil {
		return []byte(a.Addr().String())
	}
	return client
}

func (f *objects) parse(line []byte) (entry, fault, error) {
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' || tooDeep(line) || !gjson.ValidBytes(line) {
		return entry{}, badObject, nil
	}
	f.line, f.nul = string(line), false
	e := entry{cost: 1}
	var ok bool
	if e.at, ok = parseAny(text(f.one(f.times))); !ok {
		return entry{}, badTime, nil
	}
	if f.costs != nil {
		if e.cost, ok = parseWhole(text(f.one(f.costs))); !ok {
			return entry{}, badCost, nil
		}
	}
	e.key = f.key.of()
	switch {
	case f.nul:
		return entry{}, hasNUL, nil
	case f.key.lacks:
		return entry{}, noKey, nil
	}
	return e, whole, nil
}

// mostDepth is how deep objects and arrays may be nested: a reader that calls itself at each bracket must not be made to do so
// a million times.
const mostDepth = 64

func tooDeep(line []byte) bool {
	depth, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > mostDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// one is the first of some fields that the line has.
func (f *objects) one(names []string) gjson.Result {
	for _, name := range names {
		if r := gjson.Get(f.line, name); r.Exists() && r.Type != gjson.Null {
			return r
		}
		if strings.Contains(name, ".") { // a name with a dot in it comes after the path
			if r := gjson.Get(f.line, strings.ReplaceAll(name, ".", `\.`)); r.Exists() && r.Type != gjson.Null {
				return r
			}
		}
	}
	return gjson.Result{}
}

// text is a string as it is meant and a number as it is written, which no float has been.
func text(r gjson.Result) string {
	if r.Type == gjson.String {
		return r.Str
	}
	return r.Raw
}

// at is a field of the line at hand; nil if the line lacks it or says null.
func (f *objects) at(i int) []byte {
	w := f.wants[i]
	r := f.one(w.names)
	if !r.Exists() {
		return nil
	}
	f.cell = append(f.cell[:0], text(r)...)
	f.nul = f.nul || bytes.IndexByte(f.cell, joint) >= 0
	if w.of != nil {
		return w.of(f.cell)
	}
	return f.cell
}
