package vectorgen

import "maps"

// tokenRows are what a token bucket has besides: what is in it is the picture, whole tokens and the fraction.
func tokenRows() map[string][]row {
	return map[string][]row{
		"basic": {
			c("starts-full", "a bucket never seen is full: 4 tokens of 4",
				limit(1, 10, 4), rules("BURST"), kills("starts-empty"),
				look(0, 7, want("allow", 4, 0, 0)), take(0, 7, 4, want("allow", 0, 0, 40)),
				take(0, 7, 1, is("deny"))),
			c("fills-to-the-brim", "an empty bucket has 1, 2, 3 and then 4 tokens, and 4 for ever after",
				limit(1, 10, 4), rules("IDLE", "REMAINING"), kills("no-cap"),
				take(0, 7, 4), look(10, 7, want("allow", 1, 0, 30)), look(20, 7),
				look(35, 7, want("allow", 3, 0, 5)), look(40, 7, want("allow", 4, 0, 0)), look(41, 7),
				look(4_000_000, 7, want("allow", 4, 0, 0)))},
		"boundary": {
			c("brim",
				"a token that comes to a bucket short of it by a tenth fills it, and one tick later adds nothing",
				limit(1, 10, 2), rules("IDLE", "CARRY"), kills("last-not-moved-while-full"),
				take(0, 7, 1), take(9, 7, 2, want("deny", 1, 1, 1)), take(11, 7, 2, want("allow", 0, 0, 20)),
				take(30, 7, 2, want("deny", 1, 1, 1)), take(31, 7, 2, is("allow")))},
		"carry": {
			c("fraction-read-off",
				"at tick 101 of 3 per 1000 there is 0.303 of a token: 233 ticks are missing, not 334",
				limit(3, 1000, 2), rules("CARRY", "RETRY"),
				take(0, 7, 2), take(101, 7, 1, want("deny", 0, 233, 566)),
				take(434, 7, 1, want("allow", 0, 0, 566))),
			c("sips",
				"tokens are taken late, at 334 and 668: what came while the bucket was full is lost, the next "+
					"is due at 1002",
				limit(3, 1000, 1), rules("CARRY"), kills("fraction-lost-at-refill"),
				take(0, 7, 1), take(334, 7, 1, is("allow")), take(668, 7, 1, is("allow")),
				take(1001, 7, 1, want("deny", 0, 1, 1)), take(1002, 7, 1, is("allow")))},
	}
}

// leakyRows are what a leaky bucket has besides: the delay of a queue.
func leakyRows() map[string][]row {
	rows := map[string][]row{
		"basic": {
			c("delay", "three at once leave a queue one after the other: held for 0, 10 and 20 ticks",
				limit(1, 10, 3), rules("DELAY"),
				take(0, 7, 1, want("allow", 2, 0, 10), delayed(0)), take(0, 7, 1, delayed(10)),
				take(0, 7, 1, want("allow", 0, 0, 30), delayed(20)),
				take(0, 7, 1, want("deny", 0, 10, 30), delayed(0))),
			c("delay-shrinks", "the queue empties as time goes by: 30 ahead at tick 0 are 5 ahead at tick 25",
				limit(1, 10, 4), rules("DELAY"),
				take(0, 7, 3, delayed(0)), take(25, 7, 1, delayed(5)), take(40, 7, 1, delayed(0)))},
		"boundary": {
			c("delay-threshold",
				"the bucket is empty at tick 10: a request at 9 is held for one tick, one at 10 for none",
				limit(1, 10, 2), rules("DELAY", "TIE"), kills("level-below-zero", "leak-rounded-up"),
				take(0, 7, 1, delayed(0)), take(9, 7, 1, delayed(1)), take(20, 7, 1, delayed(0)),
				take(31, 7, 1, delayed(0)))},
		"carry": {
			c("delay-of-thirds",
				"at 333.33 ticks a permit the second waits 334 and the third 667: rounded up from the exact time",
				limit(3, 1000, 3), rules("DELAY", "GCRA-EXACT"), kills("delay-rounded-down"),
				take(0, 7, 1, delayed(0)), take(0, 7, 1, delayed(334)), take(0, 7, 1, delayed(667))),
			c("delay-of-a-thousandth", "a thousandth part of a permit in the bucket is a whole tick of delay",
				limit(3, 1000, 2), rules("DELAY"), kills("delay-rounded-down"),
				take(0, 7, 1), take(333, 7, 1, delayed(1)), take(667, 7, 1, delayed(0)))},
		"cost": {
			c("delay-is-before-the-pour",
				"a request of 4 into an empty bucket is not held, one of 1 after it for 40 ticks",
				limit(1, 10, 5), rules("DELAY"), kills("more-for-at-least", "delay-after-the-pour"),
				take(0, 7, 4, want("allow", 1, 0, 40), delayed(0)),
				take(0, 7, 1, want("allow", 0, 0, 50), delayed(40))),
			c("delay-of-nothing", "a request of nothing is told how long it would be held: 20 ticks",
				limit(1, 10, 3), rules("DELAY", "ZERO-COST"),
				look(0, 7, delayed(0)), take(0, 7, 2), look(0, 7, want("allow", 1, 0, 20), delayed(20)),
				look(25, 7, delayed(0))),
			c("no-delay-but-for-allowed", "denied, too costly and late requests are not held: delay 0",
				limit(1, 10, 2), rules("DELAY"), kills("delay-on-denial"),
				take(0, 7, 2), take(0, 7, 1, is("deny"), delayed(0)), take(0, 7, 3, is("too_costly"), delayed(0)),
				take(pow62, 7, 1, is("past_horizon"), delayed(0)))},
	}
	maps.Copy(rows, leakyEdges())
	return rows
}

func leakyEdges() map[string][]row {
	return map[string][]row{
		"overflow": {
			c("delay-of-years", "behind 2^31 - 2 permits of 2^31 ticks a request is held for 2^62 - 2^32 ticks",
				limit(1, 1<<31, 1<<31-1), rules("DELAY", "OVERFLOW"),
				take(0, 7, 1<<31-2, delayed(0)), take(0, 7, 1, delayed(1<<62-1<<32)))},
		"clock": {
			c("delay-at-earlier-now",
				"5 ticks earlier there is as much more in the bucket: a delay of 15 instead of 10",
				limit(1, 10, 4), rules("DELAY", "CLOCK-BACK"),
				take(100, 7, 1, delayed(0)), take(95, 7, 1, delayed(15)), take(100, 7, 1, delayed(20)))},
		"peek": {
			c("delay", "a peek is told the delay that a take would be given",
				limit(1, 10, 3), rules("PEEK", "DELAY"),
				peek(0, 7, 1, delayed(0)), take(0, 7, 2), peek(0, 7, 1, want("allow", 1, 0, 20), delayed(20)),
				peek(5, 7, 1, delayed(15)), peek(0, 7, 2, is("deny"), delayed(0)))},
		"refund": {
			c("delay-after", "what is given back is no longer ahead of the next request: 10 ticks instead of 20",
				limit(1, 10, 3), rules("REFUND", "DELAY"),
				take(0, 7, 2), refund(0, 7, 1), take(0, 7, 1, delayed(10)), refund(0, 7, 9),
				take(0, 7, 1, delayed(0)))},
		"relimit": {
			c("delay-after", "two permits ahead are 20 ticks at the old rate and 60 at the new",
				limit(1, 10, 3), rules("RELIMIT", "DELAY"),
				take(0, 7, 2), look(0, 7, delayed(20)), relimit(0, singleParams(1, 30, 3)),
				take(0, 7, 1, delayed(60)))},
		"maxkeys": {
			c("no-delay-when-full", "a new key in a full table is not held: delay 0",
				limit(1, 10, 2), maxKeys(1), rules("DELAY", "FULL"),
				take(0, 1, 1), take(0, 2, 1, is("full"), delayed(0)), take(0, 1, 1, delayed(10)))},
		"regression": {
			c("delay-after-the-pour", "a delay measured after its own request holds an idle caller for no reason",
				limit(100, perSec, 10), rules("DELAY"), kills("delay-after-the-pour"),
				take(0, 7, 1, delayed(0)), take(0, 7, 1, delayed(10_000_000)), take(perSec, 7, 1, delayed(0)))},
	}
}
