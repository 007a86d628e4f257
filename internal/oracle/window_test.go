package oracle_test

import (
	"testing"

	"weir/policy"
)

// TestSlidingLog: 3 in any 10 ticks; what was spent at t counts at t+9 and no more at t+10.
func TestSlidingLog(t *testing.T) {
	run(t, made(t, "slidinglog", limit(3, 10, 0)), []row{
		{"a burst of permits", take(0, 7, 4), tooCostly(3, 0)},
		{"", take(0, 7, 2), allow(1, 10)},
		{"", take(4, 7, 1), allow(0, 10)},
		{"2 come back at 10", take(9, 7, 1), deny(0, 1, 5)},
		{"both of them", take(9, 7, 2), deny(0, 1, 5)},
		{"the third at 14", take(9, 7, 3), deny(0, 5, 5)},
		{"costs nothing", take(9, 7, 0), allow(0, 5)},
		{"too costly", take(9, 7, most), tooCostly(0, 5)},
		{"the 2 of tick 0 have expired", take(10, 7, 1), allow(1, 10)},
		{"the log does not run back: this is entered at 10, until 20", take(3, 7, 1), allow(0, 17)},
		{"the one of tick 4 expires at 14", take(3, 7, 1), deny(0, 11, 17)},
		{"two more at 20", take(3, 7, 2), deny(0, 17, 17)},
		{"", take(14, 7, 1), allow(0, 10)},
		{"", peek(24, 7, 3), allow(3, 0)},
		{"one tick before", sweep(23), 1},
		{"an expired log is idle", sweep(24), 0},
	})
	run(t, made(t, "slidinglog", limit(5, 10, 5)), []row{
		{"two admissions at one tick", take(0, 7, 1), allow(4, 10)},
		{"count as one of their sum", take(0, 7, 3), allow(1, 10)},
		{"", take(9, 7, 2), deny(1, 1, 1)},
		{"and expire as one", take(10, 7, 5), allow(0, 10)},
	})
	run(t, made(t, "slidinglog", limit(5, 1, 5)), []row{
		{"a window of one tick", take(0, 7, 5), allow(0, 1)},
		{"", take(0, 7, 1), deny(0, 1, 1)},
		{"", take(1, 7, 5), allow(0, 1)},
	})
	const far = 1<<62 - 1
	run(t, made(t, "slidinglog", limit(far, far, 0)), []row{
		{"the largest log at the horizon", take(far, 7, far), allow(0, far)},
		{"from 0 that is as far again", peek(0, 7, 1), deny(0, 2*far, 2*far)},
		{"one past it", take(far+1, 7, 1), refused(policy.PastHorizon)},
	})
}

// TestSlidingLogDrops: only an allowed take of more than nothing drops what has expired; it shows at an earlier
// now once a refund has taken the newest entries out.
func TestSlidingLogDrops(t *testing.T) {
	run(t, made(t, "slidinglog", limit(3, 10, 0)), []row{
		{"", take(0, 7, 1), allow(2, 10)},
		{"long expired", take(50, 7, 0), allow(3, 0)},
		{"too costly there", take(50, 7, 4), tooCostly(3, 0)},
		{"peeked there", peek(50, 7, 1), allow(3, 0)},
		{"and still held", peek(5, 7, 0), allow(2, 5)},
		{"this drops it", take(10, 7, 1), allow(2, 10)},
		{"and this empties the log, whose clock is gone", refund(10, 7, 1), policy.Allow},
		{"", peek(5, 7, 0), allow(3, 0)},
		{"it keeps its room", keys(), 1},
		{"entered at 5, not at 10", take(5, 7, 1), allow(2, 10)},
		{"", refund(5, 7, 1), policy.Allow},
		{"an empty log is idle at any now", sweep(0), 0},
	})
}

// TestSlidingLogRefund: the newest of what counts comes back first, and nothing else does.
func TestSlidingLogRefund(t *testing.T) {
	run(t, made(t, "slidinglog", limit(5, 10, 0)), []row{
		{"unknown", refund(0, 7, 1), policy.Allow},
		{"stays unknown", keys(), 0},
		{"", take(0, 7, 1), allow(4, 10)},
		{"", take(4, 7, 2), allow(2, 10)},
		{"", take(9, 7, 2), allow(0, 10)},
		{"one of tick 9", refund(9, 7, 1), policy.Allow},
		{"", peek(9, 7, 0), allow(1, 10)},
		{"the other one, and one of tick 4, the clock again", refund(9, 7, 2), policy.Allow},
		{"1 of tick 0 and 1 of tick 4", peek(4, 7, 0), allow(3, 10)},
		{"the log starts at 4", peek(2, 7, 4), deny(3, 8, 12)},
		{"tick 0 has expired at 10 and does not come back", refund(10, 7, most), policy.Allow},
		{"", peek(10, 7, 0), allow(5, 0)},
		{"but counts at 3, since it is held", peek(3, 7, 0), allow(4, 7)},
		{"past the horizon", refund(1<<62, 7, 1), policy.PastHorizon},
	})
}

// TestSlidingLogRelimit: entries keep their ticks and count under the new limit.
func TestSlidingLogRelimit(t *testing.T) {
	run(t, made(t, "slidinglog", limit(3, 10, 0)), []row{
		{"", take(0, 7, 2), allow(1, 10)},
		{"fewer permits in a longer window", relimit(5, limit(1, 20, 0)), policy.Allow},
		{"2 used of 1: nothing left, not less", take(5, 7, 1), deny(0, 15, 15)},
		{"2 can never fit", take(5, 7, 2), tooCostly(0, 15)},
		{"a shorter window", relimit(5, limit(3, 6, 3)), policy.Allow},
		{"", peek(5, 7, 2), deny(1, 1, 1)},
		{"expired", peek(6, 7, 0), allow(3, 0)},
		{"a longer window: held, so they count again", relimit(12, limit(3, 20, 0)), policy.Allow},
		{"", peek(12, 7, 0), allow(1, 8)},
		{"a burst that is not permits", relimit(12, limit(3, 20, 2)), "invalid_burst"},
		{"past the horizon", relimit(1<<62, limit(3, 20, 0)), policy.PastHorizon},
		{"unchanged", peek(12, 7, 2), deny(1, 8, 8)},
	})
}
