package main_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

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
