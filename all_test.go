package weir_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/gcra"
	"weir/policy"
)

// joined is a group of one limiter a policy, all on one clock, with the first of them as tight as said and the others
// looser by one permit each.
func joined(t testing.TB, permits uint64, names ...string) (weir.Limiter, []*weir.Local, *fakeClock) {
	t.Helper()
	clock := &fakeClock{now: time.Hour}
	var members []*weir.Local
	for i, name := range names {
		l, _ := made(t, name, limitOf(name, weir.Per(permits+uint64(i), time.Second)), weir.WithClock(clock))
		members = append(members, l)
	}
	all, err := weir.All(members...)
	require.NoError(t, err)
	return all, members, clock
}

func standing(members []*weir.Local, key string) (all [][2]int64) {
	for _, m := range members {
		all = append(all, stands(m, key))
	}
	return all
}

func TestAllChargesEachOrNone(t *testing.T) {
	all, members, clock := joined(t, 3, weir.Names()...)
	for range 3 {
		require.True(t, all.Allow(ctx, "a").OK())
	}
	for i, m := range members {
		assert.Equal(t, uint64(i), m.Peek(ctx, "a", weir.N(0)).Remaining(), m.Name())
	}
	before := standing(members, "a")
	r := all.Allow(ctx, "a")
	assert.Equal(t, policy.Deny, r.Outcome())
	assert.Equal(t, before, standing(members, "a"))
	clock.add(r.RetryAfter() - 1)
	assert.False(t, all.Peek(ctx, "a", weir.N(1)).OK())
	clock.add(1)
	assert.True(t, all.Allow(ctx, "a").OK())
}

// TestAllChargesNobodyIfTheSecondSaysNo has a second of three that denies, finds it too costly or is full.
func TestAllChargesNobodyIfTheSecondSaysNo(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		clock := &fakeClock{}
		first, _ := made(t, name, limitOf(name, weir.Per(10, time.Second)), weir.WithClock(clock))
		second, _ := made(t, name, limitOf(name, weir.Per(5, time.Second)), weir.WithClock(clock), weir.WithMaxKeys(1))
		third, _ := made(t, name, limitOf(name, weir.Per(10, time.Second)), weir.WithClock(clock))
		members := []*weir.Local{first, second, third}
		all, err := weir.All(members...)
		require.NoError(t, err)
		require.True(t, second.AllowN(ctx, "a", weir.N(4)).OK())
		for _, row := range []struct {
			key       string
			cost      uint64
			outcome   policy.Outcome
			remaining uint64
		}{
			{"a", 2, policy.Deny, 1},
			{"a", 6, policy.TooCostly, 1},
			{"b", 1, policy.Full, 0},
		} {
			before := standing(members, row.key)
			for _, r := range []weir.Result{all.Peek(ctx, row.key, weir.N(row.cost)), all.AllowN(ctx, row.key, weir.N(row.cost))} {
				assert.Equal(t, row.outcome, r.Outcome())
				assert.Equal(t, row.remaining, r.Remaining())
			}
			assert.Equal(t, before, standing(members, row.key))
			assert.Zero(t, first.Keys()+third.Keys(), "not even room is taken")
		}
	})
}

func TestAllCombinesAnswers(t *testing.T) {
	clock := &fakeClock{}
	quick, _ := made(t, "gcra", weir.Per(10, time.Second).WithBurst(2), weir.WithClock(clock))          // 100 ms a permit
	slow, _ := made(t, "slidinglog", weir.Per(3, time.Minute), weir.WithClock(clock))                   // a minute each
	queue, _ := made(t, "leakybucket", weir.Per(100, time.Second).WithBurst(50), weir.WithClock(clock)) // 10 ms
	all, err := weir.All(quick, slow, queue)
	require.NoError(t, err)
	require.True(t, queue.AllowN(ctx, "a", weir.N(7)).OK())

	r := all.AllowN(ctx, "a", weir.N(2))
	require.True(t, r.OK())
	assert.Equal(t, uint64(0), r.Remaining(), "quick's")
	assert.Equal(t, time.Minute, r.ResetAfter(), "slow's")
	assert.Equal(t, 70*time.Millisecond, r.Delay(), "queue's")
	assert.Equal(t, policy.First, r.Binding())

	r = all.AllowN(ctx, "a", weir.N(1))
	assert.Equal(t, policy.Deny, r.Outcome())
	assert.Equal(t, 100*time.Millisecond, r.RetryAfter(), "only quick denies")
	r = all.AllowN(ctx, "a", weir.N(2))
	assert.Equal(t, time.Minute, r.RetryAfter(), "quick and slow deny")
	assert.Equal(t, "deny, remaining 0, retry after 1m0s, reset after 1m0s", r.String())
	r = all.AllowN(ctx, "a", weir.N(3))
	assert.Equal(t, policy.TooCostly, r.Outcome(), "never is the longest wait")
	assert.Equal(t, weir.Never, r.RetryAfter())
	assert.True(t, all.AllowN(ctx, "a", weir.N(0)).OK())
	assert.Equal(t, quick.Limit(), all.Limit())
}

// Of two outcomes that no waiting helps the first member's is given.
func TestAllFirstOfATie(t *testing.T) {
	full, _ := made(t, "gcra", tenIn100ms, weir.WithMaxKeys(1))
	require.True(t, full.Allow(ctx, "somebody").OK())
	small, _ := made(t, "gcra", weir.Per(1, time.Second))
	for _, row := range []struct {
		members []*weir.Local
		outcome policy.Outcome
	}{
		{[]*weir.Local{full, small}, policy.Full},
		{[]*weir.Local{small, full}, policy.TooCostly},
	} {
		all, err := weir.All(row.members...)
		require.NoError(t, err)
		assert.Equal(t, row.outcome, all.AllowN(ctx, "a", weir.N(2)).Outcome())
		assert.Zero(t, small.Keys())
	}
}

func TestAllRefundForgetSetLimit(t *testing.T) {
	all, members, _ := joined(t, 5, weir.Names()...)
	require.True(t, all.AllowN(ctx, "a", weir.N(5)).OK())
	require.NoError(t, all.Refund(ctx, "a", weir.N(2)))
	for i, m := range members {
		assert.Equal(t, uint64(2+i), m.Peek(ctx, "a", weir.N(0)).Remaining(), m.Name())
	}
	require.NoError(t, all.Forget(ctx, "a"))
	for _, m := range members {
		assert.Zero(t, m.Keys(), m.Name())
	}
	err := all.SetLimit(ctx, weir.Per(1, time.Second))
	require.ErrorContains(t, err, "member")
	assertOneLine(t, err)
	assert.Equal(t, uint64(5), all.Peek(ctx, "a", weir.N(0)).Remaining())
}

// bare is a policy without an undo, as one of another implementation may be.
type bare struct{ policy.Policy }

func TestAllRefuses(t *testing.T) {
	l, _ := made(t, "gcra", tenIn100ms)
	m, _ := made(t, "gcra", tenIn100ms)
	r := new(policy.Registry)
	require.NoError(t, r.Add("bare", func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		p, err := gcra.New(l, o)
		return bare{p}, err
	}))
	b, _ := made(t, "bare", tenIn100ms, weir.WithRegistry(r))
	require.True(t, b.Allow(ctx, "a").OK(), "alone it is as good as any")
	for _, row := range []struct {
		why     string
		members []*weir.Local
		text    string
	}{
		{"none", nil, "at least 1"},
		{"nil", []*weir.Local{l, nil}, "member 2 is nil"},
		{"twice", []*weir.Local{l, m, l}, "member 3 is there twice"},
		{"no undo", []*weir.Local{l, b}, "member 2: this implementation of bare cannot undo"},
	} {
		all, err := weir.All(row.members...)
		require.ErrorContains(t, err, row.text, row.why)
		assert.Nil(t, all)
		assertOneLine(t, err)
	}
	one, err := weir.All(l)
	require.NoError(t, err)
	assert.Equal(t, uint64(10), drain(one, "x"))
}

// A Local that New did not make must not bring the program down.
func TestAllOfALocalThatNewDidNotMakeIsAnError(t *testing.T) {
	require.NotPanics(t, func() {
		_, err := weir.All(new(weir.Local))
		assert.Error(t, err)
	})
}

// A bounded member whose only keys are idle makes room for a new one.
func TestAllFindsRoomOfIdleKeys(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		clock := &fakeClock{}
		var members []*weir.Local
		for range 2 {
			l, _ := made(t, name, limitOf(name, tenIn100ms), weir.WithClock(clock), weir.WithMaxKeys(40))
			members = append(members, l)
		}
		all, err := weir.All(members...)
		require.NoError(t, err)
		for round := range 5 {
			letsIn(t, all, 40, round)
			require.Equal(t, weir.ErrFull, all.Allow(ctx, "one more").Err())
			clock.add(time.Second)
		}
	})
}

// Contention: goroutines go through groups in both orders while others go to the members. What comes through a member is
// at most its limit, and what remains is never more than the rest.
func TestAllUnderContentionNeverAdmitsMore(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		for range 30 {
			const limit = 300
			ab, members, _ := joined(t, limit, name, name)
			ba, err := weir.All(members[1], members[0])
			require.NoError(t, err)
			var through, directly [2]atomic.Int64
			var wg sync.WaitGroup
			for i := range 8 {
				wg.Go(func() {
					for range 100 {
						switch {
						case i < 2 && ab.Allow(ctx, "a").OK():
							through[0].Add(1)
						case i >= 2 && i < 4 && ba.Allow(ctx, "a").OK():
							through[1].Add(1)
						case i >= 4 && members[i%2].Allow(ctx, "a").OK():
							directly[i%2].Add(1)
						}
					}
				})
			}
			wg.Wait()
			for i, m := range members {
				spent := through[0].Load() + through[1].Load() + directly[i].Load()
				remaining := int64(m.Peek(ctx, "a", weir.N(0)).Remaining())
				require.LessOrEqual(t, spent+remaining, int64(limit+i), "member %d: no permit is minted", i)
				require.Equal(t, 1, m.Keys())
			}
		}
	})
}

// Nobody but the group, one goroutine: the books are exact, whatever was denied on the way.
func TestAllAloneIsExact(t *testing.T) {
	all, members, clock := joined(t, 7, weir.Names()...)
	for i := range 2000 {
		clock.add(time.Duration(i%50) * time.Millisecond)
		before := standing(members, "a")
		want := all.Peek(ctx, "a", weir.N(uint64(i%9)))
		got := all.AllowN(ctx, "a", weir.N(uint64(i%9)))
		require.Equal(t, want.Outcome(), got.Outcome())
		if !got.OK() {
			require.Equal(t, before, standing(members, "a"))
			continue
		}
		for j, m := range members {
			require.Equal(t, before[j][0]-int64(i%9), stands(m, "a")[0], m.Name())
		}
	}
}

func TestAllWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		quick, err := weir.New("gcra", weir.Per(1, 100*time.Millisecond))
		require.NoError(t, err)
		slow, err := weir.New("slidinglog", weir.Per(2, time.Second))
		require.NoError(t, err)
		all, err := weir.All(quick, slow)
		require.NoError(t, err)
		a := newArrivals()
		for i := range 4 {
			a.come(ctx, i, all, weir.N(1))
		}
		require.ErrorIs(t, all.Wait(ctx, "a", weir.N(2)), weir.ErrTooCostly)
		short, cancel := context.WithTimeout(ctx, 99*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, all.Wait(short, "a", weir.N(1)), context.DeadlineExceeded)
		require.Zero(t, time.Since(a.start))
		pass(time.Minute)
		assert.Equal(t, []int{0, 1, 2, 3}, a.order)
		assert.Equal(t, map[int]time.Duration{0: 0, 1: 100 * time.Millisecond, 2: time.Second,
			3: 1100 * time.Millisecond}, a.after)
	})
}
