package oracle

import "weir/policy"

// least is the least n for which holds is true, where holds is false below some number and true from it on. It
// has seen holds(n) true and, for n above 0, holds(n-1) false. guess is where to look first, best a little
// above n; it decides how long the search takes, never what it finds. Never, if nothing up to 2^63 will do.
func least(guess uint64, holds func(uint64) bool) uint64 {
	if holds(0) {
		return 0
	}
	// holds(no) is false throughout, and holds(yes) true once the first loop is left.
	no, yes := uint64(0), max(guess, 1)
	for !holds(yes) {
		if yes >= 1<<63 {
			return policy.Never
		}
		no, yes = yes, 2*yes
	}
	for yes-no > 1 {
		middle := no + (yes-no)/2
		if holds(middle) {
			yes = middle
		} else {
			no = middle
		}
	}
	return yes
}
