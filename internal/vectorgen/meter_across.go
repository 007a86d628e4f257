package vectorgen

// meterAcross are second cases, in other categories, for faults that one category alone would catch.
func meterAcross() map[string][]row {
	return map[string][]row{
		"cost": {
			c("too-costly-leaves-no-key",
				"a new key that asks for too much takes no room: another one finds it free",
				limit(1, 10, 5), maxKeys(1), rules("TOO-COSTLY", "ROOM"),
				take(0, 1, 6, is("too_costly")), held(count(0)), take(0, 2, 5, is("allow")),
				take(0, 1, 1, is("full")), take(0, 1, 6, want("too_costly", 5, never, 0)), held(count(1)))},
		"overflow": {
			c("refund-wraps",
				"q is 2^20: a refund of 2^44 permits is one of 2^64 units, nothing to whoever lets it wrap",
				limit(1, 1<<20, 4), rules("REFUND", "OVERFLOW"),
				take(0, 7, 4), refund(0, 7, 1<<44, is("allow")), take(0, 7, 4, want("allow", 0, 0, 1<<22)),
				refund(0, 7, 1<<44+1), look(0, 7, want("allow", 4, 0, 0))),
			c("relimit-product",
				"a debt of 3 * 2^40 units times a permit of 2^30 is beyond 2^64; the answer is 3 permits of 2^30",
				limit(1, 1<<40, 3), rules("RELIMIT", "OVERFLOW"),
				take(0, 7, 3, want("allow", 0, 0, 3<<40)), relimit(0, singleParams(1, 1<<30, 4)),
				look(0, 7, want("allow", 1, 0, 3<<30)), look(1<<30, 7, want("allow", 2, 0, 2<<30))),
			c("sweep-past-horizon",
				"p is 3: a sweep at 2^63 - 1 is one at the horizon, where a permit of the last tick is still owed",
				limit(3, 1000, 2), rules("SWEEP", "HORIZON"),
				take((pow62-1)/3, 7, 1), take((pow62-1)/3-334, 8, 1), sweep(maxNow, count(1)),
				take((pow62-1)/3, 7, 2, want("deny", 1, 334, 334)))},
		"clock": {
			c("refund-to-an-idle-key",
				"a refund at 1000, when nothing is owed, changes nothing at 105: 5 of the 10 are owed there",
				limit(1, 10, 2), maxKeys(4), rules("REFUND", "CLOCK-BACK"),
				take(100, 7, 1), refund(1000, 7, 1), look(105, 7, want("allow", 1, 0, 5)),
				take(100, 7, 1, want("allow", 0, 0, 20))),
			c("refund-beyond-the-debt",
				"6 given back at 90, where 4 are owed, is as new there and no better: 10 are owed at 80",
				limit(1, 10, 3), maxKeys(4), rules("REFUND", "CLOCK-BACK"),
				take(100, 7, 3), refund(90, 7, 6), look(80, 7, want("allow", 2, 0, 10)),
				look(90, 7, want("allow", 3, 0, 0)))},
		"maxkeys": {
			c("refund-takes-no-room",
				"a refund to a stranger takes no room: the one that there is goes to who spends",
				limit(1, 10, 2), maxKeys(1), rules("REFUND", "ROOM"),
				refund(0, 1, 1), refund(0, 2, 1), held(count(0)), take(0, 3, 1, is("allow")),
				take(0, 1, 1, is("full")))},
		"regression": {
			c("clock-jitter",
				"set back by 20 and caught up again, a clock charges each request once and gives or takes "+
					"nothing else",
				limit(1, 10, 5), rules("CLOCK-BACK"),
				take(100, 7, 1), take(80, 7, 1, want("allow", 1, 0, 40)), take(100, 7, 1, want("allow", 2, 0, 30)),
				take(99, 7, 1, want("allow", 0, 0, 41)), look(100, 7, want("allow", 1, 0, 40))),
			c("horizon-wraps",
				"2^32 permits a tick: at tick 2^32 the units wrap to 0 and the key would be back where it was",
				limit(1<<32, 1, 5), rules("HORIZON", "OVERFLOW"),
				take(0, 7, 5), take(1<<30-1, 7, 5, is("allow")),
				take(1<<30, 7, 1, want("past_horizon", 0, never, 0)),
				take(1<<32, 7, 1, want("past_horizon", 0, never, 0)), take(1<<32+1, 7, 1, is("past_horizon"))),
			c("limit-change-mints",
				"a limit changed there and back must not hand out what was spent, nor charge more than the burst",
				limit(3, 1000, 4), rules("RELIMIT"),
				take(0, 7, 4), relimit(100, singleParams(1, 7, 2)), look(100, 7, want("allow", 0, 0, 14)),
				relimit(101, singleParams(3, 1000, 4)), look(101, 7, want("allow", 2, 0, 620)),
				take(101, 7, 3, want("deny", 2, 286, 620)))},
	}
}

// logAcross are the same for the sliding log.
func logAcross() map[string][]row {
	return map[string][]row{
		"cost": {
			c("too-costly-leaves-no-key",
				"a new key that asks for too much takes no room: another one finds it free",
				window(5, 100), maxKeys(1), rules("TOO-COSTLY", "ROOM"),
				take(0, 1, 6, is("too_costly")), held(count(0)), take(0, 2, 5, is("allow")),
				take(0, 1, 1, is("full")), held(count(1)))},
		"overflow": {
			c("sweep-past-horizon",
				"a sweep at 2^63 - 1 is one at the horizon, where a permit of the last tick still counts",
				window(2, 1000), rules("SWEEP", "HORIZON"),
				take(pow62-1, 7, 1), take(pow62-1001, 8, 1), sweep(maxNow, count(1)),
				take(pow62-1, 7, 2, want("deny", 1, 1000, 1000)))},
		"clock": {
			c("refund-leaves-the-expired",
				"a refund of 9 at 110 takes the permit of 60, which counts, and not that of 0, which counts at 70",
				window(3, 100), maxKeys(4), rules("REFUND", "LOG-CLOCK"),
				take(0, 7, 1), take(60, 7, 1), refund(110, 7, 9), look(70, 7, want("allow", 2, 0, 30)),
				take(70, 7, 3, want("deny", 2, 30, 30)))},
		"maxkeys": {
			c("refund-takes-no-room", "a refund to a stranger takes no room",
				window(2, 100), maxKeys(1), rules("REFUND", "ROOM"),
				refund(0, 1, 1), held(count(0)), take(0, 3, 1, is("allow")), take(0, 1, 1, is("full"))),
			c("sweep-keeps-the-half-spent",
				"of three keys that have spent 1 of 4 a sweep at 50 frees none, so there is no room",
				window(4, 100), maxKeys(3), rules("SWEEP", "ROOM"),
				take(0, 1, 1), take(10, 2, 1), take(20, 3, 1), sweep(50, count(3)), take(50, 4, 1, is("full")),
				sweep(100, count(2)), take(100, 4, 1, is("allow")))},
		"regression": {
			c("denial-drops-entries",
				"a denial that cleans up forgets what counts at an earlier now: the permits of 0 and 5 at 99",
				window(4, 100), rules("UNCHANGED", "LOG-CLOCK"),
				take(0, 7, 1), take(5, 7, 1), take(60, 7, 1), take(70, 7, 1),
				take(110, 7, 3, want("deny", 2, 50, 60)), take(99, 7, 1, want("deny", 0, 1, 71))),
			c("room-reclaimed-in-passing",
				"a bounded table that frees expired keys in passing is never full, and says so to nobody",
				window(1, 10), maxKeys(2), rules("FULL", "ROOM"),
				take(0, 1, 1), take(0, 2, 1), take(500, 3, 1, is("full")), held(count(2)),
				take(500, 1, 1, is("allow")), take(1000, 3, 1, is("full"))),
			c("limit-change-clears",
				"a new limit that starts all logs anew, cuts them to size or moves them to its own now",
				window(4, 100), rules("RELIMIT"),
				take(0, 7, 2), take(50, 7, 1), take(51, 7, 1), relimit(60, windowParams(2, 100)),
				take(60, 7, 1, want("deny", 0, 90, 91)), relimit(60, windowParams(4, 100)),
				take(60, 7, 1, want("deny", 0, 40, 91)), look(110, 7, want("allow", 2, 0, 41)),
				relimit(120, windowParams(4, 200)), look(120, 7, want("allow", 0, 0, 131))),
			c("idle-for-two-to-the-32", "spent exactly 2^32 ticks ago is not spent now",
				window(2, 1000), rules("OVERFLOW"),
				take(7, 7, 2), take(1<<32+7, 7, 2, want("allow", 0, 0, 1000)),
				take(1<<33+7, 7, 1, want("allow", 1, 0, 1000))),
			c("period-in-32-bits", "a period of 2^32 + 1000 ticks is one of 1000 to 32 bits",
				window(2, 1<<32+1000), rules("OVERFLOW", "LOG-WINDOW"),
				take(0, 7, 1), take(500, 7, 1), take(1000, 7, 1, want("deny", 0, 1<<32, 1<<32+500)),
				take(1<<32+1000, 7, 1, is("allow")))},
	}
}
