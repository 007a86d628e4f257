package redislimit_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/redislimit"
)

// liar is a server that answers as it likes.
type liar struct{ values []any }

func (l liar) Run(_ context.Context, calls []redislimit.Call) []redislimit.Reply {
	replies := make([]redislimit.Reply, len(calls))
	for i := range replies {
		replies[i].Values = l.values
	}
	return replies
}

// FuzzReply: whatever a server answers, and whatever a key holds, ends in an answer: no panic, no hang, and nothing is
// allowed of which the server did not say that it was spent.
func FuzzReply(f *testing.F) {
	f.Add(int64(1), int64(5), int64(0), int64(0), int64(0), int64(0), "")
	f.Add(int64(-1), int64(5), int64(1), int64(0), int64(0), int64(0), text("1/2/3", 4, 5))
	f.Add(int64(-1), int64(5), int64(1), int64(0), int64(0), int64(0), text("1/2/3&4/5/6", 1, 2, 3, 4))
	f.Add(int64(-1), int64(1)<<60, int64(-1), int64(1)<<62, int64(-7), int64(1), "\xff\xff\xff\xff\xff\xff\xff\x7f")
	f.Add(int64(0), int64(1)<<53, int64(1)<<53, int64(1)<<53, int64(1)<<53, int64(1)<<53, "x")
	f.Fuzz(func(t *testing.T, status, now, a, b, c, d int64, held string) {
		values := []any{status, now, a, b, c, d}
		if status < 0 {
			values = []any{status, now, a, held}
		}
		for name, limit := range limits {
			for _, cut := range []int{0, 1, 2, 3, 4, len(values)} {
				l, err := redislimit.New(liar{values[:min(cut, len(values))]}, name, parse(t, limit),
					redislimit.WithTimeout(time.Minute), redislimit.WithLogger(slog.New(slog.DiscardHandler)), redislimit.WithDenialCache(1))
				require.NoError(t, err)
				r := l.Allow(ctx, "k")
				assert.True(t, !r.OK() || status == 1, "%s: %v", name, values)
				_ = r.String()
				_, _ = r.Next(), r.Binding()
				_ = l.Allow(ctx, "k").String()
				_ = l.Refund(ctx, "k", weir.N(3))
				v, err := redislimit.Together(ctx, redislimit.Ask{Limiter: l, Key: "k", Cost: weir.N(1)})
				require.NoError(t, err)
				_ = v.String()
				l.AllowBatch(ctx, []redislimit.Request{{Key: "k", Cost: weir.N(1)}, {Key: "l", Cost: weir.N(2)}})
			}
		}
	})
}
