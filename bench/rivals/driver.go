package rivals

import (
	"context"
	"fmt"
	"time"

	"weir/policy"
	"weir/vectors"
)

// epoch is tick 0: one second after the Unix epoch, because some rivals take a time of 0 for "never".
var epoch = time.Unix(1, 0)

// clock is the fake clock of one case. A tick is a nanosecond.
type clock struct {
	now   time.Time
	slept time.Duration // what the last Sleep was asked for
}

// Now is the time of the step at hand.
func (c *clock) Now() time.Time { return c.now }

// Sleep notes how long the rival wants the caller to wait, and does not wait.
func (c *clock) Sleep(d time.Duration) { c.slept = d }

// limiter is a Go rival under one limit, for all keys.
type limiter interface {
	take(key, cost uint64) vectors.Want
}

type peeker interface {
	peek(key, cost uint64) vectors.Want
}

type forgetter interface {
	forget(key uint64)
}

// opener makes a Go rival of a limit.
type opener func(l policy.Limit, c *clock) (limiter, error)

// goDriver drives a Go rival in this process.
type goDriver struct {
	hello vectors.Hello
	open  opener
}

func newGoDriver(r Rival, version string, open opener) vectors.Driver {
	return &goDriver{open: open, hello: vectors.Hello{Protocol: vectors.Protocol, Name: r.Name, Version: version,
		Language: "go", Policies: []string{r.Policy}, Can: r.Asks.Can, MaxKeys: "*"}}
}

func (d *goDriver) Hello(context.Context) (vectors.Hello, error) { return d.hello, nil }
func (d *goDriver) Close() error                                 { return nil }

func (d *goDriver) Hash(context.Context, vectors.HashRequest) (vectors.Number, error) {
	return 0, &vectors.DriverError{Verdict: vectors.Unsupported, Text: "hash"}
}

// Run answers one case. A panic at a step is a crash.
func (d *goDriver) Run(_ context.Context, q vectors.Request) (reply vectors.Reply, err error) {
	c := &clock{now: epoch}
	l, err := d.made(q.Params.Limit(), c)
	if err != nil {
		return vectors.Reply{ConfigError: refused}, nil
	}
	defer func() {
		if r := recover(); r != nil {
			err = &vectors.DriverError{Verdict: vectors.Crash, Text: fmt.Sprintf("panic: %v", r)}
		}
	}()
	for _, s := range q.Steps {
		w, fault := step(l, c, s)
		if fault != "" {
			return vectors.Reply{Error: fault}, nil
		}
		reply.Results = append(reply.Results, w)
	}
	return reply, nil
}

// made makes the rival. A panic counts as a refusal there: some libraries say no in that way.
func (d *goDriver) made(l policy.Limit, c *clock) (made limiter, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return d.open(l, c)
}

func step(l limiter, c *clock, s vectors.Step) (w vectors.Want, fault string) {
	if s.Now != nil {
		c.now = epoch.Add(time.Duration(*s.Now))
	}
	switch s.Op {
	case "take":
		return l.take(uint64(*s.Key), uint64(*s.Cost)), ""
	case "peek":
		if p, ok := l.(peeker); ok {
			return p.peek(uint64(*s.Key), uint64(*s.Cost)), ""
		}
	case "forget":
		if f, ok := l.(forgetter); ok {
			f.forget(uint64(*s.Key))
			return vectors.Want{Outcome: "allow"}, ""
		}
	}
	return vectors.Want{}, "op: the rival cannot " + s.Op
}

// perKey holds a limiter for each key, made at the key's first request, as a program does with a rival that knows no keys.
type perKey[T any] struct {
	made map[uint64]T
	make func() T
}

func newPerKey[T any](make func() T) perKey[T] { return perKey[T]{map[uint64]T{}, make} }

func (p perKey[T]) of(key uint64) T {
	one, ok := p.made[key]
	if !ok {
		one = p.make()
		p.made[key] = one
	}
	return one
}

func (p perKey[T]) forget(key uint64) { delete(p.made, key) }

// yesNo is the outcome of a rival that says no more than whether a request may go ahead.
func yesNo(ok bool) string {
	if ok {
		return "allow"
	}
	return "deny"
}

// number is n as the suite has it, not below 0.
func number[T ~int | ~int64](n T) *vectors.Number {
	v := vectors.Number(max(n, 0))
	return &v
}

func wait(d time.Duration) *vectors.Wait {
	w := vectors.Wait(max(d, 0))
	return &w
}
