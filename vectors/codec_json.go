package vectors

import (
	"encoding/json"
	"fmt"
	"iter"
)

// jsonCodec is protocol 1 in JSON lines.
type jsonCodec struct{}

// jsonLine is v on a line of its own. Only types that cannot fail come here.
func jsonLine(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

func (jsonCodec) hello(suite string) []byte {
	return jsonLine(struct {
		Cmd      string `json:"cmd"`
		Protocol int    `json:"protocol"`
		Suite    string `json:"suite"`
	}{"hello", Protocol, suite})
}

func (jsonCodec) bye() []byte { return []byte(`{"cmd":"bye"}` + "\n") }

func (jsonCodec) hash(seq int, q HashRequest) ([]byte, error) {
	return jsonLine(struct {
		Cmd string `json:"cmd"`
		Seq int    `json:"seq"`
		HashRequest
	}{"hash", seq, q}), nil
}

func (jsonCodec) parts(seq int, q Request) iter.Seq[part] {
	return func(yield func(part) bool) {
		for from := 0; from == 0 || from < len(q.Steps); from += maxChunk {
			to := min(len(q.Steps), from+maxChunk)
			if !yield(jsonPart(seq, q, q.Steps[from:to], from, to == len(q.Steps))) {
				return
			}
		}
	}
}

// jsonPart is the steps of q that begin at from: with the case itself if they are its first.
func jsonPart(seq int, q Request, steps []Step, from int, last bool) part {
	p := part{seq: seq, from: from, steps: len(steps), last: last}
	if from == 0 {
		q.Steps = steps
		p.request = jsonLine(struct {
			Cmd string `json:"cmd"`
			Seq int    `json:"seq"`
			Request
			More bool `json:"more,omitempty"`
		}{"case", seq, q, !last})
		return p
	}
	p.request = jsonLine(struct {
		Cmd   string `json:"cmd"`
		Seq   int    `json:"seq"`
		Steps []Step `json:"steps"`
		More  bool   `json:"more"`
	}{"steps", seq, steps, !last})
	return p
}

func (jsonCodec) readHello(next nextLine) (Hello, error) {
	line, err := next()
	if err != nil {
		return Hello{}, err
	}
	s := scan(line)
	h, has := s.hello()
	for _, name := range []string{"protocol", "name", "version", "language", "policies", "can", "max_keys"} {
		if !contains(has, name) {
			s.fail(name+" is missing in the answer to hello", hintBanner)
		}
	}
	if s.err != nil {
		return Hello{}, s.err.about(line, hintBanner)
	}
	return h, nil
}

// answer is any answer but that to hello.
type answer struct {
	Reply
	seq *int
	key *Number
}

// readAnswer reads one line, the answer to seq. bad is what is wrong with it, in step if it is whole and does answer seq.
func readAnswer(next nextLine, seq int) (a answer, line []byte, bad *DriverError, err error) {
	if line, err = next(); err != nil {
		return answer{}, nil, nil, err
	}
	s := scan(line)
	a = s.answer()
	switch {
	case s.err != nil:
		bad = s.err.about(line, hintOutput)
		var whole struct{ Seq *int }
		bad.inStep = json.Unmarshal(line, &whole) == nil && whole.Seq != nil && *whole.Seq == seq
	case a.seq == nil && a.Error == "":
		bad = (&fault{"seq is missing in the answer", hintSeq}).about(line, "")
	case a.seq != nil && *a.seq != seq:
		bad = (&fault{fmt.Sprintf("seq %d answered with %d", seq, *a.seq), hintSeq}).about(line, "")
	}
	return a, line, bad, nil
}

func (jsonCodec) readReply(next nextLine, of part) (Reply, error) {
	a, line, bad, err := readAnswer(next, of.seq)
	if err != nil {
		return Reply{}, err
	}
	given := 0
	for _, there := range []bool{a.Results != nil, a.ConfigError != "", a.Skipped != "", a.Error != ""} {
		if there {
			given++
		}
	}
	switch {
	case bad != nil:
	case given != 1:
		bad = (&fault{fmt.Sprintf("%d of results, config_error, skipped and error: must be one", given), ""}).about(line, "")
		bad.inStep = of.last
	case a.Results != nil && len(a.Results) != of.steps:
		bad = miscount(len(a.Results), of)
	}
	if bad != nil {
		bad.inStep = bad.inStep && of.last
		return Reply{}, bad
	}
	return a.Reply, nil
}

func (jsonCodec) readHash(next nextLine, seq int) (Number, error) {
	a, line, bad, err := readAnswer(next, seq)
	switch {
	case err != nil:
		return 0, err
	case bad != nil:
		return 0, bad
	case a.key == nil && a.Error != "":
		bad = &DriverError{Verdict: ProtocolError, Text: "the hash was not understood: " + a.Error}
	case a.key == nil:
		bad = (&fault{"key is missing", ""}).about(line, "")
	default:
		return *a.key, nil
	}
	bad.inStep = true
	return 0, bad
}

// miscount is the wrong number of answers, all of one request.
func miscount(got int, of part) *DriverError {
	e := &DriverError{Verdict: ProtocolError, Text: fmt.Sprintf("%d results for %d steps", got, of.steps), inStep: of.last}
	if of.from > 0 || !of.last {
		e.Text += fmt.Sprintf(" from step %d on", of.from)
	}
	e.Hint = hintCount
	return e
}

// The likely causes.
const (
	hintBanner  = "a banner on standard output? Standard output is for protocol only; standard error is free"
	hintOutput  = "does something else write to standard output? It is for protocol only; standard error is free"
	hintSeq     = "one answer too many or too few before? Each answer carries the seq of its request"
	hintCount   = "one answer for each step, in order, one for each sweep, keys, refund, forget and relimit too"
	hintStrings = "numbers must be strings"
	hintText    = "does the port speak plain text? Then say --protocol text"
	hintJSON    = "does the port speak JSON lines? Then do not say --protocol text"
)
