package redislimit_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/internal/resp"
	"weir/policy"
	"weir/redislimit"
)

// TestCallerGone: a caller whose ctx has ended gets no permit of a fail mode, and spends none of this process's part.
func TestCallerGone(t *testing.T) {
	_, conn := dial(t)
	gone, cancel := context.WithCancel(ctx)
	cancel()
	for _, o := range []redislimit.Option{redislimit.FailOpen(), redislimit.FailLocal(1)} {
		l := limiter(t, redislimit.Pipelined(conn, false), "gcra", parse(t, "5/d"), o)
		assert.Equal(t, policy.Unavailable, l.Allow(gone, "gone").Outcome())
		assert.ErrorIs(t, l.Refund(gone, "gone", weir.N(1)), weir.ErrUnavailable)
		v, err := redislimit.Together(gone, redislimit.Ask{Limiter: l, Key: "gone", Cost: weir.N(1)})
		require.NoError(t, err)
		assert.Equal(t, []any{policy.Unavailable, -1}, []any{v.Outcome(), v.Binds})
	}
}

// TestCallerGoneAtItsDeadline: a caller whose deadline has passed is gone, whichever timer says so first.
func TestCallerGoneAtItsDeadline(t *testing.T) {
	for _, prompt := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := redislimit.Pipelined(&distant{}, prompt)
			open := limiter(t, s, "gcra", parse(t, "5/d"), redislimit.FailOpen())
			closed := limiter(t, s, "gcra", parse(t, "5/d"))
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					defer cancel()
					assert.Equal(t, policy.Unavailable, open.Allow(soon, "k").Outcome())
				})
				all.Go(func() {
					soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					defer cancel()
					v, err := redislimit.Together(soon, redislimit.Ask{Limiter: open, Key: "k", Cost: weir.N(1)})
					assert.NoError(t, err)
					assert.Equal(t, policy.Unavailable, v.Outcome())
				})
				all.Go(func() {
					soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					defer cancel()
					assert.Equal(t, context.DeadlineExceeded, closed.Wait(soon, "k", weir.N(1)))
				})
			}
			all.Wait()
		})
	}
}

// TestShareIsSpent: what the server allows at once may be more than the part of this process: then all of that is spent.
func TestShareIsSpent(t *testing.T) {
	for _, name := range []string{"gcra", "slidinglog"} {
		server, _ := dial(t)
		conn, err := resp.Dial(ctx, server.Addr)
		require.NoError(t, err)
		defer conn.Close()
		l := limiter(t, conn, name, parse(t, "20/d"), redislimit.FailLocal(2))
		require.True(t, l.AllowN(ctx, "k", weir.N(11)).OK())
		server.Kill()
		assert.Equal(t, policy.Deny, l.Allow(ctx, "k").Outcome(), name)
	}
}

// during does something right before the calls that change a key reach the server.
type during struct {
	redislimit.Store
	once func()
}

func (d *during) Run(ctx context.Context, calls []redislimit.Call) []redislimit.Reply {
	if once := d.once; once != nil {
		d.once = nil
		once()
	}
	return d.Store.Run(ctx, calls)
}

// TestDenialWhileGivenBack: a denial that comes while a refund or a Forget is under way is not remembered beyond it.
func TestDenialWhileGivenBack(t *testing.T) {
	_, conn := dial(t)
	s := &during{Store: conn}
	l := limiter(t, s, "gcra", parse(t, "5/d"), redislimit.WithDenialCache(10))
	for _, give := range []func() error{func() error { return l.Refund(ctx, "k", weir.N(5)) }, func() error { return l.Forget(ctx, "k") }} {
		require.True(t, l.AllowN(ctx, "k", weir.N(5)).OK())
		s.once = func() { require.False(t, l.AllowN(ctx, "k", weir.N(5)).OK()) }
		require.NoError(t, give())
	}
	assert.True(t, l.AllowN(ctx, "k", weir.N(5)).OK())
}

// TestIdleInAnotherLimit: a key that is as new in one limit, and gone, still owes in the other; one that is forgotten owes
// nothing in any.
func TestIdleInAnotherLimit(t *testing.T) {
	server, conn := dial(t)
	for name, texts := range map[string][2]string{"gcra": {"10/d", "1000/s burst 1"}, "tokenbucket": {"10/d", "1000/s burst 1"},
		"leakybucket": {"10/d", "1000/s burst 1"}, "dualbucket": {"10/d & 20/d", "1000/s burst 1 & 1000/s burst 1"}} {
		a, b := limiter(t, conn, name, parse(t, texts[0])), limiter(t, conn, name, parse(t, texts[1]))
		require.True(t, a.AllowN(ctx, "k", weir.N(10)).OK(), name)
		assert.Equal(t, policy.Allow, b.Peek(ctx, "k", weir.N(0)).Outcome(), name)
		server.Do("DEL", "weir:"+name+"::{k}") // as it expires
		assert.Equal(t, policy.Deny, a.Allow(ctx, "k").Outcome(), name)
		v, err := redislimit.Together(ctx, redislimit.Ask{Limiter: a, Key: "k", Cost: weir.N(1)})
		require.NoError(t, err)
		assert.Equal(t, policy.Deny, v.Outcome(), name)
		require.True(t, b.Allow(ctx, "new").OK())
		require.NoError(t, a.Forget(ctx, "k"))
		assert.True(t, a.AllowN(ctx, "k", weir.N(10)).OK(), name)
	}
}

// TestNoContext: a nil ctx is one that never ends, as it is to weir.Local, in every method.
func TestNoContext(t *testing.T) {
	_, conn := dial(t)
	var none context.Context
	for _, o := range []redislimit.Option{redislimit.WithPrefix("plain"), redislimit.WithDenialCache(1), redislimit.WithLease(2), redislimit.FailLocal(1)} {
		for _, s := range []redislimit.Store{conn, redislimit.Pipelined(conn, true), redislimit.Pipelined(conn, false)} {
			l := limiter(t, s, "gcra", parse(t, "9/d"), o)
			require.NoError(t, l.Forget(none, "k"))
			assert.True(t, l.Allow(none, "k").OK())
			assert.True(t, l.AllowN(none, "k", weir.N(1)).OK())
			assert.True(t, l.Peek(none, "k", weir.N(1)).OK())
			require.NoError(t, l.Refund(none, "k", weir.N(1)))
			require.NoError(t, l.Wait(none, "k", weir.N(1)))
			require.NoError(t, l.SetLimit(none, parse(t, "8/d")))
			require.NoError(t, l.GiveBack(none))
			assert.True(t, l.AllowBatch(none, []redislimit.Request{{Key: "k", Cost: weir.N(1)}})[0].OK())
			v, err := redislimit.Together(none, redislimit.Ask{Limiter: l, Key: "k", Cost: weir.N(1)})
			require.NoError(t, err)
			assert.True(t, v.OK())
		}
	}
}

// TestNoStore: what has no server ends in one line.
func TestNoStore(t *testing.T) {
	for _, s := range []redislimit.Store{nil, redislimit.Pipelined(nil, false)} {
		_, err := redislimit.New(s, "gcra", parse(t, "1/s"))
		assert.EqualError(t, err, "redislimit.New: the store is nil")
		_, err = redislimit.Registry(s).New("gcra", policy.Limit{Permits: 1, Period: 1, Burst: 1}, policy.Options{})
		assert.EqualError(t, err, "gcra: redislimit: the store is nil")
	}
}

// TestStrangeKeysInTheLog: keys of another type, or with something else in them, are Unavailable among others that are
// answered, are logged once a minute at most, and say nothing of the server.
func TestStrangeKeysInTheLog(t *testing.T) {
	server, conn := dial(t)
	for name := range limits {
		var log bytes.Buffer
		l := limiter(t, conn, name, parse(t, "1000/d"+map[string]string{"dualbucket": " & 1000/d"}[name]),
			redislimit.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		key := "weir:" + name + "::"
		server.Do("LPUSH", key+"{list}", "x")
		server.Do("SET", key+"{text}", "x")
		server.Do("ZADD", key+"{set}", "1", "x")
		for range 10 {
			for _, k := range []string{"list", "text", "set"} {
				assert.Equal(t, policy.Unavailable, l.Allow(ctx, k).Outcome(), "%s %s", name, k)
				assert.ErrorIs(t, l.Refund(ctx, k, weir.N(1)), weir.ErrUnavailable, "%s %s", name, k)
				assert.True(t, l.Allow(ctx, "k").OK(), name)
			}
		}
		assert.Equal(t, 1, strings.Count(log.String(), "\n"), "%s: %s", name, &log)
		assert.Contains(t, log.String(), "a key holds what is not of this package", name)
	}
}
