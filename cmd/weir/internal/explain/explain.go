// Package explain tells what a policy does with some requests, step by step: the state before, the sum that decides, the
// state after. The answers are the policy's own. The sums are worked out here once more, after the formulas on the policies'
// pages, over integers of any size; where the two differ there is an error and no explanation.
package explain

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"weir"
	"weir/policy"
	"weir/vectors"
)

// limit is one limit as it is explained.
type limit interface {
	fmt.Stringer
	state(key, now uint64) string
	weigh(key, now, cost uint64) verdict
	spend(key, now, cost uint64)
	refund(key, now, cost uint64)
	forget(key uint64)
	idle(key, now uint64) bool
	keys() []uint64
	relimit(now, permits, period, burst uint64)
	level(key, now uint64, of int64) int64
	horizon() uint64
}

// Story is what is told.
type Story struct {
	// Policy is the name of one of the five, Params its limit in ticks, MaxKeys a number or "*".
	Policy  string
	Params  vectors.Params
	MaxKeys string
	// Steps are what is asked, as a case of the vectors has it. A want is compared.
	Steps []vectors.Step
}

// roomy is the table of a case that does not say how large one is.
const roomy = 64

// Of is the story of a case of the vectors under a policy. The error says why the case cannot be told: it has no steps.
func Of(name string, c vectors.Case) (Story, error) {
	s := Story{Policy: name, Params: c.Params, MaxKeys: c.MaxKeys}
	rooms := uint64(roomy)
	if n, err := strconv.ParseUint(c.MaxKeys, 10, 64); err == nil {
		rooms = n
	} else {
		s.MaxKeys = strconv.Itoa(roomy) // a table that drops no idle key
	}
	steps, err := vectors.Expand(c, rooms)
	if err != nil {
		return s, err
	}
	for _, e := range steps {
		s.Steps = append(s.Steps, e.Step)
	}
	return s, nil
}

// teller tells one story.
type teller struct {
	Story
	to     io.Writer
	limits []limit
}

// Tell writes the story. The error is one line: the limit is refused, a step cannot be done, or the sums do not come to what the
// policy has answered.
func (s Story) Tell(ctx context.Context, to io.Writer) error {
	for i, step := range s.Steps {
		if fault := lacking(step); fault != "" {
			return fmt.Errorf("step %d: %s has no %s", i, step.Op, fault)
		}
	}
	d := vectors.NewRegistryDriver("weir", "go", weir.Registry())
	reply, err := d.Run(ctx, vectors.Request{Policy: s.Policy, Params: s.Params, MaxKeys: s.MaxKeys, Steps: s.Steps})
	switch {
	case err != nil:
		return err
	case reply.ConfigError != "":
		_, err := weir.Registry().New(s.Policy, s.Params.Limit(), policy.Options{})
		if err == nil {
			err = fmt.Errorf("%s: max_keys is %s, must be at least 1", reply.ConfigError, s.MaxKeys)
		}
		return err
	case reply.Error != "":
		return fmt.Errorf("%s", reply.Error)
	}
	t := &teller{Story: s, to: to, limits: limitsOf(s.Policy, s.Params.Limit())}
	t.head()
	for i, step := range s.Steps {
		if err := t.step(i, step, reply.Results[i]); err != nil {
			return err
		}
	}
	return t.timeline(reply.Results)
}

// lacking is the number that a step needs and has not.
func lacking(s vectors.Step) string {
	switch s.Op {
	case "take", "peek", "refund":
		switch {
		case s.Now == nil:
			return "now"
		case s.Key == nil:
			return "key"
		case s.Cost == nil:
			return "cost"
		}
	case "forget":
		if s.Key == nil {
			return "key"
		}
	case "sweep", "relimit":
		if s.Now == nil {
			return "now"
		}
		if s.Op == "relimit" && s.Params == nil {
			return "params"
		}
	}
	return ""
}

func limitsOf(name string, l policy.Limit) []limit {
	switch name {
	case "slidinglog":
		return []limit{&window{l.Permits, l.Period, map[uint64][]entry{}}}
	case "dualbucket":
		return []limit{newBucket(name, l.Permits, l.Period, l.Burst), newBucket(name, l.Permits2, l.Period2, l.Burst2)}
	}
	return []limit{newBucket(name, l.Permits, l.Period, l.Burst)}
}

func (t *teller) head() {
	l := t.Params.Limit()
	fmt.Fprintf(t.to, "%s: %d permits per %d ticks", t.Policy, l.Permits, l.Period)
	if t.Policy != "slidinglog" {
		fmt.Fprintf(t.to, ", burst %d", l.Burst)
	}
	if t.Policy == "dualbucket" {
		fmt.Fprintf(t.to, "; and %d per %d ticks, burst %d", l.Permits2, l.Period2, l.Burst2)
	}
	fmt.Fprintln(t.to)
	t.constants("")
}

func (t *teller) constants(margin string) {
	for i, l := range t.limits {
		fmt.Fprintf(t.to, "%s%s%v\n", margin, t.which(i), l)
	}
}

// which names a limit of two.
func (t *teller) which(i int) string {
	if len(t.limits) == 1 {
		return ""
	}
	return []string{"first: ", "second: "}[i]
}

const margin = "      "

// step tells one step.
func (t *teller) step(i int, s vectors.Step, w vectors.Want) error {
	fmt.Fprintf(t.to, "\n%3d   %s: %s\n", i, asked(s), answered(w))
	var err error
	switch s.Op {
	case "take", "peek":
		err = t.request(i, s, w)
	case "refund":
		t.change(s, w.Outcome == "allow", func(l limit, cost uint64) { l.refund(uint64(*s.Key), uint64(*s.Now), cost) })
	case "forget":
		for _, l := range t.limits {
			l.forget(uint64(*s.Key))
		}
	case "sweep":
		t.sweep(uint64(*s.Now))
	case "relimit":
		if w.Outcome == "allow" {
			t.relimit(uint64(*s.Now), s.Params.Limit())
		}
	}
	if differs := difference(s.Want, w); differs != "" && err == nil {
		fmt.Fprintf(t.to, "%swanted  %s\n", margin, differs)
	}
	return err
}

func costs(s vectors.Step) [2]uint64 {
	cost := uint64(*s.Cost)
	if s.Cost2 != nil {
		return [2]uint64{cost, uint64(*s.Cost2)}
	}
	return [2]uint64{cost, cost}
}

// request tells a take or a peek: the sum is worked out from the state before.
func (t *teller) request(i int, s vectors.Step, w vectors.Want) error {
	key, now, cost := uint64(*s.Key), uint64(*s.Now), costs(s)
	weighed := w.Outcome != "full" && w.Outcome != "past_horizon"
	all := verdict{outcome: policy.Allow, wait: whole(0)}
	for k, l := range t.limits {
		fmt.Fprintf(t.to, "%sbefore  %s%s\n", margin, t.which(k), l.state(key, now))
		v := l.weigh(key, now, cost[k])
		if weighed {
			fmt.Fprintf(t.to, "%ssum     %s%s\n", margin, t.which(k), v.sum)
		}
		all = harder(all, v)
	}
	switch {
	case !all.matches(w):
		return fmt.Errorf("step %d: the policy answers %s, but the sum comes to %s: one of the two is wrong", i, answered(w), all.outcome)
	case w.Outcome == "full":
		fmt.Fprintf(t.to, "%ssum     the table has no room for a new key\n", margin)
	case w.Outcome == "past_horizon":
		fmt.Fprintf(t.to, "%ssum     now * p would reach 2^62: it is past what this limit counts exactly\n", margin)
	}
	if s.Op == "take" && w.Outcome == "allow" {
		t.change(s, true, func(l limit, cost uint64) { l.spend(key, now, cost) })
	} else {
		fmt.Fprintf(t.to, "%safter   nothing has changed\n", margin)
	}
	return nil
}

// harder is the verdict on two limits at once: the worse outcome and the longer wait.
func harder(a, b verdict) verdict {
	if b.outcome > a.outcome {
		a.outcome = b.outcome
	}
	if a.wait != nil && (b.wait == nil || b.wait.Cmp(a.wait) > 0) {
		a.wait = b.wait
	}
	return a
}

func (t *teller) change(s vectors.Step, changes bool, do func(limit, uint64)) {
	if !changes {
		return
	}
	cost := costs(s)
	for k, l := range t.limits {
		do(l, cost[k])
		fmt.Fprintf(t.to, "%safter   %s%s\n", margin, t.which(k), l.state(uint64(*s.Key), uint64(*s.Now)))
	}
}

// sweep forgets who is idle under all limits; beyond the horizon it is one at the horizon.
func (t *teller) sweep(now uint64) {
	for _, l := range t.limits {
		now = min(now, l.horizon())
	}
	for _, first := range t.limits {
		for _, key := range first.keys() {
			idle := true
			for _, l := range t.limits {
				idle = idle && l.idle(key, now)
			}
			for _, l := range t.limits {
				if idle {
					l.forget(key)
				}
			}
		}
	}
}

func (t *teller) relimit(now uint64, l policy.Limit) {
	t.limits[0].relimit(now, l.Permits, l.Period, l.Burst)
	if len(t.limits) > 1 {
		t.limits[1].relimit(now, l.Permits2, l.Period2, l.Burst2)
	}
	t.constants(margin)
}

// asked is a step in words.
func asked(s vectors.Step) string {
	var b strings.Builder
	b.WriteString(vectors.Clean(s.Op))
	for _, f := range []struct {
		name  string
		value *vectors.Number
	}{{"at", s.Now}, {"key", s.Key}, {"cost", s.Cost}, {"cost2", s.Cost2}} {
		if f.value != nil {
			fmt.Fprintf(&b, " %s %d", f.name, *f.value)
		}
	}
	if s.Op == "relimit" {
		l := s.Params.Limit()
		fmt.Fprintf(&b, " to %d per %d burst %d", l.Permits, l.Period, l.Burst)
		if l.HasSecond() {
			fmt.Fprintf(&b, " and %d per %d burst %d", l.Permits2, l.Period2, l.Burst2)
		}
	}
	return b.String()
}

// answered is an answer in words.
func answered(w vectors.Want) string {
	text := vectors.Clean(w.Outcome)
	if w.Keys != nil {
		text += fmt.Sprintf("%d keys", *w.Keys)
	}
	if w.Remaining != nil {
		text += fmt.Sprintf(", remaining %d", *w.Remaining)
	}
	switch {
	case w.RetryAfter == nil:
	case *w.RetryAfter == vectors.Never:
		text += ", retry after: never"
	case *w.RetryAfter > 0:
		text += fmt.Sprintf(", retry after %d", *w.RetryAfter)
	}
	if w.ResetAfter != nil {
		text += fmt.Sprintf(", reset after %d", *w.ResetAfter)
	}
	if w.Delay != nil && *w.Delay > 0 {
		text += fmt.Sprintf(", delay %d", *w.Delay)
	}
	if w.Binding == policy.Second.String() {
		text += ", binding " + vectors.Clean(w.Binding)
	}
	return text
}

// difference is what was wanted, if it was something else in any field that was wanted.
func difference(want *vectors.Want, got vectors.Want) string {
	if want == nil {
		return ""
	}
	if want.Outcome == "" {
		got.Outcome = ""
	}
	if want.Binding == "" {
		got.Binding = ""
	}
	for _, f := range []struct{ want, got **vectors.Number }{
		{&want.Remaining, &got.Remaining}, {&want.ResetAfter, &got.ResetAfter}, {&want.Delay, &got.Delay}, {&want.Keys, &got.Keys},
	} {
		if *f.want == nil {
			*f.got = nil
		}
	}
	if want.RetryAfter == nil {
		got.RetryAfter = nil
	}
	if answered(*want) == answered(got) {
		return ""
	}
	return answered(*want)
}
