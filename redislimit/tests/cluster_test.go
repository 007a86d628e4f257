package tests_test

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/internal/redistest"
	"weir/policy"
	"weir/redislimit"
	"weir/redislimit/goredis"
	"weir/redislimit/rueidis"
)

const slots = 16384

// cluster starts three nodes with a third of the slots each.
func cluster(t *testing.T) (nodes []*redistest.Server, addrs []string) {
	t.Helper()
	for i := range 3 {
		n := redistest.Start(t, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000",
			"--cluster-require-full-coverage", "no")
		nodes, addrs = append(nodes, n), append(addrs, n.Addr)
		words := []string{"CLUSTER", "ADDSLOTS"}
		for slot := i * slots / 3; slot < (i+1)*slots/3; slot++ {
			words = append(words, strconv.Itoa(slot))
		}
		n.Do(words...)
	}
	for _, n := range nodes[1:] {
		nodes[0].Do("CLUSTER", "MEET", "127.0.0.1", n.Port())
	}
	require.Eventually(t, func() bool {
		for _, n := range nodes {
			info := n.Do("CLUSTER", "INFO")
			if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, "cluster_slots_assigned:16384") ||
				!strings.Contains(info, "cluster_known_nodes:3") {
				return false
			}
		}
		return true
	}, 60*time.Second, 50*time.Millisecond, "the nodes do not find each other")
	return nodes, addrs
}

// TestCluster: keys on all three nodes, scripts that a node has forgotten, limits asked together, and a slot that moves.
func TestCluster(t *testing.T) {
	nodes, addrs := cluster(t)
	each(t, addrs, func(t *testing.T, s redislimit.Store) {
		vectorsPass(t, s)
		l := limiter(t, s, "gcra", "1/d")
		var requests []redislimit.Request
		for i := range 10_000 {
			requests = append(requests, redislimit.Request{Key: fmt.Sprint(i), Cost: weir.N(1)})
		}
		nodes[1].Do("SCRIPT", "FLUSH")
		for range 2 {
			for i := 0; i < len(requests); i += 1000 {
				l.AllowBatch(ctx, requests[i:i+1000])
			}
		}
		assert.Equal(t, redislimit.Counts{Allowed: 10_000, Denied: 10_000}, l.Counts())

		day, tenant := limiter(t, s, "slidinglog", "5/d"), limiter(t, s, "tokenbucket", "7/d")
		admitted := crowd(16, 10, func() bool {
			v, err := redislimit.Together(ctx, redislimit.Ask{Limiter: day, Key: "{acme}/u", Cost: weir.N(1)}, redislimit.Ask{Limiter: tenant, Key: "{acme}", Cost: weir.N(1)})
			return assert.NoError(t, err) && v.OK()
		})
		assert.Equal(t, int64(5), admitted)
		assert.Equal(t, uint64(2), tenant.Peek(ctx, "{acme}", weir.N(0)).Remaining())
		_, err := redislimit.Together(ctx, redislimit.Ask{Limiter: day, Key: "a"}, redislimit.Ask{Limiter: tenant, Key: "b"})
		assert.ErrorIs(t, err, redislimit.ErrHashTags)
	})
}

// TestMoved: the slot of a key goes to another node. The client, which does not know yet, is told so and asks there; its
// charge is made once.
func TestMoved(t *testing.T) {
	nodes, addrs := cluster(t)
	each(t, addrs, func(t *testing.T, s redislimit.Store) {
		l := limiter(t, s, "gcra", "5/d")
		for i := range 30 {
			key := fmt.Sprint("moved ", i)
			require.NoError(t, l.Forget(ctx, key)) // the client knows the slot's node now
			slot := nodes[0].Do("CLUSTER", "KEYSLOT", "{"+key+"}")
			n, err := strconv.Atoi(slot)
			require.NoError(t, err)
			to := nodes[(n*3/slots+1+i%2)%3].Do("CLUSTER", "MYID")
			for _, node := range nodes {
				node.Do("CLUSTER", "SETSLOT", slot, "NODE", to)
			}
			r := l.Allow(ctx, key)
			assert.Equal(t, policy.Allow, r.Outcome(), key)
			assert.Equal(t, uint64(4), r.Remaining(), key)
		}
	})
}

// TestReplica: a server that takes no writes is unavailable, and serves again by itself when it is a primary.
func TestReplica(t *testing.T) {
	primary := redistest.Start(t)
	server := redistest.Start(t)
	each(t, []string{server.Addr}, func(t *testing.T, s redislimit.Store) {
		l := limiter(t, s, "gcra", "5/d")
		back(t, l)
		server.Do("REPLICAOF", "127.0.0.1", primary.Port())
		require.Eventually(t, func() bool { return strings.Contains(server.Do("INFO", "replication"), "master_link_status:up") },
			60*time.Second, 20*time.Millisecond)
		assert.Equal(t, policy.Unavailable, l.Allow(ctx, "k").Outcome())
		server.Do("REPLICAOF", "NO", "ONE")
		back(t, l)
		assert.Equal(t, int64(5), crowd(4, 10, func() bool { return l.Allow(ctx, "k").OK() }))
	})
}

// TestFailover: a primary dies and Sentinel makes its replica the primary. The limiter goes on by itself; what had been
// replicated is not spent twice.
func TestFailover(t *testing.T) {
	for _, name := range []string{"goredis", "rueidis"} {
		t.Run(name, func(t *testing.T) {
			primary := redistest.Start(t)
			replica := redistest.Start(t)
			replica.Do("REPLICAOF", "127.0.0.1", primary.Port())
			require.Eventually(t, func() bool { return strings.Contains(primary.Do("INFO", "replication"), "state=online") },
				60*time.Second, 20*time.Millisecond)
			sentinel := redistest.StartSentinel(t, "weir", primary)
			require.Eventually(t, func() bool { return strings.Contains(sentinel.Do("INFO", "sentinel"), "slaves=1") },
				60*time.Second, 20*time.Millisecond)
			s, done := failoverStore(t, name, sentinel.Addr)
			defer done()
			l := limiter(t, s, "gcra", "1000/d", redislimit.WithTimeout(time.Second))
			back(t, l)
			before := crowd(8, 50, func() bool { return l.Allow(ctx, "k").OK() })
			require.Equal(t, int64(400), before)
			require.Eventually(t, func() bool { return offset(primary) == offset(replica) }, 60*time.Second, 10*time.Millisecond)
			var all sync.WaitGroup
			all.Go(primary.Kill)
			during := crowd(8, 5, func() bool { return l.Allow(ctx, "k").OK() })
			all.Wait()
			require.Eventually(t, func() bool {
				_, _ = sentinel.Ask("SENTINEL", "FAILOVER", "weir") // it may be at it already, or not know the replica yet
				return strings.Contains(replica.Do("INFO", "replication"), "role:master")
			}, 120*time.Second, 50*time.Millisecond, "Sentinel does not make it the primary")
			back(t, l)
			after := crowd(8, 200, func() bool { return l.Allow(ctx, "k").OK() })
			assert.GreaterOrEqual(t, before+during+after, int64(900), "it goes on")
			assert.LessOrEqual(t, before+after, int64(1000), "what was replicated is not spent twice")
		})
	}
}

// offset is how far a server is in the stream of changes.
func offset(s *redistest.Server) string {
	info := s.Do("INFO", "replication")
	_, rest, _ := strings.Cut(info, "master_repl_offset:")
	n, _, _ := strings.Cut(rest, "\r\n")
	return n
}

func failoverStore(t *testing.T, name, sentinel string) (redislimit.Store, func()) {
	t.Helper()
	if name == "goredis" {
		c := goredisclient.NewFailoverClient(&goredisclient.FailoverOptions{MasterName: "weir", SentinelAddrs: []string{sentinel}})
		return goredis.Store(c), func() { c.Close() }
	}
	c, err := rueidisclient.NewClient(rueidisclient.ClientOption{InitAddress: []string{sentinel}, DisableCache: true,
		Sentinel: rueidisclient.SentinelOption{MasterSet: "weir"}})
	require.NoError(t, err)
	return rueidis.Store(c), c.Close
}
