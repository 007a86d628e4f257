package httplimit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"weir"
	"weir/policy"
)

// ErrHeld is what the error of a request wraps that was not sent, because the wait would have been too long.
var ErrHeld = errors.New("held back")

// DefaultMaxWait is the MaxWait of a Transport that has none.
const DefaultMaxWait = 30 * time.Second

// Transport is a client that keeps to limits: before it sends a request it waits for a limiter, and for as long as the
// server asked for in an earlier answer, by Retry-After, or by a RateLimit item with nothing left. The zero Transport does
// the latter alone. It is safe for concurrent use and must not be copied once used.
type Transport struct {
	// Base sends the requests. nil means http.DefaultTransport.
	Base http.RoundTripper
	// Limiter is waited for, at a cost of 1. nil means none.
	Limiter weir.Limiter
	// Key says what shares a limit: of Limiter, and of what servers ask for. nil means the URL's host, with its port.
	Key KeyFunc
	// MaxWait bounds what all waits for one request together may take; one that would be longer fails at once, with
	// ErrHeld, and is not sent. 0 means DefaultMaxWait, less than 0 that nothing is waited for.
	MaxWait time.Duration
	// Retries is how often a request is sent again that was answered 429 with a time to wait; or 503 with one, if the method is
	// idempotent. Only a request without a body, or with GetBody, can be sent again. If none are left, or if the wait would be
	// too long, the answer is what the caller gets.
	Retries int

	holds holds
}

// RoundTrip is http.RoundTripper's. An error of its own wraps ErrHeld, one of the limiter (weir.ErrTooCostly and others) or
// that of the request's context.
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	key := r.URL.Host
	if t.Key != nil {
		key = t.Key.of(r)
	}
	left := t.MaxWait
	if left == 0 {
		left = DefaultMaxWait
	}
	deadline := time.Now().Add(max(0, left))
	if ends, ok := r.Context().Deadline(); ok && ends.Before(deadline) {
		deadline = ends
	}
	for try := 0; ; try++ {
		if err := t.wait(r.Context(), key, deadline); err != nil {
			closeBody(r)
			return nil, err
		}
		answer, err := t.base().RoundTrip(r)
		if err != nil {
			return nil, err
		}
		now := time.Now()
		wait := told(answer, now)
		if wait > 0 {
			t.holds.hold(key, now, wait)
		}
		if try >= t.Retries || !again(r, answer) || t.longer(r.Context(), key, wait, deadline.Sub(now)) {
			return answer, nil
		}
		next, err := anew(r)
		if err != nil {
			return answer, nil // it cannot be sent again after all
		}
		drain(answer.Body)
		r = next
	}
}

// longer says whether the server's wait, or that for the limiter as it is now, is longer than what is left.
func (t *Transport) longer(ctx context.Context, key string, wait, left time.Duration) bool {
	if t.Limiter != nil {
		wait = max(wait, t.Limiter.Peek(ctx, key, weir.N(1)).RetryAfter())
	}
	return wait > left
}

// CloseIdleConnections is what http.Client.CloseIdleConnections calls.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// wait waits for the server's word, for the limiter, and for the server's word again, for it may have come meanwhile. What the
// limiter was charged for a request that is not sent after all is given back.
func (t *Transport) wait(ctx context.Context, key string, deadline time.Time) error {
	if err := t.heldBack(ctx, key, deadline); err != nil || t.Limiter == nil {
		return err
	}
	limited, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := t.take(ctx, limited, key); err != nil {
		return err
	}
	err := t.heldBack(ctx, key, deadline)
	if err != nil {
		_ = t.Limiter.Refund(context.WithoutCancel(ctx), key, weir.N(1)) // what cannot be given back stays spent
	}
	return err
}

// take spends one permit of the limiter before the deadline of limited.
func (t *Transport) take(ctx, limited context.Context, key string) error {
	if limited.Err() != nil && ctx.Err() == nil { // nothing is waited for
		if r := t.Limiter.Allow(ctx, key); r.Outcome() != policy.Deny {
			return r.Err()
		}
		return fmt.Errorf("httplimit: %w: the limiter has nothing left", ErrHeld)
	}
	err := t.Limiter.Wait(limited, key, weir.N(1))
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return fmt.Errorf("httplimit: %w: %w", ErrHeld, err)
	}
	return err
}

// heldBack waits until the server's time for a key has come.
func (t *Transport) heldBack(ctx context.Context, key string, deadline time.Time) error {
	for {
		now := time.Now()
		wait := t.holds.wait(key, now)
		if wait <= 0 {
			return ctx.Err()
		}
		if now.Add(wait).After(deadline) {
			return fmt.Errorf("httplimit: %w: the server asked to wait %v more", ErrHeld, wait)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// idempotent are the methods of RFC 9110, section 9.2.2, that net/http sends.
var idempotent = []string{"", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete}

// again says whether a request may be sent again after this answer: it was not done, and will be later.
func again(r *http.Request, answer *http.Response) bool {
	if _, ok := retryWait(answer.Header.Get(fieldNames[retryField]), answer.Header.Get("Date"), time.Now()); !ok {
		return false
	}
	return answer.StatusCode == http.StatusTooManyRequests ||
		answer.StatusCode == http.StatusServiceUnavailable && slices.Contains(idempotent, r.Method)
}

var errBody = errors.New("the body cannot be had again")

// anew is a request to send again, with its body from the start.
func anew(r *http.Request) (*http.Request, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return r, nil
	}
	if r.GetBody == nil {
		return nil, errBody
	}
	body, err := r.GetBody()
	if err != nil {
		return nil, err
	}
	next := r.Clone(r.Context())
	next.Body = body
	return next, nil
}

// drain reads a short body to its end, so that the connection can be used again. One that does not end soon is closed, which
// also ends the reading of it.
func drain(body io.ReadCloser) {
	const (
		most = 64 << 10
		soon = 100 * time.Millisecond
	)
	defer time.AfterFunc(soon, func() { _ = body.Close() }).Stop()
	_, _ = io.CopyN(io.Discard, body, most)
	_ = body.Close()
}

// closeBody is a duty of a RoundTripper also where nothing was sent.
func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}
