package vectors

import (
	"fmt"
	"strconv"
)

// fieldNames are the fields of an answer in the order in which they are compared and shown.
var fieldNames = [...]string{"outcome", "remaining", "retry_after", "reset_after", "delay", "binding", "keys"}

// values are the fields of w in the order of fieldNames; an absent one is "".
func (w Want) values() [len(fieldNames)]string {
	retry := ""
	if w.RetryAfter != nil {
		retry = waitText(*w.RetryAfter)
	}
	return [...]string{w.Outcome, numberText(w.Remaining), retry, numberText(w.ResetAfter), numberText(w.Delay),
		w.Binding, numberText(w.Keys)}
}

func numberText(n *Number) string {
	if n == nil {
		return ""
	}
	return strconv.FormatUint(uint64(*n), 10)
}

func waitText(w Wait) string {
	if w == Never {
		return "-1"
	}
	return strconv.FormatUint(uint64(w), 10)
}

// judge compares a reply with what the case wants, every field of every step.
func (r Result) judge(c Case, reply Reply) Result {
	switch {
	case reply.Skipped != "":
		return r.verdict(Skipped, reply.Skipped)
	case reply.Error != "":
		r.Hint = "the text is the port's own: it did not know what to make of the request"
		return r.verdict(ProtocolError, "the case was not understood: "+reply.Error)
	case reply.ConfigError != c.ConfigError:
		return r.differs(nil, "new", "config_error", orNone(c.ConfigError), orNone(reply.ConfigError))
	case c.ConfigError != "":
		return r.verdict(Pass, "")
	case len(reply.Results) != len(r.steps):
		r.Hint = hintCount
		return r.verdict(ProtocolError, fmt.Sprintf("%d results for %d steps", len(reply.Results), len(r.steps)))
	}
	r.got = reply.Results
	for i, e := range r.steps {
		want, got := e.want().values(), reply.Results[i].values()
		for f, name := range fieldNames {
			if want[f] != "" && want[f] != got[f] {
				return r.differs(&e, e.Step.Op, name, want[f], orAbsent(got[f]))
			}
		}
	}
	return r.verdict(Pass, "")
}

// want is what the step must answer; nothing if the case was made without it.
func (e Expanded) want() Want {
	if e.Step.Want == nil {
		return Want{}
	}
	return *e.Step.Want
}

func orNone(word string) string {
	if word == "" {
		return "none"
	}
	return word
}

func orAbsent(value string) string {
	if value == "" {
		return "absent"
	}
	return value
}

func (r Result) verdict(v Verdict, why string) Result {
	r.Verdict, r.Why = v, Clean(why)
	return r
}

// differs is a failure: at a step, or of the case as a whole if at is nil.
func (r Result) differs(at *Expanded, op, field, wanted, got string) Result {
	r.Op, r.Field, r.Wanted, r.Got = op, field, wanted, Clean(got)
	where := op
	if at != nil {
		step := at.From
		r.Step = &step
		where = fmt.Sprintf("step %d, %s", step, op)
	}
	return r.verdict(Fail, fmt.Sprintf("%s: %s: wanted %s, got %s", where, field, wanted, r.Got))
}
