package wasm

import (
	"context"
	"fmt"

	"weir/policy"
)

// LogEntries are the fewest entries that a key of a sliding log has, so that a small limit can be raised.
const LogEntries = 16

// DefaultMaxKeys is the room of a table whose options are unbounded: a table of C has all its memory from the start.
const DefaultMaxKeys = 1024

// names are the policies, in the order of any.h.
var names = []string{"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"}

const (
	slidingLog = 3
	dualBucket = 4
)

// table is a policy whose state and arithmetic are in an instance of the module. It is not for several goroutines at once.
type table struct {
	*instance
	kind uint64
}

// pair is the table of a dual bucket: a policy.TwoCosts.
type pair struct{ *table }

// Registry holds the policies of the module, all five. Whatever it makes lives until the module is closed; made, if it is
// not nil, is told how to close each before.
func (m *Module) Registry(ctx context.Context, made func(close func() error)) *policy.Registry {
	r := new(policy.Registry)
	for kind, name := range names {
		_ = r.Add(name, func(l policy.Limit, o policy.Options) (policy.Policy, error) { // good names in an empty registry
			i, err := m.instance(ctx)
			if err != nil {
				return nil, err
			}
			if made != nil {
				made(i.close)
			}
			t := &table{instance: i, kind: uint64(kind)}
			if err := t.init(l, o); err != nil {
				return nil, err
			}
			if kind == dualBucket {
				return pair{t}, nil
			}
			return t, nil
		})
	}
	return r
}

// init makes the table. A sliding log is made with room for LogEntries at least and then put under its limit.
func (t *table) init(l policy.Limit, o policy.Options) error {
	maxKeys := o.MaxKeys
	if maxKeys == 0 && !o.Bounded {
		maxKeys = DefaultMaxKeys
	}
	roomy := l
	if t.kind == slidingLog && min(l.Permits, l.Period) < LogEntries {
		roomy = policy.Limit{Permits: max(l.Permits, LogEntries), Period: max(l.Period, LogEntries)}
	}
	if _, err := t.size(l, maxKeys); err != nil {
		return err
	}
	bytes, err := t.size(roomy, maxKeys)
	if err != nil {
		return err
	}
	if bytes > MaxBytes || !t.reach(bytes) {
		return &policy.LimitError{Code: string(policy.ErrInvalidMaxKeys), Field: "max_keys", Value: maxKeys}
	}
	if err := t.refused(t.call("weir_wasm_init", t.kind, bytes, maxKeys, o.Seed)); err != nil || roomy == l {
		return err
	}
	return t.Relimit(0, l)
}

// size asks how many bytes a table takes.
func (t *table) size(l policy.Limit, maxKeys uint64) (uint64, error) {
	t.put(deskLimit, l.Permits, l.Period, l.Burst, l.Permits2, l.Period2, l.Burst2)
	if !t.reach(8) {
		return 0, fmt.Errorf("wasm: no memory")
	}
	if err := t.refused(t.call("weir_wasm_size", t.kind, maxKeys, uint64(t.block))); err != nil {
		return 0, err
	}
	bytes, _ := t.module.Memory().ReadUint32Le(t.block)
	return uint64(bytes), nil
}

// refused makes an error of a weir_error.
func (t *table) refused(code uint64) error {
	if code == 0 {
		return nil
	}
	word := t.text(t.call("weir_error_word", code))
	if word == policy.Code(policy.ErrPastHorizon) {
		return fmt.Errorf("wasm: %w", policy.ErrPastHorizon)
	}
	return &policy.LimitError{Code: word}
}

func (t *table) ask(now, key, cost, cost2, spend uint64) policy.Decision {
	t.put(deskNow, now, key, cost, cost2)
	t.call("weir_wasm_ask", t.kind, spend)
	var a policy.Answer
	var outcome, binding, next uint64
	t.get(deskOutcome, &outcome, &binding, &a.Remaining, &a.RetryAfter, &a.ResetAfter, &a.Delay, &next)
	a.Outcome, a.Binding = policy.Outcome(outcome), policy.Binding(binding)
	return policy.Answered(a, next)
}

func (t *table) refund(now, key, cost, cost2 uint64) policy.Outcome {
	t.put(deskNow, now, key, cost, cost2)
	if t.call("weir_wasm_refund", t.kind) != 0 {
		return policy.PastHorizon
	}
	return policy.Allow
}

// Take is policy.Policy's Take.
func (t *table) Take(now, key, cost uint64) policy.Decision { return t.ask(now, key, cost, cost, 1) }

// Peek is policy.Policy's Peek.
func (t *table) Peek(now, key, cost uint64) policy.Decision { return t.ask(now, key, cost, cost, 0) }

// Refund is policy.Policy's Refund.
func (t *table) Refund(now, key, cost uint64) policy.Outcome { return t.refund(now, key, cost, cost) }

// Take2 is policy.TwoCosts' Take2.
func (p pair) Take2(now, key, cost, cost2 uint64) policy.Decision {
	return p.ask(now, key, cost, cost2, 1)
}

// Peek2 is policy.TwoCosts' Peek2.
func (p pair) Peek2(now, key, cost, cost2 uint64) policy.Decision {
	return p.ask(now, key, cost, cost2, 0)
}

// Refund2 is policy.TwoCosts' Refund2.
func (p pair) Refund2(now, key, cost, cost2 uint64) policy.Outcome {
	return p.refund(now, key, cost, cost2)
}

// Forget is policy.Policy's Forget.
func (t *table) Forget(key uint64) {
	t.put(deskNow, 0, key)
	t.call("weir_wasm_forget", t.kind)
}

// Sweep is policy.Policy's Sweep.
func (t *table) Sweep(now uint64, slots int) (int, bool) {
	t.put(deskNow, now)
	t.call("weir_wasm_sweep", t.kind, uint64(max(slots, 0)))
	var freed, done uint64
	t.get(deskFreed, &freed, &done)
	return int(freed), done != 0
}

// Relimit is policy.Policy's Relimit.
func (t *table) Relimit(now uint64, l policy.Limit) error {
	t.put(deskLimit, l.Permits, l.Period, l.Burst, l.Permits2, l.Period2, l.Burst2, now)
	return t.refused(t.call("weir_wasm_relimit", t.kind))
}

// Keys is policy.Policy's Keys.
func (t *table) Keys() int { return int(t.call("weir_wasm_keys", t.kind)) }

// Horizon is policy.Policy's Horizon.
func (t *table) Horizon() uint64 { return t.call("weir_wasm_horizon", t.kind) }

// Limit is policy.Policy's Limit.
func (t *table) Limit() (l policy.Limit) {
	t.call("weir_wasm_limit", t.kind)
	t.get(deskLimit, &l.Permits, &l.Period, &l.Burst, &l.Permits2, &l.Period2, &l.Burst2)
	return l
}
