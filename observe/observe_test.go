package observe_test

import (
	"bytes"
	"context"
	"encoding/json"
	"expvar"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/observe"
	"weir/policy"
)

var (
	ctx            = context.Background()
	_   expvar.Var = new(observe.Counts)
)

// answering is a limiter that always answers the same.
type answering struct {
	weir.Limiter
	outcome policy.Outcome
}

func (a answering) AllowN(context.Context, string, weir.Cost) weir.Result {
	return weir.NewResult(policy.Refused(a.outcome), 1, 0)
}

func (a answering) Wait(context.Context, string, weir.Cost) error { return a.outcome.Err() }

// Every outcome is counted under its word, waits with their time, and all of it is JSON.
func TestCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c observe.Counts
		l, err := weir.New("gcra", weir.Per(2, 2*time.Second), weir.WithMaxKeys(1))
		require.NoError(t, err)
		o := weir.Observed(l, c.Observer())
		for _, n := range []uint64{1, 1, 1, 3} {
			o.AllowN(ctx, "secret", weir.N(n))
		}
		o.Allow(ctx, "another")
		weir.Observed(answering{l, policy.PastHorizon}, c.Observer()).Allow(ctx, "x")
		weir.Observed(answering{l, policy.Unavailable}, c.Observer()).Allow(ctx, "x")
		weir.Observed(answering{l, 0}, c.Observer()).Allow(ctx, "x")
		require.NoError(t, o.Wait(ctx, "secret", weir.N(1)))
		require.Error(t, o.Wait(ctx, "secret", weir.N(3)))
		want := observe.Reading{Allowed: 2, Denied: 1, TooCostly: 1, Full: 1, PastHorizon: 1, Unavailable: 2,
			Waits: 1, WaitsFailed: 1, Waited: time.Second}
		assert.Equal(t, want, c.Read())
		assert.JSONEq(t, `{"allow":2,"deny":1,"too_costly":1,"full":1,"past_horizon":1,"unavailable":2,"waits":1,"waits_failed":1,"waited_ns":1000000000}`, c.String())
		assert.True(t, json.Valid([]byte(c.String())))
		var told []string
		c.Read().Outcomes(func(outcome string, n uint64) { told = append(told, fmt.Sprint(outcome, " ", n)) })
		assert.Equal(t, []string{"allow 2", "deny 1", "too_costly 1", "full 1", "past_horizon 1", "unavailable 2"}, told)
		assert.NotContains(t, c.String(), "secret")
	})
}

// Counting costs no allocation, and loses nothing under contention.
func TestCountsUnderContention(t *testing.T) {
	var c observe.Counts
	l, err := weir.New("gcra", weir.Per(10, time.Hour))
	require.NoError(t, err)
	o := weir.Observed(l, c.Observer())
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 250 {
				o.Allow(ctx, "a")
			}
		})
	}
	all.Wait()
	assert.Equal(t, observe.Reading{Allowed: 10, Denied: 990}, c.Read())
	assert.Zero(t, testing.AllocsPerRun(100, func() { o.Allow(ctx, "a") }))
}

func logged() (*slog.Logger, *bytes.Buffer) {
	b := new(bytes.Buffer)
	return slog.New(slog.NewTextHandler(b, nil)), b
}

// Of each odd thing one a minute, with how many were left out; nothing of denials, and no key.
func TestLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := weir.New("gcra", weir.Per(1, time.Hour))
		require.NoError(t, err)
		log, text := logged()
		o, err := observe.Log(log, "api")
		require.NoError(t, err)
		good := weir.Observed(l, o)
		for range 3 {
			good.Allow(ctx, "secret")
		}
		require.ErrorIs(t, good.Wait(ctx, "secret", weir.N(2)), weir.ErrTooCostly)
		assert.Empty(t, text.String())
		for outcome, says := range map[policy.Outcome]string{
			policy.Full: "no room", policy.PastHorizon: "past what", policy.Unavailable: "cannot be asked",
		} {
			text.Reset()
			bad := weir.Observed(answering{l, outcome}, o)
			for range 5 {
				bad.Allow(ctx, "secret")
				require.ErrorIs(t, bad.Wait(ctx, "secret", weir.N(1)), outcome.Err())
			}
			time.Sleep(time.Minute)
			bad.Allow(ctx, "secret")
			lines := strings.Split(strings.TrimSpace(text.String()), "\n")
			require.Len(t, lines, 2, text)
			assert.Contains(t, lines[0], says)
			assert.Contains(t, lines[0], "limit=api left_out=0")
			assert.Contains(t, lines[1], "limit=api left_out=9")
			assert.NotContains(t, text.String(), "secret")
			time.Sleep(time.Minute)
			text.Reset()
			bad.Allow(ctx, "secret")
			assert.Contains(t, text.String(), "left_out=0")
		}
	})
}

// hand is a clock that is set by hand.
type hand struct{ now time.Duration }

func (h *hand) Now() time.Duration                         { return h.now }
func (h *hand) Sleep(context.Context, time.Duration) error { return nil }

// A step back is said, with how far, once a minute; what comes forward again is not, and the time is the clock's.
func TestSteady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := &hand{10 * time.Second}
		log, text := logged()
		steady, err := observe.Steady(clock, log)
		require.NoError(t, err)
		for _, row := range []struct {
			now  time.Duration
			said string
		}{
			{10 * time.Second, ""}, {12 * time.Second, ""}, {9 * time.Second, "by=3s left_out=0"}, {9 * time.Second, ""},
			{11 * time.Second, ""}, {8 * time.Second, ""},
		} {
			text.Reset()
			clock.now = row.now
			assert.Equal(t, row.now, steady.Now())
			assert.Contains(t, text.String(), row.said)
			assert.Equal(t, row.said == "", text.Len() == 0, text.String())
		}
		time.Sleep(time.Minute)
		clock.now = 0
		steady.Now()
		assert.Contains(t, text.String(), "by=8s left_out=1")
	})
}

func TestNils(t *testing.T) {
	_, err := observe.Log(nil, "a")
	assert.ErrorContains(t, err, "the logger is nil")
	_, err = observe.Steady(&hand{}, nil)
	assert.ErrorContains(t, err, "the logger is nil")
	log, _ := logged()
	_, err = observe.Steady(nil, log)
	assert.ErrorContains(t, err, "the clock is nil")
}

func ExampleCounts() {
	limiter, _ := weir.New("gcra", weir.Per(2, time.Hour))
	var api observe.Counts
	observed := weir.Observed(limiter, api.Observer()) // expvar.Publish("weir.api", &api) shows it at /debug/vars
	for range 3 {
		observed.Allow(context.Background(), "client-42")
	}
	fmt.Println(api.Read().Allowed, api.Read().Denied)
	// Output: 2 1
}
