package agree_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir/policy"
)

// TestUndoIsExact: a policy that took and undid it answers from then on as its twin that never took, at earlier nows too,
// rooms included.
func TestUndoIsExact(t *testing.T) {
	for i, s := range five {
		t.Run(s.name, func(t *testing.T) {
			draw, undone := seeded(t, 80+uint64(i)), 0
			for n := 0; n < 4000/slowdown; n++ {
				undone += twins(t, s, newProgram(draw, s.name, &count{}), 60)
			}
			t.Logf("%d admissions undone", undone)
			require.Greater(t, undone, 10_000/slowdown)
		})
	}
}

// TestUndoIsExactShrinking is the same with programs that rapid makes small where one fails.
func TestUndoIsExactShrinking(t *testing.T) {
	for _, s := range five {
		t.Run(s.name, rapid.MakeCheck(func(t *rapid.T) {
			twins(t, s, newProgram(shrinking(t), s.name, &count{}), 20)
		}))
	}
}

// twins runs one program through two policies, and lets one of them take and undo between its calls.
func twins(t failer, s subject, g *program, length int) (undone int) {
	t.Helper()
	first := g.limit
	one, err := s.make(first, g.options())
	if err != nil {
		g.fail(t, first, "not made: %v", err)
	}
	twin, _ := s.make(first, g.options())
	g.start(one.Horizon())
	for range length {
		c := g.next()
		if c.op == take && g.draw(2) == 0 {
			d, undo := one.(policy.Undoer).TakeUndo(c.now, c.key, c.cost, c.cost2)
			look := c
			look.op = peek
			foretold := do(twin, look)
			switch {
			case d.Outcome() != foretold.Outcome || d.RetryAfter() != foretold.RetryAfter:
				g.fail(t, first, "took %+v, the twin foretold %+v", d.Answer(), foretold)
			case (undo != nil) != d.OK():
				g.fail(t, first, "%v, and an undo: %v", d.Outcome(), undo != nil)
			case undo != nil && !undo():
				g.fail(t, first, "not undone")
			case undo != nil:
				undone++
			}
			c.op = peek
			g.calls[len(g.calls)-1] = c
		}
		r, want := do(one, c), do(twin, c)
		if r != want {
			g.fail(t, first, "never took %+v\nundid      %+v", want, r)
		}
		g.saw(r)
	}
	return undone
}

// TestUndoRefused: what else has changed the key since makes an undo answer false and leave the charge.
func TestUndoRefused(t *testing.T) {
	other := policy.Limit{Permits: 5, Period: 1000, Burst: 5}
	for _, row := range []struct {
		why   string
		touch func(p policy.Policy)
	}{
		{"another take", func(p policy.Policy) { p.Take(10, 7, 1) }},
		{"a take at an earlier now", func(p policy.Policy) { p.Take(5, 7, 1) }},
		{"a refund of one permit", func(p policy.Policy) { p.Refund(10, 7, 1) }},
		{"a refund of all", func(p policy.Policy) { p.Refund(10, 7, policy.Never) }},
		{"a refund of another and a take: as it was after", func(p policy.Policy) { p.Refund(10, 7, 2); p.Take(10, 7, 2) }},
		{"forgotten", func(p policy.Policy) { p.Forget(7) }},
		{"forgotten and taken again", func(p policy.Policy) { p.Forget(7); p.Take(10, 7, 2) }},
		{"swept and taken again", func(p policy.Policy) { p.Sweep(1e9, 0); p.Take(10, 7, 2) }},
		{"relimited", func(p policy.Policy) { _ = p.Relimit(10, limitLike(p, other)) }},
		{"relimited to the same", func(p policy.Policy) { _ = p.Relimit(10, p.Limit()) }},
	} {
		for _, s := range five {
			for _, known := range []bool{false, true} {
				p, twin := small(t, s), small(t, s)
				if known {
					p.Take(1, 7, 1)
					twin.Take(1, 7, 1)
				}
				d, undo := p.(policy.Undoer).TakeUndo(10, 7, 2, 2)
				require.True(t, d.OK())
				twin.Take(10, 7, 2)
				row.touch(p)
				row.touch(twin)
				assert.False(t, undo(), "%s: %s", s.name, row.why)
				assert.Equal(t, do(twin, call{op: peek, now: 10, key: 7, cost: 1, cost2: 1}),
					do(p, call{op: peek, now: 10, key: 7, cost: 1, cost2: 1}), "%s: %s: the charge stays", s.name, row.why)
				assert.False(t, undo(), "%s: %s: and once more", s.name, row.why)
			}
		}
	}
}

// small is a policy of 10 permits per 1000 ticks.
func small(t *testing.T, s subject) policy.Policy {
	t.Helper()
	l := policy.Limit{Permits: 10, Period: 1000, Burst: 10}
	if s.name == "dualbucket" {
		l.Permits2, l.Period2, l.Burst2 = 20, 3000, 20
	}
	p, err := s.make(l, policy.Options{MaxKeys: 2})
	require.NoError(t, err)
	return p
}

// limitLike is l, with a second limit if p has one.
func limitLike(p policy.Policy, l policy.Limit) policy.Limit {
	if p.Limit().HasSecond() {
		l.Permits2, l.Period2, l.Burst2 = l.Permits, l.Period, l.Burst
	}
	return l
}

// TestUndoAllowed: what leaves the key alone does not spoil an undo; a second one answers false.
func TestUndoAllowed(t *testing.T) {
	for _, row := range []struct {
		why   string
		touch func(p policy.Policy)
	}{
		{"nothing", func(policy.Policy) {}},
		{"peeks", func(p policy.Policy) { p.Peek(10, 7, 1); p.Peek(1e9, 7, 1) }},
		{"a denied take", func(p policy.Policy) { p.Take(10, 7, 10) }},
		{"a take that is too costly", func(p policy.Policy) { p.Take(10, 7, 11) }},
		{"a take of nothing", func(p policy.Policy) { p.Take(11, 7, 0) }},
		{"a take past the horizon", func(p policy.Policy) { p.Take(policy.Never, 7, 1) }},
		{"a refund past the horizon", func(p policy.Policy) { p.Refund(policy.Never, 7, 1) }},
		{"a sweep that finds it busy", func(p policy.Policy) { p.Sweep(10, 0) }},
		{"a relimit that is refused", func(p policy.Policy) { _ = p.Relimit(10, policy.Limit{}) }},
		{"another key", func(p policy.Policy) { p.Take(10, 8, 1) }},
		{"another key forgotten that never was", func(p policy.Policy) { p.Forget(8); p.Refund(10, 8, 1) }},
	} {
		for _, s := range five {
			p := small(t, s)
			d, undo := p.(policy.Undoer).TakeUndo(10, 7, 2, 2)
			require.True(t, d.OK())
			row.touch(p)
			keys := p.Keys()
			assert.True(t, undo(), "%s: %s", s.name, row.why)
			assert.Equal(t, keys-1, p.Keys(), "%s: %s: its room is free", s.name, row.why)
			assert.Equal(t, uint64(10), p.Peek(10, 7, 1).Remaining(), "%s: %s", s.name, row.why)
			assert.False(t, undo(), "%s: %s: twice", s.name, row.why)
			assert.Equal(t, uint64(10), p.Peek(10, 7, 1).Remaining(), "%s: %s: twice", s.name, row.why)
		}
	}
}

// TestUndoFreesRoom: the room of a key that an undone take brought in is there for another one at once; a known key
// keeps its own.
func TestUndoFreesRoom(t *testing.T) {
	for _, s := range five {
		p := small(t, s)
		require.True(t, p.Take(0, 1, 1).OK())
		_, undoNew := p.(policy.Undoer).TakeUndo(0, 2, 1, 1)
		require.Equal(t, policy.Full, p.Take(0, 3, 1).Outcome(), s.name)
		require.True(t, undoNew(), s.name)
		require.True(t, p.Take(0, 3, 1).OK(), s.name)
		_, undoKnown := p.(policy.Undoer).TakeUndo(0, 1, 1, 1)
		require.True(t, undoKnown(), s.name)
		require.Equal(t, 2, p.Keys(), s.name)
		require.Equal(t, policy.Full, p.Take(0, 2, 1).Outcome(), s.name)
	}
}

// TestUndoOfNothing: a cost of 0 takes nothing, and undoing it changes nothing.
func TestUndoOfNothing(t *testing.T) {
	for _, s := range five {
		p := small(t, s)
		d, undo := p.(policy.Undoer).TakeUndo(0, 1, 0, 0)
		require.True(t, d.OK(), s.name)
		require.Zero(t, p.Keys(), s.name)
		p.Take(0, 1, 3)
		require.True(t, undo(), s.name)
		require.Equal(t, uint64(7), p.Peek(0, 1, 1).Remaining(), s.name)
	}
}

// TestTakeUndoIgnoresSecondCost: a policy with one limit does not look at the second cost: a request of cost 0 takes no
// room, whatever cost2 says.
func TestTakeUndoIgnoresSecondCost(t *testing.T) {
	for _, s := range five[:4] {
		p := small(t, s)
		d, undo := p.(policy.Undoer).TakeUndo(0, 1, 0, 5)
		assert.True(t, d.OK(), s.name)
		assert.NotNil(t, undo, s.name)
		assert.Zero(t, p.Keys(), "%s: a cost of 0 takes no room", s.name)
		p.Take(0, 2, 1)
		p.Take(0, 3, 1)
		d, _ = p.(policy.Undoer).TakeUndo(0, 4, 0, 5)
		assert.Equal(t, policy.Allow, d.Outcome(), "%s: a cost of 0 is allowed in a full table", s.name)
	}
}

// TestUndoNotSpoiledByOtherKeys: only what changes the key itself makes an undo answer false; refunds, forgets and sweeps
// of five hundred other keys do not.
func TestUndoNotSpoiledByOtherKeys(t *testing.T) {
	for _, row := range []struct {
		why   string
		touch func(p policy.Policy, key uint64)
	}{
		{"takes", func(p policy.Policy, key uint64) { p.Take(0, key, 1) }},
		{"refunds", func(p policy.Policy, key uint64) { p.Refund(0, key, 1) }},
		{"forgets", func(p policy.Policy, key uint64) { p.Forget(key) }},
		{"undone takes", func(p policy.Policy, key uint64) {
			_, undo := p.(policy.Undoer).TakeUndo(0, key, 1, 1)
			undo()
		}},
	} {
		for _, s := range five {
			l := small(t, s).Limit()
			p, err := s.make(l, policy.Options{Seed: 1})
			require.NoError(t, err)
			for key := range uint64(500) {
				p.Take(0, key, 1)
			}
			_, undo := p.(policy.Undoer).TakeUndo(0, 1e6, 1, 1)
			for key := range uint64(500) {
				row.touch(p, key)
			}
			assert.True(t, undo(), "%s: %s of other keys", s.name, row.why)
		}
	}
}

// TestSlidingLogUndoNotFooledByWrappedTotals: the log's running total wraps at 2^64. Five later takes that add up to
// 2^64 bring it back to what it was after the first: the key has changed, so the undo must be refused.
func TestSlidingLogUndoNotFooledByWrappedTotals(t *testing.T) {
	const most = 1<<62 - 1
	p, err := five[3].make(policy.Limit{Permits: most, Period: 1}, policy.Options{})
	require.NoError(t, err)
	_, undo := p.(policy.Undoer).TakeUndo(0, 7, 5, 5)
	for now := uint64(1); now <= 4; now++ {
		require.True(t, p.Take(now, 7, most).OK())
	}
	require.True(t, p.Take(5, 7, 4).OK())
	require.Equal(t, uint64(most-4), p.Peek(5, 7, 1).Remaining())
	assert.False(t, undo(), "five takes came since")
	assert.Equal(t, uint64(most-4), p.Peek(5, 7, 1).Remaining(), "and what they spent is still spent")
}

// TestUndoOnce: an undo that has answered true answers false from then on, also where the same request has been allowed
// again and the key is as it was after the first.
func TestUndoOnce(t *testing.T) {
	for _, s := range five {
		for _, known := range []bool{false, true} {
			p := small(t, s)
			if known {
				p.Take(10, 7, 1)
			}
			_, undo := p.(policy.Undoer).TakeUndo(10, 7, 2, 2)
			require.True(t, undo(), s.name)
			before := p.Peek(10, 7, 1).Remaining()
			p.Take(10, 7, 2)
			assert.False(t, undo(), s.name)
			assert.Equal(t, before-2, p.Peek(10, 7, 1).Remaining(), s.name)
		}
	}
}
