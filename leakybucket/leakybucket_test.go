package leakybucket_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/leakybucket"
	"weir/policy"
)

// TestDelays: how long each request of a queue is held; 3 permits per 1000 ticks, burst 4.
func TestDelays(t *testing.T) {
	p, err := leakybucket.New(policy.Limit{Permits: 3, Period: 1000, Burst: 4}, policy.Options{})
	require.NoError(t, err)
	for _, row := range []struct {
		why              string
		now, cost, delay uint64
		outcome          policy.Outcome
	}{
		{"an empty bucket holds nobody", 0, 1, 0, policy.Allow},
		{"one permit leaks in 333.33 ticks", 0, 1, 334, policy.Allow},
		{"two in 666.67: roundings do not add up", 0, 1, 667, policy.Allow},
		{"the last place of the queue", 0, 1, 1000, policy.Allow},
		{"no place: no delay", 0, 1, 0, policy.Deny},
		{"a request of nothing waits for all that is there", 0, 0, 1334, policy.Allow},
		{"and so does one a little later", 34, 0, 1300, policy.Allow},
		{"too costly has no delay", 0, 5, 0, policy.TooCostly},
		{"behind the three that are left", 334, 1, 1000, policy.Allow},
		{"long after", 5000, 4, 0, policy.Allow},
		{"at an earlier now the wait is longer", 4900, 0, 1434, policy.Allow},
		{"past the horizon", policy.Never, 0, 0, policy.PastHorizon},
	} {
		peeked := p.Peek(row.now, 7, row.cost)
		assert.Equal(t, row.delay, peeked.Delay(), "%s: peek", row.why)
		d := p.Take(row.now, 7, row.cost)
		assert.Equal(t, row.outcome, d.Outcome(), row.why)
		assert.Equal(t, row.delay, d.Delay(), row.why)
	}
}

// TestOutputIsSmooth: held for their delay, the requests leave in order and no more of them in any window than the rate
// gives, one permit more for the two ends of the window, whatever bursts they came in.
func TestOutputIsSmooth(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 5))
	for range 300 {
		l := policy.Limit{Permits: 1 + r.Uint64N(9), Period: 1 + r.Uint64N(99), Burst: 1 + r.Uint64N(20)}
		p, err := leakybucket.New(l, policy.Options{})
		require.NoError(t, err)
		var now uint64
		var out []uint64
		for range 150 {
			now += r.Uint64N(2) * r.Uint64N(2*l.Period/l.Permits+2)
			if d := p.Take(now, 7, 1); d.OK() {
				out = append(out, now+d.Delay())
			}
		}
		for i := range out {
			for j := i + 1; j < len(out); j++ {
				// Each leaves at the end of the tick in which its turn came: fewer than one tick of slack.
				if out[j] < out[i] || uint64(j-i)*l.Period > l.Permits*(out[j]-out[i]+1) {
					require.Fail(t, "out of order, or too dense", "%+v: requests %d and %d leave at %d and %d", l, i, j, out[i], out[j])
				}
			}
		}
	}
}
