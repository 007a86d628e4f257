package grpclimit_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"weir"
	"weir/grpclimit"
)

// exhausted is an error of a server that asks to wait; without details if wait is negative.
func exhausted(t testing.TB, code codes.Code, wait time.Duration) error {
	t.Helper()
	s := status.New(code, "no")
	if wait >= 0 {
		var err error
		s, err = s.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(wait)})
		require.NoError(t, err)
	}
	return s.Err()
}

// calls keeps when calls came, and answers with errors one after the other, then with none.
type calls struct {
	mu      sync.Mutex
	start   time.Time
	came    []time.Duration
	answers []error
}

func (c *calls) invoke(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.came = append(c.came, time.Since(c.start))
	if len(c.answers) == 0 {
		return nil
	}
	next := c.answers[0]
	c.answers = c.answers[1:]
	return next
}

func (c *calls) open(ctx context.Context, _ *grpc.StreamDesc, _ *grpc.ClientConn, _ string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	err := c.invoke(ctx, "", nil, nil, nil)
	if errors.Is(err, io.EOF) {
		return nil, err
	}
	return ending{err: err}, nil
}

// ending is a stream that ends with an error.
type ending struct {
	grpc.ClientStream
	err error
}

func (e ending) RecvMsg(any) error { return e.err }

func (c *calls) call(client *grpclimit.Client, ctx context.Context) error {
	return client.Unary(ctx, "/s/m", nil, nil, nil, c.invoke)
}

const s = time.Second

func limiterOf(t testing.TB, limit string) *weir.Local {
	t.Helper()
	l, err := weir.ParseLimit(limit)
	require.NoError(t, err)
	limiter, err := weir.New("gcra", l)
	require.NoError(t, err)
	return limiter
}

// A call waits for the limiter, then comes; what would take too long, or can never be, fails at once.
func TestClientWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &calls{start: time.Now()}
		client := &grpclimit.Client{Limiter: limiterOf(t, "1/1s")}
		for range 3 {
			require.NoError(t, c.call(client, ctx))
		}
		assert.Equal(t, []time.Duration{0, s, 2 * s}, c.came)
		for _, wait := range []time.Duration{-1, s / 2} {
			client.MaxWait = wait
			err := c.call(client, ctx)
			assert.ErrorIs(t, err, grpclimit.ErrHeld)
			assert.Equal(t, codes.ResourceExhausted, status.Code(err))
		}
		short, cancel := context.WithTimeout(ctx, s/2)
		defer cancel()
		client.MaxWait = 0
		assert.ErrorIs(t, c.call(client, short), context.DeadlineExceeded)
		assert.Equal(t, 2*s, time.Since(c.start), "nothing of this took time")
		going, cancelGoing := context.WithCancel(ctx)
		time.AfterFunc(s/4, cancelGoing)
		assert.Equal(t, codes.Canceled, status.Code(c.call(client, going)))
		assert.Len(t, c.came, 3)
	})
}

// What servers say is heeded: the next call comes no earlier, and one that may be made again is.
func TestClientHeeds(t *testing.T) {
	for _, row := range []struct {
		why     string
		answer  func() error
		retries int
		came    []time.Duration // of two calls
		first   codes.Code
	}{
		{"no retries", func() error { return exhausted(t, codes.ResourceExhausted, 3*s) }, 0, []time.Duration{0, 3 * s}, codes.ResourceExhausted},
		{"one", func() error { return exhausted(t, codes.ResourceExhausted, 3*s) }, 1, []time.Duration{0, 3 * s, 3 * s}, codes.OK},
		{"unavailable", func() error { return exhausted(t, codes.Unavailable, 3*s) }, 1, []time.Duration{0, 3 * s, 3 * s}, codes.OK},
		{"no wait is told", func() error { return exhausted(t, codes.ResourceExhausted, -1) }, 1, []time.Duration{0, 0}, codes.ResourceExhausted},
		{"another failure", func() error { return exhausted(t, codes.Internal, 3*s) }, 1, []time.Duration{0, 0}, codes.Internal},
		{"not a status", func() error { return io.ErrUnexpectedEOF }, 1, []time.Duration{0, 0}, codes.Unknown},
		{"longer than is waited for", func() error { return exhausted(t, codes.ResourceExhausted, 31*s) }, 1, []time.Duration{0}, codes.ResourceExhausted},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := &calls{start: time.Now(), answers: []error{row.answer()}}
			client := &grpclimit.Client{Retries: row.retries}
			err := c.call(client, ctx)
			assert.Equal(t, row.first, status.Code(err), row.why)
			assert.NotErrorIs(t, err, grpclimit.ErrHeld, row.why)
			err = c.call(client, ctx)
			assert.Equal(t, row.came, c.came, row.why)
			assert.Equal(t, len(row.came) == 1, errors.Is(err, grpclimit.ErrHeld), row.why)
		})
	}
}

// A server that asks for years gets a day.
func TestClientBoundsHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &calls{start: time.Now(), answers: []error{exhausted(t, codes.ResourceExhausted, 5000*time.Hour)}}
		client := &grpclimit.Client{MaxWait: 48 * time.Hour}
		require.Error(t, c.call(client, ctx))
		require.NoError(t, c.call(client, ctx))
		assert.Equal(t, []time.Duration{0, 24 * time.Hour}, c.came)
	})
}

// Of two answers that come at once the longer wait counts, and a call that waited for its limiter meanwhile gives its permit
// back if that is too long.
func TestClientIsToldWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limiterOf(t, "1/1s burst 2")
		client := &grpclimit.Client{Limiter: l}
		answer := []chan struct{}{make(chan struct{}), make(chan struct{})}
		var all sync.WaitGroup
		for i, wait := range []time.Duration{40 * s, 2 * s} {
			all.Go(func() {
				_ = client.Unary(ctx, "/s/m", nil, nil, nil, func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error {
					<-answer[i]
					return exhausted(t, codes.ResourceExhausted, wait)
				})
			})
		}
		synctest.Wait()
		c := &calls{}
		all.Go(func() { assert.ErrorIs(t, c.call(client, ctx), grpclimit.ErrHeld) })
		synctest.Wait() // it waits for the limiter, and the two for their answers
		close(answer[0])
		synctest.Wait()
		close(answer[1])
		all.Wait()
		assert.Empty(t, c.came)
		assert.EqualValues(t, 1, l.Peek(ctx, "", weir.N(0)).Remaining(), "given back")
		client.MaxWait = time.Hour
		start := time.Now()
		short, cancel := context.WithTimeout(ctx, 20*s)
		defer cancel()
		assert.ErrorIs(t, c.call(client, short), grpclimit.ErrHeld)
		assert.Zero(t, time.Since(start), "at once")
		require.NoError(t, c.call(client, ctx))
		assert.Equal(t, 39*s, time.Since(start))
	})
}

// A stream waits as a call does, and how it ends is heeded.
func TestClientStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &calls{start: time.Now(), answers: []error{nil, exhausted(t, codes.ResourceExhausted, 5*s)}}
		client := &grpclimit.Client{Limiter: limiterOf(t, "1/1s"), Key: func(context.Context, string) string { return "k" }}
		for range 3 {
			stream, err := client.Stream(ctx, nil, nil, "/s/m", c.open)
			require.NoError(t, err)
			_ = stream.RecvMsg(nil)
		}
		assert.Equal(t, []time.Duration{0, s, 6 * s}, c.came)
		c.answers = []error{io.EOF}
		_, err := client.Stream(ctx, nil, nil, "/s/m", c.open)
		assert.ErrorIs(t, err, io.EOF)
		client.MaxWait = -1
		_, err = client.Stream(ctx, nil, nil, "/s/m", c.open)
		assert.ErrorIs(t, err, grpclimit.ErrHeld)
	})
}

// Over a real connection the two halves understand each other: the second call waits as long as the server says, and goes on.
func TestClientAndServer(t *testing.T) {
	l := limiterOf(t, "100/1s burst 1")
	client := &grpclimit.Client{Retries: 20}
	c := served(t, []grpclimit.Rule{{Name: "calls", Limiter: l}}, nil,
		grpc.WithUnaryInterceptor(client.Unary), grpc.WithStreamInterceptor(client.Stream))
	for range 5 {
		require.NoError(t, check(c))
	}
	far := limiterOf(t, "1/1h")
	c = served(t, []grpclimit.Rule{{Name: "calls", Limiter: far}}, nil, grpc.WithUnaryInterceptor((&grpclimit.Client{}).Unary))
	require.NoError(t, check(c))
	assert.Equal(t, codes.ResourceExhausted, status.Code(check(c)))
	assert.ErrorIs(t, check(c), grpclimit.ErrHeld)
}

// Where the caller's time ends before the server's wait, the server's error is what the caller gets.
func TestClientHandsOnWhatItCannotWaitFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &calls{start: time.Now(), answers: []error{exhausted(t, codes.ResourceExhausted, 20*s)}}
		short, cancel := context.WithTimeout(ctx, 10*s)
		defer cancel()
		err := c.call(&grpclimit.Client{Retries: 1}, short)
		assert.NotErrorIs(t, err, grpclimit.ErrHeld)
		wait, _ := details(t, err)
		assert.Equal(t, 20*s, wait)
	})
}
