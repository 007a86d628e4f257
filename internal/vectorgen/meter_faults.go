package vectorgen

// meterFaults are, by category, cases that were made for faults of package mutants that no other case found, or none of
// another category: each fault is caught in two, so that a port that leaves one out still hears of it.
func meterFaults() map[string][]row {
	return map[string][]row{
		"boundary": {
			c("smaller-burst-due",
				"five are owed when the burst becomes 2: cut to 2, so one is due at tick 10 and not at 9 or "+
					"40",
				limit(1, 10, 5), rules("RELIMIT", "TIE"),
				kills("relimit-not-capped"),
				take(0, 7, 5), relimit(0, singleParams(1, 10, 2)), take(0, 7, 1, want("deny", 0, 10, 20)),
				take(9, 7, 1, want("deny", 0, 1, 11)), take(10, 7, 1, want("allow", 0, 0, 20)))},
		"carry": {
			c("limit-changes-between-permits",
				"1.697 permits of 1000 / 3 ticks are 848.5 parts of 500: 849, rounded up",
				limit(3, 1000, 2), rules("RELIMIT", "CARRY"),
				kills("relimit-is-a-no-op", "relimit-mints-a-burst", "relimit-drops-all-keys",
					"relimit-rounded-down", "relimit-keeps-units", "relimit-keeps-ticks",
					"relimit-keeps-what-is-left"),
				take(0, 7, 2), relimit(101, singleParams(1, 500, 3), is("allow")),
				look(101, 7, want("allow", 1, 0, 849)), take(101, 7, 2, want("deny", 1, 349, 849)),
				take(101, 7, 1, want("allow", 0, 0, 1349)))},
		"cost": {
			c("too-late-and-too-costly", "beyond the horizon the horizon is the answer, whatever the cost",
				limit(1, 10, 3), rules("ORDER", "HORIZON", "TOO-COSTLY"),
				kills("too-costly-before-horizon", "zero-cost-before-horizon", "remaining-0-for-too-costly"),
				take(pow62-1, 7, 4, want("too_costly", 3, never, 0)),
				take(pow62, 7, 4, want("past_horizon", 0, never, 0)),
				take(pow62, 7, 0, want("past_horizon", 0, never, 0)),
				take(maxNow, 7, maxNow, want("past_horizon", 0, never, 0)))},
		"overflow": meterOverflowMore(),
		"clock":    meterClockMore(),
		"multikey": {
			c("forget-makes-room", "a forgotten key gives up its room as well as its debt: another takes it",
				limit(1, 10, 2), maxKeys(2), rules("FORGET", "ROOM"),
				kills("forget-keeps-the-room", "forget-is-a-no-op"),
				take(0, 1, 2), take(0, 2, 2), forget(1), held(count(1)), take(0, 3, 1, want("allow", 1, 0, 10)),
				take(0, 1, 1, is("full")), take(0, 2, 1, want("deny", 0, 10, 20)))},
		"maxkeys": meterMaxkeysMore(),
		"peek": {
			c("leaves-an-idle-key-alone", "a peek at 1000 at a key idle since 10: seen from 5 it owes 5 as before",
				limit(1, 10, 2), maxKeys(2), rules("PEEK", "CLOCK-BACK"),
				kills("peek-moves-time"),
				take(0, 7, 1), peek(1000, 7, 1, want("allow", 2, 0, 0)), look(5, 7, want("allow", 1, 0, 5)),
				peek(5, 7, 2, want("deny", 1, 5, 5))),
			c("horizon-wraps", "now * 3 is 2^64 + 2 at this tick: a peek there is past the horizon like a take",
				limit(3, 1000, 1), rules("PEEK", "HORIZON"),
				kills("horizon-wraps"),
				take(0, 7, 1), peek(6_148_914_691_236_517_206, 7, 1, want("past_horizon", 0, never, 0)),
				peek(0, 7, 1, want("deny", 0, 334, 334)))},
		"refund": {
			c("beyond-the-debt-is-lost",
				"5 given back of 2 spent at 100 leave nothing owed as of 100: seen from 90 that is 10, not "+
					"less",
				limit(1, 10, 3), maxKeys(2), rules("REFUND", "CLOCK-BACK"),
				kills("refund-not-clamped"),
				take(100, 7, 2), refund(100, 7, 5, is("allow")), look(90, 7, want("allow", 2, 0, 10)),
				take(90, 7, 3, want("deny", 2, 10, 10)), look(100, 7, want("allow", 3, 0, 0)))},
		"relimit": {
			c("refused-in-order",
				"permits before period before burst, and 2^62 units are too many, also where the product "+
					"wraps",
				limit(1, 10, 2), rules("RELIMIT", "CONFIG"),
				kills("burst-checked-first", "bound-of-63-bits", "tolerance-wraps"),
				take(0, 7, 1), relimit(0, singleParams(0, 0, 0), is("invalid_permits")),
				relimit(0, singleParams(1, 0, 0), is("invalid_period")),
				relimit(0, singleParams(0, 10, 0), is("invalid_permits")),
				relimit(0, singleParams(1, pow62, 1), is("limit_too_large")),
				relimit(0, singleParams(1, 1<<40, 1<<40), is("limit_too_large")),
				look(0, 7, want("allow", 1, 0, 10)))},
	}
}

func meterOverflowMore() []row {
	const third = (pow62 - 1) / 3
	return []row{
		c("refund-past-the-horizon", "a refund one tick past the horizon gives nothing back, one at it does",
			limit(3, 1000, 1), rules("REFUND", "HORIZON"),
			kills("refund-past-the-horizon"),
			take(third, 7, 1), refund(third+1, 7, 1, is("past_horizon")),
			take(third, 7, 1, want("deny", 0, 334, 334)), refund(third, 7, 1, is("allow")),
			take(third, 7, 1, is("allow"))),
		c("relimit-past-either-horizon",
			"3 per 1000 ticks sees a third as far as 1 per 10: beyond either no limit is changed",
			limit(1, 10, 2), maxKeys(2), rules("RELIMIT", "HORIZON"),
			kills("relimit-past-the-horizon", "relimit-past-the-old-horizon", "relimit-past-the-new-horizon"),
			take(0, 7, 2), relimit(third+1, singleParams(3, 1000, 1), is("past_horizon")),
			look(0, 7, want("allow", 0, 0, 20)), relimit(third, singleParams(3, 1000, 1), is("allow")),
			relimit(third+1, singleParams(1, 10, 2), is("past_horizon")),
			take(third, 7, 1, want("allow", 0, 0, 334))),
	}
}

func meterClockMore() []row {
	return []row{
		c("peek-while-idle", "peeks at 50 and 5000 at a key idle since 20 move nothing: seen from 15 it owes 5",
			limit(1, 10, 2), maxKeys(2), rules("CLOCK-BACK", "PEEK"),
			kills("peek-moves-time"),
			take(0, 7, 2), peek(50, 7, 2), peek(5000, 7, 1), look(15, 7, want("allow", 1, 0, 5)),
			look(0, 7, want("allow", 0, 0, 20))),
		c("idle-when-the-limit-changed",
			"a key idle at 50, when the limit changes, owes nothing as of 50: seen from 45 that is 5",
			limit(1, 10, 2), maxKeys(2), rules("CLOCK-BACK", "RELIMIT"),
			kills("relimit-idle-as-never-seen"),
			take(0, 7, 1), relimit(50, singleParams(1, 20, 3)), look(50, 7, want("allow", 3, 0, 0)),
			look(45, 7, want("allow", 2, 0, 5)), take(30, 7, 3, want("deny", 2, 20, 20))),
	}
}

func meterMaxkeysMore() []row {
	return []row{
		c("no-room-at-all", "a table without a room would answer full to everybody: refused when made",
			limit(1, 10, 2), maxKeys(0), rules("ROOM", "CONFIG"), refused("invalid_max_keys"),
			kills("max-keys-not-checked")),
		c("limit-before-rooms", "a limit without permits is refused before a table without rooms",
			limit(0, 10, 2), maxKeys(0), rules("ROOM", "CONFIG"), refused("invalid_permits"),
			kills("max-keys-checked-first")),
		c("idle-through-a-new-limit",
			"of two keys one is idle when the limit changes: both hold their rooms after it",
			limit(1, 10, 2), maxKeys(2), rules("ROOM", "RELIMIT"),
			kills("relimit-idle-key-loses-its-room", "relimit-drops-all-keys"),
			take(0, 1, 1), take(50, 2, 2), relimit(50, singleParams(1, 30, 2), is("allow")), held(count(2)),
			take(50, 3, 1, is("full")), take(50, 1, 2, want("allow", 0, 0, 60)),
			take(50, 2, 1, want("deny", 0, 30, 60))),
	}
}
