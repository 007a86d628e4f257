package agree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"weir/policy"
)

// The arithmetic of the two documents that weir started from, as they print it, for one key each.

// emission is the first document's: nanoseconds, with an emission interval that is whole where the rate divides 10^9.
type emission struct{ tNs, limitNs, tat uint64 }

func newEmission(perSecond, burst uint64) *emission {
	t := 1_000_000_000 / perSecond
	return &emission{tNs: t, limitNs: t * burst}
}

// check is its function of that name, with the expiry that its Redis form gives the key.
func (g *emission) check(nowNs, cost uint64) (ok bool, remaining, retryAfter, expiry uint64) {
	newTat := max(g.tat, nowNs) + g.tNs*cost
	if newTat > nowNs+g.limitNs {
		return false, 0, newTat - g.limitNs - nowNs, 0
	}
	g.tat = newTat
	return true, (nowNs + g.limitNs - newTat) / g.tNs, 0, newTat - nowNs
}

// scaled is the second document's: milliseconds times the rate, a tolerance of (burst-1)*1000.
type scaled struct{ ratePerSec, burst, tat int64 }

func (g *scaled) conforms(now, cost int64) bool {
	scaled := now * g.ratePerSec
	tolerance := (g.burst - 1) * 1000
	if cost > g.burst {
		return false
	}
	return scaled >= g.tat-tolerance+(cost-1)*1000
}

func (g *scaled) check(now, cost int64) bool {
	if !g.conforms(now, cost) {
		return false
	}
	g.tat = max(now*g.ratePerSec, g.tat) + cost*1000
	return true
}

// retryAfter is the least wait after which it conforms, found by trying.
func (g *scaled) retryAfter(now, cost int64) uint64 {
	low, high := int64(0), int64(1)<<40
	for low < high {
		middle := (low + high) / 2
		if g.conforms(now+middle, cost) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return uint64(low)
}

// TestFirstDocument: outcome, remaining, retry_after and the expiry are those of the document, for rates that
// divide 10^9. In every fourth program the clock steps back now and then: the formulas do not mind.
func TestFirstDocument(t *testing.T) {
	draw, denied := seeded(t, 60), 0
	rates := []uint64{1, 2, 4, 5, 8, 10, 100, 125, 512, 1000, 1 << 9 * 5, 1e6, 1e9}
	for n := range 500 {
		rate, burst := rates[draw(uint64(len(rates)))], 1+draw(30)
		require.Zero(t, 1_000_000_000%rate)
		document, now := newEmission(rate, burst), draw(1e12)
		all := made(t, meters, policy.Limit{Permits: rate, Period: 1e9, Burst: burst})
		for range 200 / slowdown {
			if n%4 == 0 && draw(10) == 0 {
				now -= min(now, draw(3*document.tNs))
			} else {
				now += draw(2) * draw(2*document.tNs+2)
			}
			cost := 1 + draw(min(burst, 4))
			ok, remaining, retry, expiry := document.check(now, cost)
			for i, p := range all {
				a := p.Take(now, 7, cost).Answer()
				require.Equal(t, ok, a.Outcome == policy.Allow, "%s %d/s burst %d at %d", meters[i].name, rate, burst, now)
				require.Equal(t, retry, a.RetryAfter)
				if ok {
					require.Equal(t, []uint64{remaining, expiry}, []uint64{a.Remaining, a.ResetAfter})
				}
			}
			if !ok {
				denied++
				now += draw(2) * (retry - draw(2)) // as soon as it may, or one nanosecond before
			}
		}
	}
	require.Positive(t, denied)
}

func made(t *testing.T, subjects []subject, l policy.Limit) (all []policy.Policy) {
	t.Helper()
	for _, s := range subjects {
		p, err := s.make(l, policy.Options{})
		require.NoError(t, err, s.name)
		all = append(all, p)
	}
	return all
}

// TestFirstDocumentExample is its main function: 100 a second, burst 10.
func TestFirstDocumentExample(t *testing.T) {
	for i, p := range made(t, meters, policy.Limit{Permits: 100, Period: 1e9, Burst: 10}) {
		allowed := 0
		for range 15 {
			if p.Take(0, 7, 1).OK() {
				allowed++
			}
		}
		require.Equal(t, 10, allowed, meters[i].name)
		require.Equal(t, uint64(10e6), p.Take(0, 7, 1).RetryAfter())
		last := p.Take(10e6, 7, 1)
		require.True(t, last.OK())
		require.Zero(t, last.Remaining())
	}
}

// TestSecondDocument: over more than the document's own 20,000 decisions the outcome, and the wait of what is denied, are
// the document's, to the millisecond, at any rate whole or not. The document has no answer for a cost of 0 and says
// only "no" to one above the burst.
func TestSecondDocument(t *testing.T) {
	draw, decisions, denied := seeded(t, 61), 0, 0
	for decisions < 60_000/slowdown {
		rate, burst := 1+draw(2000), 1+draw(20)
		if draw(2) == 0 {
			rate = 1 + draw(10)
		}
		document, now := &scaled{ratePerSec: int64(rate), burst: int64(burst)}, draw(1e9)
		all := made(t, meters, policy.Limit{Permits: rate, Period: 1000, Burst: burst})
		for range 100 {
			now += draw(2) * draw(2*1000/rate+2)
			if draw(20) == 0 {
				now -= min(now, draw(2000))
			}
			cost := 1 + draw(burst+1)
			ok, retry := document.check(int64(now), int64(cost)), uint64(0)
			if !ok {
				denied++
				retry = policy.Never
				if cost <= burst {
					retry = document.retryAfter(int64(now), int64(cost))
				}
			}
			for i, p := range all {
				d := p.Take(now, 7, cost)
				require.Equal(t, ok, d.OK(), "%s %d/s burst %d: %d at %d", meters[i].name, rate, burst, cost, now)
				require.Equal(t, retry, d.RetryAfter(), "%s %d/s burst %d: %d at %d", meters[i].name, rate, burst, cost, now)
			}
			decisions++
		}
	}
	require.Greater(t, 5*denied, decisions)
}

// TestSecondDocumentPinned: at three permits a second the boundary lands on millisecond 334, in every meter.
func TestSecondDocumentPinned(t *testing.T) {
	document := &scaled{ratePerSec: 3, burst: 1}
	require.True(t, document.check(0, 1))
	require.False(t, document.check(333, 1))
	require.Equal(t, uint64(334), document.retryAfter(0, 1))
	for i, p := range made(t, meters, policy.Limit{Permits: 3, Period: 1000, Burst: 1}) {
		require.True(t, p.Take(0, 7, 1).OK(), meters[i].name)
		require.Equal(t, uint64(334), p.Take(0, 7, 1).RetryAfter())
		require.Equal(t, uint64(1), p.Take(333, 7, 1).RetryAfter())
		require.True(t, p.Take(334, 7, 1).OK())
	}
}
