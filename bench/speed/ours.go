package speed

import (
	"context"
	"fmt"
	"time"

	"weir"
	"weir/gcra"
	"weir/policy"
)

// Limits of the rows. A tick is 1 ns.
var (
	// steady is a limit under which no key is ever idle or refused here: half of its burst is spent first, which is more than
	// a run takes of the most frequent key, and takes two months to come back.
	steady = policy.Limit{Permits: 100, Period: 1e9, Burst: 1e9}
	// quick refills a permit a tick: a hot key is allowed every time though now moves one tick a decision.
	quick = policy.Limit{Permits: 1e9, Period: 1e9, Burst: 1000}
	// never refills a permit in an hour: after the first, every request is refused.
	never = policy.Limit{Permits: 1, Period: 3600e9, Burst: 1}
)

const (
	steadyStep = 10
	steadyDebt = 5e8
	batch      = 64
)

// made is a policy by its name in the registry.
func made(name string, l policy.Limit) (policy.Policy, error) {
	if name == "dualbucket" {
		l.Permits2, l.Period2, l.Burst2 = l.Permits, l.Period, l.Burst
	}
	p, err := weir.Registry().New(name, l, policy.Options{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// held is a policy under steady that holds these keys, none of them idle.
func held(name string, keys []uint64) (policy.Policy, error) {
	p, err := made(name, steady)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if !p.Take(0, k, steadyDebt).OK() {
			return nil, fmt.Errorf("%s: a new key was refused", name)
		}
	}
	return p, nil
}

// directTakes is a limiter for one key, now moving one tick a decision.
//
//go:noinline
func directTakes(l policy.Limit) (loop, error) {
	d, err := gcra.NewDirect(l)
	if err != nil {
		return nil, err
	}
	d.Take(0, 1)
	now := uint64(0)
	return func(n int) (allowed int) {
		for t := now + 1; t <= now+uint64(n); t++ {
			if d.Take(t, 1).OK() {
				allowed++
			}
		}
		now += uint64(n)
		return allowed
	}, nil
}

// hotTakes is one key of a policy, now moving step ticks a decision.
//
//go:noinline
func hotTakes(p policy.Policy, key, step, cost uint64) loop {
	now := uint64(0)
	return func(n int) (allowed int) {
		t := now
		for range n {
			t += step
			if p.Take(t, key, cost).OK() {
				allowed++
			}
		}
		now = t
		return allowed
	}
}

// takes goes round keys, now moving steadyStep ticks a decision.
//
//go:noinline
func takes(p policy.Policy, keys []uint64) loop {
	at := 0
	return func(n int) (allowed int) {
		for i := at; i < at+n; i++ {
			if p.Take(uint64(i)*steadyStep, keys[i&(len(keys)-1)], 1).OK() {
				allowed++
			}
		}
		at += n
		return allowed
	}
}

// fencedTakes is takes with a fence after each decision.
//
//go:noinline
func fencedTakes(p policy.Policy, keys []uint64) loop {
	at := 0
	return func(n int) (allowed int) {
		for i := at; i < at+n; i++ {
			if p.Take(uint64(i)*steadyStep, keys[i&(len(keys)-1)], 1).OK() {
				allowed++
			}
			fence()
		}
		at += n
		return allowed
	}
}

// batchTakes is takes in batches, which share one now; n and the keys are a multiple of a batch.
//
//go:noinline
func batchTakes(p policy.Batcher, keys []uint64) loop {
	at := 0
	costs, out := make([]uint64, batch), make([]policy.Decision, batch)
	for i := range costs {
		costs[i] = 1
	}
	return func(n int) (allowed int) {
		for i := at; i < at+n; i += batch {
			from := i & (len(keys) - 1)
			p.TakeBatch(uint64(i)*steadyStep, keys[from:from+batch], costs, out)
			for j := range out {
				if out[j].OK() {
					allowed++
				}
			}
		}
		at += n
		return allowed
	}
}

// hotAllow is one key of a limiter with its own clock and string keys.
//
//go:noinline
func hotAllow(ctx context.Context, l *weir.Local, key string) loop {
	return func(n int) (allowed int) {
		for range n {
			if l.Allow(ctx, key).OK() {
				allowed++
			}
		}
		return allowed
	}
}

// hotAllowAt is the same at a moment that the caller has read.
//
//go:noinline
func hotAllowAt(l *weir.Local, key string) loop {
	now := l.Now()
	return func(n int) (allowed int) {
		for range n {
			now++
			if l.AllowAt(now, key, weir.N(1)).OK() {
				allowed++
			}
		}
		return allowed
	}
}

// hotLease spends from a lease at a moment that the caller has read.
//
//go:noinline
func hotLease(l *weir.Local, key string) (loop, error) {
	lease, err := l.Lease(key, 64)
	if err != nil {
		return nil, err
	}
	now := l.Now()
	return func(n int) (allowed int) {
		for range n {
			now++
			if lease.AllowAt(now) {
				allowed++
			}
		}
		return allowed
	}, nil
}

// weirFast is a limiter whose hot key is never refused: a permit a nanosecond.
func weirFast() (*weir.Local, error) {
	return weir.New("gcra", weir.Per(1e9, time.Second))
}

// weirHeld is a limiter that holds these keys, none of them idle for months.
func weirHeld(ctx context.Context, keys []string) (*weir.Local, error) {
	l, err := weir.New("gcra", weir.Per(100, time.Second).WithBurst(1e9))
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if r := l.AllowN(ctx, k, weir.N(steadyDebt)); !r.OK() {
			return nil, fmt.Errorf("weir.New: a new key: %w", r.Err())
		}
	}
	return l, nil
}
