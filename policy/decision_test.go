package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

func scale(t *testing.T, permits, period, burst uint64) *policy.Scale {
	t.Helper()
	s, err := limit(permits, period, burst).Scale()
	require.NoError(t, err)
	return &s
}

// TestZeroDecision answers nothing and allows nothing.
func TestZeroDecision(t *testing.T) {
	var d policy.Decision
	assert.False(t, d.OK())
	assert.Equal(t, policy.Answer{RetryAfter: policy.Never}, d.Answer())
	assert.Zero(t, d.Next())
	assert.Equal(t, "none", d.Outcome().String())
	assert.ErrorIs(t, d.Outcome().Err(), policy.ErrUnavailable)
}

// TestDecisions: what each kind of decision answers in each field. 3 per 1000 ticks, burst 2: a tick is 3 units, a permit
// 1000, the tolerance 2000.
func TestDecisions(t *testing.T) {
	s := scale(t, 3, 1000, 2)
	never := uint64(policy.Never)
	for _, row := range []struct {
		why  string
		d    policy.Decision
		want policy.Answer
		next uint64
	}{
		{"as new", policy.Metered(s, policy.Allow, 0, 0), policy.Answer{Outcome: policy.Allow, Remaining: 2}, 0},
		{"a unit owed costs a whole permit until it has leaked", policy.Metered(s, policy.Allow, 1, 0),
			policy.Answer{Outcome: policy.Allow, Remaining: 1, ResetAfter: 1}, 1},
		{"one permit owed: 333.33 ticks", policy.Metered(s, policy.Allow, 1000, 0),
			policy.Answer{Outcome: policy.Allow, Remaining: 1, ResetAfter: 334}, 334},
		{"a queue: 999 units ahead", policy.Metered(s, policy.Allow, 1999, 999),
			policy.Answer{Outcome: policy.Allow, Remaining: 0, ResetAfter: 667, Delay: 333}, 333},
		{"denied: a unit too much", policy.Metered(s, policy.Deny, 1001, 1),
			policy.Answer{Outcome: policy.Deny, Remaining: 0, RetryAfter: 1, ResetAfter: 334}, 1},
		{"denied: debt above the tolerance, at an earlier now", policy.Metered(s, policy.Deny, 5000, 4000),
			policy.Answer{Outcome: policy.Deny, Remaining: 0, RetryAfter: 1334, ResetAfter: 1667}, 1334},
		{"too costly never fits, but tells the key", policy.Metered(s, policy.TooCostly, 1000, never),
			policy.Answer{Outcome: policy.TooCostly, Remaining: 1, RetryAfter: never, ResetAfter: 334}, 334},
		{"numbers at hand", policy.Answered(policy.Answer{Outcome: policy.Deny, Remaining: 1, RetryAfter: 2, ResetAfter: 3,
			Binding: policy.Second}, 4), policy.Answer{Outcome: policy.Deny, Remaining: 1, RetryAfter: 2, ResetAfter: 3, Binding: policy.Second}, 4},
		{"an allowance waits for nothing, whatever it was given", policy.Answered(policy.Answer{Outcome: policy.Allow,
			RetryAfter: 9, Delay: 5}, 0), policy.Answer{Outcome: policy.Allow, Delay: 5}, 0},
		{"a denial has no delay", policy.Answered(policy.Answer{Outcome: policy.Deny, RetryAfter: 9, Delay: 5}, 0),
			policy.Answer{Outcome: policy.Deny, RetryAfter: 9}, 0},
		{"full", policy.Refused(policy.Full), policy.Answer{Outcome: policy.Full, RetryAfter: never}, 0},
		{"past the horizon", policy.Refused(policy.PastHorizon), policy.Answer{Outcome: policy.PastHorizon, RetryAfter: never}, 0},
		{"unavailable", policy.Refused(policy.Unavailable), policy.Answer{Outcome: policy.Unavailable, RetryAfter: never}, 0},
	} {
		assert.Equal(t, row.want, row.d.Answer(), row.why)
		assert.Equal(t, row.next, row.d.Next(), "%s: next", row.why)
		assert.Equal(t, row.want.Outcome == policy.Allow, row.d.OK(), row.why)
	}
}

// TestDualDecisions: 1 per 10 ticks, burst 2, and 1 per 100, burst 5: the units are ticks in both.
func TestDualDecisions(t *testing.T) {
	one, two := scale(t, 1, 10, 2), scale(t, 1, 100, 5)
	never := uint64(policy.Never)
	second := policy.Second
	for _, row := range []struct {
		why                       string
		outcome                   policy.Outcome
		debt, wait, debt2, wait2  uint64
		remaining, retry, reset   uint64
		binding                   policy.Binding
		next                      uint64
		swappedBinding            policy.Binding
		swappedRemaining, swapped uint64
	}{
		{"both new: the fewer is the first's, and no more can be", policy.Allow, 0, 0, 0, 0, 2, 0, 0, policy.First, 0, second, 2, 0},
		{"the second has fewer", policy.Allow, 0, 0, 400, 0, 1, 0, 400, second, 100, policy.First, 1, 100},
		{"a tie binds the first", policy.Allow, 10, 0, 400, 0, 1, 0, 400, policy.First, 100, policy.First, 1, 100},
		{"a tie where one is as large as can be", policy.Allow, 0, 0, 300, 0, 2, 0, 300, policy.First, 0, policy.First, 2, 0},
		{"the first has fewer", policy.Allow, 15, 0, 300, 0, 0, 0, 300, policy.First, 5, second, 0, 5},
		{"denied by the first alone", policy.Deny, 20, 10, 100, 0, 0, 10, 100, policy.First, 10, second, 0, 10},
		{"denied by the second alone", policy.Deny, 0, 0, 500, 100, 0, 100, 500, second, 100, policy.First, 0, 100},
		{"by both, the second longer", policy.Deny, 20, 10, 500, 100, 0, 100, 500, second, 100, policy.First, 0, 100},
		{"by both, as long: the first", policy.Deny, 20, 10, 410, 10, 0, 10, 410, policy.First, 10, policy.First, 0, 10},
		{"too costly for the second", policy.TooCostly, 20, 10, 0, never, 0, never, 20, second, 10, policy.First, 0, 10},
		{"too costly for both: the first", policy.TooCostly, 0, never, 0, never, 2, never, 0, policy.First, 0, policy.First, 2, 0},
	} {
		want := policy.Answer{Outcome: row.outcome, Remaining: row.remaining, RetryAfter: row.retry, ResetAfter: row.reset, Binding: row.binding}
		d := policy.Dual(policy.NewPair(*one, *two), row.outcome, row.debt, row.wait, row.debt2, row.wait2)
		assert.Equal(t, want, d.Answer(), row.why)
		assert.Equal(t, row.next, d.Next(), "%s: next", row.why)
		want.Binding, want.Remaining = row.swappedBinding, row.swappedRemaining
		d = policy.Dual(policy.NewPair(*two, *one), row.outcome, row.debt2, row.wait2, row.debt, row.wait)
		assert.Equal(t, want, d.Answer(), "%s: the other way round", row.why)
		assert.Equal(t, row.swapped, d.Next(), "%s: next, the other way round", row.why)
	}
}

// TestOutcomes: numbers, words and errors, the same in every port.
func TestOutcomes(t *testing.T) {
	for _, row := range []struct {
		o      policy.Outcome
		number uint8
		word   string
		err    error
	}{
		{0, 0, "none", policy.ErrUnavailable},
		{policy.Allow, 1, "allow", nil},
		{policy.Deny, 2, "deny", policy.ErrDenied},
		{policy.TooCostly, 3, "too_costly", policy.ErrTooCostly},
		{policy.Full, 4, "full", policy.ErrFull},
		{policy.PastHorizon, 5, "past_horizon", policy.ErrPastHorizon},
		{policy.Unavailable, 6, "unavailable", policy.ErrUnavailable},
		{7, 7, "none", policy.ErrUnavailable},
		{255, 255, "none", policy.ErrUnavailable},
	} {
		assert.Equal(t, row.number, uint8(row.o))
		assert.Equal(t, row.word, row.o.String())
		assert.Equal(t, row.err, row.o.Err(), row.word)
		if row.err != nil && row.word != "none" {
			assert.Equal(t, row.word, row.o.Err().Error())
		}
	}
	assert.Equal(t, []string{"first", "second", "first"},
		[]string{policy.First.String(), policy.Second.String(), policy.Binding(2).String()})
	assert.Equal(t, uint64(1<<64-1), uint64(policy.Never))
}

// TestPage cuts the first block comment out of a source.
func TestPage(t *testing.T) {
	for _, row := range []struct{ why, source, want string }{
		{"a page", "// x\n/*\nPackage a is b.\n\n# Ties\n*/\npackage a\n", "Package a is b.\n\n# Ties\n"},
		{"the first of two", "/*\none\n*/\n/*\ntwo\n*/\n", "one\n"},
		{"none", "package a\n", ""},
		{"without an end", "/*\nPackage a", ""},
		{"nothing at all", "", ""},
	} {
		assert.Equal(t, row.want, policy.Page(row.source), row.why)
	}
}
