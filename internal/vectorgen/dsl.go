package vectorgen

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"weir/vectors"
)

// Numbers that many cases need.
const (
	never   = vectors.Never
	maxNow  = math.MaxInt64  // the largest number that a file may hold, keys apart
	maxKey  = math.MaxUint64 // the largest key
	pow62   = 1 << 62        // what every quantity in units must stay below
	perSec  = 1_000_000_000  // ticks, where a tick is a nanosecond
	perYear = 365 * 24 * 3600 * perSec
)

// row is one case as it is typed: a question without answers. The Want of a step is nil or a pin, and holds only the
// fields that are pinned.
type row struct {
	name, comment string
	rules         []string
	kills         []string // faults of package mutants that the case was made for
	params        vectors.Params
	maxKeys       string
	refused       string // the config_error that is expected; "" if the limit is in order
	steps         []vectors.Step
}

// part is one piece of a row: a limit, the rules, a step.
type part func(*row)

// pin is one answer or more that has been worked out by hand.
type pin func(*vectors.Want)

func c(name, comment string, parts ...part) row {
	r := row{name: name, comment: comment, maxKeys: "*"}
	for _, p := range parts {
		p(&r)
	}
	return r
}

func num(v uint64) *vectors.Number { n := vectors.Number(v); return &n }

// The parts that are no steps.

func limit(permits, period, burst uint64) part {
	return func(r *row) { r.params = singleParams(permits, period, burst) }
}

func limits(permits, period, burst, permits2, period2, burst2 uint64) part {
	return func(r *row) { r.params = dualParams(permits, period, burst, permits2, period2, burst2) }
}

// window is the limit of a sliding log, which has no burst.
func window(permits, period uint64) part {
	return func(r *row) { r.params = windowParams(permits, period) }
}

func singleParams(permits, period, burst uint64) vectors.Params {
	return vectors.Params{Permits: num(permits), Period: num(period), Burst: num(burst)}
}

func dualParams(permits, period, burst, permits2, period2, burst2 uint64) vectors.Params {
	return vectors.Params{Permits: num(permits), Period: num(period), Burst: num(burst),
		Permits2: num(permits2), Period2: num(period2), Burst2: num(burst2)}
}

func windowParams(permits, period uint64) vectors.Params {
	return vectors.Params{Permits: num(permits), Period: num(period)}
}

// fields changes the params field by field, for limits that lack one.
func fields(change func(*vectors.Params)) part { return func(r *row) { change(&r.params) } }

func rules(ids ...string) part { return func(r *row) { r.rules = append(r.rules, ids...) } }

// kills names faults of package mutants that the case was made for. A row of several policies has in each those that
// apply there.
func kills(ids ...string) part { return func(r *row) { r.kills = append(r.kills, ids...) } }

func maxKeys(n uint64) part { return func(r *row) { r.maxKeys = strconv.FormatUint(n, 10) } }

// refused says that the policy must not be made, and with which word.
func refused(code string) part { return func(r *row) { r.refused = code } }

// The steps.

func step(s vectors.Step, pins []pin) part {
	if len(pins) > 0 {
		s.Want = &vectors.Want{}
	}
	for _, p := range pins {
		p(s.Want)
	}
	return func(r *row) { r.steps = append(r.steps, s) }
}

func request(op string, now, key, cost uint64) vectors.Step {
	return vectors.Step{Op: op, Now: num(now), Key: num(key), Cost: num(cost)}
}

func request2(op string, now, key, cost, cost2 uint64) vectors.Step {
	s := request(op, now, key, cost)
	s.Cost2 = num(cost2)
	return s
}

func take(now, key, cost uint64, pins ...pin) part {
	return step(request("take", now, key, cost), pins)
}

func peek(now, key, cost uint64, pins ...pin) part {
	return step(request("peek", now, key, cost), pins)
}

func refund(now, key, cost uint64, pins ...pin) part {
	return step(request("refund", now, key, cost), pins)
}

func take2(now, key, cost, cost2 uint64, pins ...pin) part {
	return step(request2("take", now, key, cost, cost2), pins)
}

func peek2(now, key, cost, cost2 uint64, pins ...pin) part {
	return step(request2("peek", now, key, cost, cost2), pins)
}

func refund2(now, key, cost, cost2 uint64, pins ...pin) part {
	return step(request2("refund", now, key, cost, cost2), pins)
}

// look is a take of nothing: it tells the key as it stands, and no port can lack it.
func look(now, key uint64, pins ...pin) part { return take(now, key, 0, pins...) }

func forget(key uint64) part { return step(vectors.Step{Op: "forget", Key: num(key)}, nil) }

func sweep(now uint64, pins ...pin) part { return step(vectors.Step{Op: "sweep", Now: num(now)}, pins) }

func held(pins ...pin) part { return step(vectors.Step{Op: "keys"}, pins) }

func fill(now, leave uint64) part {
	return step(vectors.Step{Op: "fill", Now: num(now), Leave: num(leave)}, nil)
}

func relimit(now uint64, to vectors.Params, pins ...pin) part {
	return step(vectors.Step{Op: "relimit", Now: num(now), Params: &to}, pins)
}

// times repeats a part.
func times(n int, p part) part {
	return func(r *row) {
		for range n {
			p(r)
		}
	}
}

// cells takes cost for key 1 at each tick of a stream, with the outcome pinned: "0+ 9- 10+" is a cell at 0 that
// conforms, one at 9 that does not, and one at 10 that does.
func cells(cost uint64, stream string) part {
	return func(r *row) {
		for _, cell := range strings.Fields(stream) {
			tick, err := strconv.ParseUint(cell[:len(cell)-1], 10, 64)
			word, ok := map[byte]string{'+': "allow", '-': "deny"}[cell[len(cell)-1]]
			if err != nil || !ok {
				panic(fmt.Sprintf("case %s: %q is no cell", r.name, cell))
			}
			take(tick, 1, cost, is(word))(r)
		}
	}
}

// The pins.

func is(outcome string) pin { return func(w *vectors.Want) { w.Outcome = outcome } }

func want(outcome string, remaining uint64, retry vectors.Wait, reset uint64) pin {
	return func(w *vectors.Want) {
		w.Outcome, w.Remaining, w.RetryAfter, w.ResetAfter = outcome, num(remaining), &retry, num(reset)
	}
}

func delayed(ticks uint64) pin { return func(w *vectors.Want) { w.Delay = num(ticks) } }

func binds(which string) pin { return func(w *vectors.Want) { w.Binding = which } }

func count(keys uint64) pin { return func(w *vectors.Want) { w.Keys = num(keys) } }
