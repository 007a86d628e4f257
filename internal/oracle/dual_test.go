package oracle_test

import (
	"testing"

	"weir/policy"
)

// twoBuckets: a permit every 10 ticks, burst 2; and one every 100, burst 5.
var twoBuckets = policy.Limit{Permits: 1, Period: 10, Burst: 2, Permits2: 1, Period2: 100, Burst2: 5}

// TestDualBucket: both are charged or neither is; the smaller remaining, the larger waits.
func TestDualBucket(t *testing.T) {
	run(t, made(t, "dualbucket", twoBuckets), []row{
		{"never seen", peek(0, 7, 1), allow(2, 0)},
		{"1 and 4 left", take(0, 7, 1), allow(1, 100)},
		{"0 and 3 left", take(0, 7, 1), allow(0, 200)},
		{"the first denies", take(0, 7, 1), deny(0, 10, 200)},
		{"the second denies: owes 2, may owe 1", take2(0, 7, 0, 4), second(deny(0, 100, 200))},
		{"both deny: the longer wait binds", take2(0, 7, 1, 4), second(deny(0, 100, 200))},
		{"the second never fits", take2(0, 7, 1, 6), second(tooCostly(0, 200))},
		{"the first never fits, the second denies", take2(0, 7, 3, 4), tooCostly(0, 200)},
		{"neither ever fits: the first on a tie", take2(0, 7, most, most), tooCostly(0, 200)},
		{"nothing was charged so far; a share of 0 is not denied", take2(0, 7, 0, 3), allow(0, 500)},
		{"0 and 0 left: the first on a tie", peek(0, 7, 0), allow(0, 500)},
		{"2 and 0 left", peek(20, 7, 0), second(allow(0, 480))},
		{"1 and 0 left: a share of 0 charges nothing", take2(20, 7, 1, 0), second(allow(0, 480))},
		{"the first owes 1, may owe 0", peek2(20, 7, 2, 0), deny(0, 10, 480)},
		{"each its own: 0 and 2.8 owed as of 20", refund2(20, 7, 1, 2), policy.Allow},
		{"2 and 2 left", peek(20, 7, 0), allow(2, 280)},
		{"2 and 3 owed at 0", peek(0, 7, 0), allow(0, 300)},
		{"past the horizon", peek(1<<62, 7, 0), refused(policy.PastHorizon)},
	})
	even := policy.Limit{Permits: 1, Period: 10, Burst: 2, Permits2: 2, Period2: 20, Burst2: 1}
	run(t, made(t, "dualbucket", even), []row{
		{"2 and 1 left", peek(0, 7, 0), second(allow(1, 0))},
		{"1 and 0 left", take(0, 7, 1), second(allow(0, 10))},
		{"both wait 10: the first on a tie", take2(0, 7, 2, 1), deny(0, 10, 10)},
		{"only the second waits", take2(0, 7, 1, 1), second(deny(0, 10, 10))},
	})
}

// TestDualBucketShares: room is one for both shares, and a share that was never charged owes nothing at any
// now.
func TestDualBucketShares(t *testing.T) {
	run(t, madeFor(t, "dualbucket", twoBuckets, 1), []row{
		{"a share of 0 in the first needs room", take2(100, 7, 0, 1), allow(2, 100)},
		{"", keys(), 1},
		{"100 ticks earlier the first is as new, the second owes 2", peek2(0, 7, 2, 0), allow(2, 200)},
	})
	run(t, madeFor(t, "dualbucket", twoBuckets, 1), []row{
		{"no share, no room", take2(100, 7, 0, 0), allow(2, 0)},
		{"", keys(), 0},
		{"a share of 0 in the second needs room", take2(100, 7, 1, 0), allow(1, 10)},
		{"none left", take2(100, 8, 1, 0), refused(policy.Full)},
		{"", take2(100, 8, 0, 1), refused(policy.Full)},
		{"no share", take2(100, 8, 0, 0), allow(2, 0)},
		{"the second can never fit, room or not", take2(100, 8, 1, 6), second(tooCostly(2, 0))},
		{"90 ticks earlier the first owes 10, the second still nothing", peek2(10, 7, 0, 5), allow(0, 100)},
		{"neither owes anything; the key's state is now as of 110", relimit(110, twoBuckets), policy.Allow},
		{"so 100 ticks earlier the second owes 1", peek2(10, 7, 0, 5), second(deny(0, 100, 100))},
		{"idle in one share is not enough", take2(110, 7, 1, 0), allow(1, 10)},
		{"the first owes 0.1", sweep(119), 1},
		{"and now nothing", sweep(120), 0},
	})
}

// TestDualBucketRelimit: each limit keeps what is owed under it.
func TestDualBucketRelimit(t *testing.T) {
	narrow := policy.Limit{Permits: 1, Period: 10, Burst: 1, Permits2: 1, Period2: 30, Burst2: 5}
	run(t, made(t, "dualbucket", twoBuckets), []row{
		{"owes 2 and 2", take(0, 7, 2), allow(0, 200)},
		{"owes 1 and 1.9, which is 57 thirtieths", relimit(10, narrow), policy.Allow},
		{"", peek2(10, 7, 0, 4), second(deny(0, 27, 57))},
		{"one limit is not two", relimit(10, limit(1, 10, 1)), "invalid_second"},
		{"the second horizon is 1", relimit(10, policy.Limit{Permits: 1, Period: 10, Burst: 1,
			Permits2: 1 << 61, Period2: 1, Burst2: 1}), policy.PastHorizon},
		{"unchanged", peek2(10, 7, 0, 4), second(deny(0, 27, 57))},
	})
}
