package tests_test

import (
	"context"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"weir"
	"weir/redislimit"
	"weir/redislimit/goredis"
	"weir/redislimit/rueidis"
)

// TestMain fails if a goroutine is left when all tests have ended.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var ctx = context.Background()

// patient is a timeout for calls of which a test asserts that they are answered.
const patient = 20 * time.Second

// each runs a test with the store of each client. Where there is more than one address they are those of a Cluster.
func each(t *testing.T, addrs []string, test func(t *testing.T, s redislimit.Store)) {
	t.Helper()
	t.Run("goredis", func(t *testing.T) {
		c := goredisclient.NewUniversalClient(&goredisclient.UniversalOptions{Addrs: addrs, DialerRetries: 1})
		defer c.Close()
		test(t, goredis.Store(c))
	})
	t.Run("goredis with ContextTimeoutEnabled", func(t *testing.T) {
		c := goredisclient.NewUniversalClient(&goredisclient.UniversalOptions{Addrs: addrs, DialerRetries: 1, ContextTimeoutEnabled: true})
		defer c.Close()
		test(t, goredis.Store(c))
	})
	t.Run("rueidis", func(t *testing.T) {
		c, err := rueidisclient.NewClient(rueidisclient.ClientOption{InitAddress: addrs, DisableCache: true})
		require.NoError(t, err)
		defer c.Close()
		test(t, rueidis.Store(c))
	})
}

func limiter(t testing.TB, s redislimit.Store, name, limit string, o ...redislimit.Option) *redislimit.Limiter {
	t.Helper()
	parsed, err := weir.ParseLimit(limit)
	require.NoError(t, err)
	l, err := redislimit.New(s, name, parsed, append([]redislimit.Option{redislimit.WithTimeout(patient),
		redislimit.WithPrefix(t.Name())}, o...)...)
	require.NoError(t, err)
	return l
}

// limits has a limit for each policy, of 5 permits that do not come back while a test runs.
var limits = map[string]string{
	"gcra": "5/d", "tokenbucket": "5/d", "leakybucket": "5/d", "slidinglog": "5/d", "dualbucket": "9/d & 5/d",
}

// back waits until a limiter is answered by its server again.
func back(t testing.TB, l *redislimit.Limiter) {
	t.Helper()
	require.Eventually(t, func() bool {
		return l.Peek(ctx, "back", weir.N(0)).OK()
	}, 60*time.Second, 10*time.Millisecond, "it does not come back by itself")
}
