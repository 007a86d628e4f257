package redislimit_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/internal/oracle"
	"weir/internal/resp"
	"weir/policy"
	"weir/redislimit"
)

// epoch is today in microseconds since 1970, about.
const epoch = 1_795_000_000_000_000

// walk draws steps and puts them to a policy and to its model.
type walk struct {
	*rand.Rand
	name                  string
	limit                 policy.Limit
	got                   policy.Policy
	want                  *oracle.Model
	now                   uint64
	edges                 [3]uint64 // where the last answer said that something changes
	steps, denied, atEdge int
}

// TestOracle: a million drawn steps answer as the exact model does, in every field, on a real server: near zero, at today's
// epoch in microseconds, and with clocks that step back. WEIR_SEED chooses other draws.
func TestOracle(t *testing.T) {
	server, _ := dial(t)
	most := 1_000_000 / 5
	if testing.Short() {
		most = 2_000
	}
	seed, _ := strconv.ParseUint(os.Getenv("WEIR_SEED"), 0, 64)
	for i, name := range weir.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := resp.Dial(t.Context(), server.Addr)
			require.NoError(t, err)
			defer conn.Close()
			w := &walk{Rand: rand.New(rand.NewPCG(seed, uint64(i))), name: name}
			makers := redislimit.Registry(conn)
			for w.steps < most {
				w.begin(t, makers)
				for range 60 {
					w.step(t)
				}
			}
			t.Logf("%d steps, %d denied, %d within a tick of an edge", w.steps, w.denied, w.atEdge)
			assert.Greater(t, w.denied, w.steps/10)
			assert.Greater(t, w.atEdge, w.steps/10)
		})
	}
}

func (w *walk) below(n uint64) uint64 { return w.Uint64N(n) }

func (w *walk) drawLimit() policy.Limit {
	l := policy.Limit{Permits: 1 + w.below(12), Period: 1 + w.below(40), Burst: 1 + w.below(12)}
	switch w.below(4) {
	case 0: // a rate that no tick divides, such as 997 a second
		l = policy.Limit{Permits: 1 + w.below(2000), Period: 1_000_000, Burst: 1 + w.below(2000)}
	case 1: // many permits a tick
		l = policy.Limit{Permits: 1 + w.below(1_000_000_000), Period: 1 + w.below(1_000_000), Burst: 1 + w.below(100_000)}
	}
	if w.name == "slidinglog" {
		l.Burst = l.Permits
	}
	return l
}

func (w *walk) drawBoth() policy.Limit {
	l := w.drawLimit()
	if w.name == "dualbucket" {
		second := w.drawLimit()
		l.Permits2, l.Period2, l.Burst2 = second.Permits, second.Period, second.Burst
	}
	return l
}

func (w *walk) begin(t *testing.T, makers *policy.Registry) {
	w.limit = w.drawBoth()
	var err error
	w.got, err = makers.New(w.name, w.limit, policy.Options{})
	require.NoError(t, err)
	w.want, err = oracle.New(w.name, w.limit, false, 0)
	require.NoError(t, err)
	w.now = w.below(100)
	if w.got.Horizon() > 2*epoch && w.below(2) == 0 {
		w.now = epoch + w.below(1_000_000_000)
	}
	w.edges = [3]uint64{w.now, w.now, w.now}
}

func (w *walk) drawNow() uint64 {
	switch n := w.below(100); {
	case n < 40:
		return w.edges[w.below(3)] + w.below(3) - 1
	case n < 65:
		return w.now
	case n < 90:
		return w.now + w.below(2*(w.limit.Period/w.limit.Permits)+3)
	case n < 97:
		return w.now - min(w.now, w.below(w.limit.Period/w.limit.Permits+3))
	}
	return w.now - min(w.now, w.below(1_000_000))
}

func (w *walk) drawCost(burst uint64) uint64 {
	switch w.below(8) {
	case 0:
		return w.below(2) * burst
	case 1:
		return burst + w.below(2)
	case 2:
		return 1 + w.below(burst)
	case 3:
		return 1 + burst/2
	}
	return 1
}

// step draws one and compares.
func (w *walk) step(t *testing.T) {
	w.steps++
	now, key := w.drawNow(), w.below(2)
	if now > min(w.got.Horizon(), 1<<60) {
		now = w.now
	}
	for _, e := range w.edges {
		if e != w.now && now-e+1 <= 2 {
			w.atEdge++
			break
		}
	}
	w.now = now
	cost, cost2 := w.drawCost(w.limit.Burst), w.drawCost(max(1, w.limit.Burst2))
	at := "%s under %+v: now %d key %d cost %d, %d"
	args := []any{w.name, w.limit, now, key, cost, cost2}
	two, dual := w.got.(policy.TwoCosts)
	var d policy.Decision
	var want policy.Answer
	switch n := w.below(100); {
	case n < 75:
		want = w.want.Take(now, key, cost, cost2)
		if dual {
			d = two.Take2(now, key, cost, cost2)
		} else {
			d = w.got.Take(now, key, cost)
		}
	case n < 88:
		want = w.want.Peek(now, key, cost, cost2)
		if dual {
			d = two.Peek2(now, key, cost, cost2)
		} else {
			d = w.got.Peek(now, key, cost)
		}
	default:
		w.change(t, n, now, key, cost, cost2)
		return
	}
	require.Equal(t, want, d.Answer(), append([]any{at}, args...)...)
	require.Equal(t, w.want.Next(now, key), d.Next(), append([]any{at}, args...)...)
	if d.Outcome() == policy.Deny {
		w.denied++
	}
	w.edges = [3]uint64{now, now + d.ResetAfter(), now + d.Next()}
	if d.Outcome() == policy.Deny {
		w.edges[0] = now + d.RetryAfter()
	}
}

// change is a step that is no request.
func (w *walk) change(t *testing.T, n, now, key, cost, cost2 uint64) {
	two, dual := w.got.(policy.TwoCosts)
	switch {
	case n < 94 && dual:
		require.Equal(t, w.want.Refund(now, key, cost, cost2), two.Refund2(now, key, cost, cost2))
	case n < 94:
		require.Equal(t, w.want.Refund(now, key, cost, cost2), w.got.Refund(now, key, cost))
	case n < 96:
		w.want.Forget(key)
		w.got.Forget(key)
	default:
		l := w.drawBoth()
		if now > w.limitHorizon(l) {
			return
		}
		o, err := w.want.Relimit(now, l)
		require.NoError(t, err)
		require.Equal(t, policy.Allow, o)
		require.NoError(t, w.got.Relimit(now, l))
		w.limit = l
	}
}

// limitHorizon is a now that is within the horizon of the scripts under a limit.
func (w *walk) limitHorizon(l policy.Limit) uint64 {
	if w.name == "slidinglog" {
		return 1 << 52
	}
	s, err := policy.Limit{Permits: l.Permits, Period: l.Period, Burst: l.Burst}.Scale()
	if err != nil {
		return 0
	}
	h := s.Horizon
	if l.HasSecond() {
		s, _ = policy.Limit{Permits: l.Permits2, Period: l.Period2, Burst: l.Burst2}.Scale()
		h = min(h, s.Horizon)
	}
	return min(h, 1<<52)
}
