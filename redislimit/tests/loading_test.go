package tests_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/internal/redistest"
	"weir/policy"
	"weir/redislimit"
)

// TestLoading: a server that is reading its dump answers every call with LOADING: the fail mode answers, while the server is
// still at it, and when it is done the limiter goes on by itself, with what the dump knew. The server takes four milliseconds
// for each of 600 keys, and looks at its connections every two megabytes, which are 32 keys.
func TestLoading(t *testing.T) {
	server := redistest.Start(t, "--key-load-delay", "4000", "--rdbcompression", "no")
	loading := func() bool {
		_, err := server.Ask("PING")
		return err != nil && strings.Contains(err.Error(), "LOADING")
	}
	each(t, []string{server.Addr}, func(t *testing.T, s redislimit.Store) {
		closed := limiter(t, s, "gcra", "5/d")
		open := limiter(t, s, "gcra", "5/d", redislimit.WithPrefix("open"), redislimit.FailOpen())
		part := limiter(t, s, "gcra", "6/d", redislimit.WithPrefix("part"), redislimit.FailLocal(2))
		require.True(t, closed.AllowN(ctx, "k", weir.N(2)).OK())
		server.Do("EVAL", "for i = 1, 600 do redis.call('SET', 'fill:' .. i, string.rep('x', 65536)) end return 'filled'", "0")
		server.Do("SAVE")
		server.Kill()
		server.Launch()
		require.Eventually(t, loading, patient, time.Millisecond, "or this server has no such delay")
		require.Eventually(t, func() bool { // a client may have to find first that its connection is gone
			err := closed.Refund(ctx, "k", weir.N(1))
			return assert.ErrorIs(t, err, weir.ErrUnavailable) && strings.Contains(err.Error(), "LOADING")
		}, patient, time.Millisecond)
		assert.Equal(t, policy.Unavailable, closed.Allow(ctx, "k").Outcome())
		assert.True(t, open.AllowN(ctx, "k", weir.N(1000)).OK())
		assert.Equal(t, int64(3), crowd(10, 1, func() bool { return part.Allow(ctx, "k").OK() }), "half of 6")
		assert.True(t, loading(), "all of this while the server was at it")
		back(t, closed)
		assert.Equal(t, int64(3), crowd(4, 10, func() bool { return closed.Allow(ctx, "k").OK() }), "2 of 5 are in the dump")
	})
}
