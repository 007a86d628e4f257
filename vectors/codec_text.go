package vectors

import (
	"bytes"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// maxTextLine is the longest line of plain text, its newline not counted.
const maxTextLine = 255

// textCodec is protocol 1 in plain text.
type textCodec struct{}

func (textCodec) hello(suite string) []byte {
	return fmt.Appendf(nil, "hello %d %s\n", Protocol, suite)
}
func (textCodec) bye() []byte { return []byte("bye\n") }

func (textCodec) hash(seq int, q HashRequest) ([]byte, error) {
	line := hashLine(seq, q)
	if len(line) > maxTextLine {
		return nil, &DriverError{Verdict: Unsupported,
			Text: fmt.Sprintf("a line of plain text has at most %d characters: this input is too long", maxTextLine)}
	}
	return []byte(line + "\n"), nil
}

// parts is all of a case at once: its lines are short, and a port may answer each as it comes.
func (textCodec) parts(seq int, q Request) iter.Seq[part] {
	return func(yield func(part) bool) {
		b := append(caseLine(seq, q.Policy, q.MaxKeys, q.Params), '\n')
		for i, s := range q.Steps {
			b = append(appendStepLine(b, i, s), '\n')
		}
		b = fmt.Appendf(b, "end %d\n", seq)
		yield(part{request: b, seq: seq, steps: len(q.Steps), last: true})
	}
}

func caseLine(seq int, policy, maxKeys string, p Params) []byte {
	return appendParams(fmt.Appendf(nil, "case %d %s %s", seq, policy, maxKeys), p)
}

func appendParams(b []byte, p Params) []byte {
	for _, n := range []*Number{p.Permits, p.Period, p.Burst, p.Permits2, p.Period2, p.Burst2} {
		b = appendWord(b, n)
	}
	return b
}

// appendWord appends a space and a number, or "-" for none.
func appendWord(b []byte, n *Number) []byte {
	b = append(b, ' ')
	if n == nil {
		return append(b, '-')
	}
	return strconv.AppendUint(b, uint64(*n), 10)
}

func appendStepLine(b []byte, i int, s Step) []byte {
	b = append(b, "step "...)
	b = strconv.AppendInt(b, int64(i), 10)
	b = append(append(b, ' '), s.Op...)
	for _, n := range []*Number{s.Now, s.Key, s.Cost, s.Cost2} {
		b = appendWord(b, n)
	}
	if s.Op == "relimit" {
		b = appendParams(b, *s.Params)
	}
	return b
}

func hashLine(seq int, q HashRequest) string {
	if q.Hash == CanMix32 {
		return fmt.Sprintf("hash %d mix32 %d", seq, *q.In)
	}
	return fmt.Sprintf("hash %d xxh64 %s %d", seq, orDash(*q.Hex), *q.Seed)
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// textReader reads the lines of one answer.
type textReader struct {
	next nextLine
	line []byte
	seq  string
}

// words is the next line, taken apart.
func (r *textReader) words() ([]string, error) {
	line, err := r.next()
	if err != nil {
		return nil, err
	}
	r.line = line
	if len(line) > maxTextLine {
		return nil, r.bad(fmt.Sprintf("a line of %d characters: at most %d", len(line), maxTextLine), "")
	}
	words := strings.Split(string(line), " ")
	switch {
	case len(line) > 0 && line[0] == '{':
		return nil, r.bad("not a line of plain text", hintJSON)
	case contains(words, ""):
		return nil, r.bad("words must stand with single spaces between", "")
	}
	return words, nil
}

func (r *textReader) bad(text, hint string) error {
	return (&fault{text, hint}).about(r.line, hintOutput)
}

// wrong is bad for a line that has another form.
func (r *textReader) wrong(form string) error { return r.bad("must be "+form, "") }

// mine makes sure that the line answers the request.
func (r *textReader) mine(seq string) error {
	if seq != r.seq {
		return r.bad(fmt.Sprintf("seq %s answered with %s", r.seq, seq), hintSeq)
	}
	return nil
}

func (textCodec) readHello(next nextLine) (h Hello, err error) {
	r := textReader{next: next}
	words, err := r.words()
	if known, ok := err.(*DriverError); ok && known.Verdict == ProtocolError && known.Hint == hintOutput {
		known.Hint = hintBanner
	}
	if err != nil {
		return Hello{}, err
	}
	if len(words) != 5 || words[0] != "hello" {
		return Hello{}, r.bad("must be hello 1 NAME VERSION LANGUAGE", hintBanner)
	}
	if h.Protocol, err = strconv.Atoi(words[1]); err != nil {
		return Hello{}, r.bad("protocol must be a number", "")
	}
	h.Name, h.Version, h.Language = words[2], words[3], words[4]
	for range 100 {
		words, err := r.words()
		switch {
		case err != nil:
			return Hello{}, err
		case words[0] == "policies":
			h.Policies = words[1:]
		case words[0] == "can":
			h.Can = words[1:]
		case words[0] == "max_keys" && len(words) == 2:
			h.MaxKeys = words[1]
		case words[0] == "." && len(words) == 1:
			if h.Policies == nil || h.Can == nil || h.MaxKeys == "" {
				return Hello{}, r.bad("a line is missing before the end of hello: there must be policies, can and max_keys", "")
			}
			return h, nil
		}
	}
	return Hello{}, r.bad("the answer to hello must end with a line that is a full stop", "")
}

func (textCodec) readReply(next nextLine, of part) (Reply, error) {
	r := textReader{next: next, seq: strconv.Itoa(of.seq)}
	reply := Reply{Results: make([]Want, 0, min(of.steps, maxChunk))}
	ending, done := false, 0 // after x, s or !; results that are done with
	for range 2*of.steps + 100 {
		words, err := r.words()
		if err != nil {
			return reply, err
		}
		switch words[0] {
		case "r", "k":
			var w Want
			if w, err = r.result(words, done+len(reply.Results), of.steps); err == nil {
				reply.Results = append(reply.Results, w)
			}
			if err == nil && of.each != nil {
				had := len(reply.Results)
				reply.Results, err = of.each(reply.Results)
				done += had - len(reply.Results)
			}
		case "x", "s", "!":
			ending = true
			err = r.instead(words, &reply)
		case "end":
			return r.end(words, reply, ending, done, of)
		default:
			err = r.bad("begins with none of r, k, x, s, ! and end", "")
		}
		if err != nil {
			return reply, err
		}
	}
	return reply, r.bad("too many lines and no end", "an answer ends with a line: end "+r.seq)
}

// end is the end of an answer.
func (r *textReader) end(words []string, reply Reply, ending bool, done int, of part) (Reply, error) {
	if len(words) != 2 {
		return reply, r.wrong("end SEQ")
	}
	if err := r.mine(words[1]); err != nil {
		return reply, err
	}
	if ending {
		reply.Results = nil
	} else if n := done + len(reply.Results); n != of.steps {
		return reply, miscount(n, of)
	}
	return reply, nil
}

// result is the answer to one step.
func (r *textReader) result(words []string, i, steps int) (w Want, err error) {
	if words[0] == "k" && len(words) != 4 {
		return w, r.wrong("k SEQ I KEYS")
	}
	if words[0] == "r" && len(words) != 9 {
		return w, r.wrong("r SEQ I OUTCOME REMAINING RETRY_AFTER RESET_AFTER DELAY BINDING")
	}
	if err := r.mine(words[1]); err != nil {
		return w, err
	}
	switch {
	case i == steps:
		return w, r.bad(fmt.Sprintf("one more answer than the %d steps", steps), hintCount)
	case words[2] != strconv.Itoa(i):
		return w, r.bad(fmt.Sprintf("step %d answered with %s", i, words[2]), hintCount)
	case words[0] == "k":
		w.Keys, err = r.number("keys", words[3])
		return w, err
	}
	w.Outcome, w.Binding = orAbsentWord(words[3]), orAbsentWord(words[8])
	for _, f := range []struct {
		name, text string
		to         **Number
	}{{"remaining", words[4], &w.Remaining}, {"reset_after", words[6], &w.ResetAfter}, {"delay", words[7], &w.Delay}} {
		if *f.to, err = r.number(f.name, f.text); err != nil {
			return w, err
		}
	}
	if words[5] != "-" {
		wait, ok := canonicalWait(words[5])
		if !ok {
			return w, r.bad("retry_after must be a canonical decimal from 0 to 2^63-1, or -1 for never", "")
		}
		w.RetryAfter = &wait
	}
	return w, nil
}

func (r *textReader) number(name, text string) (*Number, error) {
	if text == "-" {
		return nil, nil
	}
	n, ok := canonical(text)
	if !ok {
		return nil, r.bad(name+" must be a canonical decimal from 0 to 2^64-1", "")
	}
	return &n, nil
}

func orAbsentWord(word string) string {
	if word == "-" {
		return ""
	}
	return word
}

// instead is a line that says why there are no results. The first stays.
func (r *textReader) instead(words []string, reply *Reply) error {
	if len(words) < 3 {
		return r.wrong(words[0] + " SEQ and a text")
	}
	if words[0] != "!" || words[1] != "-" { // a line that is not understood may have no seq
		if err := r.mine(words[1]); err != nil {
			return err
		}
	}
	if reply.ConfigError != "" || reply.Skipped != "" || reply.Error != "" {
		return nil
	}
	text := string(bytes.TrimPrefix(r.line, []byte(words[0]+" "+words[1]+" ")))
	switch words[0] {
	case "x":
		reply.ConfigError = text
	case "s":
		reply.Skipped = text
	default:
		reply.Error = text
	}
	return nil
}

func (textCodec) readHash(next nextLine, seq int) (Number, error) {
	r := textReader{next: next, seq: strconv.Itoa(seq)}
	var key *Number
	var reply Reply
	for range 100 {
		words, err := r.words()
		switch {
		case err != nil:
			return 0, err
		case words[0] == "h" && len(words) == 3:
			if err = r.mine(words[1]); err == nil {
				key, err = r.number("key", words[2])
			}
		case words[0] == "!":
			err = r.instead(words, &reply)
		case words[0] == "end" && len(words) == 2:
			if err = r.mine(words[1]); err == nil {
				return hashKey(key, reply.Error)
			}
		default:
			err = r.bad("must be h SEQ KEY, then end SEQ", "")
		}
		if err != nil {
			return 0, err
		}
	}
	return 0, r.bad("too many lines and no end", "")
}

// hashKey is the key of a whole answer.
func hashKey(key *Number, fault string) (Number, error) {
	switch {
	case fault != "":
		return 0, &DriverError{Verdict: ProtocolError, Text: "the hash was not understood: " + fault, inStep: true}
	case key == nil:
		return 0, &DriverError{Verdict: ProtocolError, Text: "there is no key before end", inStep: true}
	}
	return *key, nil
}
