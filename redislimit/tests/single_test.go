package tests_test

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/internal/redistest"
	"weir/policy"
	"weir/redislimit"
	"weir/redislimit/goredis"
	"weir/redislimit/rueidis"
	"weir/vectors"
)

// vectorsPass puts the scripts through the suite by way of a store.
func vectorsPass(t *testing.T, s redislimit.Store) {
	t.Helper()
	suite, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	driver := vectors.NewRegistryDriver("weir redislimit", "lua", redislimit.Registry(s)).Without(vectors.CanMaxKeys, vectors.CanInt64)
	driver.Timeout = time.Minute
	report, err := vectors.Run(ctx, suite, driver, vectors.Options{})
	require.NoError(t, err)
	passed := 0
	for _, r := range report.Results {
		if r.Verdict == vectors.Pass {
			passed++
		}
		assert.Contains(t, []vectors.Verdict{vectors.Pass, vectors.Unsupported}, r.Verdict, "%s: %s", r.ID, r.Why)
	}
	assert.Greater(t, passed, 600)
}

func TestVectors(t *testing.T) {
	server := redistest.Start(t)
	each(t, []string{server.Addr}, vectorsPass)
}

// TestNoClient: without a client there is no store, which New says.
func TestNoClient(t *testing.T) {
	for _, s := range []redislimit.Store{goredis.Store(nil), goredis.Store((*goredisclient.Client)(nil)),
		goredis.Store((*goredisclient.ClusterClient)(nil)), rueidis.Store(nil)} {
		_, err := redislimit.New(s, "gcra", weir.Per(1, time.Second))
		assert.EqualError(t, err, "redislimit.New: the store is nil")
	}
}

// TestOneKey: 64 goroutines on one key, alone and in batches, under every policy: the limit to the permit.
func TestOneKey(t *testing.T) {
	server := redistest.Start(t)
	each(t, []string{server.Addr}, func(t *testing.T, s redislimit.Store) {
		for name, limit := range limits {
			l := limiter(t, s, name, limit)
			admitted := crowd(64, 20, func() bool { return l.Allow(ctx, "hot").OK() })
			assert.Equal(t, int64(5), admitted, name)
			assert.Equal(t, redislimit.Counts{Allowed: 5, Denied: 64*20 - 5}, l.Counts(), name)
		}
	})
}

// crowd has so many goroutines ask so often, and counts what was allowed.
func crowd(goroutines, times int, ask func() bool) int64 {
	var all sync.WaitGroup
	var admitted atomic.Int64
	for range goroutines {
		all.Go(func() {
			for range times {
				if ask() {
					admitted.Add(1)
				}
			}
		})
	}
	all.Wait()
	return admitted.Load()
}

// TestScriptFlush: a server that has forgotten its scripts is sent them again, and nothing is charged twice.
func TestScriptFlush(t *testing.T) {
	server := redistest.Start(t)
	each(t, []string{server.Addr}, func(t *testing.T, s redislimit.Store) {
		for name, limit := range limits {
			l := limiter(t, s, name, limit)
			for left := range uint64(5) {
				server.Do("SCRIPT", "FLUSH")
				r := l.Allow(ctx, "k")
				assert.Equal(t, []any{policy.Allow, 4 - left}, []any{r.Outcome(), r.Remaining()}, name)
			}
			server.Do("SCRIPT", "FLUSH")
			assert.Equal(t, policy.Deny, l.Allow(ctx, "k").Outcome(), name)
			server.Do("SCRIPT", "FLUSH")
			results := l.AllowBatch(ctx, []redislimit.Request{{Key: "b", Cost: weir.N(3)}, {Key: "b", Cost: weir.N(3)}, {Key: "b", Cost: weir.N(2)}})
			assert.Equal(t, []bool{true, false, true}, []bool{results[0].OK(), results[1].OK(), results[2].OK()}, name)
		}
	})
}

// TestKilled: a server that dies under load and comes back with nothing: the requests meanwhile are Unavailable, and each
// life admits the limit and no more.
func TestKilled(t *testing.T) {
	server := redistest.Start(t)
	each(t, []string{server.Addr}, func(t *testing.T, s redislimit.Store) {
		l := limiter(t, s, "gcra", "1000/d", redislimit.WithTimeout(time.Second))
		var killed sync.WaitGroup
		killed.Go(func() {
			require.Eventually(t, func() bool { return l.Counts().Allowed >= 100 }, patient, time.Millisecond)
			server.Kill()
		})
		admitted := crowd(16, 200, func() bool { return l.Allow(ctx, "k").OK() })
		killed.Wait()
		assert.Positive(t, l.Counts().Unavailable, "or it died too late for this test")
		assert.LessOrEqual(t, admitted, int64(1000))
		assert.Equal(t, policy.Unavailable, l.Allow(ctx, "k").Outcome())
		assert.ErrorIs(t, l.Refund(ctx, "k", weir.N(1)), weir.ErrUnavailable)
		assert.ErrorIs(t, l.Wait(ctx, "k", weir.N(1)), weir.ErrUnavailable)
		server.Restart()
		back(t, l)
		assert.Equal(t, int64(1000), crowd(16, 100, func() bool { return l.Allow(ctx, "k").OK() }))
	})
}

// TestFailModes: what each answers while the server is gone. The part of this process has no fresh burst: what the server
// allowed it before is spent there too.
func TestFailModes(t *testing.T) {
	server := redistest.Start(t)
	each(t, []string{server.Addr}, func(t *testing.T, s redislimit.Store) {
		impatient := redislimit.WithTimeout(time.Second)
		closed, open := limiter(t, s, "gcra", "10/d", impatient), limiter(t, s, "slidinglog", "10/d", impatient, redislimit.FailOpen(), redislimit.WithPrefix("open"))
		for name, limit := range map[string]string{"gcra": "10/d", "tokenbucket": "10/d", "leakybucket": "10/d", "slidinglog": "10/d",
			"dualbucket": "10/d & 20/d"} {
			part := limiter(t, s, name, limit, impatient, redislimit.FailLocal(2))
			require.True(t, part.AllowN(ctx, "k", weir.N(2)).OK(), name)
			require.True(t, closed.Allow(ctx, name).OK())
			server.Kill()
			assert.Equal(t, policy.Unavailable, closed.Allow(ctx, name).Outcome())
			assert.True(t, open.AllowN(ctx, name, weir.N(1000)).OK())
			assert.Equal(t, int64(3), crowd(1, 10, func() bool { return part.Allow(ctx, "k").OK() }), "%s: of the half of 10 that is its own", name)
			assert.Equal(t, uint64(10), part.Counts().Unavailable)
			v, err := redislimit.Together(ctx, redislimit.Ask{Limiter: part, Key: "new", Cost: weir.N(1)}, redislimit.Ask{Limiter: open, Key: "new", Cost: weir.N(1)})
			require.NoError(t, err)
			assert.True(t, v.OK(), name)
			v, err = redislimit.Together(ctx, redislimit.Ask{Limiter: open, Key: "new", Cost: weir.N(1)}, redislimit.Ask{Limiter: closed, Key: "new", Cost: weir.N(1)})
			require.NoError(t, err)
			assert.Equal(t, []any{policy.Unavailable, 1}, []any{v.Outcome(), v.Binds}, name)
			server.Restart()
			back(t, part)
			back(t, closed)
		}
	})
}

// TestSlow: a server that does not answer by the deadline is unavailable, and is asked again when it does.
func TestSlow(t *testing.T) {
	server := redistest.Start(t)
	proxy := listen(t, server.Addr)
	each(t, []string{proxy.addr}, func(t *testing.T, s redislimit.Store) {
		l, quick := limiter(t, s, "gcra", "5/d"), limiter(t, s, "gcra", "5/d", redislimit.WithTimeout(100*time.Millisecond))
		back(t, l)
		proxy.hold()
		assert.Zero(t, crowd(8, 2, func() bool { return quick.Allow(ctx, "k").OK() }))
		assert.Equal(t, redislimit.Counts{Unavailable: 16}, quick.Counts())
		proxy.release()
		back(t, l)
		admitted := crowd(16, 20, func() bool { return l.Allow(ctx, "k").OK() })
		assert.LessOrEqual(t, admitted, int64(5), "what was sent and given up may have been charged")
	})
}

// TestCut: a connection that is cut after the request was sent and before the answer came. The charge was made, once, and
// nobody makes it again.
func TestCut(t *testing.T) {
	server := redistest.Start(t)
	proxy := listen(t, server.Addr)
	each(t, []string{proxy.addr}, func(t *testing.T, s redislimit.Store) {
		for name, limit := range limits {
			l := limiter(t, s, name, limit)
			back(t, l)
			crowd(16, 20, func() bool { return l.Peek(ctx, "back", weir.N(0)).OK() }) // all connections that there will be are there
			require.True(t, l.Allow(ctx, "k").OK(), name)
			proxy.cut.Store(true)
			assert.Equal(t, policy.Unavailable, l.Allow(ctx, "k").Outcome(), name)
			proxy.cut.Store(false)
			back(t, l)
			assert.Equal(t, uint64(3), l.Peek(ctx, "k", weir.N(0)).Remaining(), "%s: two of five were charged", name)
		}
	})
}

// proxy passes bytes on to a server, and while cut is set drops the connection instead of passing an answer on. While it
// is held it passes nothing on.
type proxy struct {
	addr string
	cut  atomic.Bool
	gate sync.RWMutex
	held bool // under the lock of whoever holds and releases: one goroutine
}

func (p *proxy) hold() {
	p.gate.Lock()
	p.held = true
}

func (p *proxy) release() {
	if p.held {
		p.held = false
		p.gate.Unlock()
	}
}

func listen(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{addr: l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				client.Close()
				continue
			}
			all.Go(func() { p.pass(client, server, false) })
			all.Go(func() { p.pass(server, client, true) })
		}
	})
	t.Cleanup(func() {
		p.release()
		l.Close()
		all.Wait()
	})
	return p
}

// wait waits while the proxy is held.
func (p *proxy) wait() {
	p.gate.RLock()
	defer p.gate.RUnlock()
}

// pass copies one way until either end is closed, and closes both.
func (p *proxy) pass(from, to net.Conn, answers bool) {
	defer from.Close()
	defer to.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		p.wait()
		if n > 0 && answers && p.cut.Load() {
			return
		}
		if n > 0 {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
