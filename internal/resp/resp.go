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
	"time"

	"weir/redislimit"
)

// Conn is a connection to one server. It is a redislimit.Store, and safe for concurrent use.
type Conn struct {
	turn   chan struct{} // full while somebody uses the rest
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
	return &Conn{turn: make(chan struct{}, 1), conn: conn, r: bufio.NewReader(conn)}, nil
}

// Close closes the connection.
func (c *Conn) Close() error { return c.conn.Close() }

// Broken is why the connection cannot be used any more, nil if it can. It waits for a call that is under way.
func (c *Conn) Broken() error {
	c.turn <- struct{}{}
	defer func() { <-c.turn }()
	return c.broken
}

// Run is redislimit.Store's. If ctx ends after something was sent the connection is broken: the answer may come yet, for
// another question.
func (c *Conn) Run(ctx context.Context, calls []redislimit.Call) []redislimit.Reply {
	replies := make([]redislimit.Reply, len(calls))
	leave, err := c.enter(ctx)
	if err == nil {
		defer leave()
		c.send(ctx, encode(calls))
		err = c.broken
	}
	for i := range replies {
		if replies[i].Err = err; err != nil {
			continue
		}
		replies[i].Values, replies[i].Err = c.reply(ctx)
		err = c.broken
	}
	return replies
}

// enter waits for the connection, which from then on until leave fails at once when ctx ends.
func (c *Conn) enter(ctx context.Context) (leave func(), err error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		<-c.turn
		return nil, err
	}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.SetDeadline(time.Unix(1, 0)) // fails only on a closed connection
		close(ended)
	})
	return func() {
		if !stop() {
			<-ended
			_ = c.conn.SetDeadline(time.Time{})
		}
		<-c.turn
	}, nil
}

func (c *Conn) send(ctx context.Context, b []byte) {
	if c.broken == nil {
		_, err := c.conn.Write(b)
		c.fail(ctx, err)
	}
}

// fail notes an error after which the connection cannot be used.
func (c *Conn) fail(ctx context.Context, err error) {
	switch {
	case err == nil || errors.As(err, new(serverError)):
	case ctx.Err() != nil:
		c.broken = fmt.Errorf("resp: no answer: %w", ctx.Err())
	default:
		c.broken = err
	}
}

// Do runs a plain command whose answer is a word, such as PING or FLUSHALL.
func (c *Conn) Do(words ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	leave, err := c.enter(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	c.send(ctx, command(nil, words...))
	v, err := c.read(ctx)
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

// read reads an answer, unless the connection is broken.
func (c *Conn) read(ctx context.Context) (any, error) {
	if c.broken != nil {
		return nil, c.broken
	}
	v, err := c.value(0)
	if c.fail(ctx, err); c.broken != nil {
		return nil, c.broken
	}
	return v, err
}

func (c *Conn) reply(ctx context.Context) ([]any, error) {
	v, err := c.read(ctx)
	if err != nil {
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
	short, err := c.r.ReadSlice('\n') // no line is longer than the buffer
	line := string(short)
	if err != nil {
		return nil, fmt.Errorf("resp: the connection ended: %w", err)
	}
	if len(line) < 3 {
		return nil, fmt.Errorf("resp: cannot read %q", line)
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
		var all []any // grows with what comes, whatever n says
		for range n {
			one, err := c.value(depth + 1)
			if err != nil {
				return nil, err
			}
			all = append(all, one)
		}
		return all, nil
	}
	return nil, fmt.Errorf("resp: cannot read %q", line)
}
