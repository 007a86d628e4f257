package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

// TestOwed: a key that owes more than it has just spent owed something before. Whoever cannot tell says false.
func TestOwed(t *testing.T) {
	scale, err := limit(3, 10, 5).Scale()
	require.NoError(t, err)
	for _, row := range []struct {
		why  string
		d    policy.Decision
		cost uint64
		want bool
	}{
		{"of an idle key or a new one", policy.Metered(&scale, policy.Allow, 20, 0), 2, false},
		{"a unit more", policy.Metered(&scale, policy.Allow, 21, 0), 2, true},
		{"nothing spent and nothing owed", policy.Metered(&scale, policy.Allow, 0, 0), 0, false},
		{"nothing spent", policy.Metered(&scale, policy.Allow, 1, 0), 0, true},
		{"a pair", policy.Dual(policy.NewPair(scale, scale), policy.Allow, 30, 0, 30, 0), 2, false},
		{"plain numbers", policy.Answered(policy.Answer{Outcome: policy.Allow, Remaining: 1, ResetAfter: 30}, 1), 2, false},
		{"none", policy.Decision{}, 0, false},
	} {
		assert.Equal(t, row.want, row.d.Owed(row.cost), row.why)
	}
}
