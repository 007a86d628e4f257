/*
Package redistest starts Redis or Valkey servers for tests: on this machine alone, on free ports, ended with the test. It
takes the redis-server or valkey-server of PATH, or that of WEIR_REDIS_SERVER; without one a test is left out, and says so, or fails
under WEIR_STRICT=1.
*/
package redistest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"weir/internal/resp"
)

// Program is the server to start; the test is left out if there is none.
func Program(t testing.TB) string {
	t.Helper()
	if name := os.Getenv("WEIR_REDIS_SERVER"); name != "" {
		return name
	}
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("WEIR_STRICT") == "1" {
		t.Fatal("there is no redis-server or valkey-server, and WEIR_STRICT=1 leaves nothing out")
	}
	t.Skip("there is no redis-server or valkey-server: install one (Debian: apt-get install redis-server) or name it in WEIR_REDIS_SERVER")
	return ""
}

// Server is a server that a test started.
type Server struct {
	// Addr is its HOST:PORT.
	Addr string

	t        testing.TB
	dir      string
	sentinel string // its configuration file, if it is a Sentinel
	flags    []string
	mu       sync.Mutex
	cmd      *exec.Cmd
	gone     chan struct{}
}

// Start starts an empty server that keeps nothing on disk, with these flags besides. It ends with the test.
func Start(t testing.TB, flags ...string) *Server {
	t.Helper()
	s := &Server{t: t, dir: t.TempDir(), flags: flags, Addr: "127.0.0.1:" + strconv.Itoa(FreePort(t))}
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// StartSentinel starts a Sentinel that watches a primary under a name.
func StartSentinel(t testing.TB, name string, primary *Server) *Server {
	t.Helper()
	s := &Server{t: t, dir: t.TempDir(), Addr: "127.0.0.1:" + strconv.Itoa(FreePort(t))}
	s.sentinel = filepath.Join(s.dir, "sentinel.conf")
	text := fmt.Sprintf("port %s\nbind 127.0.0.1\ndir %s\nsentinel monitor %s 127.0.0.1 %s 1\n"+
		"sentinel down-after-milliseconds %[3]s 500\nsentinel failover-timeout %[3]s 5000\n", s.Port(), s.dir, name, primary.Port())
	require.NoError(t, os.WriteFile(s.sentinel, []byte(text), 0o600))
	s.Restart()
	t.Cleanup(s.Kill)
	return s
}

// FreePort is a port of 127.0.0.1 that nobody listens on, low enough for a Cluster's bus, 10,000 above it.
func FreePort(t testing.TB) int {
	t.Helper()
	for {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		port := l.Addr().(*net.TCPAddr).Port
		require.NoError(t, l.Close())
		if port < 55_000 {
			return port
		}
	}
}

// Port is the port of Addr.
func (s *Server) Port() string { return s.Addr[strings.LastIndex(s.Addr, ":")+1:] }

// Restart starts the server where it was, with what it has saved, and waits until it answers.
func (s *Server) Restart() {
	s.t.Helper()
	s.Launch()
	require.Eventually(s.t, s.answers, 20*time.Second, 20*time.Millisecond, "the server does not answer")
}

// Launch is Restart that does not wait.
func (s *Server) Launch() {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	args := []string{s.sentinel, "--sentinel"}
	if s.sentinel == "" {
		args = append([]string{"--port", s.Port(), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "no",
			"--repl-diskless-sync-delay", "0"}, s.flags...)
	}
	s.cmd, s.gone = exec.Command(Program(s.t), args...), make(chan struct{})
	require.NoError(s.t, s.cmd.Start())
	go func(cmd *exec.Cmd, gone chan struct{}) {
		_ = cmd.Wait() // it is killed
		close(gone)
	}(s.cmd, s.gone)
}

func (s *Server) answers() bool {
	word, err := s.Ask("PING")
	return err == nil && word == "PONG"
}

// Ask is Do for an answer that may be an error.
func (s *Server) Ask(words ...string) (string, error) {
	c, err := resp.Dial(s.t.Context(), s.Addr)
	if err != nil {
		return "", err
	}
	defer c.Close()
	return c.Do(words...)
}

// Do runs a command on a connection of its own, such as FLUSHALL, and gives the answer as text.
func (s *Server) Do(words ...string) string {
	s.t.Helper()
	answer, err := s.Ask(words...)
	require.NoError(s.t, err, "%v", words)
	return answer
}

// Kill ends the server at once, as a crash would. It may be called again.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.gone
}

// Version is what the server says it is, such as "redis 7.0.15".
func (s *Server) Version() string {
	s.t.Helper()
	info := s.Do("INFO", "server")
	name, version := "redis", ""
	for _, line := range strings.Split(info, "\r\n") {
		if v, ok := strings.CutPrefix(line, "redis_version:"); ok && version == "" {
			version = v
		}
		if v, ok := strings.CutPrefix(line, "valkey_version:"); ok {
			name, version = "valkey", v
		}
	}
	return name + " " + version
}
