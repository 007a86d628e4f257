//go:build cgo

package cport_test

import (
	"errors"
	"io"
	"math"
	"strings"
	"sync"
	"testing"

	"weir/cport"
	"weir/policy"
)

// limits are one for each of the five: 3 permits at once, and none back before the tests are over.
var limits = map[string]policy.Limit{
	"gcra":        {Permits: 1, Period: second, Burst: 3},
	"tokenbucket": {Permits: 1, Period: second, Burst: 3},
	"leakybucket": {Permits: 1, Period: second, Burst: 3},
	"slidinglog":  {Permits: 3, Period: second},
	"dualbucket":  {Permits: 1, Period: second, Burst: 3, Permits2: 1, Period2: 2 * second, Burst2: 5},
}

func each(t *testing.T, test func(t *testing.T, name string, l policy.Limit)) {
	for _, name := range names {
		t.Run(name, func(t *testing.T) { test(t, name, limits[name]) })
	}
}

type batcher interface {
	TakeBatch(now uint64, keys, costs []uint64, out []policy.Decision) int
}

func TestRegistryHasAllFive(t *testing.T) {
	if got := strings.Join(cport.Registry().Names(), " "); !cport.Available || got != strings.Join(names, " ") {
		t.Errorf("policies %v", got)
	}
}

// What is wrong with max_keys, whatever the policy, is said with the bound.
func TestBadMaxKeys(t *testing.T) {
	each(t, func(t *testing.T, name string, l policy.Limit) {
		for _, maxKeys := range []uint64{0, cport.MaxBytes / 24 * 2, 1 << 58, 1 << 60, 1 << 63, math.MaxUint64} {
			p, err := cport.New(name, l, maxKeys)
			var e *policy.LimitError
			if p != nil || !errors.Is(err, policy.ErrInvalidMaxKeys) || !errors.As(err, &e) || e.Field != "max_keys" || e.Value != maxKeys {
				t.Errorf("%d keys: %v", maxKeys, err)
			}
			if e != nil && maxKeys > 0 && (e.Bound < 1<<16 || e.Bound > cport.MaxBytes/24) {
				t.Errorf("%d keys: %v", maxKeys, err)
			}
		}
	})
}

// Options without a bound give a bounded table of a size that is stated.
func TestDefaults(t *testing.T) {
	full := func(p policy.Policy, keys int) {
		t.Helper()
		for key := range uint64(keys) {
			p.Take(0, key, 1)
		}
		if p.Keys() != keys || p.Take(0, math.MaxUint64, 1).Outcome() != policy.Full {
			t.Errorf("%d keys, want %d", p.Keys(), keys)
		}
	}
	each(t, func(t *testing.T, name string, l policy.Limit) {
		p, err := cport.Registry().New(name, l, policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		full(p, cport.DefaultMaxKeys)
	})
	for _, row := range []struct {
		permits uint64
		keys    int
	}{{10_000, int((cport.DefaultBytes - 160) / (64 + 160_000))}, {1 << 22, 1}, {1 << 23, 1}} {
		p, err := cport.Registry().New("slidinglog", policy.Limit{Permits: row.permits, Period: 1 << 40}, policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		full(p, row.keys)
	}
	_, err := cport.Registry().New("slidinglog", policy.Limit{Permits: 1<<62 - 1, Period: 1<<62 - 1}, policy.Options{})
	if !errors.Is(err, policy.ErrInvalidMaxKeys) {
		t.Error(err)
	}
}

// A table has room for exactly max_keys keys, the refused leave no trace, and who is known is served.
func TestFullTables(t *testing.T) {
	each(t, func(t *testing.T, name string, l policy.Limit) {
		for _, maxKeys := range []uint64{1, 2, 3, 100} {
			p := made(t, name, l, maxKeys)
			for key := range maxKeys {
				p.Peek(0, key, 1)
				p.Take(0, key, 9)
				p.Take(0, key, 0)
				p.Refund(0, key, 1)
				if p.Keys() != int(key) || !p.Take(0, key, 1).OK() {
					t.Fatalf("max_keys %d: %d keys, want %d", maxKeys, p.Keys(), key)
				}
			}
			full := policy.Answer{Outcome: policy.Full, RetryAfter: policy.Never}
			for i := range uint64(20_000) {
				want(t, "no room", p.Take(0, maxKeys+i, 1), full)
			}
			want(t, "no room, peeked", p.Peek(0, math.MaxUint64, 1), full)
			if !p.Take(0, math.MaxUint64, 0).OK() || p.Take(0, math.MaxUint64, 6).Outcome() != policy.TooCostly {
				t.Error("what needs no room is refused for want of it")
			}
			for key := range maxKeys {
				if d := p.Take(0, key, 1); !d.OK() || d.Remaining() != 1 {
					t.Errorf("known key %d: %+v", key, d.Answer())
				}
			}
			p.Forget(0)
			if !p.Take(0, math.MaxUint64, 1).OK() || p.Keys() != int(maxKeys) {
				t.Error("a forgotten key's room is not free")
			}
		}
	})
}

// All of 2^64 keys are keys: neither end of the range stands for an empty slot, and both halves of a key count.
func TestEveryKeyIsAKey(t *testing.T) {
	each(t, func(t *testing.T, name string, l policy.Limit) {
		p := made(t, name, l, 6)
		keys := []uint64{0, math.MaxUint64, 1 << 63, 1 << 32, 1, math.MaxUint32}
		for i, key := range keys {
			if !p.Take(0, key, 3).OK() || p.Take(0, key, 1).OK() || p.Keys() != i+1 {
				t.Errorf("key %#x is not a key of its own", key)
			}
		}
		for i, key := range keys {
			p.Forget(key)
			if p.Keys() != 5-i || !p.Peek(0, key, 3).OK() {
				t.Errorf("key %#x was not forgotten", key)
			}
		}
	})
}

// However many come at once, no more keys than max_keys are let in, and no key gets more than its burst.
func TestConcurrent(t *testing.T) {
	each(t, func(t *testing.T, name string, l policy.Limit) {
		const maxKeys = 100
		p := made(t, name, l, maxKeys)
		var wg sync.WaitGroup
		allowed := make([]int, 8)
		for g := range allowed {
			wg.Go(func() {
				for i := range uint64(4000) {
					if p.Take(i/1000, i%300, 1).OK() {
						allowed[g]++
					}
					p.Peek(i, i%300, 1)
					p.Limit()
				}
			})
		}
		wg.Wait()
		total := 0
		for _, n := range allowed {
			total += n
		}
		if p.Keys() != maxKeys || total != maxKeys*3 {
			t.Errorf("%d keys, %d allowed; want %d and %d", p.Keys(), total, maxKeys, maxKeys*3)
		}
	})
}

func TestAllocations(t *testing.T) {
	each(t, func(t *testing.T, name string, l policy.Limit) {
		p := made(t, name, l, 64)
		keys, costs, out := make([]uint64, 70), make([]uint64, 70), make([]policy.Decision, 70)
		for i := range keys {
			keys[i], costs[i] = uint64(i%8), 1
		}
		now := uint64(0)
		var d policy.Decision
		for what, f := range map[string]func(){
			"take":  func() { now += 500; d = p.Take(now, 1, 1) },
			"peek":  func() { d = p.Peek(now, 1, 1) },
			"batch": func() { p.(batcher).TakeBatch(now, keys, costs, out) },
			"all":   func() { p.Refund(now, 1, 1); p.Sweep(now, 4); p.Forget(1); p.Keys() },
		} {
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%s allocates %v times", what, n)
			}
		}
		_ = d
	})
}

// A batch is its requests one by one, in order, as many as all three slices have.
func TestBatch(t *testing.T) {
	each(t, func(t *testing.T, name string, l policy.Limit) {
		p, one := made(t, name, l, 20), made(t, name, l, 20)
		for _, n := range []int{0, 1, 31, 32, 33, 100} {
			keys, costs, out := make([]uint64, n), make([]uint64, n+1), make([]policy.Decision, n+2)
			for i := range keys {
				keys[i], costs[i] = uint64(i%25), uint64(i%5)
			}
			if got := p.(batcher).TakeBatch(uint64(n), keys, costs, out); got != n {
				t.Errorf("%d were decided, want %d", got, n)
			}
			for i := range keys {
				want(t, "in a batch", out[i], one.Take(uint64(n), keys[i], costs[i]).Answer())
			}
			want(t, "behind the batch", out[n], policy.Decision{}.Answer())
		}
		if got := p.(batcher).TakeBatch(0, make([]uint64, 5), make([]uint64, 3), make([]policy.Decision, 4)); got != 3 {
			t.Errorf("%d were decided, want 3", got)
		}
		if err := p.(io.Closer).Close(); err != nil || p.Keys() != one.Keys() {
			t.Error("close did something", err)
		}
	})
}

func TestOnlyTheDualBucketTakesTwoCosts(t *testing.T) {
	each(t, func(t *testing.T, name string, l policy.Limit) {
		two, ok := made(t, name, l, 4).(policy.TwoCosts)
		if ok != (name == "dualbucket") {
			t.Fatal(ok)
		}
		if ok {
			want(t, "only the second", two.Take2(0, 1, 0, 5), policy.Answer{Outcome: policy.Allow, ResetAfter: 10 * second, Binding: policy.Second})
			want(t, "only the first", two.Peek2(0, 1, 3, 0), policy.Answer{Outcome: policy.Allow, ResetAfter: 10 * second, Binding: policy.Second})
			two.Refund2(0, 1, 0, 4)
			want(t, "both", two.Take(0, 1, 1), policy.Answer{Outcome: policy.Allow, Remaining: 2, ResetAfter: 4 * second})
		}
	})
}

// A log can be raised to as many entries as it was made with, and no further; nothing is changed by a refusal.
func TestRelimitOfALog(t *testing.T) {
	p := made(t, "slidinglog", policy.Limit{Permits: 3, Period: 100}, 4)
	p.Take(0, 1, 3)
	for _, row := range []struct {
		to    policy.Limit
		code  string
		field string
	}{
		{policy.Limit{Permits: 16, Period: 1000}, "", ""},
		{policy.Limit{Permits: 1 << 61, Period: 16}, "", ""},
		{policy.Limit{Permits: 17, Period: 1000}, "limit_too_large", "permits"},
		{policy.Limit{Permits: 1 << 61, Period: 17}, "limit_too_large", "period"},
		{policy.Limit{Permits: 1 << 62, Period: 1}, "limit_too_large", "permits"},
		{policy.Limit{Permits: 17, Period: 1000, Burst: 2}, "invalid_burst", "burst"},
	} {
		before := p.Limit()
		err := p.Relimit(0, row.to)
		var e *policy.LimitError
		if policy.Code(err) != row.code || row.code != "" && (!errors.As(err, &e) || e.Field != row.field || p.Limit() != before) {
			t.Errorf("%+v: %v", row.to, err)
		}
	}
	if err := p.Relimit(0, policy.Limit{Permits: 16, Period: 1000}); err != nil {
		t.Fatal(err)
	}
	for i := range uint64(13) {
		if d := p.Take(i+1, 1, 1); !d.OK() || d.Remaining() != 12-i {
			t.Errorf("permit %d: %+v", i, d.Answer())
		}
	}
	want(t, "spent", p.Take(14, 1, 1), policy.Answer{Outcome: policy.Deny, RetryAfter: 986, ResetAfter: 999})
}
