package redislimit

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"weir"
	"weir/policy"
)

// ErrHashTags is what the error of Together wraps where the keys are not on one node for sure.
var ErrHashTags = errors.New("hash_tags")

// MostTogether is how many limits one call may have.
const MostTogether = 64

// Ask is one of the limits that a request has to pass.
type Ask struct {
	Limiter *Limiter
	Key     string
	Cost    weir.Cost
}

// Verdict is the answer to a request under several limits.
type Verdict struct {
	// Result is the answer of all taken together: allowed if all allow; remaining is the smallest, retry after and reset
	// after the largest, and the outcome of a refusal that of the limit with the longest wait.
	weir.Result
	// Each is the answer of each limit, in the order of the asks. Unless the request was allowed nothing is spent, and each
	// says what it would have allowed by itself.
	Each []weir.Result
	// Binds is the index of the limit that binds: refused, the one with the longest wait; allowed, the one with the smallest
	// remaining; the first on a tie. -1 if the server could not be asked.
	Binds int
}

// Together charges a request under several limits, all of them or none, in one script: per second and per day, per user
// and per tenant, calls and tokens. All keys must have one hash tag: the same key, or keys with a tag of their own, such
// as {acme}/user-7 and {acme}. The limiters must have been made with the same store and clock; the timeout is the first
// one's. Denial caches and leases are not used.
//
// If the server cannot be asked, the fail modes decide: the request is Unavailable unless each limiter has one that
// allows. The error is one line, and then nothing was asked: no asks or too many, a limiter that is nil or of another
// server or clock, a key that is there twice under one policy and prefix, or keys whose tags differ (ErrHashTags).
func Together(ctx context.Context, asks ...Ask) (Verdict, error) {
	questions, err := together(asks)
	if err != nil {
		return Verdict{}, err
	}
	ctx = some(ctx)
	l := asks[0].Limiter
	limited, cancel := l.limited(ctx)
	defer cancel()
	v, err := l.exchangeAll(limited, asks, questions)
	if err != nil && ended(ctx) != nil { // the caller has gone, as in settle
		for _, a := range asks {
			a.Limiter.counts.unavailable.Add(1)
		}
		return goneAll(len(asks)), nil
	}
	for i, q := range questions {
		if said := asks[i].Limiter.said(err); said != nil {
			asks[i].Limiter.counts.unavailable.Add(1)
			continue
		}
		asks[i].Limiter.countTogether(ctx, q, v)
	}
	if err != nil {
		return insteadOfAll(ctx, asks), nil
	}
	return v, nil
}

// AllowTogether is weir.Joint's, by way of Together: so package weir's Together, and what is built on it, asks limiters of one
// server about keys of one hash tag in one call.
func (l *Limiter) AllowTogether(ctx context.Context, asks []weir.Ask) (answers []weir.Result, can bool) {
	own := make([]Ask, len(asks))
	for i, a := range asks {
		limiter, ok := a.Limiter.(*Limiter)
		if !ok {
			return nil, false
		}
		own[i] = Ask{limiter, a.Key, a.Cost}
	}
	v, err := Together(ctx, own...)
	return v.Each, err == nil // with an error nothing was asked
}

func (l *Limiter) countTogether(ctx context.Context, q question, v Verdict) {
	switch {
	case v.OK():
		l.counts.allowed.Add(1)
		l.warm(ctx, q)
	case v.Outcome() == policy.Deny:
		l.counts.denied.Add(1)
	default:
		l.counts.refused.Add(1)
	}
}

// together checks asks and makes questions of them.
func together(asks []Ask) ([]question, error) {
	if len(asks) == 0 || len(asks) > MostTogether {
		return nil, fmt.Errorf("redislimit.Together: there are %d asks, must be from 1 to %d", len(asks), MostTogether)
	}
	questions := make([]question, len(asks))
	seen := make(map[string]bool)
	for i, a := range asks {
		if a.Limiter == nil {
			return nil, fmt.Errorf("redislimit.Together: the limiter of ask %d is nil", i)
		}
		first := asks[0].Limiter
		if a.Limiter != first && (!same(a.Limiter.store, first.store) || !same(a.Limiter.clock, first.clock)) {
			return nil, fmt.Errorf("redislimit.Together: the limiter of ask %d has another store or clock than that of ask 0", i)
		}
		questions[i] = a.Limiter.question("take", a.Key, a.Cost)
		name := questions[i].name
		if seen[name] {
			return nil, fmt.Errorf("redislimit.Together: the key of ask %d is there twice: %s", i, name)
		}
		seen[name] = true
		if tag := hashTag(questions[0].name); hashTag(name) != tag {
			return nil, fmt.Errorf("redislimit.Together: %w: ask 0 has {%s}, ask %d has {%s}, must be the same", ErrHashTags, tag, i, hashTag(name))
		}
	}
	return questions, nil
}

// same says whether two interfaces hold the same thing; what cannot be compared is not.
func same(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return reflect.ValueOf(a).Comparable() && reflect.ValueOf(b).Comparable() && a == b
}

// exchangeAll asks one script for all.
func (l *Limiter) exchangeAll(ctx context.Context, asks []Ask, questions []question) (Verdict, error) {
	var calls []Call
	for range 8 * len(asks) {
		_, now, into := l.instant()
		call := Call{Digest: manyScript, Args: []string{"take", l.told(now)}}
		past := false
		for _, q := range questions {
			c := q.cost
			if q.force.rules.tooCostly(c) {
				c, call.Args[0] = costs{}, "peek"
			}
			past = past || l.clock != nil && now > q.force.rules.horizon
			call.Keys = append(call.Keys, q.name)
			call.Args = q.force.rules.arguments(append(call.Args, q.force.rules.name), c)
		}
		if past {
			return pastSome(ctx, asks, questions)
		}
		replies := run(ctx, l.store, append(calls, call))
		a, err := replies[len(replies)-1].answer()
		if err != nil {
			return Verdict{}, err
		}
		for _, q := range questions {
			q.force.since.CompareAndSwap(0, a.now)
		}
		if a.foreign == 0 {
			return readAll(questions, a, into)
		}
		if a.foreign > len(asks) {
			return Verdict{}, errReply
		}
		swap, err := asks[a.foreign-1].Limiter.carry(ctx, questions[a.foreign-1], a)
		if err != nil {
			return Verdict{}, err
		}
		asks[a.foreign-1].Limiter.counts.carried.Add(1)
		calls = []Call{swap}
	}
	return Verdict{}, errors.New("redislimit: processes with different limits ask for these keys faster than they can be carried over")
}

// goneAll is the verdict of a caller that has gone.
func goneAll(n int) Verdict {
	v := Verdict{Result: weir.NewResult(policy.Refused(policy.Unavailable), tick, 0), Each: make([]weir.Result, n), Binds: -1}
	for i := range v.Each {
		v.Each[i] = v.Result
	}
	return v
}

// pastSome is the verdict of a now that is past the horizon of one: nothing is spent, and each is asked by itself.
func pastSome(ctx context.Context, asks []Ask, questions []question) (Verdict, error) {
	v := Verdict{Each: make([]weir.Result, len(asks))}
	for i, q := range questions {
		q.op = "peek"
		r := asks[i].Limiter.exchange(ctx, q)
		if r.err != nil {
			return Verdict{}, r.err
		}
		v.Each[i] = r.result
	}
	if v.combine(false); v.OK() {
		return Verdict{}, errors.New("redislimit: the clock stepped back over a horizon while it was read")
	}
	return v, nil
}

// readAll makes the verdict of the answer of a script.
func readAll(questions []question, a answer, into time.Duration) (Verdict, error) {
	v := Verdict{Each: make([]weir.Result, len(questions))}
	numbers, free := a.numbers, true
	for i, q := range questions {
		free = free && q.force.rules.nothing(q.cost)
		d, err := q.force.rules.decide(a.now, numbers, q.cost, a.spent)
		if err != nil {
			return Verdict{}, err
		}
		numbers = numbers[q.force.rules.numbers():]
		v.Each[i] = weir.NewResult(d, tick, into)
	}
	v.combine(a.spent)
	if v.OK() && !a.spent && !free {
		return Verdict{}, errReply // what is allowed is spent
	}
	return v, nil
}

// combine makes one answer of each one's.
func (v *Verdict) combine(spent bool) {
	a := policy.Answer{Outcome: policy.Allow, Remaining: policy.Never}
	for i, r := range v.Each {
		if spent && r.Remaining() < v.Each[v.Binds].Remaining() || !spent && r.RetryAfter() > v.Each[v.Binds].RetryAfter() {
			v.Binds = i
		}
		a.Remaining = min(a.Remaining, r.Remaining())
		a.ResetAfter = max(a.ResetAfter, uint64(r.ResetAfter()))
		a.Delay = max(a.Delay, uint64(r.Delay()))
	}
	binds := v.Each[v.Binds]
	a.Outcome, a.RetryAfter = binds.Outcome(), uint64(binds.RetryAfter())
	if binds.RetryAfter() == weir.Never {
		a.RetryAfter = policy.Never
	}
	v.Result = weir.NewResult(policy.Answered(a, uint64(binds.Next())), 1, 0)
}

// insteadOfAll is the verdict where the server cannot be asked.
func insteadOfAll(ctx context.Context, asks []Ask) Verdict {
	v := Verdict{Result: weir.NewResult(policy.Refused(policy.Unavailable), tick, 0), Each: make([]weir.Result, len(asks)), Binds: -1}
	all := true
	for i, a := range asks {
		v.Each[i] = weir.NewResult(policy.Refused(policy.Unavailable), tick, 0)
		switch {
		case a.Limiter.open:
			v.Each[i] = weir.NewResult(policy.Answered(policy.Answer{Outcome: policy.Allow}, 0), tick, 0)
		case a.Limiter.share != 0:
			v.Each[i] = a.Limiter.force.Load().local.Peek(ctx, a.Key, a.Cost)
		}
		all = all && v.Each[i].OK()
	}
	for i, a := range asks {
		if all && a.Limiter.share != 0 {
			v.Each[i] = a.Limiter.force.Load().local.AllowN(ctx, a.Key, a.Cost)
			all = v.Each[i].OK()
		}
	}
	for i, r := range v.Each {
		if all || !r.OK() && v.Binds < 0 {
			v.Result, v.Binds = r, i
		}
	}
	if all {
		v.Binds = 0
		v.combine(true)
	}
	return v
}
