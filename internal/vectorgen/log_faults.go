package vectorgen

// logFaults are, by category, the sliding log's cases that were made for faults of package mutants; see meterFaults.
func logFaults() map[string][]row {
	return map[string][]row{
		"carry": {
			c("limit-changes-within-a-period",
				"a period of 100 becomes one of 150 and 3 permits become 4: what was spent at 0 and 60 "+
					"counts until 150 and 210",
				window(3, 100), rules("RELIMIT", "LOG-WINDOW"),
				kills("relimit-is-a-no-op", "relimit-mints-a-burst", "relimit-drops-all-keys"),
				take(0, 7, 1), take(60, 7, 2), relimit(70, windowParams(4, 150), is("allow")),
				look(70, 7, want("allow", 1, 0, 140)), take(120, 7, 1, want("allow", 0, 0, 150)),
				take(149, 7, 1, want("deny", 0, 1, 121)), take(150, 7, 1, is("allow"))),
			c("there-and-back",
				"under 2 per 30 ticks the permits of 0 and 10 do not count and one is too many; under 4 per "+
					"100 all do again",
				window(4, 100), rules("RELIMIT", "LOG-WINDOW"),
				kills("relimit-drops-what-has-expired", "relimit-trims-to-the-new-permits"),
				take(0, 7, 1), take(10, 7, 1), take(40, 7, 1), relimit(50, windowParams(2, 30)),
				look(50, 7, want("allow", 1, 0, 20)), relimit(50, windowParams(1, 100)),
				look(50, 7, want("allow", 0, 0, 90)), relimit(50, windowParams(4, 100)),
				look(50, 7, want("allow", 1, 0, 90)), take(50, 7, 2, want("deny", 1, 50, 90)))},
		"cost": {
			c("too-late-and-too-costly", "beyond the horizon the horizon is the answer, whatever the cost",
				window(3, 100), rules("ORDER", "HORIZON", "TOO-COSTLY"),
				kills("too-costly-before-horizon", "zero-cost-before-horizon", "remaining-0-for-too-costly"),
				take(pow62-1, 7, 4, want("too_costly", 3, never, 0)),
				take(pow62, 7, 4, want("past_horizon", 0, never, 0)),
				take(pow62, 7, 0, want("past_horizon", 0, never, 0)),
				take(maxNow, 7, maxNow, want("past_horizon", 0, never, 0))),
			c("zero-over-a-lowered-limit",
				"5 spent under a limit lowered to 2 leave 0 and not less: a cost of 0 is allowed there, one "+
					"of 1 is not",
				window(5, 100), maxKeys(2), rules("ZERO-COST", "REMAINING", "RELIMIT"),
				kills("zero-cost-denied-in-debt", "remaining-below-zero"),
				take(0, 7, 2), take(30, 7, 3), relimit(30, windowParams(2, 100)),
				take(30, 7, 0, want("allow", 0, 0, 100)), take(30, 7, 1, want("deny", 0, 100, 100)),
				take(100, 7, 0, want("allow", 0, 0, 30)))},
		"overflow": logOverflowMore(),
		"clock": {
			c("refund-at-an-earlier-now",
				"at 20 the log stands at 60: a refund of 9 takes back the 3 that count there, and no more",
				window(4, 100), rules("REFUND", "LOG-CLOCK"),
				kills("refund-not-clamped"),
				take(0, 7, 1), take(60, 7, 2), refund(20, 7, 9, is("allow")),
				look(20, 7, want("allow", 4, 0, 0)), take(20, 7, 4, want("allow", 0, 0, 100)),
				take(20, 7, 1, want("deny", 0, 100, 100)))},
		"multikey": {
			c("forget-makes-room", "a forgotten key gives up its room as well as its log: another takes it",
				window(2, 100), maxKeys(2), rules("FORGET", "ROOM"),
				kills("forget-keeps-the-room", "forget-is-a-no-op"),
				take(0, 1, 2), take(0, 2, 2), forget(1), held(count(1)),
				take(0, 3, 1, want("allow", 1, 0, 100)), take(0, 1, 1, is("full")),
				take(0, 2, 1, want("deny", 0, 100, 100)))},
		"maxkeys": logMaxkeysMore(),
		"relimit": logRelimitMore(),
	}
}

func logOverflowMore() []row {
	return []row{
		c("refund-past-the-horizon", "a refund one tick past the horizon gives nothing back, one at it does",
			window(1, 100), rules("REFUND", "HORIZON"),
			kills("refund-past-the-horizon"),
			take(pow62-1, 7, 1), refund(pow62, 7, 1, is("past_horizon")),
			take(pow62-1, 7, 1, want("deny", 0, 100, 100)), refund(pow62-1, 7, 1, is("allow")),
			take(pow62-1, 7, 1, is("allow"))),
		c("relimit-past-the-horizon", "a change of limit at 2^62 is not made, one at 2^62 - 1 is",
			window(2, 100), rules("RELIMIT", "HORIZON"),
			kills("relimit-past-the-horizon"),
			take(pow62-1, 7, 2), relimit(pow62, windowParams(5, 100), is("past_horizon")),
			take(pow62-1, 7, 1, want("deny", 0, 100, 100)), relimit(pow62-1, windowParams(5, 100), is("allow")),
			take(pow62-1, 7, 3, want("allow", 0, 0, 100))),
	}
}

func logMaxkeysMore() []row {
	return []row{
		c("no-room-at-all", "a table without a room would answer full to everybody: refused when made",
			window(2, 100), maxKeys(0), rules("ROOM", "CONFIG"), refused("invalid_max_keys"),
			kills("max-keys-not-checked")),
		c("limit-before-rooms", "a limit without permits is refused before a table without rooms",
			window(0, 100), maxKeys(0), rules("ROOM", "CONFIG"), refused("invalid_permits"),
			kills("max-keys-checked-first")),
		c("peeks-take-no-room",
			"peeks at three keys leave both rooms free; when they are taken a peek is full too",
			window(2, 100), maxKeys(2), rules("ROOM", "PEEK"),
			kills("peek-makes-a-key", "peek-never-full"),
			peek(0, 1, 1, want("allow", 2, 0, 0)), peek(0, 2, 1), peek(0, 3, 1), held(count(0)),
			take(0, 4, 1, is("allow")), take(0, 5, 1, is("allow")), peek(0, 6, 1, want("full", 0, never, 0)),
			take(0, 6, 1, is("full"))),
		c("idle-through-a-new-limit",
			"of two keys one is idle when the limit changes: both hold their rooms after it",
			window(2, 100), maxKeys(2), rules("ROOM", "RELIMIT"),
			kills("relimit-idle-key-loses-its-room", "relimit-drops-all-keys"),
			take(0, 1, 1), take(150, 2, 2), relimit(150, windowParams(2, 120), is("allow")), held(count(2)),
			take(150, 3, 1, is("full")), take(150, 1, 2, want("allow", 0, 0, 120)),
			take(150, 2, 1, want("deny", 0, 120, 120))),
	}
}

func logRelimitMore() []row {
	return []row{
		c("refused-in-order", "permits before period before burst",
			window(2, 100), rules("RELIMIT", "CONFIG"),
			kills("burst-checked-first"),
			take(0, 7, 1), relimit(0, singleParams(0, 0, 5), is("invalid_permits")),
			relimit(0, singleParams(2, 0, 5), is("invalid_period")),
			relimit(0, singleParams(2, 100, 5), is("invalid_burst")), look(0, 7, want("allow", 1, 0, 100))),
		c("denial-drops-nothing",
			"a denial at 120 leaves the expired permit of 0 in the log: under a period of 200 it counts "+
				"again",
			window(3, 100), maxKeys(2), rules("RELIMIT", "UNCHANGED"),
			kills("denied-request-drops-expired"),
			take(0, 7, 1), take(60, 7, 2), take(120, 7, 2, want("deny", 1, 40, 40)),
			relimit(120, windowParams(3, 200)), look(120, 7, want("allow", 0, 0, 140))),
		c("expired-under-a-shorter-period",
			"a period of 30 and back to 100 at one tick: the permit of 0, expired under 30, was kept and "+
				"counts again",
			window(3, 100), rules("RELIMIT"),
			kills("relimit-drops-what-has-expired"),
			take(0, 7, 1), take(50, 7, 1), relimit(60, windowParams(3, 30)),
			look(60, 7, want("allow", 2, 0, 20)), relimit(60, windowParams(3, 100)),
			look(60, 7, want("allow", 1, 0, 90))),
	}
}
