package agree_test

import (
	"errors"
	"fmt"

	"weir/dualbucket"
	"weir/gcra"
	"weir/internal/oracle"
	"weir/leakybucket"
	"weir/policy"
	"weir/slidinglog"
	"weir/tokenbucket"
)

// subject is one policy by the name that the oracle knows it by.
type subject struct {
	name string
	make policy.Maker
}

var five = []subject{
	{"gcra", gcra.New}, {"tokenbucket", tokenbucket.New}, {"leakybucket", leakybucket.New},
	{"slidinglog", slidinglog.New}, {"dualbucket", dualbucket.New},
}

// meters are the three that are one algorithm.
var meters = five[:3]

type op uint8

const (
	take op = iota
	peek
	refund
	forget
	sweep
	relimit
)

var opNames = [...]string{"take", "peek", "refund", "forget", "sweep", "relimit"}

// call is one thing asked of a policy. cost2 matters to a dual bucket alone.
type call struct {
	op                    op
	now, key, cost, cost2 uint64
	limit                 policy.Limit
}

func (c call) String() string {
	if c.op == relimit {
		return fmt.Sprintf("relimit now %d to %+v", c.now, c.limit)
	}
	return fmt.Sprintf("%s now %d key %d cost %d, %d", opNames[c.op], c.now, c.key, c.cost, c.cost2)
}

// reply is everything that a call answers, and the keys that hold room after it.
type reply struct {
	policy.Answer
	Next    uint64
	Keys    int
	Horizon uint64
	Code    string // why a relimit was refused
}

func do(p policy.Policy, c call) (r reply) {
	switch c.op {
	case take, peek:
		d := decide(p, c)
		r.Answer, r.Next = d.Answer(), d.Next()
	case refund:
		r.Outcome = giveBack(p, c)
	case forget:
		p.Forget(c.key)
	case sweep:
		if _, done := p.Sweep(c.now, 0); !done {
			r.Code = "a sweep of all did not come to the end"
		}
	case relimit:
		r.Code = policy.Code(p.Relimit(c.now, c.limit))
	}
	r.Keys, r.Horizon = p.Keys(), p.Horizon()
	return r
}

func decide(p policy.Policy, c call) policy.Decision {
	two, isTwo := p.(policy.TwoCosts)
	switch {
	case isTwo && c.op == take:
		return two.Take2(c.now, c.key, c.cost, c.cost2)
	case isTwo:
		return two.Peek2(c.now, c.key, c.cost, c.cost2)
	case c.op == take:
		return p.Take(c.now, c.key, c.cost)
	}
	return p.Peek(c.now, c.key, c.cost)
}

func giveBack(p policy.Policy, c call) policy.Outcome {
	if two, ok := p.(policy.TwoCosts); ok {
		return two.Refund2(c.now, c.key, c.cost, c.cost2)
	}
	return p.Refund(c.now, c.key, c.cost)
}

// ask is do for the model.
func ask(m *oracle.Model, c call) (r reply) {
	switch c.op {
	case take:
		r.Answer = m.Take(c.now, c.key, c.cost, c.cost2)
		r.Next = m.Next(c.now, c.key)
	case peek:
		r.Answer = m.Peek(c.now, c.key, c.cost, c.cost2)
		r.Next = m.Next(c.now, c.key)
	case refund:
		r.Outcome = m.Refund(c.now, c.key, c.cost, c.cost2)
	case forget:
		m.Forget(c.key)
	case sweep:
		m.Sweep(c.now)
	case relimit:
		outcome, err := m.Relimit(c.now, c.limit)
		r.Code = modelCode(err)
		if outcome == policy.PastHorizon {
			r.Code = outcome.String()
		}
	}
	r.Keys, r.Horizon = m.Keys(), m.Horizon()
	return r
}

func modelCode(err error) string {
	var refusal *oracle.ConfigError
	if errors.As(err, &refusal) {
		return refusal.Code
	}
	return ""
}
