package httplimit_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"

	"weir/httplimit"
	"weir/policy"
)

// quiet is a ResponseWriter that costs nothing.
type quiet struct{ h http.Header }

func (q *quiet) Header() http.Header               { return q.h }
func (q *quiet) WriteHeader(int)                   {}
func (q *quiet) Write(b []byte) (int, error)       { return len(b), nil }
func (q *quiet) WriteString(s string) (int, error) { return len(s), nil }

type nothing struct{}

func (nothing) ServeHTTP(http.ResponseWriter, *http.Request) {}

func asked(remote string) (*quiet, *http.Request) {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = remote
	return &quiet{http.Header{"Date": {"x"}}}, r
}

// What the middleware allocates for a request: the key's text, and with fields their text and their slices.
func TestAllocations(t *testing.T) {
	limiter := func(limit string) []httplimit.Rule {
		l, _ := made(t, "gcra", limit)
		return []httplimit.Rule{{Name: "api", Limiter: l}}
	}
	secret := policy.SipSecret{1}
	for _, row := range []struct {
		why     string
		rules   []httplimit.Rule
		remote  string
		options []httplimit.Option
		most    float64
	}{
		{"allowed, no fields", limiter("1000000/s"), "192.0.2.1:80", []httplimit.Option{httplimit.WithForms()}, 1},
		{"allowed", limiter("1000000/s"), "192.0.2.1:80", nil, 3},
		{"allowed, over IPv6", limiter("1000000/s"), "[2001:db8::1]:80", nil, 3},
		{"allowed, with pk", limiter("1000000/s"), "192.0.2.1:80", []httplimit.Option{httplimit.WithPartitionKeys(secret)}, 3},
		{"denied, no fields", limiter("1/h"), "192.0.2.1:80", []httplimit.Option{httplimit.WithForms()}, 3},
		{"denied", limiter("1/h"), "192.0.2.1:80", nil, 3},
		{"two rules deny no one", append(limiter("1000000/s"), httplimit.Rule{Name: "b", Limiter: limiter("1000000/s")[0].Limiter}), "192.0.2.1:80", nil, 12}, // two keys, and what it takes to undo; the race detector makes it one more than it is
	} {
		m, err := httplimit.New(row.rules, row.options...)
		assert.NoError(t, err, row.why)
		h := m.Wrap(nothing{})
		w, r := asked(row.remote)
		fresh := func() {
			delete(w.h, "Ratelimit")
			delete(w.h, "Ratelimit-Policy")
			h.ServeHTTP(w, r)
		}
		for range 2 {
			fresh()
		}
		assert.LessOrEqual(t, testing.AllocsPerRun(100, fresh), row.most, row.why)
	}
}

func BenchmarkServe(b *testing.B) {
	for _, row := range []struct {
		why     string
		options []httplimit.Option
		limit   string
	}{
		{"without fields", []httplimit.Option{httplimit.WithForms()}, "1000000000/s"},
		{"with fields", nil, "1000000000/s"},
		{"denied", nil, "1/h"},
	} {
		b.Run(row.why, func(b *testing.B) {
			l := limiterOf(b, row.limit) // on the process's own clock
			m, err := httplimit.New([]httplimit.Rule{{Name: "api", Limiter: l}}, row.options...)
			if err != nil {
				b.Fatal(err)
			}
			h := m.Wrap(nothing{})
			w, r := asked("192.0.2.1:80")
			b.ReportAllocs()
			for b.Loop() {
				clear(w.h)
				h.ServeHTTP(w, r)
			}
		})
	}
}
