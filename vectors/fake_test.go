package vectors_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/vectors"
)

// meter is a GCRA with a map: small enough to be seen right, so that a wrapper around it is wrong in one place only.
type meter struct {
	scale policy.Scale
	limit policy.Limit
	rooms uint64
	tat   map[uint64]uint64
}

func newMeter(l policy.Limit, o policy.Options) (policy.Policy, error) {
	scale, err := l.Scale()
	if err != nil {
		return nil, err
	}
	rooms, err := o.Capacity()
	if err != nil {
		return nil, err
	}
	return &meter{scale, l, rooms, map[uint64]uint64{}}, nil
}

func (m *meter) debt(now, key uint64) uint64 {
	return max(m.tat[key], now*m.scale.Tick) - now*m.scale.Tick
}

func (m *meter) decide(now, key, cost uint64, spend bool) policy.Decision {
	if now > m.scale.Horizon {
		return policy.Refused(policy.PastHorizon)
	}
	debt := m.debt(now, key)
	o, excess := m.scale.Judge(debt, cost)
	_, known := m.tat[key]
	switch {
	case o == policy.TooCostly || cost == 0:
		return policy.Metered(&m.scale, o, debt, excess)
	case !known && uint64(len(m.tat)) >= m.rooms:
		return policy.Refused(policy.Full)
	case o == policy.Allow && spend:
		debt += cost * m.scale.Permit
		m.tat[key] = now*m.scale.Tick + debt
	}
	return policy.Metered(&m.scale, o, debt, excess)
}

func (m *meter) Take(now, key, cost uint64) policy.Decision { return m.decide(now, key, cost, true) }
func (m *meter) Peek(now, key, cost uint64) policy.Decision { return m.decide(now, key, cost, false) }
func (m *meter) Forget(key uint64)                          { delete(m.tat, key) }
func (m *meter) Keys() int                                  { return len(m.tat) }
func (m *meter) Horizon() uint64                            { return m.scale.Horizon }
func (m *meter) Limit() policy.Limit                        { return m.limit }

func (m *meter) Refund(now, key, cost uint64) policy.Outcome {
	if now > m.scale.Horizon {
		return policy.PastHorizon
	}
	if debt := m.debt(now, key); debt > 0 {
		m.tat[key] = now*m.scale.Tick + debt - min(debt, cost*m.scale.Permit)
	}
	return policy.Allow
}

func (m *meter) Sweep(now uint64, _ int) (freed int, done bool) {
	for key := range m.tat {
		if m.debt(min(now, m.scale.Horizon), key) == 0 {
			delete(m.tat, key)
			freed++
		}
	}
	return freed, true
}

// Relimit knows the limits that its tests use: those of the same rate.
func (m *meter) Relimit(now uint64, l policy.Limit) error {
	scale, err := l.Scale()
	if err != nil {
		return err
	}
	if now > min(scale.Horizon, m.scale.Horizon) {
		return fmt.Errorf("relimit: %w", policy.ErrPastHorizon)
	}
	m.scale, m.limit = scale, l
	return nil
}

// pair is two meters that take two costs: enough of a dual bucket to see which cost goes where.
type pair struct {
	*meter
	second *meter
}

func newPair(l policy.Limit, o policy.Options) (policy.Policy, error) {
	if _, _, err := l.Scales(); err != nil {
		return nil, err
	}
	first, err := newMeter(policy.Limit{Permits: l.Permits, Period: l.Period, Burst: l.Burst}, o)
	if err != nil {
		return nil, err
	}
	second, err := newMeter(policy.Limit{Permits: l.Permits2, Period: l.Period2, Burst: l.Burst2}, o)
	if err != nil {
		return nil, err
	}
	return &pair{first.(*meter), second.(*meter)}, nil
}

func (p *pair) both(first, second policy.Decision) policy.Decision {
	a, b := first.Answer(), second.Answer()
	if b.Remaining < a.Remaining {
		a.Binding, a.Remaining = policy.Second, b.Remaining
	}
	a.ResetAfter = max(a.ResetAfter, b.ResetAfter)
	return policy.Answered(a, 0)
}

func (p *pair) Take(now, key, cost uint64) policy.Decision { return p.Take2(now, key, cost, cost) }
func (p *pair) Peek(now, key, cost uint64) policy.Decision { return p.Peek2(now, key, cost, cost) }

func (p *pair) Take2(now, key, cost, cost2 uint64) policy.Decision {
	return p.both(p.meter.Take(now, key, cost), p.second.Take(now, key, cost2))
}

func (p *pair) Peek2(now, key, cost, cost2 uint64) policy.Decision {
	return p.both(p.meter.Peek(now, key, cost), p.second.Peek(now, key, cost2))
}

func (p *pair) Refund2(now, key, cost, cost2 uint64) policy.Outcome {
	p.second.Refund(now, key, cost2)
	return p.meter.Refund(now, key, cost)
}

// altered is a policy whose answers go through a function before anybody sees them.
type altered struct {
	policy.Policy
	alter func(policy.Answer) policy.Answer
}

func (a altered) Take(now, key, cost uint64) policy.Decision {
	return policy.Answered(a.alter(a.Policy.Take(now, key, cost).Answer()), 0)
}

func (a altered) Peek(now, key, cost uint64) policy.Decision {
	return policy.Answered(a.alter(a.Policy.Peek(now, key, cost).Answer()), 0)
}

// registry has one maker under the names given; gcra if there is none.
func registry(t testing.TB, m policy.Maker, names ...string) *policy.Registry {
	t.Helper()
	if len(names) == 0 {
		names = []string{"gcra"}
	}
	r := &policy.Registry{}
	for _, name := range names {
		require.NoError(t, r.Add(name, m))
	}
	return r
}

// altering makes a meter whose answers go through alter.
func altering(alter func(policy.Answer) policy.Answer) policy.Maker {
	return func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		p, err := newMeter(l, o)
		if err != nil {
			return nil, err
		}
		return altered{p, alter}, nil
	}
}

func honest(t testing.TB) *vectors.RegistryDriver {
	return vectors.NewRegistryDriver("honest", "go", registry(t, newMeter))
}
