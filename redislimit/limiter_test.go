package redislimit_test

import (
	"context"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/policy"
	"weir/redislimit"
)

// clock is a clock that stands still until it is moved, or slept on.
type clock struct {
	mu  sync.Mutex
	now time.Duration
}

func (c *clock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.move(d)
	return ctx.Err()
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
}

func limiter(t testing.TB, s redislimit.Store, name string, l weir.Limit, o ...redislimit.Option) *redislimit.Limiter {
	t.Helper()
	made, err := redislimit.New(s, name, l, append([]redislimit.Option{redislimit.WithTimeout(10 * time.Second)}, o...)...)
	require.NoError(t, err)
	return made
}

func parse(t testing.TB, text string) weir.Limit {
	t.Helper()
	l, err := weir.ParseLimit(text)
	require.NoError(t, err)
	return l
}

// limits has a limit for each policy, of 5 permits that do not come back while a test runs.
var limits = map[string]string{
	"gcra": "5/d", "tokenbucket": "5/d", "leakybucket": "5/d", "slidinglog": "5/d", "dualbucket": "9/d & 5/d",
}

var ctx = context.Background()

// TestSwap: the limiter of this process and that of a server, on one clock, decide alike. Waits are rounded up to whole
// nanoseconds by the one and to whole microseconds by the other.
func TestSwap(t *testing.T) {
	_, conn := dial(t)
	for name, text := range map[string]string{"gcra": "20/s burst 7", "tokenbucket": "997/m burst 7", "leakybucket": "3/s",
		"slidinglog": "7/s", "dualbucket": "10/s burst 3 & 100/m burst 8"} {
		c := &clock{}
		local, err := weir.New(name, parse(t, text), weir.WithClock(c))
		require.NoError(t, err)
		remote := limiter(t, conn, name, parse(t, text), redislimit.WithClock(c), redislimit.WithPrefix(t.Name()))
		draw := rand.New(rand.NewPCG(1, 2))
		denied := 0
		for range 2000 {
			var a, b weir.Limiter = local, remote
			cost := weir.Both(draw.Uint64N(4), draw.Uint64N(4))
			want, got := a.AllowN(ctx, "k", cost), b.AllowN(ctx, "k", cost)
			require.Equal(t, want.Outcome(), got.Outcome(), name)
			require.Equal(t, want.Remaining(), got.Remaining(), name)
			require.Equal(t, want.Binding(), got.Binding(), name)
			for _, wait := range [][2]time.Duration{{want.RetryAfter(), got.RetryAfter()}, {want.ResetAfter(), got.ResetAfter()},
				{want.Delay(), got.Delay()}, {want.Next(), got.Next()}} {
				if wait[0] != weir.Never {
					wait[0] = (wait[0] + time.Microsecond - 1).Truncate(time.Microsecond)
				}
				require.Equal(t, wait[0], wait[1], name)
			}
			if !got.OK() {
				denied++
			}
			c.move(time.Duration(draw.Uint64N(60_000)) * time.Microsecond)
		}
		assert.Greater(t, denied, 100, name)
	}
}

// TestServerTime: each policy on the server's own clock spends its burst, denies with what is left, and gives back.
func TestServerTime(t *testing.T) {
	_, conn := dial(t)
	for name, text := range limits {
		l := limiter(t, conn, name, parse(t, text))
		for left := uint64(5); left > 0; left-- {
			assert.Equal(t, left, l.Peek(ctx, "k", weir.N(1)).Remaining(), name)
			r := l.Allow(ctx, "k")
			assert.True(t, r.OK(), "%s: %s", name, r)
			assert.Equal(t, left-1, r.Remaining(), name)
		}
		r := l.Allow(ctx, "k")
		assert.Equal(t, policy.Deny, r.Outcome(), name)
		assert.ErrorIs(t, r.Err(), weir.ErrDenied)
		assert.Positive(t, r.RetryAfter(), name)
		assert.LessOrEqual(t, r.RetryAfter(), 24*time.Hour, name)
		assert.Equal(t, policy.TooCostly, l.AllowN(ctx, "k", weir.N(6)).Outcome(), name)
		assert.True(t, l.AllowN(ctx, "k", weir.N(0)).OK(), name)
		assert.True(t, l.Allow(ctx, "other").OK(), name)
		require.NoError(t, l.Refund(ctx, "k", weir.N(2)), name)
		assert.Equal(t, uint64(2), l.Peek(ctx, "k", weir.N(0)).Remaining(), name)
		require.NoError(t, l.Refund(ctx, "nobody", weir.N(2)), name)
		assert.Equal(t, uint64(5), l.Peek(ctx, "nobody", weir.N(0)).Remaining(), name)
		require.NoError(t, l.Forget(ctx, "k"), name)
		assert.Equal(t, uint64(5), l.Peek(ctx, "k", weir.N(0)).Remaining(), name)
	}
}

// changes is how many changes the server has counted.
func changes(t testing.TB, info string) string {
	t.Helper()
	_, rest, found := strings.Cut(info, "rdb_changes_since_last_save:")
	require.True(t, found)
	count, _, _ := strings.Cut(rest, "\r\n")
	return count
}

// TestDeniedWritesNothing: what is denied, peeked at, too costly or free leaves no trace and changes nothing.
func TestDeniedWritesNothing(t *testing.T) {
	server, conn := dial(t)
	for name, text := range limits {
		l := limiter(t, conn, name, parse(t, text))
		require.True(t, l.AllowN(ctx, "k", weir.N(5)).OK(), name)
		before := changes(t, server.Do("INFO", "persistence"))
		for _, key := range []string{"k", "new"} {
			l.AllowN(ctx, key, weir.N(6))
			l.AllowN(ctx, key, weir.N(0))
			l.Peek(ctx, key, weir.N(1))
		}
		require.False(t, l.Allow(ctx, "k").OK(), name)
		assert.Equal(t, before, changes(t, server.Do("INFO", "persistence")), name)
		require.True(t, l.Allow(ctx, "new").OK())
		assert.NotEqual(t, before, changes(t, server.Do("INFO", "persistence")), "or this test sees nothing")
	}
}

// TestExpiry: a key goes within three milliseconds after it is as good as new; with a clock that is
// passed in it stays.
func TestExpiry(t *testing.T) {
	server, conn := dial(t)
	for name, text := range limits {
		l := limiter(t, conn, name, parse(t, text))
		r := l.AllowN(ctx, "k", weir.N(2))
		require.True(t, r.OK())
		key := "weir:" + name + "::{k}"
		left, err := time.ParseDuration(server.Do("PTTL", key) + "ms")
		require.NoError(t, err)
		assert.LessOrEqual(t, left, r.ResetAfter()+3*time.Millisecond, name)
		assert.Greater(t, left, r.ResetAfter()-time.Minute, "%s: unless this machine stood still for a minute", name)
		require.NoError(t, l.Refund(ctx, "k", weir.N(1)))
		if name != "slidinglog" { // of which a permit stays for the whole period
			less, err := time.ParseDuration(server.Do("PTTL", key) + "ms")
			require.NoError(t, err)
			assert.Less(t, less, left-time.Hour, name)
		}
		told := limiter(t, conn, name, parse(t, text), redislimit.WithClock(&clock{}), redislimit.WithPrefix("told"))
		require.True(t, told.Allow(ctx, "k").OK())
		assert.Equal(t, "-1", server.Do("PTTL", "weir:"+name+":told:{k}"), name)
	}
}

// TestClockSteppedBack: a key that the server's clock finds far ahead of it is read as one that has spent its burst just
// now, and is put right by the first take, denied as it is.
func TestClockSteppedBack(t *testing.T) {
	server, conn := dial(t)
	const ahead = 2_500_000_000_000_000 // the year 2049
	day := uint64(24 * time.Hour / time.Microsecond)
	for name, text := range map[string]string{
		"gcra":        text("1/17280000000/5", ahead, 0),
		"tokenbucket": text("1/17280000000/5", 0, 0, ahead),
		"leakybucket": text("1/17280000000/5", 86400000000, 0, ahead),
		"dualbucket":  text("1/9600000000/9&1/17280000000/5", ahead, 0, ahead, 0),
		"slidinglog":  "",
	} {
		key := "weir:" + name + "::{k}"
		if name == "slidinglog" {
			server.Do("ZADD", key, "2500000000000000", "0 3 86400000000")
			server.Do("ZADD", key, "2500000000000001", "3 5 86400000000")
		} else {
			server.Do("SET", key, text)
		}
		l := limiter(t, conn, name, parse(t, limits[name]))
		for range 2 {
			r := l.Allow(ctx, "k")
			assert.Equal(t, policy.Deny, r.Outcome(), name)
			assert.LessOrEqual(t, r.ResetAfter(), time.Duration(day)*time.Microsecond, name)
			assert.Greater(t, r.ResetAfter(), 23*time.Hour, name)
			assert.LessOrEqual(t, r.RetryAfter(), 24*time.Hour, name)
		}
		left, err := strconv.Atoi(server.Do("PTTL", key))
		require.NoError(t, err)
		assert.Positive(t, left, "%s: it is written again, with an expiry, and not gone", name)
	}
}

// text is what a key of a bucket holds.
func text(limit string, numbers ...uint64) string {
	var b []byte
	for _, n := range numbers {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(float64(n)))
	}
	return string(b) + limit + "\x00"
}

// TestNotOurs: a key that holds something else is an error of that key, and is left as it is.
func TestNotOurs(t *testing.T) {
	server, conn := dial(t)
	for name := range limits {
		l := limiter(t, conn, name, parse(t, limits[name]))
		for _, text := range []string{"", "x", strings.Repeat("x", 40), "1/17280000000/5", text("0/0/0", 1, 0, 0, 0), text("1/2/3", 0, 5),
			text("1/2/3&4/5/6&7/8/9", 1, 0, 0, 0), text("x", 1, 2), text("1/2", 1, 2, 3, 4), text("1/1/9999999999999999999", 0, 0, 0),
			strings.Repeat("x", 16+16), strings.Repeat("x", 24+16), strings.Repeat("x", 32+31)} {
			key := "weir:" + name + "::{k}"
			server.Do("SET", key, text)
			r := l.Allow(ctx, "k")
			assert.Equal(t, policy.Unavailable, r.Outcome(), "%s %q", name, text)
			err := l.Refund(ctx, "k", weir.N(1))
			assert.ErrorIs(t, err, weir.ErrUnavailable)
			assert.NotContains(t, err.Error(), "\n")
			assert.Equal(t, text, server.Do("GET", key))
		}
	}
}
