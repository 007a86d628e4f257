package weir

import (
	"context"
	"time"

	"weir/policy"
)

// What a decision costs is mostly the clock, then the hash of the key, then copies of the answer: a Result is filled in where
// the caller wants it, and Allow is short enough to be inlined there.

// Allow is Limiter's. A key that is known costs no allocation.
func (l *Local) Allow(_ context.Context, key string) (r Result) {
	l.decide(&r, key, N(1))
	return r
}

// AllowN is Limiter's. A key that is known costs no allocation.
func (l *Local) AllowN(_ context.Context, key string, c Cost) (r Result) {
	l.decide(&r, key, c)
	return r
}

// AllowAt is AllowN at now, a reading of the limiter's clock: for those who decide much at one moment, since reading the
// clock costs more than deciding. A reading older than what the key was asked at before is judged as Clock says of a clock
// that steps back.
//
//	now := limiter.Now()
//	for _, key := range keys {
//		limiter.AllowAt(now, key, weir.N(1))
//	}
func (l *Local) AllowAt(now time.Duration, key string, c Cost) (r Result) {
	l.decideAt(&r, now, key, c)
	return r
}

// Peek is Limiter's. It costs no allocation.
func (l *Local) Peek(_ context.Context, key string, c Cost) Result {
	return l.peek(l.Now(), l.key(key), c)
}

// decide spares the usual clock and hash two calls. While the clock is read the key's state is on its way from memory.
func (l *Local) decide(r *Result, key string, c Cost) {
	if own, ok := l.clock.(*monotonic); ok && !l.portable {
		k := policy.SecretKey(key)
		if f := l.era.Load().fetcher; f != nil {
			f.Fetch(k)
		}
		l.take(r, time.Since(own.base), k, c)
		return
	}
	l.take(r, l.Now(), l.key(key), c)
}

func (l *Local) decideAt(r *Result, now time.Duration, key string, c Cost) {
	l.take(r, now, l.key(key), c)
}

// take makes r the answer to a request. It asks once, which is enough unless the table is full or has just moved on. Only
// what is allowed can have added a key, and not if the key owed something before.
func (l *Local) take(r *Result, now time.Duration, key uint64, c Cost) {
	e := l.era.Load()
	at := since(e.base, now, e.tick)
	if at.ticks <= e.horizon {
		var d policy.Decision
		if e.two == nil {
			d = e.policy.Take(at.ticks, key, c.first)
		} else {
			d = e.two.Take2(at.ticks, key, c.first, c.second)
		}
		if o := d.Outcome(); o != policy.Full && o != 0 {
			r.decision, r.tick, r.into = d, e.tick, at.into
			if o == policy.Allow && !d.Owed(c.first) {
				e.tidy(at.ticks)
			}
			return
		}
	}
	*r = l.insist(now, func(e *era, ticks uint64) policy.Decision {
		d := e.take(ticks, key, c)
		if d.OK() {
			e.tidy(ticks)
		}
		return d
	})
}

// answer is take's.
func (l *Local) answer(now time.Duration, key uint64, c Cost) (r Result) {
	l.take(&r, now, key, c)
	return r
}

func (l *Local) peek(now time.Duration, key uint64, c Cost) Result {
	return l.insist(now, func(e *era, ticks uint64) policy.Decision { return e.peek(ticks, key, c) })
}

// insist puts a question to the policy in force. A full table is swept before full is the answer, and a table whose keys
// have just moved on is asked again where they are.
func (l *Local) insist(now time.Duration, question func(e *era, ticks uint64) policy.Decision) Result {
	for swept := false; ; {
		e, at := l.at(now)
		d := question(e, at.ticks)
		switch {
		case d.Outcome() == 0 && l.settled() != e:
			continue
		case d.Outcome() == 0:
			d = policy.Refused(policy.Unavailable)
		case d.Outcome() == policy.Full && !swept:
			swept = true
			if freed, _ := e.policy.Sweep(at.ticks, fullSlots); freed > 0 {
				continue
			}
		}
		return Result{d, e.tick, at.into}
	}
}
