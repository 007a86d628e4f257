//go:build unix

package main_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bounded ends a command that never says what a test waits for.
func bounded(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	return ctx
}

// appendTo adds lines to a file.
func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = f.WriteString(text)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// TestWatchFollows a log that grows, is rotated and is cut short, in plain lines, and ends tidily when interrupted.
func TestWatchFollows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	appendTo(t, path, "0,a,1\n0,a,1\n")
	c := exec.CommandContext(bounded(t), program, "watch", "--limit", "1/h", "--policy", "gcra", "--log", path, "--follow", "--every", "100ms")
	out, err := c.StdoutPipe()
	require.NoError(t, err)
	var errs bytes.Buffer
	c.Stderr = &errs
	require.NoError(t, c.Start())
	lines := bufio.NewScanner(out)
	until := func(want string) {
		t.Helper()
		for lines.Scan() {
			require.NotContains(t, lines.Text(), "\x1b", "no terminal, no control sequences")
			if lines.Text() == want {
				return
			}
		}
		t.Fatalf("it ended before it said %q: %s", want, errs.String())
	}
	until("requests 2 unreadable 0 keys 1; gcra allowed 1 refused 1 worst a 1")
	appendTo(t, path, "1,b,1\n1,\x1b[2J,1\n1,\x1b[2J,1\nnonsense\n1,\x1b[2J,1\n")
	until(`requests 6 unreadable 1 keys 3; gcra allowed 3 refused 3 worst \x1b[2J 2`)
	require.NoError(t, os.Rename(path, path+".1"))
	appendTo(t, path, "2,c,1\n2,b,1\n2,b,1\n2,b,1\n2,b,1\n2,b,1\n2,b,1\n2,b,1\n")
	until("requests 14 unreadable 1 keys 4; gcra allowed 4 refused 10 worst b 7")
	require.NoError(t, os.WriteFile(path, []byte("3,d,1\n"), 0o644))
	until("requests 15 unreadable 1 keys 5; gcra allowed 5 refused 10 worst b 7")
	require.NoError(t, c.Process.Signal(os.Interrupt))
	rest := ""
	for lines.Scan() {
		rest += lines.Text() + "\n"
	}
	require.NoError(t, c.Wait(), errs.String())
	assert.Equal(t, []string{"15", "5", "10", "0", "5", "3", "1", "2", "0"}, cells(t, rest, "gcra"))
}

// terminal is what a program has written to a terminal so far.
type terminal struct {
	mu   sync.Mutex
	more *sync.Cond
	text strings.Builder
	done bool
}

func (s *terminal) read(from io.Reader) {
	b := make([]byte, 4096)
	for {
		n, err := from.Read(b)
		s.mu.Lock()
		s.text.Write(b[:n])
		s.done = err != nil
		s.more.Broadcast()
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// until waits for something to be written after what is there already.
func (s *terminal) until(t *testing.T, is func(text string) bool) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !is(s.text.String()) {
		require.False(t, s.done, "it ended: %q", s.text.String())
		s.more.Wait()
	}
	return s.text.String()
}

// TestWatchOnATerminal: a page over and over on the terminal's other screen, no line longer than the terminal is wide, also
// after it was resized, and all as it was after an interrupt.
func TestWatchOnATerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.csv")
	appendTo(t, path, "0,a,1\n0,a,1\n")
	c := exec.CommandContext(bounded(t), program, "watch", "--limit", "1/h", "--log", path, "--follow", "--every", "100ms")
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 30, Cols: 120})
	if err != nil {
		t.Skipf("there are no terminals here: %v", err)
	}
	defer tty.Close()
	s := &terminal{}
	s.more = sync.NewCond(&s.mu)
	go s.read(tty)
	text := s.until(t, func(text string) bool {
		return strings.Contains(text, "slidinglog") && strings.Contains(text, "spent now")
	})
	assert.True(t, strings.HasPrefix(text, "\x1b[?1049h\x1b[?25l\x1b[H"), "%q", text)
	require.NoError(t, pty.Setsize(tty, &pty.Winsize{Rows: 6, Cols: 40}))
	small := func(page string) bool {
		lines := strings.Split(page, "\r\n")
		for i, line := range lines {
			lines[i] = strings.NewReplacer("\x1b[K", "", "\x1b[J", "", "\r", "").Replace(line)
			if len(lines[i]) > 40 {
				return false
			}
		}
		return len(lines) == 6
	}
	s.until(t, func(text string) bool { // the last page that is whole
		pages := strings.Split(text, "\x1b[H")
		return len(pages) > 2 && small(pages[len(pages)-2])
	})
	require.NoError(t, c.Process.Signal(syscall.SIGINT))
	text = s.until(t, func(text string) bool {
		_, after, left := strings.Cut(text, "\x1b[?25h\x1b[?1049l")
		return left && strings.Contains(after, "slidinglog")
	})
	require.NoError(t, c.Wait())
	_, after, _ := strings.Cut(text, "\x1b[?1049l")
	assert.NotContains(t, after, "\x1b")
	assert.Contains(t, after, "limit 1/h; 2 requests of 1 keys")
}
