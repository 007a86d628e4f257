package redislimit_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/httplimit"
	"weir/policy"
	"weir/redislimit"
)

func ask(l weir.Limiter, key string, c weir.Cost) weir.Ask {
	return weir.Ask{Limiter: l, Key: key, Cost: c}
}

// TestJoint: weir.Together asks limiters of one server about keys of one hash tag in one call, all or nothing, and whoever
// observes them hears of it; what cannot be asked so is decided one after the other, all or nothing too.
func TestJoint(t *testing.T) {
	_, conn := dial(t)
	store := &counting{Store: conn}
	second := limiter(t, store, "gcra", parse(t, "9/d"), redislimit.WithPrefix("s"))
	day := limiter(t, store, "slidinglog", parse(t, "5/d"), redislimit.WithPrefix("d"))
	local, err := weir.New("gcra", weir.Per(100, 1<<40))
	require.NoError(t, err)
	heard := 0
	watched := weir.Observed(second, weir.Observer{Decided: func(context.Context, weir.Cost, weir.Result) { heard++ }})
	for _, row := range []struct {
		why         string
		asks        []weir.Ask
		calls       int64
		second, day uint64 // what each spends
		outcome     policy.Outcome
	}{
		{"the script is new to the server", []weir.Ask{ask(watched, "k", weir.N(1)), ask(day, "k", weir.N(1))}, 2, 1, 1, policy.Allow},
		{"in one call", []weir.Ask{ask(watched, "k", weir.N(1)), ask(day, "k", weir.N(2))}, 1, 1, 2, policy.Allow},
		{"denied in one call, nothing is spent", []weir.Ask{ask(watched, "k", weir.N(1)), ask(day, "k", weir.N(3))}, 1, 0, 0, policy.Deny},
		{"too costly", []weir.Ask{ask(watched, "k", weir.N(10)), ask(day, "k", weir.N(1))}, 1, 0, 0, policy.TooCostly},
		{"keys of two tags: each is looked at and then charged", []weir.Ask{ask(watched, "k", weir.N(1)), ask(day, "l", weir.N(1))}, 4, 1, 0, policy.Allow},
		{"a limiter of this process among them", []weir.Ask{ask(watched, "k", weir.N(1)), ask(local, "k", weir.N(1))}, 2, 1, 0, policy.Allow},
		{"one limiter and key twice", []weir.Ask{ask(watched, "k", weir.N(1)), ask(second, "k", weir.N(1))}, 3, 2, 0, policy.Allow},
	} {
		before := [2]uint64{second.Peek(ctx, "k", weir.N(0)).Remaining(), day.Peek(ctx, "k", weir.N(0)).Remaining()}
		asked, told := store.calls.Load(), heard
		answers, ok := weir.Together(ctx, row.asks, nil)
		assert.Equal(t, row.calls, store.calls.Load()-asked, row.why)
		assert.Equal(t, row.outcome == policy.Allow, ok, row.why)
		assert.Equal(t, row.outcome, max(answers[0].Outcome(), answers[1].Outcome()), row.why)
		if ok || !answers[0].OK() {
			told++
		}
		assert.Equal(t, told, heard, row.why)
		assert.Equal(t, before[0]-row.second, second.Peek(ctx, "k", weir.N(0)).Remaining(), row.why)
		assert.Equal(t, before[1]-row.day, day.Peek(ctx, "k", weir.N(0)).Remaining(), row.why)
	}
}

// TestJointHTTP: two rules of a service in one call to the server.
func TestJointHTTP(t *testing.T) {
	_, conn := dial(t)
	store := &counting{Store: conn}
	second := limiter(t, store, "gcra", parse(t, "9/d"), redislimit.WithPrefix("s"))
	day := limiter(t, store, "gcra", parse(t, "2/d"), redislimit.WithPrefix("d"))
	limited, err := httplimit.New([]httplimit.Rule{{Name: "second", Limiter: second, Key: httplimit.Header("User")},
		{Name: "day", Limiter: day, Key: httplimit.Header("User")}})
	require.NoError(t, err)
	h := limited.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for i, want := range []int{http.StatusNoContent, http.StatusNoContent, http.StatusTooManyRequests} {
		asked := store.calls.Load()
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("User", "u")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		assert.Equal(t, want, w.Code)
		if i > 0 {
			assert.Equal(t, int64(1), store.calls.Load()-asked)
		}
	}
	assert.Equal(t, redislimit.Counts{Allowed: 2, Denied: 1}, day.Counts())
}

// TestJointPastHorizon: where the time is past the horizon of one limiter, the others still say what they alone would answer,
// and nothing is spent.
func TestJointPastHorizon(t *testing.T) {
	_, conn := dial(t)
	c := &clock{}
	near := limiter(t, conn, "gcra", weir.Per(1_000_000_007, time.Second), redislimit.WithClock(c)) // its units reach 2^62 after 146 years
	far := limiter(t, conn, "gcra", parse(t, "5/d"), redislimit.WithClock(c))
	c.move(200 * 365 * 24 * time.Hour)
	require.Equal(t, policy.PastHorizon, near.Allow(ctx, "near {k}").Outcome())
	require.True(t, far.Allow(ctx, "{k}").OK())
	for _, row := range []struct {
		cost    uint64
		outcome policy.Outcome
	}{{1, policy.Allow}, {5, policy.Deny}, {6, policy.TooCostly}} {
		answers, ok := weir.Together(ctx, []weir.Ask{ask(far, "{k}", weir.N(row.cost)), ask(near, "near {k}", weir.N(1))}, nil)
		assert.False(t, ok)
		assert.Equal(t, far.Peek(ctx, "{k}", weir.N(row.cost)), answers[0])
		assert.Equal(t, []policy.Outcome{row.outcome, policy.PastHorizon}, []policy.Outcome{answers[0].Outcome(), answers[1].Outcome()})
		v, err := redislimit.Together(ctx, redislimit.Ask{Limiter: far, Key: "{k}", Cost: weir.N(row.cost)},
			redislimit.Ask{Limiter: near, Key: "near {k}", Cost: weir.N(1)})
		require.NoError(t, err)
		assert.Equal(t, answers, v.Each)
		assert.False(t, v.OK())
	}
	assert.Equal(t, uint64(4), far.Peek(ctx, "{k}", weir.N(0)).Remaining())
}
