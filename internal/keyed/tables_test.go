package keyed_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"weir/gcra"
	"weir/leakybucket"
	"weir/policy"
)

// maker makes a policy over one kind of table. The locked one is tested through the leaky bucket, the one of words through
// GCRA: they answer alike, and what a table does with a state is the same for every state.
type maker func(t testing.TB, l policy.Limit, o policy.Options) policy.Policy

func over(make policy.Maker) maker {
	return func(t testing.TB, l policy.Limit, o policy.Options) policy.Policy {
		t.Helper()
		p, err := make(l, o)
		require.NoError(t, err)
		return p
	}
}

var locked, words = over(leakybucket.New), over(gcra.New)

func onBoth(t *testing.T, test func(t *testing.T, made maker)) {
	t.Run("locked", func(t *testing.T) { test(t, locked) })
	t.Run("words", func(t *testing.T) { test(t, words) })
}

// inside is what the tests see of a locked table.
type inside interface {
	policy.Policy
	Slots() int
	Waiting() int
	Shard(key uint64) (keys, waiting, slots int)
}

func slotsOf(p policy.Policy) int { return p.(inside).Slots() }
