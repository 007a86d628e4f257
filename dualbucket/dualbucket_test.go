package dualbucket_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/dualbucket"
	"weir/policy"
)

const never = policy.Never

// made is 1 per 10 ticks with burst 2, and 1 per 100 with burst 5.
func made(t *testing.T, o policy.Options) policy.TwoCosts {
	t.Helper()
	p, err := dualbucket.New(policy.Limit{Permits: 1, Period: 10, Burst: 2, Permits2: 1, Period2: 100, Burst2: 5}, o)
	require.NoError(t, err)
	return p.(policy.TwoCosts)
}

// TestByHand: both limits are charged or neither is, and the answer tells of the one that binds.
func TestByHand(t *testing.T) {
	p := made(t, policy.Options{})
	for _, row := range []struct {
		why              string
		now, cost, cost2 uint64
		want             policy.Answer
	}{
		{"2 and 5; then 1 and 2", 0, 1, 3, policy.Answer{Outcome: policy.Allow, Remaining: 1, ResetAfter: 300}},
		{"the second denies; the first is not charged", 0, 1, 3, policy.Answer{Outcome: policy.Deny, Remaining: 1, RetryAfter: 100, ResetAfter: 300, Binding: policy.Second}},
		{"the first denies; the second is not charged", 0, 2, 2, policy.Answer{Outcome: policy.Deny, Remaining: 1, RetryAfter: 10, ResetAfter: 300}},
		{"both deny: the longer wait binds", 0, 2, 3, policy.Answer{Outcome: policy.Deny, Remaining: 1, RetryAfter: 100, ResetAfter: 300, Binding: policy.Second}},
		{"too costly for the first, though the second would deny", 0, 3, 3, policy.Answer{Outcome: policy.TooCostly, Remaining: 1, RetryAfter: never, ResetAfter: 300}},
		{"too costly for the second", 0, 1, 6, policy.Answer{Outcome: policy.TooCostly, Remaining: 1, RetryAfter: never, ResetAfter: 300, Binding: policy.Second}},
		{"for both: the first", 0, 3, 6, policy.Answer{Outcome: policy.TooCostly, Remaining: 1, RetryAfter: never, ResetAfter: 300}},
		{"a share of 0 leaves its limit", 0, 0, 2, policy.Answer{Outcome: policy.Allow, Remaining: 0, ResetAfter: 500, Binding: policy.Second}},
		{"and is allowed where nothing is left", 0, 1, 0, policy.Answer{Outcome: policy.Allow, Remaining: 0, ResetAfter: 500}},
		{"nothing of either", 0, 0, 0, policy.Answer{Outcome: policy.Allow, Remaining: 0, ResetAfter: 500}},
		{"10 ticks: one of the first", 10, 1, 0, policy.Answer{Outcome: policy.Allow, Remaining: 0, ResetAfter: 490}},
		{"past the horizon", 1 << 62, 1, 1, policy.Answer{Outcome: policy.PastHorizon, RetryAfter: never}},
	} {
		peeked := p.Peek2(row.now, 7, row.cost, row.cost2).Answer()
		assert.Equal(t, row.want.Outcome, peeked.Outcome, "%s: peek", row.why)
		assert.Equal(t, row.want.RetryAfter, peeked.RetryAfter, "%s: peek", row.why)
		assert.Equal(t, row.want, p.Take2(row.now, 7, row.cost, row.cost2).Answer(), row.why)
	}
}

// TestOneCost charges both limits alike.
func TestOneCost(t *testing.T) {
	one, two := made(t, policy.Options{}), made(t, policy.Options{})
	for now := uint64(0); now < 600; now += 7 {
		cost := now % 3
		assert.Equal(t, two.Peek2(now, 7, cost, cost), one.Peek(now, 7, cost))
		assert.Equal(t, two.Take2(now, 7, cost, cost).Answer(), one.Take(now, 7, cost).Answer())
		if now%5 == 0 {
			assert.Equal(t, two.Refund2(now, 7, 1, 1), one.Refund(now, 7, 1))
		}
	}
}

// TestRefund gives each limit back its own cost.
func TestRefund(t *testing.T) {
	p := made(t, policy.Options{})
	p.Take2(0, 7, 2, 4)
	require.Equal(t, policy.Allow, p.Refund2(0, 7, 1, 0))
	require.Equal(t, policy.Allow, p.Take2(0, 7, 1, 1).Outcome())
	require.Equal(t, policy.Deny, p.Take2(0, 7, 0, 1).Outcome())
	require.Equal(t, policy.Allow, p.Refund2(0, 7, 0, never))
	require.Equal(t, policy.Allow, p.Take2(0, 7, 0, 5).Outcome())
	require.Equal(t, policy.Deny, p.Take2(0, 7, 1, 0).Outcome())
	require.Equal(t, policy.PastHorizon, p.Refund2(1<<62, 7, 1, 1))
}

// TestRoom is needed if either share is above 0, and free again when neither limit is owed anything.
func TestRoom(t *testing.T) {
	p := made(t, policy.Options{MaxKeys: 1})
	require.Equal(t, policy.Allow, p.Take2(0, 1, 0, 0).Outcome())
	require.Zero(t, p.Keys())
	require.Equal(t, policy.Allow, p.Take2(0, 1, 0, 1).Outcome())
	require.Equal(t, 1, p.Keys())
	for _, costs := range [][2]uint64{{1, 0}, {0, 1}, {1, 1}} {
		require.Equal(t, policy.Full, p.Take2(0, 2, costs[0], costs[1]).Outcome())
		require.Equal(t, policy.Full, p.Peek2(0, 2, costs[0], costs[1]).Outcome())
	}
	require.Equal(t, policy.Allow, p.Take2(0, 2, 0, 0).Outcome())
	require.Equal(t, policy.TooCostly, p.Take2(0, 2, 0, 6).Outcome())
	for _, row := range []struct {
		now  uint64
		keys int
	}{{99, 1}, {100, 0}} {
		p.Sweep(row.now, 0)
		require.Equal(t, row.keys, p.Keys(), "at %d", row.now)
	}
}

// TestHorizon is the nearer of the two.
func TestHorizon(t *testing.T) {
	for _, swap := range []bool{false, true} {
		l := policy.Limit{Permits: 3, Period: 1000, Burst: 3, Permits2: 1, Period2: 2, Burst2: 3}
		if swap {
			l = policy.Limit{Permits: 1, Period: 2, Burst: 3, Permits2: 3, Period2: 1000, Burst2: 3}
		}
		p, err := dualbucket.New(l, policy.Options{})
		require.NoError(t, err)
		require.Equal(t, uint64(1<<62-1)/3, p.Horizon())
		require.Equal(t, policy.Allow, p.Take(p.Horizon(), 7, 3).Outcome())
		require.Equal(t, policy.PastHorizon, p.Take(p.Horizon()+1, 7, 3).Outcome())
	}
}
