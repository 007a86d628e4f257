package gcra_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/gcra"
	"weir/policy"
)

// row is one request by hand, why it is answered so, and the answer.
type row struct {
	why       string
	now, cost uint64
	want      policy.Answer
}

func allow(remaining, reset uint64) policy.Answer {
	return policy.Answer{Outcome: policy.Allow, Remaining: remaining, ResetAfter: reset}
}

func deny(remaining, retry, reset uint64) policy.Answer {
	return policy.Answer{Outcome: policy.Deny, Remaining: remaining, RetryAfter: retry, ResetAfter: reset}
}

// TestByHand: 3 permits per 1000 ticks, burst 2, for a key of a table and for the form without a table. T is 333.33 ticks.
func TestByHand(t *testing.T) {
	l := policy.Limit{Permits: 3, Period: 1000, Burst: 2}
	p, err := gcra.New(l, policy.Options{})
	require.NoError(t, err)
	d, err := gcra.NewDirect(l)
	require.NoError(t, err)
	for _, r := range []row{
		{"the first", 0, 1, allow(1, 334)},
		{"the burst", 0, 1, allow(0, 667)},
		{"one T must pass", 0, 1, deny(0, 334, 667)},
		{"a third of a tick is missing", 333, 1, deny(0, 1, 334)},
		{"it has passed: 2 units of credit stay", 334, 1, allow(0, 666)},
		{"both need two T from 666", 335, 2, deny(0, 665, 665)},
		{"nothing costs nothing", 335, 0, allow(0, 665)},
		{"never", 335, 3, policy.Answer{Outcome: policy.TooCostly, RetryAfter: policy.Never, ResetAfter: 665}},
		{"a tie", 1000, 2, allow(0, 667)},
		{"the clock steps back: 667 more to wait", 333, 1, deny(0, 1001, 1334)},
		{"idle time is not credit", 1e9, 1, allow(1, 334)},
		{"the last tick that is decided", (1<<62 - 1) / 3, 1, allow(1, 334)},
		{"and one more", (1<<62-1)/3 + 1, 1, policy.Answer{Outcome: policy.PastHorizon, RetryAfter: policy.Never}},
	} {
		peeked := d.Peek(r.now, r.cost)
		assert.Equal(t, r.want.Outcome, peeked.Outcome(), "%s: peek", r.why)
		assert.Equal(t, r.want.RetryAfter, peeked.RetryAfter(), "%s: peek", r.why)
		assert.Equal(t, r.want, p.Take(r.now, 7, r.cost).Answer(), r.why)
		assert.Equal(t, r.want, d.Take(r.now, r.cost).Answer(), "%s: direct", r.why)
	}
}

// TestDirectRefund gives back, never more than was owed, and nothing past the horizon.
func TestDirectRefund(t *testing.T) {
	d, err := gcra.NewDirect(policy.Limit{Permits: 1, Period: 10, Burst: 3})
	require.NoError(t, err)
	require.Equal(t, policy.Allow, d.Refund(0, 5), "of nothing")
	require.Equal(t, allow(0, 30), d.Take(0, 3).Answer())
	require.Equal(t, policy.Allow, d.Refund(5, 1))
	require.Equal(t, allow(1, 15), d.Peek(5, 1).Answer())
	require.Equal(t, policy.PastHorizon, d.Refund(1<<62, 1))
	require.Equal(t, allow(1, 15), d.Peek(5, 1).Answer())
	require.Equal(t, policy.Allow, d.Refund(5, policy.Never))
	require.Equal(t, allow(3, 0), d.Peek(5, 1).Answer())
}
