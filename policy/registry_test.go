package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/gcra"
	"weir/policy"
	"weir/tokenbucket"
)

func registry(t *testing.T) *policy.Registry {
	t.Helper()
	r := &policy.Registry{}
	require.NoError(t, r.Add("tokenbucket", tokenbucket.New))
	require.NoError(t, r.Add("gcra", gcra.New))
	return r
}

// TestRegistry: names in the order in which they came, each with its maker.
func TestRegistry(t *testing.T) {
	r := registry(t)
	assert.Equal(t, []string{"tokenbucket", "gcra"}, r.Names())
	p, err := r.New("gcra", limit(1, 10, 2), policy.Options{MaxKeys: 1})
	require.NoError(t, err)
	assert.Equal(t, limit(1, 10, 2), p.Limit())
	p.Take(0, 1, 1)
	assert.Equal(t, policy.Full, p.Take(0, 2, 1).Outcome(), "the options arrive")
	assert.NoError(t, r.Check("gcra"))
	r.Names()[0] = "changed"
	assert.Equal(t, []string{"tokenbucket", "gcra"}, r.Names(), "a copy")
}

// TestRegistryRefuses: every error says what is wrong in one line.
func TestRegistryRefuses(t *testing.T) {
	r, empty := registry(t), &policy.Registry{}
	made := func(r *policy.Registry, name string, l policy.Limit, o policy.Options) error {
		p, err := r.New(name, l, o)
		assert.Nil(t, p)
		return err
	}
	for _, row := range []struct {
		why  string
		err  error
		want string
		is   error
	}{
		{"no such name", made(r, "fixedwindow", limit(1, 1, 1), policy.Options{}),
			`unknown_policy: "fixedwindow"; known are tokenbucket, gcra`, policy.ErrUnknownPolicy},
		{"names are exact, and come before the limit", made(r, "GCRA", limit(0, 0, 0), policy.Options{Bounded: true}),
			`unknown_policy: "GCRA"; known are tokenbucket, gcra`, policy.ErrUnknownPolicy},
		{"check says the same", r.Check(""), `unknown_policy: ""; known are tokenbucket, gcra`, policy.ErrUnknownPolicy},
		{"an empty registry", made(empty, "gcra", limit(1, 1, 1), policy.Options{}),
			`unknown_policy: "gcra"; the registry is empty`, policy.ErrUnknownPolicy},
		{"a bad limit, with the name", made(r, "gcra", limit(1, 0, 1), policy.Options{}),
			"gcra: invalid_period: period is 0, must be at least 1", policy.ErrInvalidPeriod},
		{"no room, after the limit", made(r, "gcra", limit(1, 1, 1), policy.Options{Bounded: true}),
			"gcra: invalid_max_keys: max_keys is 0, must be at least 1", policy.ErrInvalidMaxKeys},
		{"the limit first", made(r, "gcra", limit(1, 1, 0), policy.Options{Bounded: true}),
			"gcra: invalid_burst: burst is 0, must be at least 1", policy.ErrInvalidBurst},
		{"taken", r.Add("gcra", gcra.New), `policy "gcra": the name is taken`, nil},
		{"no name", r.Add("", gcra.New), `policy name "": must be one word`, nil},
		{"two words", r.Add("token bucket", gcra.New), `policy name "token bucket": must be one word`, nil},
		{"a space at the end", r.Add("gcra ", gcra.New), `policy name "gcra ": must be one word`, nil},
		{"a line", r.Add("gcra\n", gcra.New), `policy name "gcra\n": must be one word`, nil},
		{"no maker", r.Add("none", nil), `policy "none": its maker is nil`, nil},
	} {
		assert.EqualError(t, row.err, row.want, row.why)
		if row.is != nil {
			assert.ErrorIs(t, row.err, row.is, row.why)
			assert.Equal(t, row.is.Error(), policy.Code(row.err), row.why)
		}
	}
	assert.Equal(t, []string{"tokenbucket", "gcra"}, r.Names(), "nothing was added")
	assert.Empty(t, empty.Names())
}
