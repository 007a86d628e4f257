package agree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"weir/policy"
)

// spent is one allowed request, at the latest now of the allowed ones so far.
type spent struct{ tick, cost uint64 }

// clocked draws small limits and times, so that products of them fit 64 bits; backward says whether the clock may
// step back.
func clocked(t *testing.T, draw source, p policy.Policy, backward bool) (history []spent) {
	t.Helper()
	var now, latest uint64
	l := p.Limit()
	for range 150 {
		switch draw(6) {
		case 0:
			now += draw(2*l.Period + 1)
		case 1:
			now += draw(l.Period/l.Permits + 2)
		case 2:
			if backward {
				now -= min(now, draw(2*l.Period))
			}
		}
		cost := draw(4)
		if draw(8) == 0 {
			cost = draw(l.Permits + 2)
		}
		d := p.Take(now, 7, cost)
		if d.OK() && cost > 0 {
			latest = max(latest, now)
			history = append(history, spent{latest, cost})
		} else if d.Outcome() == policy.Deny && draw(2) == 0 {
			now += d.RetryAfter() - draw(2) // as soon as it may, or a tick too early
		}
	}
	require.NotEmpty(t, history)
	return history
}

// TestWindowNeverExceeded: a sliding log admits at most permits in any period, counted by brute force over what it
// admitted, for every window that starts with an admission; a clock that steps back included.
func TestWindowNeverExceeded(t *testing.T) {
	draw, most := seeded(t, 40), 0
	for n := range 4000 / slowdown {
		l := policy.Limit{Permits: 1 + draw(20), Period: 1 + draw(60)}
		p, err := five[3].make(l, policy.Options{})
		require.NoError(t, err)
		history := clocked(t, draw, p, n%2 == 1)
		for i, start := range history {
			sum := uint64(0)
			for _, s := range history[i:] {
				if s.tick < start.tick+l.Period {
					sum += s.cost
				}
			}
			require.LessOrEqual(t, sum, l.Permits, "%+v: the window from %d in %v", l, start.tick, history)
			if sum == l.Permits {
				most++
			}
		}
	}
	require.Positive(t, most, "windows were filled to the last permit")
}

// TestBucketBound: in any window of w ticks a bucket admits at most burst + w * permits / period. Both sides are
// multiplied by the period, so that the comparison is exact; both ends of the window belong to it.
func TestBucketBound(t *testing.T) {
	draw, most := seeded(t, 41), 0
	for n := range 3000 / slowdown {
		l := policy.Limit{Permits: 1 + draw(20), Period: 1 + draw(60), Burst: 1 + draw(20)}
		for i, s := range five {
			l := l
			if s.name == "slidinglog" {
				continue
			}
			if s.name == "dualbucket" {
				l.Permits2, l.Period2, l.Burst2 = 1+draw(20), 1+draw(200), 1+draw(40)
			}
			p, err := s.make(l, policy.Options{})
			require.NoError(t, err)
			history := clocked(t, draw, p, n%4 == i)
			most += bounded(t, history, l.Permits, l.Period, l.Burst)
			if l.HasSecond() {
				most += bounded(t, history, l.Permits2, l.Period2, l.Burst2)
			}
		}
	}
	require.Positive(t, most, "the bound was reached exactly")
}

// bounded answers how many windows reached the bound.
func bounded(t *testing.T, history []spent, permits, period, burst uint64) (reached int) {
	t.Helper()
	for i, start := range history {
		sum := uint64(0)
		for _, s := range history[i:] {
			sum += s.cost
			bound := burst*period + permits*(s.tick-start.tick)
			if sum*period > bound { // no assertion: this is asked some hundred million times
				require.Fail(t, "too much", "%d per %d, burst %d: %d to %d in %v",
					permits, period, burst, start.tick, s.tick, history)
			}
			if sum*period == bound {
				reached++
			}
		}
	}
	return reached
}
