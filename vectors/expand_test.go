package vectors_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/vectors"
)

// How many takes a fill after each history becomes in a table of 10 that keeps 2 rooms free; -1 is refused.
func TestExpandCountsRooms(t *testing.T) {
	fill := `{"op":"fill","now":"9","leave":"2"}`
	a, b := take("0", "1", "allow", "0", "0", "334"), take("0", "2", "allow", "0", "0", "334")
	for _, row := range []struct {
		name  string
		steps []string
		takes int
	}{
		{"an empty table", nil, 8},
		{"two keys", []string{a, b}, 6},
		{"a key twice", []string{a, a}, 7},
		{"neither a denial nor a peek takes room", []string{take("0", "1", "deny", "0", "1", "1"), peek("0", "2", "allow", "0", "0", "0")}, 8},
		{"nor does cost 0", []string{`{"op":"take","now":"0","key":"1","cost":"0","want":{"outcome":"allow","remaining":"1","retry_after":"0","reset_after":"0"}}`}, 8},
		{"a key forgotten", []string{a, b, `{"op":"forget","key":"1","want":{"outcome":"allow"}}`}, 7},
		{"a sweep of all", []string{a, b, `{"op":"sweep","now":"9","want":{"keys":"0"}}`}, 8},
		{"a sweep of none", []string{a, b, `{"op":"sweep","now":"9","want":{"keys":"2"}}`}, 6},
		{"some swept, then all", []string{a, b, `{"op":"sweep","now":"9","want":{"keys":"1"}}`, `{"op":"sweep","now":"9","want":{"keys":"0"}}`}, 8},
		{"filled already", []string{fill}, 8},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := suiteOf(t, oneCase("x", "10", "", append(row.steps, fill)...)).Files[0].Cases[0]
			steps, err := vectors.Expand(c, 10)
			require.NoError(t, err)
			takes := 0
			for _, e := range steps {
				if c.Steps[e.From].Op == "fill" {
					assert.EqualValues(t, 1<<63+uint64(takes), *e.Step.Key)
					takes++
				}
			}
			assert.Equal(t, row.takes, takes)
			_, err = vectors.Expand(c, 1)
			assert.ErrorContains(t, err, "must stay free, but max_keys is 1")
		})
	}
}

// A few short lines cannot make a runner hold more takes than one largest fill: the case is left out as unsupported.
func TestFillsTogetherAreBounded(t *testing.T) {
	var steps []string
	for range 60 {
		steps = append(steps, `{"op":"fill","now":"0","leave":"0"}`, `{"op":"sweep","now":"400","want":{"keys":"0"}}`)
	}
	s := suiteOf(t, oneCase("x", "20000", "", steps...))
	_, err := vectors.Expand(s.Files[0].Cases[0], 20000)
	assert.ErrorContains(t, err, "fill at step 6: a fill too large")
	r, _ := reportOf(t, honest(t), s, vectors.Options{})
	assert.Equal(t, vectors.Unsupported, r.Results[0].Verdict)
}
