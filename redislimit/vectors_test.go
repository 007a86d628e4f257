package redislimit_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/internal/redistest"
	"weir/internal/resp"
	"weir/redislimit"
	"weir/vectors"
)

// dial starts a server and connects to it.
func dial(t testing.TB) (*redistest.Server, *resp.Conn) {
	t.Helper()
	s := redistest.Start(t)
	c, err := resp.Dial(t.Context(), s.Addr)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return s, c
}

// TestVectors puts the scripts through the suite on a real server, the time passed in. They lack a bound on keys and what
// is beyond 2^53, and make no keys of strings.
func TestVectors(t *testing.T) {
	server, conn := dial(t)
	t.Log(server.Version())
	suite, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	driver := vectors.NewRegistryDriver("weir redislimit", "lua", redislimit.Registry(conn)).
		Without(vectors.CanMaxKeys, vectors.CanInt64)
	report, err := vectors.Run(context.Background(), suite, driver, vectors.Options{})
	require.NoError(t, err)
	count := map[vectors.Verdict]int{}
	for _, r := range report.Results {
		count[r.Verdict]++
		if r.Verdict != vectors.Pass && r.Verdict != vectors.Unsupported {
			assert.Fail(t, r.ID, "%+v", r)
		}
	}
	t.Log(count)
	assert.Greater(t, count[vectors.Pass], 600, "or the suite is not what was run")
}
