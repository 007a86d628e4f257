package weir_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"weir"
	"weir/policy"
)

var ctx = context.Background()

// fakeClock stands still until it is told otherwise. Sleeping moves it.
type fakeClock struct {
	mu  sync.Mutex
	now time.Duration
}

func (c *fakeClock) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.add(d)
	return nil
}

func (c *fakeClock) set(now time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

func (c *fakeClock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += d
}

// made is a limiter on a clock of its own, which starts at an odd moment; its log goes nowhere.
func made(t testing.TB, name string, l weir.Limit, o ...weir.Option) (*weir.Local, *fakeClock) {
	t.Helper()
	clock := &fakeClock{now: 123456789}
	o = append([]weir.Option{weir.WithClock(clock), weir.WithLogger(slog.New(slog.DiscardHandler))}, o...)
	limiter, err := weir.New(name, l, o...)
	require.NoError(t, err)
	return limiter, clock
}

// limitOf is l for the policy of that name: a dual bucket has a second limit too, one that never binds beside a first of
// at most some thousands a second.
func limitOf(name string, l weir.Limit) weir.Limit {
	if name == "dualbucket" {
		return l.And(weir.Per(1_000_000, time.Second))
	}
	return l
}

// eachPolicy runs a test on each of the five.
func eachPolicy(t *testing.T, test func(t *testing.T, name string)) {
	for _, name := range weir.Names() {
		t.Run(name, func(t *testing.T) { test(t, name) })
	}
}

// logged is a logger and what it has written.
func logged() (*slog.Logger, *bytes.Buffer) {
	buffer := new(bytes.Buffer)
	return slog.New(slog.NewTextHandler(buffer, nil)), buffer
}

// drain spends what key has left, and returns how much that was.
func drain(l weir.Limiter, key string) uint64 {
	n := l.Peek(ctx, key, weir.N(0)).Remaining()
	if n > 0 && !l.AllowN(ctx, key, weir.N(n)).OK() {
		return 0
	}
	return n
}

// limitError is the *policy.LimitError in err.
func limitError(t testing.TB, err error) *policy.LimitError {
	t.Helper()
	var e *policy.LimitError
	require.ErrorAs(t, err, &e)
	return e
}
