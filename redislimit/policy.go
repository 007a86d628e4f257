package redislimit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"weir/policy"
)

// mostChanges is how many changes of its limit a Policy knows: a key that is older than all of them is carried over from
// the limit that it was counted in straight to the one in force.
const mostChanges = 64

// Registry has the five as policies on a server that are told the time, over integer keys: what the vectors and other
// checks drive. Each keeps its keys under a name of its own, which no other process knows, sets no expiry and has no bound
// on its keys. Where a server cannot be asked the answer is Unavailable.
func Registry(s Store) *policy.Registry {
	r := new(policy.Registry)
	for _, name := range []string{gcra, tokenBucket, leakyBucket, slidingLog, dualBucket} {
		_ = r.Add(name, func(l policy.Limit, o policy.Options) (policy.Policy, error) { return newPolicy(s, name, l, o) })
	}
	return r
}

// told is a policy that is told the time.
type told struct {
	store  Store
	prefix string // of its keys, hash tag included
	mu     sync.RWMutex
	now    []generation // the limits so far, the one in force last
	made   int          // how many there have been
}

// generation is a limit and the tick from which it has been in force.
type generation struct {
	rules *rules
	since uint64
}

// twoCosts is told for a dual bucket.
type twoCosts struct{ *told }

func newPolicy(s Store, name string, l policy.Limit, o policy.Options) (policy.Policy, error) {
	if s == nil {
		return nil, errors.New("redislimit: the store is nil")
	}
	if o.MaxKeys != 0 || o.Bounded {
		return nil, fmt.Errorf("%w: max_keys is %d, but a server has no such bound", policy.ErrInvalidMaxKeys, o.MaxKeys)
	}
	r, err := inTicks(name, l, "/0")
	if err != nil {
		return nil, err
	}
	var id [12]byte
	_, _ = rand.Read(id[:]) // never fails
	p := &told{store: s, prefix: "weir:" + name + ":{" + hex.EncodeToString(id[:]) + "}:", now: []generation{{r, 0}}}
	if name == dualBucket {
		return twoCosts{p}, nil
	}
	return p, nil
}

func (p *told) current() *rules {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.now[len(p.now)-1].rules
}

func (p *told) key(key uint64) string { return p.prefix + number(key) }

// ask puts one question to the server, and once more after each time that a key had to be carried over first.
func (p *told) ask(op string, now, key uint64, c costs) (policy.Decision, error) {
	const tries = 8
	for range tries {
		r := p.current()
		if now > r.horizon {
			return policy.Refused(policy.PastHorizon), nil
		}
		call := one(r, op, strconv.FormatUint(now, 10), p.key(key), c)
		a, err := runOne(context.Background(), p.store, call).answer()
		if err != nil {
			return policy.Refused(policy.Unavailable), err
		}
		if a.foreign == 0 {
			d, err := r.decide(a.now, a.numbers, c, a.spent)
			if err != nil {
				return policy.Refused(policy.Unavailable), err
			}
			return d, nil
		}
		if err := p.carry(p.key(key), a.text); err != nil {
			return policy.Refused(policy.Unavailable), err
		}
	}
	return policy.Refused(policy.Unavailable), errors.New("redislimit: the key changed limits faster than it could be carried over")
}

// one is the call for a single limit. What can never fit, and what spends nothing, is asked and not taken.
func one(r *rules, op, now, key string, c costs) Call {
	switch {
	case r.tooCostly(c) && op != "refund":
		op, c = "peek", costs{}
	case r.nothing(c) && op == "take":
		op = "peek"
	}
	call := Call{Digest: oneScript[r.name], Keys: []string{key}}
	switch {
	case r.name == dualBucket || r.name == slidingLog:
		call.Args = r.arguments([]string{op, now, r.name}, c)
	case op == "take" && now == "" && c[0] == 1:
		call.Args = r.usual
	default:
		call.Args = r.arguments(nil, c)
		if now != "" {
			call.Args = append(call.Args, op, now)
		} else if op != "take" {
			call.Args = append(call.Args, op)
		}
	}
	return call
}

// carry takes a key through all the changes of the limit since it was written.
func (p *told) carry(key, text string) error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	next := text
	from := len(p.now) - 1
	h, err := heldBy(p.now[0].rules.name, text, 0)
	if err != nil {
		return err
	}
	for from > 0 && p.now[from].rules.text != h.limit {
		from--
	}
	for _, g := range p.now[from+1:] {
		if next, err = carried(next, "", g.since, g.rules); err != nil {
			return err
		}
	}
	return runOne(context.Background(), p.store, Call{Digest: swapScript, Keys: []string{key}, Args: []string{text, next, ""}}).Err
}

// Take is policy.Policy's.
func (p *told) Take(now, key, cost uint64) policy.Decision {
	d, _ := p.ask("take", now, key, costs{cost, cost})
	return d
}

// Peek is policy.Policy's.
func (p *told) Peek(now, key, cost uint64) policy.Decision {
	d, _ := p.ask("peek", now, key, costs{cost, cost})
	return d
}

// Refund is policy.Policy's.
func (p *told) Refund(now, key, cost uint64) policy.Outcome {
	return p.refund(now, key, costs{cost, cost})
}

func (p *told) refund(now, key uint64, c costs) policy.Outcome {
	d, err := p.ask("refund", now, key, c)
	if err == nil && d.Outcome() != policy.PastHorizon {
		return policy.Allow
	}
	return d.Outcome()
}

// Take2 is policy.TwoCosts'.
func (p twoCosts) Take2(now, key, cost, cost2 uint64) policy.Decision {
	d, _ := p.ask("take", now, key, costs{cost, cost2})
	return d
}

// Peek2 is policy.TwoCosts'.
func (p twoCosts) Peek2(now, key, cost, cost2 uint64) policy.Decision {
	d, _ := p.ask("peek", now, key, costs{cost, cost2})
	return d
}

// Refund2 is policy.TwoCosts'.
func (p twoCosts) Refund2(now, key, cost, cost2 uint64) policy.Outcome {
	return p.refund(now, key, costs{cost, cost2})
}

// Forget is policy.Policy's.
func (p *told) Forget(key uint64) {
	runOne(context.Background(), p.store, Call{Digest: forgetScript, Keys: []string{p.key(key)}})
}

// Relimit is policy.Policy's. Keys are carried over when they are next asked for, as of now.
func (p *told) Relimit(now uint64, l policy.Limit) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.now[len(p.now)-1].rules
	r, err := inTicks(old.name, l, "/"+strconv.Itoa(p.made+1))
	if err != nil {
		return err
	}
	if h := min(old.horizon, r.horizon); now > h {
		return fmt.Errorf("%w: now is %d, must be at most %d", policy.ErrPastHorizon, now, h)
	}
	p.now = append(p.now, generation{r, now})
	p.made++
	if len(p.now) > mostChanges {
		p.now = p.now[1:]
	}
	return nil
}
