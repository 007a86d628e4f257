package httplimit_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/httplimit"
)

const seconds = time.Second

// Requests come when the limiter lets them, each host by itself.
func TestTransportWaitsForTheLimiter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirect(&hello{})
		rt := &httplimit.Transport{Base: d, Limiter: limiterOf(t, "1/s burst 2")}
		for _, url := range []string{"http://a/", "http://a/", "http://b/", "http://a/", "http://a:81/", "http://a/"} {
			r, err := send(t, rt, "GET", url, nil)
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, r.StatusCode)
		}
		assert.Equal(t, []time.Duration{0, 0, 0, 1 * seconds, 1 * seconds, 2 * seconds}, d.came)
	})
}

// A client of our own server needs no limiter of its own: by what it is told it is never denied, or with Retry-After alone
// once for each permit.
func TestTransportHonoursAnswers(t *testing.T) {
	for _, row := range []struct {
		why   string
		forms []httplimit.Form
		came  []time.Duration
	}{
		{"RateLimit", []httplimit.Form{httplimit.RateLimit}, []time.Duration{0, 0, 2 * seconds, 4 * seconds}},
		{"Retry-After", nil, []time.Duration{0, 0, 0, 2 * seconds, 2 * seconds, 4 * seconds}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h, served := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: limiterOf(t, "1/2s burst 2")}}, httplimit.WithForms(row.forms...))
			d := newDirect(h)
			rt := &httplimit.Transport{Base: d, Retries: 1}
			for range 4 {
				r, err := send(t, rt, "GET", "http://a/", nil)
				require.NoError(t, err)
				assert.Equal(t, http.StatusOK, r.StatusCode, row.why)
			}
			assert.Equal(t, row.came, d.came, row.why)
			assert.EqualValues(t, 4, served.served.Load(), row.why)
		})
	}
}

// What answers say, and when the next request to the host is sent.
func TestTransportReadsAnswers(t *testing.T) {
	for _, row := range []struct {
		why    string
		first  func(http.ResponseWriter)
		next   time.Duration
		isHeld bool
	}{
		{"nothing", answer(200), 0, false},
		{"seconds", answer(429, "Retry-After", "7"), 7 * seconds, false},
		{"a moment by the server's clock", answer(503, "Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT", "Date", "Fri, 31 Dec 1999 23:59:50 GMT"), 9 * seconds, false},
		{"a moment", answer(503, "Retry-After", "Sat, 01 Jan 2000 00:00:05 GMT"), 5 * seconds, false},
		{"a moment that has passed", answer(503, "Retry-After", "Fri, 31 Dec 1999 23:59:59 GMT"), 0, false},
		{"a redirection", answer(301, "Retry-After", "3"), 3 * seconds, false},
		{"of a success it says nothing", answer(200, "Retry-After", "7"), 0, false},
		{"something left", answer(200, "RateLimit", `"a";r=1;t=9`), 0, false},
		{"nothing left", answer(200, "RateLimit", `"a";r=0;t=9`), 9 * seconds, false},
		{"the longest of several", answer(200, "RateLimit", `"a";r=0;t=2, "b";r=0;t=9;pk=:AA==:, "c";r=5;t=20`), 9 * seconds, false},
		{"no time", answer(200, "RateLimit", `"a";r=0`), 0, false},
		{"not a structured field", answer(200, "RateLimit", `"a";r=0;t=9, limit=3 remaining`), 0, false},
		{"Retry-After goes before", answer(429, "RateLimit", `"a";r=0;t=9`, "Retry-After", "4"), 4 * seconds, false},
		{"a Retry-After that is none", answer(429, "RateLimit", `"a";r=0;t=9`, "Retry-After", "soon"), 9 * seconds, false},
		{"negative", answer(429, "Retry-After", "-7"), 0, false},
		{"longer than is waited for", answer(429, "Retry-After", "31"), 0, true},
		{"more than fits 64 bits", answer(429, "Retry-After", strings.Repeat("9", 30)), 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDirect(&answers{row.first})
			rt := &httplimit.Transport{Base: d}
			_, err := send(t, rt, "GET", "http://a/", nil)
			require.NoError(t, err)
			_, err = send(t, rt, "GET", "http://a/", nil)
			_, errOther := send(t, rt, "GET", "http://b/", nil)
			require.NoError(t, errOther, "another host has nothing to do with it")
			if row.isHeld {
				assert.ErrorIs(t, err, httplimit.ErrHeld, row.why)
				assert.Len(t, d.came, 2, row.why)
				return
			}
			require.NoError(t, err, row.why)
			assert.Equal(t, []time.Duration{0, row.next, row.next}, d.came, row.why)
		})
	}
}

// Which requests are sent again, and with what.
func TestTransportRetries(t *testing.T) {
	wait := []string{"Retry-After", "1"}
	reader := func() io.Reader { return strings.NewReader("body") }
	once := func() io.Reader { return io.MultiReader(strings.NewReader("body")) } // cannot be had again
	for _, row := range []struct {
		why     string
		method  string
		body    func() io.Reader
		answers answers
		retries int
		status  int
		sent    int
	}{
		{"no retries", "GET", nil, answers{answer(429, wait...)}, 0, 429, 1},
		{"one", "GET", nil, answers{answer(429, wait...)}, 1, 200, 2},
		{"one is too few", "GET", nil, answers{answer(429, wait...), answer(429, wait...)}, 1, 429, 2},
		{"two", "GET", nil, answers{answer(429, wait...), answer(503, wait...)}, 2, 200, 3},
		{"without a time", "GET", nil, answers{answer(429)}, 1, 429, 1},
		{"POST with a body", "POST", reader, answers{answer(429, wait...)}, 1, 200, 2},
		{"a body that is gone", "POST", once, answers{answer(429, wait...)}, 1, 429, 1},
		{"POST may have been done before 503", "POST", reader, answers{answer(503, wait...)}, 1, 503, 1},
		{"PUT is idempotent", "PUT", reader, answers{answer(503, wait...)}, 1, 200, 2},
		{"another failure", "GET", nil, answers{answer(500, wait...)}, 1, 500, 1},
		{"too long", "GET", nil, answers{answer(429, "Retry-After", "31")}, 1, 429, 1},
		{"too long together", "GET", nil, answers{answer(429, "Retry-After", "20"), answer(429, "Retry-After", "20")}, 5, 429, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := newDirect(&row.answers)
			rt := &httplimit.Transport{Base: d, Retries: row.retries}
			var body io.Reader
			if row.body != nil {
				body = row.body()
			}
			r, err := send(t, rt, row.method, "http://a/", body)
			require.NoError(t, err, row.why)
			assert.Equal(t, row.status, r.StatusCode, row.why)
			assert.Len(t, d.came, row.sent, row.why)
			for _, b := range d.bodies {
				assert.Equal(t, "body", b, row.why)
			}
		})
	}
}

// closing notes that a body was closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// A request that would have to wait too long fails at once, is not sent, and spends nothing; its body is closed.
func TestTransportBoundsWaits(t *testing.T) {
	for _, row := range []struct {
		why     string
		limit   string
		maxWait time.Duration
		want    error
	}{
		{"longer than MaxWait", "1/10s", 9 * seconds, httplimit.ErrHeld},
		{"longer than the default", "1/31s", 0, httplimit.ErrHeld},
		{"no waiting at all", "1/1s", -1, httplimit.ErrHeld},
		{"never", "1/1s", 9 * seconds, weir.ErrTooCostly},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := limiterOf(t, row.limit)
			d := newDirect(&hello{})
			rt := &httplimit.Transport{Base: d, Limiter: l, MaxWait: row.maxWait}
			if row.want == weir.ErrTooCostly {
				rt.Limiter = costly{l}
			} else {
				_, err := send(t, rt, "GET", "http://a/", nil)
				require.NoError(t, err, row.why)
			}
			start, before, body := time.Now(), l.Peek(ctx, "a", weir.N(0)), &closing{Reader: strings.NewReader("x")}
			_, err := send(t, rt, "POST", "http://a/", body)
			assert.ErrorIs(t, err, row.want, row.why)
			assert.True(t, body.closed, row.why)
			assert.Zero(t, time.Since(start), row.why)
			assert.Equal(t, before.ResetAfter(), l.Peek(ctx, "a", weir.N(0)).ResetAfter(), row.why)
		})
	}
}

// costly is a limiter whose every request costs more than can fit.
type costly struct{ *weir.Local }

func (c costly) Wait(ctx context.Context, key string, _ weir.Cost) error {
	return c.Local.Wait(ctx, key, weir.N(1000))
}

// While one request waits for the limiter, another is told to wait: the first is held too, and gives its permit back if that
// is too long.
func TestTransportIsToldWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiterOf(t, "1/s")
		d := newDirect(&answers{answer(429, "Retry-After", "40")})
		rt := &httplimit.Transport{Base: d, Limiter: l}
		slow := &httplimit.Transport{Base: rt, Limiter: limiterOf(t, "1/s")}
		var all sync.WaitGroup
		for range 2 {
			all.Go(func() { _, _ = send(t, slow, "GET", "http://a/", nil) })
		}
		all.Wait()
		assert.Len(t, d.came, 1)

		l2 := limiterOf(t, "1/s")
		blocked := make(chan struct{})
		d2 := newDirect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			<-blocked
			answer(429, "Retry-After", "40")(w)
		}))
		both := &httplimit.Transport{Base: d2, Limiter: l2}
		all.Go(func() { _, _ = send(t, both, "GET", "http://a/", nil) })
		synctest.Wait()
		all.Go(func() {
			_, err := send(t, both, "GET", "http://a/", nil)
			assert.ErrorIs(t, err, httplimit.ErrHeld)
		})
		synctest.Wait()
		close(blocked)
		all.Wait()
		assert.Len(t, d2.came, 1)
		assert.EqualValues(t, 1, l2.Peek(ctx, "a", weir.N(0)).Remaining(), "given back")
	})
}

// A shorter wait does not cut a longer one short.
func TestTransportKeepsTheLongerWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		go1 := make(chan struct{})
		seen := 0
		d := newDirect(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if seen++; seen == 1 {
				<-go1
				answer(429, "Retry-After", "2")(w)
			} else if seen == 2 {
				answer(429, "Retry-After", "10")(w)
			}
		}))
		rt := &httplimit.Transport{Base: d}
		var all sync.WaitGroup
		all.Go(func() { _, _ = send(t, rt, "GET", "http://a/", nil) })
		synctest.Wait()
		_, err := send(t, rt, "GET", "http://a/", nil)
		require.NoError(t, err)
		close(go1)
		all.Wait()
		_, err = send(t, rt, "GET", "http://a/", nil)
		require.NoError(t, err)
		assert.Equal(t, []time.Duration{0, 0, 10 * seconds}, d.came)
	})
}

// A caller that goes, or whose time ends first, is told its own error or at once.
func TestTransportContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rt := &httplimit.Transport{Base: newDirect(&answers{answer(429, "Retry-After", "20")})}
		_, err := send(t, rt, "GET", "http://a/", nil)
		require.NoError(t, err)
		short, cancel := context.WithTimeout(ctx, 5*seconds)
		defer cancel()
		r, err := http.NewRequestWithContext(short, "GET", "http://a/", nil)
		require.NoError(t, err)
		start := time.Now()
		_, err = rt.RoundTrip(r)
		assert.ErrorIs(t, err, httplimit.ErrHeld)
		assert.Zero(t, time.Since(start))

		going, cancelGoing := context.WithCancel(ctx)
		time.AfterFunc(5*seconds, cancelGoing)
		_, err = rt.RoundTrip(r.WithContext(going))
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// Servers cannot make a Transport remember more than 1024 keys: those with the least to wait are let go.
func TestTransportForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer(429, "Retry-After", r.URL.Query().Get("s"))(w)
		}))
		rt := &httplimit.Transport{Base: d, MaxWait: -1}
		for i := range 1100 {
			_, err := send(t, rt, "GET", fmt.Sprintf("http://h%d/?s=%d", i, 1000+i), nil)
			require.NoError(t, err)
		}
		held := 0
		for i := range 1100 {
			_, err := send(t, rt, "GET", fmt.Sprintf("http://h%d/?s=0", i), nil)
			if err != nil {
				assert.ErrorIs(t, err, httplimit.ErrHeld)
				assert.GreaterOrEqual(t, i, 1100-1024)
				held++
			}
		}
		assert.Equal(t, 1024, held)
	})
}

// idle notes that its idle connections were closed.
type idle struct {
	http.RoundTripper
	closed bool
}

func (i *idle) CloseIdleConnections() { i.closed = true }

// Over a real connection, with Go's own client on top.
func TestTransportOverTheNetwork(t *testing.T) {
	h, handler := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: limiterOf(t, "3/h")}})
	s := served(t, h, true)
	client := s.Client()
	client.Transport = &httplimit.Transport{Base: client.Transport, Retries: 1, MaxWait: time.Second}
	for range 3 {
		r, err := client.Get(s.URL)
		require.NoError(t, err)
		assert.Equal(t, 2, r.ProtoMajor)
		r.Body.Close()
	}
	_, err := client.Get(s.URL)
	assert.ErrorIs(t, err, httplimit.ErrHeld)
	client.CloseIdleConnections()
	idle := &idle{}
	(&http.Client{Transport: &httplimit.Transport{Base: idle}}).CloseIdleConnections()
	assert.True(t, idle.closed)
	assert.EqualValues(t, 3, handler.served.Load())
}

// An answer whose wait would outlast the caller, or the limiter's patience, is what the caller gets.
func TestTransportHandsOnWhatItCannotWaitFor(t *testing.T) {
	for _, row := range []struct {
		why   string
		limit string
		after string
		time  time.Duration
	}{
		{"the caller's time ends first", "", "20", 10 * seconds},
		{"the limiter has nothing so soon", "1/h", "0", time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			rt := &httplimit.Transport{Base: newDirect(&answers{answer(429, "Retry-After", row.after)}), Retries: 1}
			if row.limit != "" {
				rt.Limiter = limiterOf(t, row.limit)
			}
			short, cancel := context.WithTimeout(ctx, row.time)
			defer cancel()
			r, err := http.NewRequestWithContext(short, "GET", "http://a/", nil)
			require.NoError(t, err)
			got, err := rt.RoundTrip(r)
			require.NoError(t, err, row.why)
			assert.Equal(t, 429, got.StatusCode)
		})
	}
}

// A server that never ends the body of a denial does not hold up the next try.
func TestTransportDoesNotWaitForABody(t *testing.T) {
	var tries atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries.Add(1) > 1 {
			return
		}
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(429)
		_, _ = w.Write([]byte(strings.Repeat("x", 100)))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	bounded, cancel := context.WithTimeout(ctx, 5*seconds)
	defer cancel()
	r, err := http.NewRequestWithContext(bounded, "GET", s.URL, nil)
	require.NoError(t, err)
	client := &http.Client{Transport: &httplimit.Transport{Base: &http.Transport{}, Retries: 1}}
	got, err := client.Do(r)
	require.NoError(t, err)
	got.Body.Close()
	assert.Equal(t, 200, got.StatusCode)
}
