package vectorgen

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"weir/internal/oracle"
	"weir/policy"
	"weir/vectors"
)

// Rooms of the tables that a case of max_keys "*" is tried on, besides an unbounded one.
const (
	usualRoom = 1024
	smallRoom = 12
)

// answer puts a row through all its voices and makes the case of it.
func answer(b book, categoryName string, r row) (vectors.Case, error) {
	done := vectors.Case{ID: b.policy + "/" + categoryName + "/" + r.name, Comment: r.comment, Rules: r.rules,
		Kills: r.kills, Params: r.params, MaxKeys: r.maxKeys}
	if r.comment == "" || len(r.rules) == 0 {
		return done, errors.New("a case needs a comment and a rule")
	}
	voices, code, err := audience(b, r)
	if err != nil {
		return done, err
	}
	if code != r.refused {
		return done, fmt.Errorf("config_error: both say %q, expected is %q", code, r.refused)
	}
	if done.ConfigError = code; code == "" {
		if done.Steps, err = play(b.policy, voices, r.steps); err != nil {
			return done, err
		}
	}
	done.Needs = needs(b.policy, done)
	return done, nil
}

// audience makes everybody who has to agree on a row: production and the model, on every kind of table that the row
// leaves open. code is the word with which all of them refuse the limit.
func audience(b book, r row) (voices []*voice, code string, err error) {
	fills := slices.ContainsFunc(r.steps, func(s vectors.Step) bool { return s.Op == "fill" })
	l := r.params.Limit()
	var codes []string
	add := func(name string, e engine, room uint64, err error) {
		voices = append(voices, &voice{name: name, engine: e, room: room})
		codes = append(codes, refusal(err))
	}
	pair := func(o policy.Options) {
		p, err := newProduction(b.make, l, o)
		add(fmt.Sprintf("production (%d keys)", o.MaxKeys), p, o.MaxKeys, err)
		m, err := oracle.New(b.policy, l, o.Bounded, o.MaxKeys)
		add(fmt.Sprintf("oracle (%d keys)", o.MaxKeys), model{m: m}, o.MaxKeys, err)
	}
	switch {
	case r.maxKeys != "*":
		n, err := strconv.ParseUint(r.maxKeys, 10, 64)
		if err != nil {
			return nil, "", err
		}
		pair(policy.Options{MaxKeys: n, Bounded: true})
	case fills:
		pair(policy.Options{MaxKeys: usualRoom, Bounded: true})
		pair(policy.Options{MaxKeys: smallRoom, Bounded: true})
	default:
		pair(policy.Options{})
		pair(policy.Options{MaxKeys: usualRoom, Bounded: true})
		m, err := oracle.New(b.policy, l, false, 0)
		add("oracle (drops idle keys)", model{m: m, eager: true}, 0, err)
	}
	for i, c := range codes {
		if c != codes[0] {
			return nil, "", fmt.Errorf("config_error: %s %q, %s %q", voices[0].name, codes[0], voices[i].name, c)
		}
	}
	return voices, codes[0], nil
}

// refusal is the word of err; an error that has none is shown whole, so that no case expects it.
func refusal(err error) string {
	if err == nil {
		return ""
	}
	if code := codeOf(err); code != "" {
		return code
	}
	return err.Error()
}

// play takes the steps through all voices, and puts the two probes behind every denial.
func play(name string, voices []*voice, steps []vectors.Step) ([]vectors.Step, error) {
	if len(steps) == 0 {
		return nil, errors.New("no steps")
	}
	var out []vectors.Step
	for i, s := range steps {
		w, err := agree(name, voices, s)
		if err != nil {
			return nil, fmt.Errorf("step %d (%s, %d in the file): %w", i, s.Op, len(out), err)
		}
		pinned := s.Want
		if s.Want = &w; s.Op == "fill" {
			s.Want = nil
		}
		if pinned != nil {
			if err := differ("pinned", *pinned, "answered", w, true); err != nil {
				return nil, fmt.Errorf("step %d (%s, %d in the file): %w", i, s.Op, len(out), err)
			}
		}
		out = append(out, s)
		if w.Outcome != policy.Deny.String() {
			continue
		}
		probed, err := probe(name, voices, s)
		if err != nil {
			return nil, fmt.Errorf("step %d (%s, %d in the file): %w", i, s.Op, len(out), err)
		}
		out = append(out, probed...)
	}
	return out, nil
}

// probe peeks one tick before the moment that a denial promised, and at it. It is left out where that moment lies
// beyond the horizon.
func probe(name string, voices []*voice, denied vectors.Step) ([]vectors.Step, error) {
	due := uint64(*denied.Now) + uint64(*denied.Want.RetryAfter)
	if due > voices[0].horizon() {
		return nil, nil
	}
	var out []vectors.Step
	for _, p := range []struct {
		now     uint64
		outcome string
	}{{due - 1, "deny"}, {due, "allow"}} {
		s := vectors.Step{Op: "peek", Now: num(p.now), Key: denied.Key, Cost: denied.Cost, Cost2: denied.Cost2}
		w, err := agree(name, voices, s)
		if err != nil {
			return nil, fmt.Errorf("probe at %d: %w", p.now, err)
		}
		if w.Outcome != p.outcome {
			return nil, fmt.Errorf("probe at %d: %s, must be %s", p.now, w.Outcome, p.outcome)
		}
		s.Want = &w
		out = append(out, s)
	}
	return out, nil
}

// agree asks every voice and answers what all of them say.
func agree(name string, voices []*voice, s vectors.Step) (vectors.Want, error) {
	first, err := voices[0].do(name, s)
	if err != nil {
		return first, err
	}
	for _, v := range voices[1:] {
		w, err := v.do(name, s)
		if err == nil {
			err = differ(voices[0].name, first, v.name, w, false)
		}
		if err != nil {
			return first, err
		}
	}
	return first, nil
}

// differ names the first field in which two answers differ; if partial, of those that a has.
func differ(nameA string, a vectors.Want, nameB string, b vectors.Want, partial bool) error {
	left, right := shown(a), shown(b)
	for i, field := range []string{"outcome", "remaining", "retry_after", "reset_after", "delay", "binding", "keys"} {
		if left[i] != right[i] && !(partial && left[i] == "") {
			return fmt.Errorf("%s: %s %s, %s %s", field, nameA, left[i], nameB, right[i])
		}
	}
	return nil
}

func shown(w vectors.Want) [7]string {
	retry := ""
	if w.RetryAfter != nil {
		if retry = strconv.FormatUint(uint64(*w.RetryAfter), 10); *w.RetryAfter == never {
			retry = "-1"
		}
	}
	n := func(n *vectors.Number) string {
		if n == nil {
			return ""
		}
		return strconv.FormatUint(uint64(*n), 10)
	}
	return [7]string{w.Outcome, n(w.Remaining), retry, n(w.ResetAfter), n(w.Delay), w.Binding, n(w.Keys)}
}
