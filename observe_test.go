package weir_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/policy"
)

// heard is an observer that keeps what it hears.
type heard struct {
	outcomes []policy.Outcome
	costs    []weir.Cost
	waits    []time.Duration
	errors   []error
}

func (h *heard) observer() weir.Observer {
	return weir.Observer{
		Decided: func(_ context.Context, c weir.Cost, r weir.Result) {
			h.costs, h.outcomes = append(h.costs, c), append(h.outcomes, r.Outcome())
		},
		Waited: func(_ context.Context, _ weir.Cost, d time.Duration, err error) {
			h.waits, h.errors = append(h.waits, d), append(h.errors, err)
		},
	}
}

// Decisions are heard, with their costs; what only asks, or gives back, is not.
func TestObservedHearsDecisions(t *testing.T) {
	l, _ := made(t, "gcra", weir.Per(2, time.Second))
	var h heard
	o := weir.Observed(l, h.observer())
	o.Allow(ctx, "a")
	o.AllowN(ctx, "a", weir.N(2))
	o.AllowN(ctx, "a", weir.N(3))
	o.Peek(ctx, "a", weir.N(1))
	require.NoError(t, o.Refund(ctx, "a", weir.N(1)))
	require.NoError(t, o.Forget(ctx, "a"))
	assert.Equal(t, []policy.Outcome{policy.Allow, policy.Deny, policy.TooCostly}, h.outcomes)
	assert.Equal(t, []weir.Cost{weir.N(1), weir.N(2), weir.N(3)}, h.costs)
	assert.Equal(t, l.Limit(), o.Limit())
	assert.Equal(t, "gcra", o.(interface{ Name() string }).Name())
}

// A wait is heard with the time that it took.
func TestObservedHearsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := weir.New("gcra", weir.Per(1, time.Second))
		require.NoError(t, err)
		var h heard
		o := weir.Observed(l, h.observer())
		require.NoError(t, o.Wait(ctx, "a", weir.N(1)))
		require.NoError(t, o.Wait(ctx, "a", weir.N(1)))
		require.ErrorIs(t, o.Wait(ctx, "a", weir.N(2)), weir.ErrTooCostly)
		assert.Equal(t, []time.Duration{0, time.Second, 0}, h.waits)
		assert.ErrorIs(t, h.errors[2], weir.ErrTooCostly)
		assert.Empty(t, h.outcomes)
	})
}

// An observer without functions hears nothing and breaks nothing, and costs no allocation.
func TestObservedWithoutFunctions(t *testing.T) {
	l, _ := made(t, "gcra", weir.Per(2, time.Second))
	o := weir.Observed(l, weir.Observer{})
	assert.True(t, o.Allow(ctx, "a").OK())
	require.NoError(t, o.Wait(ctx, "a", weir.N(1)))
	assert.False(t, o.Allow(ctx, "a").OK())
	assert.Zero(t, testing.AllocsPerRun(100, func() { o.Allow(ctx, "a") }))
	assert.Nil(t, weir.Observed(nil, weir.Observer{}))
}

// Who observes an observed limiter hears the same.
func TestObservedTwice(t *testing.T) {
	l, _ := made(t, "gcra", weir.Per(1, time.Second))
	var inner, outer heard
	o := weir.Observed(weir.Observed(l, inner.observer()), outer.observer())
	o.Allow(ctx, "a")
	weir.Together(ctx, []weir.Ask{{Limiter: o, Key: "a", Cost: weir.N(1)}}, nil)
	assert.Equal(t, []policy.Outcome{policy.Allow, policy.Deny}, inner.outcomes)
	assert.Equal(t, inner.outcomes, outer.outcomes)
}
