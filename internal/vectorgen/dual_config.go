package vectorgen

import "weir/vectors"

func dualConfig() []row {
	return []row{
		c("no-second", "a dual bucket without a second limit is refused",
			limit(1, 10, 3), rules("CONFIG"), kills("second-limit-not-checked"), refused("invalid_second")),
		c("second-of-zeros", "a second limit of three zeros is none",
			limits(1, 10, 3, 0, 0, 0), rules("CONFIG"), refused("invalid_second")),
		c("nothing-at-all", "without any number the second limit is missed first",
			rules("CONFIG"), refused("invalid_second")),
		c("zero-permits", "no permits in the first limit",
			limits(0, 10, 3, 1, 100, 5), rules("CONFIG"),
			kills("parameters-not-validated"),
			refused("invalid_permits")),
		c("zero-period", "a period of no ticks in the first limit",
			limits(1, 0, 3, 1, 100, 5), rules("CONFIG"),
			kills("parameters-not-validated"),
			refused("invalid_period")),
		c("zero-burst", "a burst of nothing in the first limit",
			limits(1, 10, 0, 1, 100, 5), rules("CONFIG"), kills("burst-not-checked"), refused("invalid_burst")),
		c("too-large", "L = 2^62 in the first limit",
			limits(1, 1<<31, 1<<31, 1, 100, 5), rules("CONFIG", "OVERFLOW"), refused("limit_too_large")),
		c("permits-too-large", "p = 2^62 in the first limit",
			limits(pow62, 1, 1, 1, 100, 5), rules("CONFIG"), kills("size-not-checked"), refused("limit_too_large")),
		c("zero-max-keys", "a table for no keys could serve nobody",
			peakAndMean, maxKeys(0), rules("CONFIG"), refused("invalid_max_keys")),
		c("first-left-out", "a first limit left out is one of zeros",
			fields(func(p *vectors.Params) { p.Permits2, p.Period2, p.Burst2 = num(1), num(10), num(1) }),
			rules("CONFIG"), refused("invalid_permits")),
	}
}

func dualConfigSecond() []row {
	return []row{
		c("second-zero-permits", "no permits in the second limit, whose period and burst are there",
			limits(1, 10, 3, 0, 100, 5), rules("CONFIG"), refused("invalid_permits")),
		c("second-zero-period", "a period of no ticks in the second limit",
			limits(1, 10, 3, 1, 0, 5), rules("CONFIG"), refused("invalid_period")),
		c("second-zero-burst", "a burst of nothing in the second limit",
			limits(1, 10, 3, 1, 100, 0), rules("CONFIG"), refused("invalid_burst")),
		c("second-too-large", "L = 2^62 in the second limit",
			limits(1, 10, 3, 1, 1<<31, 1<<31), rules("CONFIG", "OVERFLOW"), refused("limit_too_large")),
		c("second-wraps", "L = 2^80 in the second limit wraps at 64 bits to 0",
			limits(1, 10, 3, 1, 1<<40, 1<<40), rules("CONFIG", "OVERFLOW"), refused("limit_too_large")),
		c("second-permits-too-large", "p = 2^62 in the second limit",
			limits(1, 10, 3, pow62, 1, 1), rules("CONFIG"), refused("limit_too_large")),
		c("first-before-second",
			"all of the first limit is checked before any of the second: its burst before their permits",
			limits(1, 10, 0, 0, 0, 5), rules("CONFIG"), refused("invalid_burst")),
		c("size-before-second", "a first limit too large is refused before a second without permits",
			limits(1, 1<<31, 1<<31, 0, 100, 5), rules("CONFIG"), refused("limit_too_large")),
		c("second-permits-before-period", "in the second limit too permits come before period and burst",
			limits(1, 10, 3, 0, 0, 5), rules("CONFIG"), refused("invalid_permits")),
		c("second-before-max-keys", "a second limit without a burst is refused before a table for no keys",
			limits(1, 10, 3, 1, 100, 0), maxKeys(0), rules("CONFIG"), refused("invalid_burst")),
		c("largest", "both limits may hold 2^62 - 1 units, and p = 2^62 - 1 is in order as well",
			limits(1, pow62-1, 1, pow62-1, 1, pow62-1), rules("CONFIG", "OVERFLOW"), kills("bound-of-61-bits"),
			take(0, 7, 1, want("allow", 0, 0, pow62-1), binds("first")),
			take(1, 7, 1, want("deny", 0, pow62-2, pow62-2), binds("first")), take(2, 7, 1, is("past_horizon"))),
		c("smallest", "the smallest two limits that there are, in one room",
			limits(1, 1, 1, 1, 1, 1), maxKeys(1), rules("CONFIG"),
			kills("retry-one-tick-late", "reset-0-on-denial", "state-moved-on-denial", "max-keys-minus-one",
				"known-keys-full-too"),
			take(0, 7, 1, want("allow", 0, 0, 1), binds("first")),
			take(0, 7, 1, want("deny", 0, 1, 1), binds("first"))),
	}
}
