package vectors

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// fault is what is wrong with a line of a port, and perhaps the likely cause.
type fault struct{ text, hint string }

// about is the fault as a driver's error, with the line; hint is for a fault without one.
func (f *fault) about(line []byte, hint string) *DriverError {
	e := &DriverError{Verdict: ProtocolError, Text: f.text + ": " + excerpt(line), Hint: f.hint}
	if e.Hint == "" {
		e.Hint = hint
	}
	return e
}

// scanner takes one line of JSON apart in one go, strictly: names in their exact case, none twice, nothing behind.
// Fields that nobody knows are passed over. The first fault stays; everything read after it is empty.
type scanner struct {
	dec *json.Decoder
	at  string // the field, for messages
	err *fault
}

func scan(line []byte) *scanner {
	s := &scanner{dec: json.NewDecoder(bytes.NewReader(line))}
	s.dec.UseNumber()
	switch text := bytes.TrimLeft(line, " \t"); {
	case len(text) == 0:
		s.fail("an empty line", "one newline after each answer, and nothing else")
	case bytes.HasPrefix(text, []byte("hello 1 ")) || bytes.HasPrefix(text, []byte("! ")):
		s.fail("not a JSON object", hintText)
	case text[0] != '{':
		s.fail("not a JSON object", "")
	}
	return s
}

func (s *scanner) fail(text, hint string) {
	if s.err == nil {
		s.err = &fault{text, hint}
	}
}

func (s *scanner) token() json.Token {
	if s.err != nil {
		return nil
	}
	t, err := s.dec.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		s.fail(notJSON(err).Error(), "")
		return nil
	}
	return t
}

// maxFields bounds an object, of which most fields may be unknown.
const maxFields = 64

// object reads an object: field is called for each name and must read the value, or say that it does not know the name.
func (s *scanner) object(field func(name string) bool) {
	if s.token() != json.Delim('{') {
		s.fail(s.at+" must be an object", "")
	}
	var room [16]string
	seen := room[:0]
	for s.err == nil && s.dec.More() {
		name, _ := s.token().(string)
		if slices.Contains(seen, name) {
			s.fail(name+" stands twice in one object", "")
		}
		if len(seen) == maxFields {
			s.fail(fmt.Sprintf("an object has more than %d fields", maxFields), "")
		}
		seen = append(seen, name)
		outer := s.at
		s.at = name
		if !field(name) && s.err == nil {
			var skipped json.RawMessage
			if err := s.dec.Decode(&skipped); err != nil {
				s.fail(notJSON(err).Error(), "")
			}
		}
		s.at = outer
	}
	s.token()
}

// list reads a list: item is called for each and must read it.
func (s *scanner) list(item func(i int)) {
	if s.token() != json.Delim('[') {
		s.fail(s.at+" must be a list", "")
	}
	for i := 0; s.err == nil && s.dec.More(); i++ {
		item(i)
	}
	s.token()
}

// end makes sure that nothing follows.
func (s *scanner) end() {
	if s.err == nil {
		if _, err := s.dec.Token(); err != io.EOF {
			s.fail("something follows the JSON object", "one answer a line")
		}
	}
}

func (s *scanner) text() string {
	t := s.token()
	text, ok := t.(string)
	if !ok || text == "" {
		s.fail(fmt.Sprintf("%s is %v: must be a string that is not empty", s.at, t), "")
	}
	return text
}

func (s *scanner) texts() []string {
	all := []string{}
	s.list(func(int) { all = append(all, s.text()) })
	return all
}

// whole is one of the few numbers that are JSON numbers.
func (s *scanner) whole() *int {
	t := s.token()
	number, _ := t.(json.Number)
	n, err := strconv.Atoi(number.String())
	if err != nil {
		s.fail(fmt.Sprintf("%s is %v: must be a JSON number, and whole", s.at, t), "")
	}
	return &n
}

// digits is the text of a quantity.
func (s *scanner) digits() string {
	t := s.token()
	text, ok := t.(string)
	if number, is := t.(json.Number); is {
		s.fail(fmt.Sprintf("%s is the number %s", s.at, number), hintStrings)
	} else if !ok {
		s.fail(fmt.Sprintf("%s is %v: must be a string of decimal digits", s.at, t), "")
	}
	return text
}

func (s *scanner) number() *Number {
	text := s.digits()
	n, ok := canonical(text)
	if !ok {
		s.fail(fmt.Sprintf("%s is %q: must be a canonical decimal from 0 to 2^64-1", s.at, text), "")
	}
	return &n
}

func (s *scanner) wait() *Wait {
	text := s.digits()
	w, ok := canonicalWait(text)
	if !ok {
		s.fail(fmt.Sprintf(`%s is %q: must be a canonical decimal from 0 to 2^63-1, or "-1" for never`, s.at, text), "")
	}
	return &w
}

// canonical reads digits without a sign, a leading zero or anything else.
func canonical(text string) (n Number, ok bool) {
	v, err := strconv.ParseUint(text, 10, 64)
	return Number(v), err == nil && (text[0] != '0' || len(text) == 1)
}

func canonicalWait(text string) (w Wait, ok bool) {
	if text == "-1" {
		return Never, true
	}
	n, ok := canonical(text)
	return Wait(n), ok && n < 1<<63
}

// hello reads the answer to hello; has are the names of the fields that it knows.
func (s *scanner) hello() (h Hello, has []string) {
	s.object(func(name string) bool {
		has = append(has, name)
		switch name {
		case "protocol":
			h.Protocol = *s.whole()
		case "name":
			h.Name = s.text()
		case "version":
			h.Version = s.text()
		case "language":
			h.Language = s.text()
		case "policies":
			h.Policies = s.texts()
		case "can":
			h.Can = s.texts()
		case "max_keys":
			h.MaxKeys = s.digits()
		default:
			return false
		}
		return true
	})
	s.end()
	return h, has
}

// answer reads any other answer.
func (s *scanner) answer() (a answer) {
	s.object(func(name string) bool {
		switch name {
		case "seq":
			a.seq = s.whole()
		case "results":
			a.Results = s.results()
		case "config_error":
			a.ConfigError = s.text()
		case "skipped":
			a.Skipped = s.text()
		case "error":
			a.Error = s.text()
		case "key":
			a.key = s.number()
		case "cmd":
			s.fail("cmd stands in an answer", "an echo of the request?")
		default:
			return false
		}
		return true
	})
	s.end()
	return a
}

func (s *scanner) results() []Want {
	all := []Want{}
	s.list(func(i int) {
		w := s.want()
		if s.err != nil && s.err.text != "" {
			s.err.text = fmt.Sprintf("result %d: %s", i, s.err.text)
		}
		all = append(all, w)
	})
	return all
}

func (s *scanner) want() (w Want) {
	s.object(func(name string) bool {
		switch name {
		case "outcome":
			w.Outcome = s.text()
		case "remaining":
			w.Remaining = s.number()
		case "retry_after":
			w.RetryAfter = s.wait()
		case "reset_after":
			w.ResetAfter = s.number()
		case "delay":
			w.Delay = s.number()
		case "binding":
			w.Binding = s.text()
		case "keys":
			w.Keys = s.number()
		default:
			return false
		}
		return true
	})
	return w
}
