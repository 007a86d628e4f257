package oracle_test

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir/internal/oracle"
	"weir/policy"
)

// subjects are typical limits in nanoseconds, one for each policy.
var subjects = []struct {
	name string
	l    policy.Limit
}{
	{"gcra", limit(100, 1e9, 10)},
	{"tokenbucket", limit(3, 1e9, 20)},
	{"leakybucket", limit(1000, 3600e9, 1000)},
	{"slidinglog", limit(100, 1e9, 0)},
	{"dualbucket", policy.Limit{Permits: 100, Period: 1e9, Burst: 20,
		Permits2: 5000, Period2: 3600e9, Burst2: 5000}},
}

// drawn is a small limit, so that edges are met often.
func drawn(t *rapid.T, name string) policy.Limit {
	n := rapid.Uint64Range(1, 12)
	l := limit(n.Draw(t, "permits"), rapid.Uint64Range(1, 40).Draw(t, "period"), n.Draw(t, "burst"))
	switch name {
	case "slidinglog":
		l.Burst = 0
	case "dualbucket":
		l.Permits2, l.Period2, l.Burst2 = n.Draw(t, "permits2"), 3*l.Period, n.Draw(t, "burst2")
	}
	return l
}

// TestPromises: whatever came before, each wait is kept to the tick by the model itself: denied until
// retry_after, less than new until reset_after, no more remaining until next.
func TestPromises(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, rapid.MakeCheck(func(t *rapid.T) {
			m, err := oracle.New(s.name, drawn(t, s.name), false, 0)
			require.NoError(t, err)
			small := rapid.Uint64Range(0, 8)
			for range 20 {
				now := rapid.Uint64Range(0, 100).Draw(t, "now")
				cost, cost2 := small.Draw(t, "cost"), small.Draw(t, "cost2")
				switch rapid.IntRange(0, 9).Draw(t, "op") {
				case 0:
					m.Refund(now, 7, cost, cost2)
				case 1:
					_, err := m.Relimit(now, drawn(t, s.name))
					require.NoError(t, err)
				default:
					promised(t, m, now, cost, cost2)
				}
			}
		}))
	}
}

func promised(t *rapid.T, m *oracle.Model, now, cost, cost2 uint64) {
	foretold := m.Peek(now, 7, cost, cost2)
	a := m.Take(now, 7, cost, cost2)
	require.Equal(t, foretold.Outcome, a.Outcome)
	require.Equal(t, foretold.RetryAfter, a.RetryAfter)
	require.Equal(t, foretold.Delay, a.Delay)
	if a.Outcome == policy.Deny {
		require.Equal(t, foretold, a)
		require.Equal(t, policy.Deny, m.Peek(now+a.RetryAfter-1, 7, cost, cost2).Outcome)
		require.Equal(t, policy.Allow, m.Peek(now+a.RetryAfter, 7, cost, cost2).Outcome)
	}
	if a.ResetAfter > 0 {
		require.Equal(t, uint64(1), m.Peek(now+a.ResetAfter-1, 7, 0, 0).ResetAfter)
	}
	require.Equal(t, m.Peek(now, 8, 0, 0), m.Peek(now+a.ResetAfter, 7, 0, 0))
	more := m.Next(now, 7)
	if more > 0 {
		require.LessOrEqual(t, m.Peek(now+more-1, 7, 0, 0).Remaining, a.Remaining)
		require.Greater(t, m.Peek(now+more, 7, 0, 0).Remaining, a.Remaining)
	}
	require.Equal(t, more == 0, a.Remaining == m.Peek(now, 8, 0, 0).Remaining)
}

// arrival is the GCRA as the contract writes it, in units, to hold the model's permits against. All numbers drawn
// here are small.
type arrival struct{ p, q, burst, tat uint64 }

func up(a, b uint64) uint64 { return (a + b - 1) / b }

func (g *arrival) limit(l policy.Limit) {
	d := new(big.Int).SetUint64(l.Permits)
	d.GCD(nil, nil, d, new(big.Int).SetUint64(l.Period))
	g.p, g.q, g.burst = l.Permits/d.Uint64(), l.Period/d.Uint64(), l.Burst
}

func (g *arrival) debt(now uint64) uint64 { return max(g.tat, now*g.p) - now*g.p }

func (g *arrival) take(now, cost uint64) policy.Answer {
	a, debt := policy.Answer{Outcome: policy.Allow}, g.debt(now)
	switch {
	case cost > g.burst:
		a.Outcome, a.RetryAfter = policy.TooCostly, never
	case cost > 0 && debt > (g.burst-cost)*g.q:
		a.Outcome, a.RetryAfter = policy.Deny, up(debt-(g.burst-cost)*g.q, g.p)
	case cost > 0:
		debt += cost * g.q
		g.tat = now*g.p + debt
	}
	if full := g.burst * g.q; debt < full {
		a.Remaining = (full - debt) / g.q
	}
	a.ResetAfter = up(debt, g.p)
	return a
}

func (g *arrival) refund(now, cost uint64) {
	if debt := g.debt(now); debt > 0 {
		g.tat = now*g.p + debt - min(debt, cost*g.q)
	}
}

func (g *arrival) relimit(now uint64, l policy.Limit) {
	debt, q := g.debt(now), g.q
	g.limit(l)
	g.tat = now*g.p + min(g.burst*g.q, up(debt*g.q, q))
}

// TestFormulas: the definitions here and the formulas of the contract give the same answers, times that step back
// included.
func TestFormulas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawn(t, "gcra")
		m, err := oracle.New("gcra", l, false, 0)
		require.NoError(t, err)
		twin := &arrival{}
		twin.limit(l)
		for range 30 {
			now, cost := rapid.Uint64Range(0, 100).Draw(t, "now"), rapid.Uint64Range(0, 12).Draw(t, "cost")
			switch rapid.IntRange(0, 9).Draw(t, "op") {
			case 0:
				m.Refund(now, 7, cost, cost)
				twin.refund(now, cost)
			case 1:
				if m.Keys() == 0 {
					continue // relimit leaves a key without state without one
				}
				l = drawn(t, "gcra")
				_, err := m.Relimit(now, l)
				require.NoError(t, err)
				twin.relimit(now, l)
			default:
				require.Equal(t, twin.take(now, cost), m.Take(now, 7, cost, cost))
			}
		}
	})
}

// BenchmarkTake draws decisions that ask for about what the limit gives, sometimes at an earlier now.
func BenchmarkTake(b *testing.B) {
	for _, s := range subjects {
		b.Run(s.name, func(b *testing.B) {
			m, err := oracle.New(s.name, s.l, false, 0)
			require.NoError(b, err)
			r := rand.New(rand.NewPCG(1, 2))
			now := uint64(1e12)
			step := s.l.Period / s.l.Permits // 1.5 permits for one of 4 keys in 0.375 of these
			denied := 0
			for b.Loop() {
				now += r.Uint64N(step) - step/8
				if m.Take(now, r.Uint64N(4), r.Uint64N(4), 1).Outcome == policy.Deny {
					denied++
				}
			}
			b.ReportMetric(float64(denied)/float64(b.N), "denied/op")
		})
	}
}
