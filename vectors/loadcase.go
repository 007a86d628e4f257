package vectors

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Words that a file may use.
var (
	outcomeWords = []string{"allow", "deny", "too_costly", "full", "past_horizon"}
	bindingWords = []string{"first", "second"}
	configWords  = []string{"unknown_policy", "invalid_second", "invalid_permits", "invalid_period", "invalid_burst",
		"limit_too_large", "invalid_max_keys"}
)

// kind is what sort of answer an operation has.
type kind int

const (
	noAnswer kind = iota
	decision      // the whole of Want
	outcome
	keyCount
)

// operation is what a step of that op must carry, and how it is answered.
type operation struct {
	needs    []string
	answer   kind
	outcomes []string // the words its outcome may have
}

var operations = map[string]operation{
	"take":    {[]string{"now", "key", "cost"}, decision, outcomeWords},
	"peek":    {[]string{"now", "key", "cost"}, decision, outcomeWords},
	"refund":  {[]string{"now", "key", "cost"}, outcome, []string{"allow", "past_horizon"}},
	"forget":  {[]string{"key"}, outcome, []string{"allow"}},
	"relimit": {[]string{"now", "params"}, outcome, append([]string{"allow", "past_horizon"}, configWords...)},
	"sweep":   {[]string{"now"}, keyCount, nil},
	"keys":    {nil, keyCount, nil},
	"fill":    {[]string{"now", "leave"}, noAnswer, nil},
}

var opNames = []string{"take", "peek", "refund", "forget", "sweep", "keys", "relimit", "fill"}

// file reads a file of cases.
func (l *loader) file(r *reader) File {
	r.need("policy", "category", "cases")
	f := File{Format: Format, Policy: r.word("policy", Policies()), Category: r.text("category")}
	if r.err == nil && !isName(f.Category) {
		r.fail("category", "must be a name: %s", nameRule)
	}
	for _, raw := range r.items("cases") {
		if r.err != nil {
			break
		}
		f.Cases = append(f.Cases, l.readCase(r, f, raw))
	}
	if r.err == nil && len(f.Cases) == 0 {
		r.fail("cases", "must hold at least one case")
	}
	return f
}

// readCase reads one case; its fault becomes the file's.
func (l *loader) readCase(file *reader, f File, raw json.RawMessage) Case {
	r := read(file.at, raw)
	defer func() { file.err = r.err }()
	r.need("id")
	c := Case{ID: r.text("id"), Comment: r.text("comment")}
	r.at.id = c.ID
	l.claim(r, f.Policy+"/"+f.Category+"/", c.ID)
	r.need("params", "max_keys")
	c.Rules = r.texts("rules", func(s string) bool { _, ok := l.rules[s]; return ok }, "names a rule that rules.json lacks")
	c.Kills = r.texts("kills", isName, "must be names: "+nameRule)
	c.Needs = r.texts("needs", func(s string) bool { return contains(Capabilities()[:8], s) },
		"must be some of "+list(Capabilities()[:8]))
	c.MaxKeys = readMaxKeys(r)
	c.Params = readParams(r)
	if r.has("config_error") == r.has("steps") {
		r.fail("config_error", "a case has either steps or a config_error")
	}
	c.ConfigError = r.word("config_error", configWords)
	steps := r.items("steps")
	if r.err == nil && r.has("steps") && len(steps) == 0 {
		r.fail("steps", "must hold at least one step")
	}
	for i, raw := range steps {
		if r.err != nil {
			break
		}
		c.Steps = append(c.Steps, readStep(r, f.Policy, c.MaxKeys, i, raw))
	}
	checkFills(r, c)
	return c
}

// claim checks a case's id: under the prefix, well formed, and nobody else's.
func (l *loader) claim(r *reader, prefix, id string) {
	name, found := strings.CutPrefix(id, prefix)
	switch {
	case r.err != nil:
	case !found || !isName(name):
		r.fail("id", "must be %sNAME, where NAME is %s", prefix, nameRule)
	case l.seen[id] != "":
		r.fail("id", "is taken by a case in %s", l.seen[id])
	default:
		l.seen[id] = r.at.file
	}
}

// checkFills makes sure that a case of a stated max_keys can be expanded; one of "*" depends on the port.
func checkFills(r *reader, c Case) {
	rooms, err := strconv.ParseUint(c.MaxKeys, 10, 64)
	if r.err != nil || err != nil {
		rooms = fillAny
	}
	if r.err == nil {
		if _, err := expand(c.Steps, rooms); err != nil && !errors.Is(err, errLargeFill) {
			r.fail("steps", "%v", err)
		}
	}
}

func readMaxKeys(r *reader) string {
	if string(r.fields["max_keys"]) == `"*"` {
		return "*"
	}
	if n := r.number("max_keys", math.MaxInt64); n != nil {
		return strconv.FormatUint(uint64(*n), 10)
	}
	return ""
}

// readParams reads the field params, which every policy may leave parts out of.
func readParams(r *reader) Params {
	if r.err != nil || !r.has("params") {
		return Params{}
	}
	at := r.at
	at.prefix = "params."
	in := read(at, r.fields["params"])
	p := Params{
		in.number("permits", math.MaxInt64), in.number("period", math.MaxInt64), in.number("burst", math.MaxInt64),
		in.number("permits2", math.MaxInt64), in.number("period2", math.MaxInt64), in.number("burst2", math.MaxInt64),
	}
	r.err = in.err
	return p
}

// readStep reads step i of a case; its fault becomes the case's.
func readStep(of *reader, policy, maxKeys string, i int, raw json.RawMessage) Step {
	at := of.at
	at.step = i
	r := read(at, raw)
	defer func() { of.err = r.err }()
	r.need("op")
	s := Step{Op: r.word("op", opNames)}
	op := operations[s.Op]
	r.need(op.needs...)
	s.Now = r.number("now", math.MaxInt64)
	s.Key = r.number("key", math.MaxUint64)
	s.Cost = r.number("cost", math.MaxInt64)
	s.Cost2 = r.number("cost2", math.MaxInt64)
	s.Leave = r.number("leave", math.MaxInt64)
	if s.Cost2 != nil && policy != "dualbucket" {
		r.fail("cost2", "only a dual bucket has a second cost")
	}
	if s.Op == "keys" && maxKeys == "*" {
		r.fail("op", "keys stands only in a case with a number for max_keys")
	}
	if r.has("params") {
		p := readParams(r)
		s.Params = &p
	}
	s.Want = readWant(r, op, policy)
	return s
}

// readWant reads what a step must answer, whole for its operation and policy.
func readWant(of *reader, op operation, policy string) *Want {
	if of.err != nil || op.answer == noAnswer {
		return nil
	}
	of.need("want")
	if of.err != nil {
		return nil
	}
	at := of.at
	at.prefix = "want."
	r := read(at, of.fields["want"])
	defer func() { of.err = r.err }()
	if op.answer == keyCount {
		r.need("keys")
		return &Want{Keys: r.number("keys", math.MaxInt64)}
	}
	r.need("outcome")
	w := &Want{Outcome: r.word("outcome", op.outcomes)}
	if op.answer == outcome {
		return w
	}
	r.need("remaining", "retry_after", "reset_after")
	w.Remaining = r.number("remaining", math.MaxInt64)
	w.RetryAfter = r.wait("retry_after")
	w.ResetAfter = r.number("reset_after", math.MaxInt64)
	switch policy {
	case "leakybucket":
		r.need("delay")
		w.Delay = r.number("delay", math.MaxInt64)
	case "dualbucket":
		r.need("binding")
		w.Binding = r.word("binding", bindingWords)
	}
	return w
}

// hashFile reads a file of hash vectors.
func (l *loader) hashFile(r *reader) HashFile {
	r.need("cases")
	h := HashFile{Format: Format, Hash: r.word("hash", []string{CanXXH64, CanMix32})}
	for _, raw := range r.items("cases") {
		if r.err != nil {
			break
		}
		h.Cases = append(h.Cases, l.hashCase(r, h.Hash, raw))
	}
	if r.err == nil && len(h.Cases) == 0 {
		r.fail("cases", "must hold at least one case")
	}
	return h
}

func (l *loader) hashCase(file *reader, hash string, raw json.RawMessage) HashCase {
	r := read(file.at, raw)
	defer func() { file.err = r.err }()
	r.need("id", "want")
	c := HashCase{ID: r.text("id"), Comment: r.text("comment"), Want: r.number("want", math.MaxUint64)}
	r.at.id = c.ID
	l.claim(r, "hash/"+hash+"/", c.ID)
	if hash == CanMix32 {
		r.need("in")
		c.In = r.number("in", math.MaxUint32)
		return c
	}
	r.need("hex", "seed")
	c.Seed = r.number("seed", math.MaxUint64)
	digits := r.text("hex")
	if b, err := hex.DecodeString(digits); r.err == nil && (err != nil || hex.EncodeToString(b) != digits) {
		r.fail("hex", "must be bytes in lower-case hex, two digits each")
	}
	c.Hex = &digits
	return c
}

const nameRule = "lower-case letters, digits, and . _ - after the first, 100 at most"

// isName says whether s can be the last part of an id.
func isName(s string) bool {
	for i, c := range []byte(s) {
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", rune(c))) {
			return false
		}
	}
	return s != "" && len(s) <= 100
}
