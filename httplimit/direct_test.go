package httplimit_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"weir"
)

// direct is a RoundTripper that hands requests to a handler without a network, so that the clock of a synctest bubble
// rules both ends. It keeps when each came and what it held.
type direct struct {
	handler http.Handler
	start   time.Time
	mu      sync.Mutex
	came    []time.Duration
	bodies  []string
}

func newDirect(h http.Handler) *direct { return &direct{handler: h, start: time.Now()} }

func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	d.mu.Lock()
	d.came = append(d.came, time.Since(d.start))
	if r.Body != nil {
		b, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		d.bodies = append(d.bodies, string(b))
	}
	d.mu.Unlock()
	w := httptest.NewRecorder()
	d.handler.ServeHTTP(w, r)
	return w.Result(), nil
}

// answers answers with one after the other, then with 200.
type answers []func(w http.ResponseWriter)

func (a *answers) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	if len(*a) > 0 {
		next := (*a)[0]
		*a = (*a)[1:]
		next(w)
	}
}

func answer(status int, fields ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(fields); i += 2 {
			w.Header().Set(fields[i], fields[i+1])
		}
		w.WriteHeader(status)
	}
}

func limiterOf(t testing.TB, limit string) *weir.Local {
	t.Helper()
	l, err := weir.ParseLimit(limit)
	require.NoError(t, err)
	limiter, err := weir.New("gcra", l)
	require.NoError(t, err)
	return limiter
}

func send(t testing.TB, rt http.RoundTripper, method, url string, body io.Reader) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequest(method, url, body)
	require.NoError(t, err)
	return rt.RoundTrip(r)
}
