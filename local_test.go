package weir_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/gcra"
	"weir/policy"
)

// tenIn100ms gives back a permit every 10 ms on a bucket, and all of them 100 ms after they were spent on a log.
var tenIn100ms = weir.Per(10, 100*time.Millisecond)

// stands is how a key stands: what remains and when it is as new.
func stands(l weir.Limiter, key string) [2]int64 {
	r := l.Peek(ctx, key, weir.N(0))
	return [2]int64{int64(r.Remaining()), int64(r.ResetAfter())}
}

func TestAllowSpendsPeekDoesNot(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, clock := made(t, name, limitOf(name, tenIn100ms))
		for left := uint64(10); left > 0; left-- {
			for range 3 {
				r := l.Peek(ctx, "a", weir.N(1))
				require.True(t, r.OK())
				require.Equal(t, left, r.Remaining(), "a peek says how it stands")
			}
			r := l.Allow(ctx, "a")
			require.True(t, r.OK())
			require.Equal(t, left-1, r.Remaining(), "a take says what is left after it")
		}
		wait := 10 * time.Millisecond
		if name == "slidinglog" {
			wait = 100 * time.Millisecond
		}
		for _, r := range []weir.Result{l.Peek(ctx, "a", weir.N(1)), l.Allow(ctx, "a"), l.Allow(ctx, "a")} {
			require.Equal(t, policy.Deny, r.Outcome())
			require.Equal(t, weir.ErrDenied, r.Err())
			require.Equal(t, wait, r.RetryAfter(), "a denial spends nothing")
			require.Equal(t, 100*time.Millisecond, r.ResetAfter())
		}
		assert.Equal(t, uint64(10), l.Peek(ctx, "b", weir.N(1)).Remaining(), "another key has its own budget")
		clock.add(wait)
		assert.True(t, l.Allow(ctx, "a").OK())
	})
}

func TestAllowNCosts(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, _ := made(t, name, limitOf(name, tenIn100ms))
		for _, row := range []struct {
			why       string
			cost      uint64
			outcome   policy.Outcome
			remaining uint64
		}{
			{"more than ever fits", 11, policy.TooCostly, 10},
			{"the largest cost there is", math.MaxUint64, policy.TooCostly, 10},
			{"nothing, of a key never seen", 0, policy.Allow, 10},
			{"some", 7, policy.Allow, 3},
			{"more than is left", 4, policy.Deny, 3},
			{"nothing", 0, policy.Allow, 3},
			{"exactly what is left", 3, policy.Allow, 0},
			{"nothing, of an empty key", 0, policy.Allow, 0},
			{"too much, of an empty key", 11, policy.TooCostly, 0},
		} {
			peek := l.Peek(ctx, "a", weir.N(row.cost))
			assert.Equal(t, row.outcome, peek.Outcome(), row.why)
			r := l.AllowN(ctx, "a", weir.N(row.cost))
			assert.Equal(t, row.outcome, r.Outcome(), row.why)
			assert.Equal(t, row.remaining, r.Remaining(), row.why)
		}
		assert.Equal(t, 1, l.Keys())
		l.AllowN(ctx, "b", weir.N(0))
		l.Peek(ctx, "c", weir.N(1))
		l.AllowN(ctx, "d", weir.N(11))
		assert.Equal(t, 1, l.Keys(), "only what is spent takes room")
	})
}

func TestRefundGivesBackAndNeverMore(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, clock := made(t, name, limitOf(name, tenIn100ms))
		drain(l, "a")
		require.NoError(t, l.Refund(ctx, "a", weir.N(4)))
		assert.Equal(t, uint64(4), l.Peek(ctx, "a", weir.N(0)).Remaining())
		require.NoError(t, l.Refund(ctx, "a", weir.N(0)))
		assert.Equal(t, uint64(4), l.Peek(ctx, "a", weir.N(0)).Remaining())
		require.NoError(t, l.Refund(ctx, "a", weir.N(math.MaxUint64)))
		assert.Equal(t, [2]int64{10, 0}, stands(l, "a"), "never better than new")
		assert.Equal(t, uint64(10), drain(l, "a"))
		clock.add(30 * time.Millisecond)
		before := l.Peek(ctx, "a", weir.N(0)).Remaining() // 3 on a bucket, 0 on a log
		require.NoError(t, l.Refund(ctx, "a", weir.N(1)))
		assert.Equal(t, before+1, l.Peek(ctx, "a", weir.N(0)).Remaining())

		require.NoError(t, l.Refund(ctx, "stranger", weir.N(5)))
		assert.Equal(t, 1, l.Keys(), "an unknown key stays unknown")
		assert.Equal(t, uint64(10), drain(l, "stranger"))
	})
}

func TestForget(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, _ := made(t, name, limitOf(name, tenIn100ms), weir.WithMaxKeys(2))
		drain(l, "a")
		drain(l, "b")
		require.Equal(t, weir.ErrFull, l.Allow(ctx, "c").Err())
		require.NoError(t, l.Forget(ctx, "a"))
		require.NoError(t, l.Forget(ctx, "stranger"))
		assert.Equal(t, 1, l.Keys())
		assert.Equal(t, [2]int64{10, 0}, stands(l, "a"))
		assert.True(t, l.Allow(ctx, "c").OK(), "its room is free")
		assert.Equal(t, weir.ErrFull, l.Allow(ctx, "a").Err(), "and taken again")
		assert.Equal(t, weir.ErrDenied, l.Allow(ctx, "b").Err(), "the other is as it was")
	})
}

// TestDualBucketChargesBothOrNeither sees each limit by itself with a cost of 0 in the other.
func TestDualBucketChargesBothOrNeither(t *testing.T) {
	l, clock := made(t, "dualbucket", weir.Per(10, time.Second).And(weir.Per(1000, time.Hour)))
	left := func() [2]uint64 {
		var n [2]uint64
		for l.Peek(ctx, "a", weir.Both(n[0]+1, 0)).OK() {
			n[0]++
		}
		for l.Peek(ctx, "a", weir.Both(0, n[1]+1)).OK() {
			n[1]++
		}
		return n
	}
	for _, row := range []struct {
		why     string
		cost    weir.Cost
		outcome policy.Outcome
		left    [2]uint64
	}{
		{"one cost goes to both", weir.N(2), policy.Allow, [2]uint64{8, 998}},
		{"each its own", weir.Both(1, 500), policy.Allow, [2]uint64{7, 498}},
		{"the second has too little", weir.Both(1, 499), policy.Deny, [2]uint64{7, 498}},
		{"the first has too little", weir.Both(8, 1), policy.Deny, [2]uint64{7, 498}},
		{"the second can never", weir.Both(1, 1001), policy.TooCostly, [2]uint64{7, 498}},
		{"the first can never, the second not now", weir.Both(11, 499), policy.TooCostly, [2]uint64{7, 498}},
		{"the first alone", weir.Both(7, 0), policy.Allow, [2]uint64{0, 498}},
		{"the second alone, though the first is empty", weir.Both(0, 498), policy.Allow, [2]uint64{0, 0}},
		{"nothing, though both are empty", weir.Both(0, 0), policy.Allow, [2]uint64{0, 0}},
	} {
		require.Equal(t, row.outcome, l.AllowN(ctx, "a", row.cost).Outcome(), row.why)
		require.Equal(t, row.left, left(), row.why)
	}
	require.NoError(t, l.Refund(ctx, "a", weir.Both(3, 100)))
	assert.Equal(t, [2]uint64{3, 100}, left())
	assert.Equal(t, time.Hour*900/1000, l.Peek(ctx, "a", weir.N(0)).ResetAfter(), "the later of both")
	clock.add(time.Hour)
	assert.Equal(t, [2]int64{10, 0}, stands(l, "a"))
}

func TestBothOnOneLimitChargesTheFirst(t *testing.T) {
	for _, name := range weir.Names()[:4] {
		l, _ := made(t, name, tenIn100ms)
		assert.True(t, l.AllowN(ctx, "a", weir.Both(3, 1<<60)).OK(), name)
		assert.Equal(t, uint64(7), l.Peek(ctx, "a", weir.Both(1, 1<<60)).Remaining(), name)
		require.NoError(t, l.Refund(ctx, "a", weir.Both(1, 1<<60)))
		assert.Equal(t, uint64(8), l.Peek(ctx, "a", weir.N(0)).Remaining(), name)
	}
}

// A clock that steps back, before the limiter was made too, never mints: what is admitted over the whole walk is at
// most the burst and what the furthest now gives back.
func TestClockThatStepsBackMintsNothing(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, clock := made(t, name, limitOf(name, tenIn100ms))
		base, admitted := clock.Now(), uint64(0)
		for _, at := range []time.Duration{0, -time.Second, 50, -10 * time.Hour, 99, 30, 99, math.MinInt64 / 2, 60, 99} {
			if at > 0 {
				at *= time.Millisecond
			}
			clock.set(base + at)
			for range 15 {
				if l.Allow(ctx, "a").OK() {
					admitted++
				}
			}
		}
		// 10 at first; by 99 ms a bucket has given back 9, a log nothing.
		want := uint64(19)
		if name == "slidinglog" {
			want = 10
		}
		assert.Equal(t, want, admitted)
		clock.set(base + 10*time.Second)
		assert.Equal(t, [2]int64{10, 0}, stands(l, "a"), "and what comes after is right again")
	})
}

func TestClockMayStartAnywhere(t *testing.T) {
	for _, start := range []time.Duration{math.MinInt64, -1, 0, math.MaxInt64 - time.Hour} {
		clock := &fakeClock{now: start}
		l, err := weir.New("gcra", tenIn100ms, weir.WithClock(clock))
		require.NoError(t, err)
		drain(l, "a")
		assert.Equal(t, 10*time.Millisecond, l.Allow(ctx, "a").RetryAfter())
		clock.add(10 * time.Millisecond)
		assert.True(t, l.Allow(ctx, "a").OK())
	}
}

func TestStringsThatCollide(t *testing.T) {
	const one, other = "user:00000000042", "\x55\x80\x66\x0a\x38\xe5\xa7\x0f\x30\x30\x30\x30\xdf\x7b\xc1\x48"
	for _, seed := range []uint64{0, 1, 42, math.MaxUint64, 0x9E3779B97F4A7C15} {
		l, _ := made(t, "gcra", tenIn100ms, weir.WithXXH64(seed))
		require.Equal(t, policy.KeyString(one, seed), policy.KeyString(other, seed))
		drain(l, one)
		assert.False(t, l.Allow(ctx, other).OK(), "seed %d: they share a budget", seed)
		assert.Equal(t, 1, l.Keys())
	}
	l, _ := made(t, "gcra", tenIn100ms)
	drain(l, one)
	assert.Equal(t, uint64(10), drain(l, other), "by default each has its own")
	assert.Equal(t, 2, l.Keys())
	for _, key := range []string{"", "\x00", "\xff\xfe", one + one} {
		assert.True(t, l.Allow(ctx, key).OK(), "any string is a key")
	}
}

// keyed notes the keys that a policy is asked for.
type keyed struct {
	policy.Policy
	keys []uint64
}

func (k *keyed) Take(now, key, cost uint64) policy.Decision {
	k.keys = append(k.keys, key)
	return k.Policy.Take(now, key, cost)
}

func TestKeysAreThoseThatWereAskedFor(t *testing.T) {
	for _, row := range []struct {
		option weir.Option
		key    func(string) uint64
	}{
		{weir.WithMaxKeys(9), policy.SecretKey}, // the default
		{weir.WithXXH64(0), func(s string) uint64 { return policy.KeyString(s, 0) }},
		{weir.WithXXH64(42), func(s string) uint64 { return policy.KeyString(s, 42) }},
	} {
		k, r := new(keyed), new(policy.Registry)
		require.NoError(t, r.Add("keyed", func(l policy.Limit, o policy.Options) (p policy.Policy, err error) {
			k.Policy, err = gcra.New(l, o)
			return k, err
		}))
		l, _ := made(t, "keyed", tenIn100ms, weir.WithRegistry(r), row.option)
		l.Allow(ctx, "")
		l.Allow(ctx, "alice")
		assert.Equal(t, []uint64{row.key(""), row.key("alice")}, k.keys)
	}
	assert.Equal(t, uint64(0xEF46DB3751D8E999), policy.KeyString("", 0), "the published value")
}
