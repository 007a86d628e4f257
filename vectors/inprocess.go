package vectors

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"time"

	"weir/policy"
)

// RegistryDriver drives the policies of a registry in this process.
type RegistryDriver struct {
	// Timeout is how long one case may take; 5 seconds unless set. A policy that does not come back is left behind.
	Timeout time.Duration

	hello    Hello
	registry *policy.Registry
}

// NewRegistryDriver drives the policies of r, which are written in language. It claims every capability; take away with
// Without what a registry lacks. The hashes are those of package policy, so only the language "go" claims them.
func NewRegistryDriver(name, language string, r *policy.Registry) *RegistryDriver {
	d := &RegistryDriver{Timeout: 5 * time.Second, registry: r}
	d.hello = Hello{Protocol: Protocol, Name: name, Version: "built-in", Language: language,
		Policies: r.Names(), Can: Capabilities(), MaxKeys: "*"}
	if language != "go" {
		return d.Without(CanXXH64, CanMix32)
	}
	return d
}

// Without takes capabilities away and returns d.
func (d *RegistryDriver) Without(capabilities ...string) *RegistryDriver {
	d.hello.Can = slices.DeleteFunc(d.hello.Can, func(c string) bool { return slices.Contains(capabilities, c) })
	return d
}

// Fixed says that every table has room for exactly maxKeys keys unless a case says another number. It returns d. Cases
// of other numbers are still run unless the capability max_keys is taken away.
func (d *RegistryDriver) Fixed(maxKeys uint64) *RegistryDriver {
	d.hello.MaxKeys = strconv.FormatUint(maxKeys, 10)
	return d
}

// Hello says what the registry has.
func (d *RegistryDriver) Hello(context.Context) (Hello, error) { return d.hello, nil }

// Close does nothing.
func (d *RegistryDriver) Close() error { return nil }

// Hash is the key that package policy makes.
func (d *RegistryDriver) Hash(_ context.Context, q HashRequest) (Number, error) {
	if q.Hash == CanMix32 {
		return Number(policy.Key32(uint32(*q.In))), nil
	}
	b, err := hex.DecodeString(*q.Hex)
	if err != nil {
		return 0, &DriverError{Verdict: ProtocolError, Text: err.Error()}
	}
	return Number(policy.KeyBytes(b, uint64(*q.Seed))), nil
}

// Run answers one case. A panic of the policy is a crash, and one that does not come back a timeout.
func (d *RegistryDriver) Run(ctx context.Context, q Request) (Reply, error) {
	return d.within(ctx, func(ctx context.Context) (Reply, error) {
		p, reply, err := d.fresh(q)
		if p == nil {
			return reply, err
		}
		return performAll(ctx, p, q.Steps)
	})
}

// fresh makes the policy of a case; without one the reply says why, or the error.
func (d *RegistryDriver) fresh(q Request) (p policy.Policy, refused Reply, err error) {
	doing := "when made"
	defer crashed(&doing, &err)
	options, err := tableOf(q.MaxKeys)
	if err != nil {
		return nil, Reply{}, err
	}
	if p, err = d.registry.New(q.Policy, q.Params.Limit(), options); err != nil {
		return nil, refusal(err), nil
	}
	return p, Reply{}, nil
}

// within waits for an answer no longer than the time limit.
func (d *RegistryDriver) within(ctx context.Context, answer func(context.Context) (Reply, error)) (Reply, error) {
	limited, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	type outcome struct {
		reply Reply
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		reply, err := answer(limited)
		done <- outcome{reply, err}
	}()
	select {
	case o := <-done:
		return o.reply, o.err
	case <-limited.Done():
	}
	if ctx.Err() != nil {
		return Reply{}, ctx.Err()
	}
	return Reply{}, &DriverError{Verdict: Timeout, Text: fmt.Sprintf("no answer within %v", d.Timeout)}
}

// crashed, deferred, makes an error of a panic.
func crashed(doing *string, err *error) {
	if r := recover(); r != nil {
		*err = &DriverError{Verdict: Crash, Text: fmt.Sprintf("panic %s: %v", *doing, r)}
	}
}

// performAll takes a policy through steps; it ends early when nobody waits any more.
func performAll(ctx context.Context, p policy.Policy, steps []Step) (reply Reply, err error) {
	var doing string
	defer crashed(&doing, &err)
	for i, s := range steps {
		if ctx.Err() != nil {
			return Reply{}, ctx.Err()
		}
		doing = fmt.Sprintf("at %s, step %d of those sent", s.Op, i)
		w, fault := perform(p, s)
		if fault != "" {
			return Reply{Error: fault}, nil
		}
		reply.Results = append(reply.Results, w)
	}
	return reply, nil
}

func tableOf(maxKeys string) (policy.Options, error) {
	if maxKeys == "*" {
		return policy.Options{}, nil
	}
	n, err := strconv.ParseUint(maxKeys, 10, 64)
	if err != nil {
		return policy.Options{}, &DriverError{Verdict: ProtocolError, Text: "max_keys: " + err.Error()}
	}
	return policy.Options{MaxKeys: n, Bounded: true}, nil
}

func refusal(err error) Reply {
	if word := policy.Code(err); word != "" {
		return Reply{ConfigError: word}
	}
	return Reply{Error: err.Error()}
}

// Limit is the limit that the params say; an absent number is 0.
func (p Params) Limit() policy.Limit {
	return policy.Limit{Permits: or0(p.Permits), Period: or0(p.Period), Burst: or0(p.Burst),
		Permits2: or0(p.Permits2), Period2: or0(p.Period2), Burst2: or0(p.Burst2)}
}

func or0(n *Number) uint64 {
	if n == nil {
		return 0
	}
	return uint64(*n)
}

// perform does one step; fault is why it cannot be done.
func perform(p policy.Policy, s Step) (w Want, fault string) {
	now, key, cost := or0(s.Now), or0(s.Key), or0(s.Cost)
	two, ok := p.(policy.TwoCosts)
	if s.Cost2 != nil && !ok {
		return Want{}, "cost2: this policy takes one cost"
	}
	switch s.Op {
	case "take":
		if s.Cost2 != nil {
			return Answered(two.Take2(now, key, cost, or0(s.Cost2))), ""
		}
		return Answered(p.Take(now, key, cost)), ""
	case "peek":
		if s.Cost2 != nil {
			return Answered(two.Peek2(now, key, cost, or0(s.Cost2))), ""
		}
		return Answered(p.Peek(now, key, cost)), ""
	case "refund":
		if s.Cost2 != nil {
			return Want{Outcome: two.Refund2(now, key, cost, or0(s.Cost2)).String()}, ""
		}
		return Want{Outcome: p.Refund(now, key, cost).String()}, ""
	case "relimit":
		return relimit(p, now, s.Params)
	}
	return housekeep(p, s.Op, now, key)
}

func housekeep(p policy.Policy, op string, now, key uint64) (w Want, fault string) {
	switch op {
	case "forget":
		p.Forget(key)
		return Want{Outcome: policy.Allow.String()}, ""
	case "sweep":
		p.Sweep(now, 0)
	case "keys":
	default:
		return Want{}, fmt.Sprintf("op: no such operation: %q", op)
	}
	n := Number(p.Keys())
	return Want{Keys: &n}, ""
}

func relimit(p policy.Policy, now uint64, l *Params) (w Want, fault string) {
	err := p.Relimit(now, l.Limit())
	if err == nil {
		return Want{Outcome: policy.Allow.String()}, ""
	}
	if word := policy.Code(err); word != "" {
		return Want{Outcome: word}, ""
	}
	return Want{}, err.Error()
}

// Answered is a decision in the words of the suite, every field there.
func Answered(d policy.Decision) Want {
	a := d.Answer()
	remaining, reset, delay, retry := Number(a.Remaining), Number(a.ResetAfter), Number(a.Delay), Wait(a.RetryAfter)
	return Want{Outcome: a.Outcome.String(), Remaining: &remaining, RetryAfter: &retry, ResetAfter: &reset,
		Delay: &delay, Binding: a.Binding.String()}
}
