package httplimit_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/httplimit"
)

// served is a server on loopback that speaks HTTP/1.1 and HTTP/2 without TLS, or both with it.
func served(t testing.TB, h http.Handler, secure bool) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	if secure {
		s.EnableHTTP2 = true
		s.StartTLS()
	} else {
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(true)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

// curl speaks every version of HTTP: what it is told is what the fields say.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("there is no curl")
	}
	for _, row := range []struct {
		why    string
		secure bool
		flags  []string
		proto  string
	}{
		{"1.1", false, []string{"--http1.1"}, "HTTP/1.1"},
		{"2 without TLS", false, []string{"--http2-prior-knowledge"}, "HTTP/2"},
		{"1.1 over TLS", true, []string{"--http1.1", "--insecure"}, "HTTP/1.1"},
		{"2 over TLS", true, []string{"--http2", "--insecure"}, "HTTP/2"},
	} {
		l, _ := made(t, "gcra", "1/90s")
		h, _ := wrapped(t, []httplimit.Rule{{Name: "api", Limiter: l}})
		s := served(t, h, row.secure)
		ask := func() *http.Response {
			out, err := exec.Command(curl, append(row.flags, "--silent", "--show-error", "--include", "--max-time", "20", s.URL)...).Output()
			require.NoError(t, err, row.why)
			text := strings.Replace(string(out), "HTTP/2 ", "HTTP/2.0 ", 1)
			r, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text)), nil)
			require.NoError(t, err, "%s: %s", row.why, out)
			assert.True(t, strings.HasPrefix(string(out), row.proto), "%s: %s", row.why, out)
			return r
		}
		r := ask()
		assert.Equal(t, http.StatusOK, r.StatusCode, row.why)
		is(t, r.Header, "RateLimit", standingItem("api", 0, 90))
		is(t, r.Header, "RateLimit-Policy", policyItem("api", 1, 90))
		r = ask()
		assert.Equal(t, http.StatusTooManyRequests, r.StatusCode, row.why)
		assert.Equal(t, "90", r.Header.Get("Retry-After"), row.why)
		assert.Equal(t, []string{"api"}, problemOf(t, r).Violated, row.why)
	}
}

// clientOf is Go's client for one version of HTTP.
func clientOf(s *httptest.Server, two bool) *http.Client {
	transport := &http.Transport{Protocols: new(http.Protocols), MaxIdleConnsPerHost: 16,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // a test's own server
	transport.Protocols.SetHTTP1(!two)
	transport.Protocols.SetHTTP2(two)
	transport.Protocols.SetUnencryptedHTTP2(two)
	return &http.Client{Transport: transport, Timeout: 30 * time.Second}
}

// Requests on loopback, 100,000 of them for GCRA over HTTP/1.1: on a clock that stands, and then has moved, exactly what the
// limit says is let through, by each of the five policies.
func TestLoad(t *testing.T) {
	for _, row := range []struct {
		name, limit   string
		requests      int
		two           bool
		at0s, after2s int64 // that many go on
	}{
		{"gcra", "100/s burst 300", 100_000, false, 300, 200},
		{"gcra", "100/s burst 300", 10_000, true, 300, 200},
		{"tokenbucket", "100/s burst 300", 10_000, false, 300, 200},
		{"leakybucket", "100/s burst 300", 10_000, true, 300, 200},
		{"slidinglog", "300/s", 10_000, false, 300, 300},
		{"dualbucket", "1000000/s & 100/s burst 300", 10_000, true, 300, 200},
	} {
		if testing.Short() {
			row.requests = 1000
		}
		l, clock := made(t, row.name, row.limit)
		h, handler := wrapped(t, []httplimit.Rule{{Name: "api", Limiter: l}})
		s := served(t, h, false)
		client := clientOf(s, row.two)
		assert.EqualValues(t, row.at0s, load(t, client, s.URL, row.requests/2), row.name)
		clock.add(2 * time.Second)
		assert.EqualValues(t, row.after2s, load(t, client, s.URL, row.requests/2), row.name)
		assert.EqualValues(t, row.at0s+row.after2s, handler.served.Load(), row.name)
		client.CloseIdleConnections()
	}
}

// load sends n requests from eight clients and is how many were let through; all others have to be 429.
func load(t *testing.T, client *http.Client, url string, n int) (ok int64) {
	var all sync.WaitGroup
	var left, allowed atomic.Int64
	left.Store(int64(n))
	for range 8 {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				r, err := client.Get(url)
				if !assert.NoError(t, err) {
					return
				}
				_, _ = io.Copy(io.Discard, r.Body)
				r.Body.Close()
				switch r.StatusCode {
				case http.StatusOK:
					allowed.Add(1)
				case http.StatusTooManyRequests:
				default:
					assert.Fail(t, r.Status)
				}
			}
		})
	}
	all.Wait()
	return allowed.Load()
}

// The handler has the server's own ResponseWriter: whatever that can do still works.
func TestWriterIsHandedOn(t *testing.T) {
	l, _ := made(t, "gcra", "100/s")
	m, err := httplimit.New([]httplimit.Rule{{Name: "api", Limiter: l}})
	require.NoError(t, err)
	mux := http.NewServeMux()
	mux.HandleFunc("/flush", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		assert.NoError(t, http.NewResponseController(w).Flush())
		<-r.Context().Done() // the client goes once it has read what was flushed
	})
	mux.HandleFunc("/hijack", func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if assert.NoError(t, err) {
			fmt.Fprint(c, "HTTP/1.1 418 by hand\r\nContent-Length: 0\r\n\r\n")
			c.Close()
		}
	})
	mux.HandleFunc("/writer", func(w http.ResponseWriter, _ *http.Request) {
		_, readFrom := w.(io.ReaderFrom)
		_, flusher := w.(http.Flusher)
		assert.True(t, readFrom && flusher)
		assert.NoError(t, http.NewResponseController(w).SetWriteDeadline(time.Time{}))
	})
	s := served(t, m.Wrap(mux), false)
	client := clientOf(s, false)
	defer client.CloseIdleConnections()
	r, err := client.Get(s.URL + "/flush")
	require.NoError(t, err)
	five := make([]byte, 5)
	_, err = io.ReadFull(r.Body, five)
	require.NoError(t, err)
	assert.Equal(t, "first", string(five))
	r.Body.Close()
	for path, status := range map[string]int{"/hijack": http.StatusTeapot, "/writer": http.StatusOK} {
		r, err = client.Get(s.URL + path)
		require.NoError(t, err)
		r.Body.Close()
		assert.Equal(t, status, r.StatusCode)
	}
}

// The peer of a real connection is found, over IPv4 and, where there is one, IPv6.
func TestPeerOfAConnection(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			t.Logf("%s is not here: %v", address, err)
			continue
		}
		l, _ := made(t, "gcra", "1/h")
		h, _ := wrapped(t, []httplimit.Rule{{Name: "api", Limiter: l}})
		s := httptest.NewUnstartedServer(h)
		s.Listener.Close()
		s.Listener = listener
		s.Start()
		for _, want := range []int{200, 429} { // on two connections
			client := clientOf(s, false)
			r, err := client.Get(s.URL)
			require.NoError(t, err)
			r.Body.Close()
			assert.Equal(t, want, r.StatusCode)
			client.CloseIdleConnections()
		}
		s.Close()
	}
}
