package policy

// Decision is the complete answer to one request. A bucket's decision holds the debt in exact units and leaves
// the quotients to the methods, because a division costs more than the rest of a take; any other decision holds the
// numbers themselves. It is a value: keep it, copy it, ask it later. The zero Decision answers nothing: its Outcome is
// 0 and it never allows.
type Decision struct {
	scale, second *Scale // second: a dual bucket; scale nil: the words are the numbers
	debt, wait    uint64 // units; wait is the excess of a denial or the delay of an allowance; else remaining, retry_after
	debt2, wait2  uint64 // the same in the second limit's units; else reset_after, delay
	next          uint64 // only where the words are the numbers
	outcome       Outcome
	binding       Binding // only where the words are the numbers
}

// Answer is a Decision as plain numbers, field by field what vectors and protocols carry. Times are ticks.
type Answer struct {
	// Outcome says what became of the request. Look at it first.
	Outcome Outcome
	// Remaining is the whole permits that could still be spent at now, after this request.
	Remaining uint64
	// RetryAfter is 0 if allowed; denied, the least number of ticks after which the same request is allowed if nobody
	// else comes; Never for every other outcome.
	RetryAfter uint64
	// ResetAfter is the least number of ticks after which the key is as good as one never seen.
	ResetAfter uint64
	// Delay is, for an allowed request of a leaky bucket, the least number of ticks until all that was in the
	// bucket before it has leaked; else 0.
	Delay uint64
	// Binding says which limit of a dual bucket binds; First for every other policy.
	Binding Binding
}

// Metered is the decision of a bucket under scale that now owes debt units. wait is the excess of a denial, Never
// for TooCostly, and for Allow the units ahead of the request in a queue (0 where there is no queue).
func Metered(scale *Scale, o Outcome, debt, wait uint64) Decision {
	return Decision{scale: scale, outcome: o, debt: debt, wait: wait}
}

// Dual is the decision of two buckets over one key: the debt of each in its own units, and the excess that each
// reported (0 for the one that would allow, Never for the one that never can).
func Dual(first, second *Scale, o Outcome, debt, wait, debt2, wait2 uint64) Decision {
	return Decision{scale: first, second: second, outcome: o, debt: debt, wait: wait, debt2: debt2, wait2: wait2}
}

// Answered is the decision that says a, for a policy that has the numbers at hand. next is what Next answers.
func Answered(a Answer, next uint64) Decision {
	return Decision{outcome: a.Outcome, binding: a.Binding, next: next,
		debt: a.Remaining, wait: a.RetryAfter, debt2: a.ResetAfter, wait2: a.Delay}
}

// Refused is the decision of a request that was not weighed at all: Full, PastHorizon or Unavailable. All its
// numbers are 0 but RetryAfter, which is Never.
func Refused(o Outcome) Decision { return Decision{outcome: o, wait: Never} }

// OK says whether the request conforms: Outcome is Allow.
func (d Decision) OK() bool { return d.outcome == Allow }

// Outcome is what became of the request.
func (d Decision) Outcome() Outcome { return d.outcome }

// Remaining is the whole permits that could still be spent at now, after this request; of two limits the smaller.
func (d Decision) Remaining() uint64 {
	switch {
	case d.scale == nil:
		return d.debt
	case d.second == nil:
		return d.scale.Remaining(d.debt)
	}
	return min(d.scale.Remaining(d.debt), d.second.Remaining(d.debt2))
}

// RetryAfter is, in ticks, 0 if allowed; for Deny the least wait after which the same request is allowed if nobody
// else comes (of two limits the longer); Never for every other outcome.
func (d Decision) RetryAfter() uint64 {
	if d.outcome == Allow {
		return 0
	}
	if d.outcome != Deny {
		return Never
	}
	first, second := d.waits()
	return max(first, second)
}

// ResetAfter is, in ticks, the least wait after which the key is as good as one never seen; of two limits the longer.
func (d Decision) ResetAfter() uint64 {
	switch {
	case d.scale == nil:
		return d.debt2
	case d.second == nil:
		return d.scale.Ticks(d.debt)
	}
	return max(d.scale.Ticks(d.debt), d.second.Ticks(d.debt2))
}

// Delay is, in ticks, how long to hold an allowed request of a leaky bucket so that the output is smooth; else 0.
func (d Decision) Delay() uint64 {
	switch {
	case d.outcome != Allow:
		return 0
	case d.scale == nil:
		return d.wait2
	}
	return d.scale.Ticks(d.wait)
}

// Next is, in ticks, the least wait until Remaining is larger than it is; 0 if it is as large as it can be.
func (d Decision) Next() uint64 {
	switch {
	case d.scale == nil:
		return d.next
	case d.second == nil:
		return d.scale.Next(d.debt)
	}
	first, second := d.scale.Remaining(d.debt), d.second.Remaining(d.debt2)
	switch {
	case first < second:
		return d.scale.Next(d.debt)
	case second < first:
		return d.second.Next(d.debt2)
	}
	return d.nextOfBoth()
}

// nextOfBoth is Next where both limits have as much left: the one that regains a permit last decides, unless one of
// them is as large as it can be, and then nothing larger ever comes.
func (d Decision) nextOfBoth() uint64 {
	first, second := d.scale.Next(d.debt), d.second.Next(d.debt2)
	if first == 0 || second == 0 {
		return 0
	}
	return max(first, second)
}

// Binding says which limit of a dual bucket binds: for Deny and TooCostly the one with the larger RetryAfter, for Allow
// the one with the smaller Remaining, the first on a tie. It is First for every other outcome and policy.
func (d Decision) Binding() Binding {
	if d.scale == nil {
		return d.binding
	}
	if d.second == nil {
		return First
	}
	bySecond := false
	if d.outcome == Allow {
		bySecond = d.second.Remaining(d.debt2) < d.scale.Remaining(d.debt)
	} else {
		first, second := d.waits()
		bySecond = second > first
	}
	if bySecond {
		return Second
	}
	return First
}

// Answer is all of it as plain numbers.
func (d Decision) Answer() Answer {
	return Answer{d.outcome, d.Remaining(), d.RetryAfter(), d.ResetAfter(), d.Delay(), d.Binding()}
}

// waits is what each limit says of the wait of a refused request, in ticks.
func (d Decision) waits() (first, second uint64) {
	if d.scale == nil {
		return d.wait, 0
	}
	first = d.scale.Ticks(d.wait)
	if d.second != nil {
		second = d.second.Ticks(d.wait2)
	}
	return first, second
}
