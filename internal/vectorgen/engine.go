package vectorgen

import (
	"errors"
	"fmt"

	"weir/internal/oracle"
	"weir/policy"
	"weir/vectors"
)

// firstFill is the key that the first fill of a case starts with.
const firstFill = 1 << 63

// engine is a policy that answers the steps of one case.
type engine interface {
	// decide answers a take or a peek.
	decide(s vectors.Step) policy.Answer
	// refund and relimit answer with the word of their outcome.
	refund(s vectors.Step) string
	relimit(now uint64, l policy.Limit) string
	forget(key uint64)
	// sweep looks at every key.
	sweep(now uint64)
	keys() int
	horizon() uint64
}

// production is one of the five packages.
type production struct{ p policy.Policy }

func newProduction(m policy.Maker, l policy.Limit, o policy.Options) (engine, error) {
	o.Seed = 1 // where keys stand in the table changes no answer; this keeps a fault repeatable
	p, err := m(l, o)
	if err != nil {
		return nil, err
	}
	return production{p}, nil
}

func (e production) decide(s vectors.Step) policy.Answer {
	now, key, cost := uint64(*s.Now), uint64(*s.Key), uint64(*s.Cost)
	two, ok := e.p.(policy.TwoCosts)
	switch {
	case ok && s.Cost2 != nil && s.Op == "peek":
		return two.Peek2(now, key, cost, uint64(*s.Cost2)).Answer()
	case ok && s.Cost2 != nil:
		return two.Take2(now, key, cost, uint64(*s.Cost2)).Answer()
	case s.Op == "peek":
		return e.p.Peek(now, key, cost).Answer()
	}
	return e.p.Take(now, key, cost).Answer()
}

func (e production) refund(s vectors.Step) string {
	now, key, cost := uint64(*s.Now), uint64(*s.Key), uint64(*s.Cost)
	if two, ok := e.p.(policy.TwoCosts); ok && s.Cost2 != nil {
		return two.Refund2(now, key, cost, uint64(*s.Cost2)).String()
	}
	return e.p.Refund(now, key, cost).String()
}

func (e production) relimit(now uint64, l policy.Limit) string {
	if err := e.p.Relimit(now, l); err != nil {
		return policy.Code(err)
	}
	return policy.Allow.String()
}

func (e production) forget(key uint64) { e.p.Forget(key) }
func (e production) sweep(now uint64)  { e.p.Sweep(now, 0) }
func (e production) keys() int         { return e.p.Keys() }
func (e production) horizon() uint64   { return e.p.Horizon() }

// model is internal/oracle. An eager one sweeps at the now of every request that it decides: an unbounded table may
// drop at any request the keys that are idle then, so a case that leaves the table open must have the same answers
// with every such key dropped as with none.
type model struct {
	m     *oracle.Model
	eager bool
}

func (e model) decide(s vectors.Step) policy.Answer {
	now, key, cost, cost2 := uint64(*s.Now), uint64(*s.Key), uint64(*s.Cost), uint64(*s.Cost)
	if s.Cost2 != nil {
		cost2 = uint64(*s.Cost2)
	}
	ask := e.m.Take
	if s.Op == "peek" {
		ask = e.m.Peek
	}
	e.drop(now)
	a := ask(now, key, cost, cost2)
	e.drop(now)
	return a
}

func (e model) refund(s vectors.Step) string {
	now, key, cost, cost2 := uint64(*s.Now), uint64(*s.Key), uint64(*s.Cost), uint64(*s.Cost)
	if s.Cost2 != nil {
		cost2 = uint64(*s.Cost2)
	}
	e.drop(now)
	out := e.m.Refund(now, key, cost, cost2)
	e.drop(now)
	return out.String()
}

func (e model) relimit(now uint64, l policy.Limit) string {
	e.drop(now)
	out, err := e.m.Relimit(now, l)
	if err != nil {
		return codeOf(err)
	}
	e.drop(now)
	return out.String()
}

func (e model) drop(now uint64) {
	if e.eager && now <= e.m.Horizon() {
		e.m.Sweep(now)
	}
}

func (e model) forget(key uint64) { e.m.Forget(key) }
func (e model) sweep(now uint64)  { e.m.Sweep(now) }
func (e model) keys() int         { return e.m.Keys() }
func (e model) horizon() uint64   { return e.m.Horizon() }

// codeOf is the word of a refusal, whoever refused.
func codeOf(err error) string {
	if c := (*oracle.ConfigError)(nil); errors.As(err, &c) {
		return c.Code
	}
	return policy.Code(err)
}

// voice is an engine with a name, and the room that its table has for a fill.
type voice struct {
	name string
	engine
	room   uint64 // 0: as much as it likes
	filled uint64 // keys that fills have taken
}

// do answers one step.
func (v *voice) do(name string, s vectors.Step) (vectors.Want, error) {
	switch s.Op {
	case "take", "peek":
		return wantOf(name, v.decide(s)), nil
	case "refund":
		return vectors.Want{Outcome: v.refund(s)}, nil
	case "relimit":
		return vectors.Want{Outcome: v.relimit(uint64(*s.Now), s.Params.Limit())}, nil
	case "forget":
		v.forget(uint64(*s.Key))
		return vectors.Want{Outcome: policy.Allow.String()}, nil
	case "sweep":
		v.sweep(uint64(*s.Now))
		fallthrough
	case "keys":
		return vectors.Want{Keys: num(uint64(v.keys()))}, nil
	case "fill":
		return vectors.Want{}, v.fill(s)
	}
	return vectors.Want{}, fmt.Errorf("no such op")
}

func (v *voice) fill(s vectors.Step) error {
	for uint64(v.keys())+uint64(*s.Leave) < v.room {
		one := request("take", uint64(*s.Now), firstFill+v.filled, 1)
		v.filled++
		if a := v.decide(one); a.Outcome != policy.Allow {
			return fmt.Errorf("%s: fill: key %d: %v", v.name, *one.Key, a.Outcome)
		}
	}
	return nil
}

// wantOf is an answer as the files of that policy show it.
func wantOf(name string, a policy.Answer) vectors.Want {
	retry := vectors.Wait(a.RetryAfter)
	w := vectors.Want{Outcome: a.Outcome.String(), Remaining: num(a.Remaining), RetryAfter: &retry,
		ResetAfter: num(a.ResetAfter)}
	switch name {
	case "leakybucket":
		w.Delay = num(a.Delay)
	case "dualbucket":
		w.Binding = a.Binding.String()
	}
	return w
}
