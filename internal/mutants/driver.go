package mutants

import (
	"context"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"weir/policy"
	"weir/vectors"
)

// Patience is how long a mutant may take for one case before it counts as hung.
const Patience = 2 * time.Second

// driver puts the model with one fault, or none, through vectors. The answers go out as plain numbers, not as a
// policy.Decision, which would set some of them right.
type driver fault

// Driver drives the mutant of that id in this process; the model with nothing wrong if id is "". Policies that the fault
// does not apply to are as they should be. A panic is a crash, and a case that takes longer than Patience a timeout.
func Driver(id string) vectors.Driver { return driver(id) }

func (d driver) Hello(context.Context) (vectors.Hello, error) {
	return vectors.Hello{Protocol: vectors.Protocol, Name: "mutant " + string(d), Version: "built-in", Language: "go",
		Policies: vectors.Policies(), Can: vectors.Capabilities(), MaxKeys: "*"}, nil
}

func (d driver) Close() error { return nil }

// Hash is the key by the model's own hashes.
func (d driver) Hash(_ context.Context, q vectors.HashRequest) (vectors.Number, error) {
	if q.Hash == vectors.CanMix32 {
		return vectors.Number(fault(d).mix32(uint32(*q.In))), nil
	}
	b, err := hex.DecodeString(*q.Hex)
	if err != nil {
		return 0, err
	}
	return vectors.Number(fault(d).xxh64(b, uint64(*q.Seed))), nil
}

// Run answers one case. A mutant that does not come back is left behind.
func (d driver) Run(ctx context.Context, q vectors.Request) (vectors.Reply, error) {
	limited, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	type outcome struct {
		reply vectors.Reply
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		reply, err := d.answer(limited, q)
		done <- outcome{reply, err}
	}()
	select {
	case o := <-done:
		return o.reply, o.err
	case <-limited.Done():
	}
	if ctx.Err() != nil {
		return vectors.Reply{}, ctx.Err()
	}
	return vectors.Reply{}, &vectors.DriverError{Verdict: vectors.Timeout, Text: fmt.Sprintf("no answer within %v", Patience)}
}

// answer makes the model and takes it through the steps; it ends early when nobody waits any more.
func (d driver) answer(ctx context.Context, q vectors.Request) (reply vectors.Reply, err error) {
	defer func() {
		if r := recover(); r != nil {
			reply, err = vectors.Reply{}, &vectors.DriverError{Verdict: vectors.Crash, Text: fmt.Sprintf("panic: %v", r)}
		}
	}()
	bounded := q.MaxKeys != "*"
	rooms := uint64(0)
	if bounded {
		if rooms, err = strconv.ParseUint(q.MaxKeys, 10, 64); err != nil {
			return reply, err
		}
	}
	m, err := newModel(fault(d), q.Policy, q.Params.Limit(), bounded, rooms)
	if err != nil {
		return vectors.Reply{ConfigError: policy.Code(err)}, nil
	}
	for _, s := range q.Steps {
		if ctx.Err() != nil {
			return vectors.Reply{}, ctx.Err()
		}
		reply.Results = append(reply.Results, m.step(s))
	}
	return reply, nil
}

// step does one step of a case.
func (m *model) step(s vectors.Step) vectors.Want {
	switch s.Op {
	case "take", "peek":
		return told(m.decide(asked(s)))
	case "refund":
		return vectors.Want{Outcome: m.refund(asked(s)).String()}
	case "relimit":
		if err := m.relimit(value(s.Now), s.Params.Limit()); err != nil {
			return vectors.Want{Outcome: policy.Code(err)}
		}
		return vectors.Want{Outcome: policy.Allow.String()}
	case "forget":
		m.forget(value(s.Key))
		return vectors.Want{Outcome: policy.Allow.String()}
	case "sweep":
		m.sweepAt(value(s.Now))
	}
	n := vectors.Number(len(m.keys))
	return vectors.Want{Keys: &n}
}

func value(n *vectors.Number) uint64 {
	if n == nil {
		return 0
	}
	return uint64(*n)
}

// asked is a step as a request. The second cost is the first unless the step has one.
func asked(s vectors.Step) request {
	cost2 := s.Cost
	if s.Cost2 != nil {
		cost2 = s.Cost2
	}
	return request{value(s.Now), value(s.Key), [2]uint64{value(s.Cost), value(cost2)}, s.Op == "peek"}
}

// told is an answer in the words of the suite.
func told(a policy.Answer) vectors.Want {
	remaining, reset, delay, retry := vectors.Number(a.Remaining), vectors.Number(a.ResetAfter), vectors.Number(a.Delay),
		vectors.Wait(a.RetryAfter)
	return vectors.Want{Outcome: a.Outcome.String(), Remaining: &remaining, RetryAfter: &retry, ResetAfter: &reset,
		Delay: &delay, Binding: a.Binding.String()}
}
