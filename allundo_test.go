package weir_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/gcra"
	"weir/policy"
)

// late is a policy that allows when peeked and denies when taken from, as one does when somebody was faster. What happens
// in between is what the test wants.
type late struct {
	policy.Policy
	between func()
}

func (l *late) TakeUndo(_, _, _, _ uint64) (policy.Decision, func() bool) {
	l.between()
	return policy.Answered(policy.Answer{Outcome: policy.Deny, RetryAfter: 1}, 0), nil
}

// contended is a group of a member of that policy and a late one.
func contended(t testing.TB, name string, between func(first *weir.Local)) (weir.Limiter, *weir.Local) {
	return contendedOn(t, &fakeClock{}, name, between)
}

func contendedOn(t testing.TB, clock weir.Clock, name string, between func(*weir.Local)) (weir.Limiter, *weir.Local) {
	first, _ := made(t, name, limitOf(name, tenIn100ms), weir.WithClock(clock))
	r := new(policy.Registry)
	require.NoError(t, r.Add("late", func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		p, err := gcra.New(l, o)
		return &late{p, func() { between(first) }}, err
	}))
	second, _ := made(t, "late", tenIn100ms, weir.WithRegistry(r), weir.WithClock(clock))
	all, err := weir.All(first, second)
	require.NoError(t, err)
	return all, first
}

// neighbours are keys enough to have some in every shard of a table.
func neighbours(use func(key string)) {
	for i := range 2000 {
		use("neighbour " + strconv.Itoa(i))
	}
}

// TestAllUndoes has a key with 10 permits of which before are spent; then the group takes 3, something happens, and the
// group's admission is undone.
func TestAllUndoes(t *testing.T) {
	for _, row := range []struct {
		why     string
		before  uint64
		between func(*weir.Local)
		left    uint64 // exactly
	}{
		{"nothing, on a new key", 0, func(*weir.Local) {}, 10},
		{"nothing, on a known key", 2, func(*weir.Local) {}, 8},
		{"a peek", 2, func(l *weir.Local) { l.Peek(ctx, "a", weir.N(1)) }, 8},
		{"a denial", 2, func(l *weir.Local) { l.AllowN(ctx, "a", weir.N(9)) }, 8},
		{"a cost of 0", 2, func(l *weir.Local) { l.AllowN(ctx, "a", weir.N(0)) }, 8},
		{"another admission of the key: both charges stay", 2, func(l *weir.Local) { l.Allow(ctx, "a") }, 4},
		{"a new key beside it", 2, func(l *weir.Local) { l.Allow(ctx, "b") }, 8},
		{"many new keys beside it", 2, func(l *weir.Local) { neighbours(func(k string) { l.Allow(ctx, k) }) }, 8},
		{"forgotten: there is nothing to undo", 2, func(l *weir.Local) { _ = l.Forget(ctx, "a") }, 10},
		{"forgotten, and spent from", 2, func(l *weir.Local) {
			_ = l.Forget(ctx, "a")
			l.AllowN(ctx, "a", weir.N(5)) // as much as was spent before
		}, 5},
		{"given back by somebody: the charge stays", 5, func(l *weir.Local) { _ = l.Refund(ctx, "a", weir.N(2)) }, 4},
		{"given back and spent again: the charge stays", 5, func(l *weir.Local) {
			_ = l.Refund(ctx, "a", weir.N(2))
			l.AllowN(ctx, "a", weir.N(2))
		}, 2},
	} {
		eachPolicy(t, func(t *testing.T, name string) {
			all, first := contended(t, name, row.between)
			require.True(t, first.AllowN(ctx, "a", weir.N(row.before)).OK())
			r := all.AllowN(ctx, "a", weir.N(3))
			require.Equal(t, policy.Deny, r.Outcome())
			assert.Equal(t, row.left, first.Peek(ctx, "a", weir.N(0)).Remaining(), row.why)
		})
	}
}

// An undo on a key never seen before frees its room again.
func TestAllUndoFreesRoom(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		all, first := contended(t, name, func(*weir.Local) {})
		require.False(t, all.Allow(ctx, "a").OK())
		assert.Zero(t, first.Keys())
	})
}

// What All says is that a charge stays where somebody else was admitted on the same key. Another key that is refunded
// or forgotten in that moment must not keep it there.
func TestAllUndoesWhateverHappensToOtherKeys(t *testing.T) {
	for why, between := range map[string]func(*weir.Local){
		"refunded":  func(l *weir.Local) { neighbours(func(k string) { _ = l.Refund(ctx, k, weir.N(1)) }) },
		"forgotten": func(l *weir.Local) { neighbours(func(k string) { _ = l.Forget(ctx, k) }) },
	} {
		eachPolicy(t, func(t *testing.T, name string) {
			all, first := contended(t, name, between)
			neighbours(func(k string) { first.AllowN(ctx, k, weir.N(5)) })
			require.False(t, all.AllowN(ctx, "a", weir.N(3)).OK())
			assert.Equal(t, uint64(10), first.Peek(ctx, "a", weir.N(0)).Remaining(), "neighbours %s", why)
		})
	}
}

// Nor must the sweep that a new key brings: the admission of the group itself makes it, with nobody else about.
func TestAllUndoesThoughItSweptIdleKeys(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		clock := &fakeClock{}
		all, first := contendedOn(t, clock, name, func(*weir.Local) {})
		stayed := 0
		for round := range 20 {
			neighbours(func(k string) { first.AllowN(ctx, k, weir.N(5)) })
			clock.add(time.Second) // all of them are idle
			for i := range 30 {
				key := strconv.Itoa(round) + ":" + strconv.Itoa(i)
				first.Allow(ctx, "other "+key)
				require.False(t, all.AllowN(ctx, key, weir.N(3)).OK())
				if first.Peek(ctx, key, weir.N(0)).Remaining() != 10 {
					stayed++
				}
			}
		}
		assert.Zero(t, stayed, "of 600 charges that nobody else had to do with")
	})
}
