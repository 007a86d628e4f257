//go:build cgo

package cport_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"weir/cport"
	"weir/policy"
)

const second = 1_000_000_000 // ticks, as nanoseconds

func made(t *testing.T, name string, l policy.Limit, maxKeys uint64) policy.Policy {
	t.Helper()
	p, err := cport.New(name, l, maxKeys)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func want(t *testing.T, what string, d policy.Decision, a policy.Answer) {
	t.Helper()
	if got := d.Answer(); got != a {
		t.Errorf("%s: %+v, want %+v", what, got, a)
	}
}

func TestThreePerThousand(t *testing.T) {
	p := made(t, "gcra", policy.Limit{Permits: 3, Period: 1000, Burst: 1}, 8)
	want(t, "the first", p.Take(0, 7, 1), policy.Answer{Outcome: policy.Allow, ResetAfter: 334})
	want(t, "a tick early", p.Take(333, 7, 1), policy.Answer{Outcome: policy.Deny, RetryAfter: 1, ResetAfter: 1})
	want(t, "peeked", p.Peek(334, 7, 1), policy.Answer{Outcome: policy.Allow, Remaining: 1})
	want(t, "due", p.Take(334, 7, 1), policy.Answer{Outcome: policy.Allow, ResetAfter: 334})
	want(t, "too costly", p.Take(334, 7, 2),
		policy.Answer{Outcome: policy.TooCostly, RetryAfter: policy.Never, ResetAfter: 334})
	want(t, "free", p.Take(334, 7, 0), policy.Answer{Outcome: policy.Allow, ResetAfter: 334})
	want(t, "past the horizon", p.Take(p.Horizon()+1, 7, 1),
		policy.Answer{Outcome: policy.PastHorizon, RetryAfter: policy.Never})
	want(t, "at the horizon", p.Take(p.Horizon(), 7, 1), policy.Answer{Outcome: policy.Allow, ResetAfter: 334})
	if got := p.Take(334, 9, 1).Next(); got != 334 {
		t.Errorf("next %d, want 334", got)
	}
}

// A burst of 20 at 100 per second, and a permit back 10 ms later: a nanosecond early is early.
func TestBurst(t *testing.T) {
	p := made(t, "gcra", policy.Limit{Permits: 100, Period: second, Burst: 20}, 8)
	for i := range uint64(20) {
		want(t, "burst", p.Take(10*i, 1, 1), policy.Answer{Outcome: policy.Allow, Remaining: 19 - i,
			ResetAfter: 10_000_000*(i+1) - 10*i})
	}
	want(t, "spent", p.Take(200, 1, 1),
		policy.Answer{Outcome: policy.Deny, RetryAfter: 9_999_800, ResetAfter: 199_999_800})
	want(t, "a tick early", p.Peek(9_999_999, 1, 1),
		policy.Answer{Outcome: policy.Deny, RetryAfter: 1, ResetAfter: 190_000_001})
	want(t, "due", p.Take(10_000_000, 1, 1), policy.Answer{Outcome: policy.Allow, ResetAfter: 200_000_000})
}

// A table has room for exactly max_keys keys, and the refused leave no trace.
func TestFull(t *testing.T) {
	for _, maxKeys := range []uint64{1, 2, 3, 4, 7, 1000} {
		p := made(t, "gcra", policy.Limit{Permits: 1, Period: 1000, Burst: 5}, maxKeys)
		for key := range maxKeys {
			p.Peek(0, key, 1)
			p.Take(0, key, 6)
			p.Take(0, key, 0)
			if p.Keys() != int(key) {
				t.Fatalf("max_keys %d: %d keys, want %d", maxKeys, p.Keys(), key)
			}
			want(t, "a new key", p.Take(0, key, 1), policy.Answer{Outcome: policy.Allow, Remaining: 4, ResetAfter: 1000})
		}
		full := policy.Answer{Outcome: policy.Full, RetryAfter: policy.Never}
		for i := range uint64(10_000) {
			want(t, "no room", p.Take(i, maxKeys+i, 1), full)
		}
		want(t, "no room, peeked", p.Peek(0, math.MaxUint64, 1), full)
		want(t, "no room, free", p.Take(0, math.MaxUint64, 0), policy.Answer{Outcome: policy.Allow, Remaining: 5})
		want(t, "no room, too costly", p.Take(0, math.MaxUint64, 6),
			policy.Answer{Outcome: policy.TooCostly, Remaining: 5, RetryAfter: policy.Never})
		for key := range maxKeys {
			want(t, "a known key", p.Take(0, key, 1), policy.Answer{Outcome: policy.Allow, Remaining: 3, ResetAfter: 2000})
		}
	}
}

func TestForgetAndSweep(t *testing.T) {
	const maxKeys = 100
	p := made(t, "gcra", policy.Limit{Permits: 1, Period: 10, Burst: maxKeys + 1}, maxKeys)
	for key := range uint64(maxKeys) {
		p.Take(0, key, key+1) // key is idle at 10*(key+1)
	}
	p.Forget(50)
	p.Forget(1_000_000)
	if !p.Take(0, 1_000_000, 100).OK() {
		t.Error("the room of a forgotten key is not free")
	}
	p.Forget(1_000_000)
	if freed, done := p.Sweep(109, 0); freed != 10 || !done || p.Keys() != 89 {
		t.Errorf("swept %d, done %v, %d keys left; want 10, true, 89", freed, done, p.Keys())
	}
	total, calls := 0, 0
	for done := false; !done; calls++ {
		var freed int
		freed, done = p.Sweep(300, 7)
		total += freed
	}
	if total != 20 || calls < 151/7 || calls > (151+20)/7+1 {
		t.Errorf("swept %d in %d calls", total, calls)
	}
	want(t, "a key with debt", p.Peek(300, 30, 1),
		policy.Answer{Outcome: policy.Allow, Remaining: 100, ResetAfter: 10})
	if freed, done := p.Sweep(math.MaxUint64, -1); freed != 69 || !done || p.Keys() != 0 {
		t.Errorf("a sweep past the horizon freed %d, %d keys left", freed, p.Keys())
	}
}

func TestRefund(t *testing.T) {
	p := made(t, "gcra", policy.Limit{Permits: 1, Period: 1000, Burst: 5}, 2)
	p.Take(0, 1, 5)
	rows := []struct {
		now, cost uint64
		outcome   policy.Outcome
		remaining uint64
	}{
		{0, 0, policy.Allow, 0},
		{0, 2, policy.Allow, 2},
		{0, math.MaxUint64, policy.Allow, 5},       // never better than new, and no product wraps
		{0, 1 << 63, policy.Allow, 5},              // of one that is new
		{1 << 62, 1, policy.PastHorizon, 5},        // the horizon is 2^62 - 1
		{1<<62 - 1, 1, policy.Allow, 5},            // at it
		{math.MaxUint64, 1, policy.PastHorizon, 5}, // now * p is never computed
	}
	for i, r := range rows {
		if got := p.Refund(r.now, 1, r.cost); got != r.outcome {
			t.Errorf("row %d: %v, want %v", i, got, r.outcome)
		}
		if got := p.Peek(0, 1, 1).Remaining(); got != r.remaining {
			t.Errorf("row %d: %d remain, want %d", i, got, r.remaining)
		}
	}
	p.Refund(0, 2, 1)
	if p.Keys() != 1 {
		t.Error("a refund of an unknown key made it known, or one to as-new took the room away")
	}
}

func TestRelimit(t *testing.T) {
	p := made(t, "gcra", policy.Limit{Permits: 1, Period: 1000, Burst: 4}, 4)
	p.Take(0, 1, 3)
	p.Take(0, 2, 1)
	to := policy.Limit{Permits: 3, Period: 700, Burst: 2}
	if err := p.Relimit(500, to); err != nil {
		t.Fatal(err)
	}
	// Key 1 owes 2.5 permits, 1750 units of the new 700 a permit: cut to the burst. Key 2 owes 0.5: 350 units, 3 a
	// tick.
	want(t, "cut to the burst", p.Peek(500, 1, 1), policy.Answer{Outcome: policy.Deny, RetryAfter: 234, ResetAfter: 467})
	want(t, "kept in permits", p.Peek(500, 2, 1), policy.Answer{Outcome: policy.Allow, Remaining: 1, ResetAfter: 117})
	if p.Limit() != to || p.Horizon() != (1<<62-1)/3 {
		t.Errorf("limit %+v, horizon %d", p.Limit(), p.Horizon())
	}
	for _, r := range []struct {
		now     uint64
		to      policy.Limit
		code    string
		message string
	}{
		{p.Horizon() + 1, to, "past_horizon", "must be at most 1537228672809129301"},
		{1 << 60, policy.Limit{Permits: 8, Period: 1, Burst: 1}, "past_horizon",
			"now is 1152921504606846976, must be at most 576460752303423487"},
		{0, policy.Limit{Permits: 8, Period: 1}, "invalid_burst", "burst is 0, must be at least 1"},
		{math.MaxUint64, policy.Limit{}, "invalid_permits", "permits is 0"},
	} {
		err := p.Relimit(r.now, r.to)
		if policy.Code(err) != r.code || !strings.Contains(err.Error(), r.message) {
			t.Errorf("relimit at %d to %+v: %v", r.now, r.to, err)
		}
		if p.Limit() != to || p.Peek(500, 2, 1).ResetAfter() != 117 {
			t.Error("a refused relimit changed something")
		}
	}
}

func TestRefusals(t *testing.T) {
	good := policy.Limit{Permits: 1, Period: 1, Burst: 1}
	for _, r := range []struct {
		name    string
		l       policy.Limit
		maxKeys uint64
		code    string
	}{
		{"tokenring", good, 1, "unknown_policy"},
		{"gcra", policy.Limit{Burst2: 1}, 1, "invalid_second"},
		{"gcra", policy.Limit{}, 0, "invalid_permits"},
		{"gcra", policy.Limit{Permits: 1}, 0, "invalid_period"},
		{"gcra", policy.Limit{Permits: 1, Period: 1}, 0, "invalid_burst"},
		{"gcra", policy.Limit{Permits: 1, Period: 1 << 62, Burst: 1}, 0, "limit_too_large"},
		{"gcra", policy.Limit{Permits: 1 << 62, Period: 1, Burst: 1}, 0, "limit_too_large"},
		{"gcra", policy.Limit{Permits: 1, Period: 1 << 32, Burst: 1 << 32}, 0, "limit_too_large"},
		{"gcra", good, 0, "invalid_max_keys"},
		{"gcra", good, cport.MaxBytes/24 + 1, "invalid_max_keys"},
		{"gcra", good, 1 << 60, "invalid_max_keys"},
		{"gcra", good, math.MaxUint64, "invalid_max_keys"},
	} {
		p, err := cport.New(r.name, r.l, r.maxKeys)
		if p != nil || policy.Code(err) != r.code {
			t.Errorf("%s %+v %d: %v, want %s", r.name, r.l, r.maxKeys, err, r.code)
		}
		var e *policy.LimitError
		if r.code != "unknown_policy" && (!errors.As(err, &e) || e.Field == "" || e.Need == "") {
			t.Errorf("%s %+v %d: %v names no field and bound", r.name, r.l, r.maxKeys, err)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	p, err := cport.New("gcra", policy.Limit{Permits: 1, Period: 1000, Burst: 5}, 16)
	if err != nil {
		b.Fatal(err)
	}
	now := uint64(0)
	for b.Loop() {
		now += 1000
		p.Take(now, 1, 1)
	}
}
