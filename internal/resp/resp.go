/*
Package resp is just enough of a Redis client to put scripts through the vectors without one: one connection, one call at a
time, version 2 of the protocol. Programs take redislimit/goredis or redislimit/rueidis.
*/
package resp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"weir/redislimit"
)

// Conn is a connection to one server. It is a redislimit.Store, and safe for concurrent use.
type Conn struct {
	mu     sync.Mutex
	conn   net.Conn
	r      *bufio.Reader
	broken error // why the connection cannot be used any more
}

// Dial connects to HOST:PORT.
func Dial(ctx context.Context, addr string) (*Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &Conn{conn: conn, r: bufio.NewReader(conn)}, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Run is redislimit.Store's.
func (c *Conn) Run(ctx context.Context, calls []redislimit.Call) []redislimit.Reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	replies := make([]redislimit.Reply, len(calls))
	deadline, _ := ctx.Deadline()
	if c.broken == nil {
		c.broken = c.conn.SetDeadline(deadline)
	}
	if c.broken == nil {
		_, c.broken = c.conn.Write(encode(calls))
	}
	for i := range replies {
		replies[i].Err = c.broken
		if c.broken == nil {
			replies[i].Values, replies[i].Err = c.reply()
		}
	}
	return replies
}

// Do runs a plain command whose answer is a word, such as PING or FLUSHALL.
func (c *Conn) Do(words ...string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return "", err
	}
	if _, err := c.conn.Write(command(nil, words...)); err != nil {
		return "", err
	}
	v, err := c.value(0)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(v), nil
}

func encode(calls []redislimit.Call) (b []byte) {
	for _, c := range calls {
		words := []string{"EVALSHA", c.Digest}
		if c.Source != "" {
			words = []string{"EVAL", c.Source}
		}
		words = append(words, strconv.Itoa(len(c.Keys)))
		b = command(b, append(append(words, c.Keys...), c.Args...)...)
	}
	return b
}

func command(b []byte, words ...string) []byte {
	b = fmt.Appendf(b, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// serverError is an error that the server gave: the connection is still good.
type serverError string

func (e serverError) Error() string { return string(e) }

func (c *Conn) reply() ([]any, error) {
	v, err := c.value(0)
	if err != nil {
		if !errors.As(err, new(serverError)) {
			c.broken = err
		}
		return nil, err
	}
	values, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("resp: the reply is %v, must be an array", v)
	}
	return values, nil
}

// value reads one value: an int64, a string, nil or an array of them.
func (c *Conn) value(depth int) (any, error) {
	const deepest, longest = 4, 1 << 24
	line, err := c.r.ReadString('\n')
	if err != nil || len(line) < 3 {
		return nil, errors.Join(errors.New("resp: the connection ended"), err)
	}
	kind, text := line[0], line[1:len(line)-2]
	n, notNumber := strconv.ParseInt(text, 10, 64)
	switch {
	case kind == '+':
		return text, nil
	case kind == '-':
		return nil, serverError(text)
	case notNumber != nil || kind != ':' && n > longest || depth > deepest:
		return nil, fmt.Errorf("resp: cannot read %q", line)
	case kind == ':':
		return n, nil
	case n < 0:
		return nil, nil
	case kind == '$':
		b := make([]byte, n+2)
		_, err := io.ReadFull(c.r, b)
		return string(b[:n]), err
	case kind == '*':
		all := make([]any, n)
		for i := range all {
			if all[i], err = c.value(depth + 1); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return nil, fmt.Errorf("resp: cannot read %q", line)
}
