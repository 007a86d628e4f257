package vectorgen

// dualFaults are, by category, the dual bucket's cases that were made for faults of package mutants; see meterFaults.
func dualFaults() map[string][]row {
	return map[string][]row{
		"boundary": {
			c("smaller-bursts-due",
				"five calls and 1000 bytes are owed when the bursts become 2 and 100: cut, so a call is due "+
					"at 10, a byte at 1",
				callsAndBytes, rules("RELIMIT", "TIE"),
				kills("relimit-not-capped"),
				take2(0, 7, 5, 1000), relimit(0, dualParams(1, 10, 2, 10, 1, 100)),
				take2(0, 7, 1, 0, want("deny", 0, 10, 20), binds("first")),
				take2(0, 7, 0, 10, want("deny", 0, 1, 20), binds("second")),
				take2(10, 7, 1, 100, want("allow", 0, 0, 20)))},
		"carry": {
			c("limits-change-between-permits",
				"1.697 permits of 1000 / 3 ticks are 848.5 parts of 500: 849, rounded up; in the second one "+
					"permit stays one",
				limits(3, 1000, 2, 1, 101, 2), rules("RELIMIT", "CARRY"),
				kills("relimit-is-a-no-op", "relimit-mints-a-burst", "relimit-drops-all-keys",
					"relimit-rounded-down", "relimit-keeps-units", "relimit-keeps-ticks",
					"relimit-keeps-what-is-left"),
				take(0, 7, 2), relimit(101, dualParams(1, 500, 3, 1, 202, 3), is("allow")),
				look(101, 7, want("allow", 1, 0, 849), binds("first")),
				take(101, 7, 2, want("deny", 1, 349, 849), binds("first")),
				take(101, 7, 1, want("allow", 0, 0, 1349), binds("first")))},
		"cost":     dualCostMore(),
		"overflow": append(dualOverflowMore(), dualRelimitFar()...),
		"clock":    dualClockMore(),
		"multikey": {
			c("forget-makes-room", "a forgotten key gives up its room as well as both debts: another takes it",
				peakAndMean, maxKeys(2), rules("FORGET", "ROOM"),
				kills("forget-keeps-the-room", "forget-is-a-no-op"),
				take(0, 1, 3), take(0, 2, 3), forget(1), held(count(1)),
				take(0, 3, 1, want("allow", 2, 0, 100)), take(0, 1, 1, is("full")),
				take(0, 2, 1, want("deny", 0, 10, 300), binds("first")))},
		"maxkeys": dualMaxkeysMore(),
		"refund": {
			c("beyond-the-debt-is-lost",
				"9 given back at 100 leave neither limit owed anything as of 100: seen from 90 that is 10 in "+
					"each",
				peakAndMean, maxKeys(2), rules("REFUND", "CLOCK-BACK"),
				kills("refund-not-clamped"),
				take(100, 7, 2), refund(100, 7, 9, is("allow")),
				look(90, 7, want("allow", 2, 0, 10), binds("first")), look(100, 7, want("allow", 3, 0, 0)))},
		"relimit": {
			c("refused-in-order",
				"all of the first limit before all of the second; 2^62 units are too many, also where the "+
					"product wraps",
				peakAndMean, rules("RELIMIT", "CONFIG"),
				kills("burst-checked-first", "second-checked-first", "bound-of-63-bits", "tolerance-wraps"),
				take(0, 7, 1), relimit(0, dualParams(0, 0, 0, 1, 0, 1), is("invalid_permits")),
				relimit(0, dualParams(1, 10, 0, 1, 0, 1), is("invalid_burst")),
				relimit(0, dualParams(1, 10, 2, 1, pow62, 1), is("limit_too_large")),
				relimit(0, dualParams(1, 10, 2, 1, 1<<40, 1<<40), is("limit_too_large")),
				look(0, 7, want("allow", 2, 0, 100)))},
		"config": {
			c("reduced-first", "2^63 - 1 permits per 2^63 - 1 ticks are one per tick, in either limit",
				limits(maxNow, maxNow, 2, 5, 5, 3), rules("CONFIG", "OVERFLOW"),
				kills("rate-not-reduced"),
				take(0, 7, 2, want("allow", 0, 0, 2)), take(0, 7, 1, want("deny", 0, 1, 2), binds("first")),
				take(pow62-1, 7, 1, is("allow")), take(pow62, 7, 1, is("past_horizon")))},
	}
}

func dualCostMore() []row {
	return []row{
		c("too-late-and-too-costly", "beyond the horizon the horizon is the answer, whatever either cost",
			peakAndMean, rules("ORDER", "HORIZON", "TOO-COSTLY"),
			kills("too-costly-before-horizon", "zero-cost-before-horizon"),
			take2(pow62-1, 7, 1, 6, want("too_costly", 3, never, 0), binds("second")),
			take2(pow62, 7, 1, 6, want("past_horizon", 0, never, 0), binds("first")),
			take2(pow62, 7, 4, 0, is("past_horizon")), take2(pow62, 7, 0, 0, is("past_horizon"))),
		c("zero-in-debt-beyond-tolerance",
			"seen from tick 0 both limits are owed more than their bursts: 0 is allowed, 1 is not, remaining "+
				"is 0",
			peakAndMean, rules("ZERO-COST", "CLOCK-BACK"),
			kills("zero-cost-denied-in-debt", "remaining-below-zero"),
			take(300, 7, 3), take(0, 7, 0, want("allow", 0, 0, 600)),
			take2(0, 7, 0, 1, want("deny", 0, 200, 600), binds("second"))),
		c("leave-no-key", "a free and three too costly requests hold no room",
			callsAndBytes, maxKeys(2), rules("ROOM", "ZERO-COST", "TOO-COSTLY"),
			kills("zero-cost-makes-a-key", "too-costly-makes-a-key"),
			take2(0, 1, 0, 0, is("allow")), take2(0, 2, 6, 1, is("too_costly")),
			take2(0, 3, 1, 1001, is("too_costly")), take2(0, 4, 6, 1001, is("too_costly")), held(count(0))),
		c("zero-leaves-an-idle-key-alone",
			"a request of nothing at 1000 to a key idle since 100: seen from 5 it owes 5 and 95 as before",
			peakAndMean, maxKeys(2), rules("ZERO-COST", "CLOCK-BACK"),
			kills("zero-cost-moves-time"),
			take(0, 7, 1), take2(1000, 7, 0, 0, want("allow", 3, 0, 0)), look(5, 7, want("allow", 2, 0, 95))),
		c("zero-share-leaves-its-limit-alone",
			"calls at 1000 without bytes: seen from 5 the bytes of 0 are owed as before, 5 ticks of them",
			callsAndBytes, maxKeys(2), rules("DUAL-COSTS", "CLOCK-BACK"),
			kills("zero-share-moves-time"),
			take2(0, 7, 0, 100), take2(1000, 7, 1, 0, is("allow")),
			take2(5, 7, 0, 951, want("deny", 0, 1, 1005), binds("second"))),
		c("either-share-needs-a-room",
			"with one room, taken by a call, a byte of another key is full like a call of it",
			callsAndBytes, maxKeys(1), rules("DUAL-COSTS", "ROOM"),
			kills("no-room-needed-without-a-first-share", "key-lost-without-a-first-share"),
			take2(0, 1, 0, 7, is("allow")), held(count(1)), take2(0, 2, 0, 1, want("full", 0, never, 0)),
			take2(0, 2, 1, 0, is("full")), take2(0, 1, 0, 994, want("deny", 5, 1, 1), binds("second"))),
		c("refunds-by-share",
			"3 calls and 600 bytes, of which 1 and 500 come back: 2 calls and 100 bytes stay spent",
			callsAndBytes, rules("REFUND", "DUAL-COSTS"),
			kills("refund-of-the-first-cost-to-both", "refund-to-the-first-limit-only",
				"refund-empties-more-than-it-may"),
			take2(0, 7, 3, 600), refund2(0, 7, 1, 500, is("allow")),
			take2(0, 7, 4, 0, want("deny", 3, 10, 20), binds("first")),
			take2(0, 7, 0, 901, want("deny", 3, 1, 20), binds("second")),
			take2(0, 7, 3, 900, want("allow", 0, 0, 100))),
	}
}

func dualOverflowMore() []row {
	const third = (pow62 - 1) / 3
	return []row{
		c("refund-past-the-horizon",
			"a refund one tick past the nearer horizon gives nothing back, one at it does",
			limits(1, 10, 1, 3, 1000, 1), rules("REFUND", "HORIZON"),
			kills("refund-past-the-horizon"),
			take(third, 7, 1), refund(third+1, 7, 1, is("past_horizon")), take(third, 7, 1, is("deny")),
			refund(third, 7, 1, is("allow")), take(third, 7, 1, is("allow"))),
	}
}

func dualRelimitFar() []row {
	const third = (pow62 - 1) / 3
	return []row{
		c("sweep-at-the-horizon",
			"a sweep past the horizon is one at it: of two keys, idle 1 tick before it and 9 after, one stays",
			limits(1, 10, 2, 1, 5, 2), rules("SWEEP", "HORIZON"),
			kills("sweep-past-the-horizon-ignored", "sweep-past-the-horizon-not-capped"),
			take(pow62-12, 1, 1), take(pow62-2, 2, 1), sweep(pow62+100, count(1)),
			take(pow62-1, 2, 2, want("deny", 1, 9, 9), binds("first"))),
		c("relimit-past-either-horizon",
			"with a second limit of 3 per 1000 the horizon is a third as far: beyond either no limit is "+
				"changed",
			limits(1, 10, 2, 1, 20, 2), maxKeys(2), rules("RELIMIT", "HORIZON"),
			kills("relimit-past-the-horizon", "relimit-past-the-old-horizon", "relimit-past-the-new-horizon"),
			take(0, 7, 2), relimit(third+1, dualParams(1, 10, 2, 3, 1000, 1), is("past_horizon")),
			look(0, 7, want("allow", 0, 0, 40)), relimit(third, dualParams(1, 10, 2, 3, 1000, 1), is("allow")),
			relimit(third+1, dualParams(1, 10, 2, 1, 20, 2), is("past_horizon")),
			take(third, 7, 1, want("allow", 0, 0, 334), binds("second"))),
	}
}

func dualClockMore() []row {
	return []row{
		c("far-from-zero",
			"around 2^53 + 1, where a double skips every other tick, a tick back is a tick more owed",
			peakAndMean, rules("CLOCK-BACK", "OVERFLOW"),
			kills("time-in-doubles"),
			take(1<<53+1, 7, 1, want("allow", 2, 0, 100)), look(1<<53, 7, want("allow", 1, 0, 101)),
			look(1<<53+3, 7, want("allow", 2, 0, 98))),
		c("idle-when-the-limit-changed",
			"a key idle at 200, when the limits change, owes nothing as of 200: seen from 195 that is 5",
			peakAndMean, maxKeys(2), rules("CLOCK-BACK", "RELIMIT"),
			kills("relimit-idle-as-never-seen"),
			take(0, 7, 1), relimit(200, dualParams(1, 20, 3, 1, 50, 5)),
			look(195, 7, want("allow", 2, 0, 5), binds("first"))),
	}
}

func dualMaxkeysMore() []row {
	return []row{
		c("no-room-at-all", "a table without a room would answer full to everybody: refused when made",
			peakAndMean, maxKeys(0), rules("ROOM", "CONFIG"), refused("invalid_max_keys"),
			kills("max-keys-not-checked")),
		c("limits-before-rooms", "a second limit without permits is refused before a table without rooms",
			limits(1, 10, 2, 0, 10, 2), maxKeys(0), rules("ROOM", "CONFIG"), refused("invalid_permits"),
			kills("max-keys-checked-first")),
		c("peeks-are-told-full",
			"once the one room is taken a peek at another key is full, whichever share it asks for",
			peakAndMean, maxKeys(1), rules("FULL", "PEEK"),
			kills("peek-never-full"),
			take(0, 4, 1, is("allow")), peek(0, 5, 1, want("full", 0, never, 0), binds("first")),
			peek2(0, 5, 0, 1, is("full")), peek2(0, 5, 3, 0, is("full")),
			peek(0, 4, 1, want("allow", 2, 0, 100), binds("first"))),
		c("idle-through-new-limits",
			"of two keys one is idle when the limits change: both hold their rooms after it",
			peakAndMean, maxKeys(2), rules("ROOM", "RELIMIT"),
			kills("relimit-idle-key-loses-its-room", "relimit-drops-all-keys"),
			take(0, 1, 1), take(150, 2, 3), relimit(150, dualParams(1, 30, 3, 1, 100, 5), is("allow")),
			held(count(2)), take(150, 3, 1, is("full")), take(150, 1, 3, want("allow", 0, 0, 300)),
			take(150, 2, 1, want("deny", 0, 30, 300), binds("first"))),
	}
}
