//go:build cgo

package cport_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"weir"
	"weir/cport"
	"weir/policy"
)

// names are the five, in both languages.
var names = []string{"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"}

// number draws one from 1 to below 2^62, of any size.
func number(r *rand.Rand) uint64 { return 1 + r.Uint64()>>(2+r.IntN(61)) }

// drawLimit draws a limit of the policy of that name, of any size that is valid, small ones as often as large. The ring
// of a sliding log stays small enough to be made.
func drawLimit(r *rand.Rand, name string) policy.Limit {
	for {
		l := policy.Limit{Permits: number(r), Period: number(r), Burst: number(r)}
		if r.IntN(2) == 0 {
			l = policy.Limit{Permits: 1 + r.Uint64N(9), Period: 1 + r.Uint64N(40), Burst: 1 + r.Uint64N(9)}
		}
		var err error
		switch name {
		case "slidinglog":
			l.Burst = l.Permits * r.Uint64N(2)
			if err = l.Window(); min(l.Permits, l.Period) > 64 {
				continue
			}
		case "dualbucket":
			l.Permits2, l.Period2, l.Burst2 = l.Permits, l.Period, l.Burst+1
			if r.IntN(2) == 0 {
				l.Permits2, l.Period2, l.Burst2 = number(r), number(r), number(r)
			}
			_, _, err = l.Scales()
		default:
			_, err = l.Scale()
		}
		if err == nil {
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

// drawCost is small as a rule, and else around the burst.
func drawCost(r *rand.Rand, l policy.Limit) uint64 {
	burst := max(l.Burst, 1)
	if l.Burst == 0 {
		burst = l.Permits
	}
	switch r.IntN(16) {
	case 0:
		return burst/2 + r.Uint64N(burst)
	case 1:
		return r.Uint64()
	}
	return r.Uint64N(4)
}

// twins are one policy in both languages, and what the operations on them are drawn from.
type twins struct {
	name     string
	inC, inG policy.Policy
	draw     *rand.Rand
	maxKeys  uint64
	now      uint64
	last     policy.Decision
}

func newTwins(t *testing.T, name string, seed uint64) *twins {
	t.Helper()
	w := &twins{name: name, draw: rand.New(rand.NewPCG(seed, 1))}
	l := drawLimit(w.draw, name)
	w.maxKeys = 1 + w.draw.Uint64N(8)
	o := policy.Options{MaxKeys: w.maxKeys, Bounded: true}
	var err error
	if w.inC, err = cport.New(name, l, w.maxKeys); err != nil {
		t.Fatal(err)
	}
	if w.inG, err = weir.Registry().New(name, l, o); err != nil {
		t.Fatal(err)
	}
	return w
}

// step does one drawn operation on both and says where they differ; "" if nowhere.
func (w *twins) step() string {
	r := w.draw
	w.now = drawNow(r, w.now, w.inG.Horizon(), w.last)
	key, cost := r.Uint64N(12)-1, drawCost(r, w.inG.Limit())
	cost2 := cost
	if r.IntN(2) == 0 {
		cost2 = drawCost(r, w.inG.Limit())
	}
	what := fmt.Sprintf("limit %+v, now %d, key %d, costs %d and %d", w.inG.Limit(), w.now, key, cost, cost2)
	if difference := w.operate(key, cost, cost2); difference != "" {
		return difference + ": " + what
	}
	if w.inC.Keys() != w.inG.Keys() || w.inC.Horizon() != w.inG.Horizon() || w.inC.Limit() != w.inG.Limit() {
		return fmt.Sprintf("keys %d and %d, horizon %d and %d: %s", w.inC.Keys(), w.inG.Keys(), w.inC.Horizon(), w.inG.Horizon(), what)
	}
	return ""
}

func (w *twins) operate(key, cost, cost2 uint64) string {
	switch w.draw.IntN(16) {
	case 0:
		w.inC.Forget(key)
		w.inG.Forget(key)
	case 1:
		if a, b := refund(w.inC, w.now, key, cost, cost2), refund(w.inG, w.now, key, cost, cost2); a != b {
			return fmt.Sprintf("refund: C says %v, Go says %v", a, b)
		}
	case 2:
		return w.sweep()
	case 3:
		return w.relimit()
	case 4, 5, 6, 7:
		return w.decide(peek(w.inC, w.now, key, cost, cost2), peek(w.inG, w.now, key, cost, cost2))
	default:
		return w.decide(take(w.inC, w.now, key, cost, cost2), take(w.inG, w.now, key, cost, cost2))
	}
	return ""
}

func (w *twins) decide(c, g policy.Decision) string {
	w.last = g
	if c.Answer() != g.Answer() || c.Next() != g.Next() {
		return fmt.Sprintf("C says %+v next %d, Go says %+v next %d", c.Answer(), c.Next(), g.Answer(), g.Next())
	}
	return ""
}

// sweep is all at once or, in C, a whole pass in steps, begun wherever the last one stopped.
func (w *twins) sweep() string {
	inGo, _ := w.inG.Sweep(w.now, 0)
	if w.draw.IntN(2) == 0 {
		if inC, done := w.inC.Sweep(w.now, 0); inC != inGo || !done {
			return fmt.Sprintf("sweep: C freed %d, done %v, Go freed %d", inC, done, inGo)
		}
		return ""
	}
	freed, calls := 0, 0
	for ends := 0; ends < 2; calls++ { // the first end may be that of a pass begun before
		n, done := w.inC.Sweep(w.now, 1+w.draw.IntN(5))
		freed += n
		if done {
			ends++
		}
	}
	if slots := int(w.maxKeys + w.maxKeys/2 + 1); freed != inGo || calls > 2*slots+int(w.maxKeys) {
		return fmt.Sprintf("sweep in %d steps: C freed %d, Go freed %d", calls, freed, inGo)
	}
	return ""
}

// relimit is refused by a sliding log in C, and asked of C alone, where the limit needs more entries than it has.
func (w *twins) relimit() string {
	l := drawLimit(w.draw, w.name)
	a := w.inC.Relimit(w.now, l)
	if w.name == "slidinglog" && policy.Code(a) == "limit_too_large" && min(l.Permits, l.Period) > cport.LogEntries {
		return ""
	}
	b := w.inG.Relimit(w.now, l)
	if policy.Code(a) != policy.Code(b) || (a == nil) != (b == nil) {
		return fmt.Sprintf("relimit to %+v: C says %v, Go says %v", l, a, b)
	}
	return ""
}

func take(p policy.Policy, now, key, cost, cost2 uint64) policy.Decision {
	if two, ok := p.(policy.TwoCosts); ok {
		return two.Take2(now, key, cost, cost2)
	}
	return p.Take(now, key, cost)
}

func peek(p policy.Policy, now, key, cost, cost2 uint64) policy.Decision {
	if two, ok := p.(policy.TwoCosts); ok {
		return two.Peek2(now, key, cost, cost2)
	}
	return p.Peek(now, key, cost)
}

func refund(p policy.Policy, now, key, cost, cost2 uint64) policy.Outcome {
	if two, ok := p.(policy.TwoCosts); ok {
		return two.Refund2(now, key, cost, cost2)
	}
	return p.Refund(now, key, cost)
}

// A million drawn operations: Go and C answer alike, field by field, whatever is asked of them in whatever order.
func TestTwins(t *testing.T) {
	runs := 1000
	if testing.Short() {
		runs = 50
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(runs) {
				w := newTwins(t, name, seed)
				for i := range 200 {
					if difference := w.step(); difference != "" {
						t.Fatalf("seed %d, step %d: %s", seed, i, difference)
					}
				}
			}
		})
	}
}

// Each limit is refused by both for the same reason, or by neither.
func TestTwinRefusals(t *testing.T) {
	values := []uint64{0, 1, 3, 1 << 31, 1 << 32, 1<<62 - 1, 1 << 62, 1<<63 + 1, math.MaxUint64}
	for _, name := range names {
		for i := range len(values) * len(values) * len(values) {
			l := policy.Limit{Permits: values[i%9], Period: values[i/9%9], Burst: values[i/81]}
			for _, second := range []policy.Limit{{}, {Permits2: 1}, {Permits2: 1, Period2: 3, Burst2: 2}} {
				l.Permits2, l.Period2, l.Burst2 = second.Permits2, second.Period2, second.Burst2
				checkRefusal(t, name, l)
			}
		}
	}
}

// checkRefusal lets C have the last word where only C runs out of room: an allowed log may be too long to be made.
func checkRefusal(t *testing.T, name string, l policy.Limit) {
	t.Helper()
	if name == "slidinglog" && l.Window() == nil && min(l.Permits, l.Period) > 1<<20 {
		_, err := cport.New(name, l, 1<<20)
		if policy.Code(err) != "invalid_max_keys" {
			t.Errorf("%+v: %v", l, err)
		}
		return
	}
	_, a := cport.New(name, l, 1)
	_, b := weir.Registry().New(name, l, policy.Options{MaxKeys: 1})
	if policy.Code(a) != policy.Code(b) {
		t.Errorf("%s %+v: C says %v, Go says %v", name, l, a, b)
	}
}

// A relimit's 128-bit quotient against math/big: under one permit a period, a debt is a number of ticks.
func TestRelimitQuotient(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 20_000 {
		from := number(r)
		burst := 1 + r.Uint64N(min(1000, (1<<62-1)/from))
		to := policy.Limit{Permits: 1, Period: number(r), Burst: 1}
		to.Burst += r.Uint64N((1<<62 - 1) / to.Period)
		p := made(t, "gcra", policy.Limit{Permits: 1, Period: from, Burst: burst}, 1)
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
