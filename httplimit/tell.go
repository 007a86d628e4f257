package httplimit

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"weir"
	"weir/policy"
)

// field is a header field that every answer may have.
type field uint8

const (
	policyField field = iota
	limitField
	retryField
	typeField
	cacheField
	manyFields
)

// fieldNames are as http.Header has them.
var fieldNames = [manyFields]string{"Ratelimit-Policy", "Ratelimit", "Retry-After", "Content-Type", "Cache-Control"}

// tell writes the fields, and the answer to a request that is not to go on.
func (m *Middleware) tell(w http.ResponseWriter, all []weighed, ok bool) {
	if len(all) == 0 {
		return
	}
	h := w.Header()
	var memory [400]byte
	var marks marks
	text := memory[:0]
	if m.forms[RateLimit] {
		text = m.draft(text, &marks, all)
	}
	if !ok {
		text = refusal(text, &marks, all)
	}
	marks.put(h, text)
	m.older(h, all, ok)
	if ok {
		return
	}
	status, body := answerTo(all)
	h.Del("Content-Length")
	h.Del("Content-Encoding")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // who does not listen any more need not be told
}

// marks are where the values of header fields end in a text, so that all of them cost two allocations: one for the text and
// one for their slices.
type marks struct {
	ends  [manyFields]int
	which [manyFields]field
	n     int
}

// end says that the text since the last end is the value of a field; an empty one is left out.
func (m *marks) end(text []byte, which field) {
	start := 0
	if m.n > 0 {
		start = m.ends[m.n-1]
	}
	if len(text) > start {
		m.which[m.n], m.ends[m.n] = which, len(text)
		m.n++
	}
}

// put sets the fields. RateLimit fields are lists: those of a middleware around this one stay.
func (m *marks) put(h http.Header, all []byte) {
	if m.n == 0 {
		return
	}
	text, values, start := string(all), make([]string, m.n), 0
	for i, which := range m.which[:m.n] {
		name := fieldNames[which]
		values[i] = text[start:m.ends[i]]
		start = m.ends[i]
		if before := h[name]; len(before) > 0 && which <= limitField {
			h[name] = append(before[:len(before):len(before)], values[i])
		} else {
			h[name] = values[i : i+1 : i+1]
		}
	}
}

// draft writes the RateLimit fields. A limiter that had no answer has a policy and no standing.
func (m *Middleware) draft(text []byte, marks *marks, all []weighed) []byte {
	for i := range all {
		a := &all[i]
		text = separate(text, i > 0)
		text = appendPolicies(text, a.rule.Name, a.ask.Limiter.Limit(), isWindow(a.ask.Limiter), m.partition(a))
	}
	marks.end(text, policyField)
	told := false
	for i := range all {
		if a := &all[i]; !unanswered(a.answer) {
			text = separate(text, told)
			text = appendStanding(text, a.rule.Name, a.answer, m.partition(a))
			told = true
		}
	}
	marks.end(text, limitField)
	return text
}

func separate(text []byte, again bool) []byte {
	if again {
		return append(text, ", "...)
	}
	return text
}

func (m *Middleware) partition(a *weighed) partition { return partition{m.secret, a.ask.Key} }

// isWindow says whether a limiter is a sliding log, which has no burst but its permits.
func isWindow(l weir.Limiter) bool {
	named, ok := l.(interface{ Name() string })
	return ok && named.Name() == "slidinglog"
}

// refusal writes the fields of an answer to a request that is not to go on.
func refusal(text []byte, marks *marks, all []weighed) []byte {
	if wait := retryAfter(all); wait > 0 {
		text = strconv.AppendUint(text, wait, 10)
	}
	marks.end(text, retryField)
	text = append(text, "application/problem+json"...)
	marks.end(text, typeField)
	text = append(text, "no-store"...)
	marks.end(text, cacheField)
	return text
}

// retryAfter is in how many seconds a request may come again, at least 1 and not before the t of any limit that denied it;
// 0 if no wait helps or none is known.
func retryAfter(all []weighed) (wait uint64) {
	for i := range all {
		r := all[i].answer
		switch {
		case r.Outcome() == policy.TooCostly:
			return 0
		case r.Outcome() == policy.Deny:
			wait = max(wait, 1, seconds(r.RetryAfter()), seconds(r.Next()))
		}
	}
	return wait
}

// older writes the forms that tell of one rule only.
func (m *Middleware) older(h http.Header, all []weighed, ok bool) {
	if !m.forms[RateLimitTriple] && !m.forms[XRateLimit] && !m.forms[XRateLimitEpoch] {
		return
	}
	a := bindingOf(all, ok)
	if a == nil {
		return
	}
	limit := a.ask.Limiter.Limit()
	q := quotaOf(limit.Permits, limit.Burst, limit.Period, isWindow(a.ask.Limiter))
	if a.answer.Binding() == policy.Second {
		q = quotaOf(limit.Permits2, limit.Burst2, limit.Period2, false)
	}
	reset := a.answer.ResetAfter()
	if m.forms[RateLimitTriple] {
		setThree(h, "Ratelimit-", q.permits, a.answer.Remaining(), seconds(reset))
	}
	if m.forms[XRateLimit] {
		setThree(h, "X-Ratelimit-", q.permits, a.answer.Remaining(), seconds(reset))
	}
	if m.forms[XRateLimitEpoch] {
		setThree(h, "X-Ratelimit-", q.permits, a.answer.Remaining(), epoch(time.Now(), reset))
	}
}

// epoch is a wait from now on in seconds since 1970, rounded up.
func epoch(now time.Time, wait time.Duration) uint64 {
	return uint64(max(0, now.Unix())) + seconds(min(wait, weir.Never-time.Second)+time.Duration(now.Nanosecond()))
}

func setThree(h http.Header, prefix string, limit, remaining, reset uint64) {
	h[prefix+"Limit"] = []string{strconv.FormatUint(limit, 10)}
	h[prefix+"Remaining"] = []string{strconv.FormatUint(remaining, 10)}
	h[prefix+"Reset"] = []string{strconv.FormatUint(reset, 10)}
}

// bindingOf is the rule that the older forms tell of, nil if there is none to tell of.
func bindingOf(all []weighed, ok bool) (binding *weighed) {
	for i := range all {
		a := &all[i]
		switch {
		case unanswered(a.answer) || !ok && a.answer.OK():
		case binding == nil,
			ok && a.answer.Remaining() < binding.answer.Remaining(),
			!ok && a.answer.RetryAfter() > binding.answer.RetryAfter():
			binding = a
		}
	}
	return binding
}

// The types of problems are the draft's.
const problemTypes = "https://iana.org/assignments/http-problem-types#"

type problem struct {
	Type     string   `json:"type"`
	Title    string   `json:"title"`
	Status   int      `json:"status"`
	Violated []string `json:"violated-policies"`
}

// denial is the body that says that these rules denied a request, for one of the reasons that requests are not allowed for.
func denial(why policy.Outcome, rules ...string) string {
	p := problem{problemTypes + "quota-exceeded", "Too many requests: this one comes too early", http.StatusTooManyRequests, rules}
	switch why {
	case policy.Deny:
	case policy.TooCostly:
		p.Title = "This request costs more than its limit can ever allow"
	default:
		p.Type, p.Title = problemTypes+"temporary-reduced-capacity", "The limit of this request cannot be told now"
		p.Status = http.StatusServiceUnavailable
	}
	body, _ := json.Marshal(p) // strings and a number
	return string(body) + "\n"
}

// answerTo is the answer to a refused request: that it was denied, if any rule said so.
func answerTo(all []weighed) (status int, body string) {
	why := policy.Unavailable
	for i := range all {
		switch o := all[i].answer.Outcome(); {
		case o == policy.TooCostly, o == policy.Deny && why == policy.Unavailable:
			why = o
		}
	}
	status = http.StatusTooManyRequests
	if why == policy.Unavailable {
		status = http.StatusServiceUnavailable
	}
	at, count := faults(all, why == policy.Unavailable)
	switch {
	case count > 1 || why == policy.Unavailable || at.answer.Binding() == policy.Second:
		return status, denial(why, namesOf(all, why == policy.Unavailable)...)
	case why == policy.TooCostly:
		return status, at.rule.tooCostly
	}
	return status, at.rule.denied
}

// faulty says whether a rule is at fault: it had no answer, or else it denied.
func (a *weighed) faulty(unavailable bool) bool {
	return !a.answer.OK() && unanswered(a.answer) == unavailable
}

// faults is how many rules are at fault, and the last of them.
func faults(all []weighed, unavailable bool) (last *weighed, count int) {
	for i := range all {
		if all[i].faulty(unavailable) {
			last, count = &all[i], count+1
		}
	}
	return last, count
}

func namesOf(all []weighed, unavailable bool) (names []string) {
	for i := range all {
		if all[i].faulty(unavailable) {
			names = append(names, nameOf(all[i].rule.Name, all[i].answer))
		}
	}
	return names
}
