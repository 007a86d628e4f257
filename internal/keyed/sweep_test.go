package keyed_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

// tickLimit is a permit a tick, up to 1e6 at once: a key that spent n at now is idle at now + n.
var tickLimit = policy.Limit{Permits: 1, Period: 1, Burst: 1e6}

const many = 5000

// filled is a table of many keys; key k is idle at 1000 + k.
func filled(t *testing.T, made maker) policy.Policy {
	t.Helper()
	p := made(t, tickLimit, policy.Options{})
	for key := range uint64(many) {
		require.True(t, p.Take(0, key, 1000+key).OK())
	}
	require.Equal(t, many, p.Keys())
	return p
}

// pass sweeps in steps until one pass has come to the end, and answers what it freed and how many steps it took.
func pass(t *testing.T, p policy.Policy, now uint64, slots int) (freed, steps int) {
	t.Helper()
	for done := false; !done; steps++ {
		var n int
		n, done = p.Sweep(now, slots)
		freed += n
		require.Less(t, steps, 1_000_000, "a pass that never ends")
	}
	return freed, steps
}

// TestSweepFreesIdleKeysOnly: a whole pass, in one go or in steps of any size, frees every idle key and touches no other.
func TestSweepFreesIdleKeysOnly(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		for _, slots := range []int{0, -1, 1, 2, 7, 64, 1000, 1 << 30} {
			p := filled(t, made)
			freed, steps := pass(t, p, 2500, slots) // keys 0 to 1500
			assert.Equal(t, 1501, freed, "%d slots a step", slots)
			assert.Equal(t, many-1501, p.Keys(), "%d slots a step", slots)
			if slots > 0 && slots < 1000 {
				assert.GreaterOrEqual(t, steps, many/slots, "a step looks at no more than it was told")
			}
			for key := range uint64(many) {
				want := uint64(0)
				if key > 1500 {
					want = key - 1500
				}
				require.Equal(t, want, p.Peek(2500, key, 1).ResetAfter(), "%d slots a step: key %d", slots, key)
			}
			freed, _ = pass(t, p, 2500, slots)
			assert.Zero(t, freed, "%d slots a step: there was nothing left", slots)
		}
	})
}

// TestSweepWhileKeysComeAndGo: two whole passes free what was idle before the first, though keys come and go between
// its steps and shards grow.
func TestSweepWhileKeysComeAndGo(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		p := filled(t, made)
		next := uint64(many)
		step := func() (done bool) {
			_, done = p.Sweep(2500, 50)
			p.Take(2500, next, 1e6)
			p.Forget(next - 10)
			next++
			return done
		}
		for range 2 {
			for !step() {
			}
		}
		p.Sweep(2500, 0)
		before := p.Keys()
		freed, _ := p.Sweep(2500, 0)
		assert.Zero(t, freed)
		assert.Equal(t, before, p.Keys())
		for key := uint64(1501); key < many-10; key++ {
			require.Equal(t, key-1500, p.Peek(2500, key, 1).ResetAfter(), "key %d", key)
		}
	})
}

// TestSweepQuiet: after a whole pass a sweep in steps is done at once, however large the table, until the earliest key
// that the pass saw is idle, or until something happens that could make one idle sooner.
func TestSweepQuiet(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		for _, row := range []struct {
			why   string
			touch func(p policy.Policy)
			now   uint64
			quiet bool
		}{
			{"nothing happened", func(policy.Policy) {}, 2500, true},
			{"nor at an earlier now", func(policy.Policy) {}, 0, true},
			{"the tick before the first key is idle", func(policy.Policy) {}, 2500, true},
			{"the first key is idle", func(policy.Policy) {}, 2501, false},
			{"past the horizon", func(policy.Policy) {}, policy.Never, false},
			{"a take of a known key makes it later", func(p policy.Policy) { p.Take(2500, 3000, 5) }, 2500, true},
			{"a denial", func(p policy.Policy) { p.Take(2500, 3000, 1e6) }, 2500, true},
			{"a peek", func(p policy.Policy) { p.Peek(2500, 1e9, 1) }, 2500, true},
			{"a refund of an unknown key", func(p policy.Policy) { p.Refund(2500, 1e9, 1) }, 2500, true},
			{"forgetting an unknown key", func(p policy.Policy) { p.Forget(1e9) }, 2500, true},
			{"a refund", func(p policy.Policy) { p.Refund(2500, 3000, 1) }, 2500, false},
			{"a forget", func(p policy.Policy) { p.Forget(3000) }, 2500, false},
			{"a new key", func(p policy.Policy) { p.Take(2500, 1e9, 1) }, 2500, false},
			{"a new limit", func(p policy.Policy) { _ = p.Relimit(2500, policy.Limit{Permits: 2, Period: 1, Burst: 9}) }, 2500, false},
			{"a relimit refused", func(p policy.Policy) { _ = p.Relimit(2500, policy.Limit{}) }, 2500, true},
			{"an undo", func(p policy.Policy) {
				_, undo := p.(policy.Undoer).TakeUndo(2500, 3000, 1, 1)
				undo()
			}, 2500, false},
		} {
			for _, slots := range []int{0, 100} {
				p := filled(t, made)
				freed, _ := pass(t, p, 2500, slots)
				require.Equal(t, 1501, freed)
				row.touch(p)
				freed, done := p.Sweep(row.now, 1)
				assert.Equal(t, row.quiet, done, "%s, after a pass of %d slots a step", row.why, slots)
				if row.quiet {
					assert.Zero(t, freed, row.why)
				}
			}
		}
	})
}

// TestSweepQuietEnds: whatever ended the quiet, the next pass frees what has become idle.
func TestSweepQuietEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		p := filled(t, made)
		for _, row := range []struct {
			why   string
			touch func()
			now   uint64
			freed int
		}{
			{"keys 0 to 1500", func() {}, 2500, 1501},
			{"none yet", func() {}, 2500, 0},
			{"one more", func() {}, 2501, 1},
			{"given back", func() { p.Refund(2501, 4000, 1e6) }, 2501, 1},
			{"a new key that is idle soon", func() { p.Take(2501, 1e9, 1) }, 2501, 0},
			{"is idle", func() {}, 2502, 2},
			{"a limit that lets it all leak in one tick", func() {
				require.NoError(t, p.Relimit(2502, policy.Limit{Permits: 1e7, Period: 1, Burst: 1e6}))
			}, 2503, many + 1 - 1505},
			{"an empty table", func() {}, 2503, 0},
		} {
			row.touch()
			freed, _ := pass(t, p, row.now, 33)
			assert.Equal(t, row.freed, freed, row.why)
		}
		assert.Zero(t, p.Keys())
	})
}

// TestSweepBeyondHorizon counts as the horizon: a key that is busy there stays.
func TestSweepBeyondHorizon(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		p := made(t, tickLimit, policy.Options{})
		h := p.Horizon()
		p.Take(h, 1, 1)
		p.Take(h-10, 2, 10)
		for _, now := range []uint64{h + 1, policy.Never, h} {
			freed, done := p.Sweep(now, 0)
			assert.True(t, done)
			assert.Equal(t, map[uint64]int{h + 1: 1, policy.Never: 0, h: 0}[now], freed)
			assert.Equal(t, 1, p.Keys())
		}
	})
}

// TestSweepEmptyTable: there is an end to a pass over nothing, whatever the step.
func TestSweepEmptyTable(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		for _, slots := range []int{0, 1, 3, math.MaxInt} {
			p := made(t, tickLimit, policy.Options{})
			freed, steps := pass(t, p, 0, slots)
			assert.Zero(t, freed)
			assert.LessOrEqual(t, steps, 64)
			_, done := p.Sweep(5, 1)
			assert.True(t, done, "quiet until a key comes")
		}
	})
}

// TestSweepGivesSlotsBack: after a peak a whole pass, in one go or in steps, leaves room in proportion to the keys that are
// left, and they are all still there.
func TestSweepGivesSlotsBack(t *testing.T) {
	for _, slots := range []int{0, 1, 100} {
		p := filled(t, locked)
		peak := slotsOf(p)
		pass(t, p, 1000+many-10, slots)
		require.Equal(t, 9, p.Keys())
		assert.Less(t, slotsOf(p), peak/8, "%d slots a step", slots)
		for key := uint64(many - 9); key < many; key++ {
			assert.NotZero(t, p.Peek(0, key, 1).ResetAfter(), "%d slots a step: key %d", slots, key)
		}
	}
}
