package main_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/internal/redistest"
)

// TestVerifyRedis puts the scripts on a real server through the vectors and leaves nothing there.
func TestVerifyRedis(t *testing.T) {
	server := redistest.Start(t)
	status, out, says := weirWith(t, "", "verify", "--impl", "redis", "--addr", server.Addr, "--policy", "gcra,slidinglog")
	assert.Zero(t, status, says)
	assert.Contains(t, out, "weir redislimit")
	assert.Equal(t, "0", server.Do("DBSIZE"))
	server.Kill()
	status, _, says = weirWith(t, "", "verify", "--impl", "redis", "--addr", server.Addr)
	assert.Equal(t, 2, status)
	assert.Contains(t, says, "connection refused")
}

// TestVerifyRedisHangs: a server that answers no more midway ends the run there, with one line: the case that met it timed
// out, those before passed, and those after are not run.
func TestVerifyRedisHangs(t *testing.T) {
	server := redistest.Start(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		client, err := l.Accept()
		if err != nil {
			return
		}
		defer client.Close()
		behind, err := net.Dial("tcp", server.Addr)
		if err != nil {
			return
		}
		defer behind.Close()
		go func() { _, _ = io.CopyN(client, behind, 5000) }() // of answers, and none after
		_, _ = io.Copy(behind, client)
	}()
	defer func() {
		l.Close()
		<-ended
	}()
	status, out, says := weirWith(t, "", "verify", "--impl", "redis", "--addr", l.Addr().String(), "--policy", "gcra")
	assert.Equal(t, 1, status)
	assert.Equal(t, 1, strings.Count(says, "\n"), says)
	assert.Contains(t, says, "the server was lost, and keys weir:*: may be left there: resp: no answer: context deadline exceeded")
	assert.Regexp(t, `\d+ pass, 1 timeout, \d+ not_run`, out)
	assert.Contains(t, out, "not_run: the server was lost")
}
