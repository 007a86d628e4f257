package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/policy"
	"weir/redislimit"
)

// counting counts the calls that reach a store.
type counting struct {
	redislimit.Store
	calls atomic.Int64
}

func (c *counting) Run(ctx context.Context, calls []redislimit.Call) []redislimit.Reply {
	c.calls.Add(int64(len(calls)))
	return c.Store.Run(ctx, calls)
}

// TestDenialCache: a denial is answered from memory to the tick of its retry time, as the server would; a smaller cost,
// another limit and a refund are not.
func TestDenialCache(t *testing.T) {
	_, conn := dial(t)
	for name, text := range map[string]string{"gcra": "10/s burst 4", "tokenbucket": "7/s burst 4", "leakybucket": "3/s burst 4",
		"slidinglog": "4/s", "dualbucket": "10/s burst 4 & 3/s burst 5"} {
		c, store := &clock{}, &counting{Store: conn}
		l := limiter(t, store, name, parse(t, text), redislimit.WithClock(c), redislimit.WithPrefix("cache"), redislimit.WithDenialCache(2))
		plain := limiter(t, conn, name, parse(t, text), redislimit.WithClock(c), redislimit.WithPrefix("cache"))
		require.True(t, l.AllowN(ctx, "k", weir.N(3)).OK())
		c.move(1500 * time.Nanosecond)
		r := l.AllowN(ctx, "k", weir.N(2))
		require.Equal(t, policy.Deny, r.Outcome(), name)
		asked := store.calls.Load()
		for range 3 {
			want := plain.AllowN(ctx, "k", weir.N(2))
			assert.Equal(t, want.String(), l.AllowN(ctx, "k", weir.N(2)).String(), name)
			assert.Equal(t, want.Next(), l.AllowN(ctx, "k", weir.N(2)).Next(), name)
			assert.False(t, l.AllowN(ctx, "k", weir.N(4)).OK(), name)
			c.move(want.RetryAfter() / 3)
		}
		if name != "slidinglog" { // which asks for the larger cost
			assert.Equal(t, asked, store.calls.Load(), "%s: nobody asked the server", name)
		}
		assert.True(t, l.Allow(ctx, "k").OK(), "%s: less may fit", name)
		r = l.AllowN(ctx, "k", weir.N(2))
		require.Equal(t, policy.Deny, r.Outcome(), name)
		c.move(r.RetryAfter() - time.Nanosecond)
		assert.False(t, l.AllowN(ctx, "k", weir.N(2)).OK(), "%s: one nanosecond too soon", name)
		c.move(time.Nanosecond)
		assert.True(t, l.AllowN(ctx, "k", weir.N(2)).OK(), name)
		require.False(t, l.AllowN(ctx, "k", weir.N(3)).OK(), name)
		require.NoError(t, l.Refund(ctx, "k", weir.N(3)))
		assert.True(t, l.AllowN(ctx, "k", weir.N(3)).OK(), "%s: a refund is seen at once", name)
		for i := range 10 { // more keys than the cache has room for
			l.AllowN(ctx, fmt.Sprint(i), weir.N(4))
			assert.False(t, l.AllowN(ctx, fmt.Sprint(i), weir.N(4)).OK())
		}
	}
}

// TestDenialCacheOfALog: what has expired since a denial is counted by the server.
func TestDenialCacheOfALog(t *testing.T) {
	_, conn := dial(t)
	c := &clock{}
	l := limiter(t, conn, "slidinglog", parse(t, "4/s"), redislimit.WithClock(c), redislimit.WithDenialCache(2))
	require.True(t, l.AllowN(ctx, "k", weir.N(1)).OK())
	c.move(500 * time.Millisecond)
	require.True(t, l.AllowN(ctx, "k", weir.N(3)).OK())
	require.Equal(t, 500*time.Millisecond, l.AllowN(ctx, "k", weir.N(3)).Next())
	c.move(500 * time.Millisecond)
	r := l.AllowN(ctx, "k", weir.N(3))
	assert.Equal(t, []any{policy.Deny, uint64(1)}, []any{r.Outcome(), r.Remaining()})
}

// TestWait: in the order of arrival, at the moment that the limit foretells, or at once an error.
func TestWait(t *testing.T) {
	_, conn := dial(t)
	c := &clock{}
	l := limiter(t, conn, "gcra", parse(t, "10/s burst 1"), redislimit.WithClock(c))
	require.NoError(t, l.Wait(ctx, "k", weir.N(1)))
	require.NoError(t, l.Wait(ctx, "k", weir.N(1)))
	assert.Equal(t, 100*time.Millisecond, c.Now())
	assert.ErrorIs(t, l.Wait(ctx, "k", weir.N(2)), weir.ErrTooCostly)
	soon, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, l.Wait(soon, "k", weir.N(1)), context.DeadlineExceeded)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	assert.ErrorIs(t, l.Wait(gone, "k", weir.N(1)), context.Canceled)
	assert.Equal(t, 100*time.Millisecond, c.Now(), "nobody slept")
}

// TestWaitInOrder: those who wait are served one after the other, and a change of limit wakes the first of them. The store
// is one of memory, so that the bubble's clock is all there is.
func TestWaitInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := redislimit.New(&memory{begin: time.Now()}, "gcra", parse(t, "1/h burst 1"))
		require.NoError(t, err)
		require.True(t, l.Allow(t.Context(), "k").OK())
		begin := time.Now()
		var mu sync.Mutex
		var order []int
		for i := range 3 {
			go func() {
				assert.NoError(t, l.Wait(context.Background(), "k", weir.N(1)))
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			}()
			synctest.Wait()
		}
		hopeless, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		assert.ErrorIs(t, l.Wait(hopeless, "k", weir.N(1)), context.DeadlineExceeded)
		assert.Zero(t, time.Since(begin), "it did not wait to see")
		require.NoError(t, l.SetLimit(t.Context(), parse(t, "60/h burst 1")))
		time.Sleep(4 * time.Minute)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		assert.Equal(t, []int{0, 1, 2}, order)
	})
}

// memory answers for one key as a server would that has a GCRA of one permit, by the clock of Go.
type memory struct {
	mu    sync.Mutex
	begin time.Time
	tat   time.Duration
}

func (m *memory) Run(_ context.Context, calls []redislimit.Call) []redislimit.Reply {
	m.mu.Lock()
	defer m.mu.Unlock()
	const hour = "1/3600000000/1"
	now := time.Since(m.begin)
	replies := make([]redislimit.Reply, len(calls))
	for i, c := range calls {
		interval := time.Hour
		if c.Args[0] != hour {
			interval = time.Minute
			m.tat = min(m.tat, now+interval)
		}
		debt, spent := max(0, m.tat-now), int64(0)
		if debt == 0 && len(c.Args) == 2 { // a take by the server's clock
			m.tat, spent = now+interval, 1
		}
		replies[i].Values = []any{spent, int64(now / time.Microsecond), int64(debt / time.Microsecond), int64(0)}
	}
	return replies
}

// TestKeys: different policies, prefixes and keys have different names, whatever is in them; a name is not longer than it
// need be, and its hash tag is that of the key.
func TestKeys(t *testing.T) {
	store := &names{}
	long := strings.Repeat("x", 201)
	seen := map[string]string{}
	for _, prefix := range []string{"", "a", "a/b", "a:", "a:{b", "a}", "%", "%3A", "%7B"} {
		for _, key := range []string{"", "c", "b/c", "b:{c", "{", "}", "{}", "{b}", "%7Bb%7D", "@{b}", "{b}c", "a{b}", "a{b}c", "{{b}", "{b}}",
			"%", "%25", "#", "#{x}", "a:{c}", long, long + "y", "{t}" + long, "{" + long + "}", "{%}" + long, "\x00\xff\n", "é"} {
			l := limiter(t, store, "gcra", parse(t, "1/s"), redislimit.WithPrefix(prefix))
			l.Allow(ctx, key)
			what := fmt.Sprintf("prefix %q key %q", prefix, key)
			assert.Empty(t, seen[store.last], "%s and %s", what, seen[store.last])
			seen[store.last] = what
			assert.LessOrEqual(t, len(store.last), 3*200+3*200+100, what)
			assert.True(t, strings.HasPrefix(store.last, "weir:gcra:"), what)
		}
	}
	for key, want := range map[string]string{"": "weir:gcra:api:{%}", "client-42": "weir:gcra:api:{client-42}", "{acme}/user-7": "weir:gcra:api:@{acme}/user-7"} {
		limiter(t, store, "gcra", parse(t, "1/s"), redislimit.WithPrefix("api")).Allow(ctx, key)
		assert.Equal(t, want, store.last)
	}
}

// names remembers the last key that it was asked for.
type names struct{ last string }

func (n *names) Run(_ context.Context, calls []redislimit.Call) []redislimit.Reply {
	n.last = calls[0].Keys[0]
	return nil // too few: a store of ours would not do that
}

// TestNewErrors: one line that names field, value and bound.
func TestNewErrors(t *testing.T) {
	year := 365 * 24 * time.Hour
	for _, row := range []struct {
		name  string
		limit weir.Limit
		o     redislimit.Option
		is    error
		want  string
	}{
		{"leaky", weir.Per(1, 1), nil, weir.ErrUnknownPolicy, `unknown_policy: "leaky"`},
		{"gcra", weir.Per(0, 1), nil, weir.ErrInvalidPermits, "permits is 0, must be at least 1"},
		{"gcra", weir.Per(1, 0), nil, weir.ErrInvalidPeriod, "period is 0, must be at least 1"},
		{"gcra", weir.Per(1, -1), nil, weir.ErrInvalidPeriod, "period is -1ns, must be at least 1ns"},
		{"dualbucket", weir.Per(1, time.Second), nil, weir.ErrInvalidSecond, "permits2 is 0, must be at least 1"},
		{"gcra", weir.Per(1, time.Second).And(weir.Per(1, time.Second)), nil, weir.ErrInvalidSecond, "permits2 is 1, must be exactly 0"},
		{"slidinglog", weir.Per(1, 1500), nil, weir.ErrInvalidPeriod, "period is 1.5µs, must be whole microseconds"},
		{"slidinglog", weir.Per(1, 101*year), nil, weir.ErrLimitTooLarge, "period makes 3185136000000000 ticks or units a tick, must be at most 3155760000000000"},
		{"slidinglog", weir.Per(1<<52, time.Second), nil, weir.ErrLimitTooLarge, "permits makes 4503599627370496 ticks or units a tick, must be at most 4503599627370495"},
		{"gcra", weir.Per(1, 101*year), nil, weir.ErrLimitTooLarge, "burst is 1, must be at most 0"},
		{"tokenbucket", weir.Per(1, year).WithBurst(101), nil, weir.ErrLimitTooLarge, "burst is 101, must be at most 100"},
		{"dualbucket", weir.Per(1, year).And(weir.Per(1, year).WithBurst(101)), nil, weir.ErrLimitTooLarge, "burst2 is 101, must be at most 100"},
		{"gcra", weir.Per(1e9, time.Second).WithBurst(999), nil, weir.ErrInvalidBurst, "burst is 999, must be at least 1000"},
		{"gcra", weir.Per(1<<60, 7), nil, weir.ErrLimitTooLarge, "permits makes 1152921504606846976 ticks or units a tick, must be at most 18446744073709550"},
		{"gcra", weir.Per(1, time.Second), redislimit.WithTimeout(0), nil, "the timeout is 0s, must be above 0"},
		{"gcra", weir.Per(1, time.Second), redislimit.WithClock(nil), nil, "the clock is nil"},
		{"gcra", weir.Per(1, time.Second), redislimit.WithLogger(nil), nil, "the logger is nil"},
		{"gcra", weir.Per(1, time.Second), redislimit.WithPrefix(strings.Repeat("x", 201)), nil, "the prefix has 201 bytes, must have at most 200"},
		{"gcra", weir.Per(1, time.Second), redislimit.FailLocal(0), nil, "the share is 0, must be at least 1"},
		{"gcra", weir.Per(1, time.Second), redislimit.WithDenialCache(0), nil, "keys is 0, must be at least 1"},
		{"gcra", weir.Per(1, time.Second), redislimit.WithLease(1), nil, "permits is 1, must be from 2 to"},
		{"leakybucket", weir.Per(9, time.Second), redislimit.WithLease(2), weir.ErrNoLease, "the policy is leakybucket, must be"},
		{"slidinglog", weir.Per(9, time.Second), redislimit.WithLease(2), weir.ErrNoLease, "the policy is slidinglog, must be"},
		{"dualbucket", weir.Per(9, time.Second), redislimit.WithLease(2), weir.ErrNoLease, "the policy is dualbucket, must be"},
	} {
		var o []redislimit.Option
		if row.o != nil {
			o = append(o, row.o)
		}
		_, err := redislimit.New(broken{}, row.name, row.limit, o...)
		if assert.Error(t, err, row.want) {
			assert.Contains(t, err.Error(), row.want)
			assert.NotContains(t, err.Error(), "\n")
			assert.True(t, row.is == nil || errors.Is(err, row.is), err)
		}
	}
	for _, fits := range []weir.Limit{weir.Per(1, 100*year), weir.Per(1, year).WithBurst(100), weir.Per(1e9, time.Second).WithBurst(1000),
		weir.Per(999_999_937, time.Second), weir.Per(1, 1).WithBurst(1000), weir.Per(3, 7).WithBurst(math.MaxUint32)} {
		_, err := redislimit.New(broken{}, "gcra", fits)
		assert.NoError(t, err, "%s", fits)
	}
	_, err := redislimit.New(nil, "gcra", weir.Per(1, 1))
	assert.Error(t, err)
	_, err = redislimit.New(broken{}, "gcra", weir.Per(1, time.Second), nil)
	assert.Error(t, err)
	_, err = redislimit.New(broken{}, "gcra", weir.Per(1, time.Second), redislimit.FailOpen(), redislimit.FailLocal(2))
	assert.Error(t, err)
}
