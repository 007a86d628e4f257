package grpclimit

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"weir"
	"weir/policy"
)

// ErrHeld is what the error of a call wraps that was not made, because the wait would have been too long. Its code is
// RESOURCE_EXHAUSTED.
var ErrHeld = errors.New("held back")

// DefaultMaxWait is the MaxWait of a Client that has none.
const DefaultMaxWait = 30 * time.Second

// longestHold bounds what a server can make a Client wait.
const longestHold = 24 * time.Hour

// Client keeps the calls of one connection to limits: before a call it waits for a limiter, and for as long as a server
// asked for in the RetryInfo of an earlier answer. The zero Client does the latter alone. It must not be copied once used.
type Client struct {
	// Limiter is waited for, at a cost of 1. nil means none.
	Limiter weir.Limiter
	// Key says what shares the limit of Limiter. nil means all calls.
	Key KeyFunc
	// MaxWait bounds what all waits for one call together may take; one that would be longer fails at once, with ErrHeld. 0 means
	// DefaultMaxWait, less than 0 that nothing is waited for.
	MaxWait time.Duration
	// Retries is how often a unary call is made again that ended in RESOURCE_EXHAUSTED or UNAVAILABLE with a RetryInfo.
	Retries int

	until atomic.Int64 // nothing is to be sent before, in nanoseconds since 1970; 0 if nobody said so
}

// Unary is a grpc.UnaryClientInterceptor.
func (c *Client) Unary(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, o ...grpc.CallOption) error {
	deadline := c.deadline()
	for try := 0; ; try++ {
		if err := c.wait(ctx, method, deadline); err != nil {
			return err
		}
		err := invoke(ctx, method, request, reply, conn, o...)
		wait, told := c.note(err)
		if !told || try >= c.Retries || late(ctx, deadline, time.Now().Add(wait)) {
			return err
		}
	}
}

// Stream is a grpc.StreamClientInterceptor: it waits before it opens a stream, and does not open one again.
func (c *Client) Stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, o ...grpc.CallOption) (grpc.ClientStream, error) {
	if err := c.wait(ctx, method, c.deadline()); err != nil {
		return nil, err
	}
	s, err := open(ctx, desc, conn, method, o...)
	if err != nil {
		c.note(err)
		return nil, err
	}
	return noting{s, c}, nil
}

// noting is a stream whose end is heeded.
type noting struct {
	grpc.ClientStream
	client *Client
}

func (n noting) RecvMsg(m any) error {
	err := n.ClientStream.RecvMsg(m)
	n.client.note(err)
	return err
}

func (c *Client) deadline() time.Time {
	wait := c.MaxWait
	if wait == 0 {
		wait = DefaultMaxWait
	}
	return time.Now().Add(max(0, wait))
}

// note heeds the RetryInfo of an error, if it has one, and says how long it asks to wait.
func (c *Client) note(err error) (wait time.Duration, told bool) {
	s, ok := status.FromError(err)
	if err == nil || !ok || s.Code() != codes.ResourceExhausted && s.Code() != codes.Unavailable {
		return 0, false
	}
	for _, detail := range s.Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok && info.GetRetryDelay().IsValid() {
			wait, told = min(max(0, info.GetRetryDelay().AsDuration()), longestHold), true
		}
	}
	until := time.Now().Add(wait).UnixNano()
	for told {
		before := c.until.Load()
		if until <= before || c.until.CompareAndSwap(before, until) {
			break
		}
	}
	return wait, told
}

// wait waits for the server's word, for the limiter, and for the server's word again, for it may have come meanwhile. What the
// limiter was charged for a call that is not made after all is given back.
func (c *Client) wait(ctx context.Context, method string, deadline time.Time) error {
	if err := c.heldBack(ctx, deadline); err != nil || c.Limiter == nil {
		return err
	}
	key := ""
	if c.Key != nil {
		key = c.Key(ctx, method)
	}
	if err := c.take(ctx, key, deadline); err != nil {
		return err
	}
	err := c.heldBack(ctx, deadline)
	if err != nil {
		_ = c.Limiter.Refund(context.WithoutCancel(ctx), key, weir.N(1)) // what cannot be given back stays spent
	}
	return err
}

func (c *Client) take(ctx context.Context, key string, deadline time.Time) error {
	if !deadline.After(time.Now()) { // nothing is waited for
		switch r := c.Limiter.Allow(ctx, key); r.Outcome() {
		case policy.Allow:
			return nil
		case policy.Deny:
			return held("the limiter has nothing left", nil)
		default:
			return r.Err()
		}
	}
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	err := c.Limiter.Wait(limited, key, weir.N(1))
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	case errors.Is(err, context.DeadlineExceeded):
		return held("the limiter has nothing left for so long", err)
	}
	return err
}

// late says whether a moment is too late: after the deadline or after ctx's.
func late(ctx context.Context, deadline, at time.Time) bool {
	ends, ok := ctx.Deadline()
	return at.After(deadline) || ok && at.After(ends)
}

// heldBack waits until the server's time has come.
func (c *Client) heldBack(ctx context.Context, deadline time.Time) error {
	for {
		now := time.Now()
		at := time.Unix(0, c.until.Load())
		if !at.After(now) {
			return nil
		}
		if late(ctx, deadline, at) {
			return held(fmt.Sprintf("the server asked to wait %v more", at.Sub(now)), nil)
		}
		timer := time.NewTimer(at.Sub(now))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return status.FromContextError(ctx.Err()).Err()
		}
	}
}

// heldError is ErrHeld as gRPC knows errors.
type heldError struct {
	text  string
	cause error
}

func held(text string, cause error) error { return &heldError{text, cause} }

func (e *heldError) Error() string { return "grpclimit: held back: " + e.text }

func (e *heldError) Unwrap() []error {
	if e.cause == nil {
		return []error{ErrHeld}
	}
	return []error{ErrHeld, e.cause}
}

// GRPCStatus is what status.FromError takes.
func (e *heldError) GRPCStatus() *status.Status {
	return status.New(codes.ResourceExhausted, e.Error())
}
