package resp_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/internal/redistest"
	"weir/internal/resp"
	"weir/redislimit"
)

// two is a call of a script that answers with one number.
var two = []redislimit.Call{{Source: "return {2}", Keys: []string{"k"}}}

// silent is a connection to a listener that reads everything and answers nothing; heard is closed when something came.
func silent(t *testing.T) (c *resp.Conn, heard <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	got, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			close(got)
		}
		_, _ = io.Copy(io.Discard, conn) // until the connection ends
	}()
	c, err = resp.Dial(t.Context(), l.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() {
		c.Close()
		l.Close()
		<-ended
	})
	return c, got
}

// TestCancelled: a ctx that is cancelled ends a call that has no deadline, in flight or in the queue for the connection, and
// the connection with what was in flight: its answer may come yet.
func TestCancelled(t *testing.T) {
	c, heard := silent(t)
	flying, cancel := context.WithCancel(t.Context())
	defer cancel()
	landed := make(chan []redislimit.Reply)
	go func() { landed <- c.Run(flying, two) }()
	<-heard
	queued, leave := context.WithCancel(t.Context())
	waited := make(chan []redislimit.Reply)
	go func() { waited <- c.Run(queued, two) }()
	leave()
	assert.ErrorIs(t, (<-waited)[0].Err, context.Canceled)
	cancel()
	assert.EqualError(t, (<-landed)[0].Err, "resp: no answer: context canceled")
	why := c.Broken()
	assert.ErrorIs(t, why, context.Canceled)
	assert.Equal(t, why, c.Run(t.Context(), two)[0].Err)
	_, err := c.Do("PING")
	assert.Equal(t, why, err)
}

// TestDeadline: so does a deadline.
func TestDeadline(t *testing.T) {
	c, _ := silent(t)
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	assert.EqualError(t, c.Run(soon, two)[0].Err, "resp: no answer: context deadline exceeded")
}

// TestCancelledAtTheEnd: a ctx that ends as the answer comes breaks the connection or leaves it good for the next call.
func TestCancelledAtTheEnd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	good := 0
	for range 200 {
		c, err := resp.Dial(t.Context(), l.Addr().String())
		require.NoError(t, err)
		server, err := l.Accept()
		require.NoError(t, err)
		flying, cancel := context.WithCancel(t.Context())
		go func() {
			defer server.Close()
			for range 2 {
				_, _ = server.Read(make([]byte, 1<<16))
				_, _ = server.Write([]byte("*1\r\n:2\r\n"))
				cancel()
			}
		}()
		c.Run(flying, two)
		if c.Broken() == nil {
			good++
			require.Equal(t, redislimit.Reply{Values: []any{int64(2)}}, c.Run(t.Context(), two)[0])
		}
		require.NoError(t, c.Close())
	}
	assert.Positive(t, good, "or this test sees nothing")
}

// TestGoesOn: a ctx that ends before a call or after it, and an error that the server gives, leave the connection as it is.
func TestGoesOn(t *testing.T) {
	c, err := resp.Dial(t.Context(), redistest.Start(t).Addr)
	require.NoError(t, err)
	defer c.Close()
	gone, cancel := context.WithCancel(t.Context())
	require.NoError(t, c.Run(gone, two)[0].Err)
	cancel()
	assert.ErrorIs(t, c.Run(gone, two)[0].Err, context.Canceled)
	_, err = c.Do("NONSENSE")
	assert.ErrorContains(t, err, "unknown command")
	replies := c.Run(t.Context(), []redislimit.Call{{Digest: "0", Keys: []string{"k"}}, two[0]})
	assert.ErrorContains(t, replies[0].Err, "NOSCRIPT")
	assert.Equal(t, redislimit.Reply{Values: []any{int64(2)}}, replies[1])
	assert.NoError(t, c.Broken())
}
