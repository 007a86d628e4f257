package redislimit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/internal/oracle"
	"weir/internal/resp"
	"weir/policy"
	"weir/redislimit"
)

// TestSetLimit: what a key has spent is carried over, in permits, whoever changes the limit: one process or the next.
func TestSetLimit(t *testing.T) {
	_, conn := dial(t)
	for _, row := range []struct {
		why, name, from, to string
		spend, left         uint64
	}{
		{"more of everything", "gcra", "10/d", "100/d burst 100", 7, 93},
		{"less: what is owed beyond the burst is let go", "gcra", "10/d", "5/d", 7, 0},
		{"a smaller burst that holds it", "tokenbucket", "10/d", "10/d burst 8", 7, 1},
		{"another period", "leakybucket", "10/d", "10/7d", 7, 3},
		{"a period that no microsecond divides", "gcra", "10/d", "10/1001ns burst 10000000", 7, 9999993},
		{"a log counts on", "slidinglog", "10/d", "8/7d", 7, 1},
		{"a log under fewer permits than it holds", "slidinglog", "10/d", "5/d", 7, 0},
		{"both limits, the smaller is left", "dualbucket", "10/d & 20/d", "30/d & 11/d", 7, 4},
	} {
		for _, another := range []bool{false, true} {
			prefix := redislimit.WithPrefix(fmt.Sprint(row.why, another))
			c := redislimit.WithClock(&clock{}) // the spent permits do not come back meanwhile
			l := limiter(t, conn, row.name, parse(t, row.from), c, prefix)
			require.True(t, l.AllowN(ctx, "k", weir.N(row.spend)).OK())
			if another {
				l = limiter(t, conn, row.name, parse(t, row.to), c, prefix)
			} else {
				require.NoError(t, l.SetLimit(ctx, parse(t, row.to)))
			}
			assert.Equal(t, row.left, l.Peek(ctx, "k", weir.N(0)).Remaining(), row.why)
			assert.Equal(t, row.left > 0, l.Allow(ctx, "k").OK(), row.why)
			if row.name != "slidinglog" {
				assert.Equal(t, uint64(1), l.Counts().Carried, "%s: once, though nothing was allowed", row.why)
			}
		}
	}
}

// TestSetLimitServerTime: a key carried to a slower limit stays as long as that has it, and a denied request is enough.
func TestSetLimitServerTime(t *testing.T) {
	server, conn := dial(t)
	for _, name := range weir.Names() {
		text := map[string][2]string{"dualbucket": {"5/h & 9/h", "5/7d & 9/7d"}}[name]
		if text[0] == "" {
			text = [2]string{"5/h", "5/7d"}
		}
		l := limiter(t, conn, name, parse(t, text[0]))
		require.True(t, l.AllowN(ctx, "k", weir.N(5)).OK(), name)
		require.NoError(t, l.SetLimit(ctx, parse(t, text[1])))
		assert.Equal(t, policy.Deny, l.Allow(ctx, "k").Outcome(), name)
		left, err := time.ParseDuration(server.Do("PTTL", "weir:"+name+"::{k}") + "ms")
		require.NoError(t, err)
		assert.Greater(t, left, 24*time.Hour, name)
	}
}

// TestSetLimitUnchanged: the limit that is in force already keeps what is leased and cached.
func TestSetLimitUnchanged(t *testing.T) {
	_, conn := dial(t)
	store := &counting{Store: conn}
	l := limiter(t, store, "gcra", parse(t, "9/d"), redislimit.WithLease(8), redislimit.WithDenialCache(1))
	require.True(t, l.Allow(ctx, "k").OK())
	require.False(t, l.AllowN(ctx, "k", weir.N(9)).OK())
	asked := store.calls.Load()
	require.NoError(t, l.SetLimit(ctx, parse(t, "9/d")))
	assert.True(t, l.Allow(ctx, "k").OK())
	assert.False(t, l.AllowN(ctx, "k", weir.N(9)).OK())
	assert.Equal(t, asked, store.calls.Load(), "nobody asked the server")
	require.NoError(t, l.SetLimit(ctx, parse(t, "10/d")))
	assert.False(t, l.AllowN(ctx, "k", weir.N(9)).OK())
	assert.NotEqual(t, asked, store.calls.Load(), "or this test sees nothing")
}

// TestOldLimitRacesNew: two processes with different limits ask for one key in turn: no turn gives a fresh burst.
func TestOldLimitRacesNew(t *testing.T) {
	_, conn := dial(t)
	for _, name := range []string{"gcra", "tokenbucket", "leakybucket", "slidinglog"} {
		old, fresh := limiter(t, conn, name, parse(t, "10/d")), limiter(t, conn, name, parse(t, "20/d"))
		admitted := 0
		for range 50 {
			for _, l := range []*redislimit.Limiter{old, fresh} {
				if l.Allow(ctx, "k").OK() {
					admitted++
				}
			}
		}
		assert.LessOrEqual(t, admitted, 20, name)
	}
}

// TestTogether: all are charged or none, the one that binds is named, and what cannot be asked is refused before.
func TestTogether(t *testing.T) {
	server, conn := dial(t)
	second := limiter(t, conn, "gcra", parse(t, "10/s"), redislimit.WithPrefix("s"))
	day := limiter(t, conn, "slidinglog", parse(t, "5/d"), redislimit.WithPrefix("d"))
	tenant := limiter(t, conn, "tokenbucket", parse(t, "7/d"), redislimit.WithPrefix("t"))
	tokens := limiter(t, conn, "dualbucket", parse(t, "9/d & 100/d"), redislimit.WithPrefix("both"))
	water := limiter(t, conn, "leakybucket", parse(t, "8/d"), redislimit.WithPrefix("w"))
	asks := []redislimit.Ask{{second, "{acme}/u", weir.N(1)}, {day, "{acme}/u", weir.N(2)}, {tenant, "{acme}", weir.N(1)},
		{tokens, "{acme}", weir.Both(1, 40)}, {water, "{acme}", weir.N(1)}}
	for i := range 2 {
		v, err := redislimit.Together(ctx, asks...)
		require.NoError(t, err)
		require.True(t, v.OK(), "%v", v)
		assert.Equal(t, uint64(3-2*i), v.Remaining())
		assert.Equal(t, 1, v.Binds, "the log has fewest left")
	}
	before := changes(t, server.Do("INFO", "persistence"))
	v, err := redislimit.Together(ctx, asks...)
	require.NoError(t, err)
	assert.Equal(t, policy.Deny, v.Outcome())
	assert.Equal(t, 1, v.Binds, "the log of 5 a day lets the oldest go in a day; the tokens come back sooner")
	assert.Equal(t, v.Each[1].RetryAfter(), v.RetryAfter())
	assert.Equal(t, []bool{true, false, true, false, true},
		[]bool{v.Each[0].OK(), v.Each[1].OK(), v.Each[2].OK(), v.Each[3].OK(), v.Each[4].OK()})
	assert.Equal(t, before, changes(t, server.Do("INFO", "persistence")), "none was charged")
	assert.Equal(t, uint64(5), tenant.Peek(ctx, "{acme}", weir.N(0)).Remaining())

	asks[1].Cost = weir.N(6)
	v, err = redislimit.Together(ctx, asks...)
	require.NoError(t, err)
	assert.Equal(t, policy.TooCostly, v.Outcome())
	assert.Equal(t, before, changes(t, server.Do("INFO", "persistence")))

	asks[1].Cost = weir.N(1)
	asks[3].Cost = weir.Both(1, 0)
	v, err = redislimit.Together(ctx, asks...)
	require.NoError(t, err)
	assert.True(t, v.OK(), "%v", v)
	assert.Equal(t, uint64(6), tokens.Peek(ctx, "{acme}", weir.N(0)).Remaining(), "of 6 calls and 20 tokens")
}

// TestTogetherErrors: one line, before anything is asked.
func TestTogetherErrors(t *testing.T) {
	_, conn := dial(t)
	other := redislimit.Store(broken{})
	a, b := limiter(t, conn, "gcra", parse(t, "1/s")), limiter(t, conn, "slidinglog", parse(t, "1/s"))
	foreign, told := limiter(t, other, "gcra", parse(t, "1/s")), limiter(t, conn, "gcra", parse(t, "1/s"), redislimit.WithClock(&clock{}))
	for _, row := range []struct {
		want string
		asks []redislimit.Ask
	}{
		{"there are 0 asks, must be from 1 to 64", nil},
		{"there are 65 asks, must be from 1 to 64", make([]redislimit.Ask, 65)},
		{"the limiter of ask 0 is nil", make([]redislimit.Ask, 1)},
		{"the limiter of ask 1 has another store or clock than that of ask 0", []redislimit.Ask{{Limiter: a, Key: "k"}, {Limiter: foreign, Key: "k"}}},
		{"the limiter of ask 1 has another store or clock than that of ask 0", []redislimit.Ask{{Limiter: a, Key: "k"}, {Limiter: told, Key: "k"}}},
		{"the key of ask 1 is there twice: weir:gcra::{k}", []redislimit.Ask{{Limiter: a, Key: "k"}, {Limiter: a, Key: "k"}}},
		{"hash_tags: ask 0 has {k}, ask 1 has {l}, must be the same", []redislimit.Ask{{Limiter: a, Key: "k"}, {Limiter: b, Key: "l"}}},
	} {
		_, err := redislimit.Together(ctx, row.asks...)
		assert.EqualError(t, err, "redislimit.Together: "+row.want)
		assert.Equal(t, strings.HasPrefix(row.want, "hash_tags"), errors.Is(err, redislimit.ErrHashTags))
	}
}

// TestTogetherIsOne: a single limit asked through the script for several answers as the one for it alone, which the
// vectors hold: a thousand steps of each against the exact model.
func TestTogetherIsOne(t *testing.T) {
	_, conn := dial(t)
	for name, l := range map[string]policy.Limit{"gcra": {Permits: 3, Period: 10, Burst: 4}, "tokenbucket": {Permits: 7, Period: 3, Burst: 9},
		"leakybucket": {Permits: 5, Period: 7, Burst: 3}, "slidinglog": {Permits: 4, Period: 9},
		"dualbucket": {Permits: 3, Period: 10, Burst: 4, Permits2: 1, Period2: 5, Burst2: 6}} {
		model, err := oracle.New(name, l, false, 0)
		require.NoError(t, err)
		c := &clock{}
		one := limiter(t, conn, name, weir.Limit{Permits: l.Permits, Period: time.Duration(l.Period) * time.Microsecond, Burst: l.Burst,
			Permits2: l.Permits2, Period2: time.Duration(l.Period2) * time.Microsecond, Burst2: l.Burst2}, redislimit.WithClock(c))
		for i := range uint64(1000) {
			c.move(time.Duration(i*i%7) * time.Microsecond)
			first, second := i*i%5, i*i*i%7
			now := uint64(c.Now() / time.Microsecond)
			want := model.Take(now, 0, first, second)
			v, err := redislimit.Together(ctx, redislimit.Ask{Limiter: one, Key: "k", Cost: weir.Both(first, second)})
			require.NoError(t, err)
			got := v.Each[0]
			require.Equal(t, []any{want.Outcome, want.Remaining, time.Duration(want.ResetAfter) * time.Microsecond, want.Binding},
				[]any{got.Outcome(), got.Remaining(), got.ResetAfter(), got.Binding()}, "%s step %d", name, i)
			if want.Outcome == policy.Deny {
				require.Equal(t, time.Duration(want.RetryAfter)*time.Microsecond, got.RetryAfter(), "%s step %d", name, i)
			}
		}
	}
}

// broken is a store that cannot be asked.
type broken struct{}

func (broken) Run(_ context.Context, calls []redislimit.Call) []redislimit.Reply {
	replies := make([]redislimit.Reply, len(calls))
	for i := range replies {
		replies[i].Err = errors.New("no route")
	}
	return replies
}

// TestBatch: in order, in one round trip.
func TestBatch(t *testing.T) {
	_, conn := dial(t)
	for name := range limits {
		l := limiter(t, conn, name, parse(t, limits[name]))
		var requests []redislimit.Request
		for range 7 {
			requests = append(requests, redislimit.Request{Key: "k", Cost: weir.N(1)}, redislimit.Request{Key: "l", Cost: weir.N(6)})
		}
		for i, r := range l.AllowBatch(ctx, requests) {
			want := policy.TooCostly
			if i%2 == 0 {
				want = policy.Allow
				if i >= 10 {
					want = policy.Deny
				}
			}
			assert.Equal(t, want, r.Outcome(), "%s %d", name, i)
		}
	}
}

// TestMany: 64 goroutines on one key, and 10,000 keys: never one more than the limit, to the permit.
func TestMany(t *testing.T) {
	server, _ := dial(t)
	for name := range limits {
		var all sync.WaitGroup
		var mu sync.Mutex
		admitted := 0
		for range 64 {
			all.Go(func() {
				conn, err := resp.Dial(ctx, server.Addr)
				if !assert.NoError(t, err) {
					return
				}
				defer conn.Close()
				l := limiter(t, conn, name, parse(t, limits[name]))
				for range 10 {
					if l.Allow(ctx, "hot").OK() {
						mu.Lock()
						admitted++
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		assert.Equal(t, 5, admitted, name)
	}
	conn, err := resp.Dial(ctx, server.Addr)
	require.NoError(t, err)
	defer conn.Close()
	l := limiter(t, conn, "gcra", parse(t, "1/d"), redislimit.WithPrefix("many"))
	for range 2 {
		var requests []redislimit.Request
		for i := range 10_000 {
			requests = append(requests, redislimit.Request{Key: fmt.Sprint(i), Cost: weir.N(1)})
		}
		l.AllowBatch(ctx, requests)
	}
	assert.Equal(t, uint64(10_000), l.Counts().Allowed)
	assert.Equal(t, uint64(10_000), l.Counts().Denied)
}

// TestLimitThereAndBack: one process that lowers a limit and raises it again lets go what was owed beyond the lower burst,
// as every limiter does.
func TestLimitThereAndBack(t *testing.T) {
	_, conn := dial(t)
	l := limiter(t, conn, "gcra", parse(t, "10/d"))
	require.True(t, l.AllowN(ctx, "k", weir.N(9)).OK())
	require.NoError(t, l.SetLimit(ctx, parse(t, "5/d")))
	assert.Zero(t, l.Peek(ctx, "k", weir.N(0)).Remaining())
	require.NoError(t, l.SetLimit(ctx, parse(t, "10/d")))
	assert.Equal(t, uint64(5), l.Peek(ctx, "k", weir.N(0)).Remaining(), "of a debt of 9, 5 were kept")
}
