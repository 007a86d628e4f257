package vectors_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/vectors"
)

// Each fault has cases of each of its policies that catch it, and these cases are there.
func TestMutants(t *testing.T) {
	assert.NoError(t, schemas(t)("mutants").Validate(parse(t, readFile(t, "mutants.json"))))
	all, err := vectors.Mutants(vectors.FS())
	require.NoError(t, err)
	assert.Greater(t, len(all), 150)
	suite, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, f := range suite.Files {
		for _, c := range f.Cases {
			ids[c.ID] = true
			for _, id := range c.Kills {
				m, known := all[id]
				assert.True(t, known, "%s kills %s, which mutants.json lacks", c.ID, id)
				assert.Contains(t, m.KilledBy[f.Policy], c.ID, "%s kills %s", c.ID, id)
			}
		}
	}
	for _, h := range suite.Hashes {
		for _, c := range h.Cases {
			ids[c.ID] = true
		}
	}
	for id, m := range all {
		for policy, cases := range m.KilledBy {
			assert.Contains(t, m.Policies, policy, id)
			assert.GreaterOrEqual(t, len(cases), 2, "%s of %s", id, policy)
			for _, c := range cases {
				assert.True(t, ids[c], "%s of %s: no case %s", id, policy, c)
			}
			assert.True(t, policy == "hash" || len(categoriesOf(cases)) > 1, "%s of %s: all of one category", id, policy)
		}
	}
}

func categoriesOf(ids []string) (categories []string) {
	for _, id := range ids {
		if category := strings.Split(id, "/")[1]; !slices.Contains(categories, category) {
			categories = append(categories, category)
		}
	}
	return categories
}

// The reader and the schema refuse the same.
func TestMutantsThatAreNone(t *testing.T) {
	schema := schemas(t)("mutants")
	of := func(one string) string { return `{"format":1,"mutants":{"x":` + one + `}}` }
	good := of(`{"wrong":"w","policies":["gcra"],"killed_by":{"gcra":["gcra/basic/a"]},"new":1}`)
	assert.NoError(t, schema.Validate(parse(t, good)))
	all, err := vectors.Mutants(treeOf(map[string]string{"mutants.json": good}))
	require.NoError(t, err)
	want := vectors.Mutant{Wrong: "w", Policies: []string{"gcra"}, KilledBy: map[string][]string{"gcra": {"gcra/basic/a"}}}
	assert.Equal(t, want, all["x"])

	for _, row := range []struct{ why, text, want string }{
		{"no mutants", `{"format":1}`, "mutants: missing"},
		{"another format", `{"format":2,"mutants":{}}`, "format"},
		{"a bad id", `{"format":1,"mutants":{"X":{"wrong":"w","policies":["gcra"],"equivalent":"e"}}}`, "X"},
		{"nothing wrong", of(`{"policies":["gcra"],"equivalent":"e"}`), "x.wrong: missing"},
		{"no policies", of(`{"wrong":"w","equivalent":"e"}`), "x.policies: missing"},
		{"an unknown policy", of(`{"wrong":"w","policies":["gcr"],"equivalent":"e"}`), "x.policies"},
		{"neither killed nor equivalent", of(`{"wrong":"w","policies":["gcra"]}`), "x.killed_by: a mutant is either"},
		{"both", of(`{"wrong":"w","policies":["gcra"],"equivalent":"e","killed_by":{"gcra":["gcra/basic/a"]}}`), "x.killed_by"},
		{"killed by nobody", of(`{"wrong":"w","policies":["gcra"],"killed_by":{"gcra":[]}}`), "x.killed_by.gcra"},
		{"killed by no id", of(`{"wrong":"w","policies":["gcra"],"killed_by":{"gcra":["a"]}}`), "x.killed_by.gcra"},
	} {
		_, err := vectors.Mutants(treeOf(map[string]string{"mutants.json": row.text}))
		var known *vectors.FileError
		require.ErrorAs(t, err, &known, row.why)
		assert.Contains(t, err.Error(), row.want, row.why)
		assert.NotContains(t, err.Error(), "\n", row.why)
		assert.Error(t, schema.Validate(parse(t, row.text)), row.why)
	}
	half := of(`{"wrong":"w","policies":["gcra","hash"],"killed_by":{"gcra":["gcra/basic/a"]}}`)
	_, err = vectors.Mutants(treeOf(map[string]string{"mutants.json": half}))
	assert.ErrorContains(t, err, "x.killed_by.hash: missing", "a policy without a killer: for the reader alone")
	_, err = vectors.Mutants(treeOf(nil))
	assert.ErrorContains(t, err, "mutants.json: cannot be read")
}
