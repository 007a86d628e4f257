package httplimit_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dunglas/httpsfv"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir"
	"weir/httplimit"
)

var ctx = context.Background()

// standing is a clock that moves when it is told to.
type standing struct{ now atomic.Int64 }

func (c *standing) Now() time.Duration                         { return time.Duration(c.now.Load()) }
func (c *standing) Sleep(context.Context, time.Duration) error { return nil }
func (c *standing) add(d time.Duration)                        { c.now.Add(int64(d)) }

func made(t testing.TB, name, limit string, o ...weir.Option) (*weir.Local, *standing) {
	t.Helper()
	l, err := weir.ParseLimit(limit)
	require.NoError(t, err)
	clock := &standing{}
	o = append([]weir.Option{weir.WithClock(clock), weir.WithLogger(slog.New(slog.DiscardHandler))}, o...)
	limiter, err := weir.New(name, l, o...)
	require.NoError(t, err)
	return limiter, clock
}

// hello is a handler that counts.
type hello struct{ served atomic.Int64 }

func (h *hello) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h.served.Add(1)
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write([]byte("hello"))
}

func wrapped(t testing.TB, rules []httplimit.Rule, o ...httplimit.Option) (http.Handler, *hello) {
	t.Helper()
	m, err := httplimit.New(rules, o...)
	require.NoError(t, err)
	h := &hello{}
	return m.Wrap(h), h
}

// get is the answer to a request.
func get(h http.Handler, change ...func(*http.Request)) *http.Response {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

// item is an item of a list of strings with parameters, as the library reads it.
type item struct {
	name       string
	parameters map[string]any
}

// parsed is a field as an independent parser of structured fields reads it.
func parsed(t testing.TB, h http.Header, field string) (items []item) {
	t.Helper()
	list, err := httpsfv.UnmarshalList(h.Values(field))
	require.NoError(t, err, "%s: %q", field, h.Values(field))
	for _, member := range list {
		i, ok := member.(httpsfv.Item)
		require.True(t, ok)
		name, ok := i.Value.(string)
		require.True(t, ok)
		read := item{name, map[string]any{}}
		for _, p := range i.Params.Names() {
			read.parameters[p], _ = i.Params.Get(p)
		}
		items = append(items, read)
	}
	return items
}

// parsedByLibrary is the parameters of the only item of a field.
func parsedByLibrary(t *rapid.T, h http.Header, field string) map[string]any {
	list, err := httpsfv.UnmarshalList(h.Values(field))
	if err != nil || len(list) != 1 {
		t.Fatalf("%s: %q: %v", field, h.Values(field), err)
	}
	read, item := map[string]any{}, list[0].(httpsfv.Item)
	for _, p := range item.Params.Names() {
		read[p], _ = item.Params.Get(p)
	}
	return read
}

// is asserts a field's items, of which numbers are int64.
func is(t testing.TB, h http.Header, field string, want ...item) {
	t.Helper()
	assert.Equal(t, want, parsed(t, h, field), "%s: %q", field, h.Values(field))
}

func policyItem(name string, q, w int64) item {
	return item{name, map[string]any{"q": q, "w": w}}
}

func standingItem(name string, r int64, more ...int64) item {
	i := item{name, map[string]any{"r": r}}
	if len(more) > 0 {
		i.parameters["t"] = more[0]
	}
	return i
}
