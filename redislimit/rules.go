package redislimit

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"time"

	"weir"
	"weir/internal/arith"
	"weir/policy"
)

// The five, by the names that they have everywhere.
const (
	gcra        = "gcra"
	tokenBucket = "tokenbucket"
	leakyBucket = "leakybucket"
	slidingLog  = "slidinglog"
	dualBucket  = "dualbucket"
)

// What a script can count exactly. Its numbers are doubles.
const (
	exact   = 1<<53 - 1                             // the largest number
	mostPer = 1 << 52                               // the most units a tick, so that a sum of two remainders is exact; more than any log's permits
	century = uint64(36525 * 24 * 3600 * 1_000_000) // of 365.25 days, in microseconds
)

// rules are the constants of one limit of one policy: how to ask a script, and what its numbers mean.
type rules struct {
	name    string
	limit   policy.Limit // in ticks
	text    string       // the limit that keys of a bucket are counted in, as they end with before a zero byte
	buckets []bucket     // none for a sliding log
	pair    *policy.Pair // both of a dual bucket
	horizon uint64       // the largest now that is decided, in ticks
	usual   []string     // what the script of a single bucket is told to take one permit by the server's clock
}

// bucket is one limit of a bucket, and its constants as scripts take them.
type bucket struct {
	scale policy.Scale
	one   string // what a script is told of a cost of 1
}

// inTicks makes the rules of a policy that is told the time, under a limit in its ticks. generation keeps the texts of a
// limit apart from those of the same limit before it was changed; "" where that does not matter.
func inTicks(name string, l policy.Limit, generation string) (*rules, error) {
	r := &rules{name: name, limit: l, horizon: exact}
	if name == slidingLog {
		if err := l.Window(); err != nil {
			return nil, err
		}
		if err := most("permits", l.Permits, mostPer-1); err != nil {
			return nil, err
		}
		return r, most("period", l.Period, exact)
	}
	scales, err := scalesOf(name, l)
	if err != nil {
		return nil, err
	}
	for i, s := range scales {
		suffix := []string{"", "2"}[i]
		if err := most("permits"+suffix, s.Tick, mostPer); err != nil {
			return nil, err
		}
		refill := s.Ticks(s.Tolerance)
		if err := most("burst"+suffix, refill, exact-1); err != nil {
			return nil, err
		}
		r.horizon = min(r.horizon, s.Horizon, exact-1-refill)
		r.add(s)
	}
	if name == dualBucket {
		r.pair = policy.NewPair(scales[0], scales[1])
	}
	r.text += generation
	r.usual = r.arguments(nil, costs{1, 1})
	return r, nil
}

func scalesOf(name string, l policy.Limit) ([]policy.Scale, error) {
	if name == dualBucket {
		first, second, err := l.Scales()
		return []policy.Scale{first, second}, err
	}
	one, err := l.Scale()
	return []policy.Scale{one}, err
}

func (r *rules) add(s policy.Scale) {
	if r.text != "" {
		r.text += "&"
	}
	r.text += number(s.Tick) + "/" + number(s.Permit) + "/" + number(s.Burst)
	b := bucket{scale: s}
	b.one = b.told(1)
	r.buckets = append(r.buckets, b)
}

func number(n uint64) string { return strconv.FormatUint(n, 10) }

// most is the error of a number of ticks or units that a script cannot count with.
func most(field string, value, bound uint64) error {
	if value <= bound {
		return nil
	}
	return fmt.Errorf("%w: %s makes %d ticks or units a tick, must be at most %d", policy.ErrLimitTooLarge, field, value, bound)
}

// inMicroseconds makes the rules of a policy that takes the server's time or, if it is told, a clock's.
func inMicroseconds(name string, l weir.Limit, told bool) (*rules, error) {
	if err := check(name, l); err != nil {
		return nil, err
	}
	if name == slidingLog {
		l.Burst = l.Permits
	}
	first, err := scaled("", l.Permits, l.Period, l.Burst)
	if err != nil {
		return nil, err
	}
	if l.Permits2 != 0 || l.Period2 != 0 || l.Burst2 != 0 {
		second, err := scaled("2", l.Permits2, l.Period2, l.Burst2)
		if err != nil {
			return nil, err
		}
		first.Permits2, first.Period2, first.Burst2 = second.Permits, second.Period, second.Burst
	}
	r, err := inTicks(name, first, "")
	if err != nil {
		return nil, err
	}
	if !told { // then nothing is owed that is more than the tolerance, whatever the time
		r.horizon = exact - 1 - century
	}
	return r, r.refills()
}

func check(name string, l weir.Limit) error {
	switch {
	case weir.Registry().Check(name) != nil:
		return weir.Registry().Check(name)
	case l.Period < 0:
		return fmt.Errorf("%w: period is %v, must be at least 1ns", policy.ErrInvalidPeriod, l.Period)
	case l.Period2 < 0:
		return fmt.Errorf("%w: period2 is %v, must be at least 1ns", policy.ErrInvalidPeriod, l.Period2)
	case name == slidingLog && l.Period%time.Microsecond != 0:
		return fmt.Errorf("%w: period is %v, must be whole microseconds", policy.ErrInvalidPeriod, l.Period)
	}
	return nil
}

// scaled is one limit counted in microseconds. Where its period is not a whole number of them the rate still is exact: so
// many permits a nanosecond are a thousand times as many a microsecond.
func scaled(suffix string, permits uint64, period time.Duration, burst uint64) (policy.Limit, error) {
	if burst == 0 {
		burst = permits
	}
	if period%time.Microsecond == 0 {
		return policy.Limit{Permits: permits, Period: uint64(period / time.Microsecond), Burst: burst}, nil
	}
	high, low := bits.Mul64(permits, 1000)
	if high != 0 {
		return policy.Limit{}, most("permits"+suffix, permits, 1<<64/1000-1)
	}
	return policy.Limit{Permits: low, Period: uint64(period), Burst: burst}, nil
}

// refills refuses a limit whose burst takes more than a century to refill, and one of which a microsecond gives back more
// than the burst holds, for part of that would be lost each time.
func (r *rules) refills() error {
	if r.name == slidingLog {
		return most("period", r.limit.Period, century)
	}
	for i := range r.buckets {
		s, suffix := &r.buckets[i].scale, []string{"", "2"}[i]
		if s.Ticks(s.Tolerance) > century {
			return &policy.LimitError{Code: policy.ErrLimitTooLarge.Error(), Field: "burst" + suffix, Value: s.Burst,
				Need: "at most", Bound: arith.MulDivFloor(century, s.Tick, s.Permit)}
		}
		if s.Tick > s.Tolerance {
			return &policy.LimitError{Code: policy.ErrInvalidBurst.Error(), Field: "burst" + suffix, Value: s.Burst,
				Need: "at least", Bound: arith.MulDivCeil(s.Tick, 1, s.Permit)}
		}
	}
	return nil
}

// costs is a cost under each limit.
type costs [2]uint64

// tooCostly says whether a cost can never fit.
func (r *rules) tooCostly(c costs) bool {
	if r.name == slidingLog {
		return c[0] > r.limit.Permits
	}
	for i := range r.buckets {
		if c[i] > r.buckets[i].scale.Burst {
			return true
		}
	}
	return false
}

// nothing says whether a cost spends nothing.
func (r *rules) nothing(c costs) bool { return c[0] == 0 && (r.name != dualBucket || c[1] == 0) }

// arguments are what a script is told of a limit and a cost.
func (r *rules) arguments(to []string, c costs) []string {
	if r.name == slidingLog {
		return append(to, number(r.limit.Permits), number(r.limit.Period), number(min(c[0], exact)))
	}
	to = append(to, r.text)
	for i := range r.buckets {
		b := &r.buckets[i]
		if c[i] == 1 {
			to = append(to, b.one)
		} else {
			to = append(to, b.told(c[i]))
		}
	}
	return to
}

// told is what a script is told of a bucket and a cost: p, the tolerance and the cost, the two as pairs.
func (b *bucket) told(cost uint64) string {
	w, rem := b.pair(cost)
	s := &b.scale
	return doubles(s.Tick, s.Tolerance/s.Tick, s.Tolerance%s.Tick, w, rem)
}

// doubles is numbers up to 2^53, all of which a double holds exactly, in the form that scripts and keys have them.
func doubles(numbers ...uint64) string {
	b := make([]byte, 0, 40)
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(n)))
	}
	return string(b)
}

// pair is a cost in ticks of leaking and the units besides. What is larger than any debt may be cut: nothing is ever owed
// that is 2^63 units or 2^53 ticks.
func (b *bucket) pair(cost uint64) (w, rem uint64) {
	units := arith.Mul(cost, b.scale.Permit)
	w, rem = units/b.scale.Tick, units%b.scale.Tick
	if w > exact {
		return exact, 0
	}
	return w, rem
}

// numbers is how many numbers a script says of a limit.
func (r *rules) numbers() int {
	if r.name == slidingLog || r.name == dualBucket {
		return 4
	}
	return 2
}

// decide is the decision that the numbers of a script mean: what the limit says of a cost, and, if it was spent, what is
// left then. now is the script's.
func (r *rules) decide(now uint64, found []any, c costs, spent bool) (policy.Decision, error) {
	var n [4]uint64
	if len(found) < r.numbers() {
		return policy.Decision{}, errReply
	}
	for i := range r.numbers() {
		var err error
		if n[i], err = whole(found[i]); err != nil {
			return policy.Decision{}, err
		}
	}
	if r.name == slidingLog {
		return r.logged(now, n, c[0], spent)
	}
	var debt, wait [2]uint64
	outcome := policy.Allow
	for i := range r.buckets {
		s := &r.buckets[i].scale
		high, units := bits.Mul64(n[2*i], s.Tick)
		if high != 0 || units >= 1<<63 || n[2*i+1] >= s.Tick {
			return policy.Decision{}, errReply
		}
		debt[i] = units + n[2*i+1]
		var o policy.Outcome
		o, wait[i] = s.Judge(debt[i], c[i])
		outcome = max(outcome, o)
		if o == policy.Allow && r.name == leakyBucket {
			wait[i] = debt[i]
		}
		if spent {
			debt[i] += c[i] * s.Permit
		}
	}
	if spent && outcome != policy.Allow {
		return policy.Decision{}, errReply
	}
	if r.name == dualBucket {
		return policy.Dual(r.pair, outcome, debt[0], wait[0], debt[1], wait[1]), nil
	}
	return policy.Metered(&r.buckets[0].scale, outcome, debt[0], wait[0]), nil
}

// logged is the decision that a sliding log's numbers mean: the permits that count, the newest tick, that whose expiry
// gives the next permit, and that for which a denied request waits.
func (r *rules) logged(now uint64, n [4]uint64, cost uint64, spent bool) (policy.Decision, error) {
	used, newest, next, retry := n[0], n[1], n[2], n[3]
	left := arith.Sub(r.limit.Permits, used)
	a := policy.Answer{Outcome: policy.Allow}
	switch {
	case cost > r.limit.Permits:
		a.Outcome, a.RetryAfter = policy.TooCostly, policy.Never
	case cost > left:
		a.Outcome, a.RetryAfter = policy.Deny, arith.Sub(retry+r.limit.Period, now)
	}
	if spent && cost > 0 {
		if a.Outcome != policy.Allow {
			return policy.Decision{}, errReply
		}
		at := max(now, newest)
		if used == 0 {
			next = at
		}
		used, newest = used+cost, at
	}
	a.Remaining = arith.Sub(r.limit.Permits, used)
	if used == 0 {
		return policy.Answered(a, 0), nil
	}
	a.ResetAfter = arith.Sub(newest+r.limit.Period, now)
	return policy.Answered(a, arith.Sub(next+r.limit.Period, now)), nil
}
