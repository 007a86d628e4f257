package policy

import "math/bits"

// Decision is the complete answer to one request. A bucket's decision holds the debt in exact units and leaves
// the quotients to the methods, because a division costs more than the rest of a take; any other decision holds the
// numbers themselves. It is a value: keep it, copy it, ask it later. The zero Decision answers nothing: its Outcome is
// 0 and it never allows.
//
// It is four words, which is as much as Go keeps in registers: one more makes a take several times as slow.
type Decision struct {
	scale *Scale // what the words count in; nil if they are the numbers
	a, b  uint64 // see form
	tail  uint64 // from the lowest bit: three of outcome, one of binding, four of form, and a number of 56
}

// form says what the words of a decision are.
type form uint64

const (
	metered form = iota // a is the debt; b the excess of a denial or the delay of an allowance, in units
	paired              // a and b are the debts of two limits; the number is retry_after
	plain               // a is remaining, b reset_after; the number is next, and retry_after of a denial
	joint               // the same, but a is remaining and next in one, and the number is retry_after
	told                // the numbers are in scale.told
)

const (
	bindingBit = 3
	formBit    = 4
	numberBit  = 8
	numberSize = 64 - numberBit
)

func tailed(o Outcome, b Binding, f form, number uint64) uint64 {
	return uint64(o) | uint64(b)<<bindingBit | uint64(f)<<formBit | number<<numberBit
}

func (d Decision) form() form     { return form(d.tail >> formBit & 15) }
func (d Decision) number() uint64 { return d.tail >> numberBit }
func (d Decision) second() *Scale { return d.scale.second }

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
	return Decision{scale, debt, wait, uint64(o)}
}

// Pair is the two limits of a dual bucket, as its decisions need them. Make one with NewPair.
type Pair struct{ first, second Scale }

// NewPair makes a Pair of two limits.
func NewPair(first, second Scale) *Pair {
	p := &Pair{first, second}
	p.first.second = &p.second
	return p
}

// Dual is the decision of two buckets over one key: the debt of each in its own units, and the excess that each
// reported (0 for the one that would allow, Never for the one that never can).
func Dual(p *Pair, o Outcome, debt, wait, debt2, wait2 uint64) Decision {
	if o == Allow {
		return Decision{&p.first, debt, debt2, tailed(o, First, paired, 0)}
	}
	retry, binding := p.first.Ticks(wait), First
	if retry2 := p.second.Ticks(wait2); retry2 > retry {
		retry, binding = retry2, Second
	}
	if o == TooCostly {
		retry = 0 // it is Never by nature
	}
	d := Decision{&p.first, debt, debt2, tailed(o, binding, paired, retry)}
	if retry>>numberSize != 0 {
		a := Answer{o, d.Remaining(), retry, d.ResetAfter(), 0, binding}
		return tell(a, d.Next())
	}
	return d
}

// Answered is the decision that says a, for a policy that has the numbers at hand. next is what Next answers. It allocates
// nothing if none of the times is 2^56 ticks or more and, of an allowance, there is no delay; a denial that leaves something
// for a smaller cost must also have Remaining and next in 58 bits together.
func Answered(a Answer, next uint64) Decision {
	d := Decision{a: a.Remaining, b: a.ResetAfter, tail: tailed(a.Outcome, a.Binding, plain, next)}
	switch {
	case next>>numberSize != 0 || a.Outcome == Allow && a.Delay != 0:
		return tell(a, next)
	case a.Outcome != Deny || a.RetryAfter == next:
		return d
	case a.RetryAfter>>numberSize != 0:
		return tell(a, next)
	}
	joined, ok := join(a.Remaining, next)
	if !ok {
		return tell(a, next)
	}
	return Decision{a: joined, b: a.ResetAfter, tail: tailed(a.Outcome, a.Binding, joint, a.RetryAfter)}
}

// tell is the decision with any numbers at all.
func tell(a Answer, next uint64) Decision {
	return Decision{scale: &Scale{told: &answer{a, next}}, tail: tailed(a.Outcome, a.Binding, told, 0)}
}

// answer is a decision in plain numbers.
type answer struct {
	Answer
	next uint64
}

// join puts two numbers in one word, with the length of the first in the lowest six bits; ok says whether they fit.
func join(x, y uint64) (word uint64, ok bool) {
	length := bits.Len64(x)
	if length+bits.Len64(y) > 58 {
		return 0, false
	}
	return y<<(6+length) | x<<6 | uint64(length), true
}

// split is the two numbers again.
func split(word uint64) (x, y uint64) {
	length := word & 63
	return word >> 6 & (1<<length - 1), word >> (6 + length)
}

// Refused is the decision of a request that was not weighed at all: Full, PastHorizon or Unavailable. All its
// numbers are 0 but RetryAfter, which is Never.
func Refused(o Outcome) Decision { return Decision{tail: tailed(o, First, plain, 0)} }

// Owed says of an allowed request of that cost that its key owed something before it, and so was known. Only a bucket of one
// limit tells; false means nothing.
func (d Decision) Owed(cost uint64) bool {
	return d.form() == metered && d.scale != nil && d.a != cost*d.scale.Permit
}

// OK says whether the request conforms: Outcome is Allow.
func (d Decision) OK() bool { return d.Outcome() == Allow }

// Outcome is what became of the request.
func (d Decision) Outcome() Outcome { return Outcome(d.tail & 7) }

// Remaining is the whole permits that could still be spent at now, after this request; of two limits the smaller.
func (d Decision) Remaining() uint64 {
	switch d.form() {
	case plain:
		return d.a
	case joint:
		remaining, _ := split(d.a)
		return remaining
	case told:
		return d.scale.told.Remaining
	case paired:
		return min(d.scale.Remaining(d.a), d.second().Remaining(d.b))
	}
	if d.scale == nil {
		return 0
	}
	return d.scale.Remaining(d.a)
}

// RetryAfter is, in ticks, 0 if allowed; for Deny the least wait after which the same request is allowed if nobody
// else comes (of two limits the longer); Never for every other outcome.
func (d Decision) RetryAfter() uint64 {
	switch {
	case d.OK():
		return 0
	case d.Outcome() != Deny:
		return Never
	case d.form() == metered:
		return d.scale.Ticks(d.b)
	case d.form() == told:
		return d.scale.told.RetryAfter
	}
	return d.number()
}

// ResetAfter is, in ticks, the least wait after which the key is as good as one never seen; of two limits the longer.
func (d Decision) ResetAfter() uint64 {
	switch d.form() {
	case plain, joint:
		return d.b
	case told:
		return d.scale.told.ResetAfter
	case paired:
		return max(d.scale.Ticks(d.a), d.second().Ticks(d.b))
	}
	if d.scale == nil {
		return 0
	}
	return d.scale.Ticks(d.a)
}

// Delay is, in ticks, how long to hold an allowed request of a leaky bucket so that the output is smooth; else 0.
func (d Decision) Delay() uint64 {
	switch {
	case !d.OK():
		return 0
	case d.form() == told:
		return d.scale.told.Delay
	case d.form() == metered:
		return d.scale.Ticks(d.b)
	}
	return 0
}

// Next is, in ticks, the least wait until Remaining is larger than it is; 0 if it is as large as it can be.
func (d Decision) Next() uint64 {
	switch d.form() {
	case plain:
		return d.number()
	case joint:
		_, next := split(d.a)
		return next
	case told:
		return d.scale.told.next
	case paired:
		return d.nextOfTwo()
	}
	if d.scale == nil {
		return 0
	}
	return d.scale.Next(d.a)
}

// nextOfTwo is Next of the limit that has less left. Where both have as much, the one that regains a permit last decides,
// unless one of them is as large as it can be, and then nothing larger ever comes.
func (d Decision) nextOfTwo() uint64 {
	left, left2 := d.scale.Remaining(d.a), d.second().Remaining(d.b)
	next, next2 := d.scale.Next(d.a), d.second().Next(d.b)
	switch {
	case left < left2:
		return next
	case left2 < left:
		return next2
	case next == 0 || next2 == 0:
		return 0
	}
	return max(next, next2)
}

// Binding says which limit of a dual bucket binds: for Deny and TooCostly the one with the larger RetryAfter, for Allow
// the one with the smaller Remaining, the first on a tie. It is First for every other outcome and policy.
func (d Decision) Binding() Binding {
	if d.form() == paired && d.OK() && d.second().Remaining(d.b) < d.scale.Remaining(d.a) {
		return Second
	}
	return Binding(d.tail >> bindingBit & 1)
}

// Answer is all of it as plain numbers.
func (d Decision) Answer() Answer {
	return Answer{d.Outcome(), d.Remaining(), d.RetryAfter(), d.ResetAfter(), d.Delay(), d.Binding()}
}
