package agree_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

// movers are the policies whose keys can be carried to a clock with another tick.
func movers() []subject { return append(append([]subject{}, meters...), five[4]) }

// moved multiplies the periods of a limit: the same limit in finer ticks.
func finer(l policy.Limit, by uint64) policy.Limit {
	l.Period *= by
	l.Period2 *= by
	return l
}

// TestMoveKeepsEverything: in ticks a thousand times finer every answer is the same, and waits are as long: the old
// wait is the new one rounded up. Times of the new policy start anew at then.
func TestMoveKeepsEverything(t *testing.T) {
	draw := seeded(t, 90)
	for range 300 / slowdown {
		for _, s := range movers() {
			l := policy.Limit{Permits: 1 + draw(9), Period: 1 + draw(50), Burst: 1 + draw(9)}
			if s.name == "dualbucket" {
				l.Permits2, l.Period2, l.Burst2 = 1+draw(9), 1+draw(50), 1+draw(9)
			}
			old, err := s.make(l, policy.Options{MaxKeys: 100})
			require.NoError(t, err)
			twin, err := s.make(l, policy.Options{MaxKeys: 100})
			require.NoError(t, err)
			now := uint64(1000)
			for range 60 {
				now += draw(l.Period/l.Permits + 2)
				key, cost := draw(20), draw(4)
				old.Take(now, key, cost)
				twin.Take(now, key, cost)
			}
			then := draw(1e6)
			next, err := old.(policy.Mover).Move(now, then, finer(l, 1000))
			require.NoError(t, err)
			assert.Equal(t, finer(l, 1000), next.Limit())
			assert.Equal(t, twin.Keys(), next.Keys(), "every key has its room")
			assert.Zero(t, old.Keys())
			for key := range uint64(20) {
				for later := range uint64(30) {
					want := twin.Peek(now+later, key, 1).Answer()
					got := next.Peek(then+1000*later, key, 1).Answer()
					got.RetryAfter, got.ResetAfter = coarse(got.RetryAfter), coarse(got.ResetAfter)
					got.Delay = coarse(got.Delay)
					require.Equal(t, want, got, "%s %+v: key %d, %d later", s.name, l, key, later)
				}
			}
			require.True(t, next.(policy.Mover) != nil, "and may be moved again")
		}
	}
}

// coarse is a wait in ticks a thousand times longer, rounded up.
func coarse(wait uint64) uint64 {
	if wait == policy.Never {
		return wait
	}
	return (wait + 999) / 1000
}

// TestMoveLeavesNothing: after a move the old policy answers every request with the zero Decision.
func TestMoveLeavesNothing(t *testing.T) {
	for _, s := range movers() {
		p := small(t, s)
		p.Take(10, 7, 3)
		_, undo := p.(policy.Undoer).TakeUndo(10, 7, 1, 1)
		next, err := p.(policy.Mover).Move(10, 20, finer(p.Limit(), 2))
		require.NoError(t, err, s.name)
		assert.Equal(t, policy.Decision{}, p.Take(10, 7, 1), s.name)
		assert.Equal(t, policy.Decision{}, p.Take(10, 8, 1), s.name)
		assert.Equal(t, policy.Decision{}, p.Peek(10, 7, 1), s.name)
		assert.Equal(t, policy.Outcome(0), p.Refund(10, 7, 1), s.name)
		d, none := p.(policy.Undoer).TakeUndo(10, 7, 1, 1)
		assert.Equal(t, policy.Decision{}, d, s.name)
		assert.Nil(t, none, s.name)
		assert.False(t, undo(), "%s: an undo of before the move", s.name)
		p.Forget(7)
		freed, done := p.Sweep(policy.Never, 0)
		assert.Equal(t, []any{0, true, 0}, []any{freed, done, p.Keys()}, s.name)
		_, err = p.(policy.Mover).Move(10, 20, p.Limit())
		assert.ErrorIs(t, err, policy.ErrUnavailable, "%s: moved twice", s.name)
		assert.ErrorIs(t, p.Relimit(10, p.Limit()), policy.ErrUnavailable, "%s: another limit once moved", s.name)
		assert.Zero(t, p.Take(10, 7, 1).Outcome(), s.name)
		assert.Equal(t, uint64(6), next.Peek(20, 7, 1).Remaining(), "%s: what was spent is spent there", s.name)
		assert.Equal(t, 1, next.Keys(), s.name)
		assert.True(t, next.Take(20, 8, 1).OK(), s.name)
		assert.Equal(t, policy.Full, next.Take(20, 9, 1).Outcome(), "%s: as bounded as before", s.name)
	}
}

// TestMoveRefused: a bad limit, or an instant past either horizon, moves nothing.
func TestMoveRefused(t *testing.T) {
	for _, row := range []struct {
		why       string
		now, then uint64
		limit     policy.Limit
		want      error
	}{
		{"no limit", 10, 10, policy.Limit{Permits2: 1}, policy.ErrInvalidPermits},
		{"now past the old horizon", 1 << 62, 10, policy.Limit{Permits: 1, Period: 1, Burst: 1}, policy.ErrPastHorizon},
		{"then past the new horizon", 10, 1 << 62, policy.Limit{Permits: 1, Period: 1, Burst: 1}, policy.ErrPastHorizon},
		{"then past a nearer one", 10, 10, policy.Limit{Permits: 1 << 60, Period: 1, Burst: 1}, policy.ErrPastHorizon},
	} {
		for _, s := range movers() {
			p := small(t, s)
			p.Take(10, 7, 3)
			l := row.limit
			switch {
			case s.name != "dualbucket":
				l.Permits2 = 0
			case l.Permits > 0:
				l = limitLike(p, l)
			}
			next, err := p.(policy.Mover).Move(row.now, row.then, l)
			assert.ErrorIs(t, err, row.want, "%s: %s", s.name, row.why)
			assert.Nil(t, next, "%s: %s", s.name, row.why)
			assert.Equal(t, uint64(6), p.Take(10, 7, 1).Remaining(), "%s: %s: nothing has moved", s.name, row.why)
		}
	}
}
