package config_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/config"
	"weir/httplimit"
)

var ctx = context.Background()

// logBuffer is a log that one goroutine writes and another reads.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func (b *logBuffer) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Reset()
}

// opened is a file's limits, the path of the file and the log.
func opened(t testing.TB, text string, o ...config.Option) (*config.Limits, string, *logBuffer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "limits.yaml")
	write(t, path, text)
	log := new(logBuffer)
	l, err := config.Open(path, append(o, config.WithLogger(slog.New(slog.NewTextHandler(log, nil))))...)
	require.NoError(t, err)
	return l, path, log
}

func write(t testing.TB, path, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
}

func left(l weir.Limiter) uint64 { return l.Peek(ctx, "k", weir.N(0)).Remaining() }

// A raised limit acts at once and hands out no fresh burst; so does a plan's; what is not changed stays as it is.
func TestReload(t *testing.T) {
	l, path, log := opened(t, "limits:\n  a: {limit: 5/1h, plans: {pro: 10/1h}}\n  b: {limit: 3/1h}\n")
	a, pro, b := l.Limiter("a", ""), l.Limiter("a", "pro"), l.Limiter("b", "")
	for _, limiter := range []weir.Limiter{a, pro, b} {
		require.True(t, limiter.AllowN(ctx, "k", weir.N(3)).OK())
	}
	write(t, path, "limits:\n  a: {limit: 8/1h, plans: {pro: 20/1h, new: 1/1h}}\n  b: {limit: 3/1h}\n  c: {limit: 4/1h}\n")
	require.NoError(t, l.Reload(ctx))
	assert.Equal(t, []uint64{5, 17, 0}, []uint64{left(a), left(pro), left(b)})
	assert.Same(t, a, l.Limiter("a", ""))
	assert.EqualValues(t, 4, left(l.Limiter("c", "")))
	assert.EqualValues(t, 1, left(l.Limiter("a", "new")))
	assert.Contains(t, log.String(), "new limits are in force")
}

// Whoever has a plan that is taken away is under the limit of everybody else. A plan that comes again is as it was.
func TestPlansComeAndGo(t *testing.T) {
	with, without := "limits: {a: {limit: 5/1h, plans: {pro: 10/1h}}}", "limits: {a: {limit: 5/1h}}"
	l, path, _ := opened(t, with)
	pro := l.Limiter("a", "pro")
	require.True(t, pro.AllowN(ctx, "k", weir.N(7)).OK())
	assert.Same(t, l.Limiter("a", ""), l.Limiter("a", "no such plan"))
	assert.Nil(t, l.Limiter("no such limit", ""))
	write(t, path, without)
	require.NoError(t, l.Reload(ctx))
	assert.Same(t, l.Limiter("a", ""), l.Limiter("a", "pro"))
	write(t, path, with)
	require.NoError(t, l.Reload(ctx))
	assert.Same(t, pro, l.Limiter("a", "pro"))
	assert.EqualValues(t, 3, left(pro))
}

// A bad file, or one that changes what cannot be changed, leaves the old limits in force and says so with its line.
func TestBadReload(t *testing.T) {
	const good = "limits:\n  a: {limit: 5/1h, max_keys: 9}\n  b: {limit: 3/1h}\n"
	for _, row := range []struct{ why, text, want string }{
		{"a fault", "limits:\n  a: {limit: 9/1h, max_keys: 9}\n  b: {limit: 3/h, burst: 1}\n", `line=3 fault="limits.b.burst: is not known`},
		{"not YAML", "limits: [", `line=1`},
		{"half a file", "limits:\n  a: {limit: 9/1h, max_keys: 9}\n", "limits.b: is missing, cannot be taken away"},
		{"another policy", "limits:\n  a: {limit: 9/1h, max_keys: 9}\n  b:\n    limit: 3/1h\n    policy: slidinglog\n", `line=5 fault="limits.b.policy: was gcra, cannot change`},
		{"another key", "limits:\n  a: {limit: 9/1h, max_keys: 9}\n  b: {limit: 3/1h, key: user}\n", "limits.b.key: was [address], cannot change"},
		{"another bound", "limits:\n  a: {limit: 9/1h}\n  b: {limit: 3/1h}\n", "line=2 fault=\"limits.a.max_keys: was 9, cannot change"},
		{"dry now", "limits:\n  a: {limit: 9/1h, max_keys: 9, dry_run: true}\n  b: {limit: 3/1h}\n", "limits.a.dry_run: was false"},
		{"other proxies", "limits:\n  a: {limit: 9/1h, max_keys: 9}\n  b: {limit: 3/1h}\nipv6_bits: 48\n", "proxies and ipv6_bits cannot change"},
	} {
		l, path, log := opened(t, good)
		write(t, path, row.text)
		err := l.Reload(ctx)
		var faults config.Faults
		require.ErrorAs(t, err, &faults, row.why)
		assert.Contains(t, log.String(), row.want, row.why)
		assert.Contains(t, log.String(), "the old ones stay in force", row.why)
		assert.EqualValues(t, 5, left(l.Limiter("a", "")), row.why)
		assert.Len(t, l.File().Limits, 2, row.why)
		require.NoError(t, os.Remove(path))
		assert.ErrorIs(t, l.Reload(ctx), os.ErrNotExist, row.why)
		write(t, path, good)
		assert.NoError(t, l.Reload(ctx), row.why)
	}
}

// stubborn refuses to be set to 7 permits.
type stubborn struct{ weir.Limiter }

var errStubborn = errors.New("no sevens")

func (s stubborn) SetLimit(ctx context.Context, l weir.Limit) error {
	if l.Permits == 7 {
		return errStubborn
	}
	return s.Limiter.SetLimit(ctx, l)
}

// Where one limiter refuses its limit, those that took theirs have the old one again; where one cannot be made, nothing has
// happened.
func TestReloadIsAllOrNothing(t *testing.T) {
	errNone := errors.New("no more")
	maker := func(w config.Wanted) (weir.Limiter, error) {
		if w.Name == "c" {
			return nil, errNone
		}
		made, err := config.Make(w)
		return stubborn{made}, err
	}
	l, path, _ := opened(t, "limits:\n  a: {limit: 5/1h}\n  b: {limit: 5/1h}\n", config.WithMaker(maker))
	for _, row := range []struct {
		text string
		want error
	}{
		{"limits:\n  a: {limit: 6/1h}\n  b: {limit: 7/1h}\n", errStubborn},
		{"limits:\n  a: {limit: 6/1h}\n  b: {limit: 6/1h}\n  c: {limit: 6/1h}\n", errNone},
	} {
		write(t, path, row.text)
		require.ErrorIs(t, l.Reload(ctx), row.want)
		assert.Equal(t, []uint64{5, 5}, []uint64{l.Limiter("a", "").Limit().Permits, l.Limiter("b", "").Limit().Permits})
		assert.Nil(t, l.Limiter("c", ""))
	}
}

// A file is put in force once it has changed, bad or unreadable ones are said once, and the end is ctx's.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, path, log := opened(t, "limits: {a: {limit: 5/1h}}")
		watched, cancel := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- l.Watch(watched, time.Minute) }()
		step := func() {
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		step()
		assert.Empty(t, log.String(), "nothing has changed")
		for _, row := range []struct {
			text    string
			permits uint64
			said    string
		}{
			{"limits: {a: {limit: 6/1h}}", 6, "new limits"},
			{"limits: {a: {limit: six}}", 6, "faulty"},
			{"", 6, "cannot be read"},
			{"limits: {a: {limit: 7/1h}}", 7, "new limits"},
		} {
			if row.text == "" {
				require.NoError(t, os.Remove(path))
			} else {
				write(t, path, row.text)
			}
			log.Reset()
			for range 3 {
				step()
			}
			assert.EqualValues(t, row.permits, l.Limiter("a", "").Limit().Permits)
			assert.Equal(t, 1, strings.Count(log.String(), "\n"), log.String())
			assert.Contains(t, log.String(), row.said)
		}
		cancel()
		assert.ErrorIs(t, <-done, context.Canceled)
	})
	l, _, _ := opened(t, "limits: {a: {limit: 5/1h}}")
	assert.ErrorContains(t, l.Watch(ctx, 0), "every is 0s, must be above 0")
}

// A file that is being written is not put in force: half of it may be a good file with another limit.
func TestWatchWaitsForTheWholeFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const half = "limits:\n  a:\n    limit: 100/1h burst 5"
		l, path, _ := opened(t, half+"0\n")
		a := l.Limiter("a", "")
		require.True(t, a.AllowN(ctx, "k", weir.N(50)).OK())
		watched, cancel := context.WithCancel(ctx)
		done := make(chan error)
		go func() { done <- l.Watch(watched, time.Second) }()
		for _, text := range []string{half + "0\n", half, half + "0\n", half + "1\n", half, half + "1\n"} {
			write(t, path, text)
			time.Sleep(time.Second)
			synctest.Wait()
			assert.EqualValues(t, 50, a.Limit().Burst)
		}
		assert.Zero(t, left(a), "what is owed has not been let go")
		time.Sleep(time.Second)
		synctest.Wait()
		assert.EqualValues(t, 51, a.Limit().Burst)
		cancel()
		<-done
	})
}

// A file's limits as rules on requests: keys, plans, dry runs and proxies.
func TestRules(t *testing.T) {
	l, path, _ := opened(t, `
proxies: {trusted: [192.0.2.1], header: X-Forwarded-For}
limits:
  a: {limit: 1/1h, plans: {pro: 2/1h}, key: [header X-Api-Key, address]}
  dry: {limit: 1/1h, dry_run: true, key: user}
`)
	plan := func(r *http.Request) string { return r.Header.Get("Plan") }
	a, err := l.Rule("a", plan)
	require.NoError(t, err)
	dry, err := l.Rule("dry", nil)
	require.NoError(t, err)
	_, err = l.Rule("other", nil)
	assert.ErrorContains(t, err, `has no limit "other"`)
	m, err := httplimit.New([]httplimit.Rule{a, dry})
	require.NoError(t, err)
	h := m.Wrap(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	ask := func(key, from, plan string) int {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("X-Api-Key", key)
		r.Header.Set("X-Forwarded-For", from)
		r.Header.Set("Plan", plan)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code
	}
	assert.Equal(t, []int{200, 429, 200, 429, 200, 200, 429}, []int{
		ask("", "198.51.100.1", ""), ask("", "198.51.100.1", ""), ask("", "198.51.100.2", ""), ask("", "198.51.100.2", ""),
		ask("x", "198.51.100.3", "pro"), ask("x", "198.51.100.4", "pro"), ask("x", "198.51.100.5", "pro"),
	})
	write(t, path, strings.ReplaceAll(`
proxies: {trusted: [192.0.2.1], header: X-Forwarded-For}
limits:
  a: {limit: 5/1h, plans: {pro: 9/1h}, key: [header X-Api-Key, address]}
  dry: {limit: 1/1h, dry_run: true, key: user}
`, "\t", ""))
	require.NoError(t, l.Reload(ctx))
	assert.Equal(t, http.StatusOK, ask("x", "198.51.100.5", "pro"), "a raised limit acts at once on rules that are in use")
}

func TestOpenRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	_, err := config.Open(path)
	assert.ErrorIs(t, err, os.ErrNotExist)
	write(t, path, "limits: {a: {limit: 5}}")
	_, err = config.Open(path)
	assert.ErrorContains(t, err, "limits.a.limit")
	write(t, path, "limits: {a: {limit: 5/s}}")
	for want, o := range map[string]config.Option{
		"an option is nil": nil, "the maker is nil": config.WithMaker(nil), "the logger is nil": config.WithLogger(nil),
		"made none": config.WithMaker(func(config.Wanted) (weir.Limiter, error) { return nil, nil }),
	} {
		_, err = config.Open(path, o)
		assert.ErrorContains(t, err, want)
	}
}
