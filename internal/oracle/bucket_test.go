package oracle_test

import (
	"testing"

	"weir/policy"
)

// TestThreePerThousand: T is 333.33 ticks, so a permit leaks 0.003 a tick and nothing may be lost of it.
func TestThreePerThousand(t *testing.T) {
	for _, name := range []string{"gcra", "tokenbucket"} {
		run(t, made(t, name, limit(3, 1000, 1)), []row{
			{"owes 1", take(0, 7, 1), allow(0, 334)},
			{"0.001 is still owed", take(333, 7, 1), deny(0, 1, 1)},
			{"nothing is", take(334, 7, 1), allow(0, 334)},
		})
		run(t, made(t, name, limit(3, 1000, 2)), []row{
			{"owes 1", take(0, 7, 1), allow(1, 334)},
			{"owes 2", take(0, 7, 1), allow(0, 667)},
			{"owes 1.001, for 334 more ticks", take(333, 7, 1), deny(0, 1, 334)},
			{"owes 0.998 + 1, which is exactly 666 ticks", take(334, 7, 1), allow(0, 666)},
			{"owes 1.998 - 0.996", take(666, 7, 1), deny(0, 1, 334)},
			{"owes 0.999 + 1: the fraction is kept", take(667, 7, 1), allow(0, 667)},
		})
	}
}

// TestHundredPerSecond in nanoseconds: a permit every 10 ms.
func TestHundredPerSecond(t *testing.T) {
	m := made(t, "gcra", limit(100, 1e9, 10))
	for i := range uint64(10) {
		run(t, m, []row{{"of 15 at once the first 10", take(0, 7, 1), allow(9-i, (i+1)*10_000_000)}})
	}
	for range 5 {
		run(t, m, []row{{"the other 5 not", take(0, 7, 1), deny(0, 10_000_000, 100_000_000)}})
	}
	run(t, m, []row{
		{"one nanosecond early", take(9_999_999, 7, 1), deny(0, 1, 90_000_001)},
		{"on time", take(10_000_000, 7, 1), allow(0, 100_000_000)},
		{"another key has its own", take(10_000_000, 0, 10), allow(0, 100_000_000)},
		{"5 at 10 ms: when 5 of 10 have leaked", take(10_000_000, 7, 5), deny(0, 50_000_000, 100_000_000)},
		{"idle time is no credit", take(1e18, 7, 10), allow(0, 100_000_000)},
		{"", take(1e18, 7, 1), deny(0, 10_000_000, 100_000_000)},
	})
}

// TestLargeNumbers at the edge of what the parameters may be.
func TestLargeNumbers(t *testing.T) {
	const full = 1<<62 - 1
	run(t, made(t, "tokenbucket", limit(1, 1, full)), []row{
		{"a permit a tick, all at once", take(0, 7, full), allow(0, full)},
		{"past the horizon, and yet exact", take(full, 7, full), allow(0, full)},
		{"a sweep beyond the horizon is at the horizon, where all is owed", sweep(most), 1},
		{"all is owed: one more takes one tick", peek(full, 7, 1), deny(0, 1, full)},
		{"at 0, twice that is owed", peek(0, 7, full), deny(0, 2*full, 2*full)},
	})
	run(t, made(t, "gcra", limit(1, full, 1)), []row{
		{"a permit in 2^62-1 ticks", take(5, 7, 1), allow(0, full)},
		{"", take(full, 7, 1), deny(0, 5, 5)},
	})
	run(t, made(t, "gcra", limit(full, 1, 1)), []row{
		{"2^62-1 permits a tick, but a burst of 1", take(0, 7, 1), allow(0, 1)},
		{"", take(0, 7, 1), deny(0, 1, 1)},
		{"", take(1, 7, 1), allow(0, 1)},
	})
}

// TestBucketStepsBack: at an earlier tick more is owed, 0.1 permits for each.
func TestBucketStepsBack(t *testing.T) {
	for _, name := range []string{"gcra", "tokenbucket"} {
		run(t, made(t, name, limit(1, 10, 3)), []row{
			{"owes 1", take(100, 7, 1), allow(2, 10)},
			{"owes 3", peek(80, 7, 1), deny(0, 10, 30)},
			{"owes 5, more than the burst", peek(60, 7, 3), deny(0, 50, 50)},
			{"costs nothing: allowed all the same", take(60, 7, 0), allow(0, 50)},
			{"a key without state owes nothing", peek(0, 8, 1), allow(3, 0)},
			{"owes 2 + 1, as of 90", take(90, 7, 1), allow(0, 30)},
			{"owes 2 at 100: nothing was minted", peek(100, 7, 2), deny(1, 10, 20)},
			{"idle since 120, yet 10 ticks before it owes 1", peek(110, 7, 3), deny(2, 10, 10)},
			{"a sweep there leaves it", sweep(110), 1},
			{"", sweep(120), 0},
		})
	}
}

// TestBucketRefund: what is owed at now, less what comes back.
func TestBucketRefund(t *testing.T) {
	for _, name := range []string{"gcra", "tokenbucket"} {
		run(t, made(t, name, limit(1, 10, 10)), []row{
			{"an unknown key stays unknown", refund(0, 7, 5), policy.Allow},
			{"", keys(), 0},
			{"owes 5", take(0, 7, 5), allow(5, 50)},
			{"4 - 2 owed as of 10", refund(10, 7, 2), policy.Allow},
			{"", peek(10, 7, 0), allow(8, 20)},
			{"and 3 at 0", peek(0, 7, 0), allow(7, 30)},
			{"nothing comes back", refund(10, 7, 0), policy.Allow},
			{"nothing changes", peek(10, 7, 0), allow(8, 20)},
			{"never better than new, however much", refund(10, 7, most), policy.Allow},
			{"owes 0 as of 10", peek(10, 7, 0), allow(10, 0)},
			{"and so 1 at 0", peek(0, 7, 0), allow(9, 10)},
			{"keeps its room", keys(), 1},
			{"owes nothing: nothing changes", refund(100, 7, 1), policy.Allow},
			{"or it would owe 1 at 90", peek(90, 7, 0), allow(10, 0)},
			{"", sweep(10), 0},
		})
	}
}

// TestBucketRelimit: what is owed is kept, rounded up to what the new limit can count.
func TestBucketRelimit(t *testing.T) {
	run(t, made(t, "gcra", limit(3, 1000, 5)), []row{
		{"owes 1", take(0, 7, 1), allow(4, 334)},
		{"another key", take(0, 8, 5), allow(0, 1667)},
		{"key 7 owes 0.7, exactly 7 tenths; key 8 owes 4.7", relimit(100, limit(1, 10, 5)), policy.Allow},
		{"", peek(100, 7, 0), allow(4, 7)},
		{"", peek(100, 8, 1), deny(0, 7, 47)},
		{"0.7 is 2.1 thirds: owes 3 thirds", relimit(100, limit(2, 6, 5)), policy.Allow},
		{"", peek(100, 7, 0), allow(4, 3)},
		{"4.7 is 14.1 thirds: owes 5", peek(100, 8, 0), allow(0, 15)},
		{"key 8 owes no more than the new burst", relimit(100, limit(1, 10, 2)), policy.Allow},
		{"", peek(100, 8, 0), allow(0, 20)},
		{"and gets it back with a larger one", relimit(100, limit(1, 10, 5)), policy.Allow},
		{"", peek(100, 8, 0), allow(3, 20)},
		{"key 7 idle at 110; key 8 owes 1", relimit(110, limit(1, 5, 5)), policy.Allow},
		{"an idle key keeps its room", keys(), 2},
		{"and owes nothing as of 110, so 2 at 100", peek(100, 7, 0), allow(3, 10)},
		{"1 + 2", peek(100, 8, 0), allow(2, 15)},
		{"invalid: nothing changes", relimit(110, limit(1, 5, 0)), "invalid_burst"},
		{"invalid whatever the time", relimit(most, limit(0, 5, 0)), "invalid_permits"},
		{"past the old horizon", relimit(1<<62, limit(1, 1, 1)), policy.PastHorizon},
		{"past the new one, which is 1", relimit(110, limit(1<<61, 1, 1)), policy.PastHorizon},
		{"nothing has changed", peek(110, 8, 5), deny(4, 5, 5)},
		{"a key never seen", peek(0, 9, 5), allow(5, 0)},
	})
}

// TestLeakyBucket: delay is until what was in the bucket before has leaked; the rest is as for the others.
func TestLeakyBucket(t *testing.T) {
	run(t, made(t, "leakybucket", limit(1, 10, 3)), []row{
		{"empty", take(0, 7, 1), allow(2, 10)},
		{"behind 1", take(0, 7, 1), delayed(10, allow(1, 20))},
		{"behind 1.5", take(5, 7, 1), delayed(15, allow(0, 25))},
		{"denied: no delay", take(5, 7, 1), deny(0, 5, 25)},
		{"too costly: no delay", take(5, 7, 4), tooCostly(0, 25)},
		{"costs nothing, behind 2.5", take(5, 7, 0), delayed(25, allow(0, 25))},
		{"peek too", peek(10, 7, 1), delayed(20, allow(1, 20))},
		{"one tick before empty", peek(29, 7, 1), delayed(1, allow(2, 1))},
		{"empty", peek(30, 7, 1), allow(3, 0)},
		{"past the horizon", peek(1<<62, 7, 0), refused(policy.PastHorizon)},
	})
	run(t, made(t, "leakybucket", limit(3, 1000, 2)), []row{
		{"", take(0, 7, 1), allow(1, 334)},
		{"333.33 ticks, rounded up", take(0, 7, 1), delayed(334, allow(0, 667))},
		{"1.001 before", take(333, 7, 0), delayed(334, allow(0, 334))},
	})
}
