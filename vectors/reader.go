package vectors

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
)

// reader takes an object apart field by field, so that every fault can name its field. It is exact where
// encoding/json is generous: names must match in case, and none may stand twice. Fields that nobody asks for are
// left alone. The first fault stays; everything read after it is empty.
type reader struct {
	at     place
	fields map[string]json.RawMessage
	err    error
}

func read(at place, raw json.RawMessage) *reader {
	fields, twice, err := object(raw)
	r := &reader{at: at, fields: fields}
	switch {
	case err != nil:
		r.err = at.fault("", "", "%v", err)
	case twice != "":
		r.err = at.fault(twice, "", "stands twice in one object")
	}
	return r
}

// object splits a JSON object; twice is a name that stands in it twice, if any.
func object(raw []byte) (fields map[string]json.RawMessage, twice string, err error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if first, err := dec.Token(); err != nil {
		return nil, "", notJSON(err)
	} else if first != json.Delim('{') {
		return nil, "", errors.New("must be a JSON object")
	}
	fields = map[string]json.RawMessage{}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, "", notJSON(err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, "", notJSON(err)
		}
		key := name.(string) // an object's odd tokens are names, or Token fails
		if _, taken := fields[key]; taken {
			twice = key
		}
		fields[key] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, "", notJSON(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, "", errors.New("something follows the JSON object")
	}
	return fields, twice, nil
}

func notJSON(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("not JSON: it ends too early")
	}
	return errors.New("not JSON: " + err.Error())
}

// has says whether the field stands there, null included.
func (r *reader) has(name string) bool { return r.fields[name] != nil }

// fail keeps the first fault, about a field that is there or missing.
func (r *reader) fail(name, problem string, args ...any) {
	if r.err != nil {
		return
	}
	value := string(r.fields[name])
	if len(value) > 80 {
		value = ""
	}
	r.err = r.at.fault(name, value, problem, args...)
}

// need fails for each field that is missing.
func (r *reader) need(names ...string) {
	for _, name := range names {
		if !r.has(name) {
			r.fail(name, "missing")
		}
	}
}

// text is a string field, "" if it is missing.
func (r *reader) text(name string) string {
	var s *string
	if r.err != nil || !r.has(name) {
		return ""
	}
	if err := json.Unmarshal(r.fields[name], &s); err != nil || s == nil {
		r.fail(name, "must be a string")
		return ""
	}
	return *s
}

// word is a string field that is one of known; "" if it is missing.
func (r *reader) word(name string, known []string) string {
	s := r.text(name)
	if r.has(name) && !contains(known, s) {
		r.fail(name, "must be one of %s", list(known))
	}
	return s
}

// texts is a list of strings, each accepted by ok; problem says what is wrong with another.
func (r *reader) texts(name string, ok func(string) bool, problem string) []string {
	var all []*string
	if r.err != nil || !r.has(name) {
		return nil
	}
	if err := json.Unmarshal(r.fields[name], &all); err != nil {
		r.fail(name, "must be a list of strings")
		return nil
	}
	var out []string
	for _, s := range all {
		if s == nil || !ok(*s) {
			r.fail(name, "%s", problem)
			return nil
		}
		out = append(out, *s)
	}
	return out
}

// number is a quantity of at most top; nil if it is missing.
func (r *reader) number(name string, top uint64) *Number {
	var n Number
	if r.err != nil || !r.has(name) {
		return nil
	}
	if err := n.UnmarshalJSON(r.fields[name]); err != nil {
		r.fail(name, "must be a JSON string of a canonical decimal: digits only, no leading zero, at most %d", top)
		return nil
	}
	if uint64(n) > top {
		r.fail(name, "must be at most %d", top)
		return nil
	}
	return &n
}

// wait is a quantity of at most 2^63-1 or "-1"; nil if it is missing.
func (r *reader) wait(name string) *Wait {
	if r.err == nil && string(r.fields[name]) == `"-1"` {
		never := Never
		return &never
	}
	return (*Wait)(r.number(name, math.MaxInt64))
}

// format checks the number that every file starts with.
func (r *reader) format() {
	r.need("format")
	var n json.Number
	if r.err == nil && (json.Unmarshal(r.fields["format"], &n) != nil || string(r.fields["format"]) != "1") {
		r.fail("format", "must be the number %d: this reader knows no other", Format)
	}
}

// items is a list of objects; each is left as it stands.
func (r *reader) items(name string) []json.RawMessage {
	var all []json.RawMessage
	if r.err != nil || !r.has(name) {
		return nil
	}
	if err := json.Unmarshal(r.fields[name], &all); err != nil {
		r.fail(name, "must be a list")
	}
	return all
}
