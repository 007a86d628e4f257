package vectors

import (
	"fmt"
	"io"
	"strings"
	"sync"
)

// keptEnd is how much of the beginning of what a port writes to standard error is kept, and how much of the end.
const keptEnd = 32 << 10

// Of what was kept a report shows that many lines of the beginning, and as many of the end.
const shownLines = 20

// complaints is the standard error of a port since it was last asked something. However much that is, little is kept.
type complaints struct {
	mu    sync.Mutex
	head  []byte
	tail  [keptEnd]byte // a ring of all that came after head
	after int64         // how much did
}

// read takes everything until the end.
func (c *complaints) read(from io.ReadCloser) {
	defer from.Close()
	chunk := make([]byte, 64<<10)
	for {
		n, err := from.Read(chunk)
		c.add(chunk[:n])
		if err != nil {
			return
		}
	}
}

func (c *complaints) add(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(b), keptEnd-len(c.head))
	c.head = append(c.head, b[:n]...)
	b = b[n:]
	if skip := len(b) - keptEnd; skip > 0 {
		c.after += int64(skip)
		b = b[skip:]
	}
	for len(b) > 0 {
		n := copy(c.tail[c.after%keptEnd:], b)
		c.after += int64(n)
		b = b[n:]
	}
}

func (c *complaints) reset() {
	c.mu.Lock()
	c.head, c.after = c.head[:0], 0
	c.mu.Unlock()
}

// lines is what was kept, fit to be shown; nil if there is nothing.
func (c *complaints) lines() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.head) == 0 {
		return nil
	}
	var tail string
	if c.after > keptEnd {
		at := c.after % keptEnd
		tail = string(c.tail[at:]) + string(c.tail[:at])
	} else {
		tail = string(c.tail[:c.after])
	}
	var gap []string
	if lost := c.after - keptEnd; lost > 0 {
		gap = []string{fmt.Sprintf("(%d bytes left out)", lost)}
	} else {
		return shorten(split(string(c.head)+tail), nil)
	}
	return shorten(append(split(string(c.head)), split(tail)...), gap)
}

func split(s string) []string { return strings.Split(strings.TrimRight(s, "\r\n"), "\n") }

// shorten cleans the first lines and the last, and says what is not among them.
func shorten(all, gap []string) []string {
	head, tail := all, []string(nil)
	if len(all) > 2*shownLines {
		head, tail = all[:shownLines], all[len(all)-shownLines:]
		if gap == nil {
			gap = []string{fmt.Sprintf("(%d lines left out)", len(all)-2*shownLines)}
		}
	}
	var out []string
	for _, line := range head {
		out = append(out, Clean(strings.TrimSuffix(line, "\r")))
	}
	out = append(out, gap...)
	for _, line := range tail {
		out = append(out, Clean(strings.TrimSuffix(line, "\r")))
	}
	return out
}
