package slidinglog_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/slidinglog"
)

func made(t *testing.T, permits, period uint64) policy.Policy {
	t.Helper()
	p, err := slidinglog.New(policy.Limit{Permits: permits, Period: period}, policy.Options{})
	require.NoError(t, err)
	return p
}

func allow(remaining, reset uint64) policy.Answer {
	return policy.Answer{Outcome: policy.Allow, Remaining: remaining, ResetAfter: reset}
}

func deny(remaining, retry, reset uint64) policy.Answer {
	return policy.Answer{Outcome: policy.Deny, Remaining: remaining, RetryAfter: retry, ResetAfter: reset}
}

// TestByHand: at most 5 permits in any 100 ticks.
func TestByHand(t *testing.T) {
	p := made(t, 5, 100)
	for _, row := range []struct {
		why       string
		now, cost uint64
		want      policy.Answer
	}{
		{"the first", 0, 1, allow(4, 100)},
		{"the same tick is one entry", 0, 1, allow(3, 100)},
		{"", 10, 2, allow(1, 100)},
		{"the oldest entry frees two at 100", 20, 2, deny(1, 80, 90)},
		{"four need both entries", 20, 4, deny(1, 90, 90)},
		{"a denial has dropped nothing", 20, 1, allow(0, 100)},
		{"one tick too early", 99, 1, deny(0, 1, 21)},
		{"a permit spent at 0 does not count at 100", 100, 2, allow(0, 100)},
		{"the clock steps back: at is the newest admission", 50, 1, deny(0, 60, 150)},
		{"at 110 two are free", 110, 1, allow(1, 100)},
		{"earlier again: counts as of 110", 60, 1, allow(0, 150)},
		{"too costly", 60, 6, policy.Answer{Outcome: policy.TooCostly, RetryAfter: policy.Never, ResetAfter: 150}},
		{"nothing", 60, 0, allow(0, 150)},
		{"all has expired", 210, 5, allow(0, 100)},
	} {
		assert.Equal(t, row.want, p.Take(row.now, 7, row.cost).Answer(), row.why)
	}
}

// TestRefundTakesTheNewest, of what counts; the newest that is left is the log's clock again.
func TestRefundTakesTheNewest(t *testing.T) {
	p := made(t, 5, 100)
	p.Take(0, 7, 2)
	p.Take(50, 7, 2)
	p.Take(60, 7, 1)
	require.Equal(t, policy.Allow, p.Refund(60, 7, 2))
	require.Equal(t, allow(2, 90), p.Peek(60, 7, 1).Answer(), "all of 60 and one of 50 are out")
	require.Equal(t, allow(0, 100), p.Take(55, 7, 2).Answer(), "the clock is 50 again, so that 55 is 55")
	require.Equal(t, allow(5, 0), p.Peek(155, 7, 1).Answer())
	require.Equal(t, policy.Allow, p.Refund(155, 7, 5))
	require.Equal(t, deny(0, 45, 100), p.Peek(55, 7, 1).Answer(), "what has expired stays")
}

// TestUndoRestoresTheRing: an undone take leaves no trace where it was merged into the newest entry, where it dropped
// expired ones, where it filled the ring and made it grow, and where it did several of these.
func TestUndoRestoresTheRing(t *testing.T) {
	for _, row := range []struct {
		why    string
		before []uint64 // ticks of one permit each
		now    uint64
		cost   uint64
	}{
		{"into an empty log", nil, 5, 3},
		{"merged", []uint64{0, 5}, 5, 3},
		{"appended", []uint64{0, 5}, 6, 3},
		{"grown", []uint64{0, 1, 2}, 6, 3},
		{"dropped one", []uint64{0, 5, 6}, 100, 3},
		{"dropped all", []uint64{0, 5, 6}, 200, 3},
		{"dropped all and wrapped around the ring", []uint64{0, 5, 6, 101, 150}, 300, 3},
		{"at an earlier now: merged", []uint64{0, 5, 50}, 20, 3},
		{"dropped and merged", []uint64{0, 5, 50, 104}, 104, 3},
		{"a full window but one", []uint64{0, 1, 2, 3, 4, 5, 6}, 100, 1},
	} {
		p, twin := made(t, 8, 100), made(t, 8, 100)
		for _, now := range row.before {
			require.True(t, p.Take(now, 7, 1).OK(), row.why)
			twin.Take(now, 7, 1)
		}
		d, undo := p.(policy.Undoer).TakeUndo(row.now, 7, row.cost, row.cost)
		require.True(t, d.OK(), row.why)
		require.True(t, undo(), row.why)
		require.Equal(t, twin.Keys(), p.Keys(), row.why)
		for now := range uint64(420) {
			for cost := range uint64(10) {
				require.Equal(t, twin.Peek(now, 7, cost).Answer(), p.Peek(now, 7, cost).Answer(), "%s: at %d", row.why, now)
			}
		}
		for now := uint64(0); now < 400; now += 13 {
			require.Equal(t, twin.Take(now, 7, 2).Answer(), p.Take(now, 7, 2).Answer(), "%s: from then on", row.why)
		}
	}
}

// TestTotalsWrap: the running total passes 2^64 and nothing is miscounted.
func TestTotalsWrap(t *testing.T) {
	const most = 1<<62 - 1
	p := made(t, most, 10)
	for i := range uint64(40) {
		now := 10 * i
		require.Equal(t, allow(1, 10), p.Take(now, 7, most-1).Answer())
		require.Equal(t, allow(0, 10), p.Take(now+5, 7, 1).Answer())
		require.Equal(t, deny(0, 5, 10), p.Take(now+5, 7, 1).Answer())
		require.Equal(t, policy.Allow, p.Refund(now+5, 7, 1))
	}
}
