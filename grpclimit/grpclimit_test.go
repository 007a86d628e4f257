package grpclimit_test

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"weir"
	"weir/grpclimit"
	"weir/policy"
)

var ctx = context.Background()

// standing is a clock that moves when it is told to.
type standing struct{ now atomic.Int64 }

func (c *standing) Now() time.Duration                         { return time.Duration(c.now.Load()) }
func (c *standing) Sleep(context.Context, time.Duration) error { return nil }

func made(t testing.TB, name, limit string, o ...weir.Option) (*weir.Local, *standing) {
	t.Helper()
	l, err := weir.ParseLimit(limit)
	require.NoError(t, err)
	clock := &standing{}
	limiter, err := weir.New(name, l, append([]weir.Option{weir.WithClock(clock)}, o...)...)
	require.NoError(t, err)
	return limiter, clock
}

// served is a client of gRPC's own health service on loopback, behind rules.
func served(t testing.TB, rules []grpclimit.Rule, server []grpclimit.Option, client ...grpc.DialOption) healthpb.HealthClient {
	t.Helper()
	limits, err := grpclimit.New(rules, server...)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := grpc.NewServer(grpc.ChainUnaryInterceptor(limits.Unary), grpc.ChainStreamInterceptor(limits.Stream))
	healthpb.RegisterHealthServer(s, health.NewServer())
	go func() { _ = s.Serve(listener) }()
	t.Cleanup(s.Stop)
	conn, err := grpc.NewClient(listener.Addr().String(), append(client, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return healthpb.NewHealthClient(conn)
}

func check(c healthpb.HealthClient, o ...string) error {
	_, err := c.Check(metadata.AppendToOutgoingContext(ctx, o...), &healthpb.HealthCheckRequest{})
	return err
}

// watch opens a stream and reads one message.
func watch(c healthpb.HealthClient) error {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	s, err := c.Watch(limited, &healthpb.HealthCheckRequest{})
	if err != nil {
		return err
	}
	_, err = s.Recv()
	return err
}

// details are the wait and the rules at fault that an error tells; the wait is -1 if it tells none.
func details(t testing.TB, err error) (wait time.Duration, rules []string) {
	t.Helper()
	wait = -1
	for _, d := range status.Convert(err).Details() {
		switch d := d.(type) {
		case *errdetails.RetryInfo:
			wait = d.GetRetryDelay().AsDuration()
		case *errdetails.QuotaFailure:
			for _, v := range d.GetViolations() {
				rules = append(rules, v.GetSubject())
			}
		}
	}
	return wait, rules
}

// Calls and streams are denied alike, with the exact wait, and let through when it is over.
func TestServer(t *testing.T) {
	l, clock := made(t, "gcra", "3/1s burst 2")
	c := served(t, []grpclimit.Rule{{Name: "calls", Limiter: l}}, nil)
	require.NoError(t, check(c))
	require.NoError(t, watch(c))
	for _, denied := range []error{check(c), watch(c)} {
		assert.Equal(t, codes.ResourceExhausted, status.Code(denied))
		wait, rules := details(t, denied)
		assert.Equal(t, 333333334*time.Nanosecond, wait)
		assert.Equal(t, []string{"calls"}, rules)
	}
	clock.now.Add(333333333)
	assert.Error(t, check(c))
	clock.now.Add(1)
	assert.NoError(t, check(c))
}

// Several rules with keys, costs and plans of their own: all are charged or none.
func TestServerRules(t *testing.T) {
	user, clock := made(t, "gcra", "2/1h")
	pro, _ := made(t, "gcra", "5/1h", weir.WithClock(clock))
	tenant, _ := made(t, "slidinglog", "40/1h", weir.WithClock(clock))
	plan := func(ctx context.Context, method string) weir.Limiter {
		if !strings.HasPrefix(method, "/grpc.health.v1.Health/") {
			return nil
		}
		if grpclimit.Metadata("plan")(ctx, method) == "pro" {
			return pro
		}
		return user
	}
	cost := func(context.Context, string) weir.Cost { return weir.N(10) }
	c := served(t, []grpclimit.Rule{
		{Name: "user", Plan: plan, Key: grpclimit.Metadata("user")},
		{Name: "tenant", Limiter: tenant, Key: grpclimit.Metadata("tenant"), Cost: cost},
	}, nil)
	for i, row := range []struct {
		user, plan string
		wait       time.Duration
		rules      []string
	}{
		{"a", "", -1, nil},
		{"a", "", -1, nil},
		{"a", "", 30 * time.Minute, []string{"user"}},
		{"b", "pro", -1, nil},
		{"b", "pro", -1, nil},
		{"b", "pro", time.Hour, []string{"tenant"}},
		{"a", "", time.Hour, []string{"user", "tenant"}},
	} {
		wait, rules := details(t, check(c, "user", row.user, "plan", row.plan, "tenant", "t"))
		assert.Equal(t, row.wait, wait, i)
		assert.Equal(t, row.rules, rules, i)
	}
	assert.EqualValues(t, 3, pro.Peek(ctx, "b", weir.N(0)).Remaining())
	assert.EqualValues(t, 40, tenant.Peek(ctx, "", weir.N(0)).Remaining())
}

// The longest wait counts wherever its rule stands.
func TestLongestWait(t *testing.T) {
	slow, clock := made(t, "gcra", "1/1h")
	fast, _ := made(t, "gcra", "1/2s", weir.WithClock(clock))
	c := served(t, []grpclimit.Rule{{Name: "slow", Limiter: slow}, {Name: "fast", Limiter: fast}}, nil)
	require.NoError(t, check(c))
	wait, rules := details(t, check(c))
	assert.Equal(t, time.Hour, wait)
	assert.Equal(t, []string{"slow", "fast"}, rules)
}

// No wait helps a cost that can never fit; a limiter without an answer is an outage, or passed over; a dry rule lets all
// through.
func TestServerOutcomes(t *testing.T) {
	l, _ := made(t, "gcra", "5/1h")
	full, _ := made(t, "gcra", "5/1h", weir.WithMaxKeys(1))
	full.Allow(ctx, "somebody else")
	costly := func(context.Context, string) weir.Cost { return weir.N(6) }
	none := func(context.Context, string) weir.Limiter { return nil }
	open := []grpclimit.Option{grpclimit.FailOpen()}
	good, bad := grpclimit.Rule{Name: "good", Limiter: l}, grpclimit.Rule{Name: "never", Limiter: l, Cost: costly}
	for _, row := range []struct {
		why   string
		rules []grpclimit.Rule
		open  []grpclimit.Option
		want  codes.Code
		at    []string
	}{
		{"never", []grpclimit.Rule{bad}, nil, codes.ResourceExhausted, []string{"never"}},
		{"full", []grpclimit.Rule{{Name: "full", Limiter: full}}, nil, codes.Unavailable, nil},
		{"full, open", []grpclimit.Rule{{Name: "full", Limiter: full}}, open, codes.OK, nil},
		{"full beside good", []grpclimit.Rule{{Name: "full", Limiter: full}, good}, nil, codes.Unavailable, nil},
		{"full beside good, open", []grpclimit.Rule{{Name: "full", Limiter: full}, good}, open, codes.OK, nil},
		{"full beside never, open", []grpclimit.Rule{{Name: "full", Limiter: full}, bad}, open, codes.ResourceExhausted, []string{"never"}},
		{"dry", []grpclimit.Rule{{Name: "dry", Limiter: l, Cost: costly, DryRun: true}, good}, nil, codes.OK, nil},
		{"holds for nobody", []grpclimit.Rule{{Name: "none", Plan: none, Cost: costly}}, nil, codes.OK, nil},
	} {
		err := check(served(t, row.rules, row.open))
		assert.Equal(t, row.want, status.Code(err), row.why)
		wait, rules := details(t, err)
		assert.EqualValues(t, -1, wait, row.why)
		assert.Equal(t, row.at, rules, row.why)
	}
	assert.EqualValues(t, 3, l.Peek(ctx, "127.0.0.1", weir.N(0)).Remaining(), "two calls went on")
}

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }

// Whose call it is: the peer without its port, the last of several values, a hash of what is too long.
func TestKeys(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[2001:db8:1:2:3::4]:80": "2001:db8:1:2::/64", "[::ffff:192.0.2.1]:80": "192.0.2.1",
		"[fe80::1%eth0]:80": "fe80::/64", "bufconn": "bufconn", "host:80": "host:80", "": "",
	} {
		assert.Equal(t, want, grpclimit.Peer(peer.NewContext(ctx, &peer.Peer{Addr: address(text)}), ""))
	}
	assert.Empty(t, grpclimit.Peer(ctx, ""))
	assert.Empty(t, grpclimit.Peer(peer.NewContext(ctx, &peer.Peer{}), ""))
	in := metadata.NewIncomingContext(ctx, metadata.Pairs("user", "spoofed", "user", "ann"))
	assert.Equal(t, "ann", grpclimit.Metadata("User")(in, ""))
	assert.Empty(t, grpclimit.Metadata("other")(in, ""))

	l, _ := made(t, "gcra", "1/1h")
	c := served(t, []grpclimit.Rule{{Name: "a", Limiter: l, Key: grpclimit.Metadata("k")}}, nil)
	long := strings.Repeat("k", 257)
	require.NoError(t, check(c, "k", long))
	assert.Error(t, check(c, "k", long))
	assert.NoError(t, check(c, "k", long+"k"))
	assert.EqualValues(t, 1, l.Peek(ctx, long, weir.N(0)).Remaining())
}

func TestNewRefuses(t *testing.T) {
	l, _ := made(t, "gcra", "1/1h")
	good := grpclimit.Rule{Name: "a", Limiter: l}
	for _, row := range []struct {
		rules []grpclimit.Rule
		o     []grpclimit.Option
		want  string
	}{
		{nil, nil, "has 0 rules, must have from 1 to 16"},
		{[]grpclimit.Rule{{Limiter: l}}, nil, "Name has 0 bytes"},
		{[]grpclimit.Rule{{Name: "\n", Limiter: l}}, nil, "Name holds the byte 0xa"},
		{[]grpclimit.Rule{{Name: "a"}}, nil, "of Limiter and Plan one must be given"},
		{[]grpclimit.Rule{good, good}, nil, `rule 2: Name is "a", must differ`},
		{[]grpclimit.Rule{good}, []grpclimit.Option{nil}, "an option is nil"},
	} {
		_, err := grpclimit.New(row.rules, row.o...)
		assert.ErrorContains(t, err, row.want)
	}
}

// A load from eight goroutines on a clock that stands: exactly the burst goes on.
func TestLoad(t *testing.T) {
	l, _ := made(t, "gcra", "100/s burst 300")
	c := served(t, []grpclimit.Rule{{Name: "a", Limiter: l}}, nil)
	var left, allowed atomic.Int64
	left.Store(5000)
	done := make(chan struct{})
	for range 8 {
		go func() {
			defer func() { done <- struct{}{} }()
			for left.Add(-1) >= 0 {
				switch err := check(c); status.Code(err) {
				case codes.OK:
					allowed.Add(1)
				case codes.ResourceExhausted:
				default:
					assert.NoError(t, err)
				}
			}
		}()
	}
	for range 8 {
		<-done
	}
	assert.EqualValues(t, 300, allowed.Load())
}

// gone is a limiter whose store cannot be asked.
type gone struct{ weir.Limiter }

func (gone) Peek(context.Context, string, weir.Cost) weir.Result {
	return weir.NewResult(policy.Refused(policy.Unavailable), 1, 0)
}

// A call that is denied whatever a failed limiter would have said is denied once, also to who counts.
func TestFailOpenDeniesOnce(t *testing.T) {
	a, _ := made(t, "gcra", "1/h")
	b, _ := made(t, "gcra", "1/h")
	key := func(context.Context, string) string { return "k" }
	a.Allow(ctx, "k")
	denied := 0
	seen := weir.Observed(a, weir.Observer{Decided: func(context.Context, weir.Cost, weir.Result) { denied++ }})
	c := served(t, []grpclimit.Rule{{Name: "a", Limiter: seen, Key: key}, {Name: "b", Limiter: gone{b}, Key: key}},
		[]grpclimit.Option{grpclimit.FailOpen()})
	assert.Equal(t, codes.ResourceExhausted, status.Code(check(c)))
	assert.Equal(t, 1, denied)
}
