//go:build cgo

package cport_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"weir/cport"
	"weir/gcra"
	"weir/policy"
)

// drawLimit draws a limit of any size that is valid, small ones as often as large.
func drawLimit(r *rand.Rand) policy.Limit {
	for {
		l := policy.Limit{
			Permits: 1 + r.Uint64()>>(2+r.IntN(61)),
			Period:  1 + r.Uint64()>>(2+r.IntN(61)),
			Burst:   1 + r.Uint64()>>(2+r.IntN(61)),
		}
		if _, err := l.Scale(); err == nil {
			return l
		}
	}
}

// drawNow wanders from now by about as much as matters under l, now and then back, or to the horizon.
func drawNow(r *rand.Rand, now, horizon uint64, d policy.Decision) uint64 {
	switch r.IntN(16) {
	case 0:
		return horizon - uint64(r.IntN(3)) + 1
	case 1:
		return now / 2
	case 2:
		return now - min(now, uint64(r.IntN(100)))
	case 3, 4, 5:
		if wait := d.RetryAfter(); wait < horizon {
			return now + wait - min(wait, uint64(r.IntN(2)))
		}
	case 6, 7:
		return min(now+d.ResetAfter()/2, horizon)
	}
	return now + uint64(r.IntN(20))
}

// Go and C answer alike, field by field, whatever is asked of them in whatever order.
func TestTwin(t *testing.T) {
	runs := 1000
	if testing.Short() {
		runs = 100
	}
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 1))
		l, o := drawLimit(r), policy.Options{MaxKeys: 1 + r.Uint64N(8), Bounded: true}
		inC, err := cport.Registry().New("gcra", l, o)
		if err != nil {
			t.Fatal(err)
		}
		inGo, err := gcra.New(l, o)
		if err != nil {
			t.Fatal(err)
		}
		now, last := uint64(0), policy.Decision{}
		for i := range 300 {
			now = drawNow(r, now, inGo.Horizon(), last)
			key, cost := r.Uint64N(12)-1, r.Uint64N(4)
			if burst := inGo.Limit().Burst; r.IntN(8) == 0 {
				cost = burst/2 + r.Uint64N(burst)
			}
			last = same(t, r, inC, inGo, now, key, cost)
			if t.Failed() {
				t.Fatalf("seed %d, step %d, limit %+v, now %d, key %d, cost %d", seed, i, inGo.Limit(), now, key, cost)
			}
		}
	}
}

// same does one drawn operation on both and says where they differ.
func same(t *testing.T, r *rand.Rand, inC, inGo policy.Policy, now, key, cost uint64) policy.Decision {
	t.Helper()
	var c, g policy.Decision
	switch r.IntN(16) {
	case 0:
		inC.Forget(key)
		inGo.Forget(key)
	case 1:
		if a, b := inC.Refund(now, key, cost), inGo.Refund(now, key, cost); a != b {
			t.Errorf("refund: C says %v, Go says %v", a, b)
		}
	case 2:
		a, _ := inC.Sweep(now, 0)
		if b, _ := inGo.Sweep(now, 0); a != b {
			t.Errorf("sweep: C freed %d, Go freed %d", a, b)
		}
	case 3:
		l := drawLimit(r)
		a, b := inC.Relimit(now, l), inGo.Relimit(now, l)
		if policy.Code(a) != policy.Code(b) || (a == nil) != (b == nil) {
			t.Errorf("relimit to %+v: C says %v, Go says %v", l, a, b)
		}
	case 4, 5, 6, 7:
		c, g = inC.Peek(now, key, cost), inGo.Peek(now, key, cost)
	default:
		c, g = inC.Take(now, key, cost), inGo.Take(now, key, cost)
	}
	if c.Answer() != g.Answer() || c.Next() != g.Next() {
		t.Errorf("C says %+v next %d, Go says %+v next %d", c.Answer(), c.Next(), g.Answer(), g.Next())
	}
	if inC.Keys() != inGo.Keys() || inC.Horizon() != inGo.Horizon() || inC.Limit() != inGo.Limit() {
		t.Errorf("keys %d and %d, horizon %d and %d", inC.Keys(), inGo.Keys(), inC.Horizon(), inGo.Horizon())
	}
	return g
}

// Each limit is refused by both for the same reason, or by neither.
func TestTwinRefusals(t *testing.T) {
	values := []uint64{0, 1, 3, 1 << 31, 1 << 32, 1<<62 - 1, 1 << 62, 1<<63 + 1, math.MaxUint64}
	for _, permits := range values {
		for _, period := range values {
			for _, burst := range values {
				l := policy.Limit{Permits: permits, Period: period, Burst: burst}
				_, a := cport.New("gcra", l, 1)
				_, b := gcra.New(l, policy.Options{MaxKeys: 1})
				if policy.Code(a) != policy.Code(b) {
					t.Errorf("%+v: C says %v, Go says %v", l, a, b)
				}
			}
		}
	}
}

// A relimit's 128-bit quotient against math/big: under one permit a period, a debt is a number of ticks.
func TestRelimitQuotient(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 20_000 {
		from := 1 + r.Uint64()>>(2+r.IntN(61))
		burst := 1 + r.Uint64N(min(1000, (1<<62-1)/from))
		to := policy.Limit{Permits: 1, Period: 1 + r.Uint64()>>(2+r.IntN(61)), Burst: 1}
		to.Burst += r.Uint64N((1<<62 - 1) / to.Period)
		p := made(t, policy.Limit{Permits: 1, Period: from, Burst: burst}, 1)
		debt := p.Take(0, 1, burst).ResetAfter()
		now := r.Uint64N(debt + 1)
		debt -= now
		if err := p.Relimit(now, to); err != nil {
			t.Fatal(err)
		}
		product := new(big.Int).Mul(new(big.Int).SetUint64(debt), new(big.Int).SetUint64(to.Period))
		product.Add(product, new(big.Int).SetUint64(from-1)).Div(product, new(big.Int).SetUint64(from))
		want := to.Period * to.Burst
		if product.IsUint64() {
			want = min(want, product.Uint64())
		}
		if got := p.Peek(now, 1, 0).ResetAfter(); got != want {
			t.Fatalf("%d units of %d a permit under %+v: %d, want %d", debt, from, to, got, want)
		}
	}
}
