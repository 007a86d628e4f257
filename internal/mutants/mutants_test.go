package mutants_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/internal/mutants"
	"weir/vectors"
)

func suite(t *testing.T) vectors.Suite {
	t.Helper()
	s, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	return s
}

// Nothing that a mutant fails would mean anything if the model that it was made of failed too.
func TestTheModelIsRight(t *testing.T) {
	r, err := vectors.Run(t.Context(), suite(t), mutants.Driver(""), vectors.Options{})
	require.NoError(t, err)
	for _, one := range r.Results {
		assert.Equal(t, vectors.Pass, one.Verdict, "%s: %s", one.ID, one.Why)
	}
	assert.True(t, r.Conformant(), r.Line())
}

// The score is 100 %: each mutant is killed, in two categories if it can be, and each case kills something. mutants.json
// is what the score says.
func TestScore(t *testing.T) {
	if testing.Short() {
		t.Skip("puts some 600 mutants through the suite; leave out -short")
	}
	all := suite(t)
	s, err := mutants.Run(t.Context(), all, mutants.Options{})
	require.NoError(t, err)
	for _, one := range s.Survivors() {
		assert.Fail(t, "a mutant is not as it must be", "%s of %s, killed by %v, equivalent: %s", one.ID, one.Policy,
			one.Killers, one.Equivalent)
	}
	for _, one := range s.Trials {
		if one.Policy != "hash" && one.Equivalent == "" { // each hash is a category of its own
			assert.GreaterOrEqual(t, len(one.Categories()), 2, "%s of %s: only %s kills it", one.ID, one.Policy, one.Categories())
		}
	}
	assert.Empty(t, s.Idle, "these cases kill nothing")
	page, err := mutants.Page(all, s)
	require.NoError(t, err)
	onDisk, err := os.ReadFile("../../vectors/mutants.json")
	require.NoError(t, err)
	assert.True(t, string(page) == string(onDisk), "vectors/mutants.json: run go run ./internal/vectorgen/write")
}

// A case's kills are checked, not trusted: the fault is there, applies to the case's policy, and the case finds it. Every
// mutant has a case that was made for it.
func TestKills(t *testing.T) {
	all := suite(t)
	named := map[mutants.Mutant]bool{}
	for _, f := range all.Files {
		for _, c := range f.Cases {
			for _, id := range c.Kills {
				m := mutants.Mutant{ID: id, Policy: f.Policy}
				named[m] = true
				assert.NoError(t, mutants.Kills(t.Context(), f, c, id), c.ID)
			}
		}
	}
	for _, f := range mutants.Catalogue() {
		for _, name := range f.Policies {
			if name != "hash" && f.Equivalent == "" {
				assert.True(t, named[mutants.Mutant{ID: f.ID, Policy: name}], "no case of %s names %s", name, f.ID)
			}
		}
	}
}

func TestKillsRefuses(t *testing.T) {
	all := suite(t)
	f := all.Files[0]
	require.Equal(t, "gcra", f.Policy)
	c := f.Cases[0]
	for id, want := range map[string]string{
		"no-such-fault":         "there is none of that id",
		"window-end-inclusive":  "does not apply to gcra",
		"forget-is-a-no-op":     "the case does not kill it",
		"mix-last-shift-lost":   "does not apply to gcra",
		"refill-stored-on-deny": "there is none of that id",
	} {
		assert.ErrorContains(t, mutants.Kills(t.Context(), f, c, id), want, id)
	}
}

func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	known := append(vectors.Policies(), "hash")
	pairs := 0
	for _, f := range mutants.Catalogue() {
		assert.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, f.ID)
		assert.False(t, seen[f.ID], f.ID)
		seen[f.ID] = true
		assert.NotEmpty(t, f.Wrong, f.ID)
		assert.Subset(t, known, f.Policies, f.ID)
		assert.NotEmpty(t, f.Policies, f.ID)
		pairs += len(f.Policies)
	}
	assert.Greater(t, pairs, 500)
}

// sources are the files of the model that decide for a policy: those of its own, and those that all have in common.
func sources(policy string) []string {
	common := []string{"model.go", "decide.go", "answer.go", "housekeep.go", "limits.go", "driver.go", "score.go"}
	switch policy {
	case "hash":
		return []string{"hash.go"}
	case "slidinglog":
		return append(common, "journal.go")
	}
	return append(common, "scale.go", "meter.go")
}

// Every mutant is the model with one marked place switched on: each fault has one in the files of every policy that it
// applies to, and every mark is a fault's.
func TestOneMarkedPlace(t *testing.T) {
	mark := regexp.MustCompile(`\b(?:is\(|or(?:\[\w+\])?\(\w+(?:\.fault)?, )"([^"]*)"`)
	marks := map[string][]string{} // by file
	for _, name := range []string{"hash", "slidinglog", "gcra"} {
		for _, file := range sources(name) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			marks[file] = nil
			for _, found := range mark.FindAllStringSubmatch(string(text), -1) {
				marks[file] = append(marks[file], found[1])
				_, ok := mutants.Find(found[1])
				assert.True(t, ok, "%s marks %q, which is no fault", file, found[1])
			}
		}
	}
	for _, f := range mutants.Catalogue() {
		for _, name := range f.Policies {
			var places []string
			for _, file := range sources(name) {
				for _, id := range marks[file] {
					if id == f.ID {
						places = append(places, file)
					}
				}
			}
			assert.Len(t, places, 1, "%s of %s", f.ID, name)
		}
	}
}

// A model that panics has crashed, and a run that is ended ends.
func TestDriver(t *testing.T) {
	zero := vectors.Number(0)
	q := vectors.Request{Policy: "gcra", Params: vectors.Params{Permits: &zero}, MaxKeys: "*"}
	_, err := mutants.Driver("parameters-not-validated").Run(t.Context(), q)
	var known *vectors.DriverError
	require.ErrorAs(t, err, &known)
	assert.Equal(t, vectors.Crash, known.Verdict)

	ended, end := context.WithCancel(t.Context())
	end()
	_, err = mutants.Run(ended, suite(t), mutants.Options{Mutant: "no-cap"})
	assert.ErrorIs(t, err, context.Canceled)
}

func TestOptions(t *testing.T) {
	for _, row := range []struct {
		o    mutants.Options
		want string
	}{
		{mutants.Options{Policies: []string{"gcr"}}, `policy is "gcr"`},
		{mutants.Options{Mutant: "no-such"}, `mutant is "no-such"`},
		{mutants.Options{Mutant: "no-cap", Policies: []string{"gcra"}}, "does not apply"},
	} {
		_, err := row.o.Mutants()
		assert.ErrorContains(t, err, row.want)
	}
	list, err := mutants.Options{Mutant: "burst-plus-one", Policies: []string{"slidinglog", "gcra"}}.Mutants()
	require.NoError(t, err)
	want := []mutants.Mutant{{ID: "burst-plus-one", Policy: "gcra"}, {ID: "burst-plus-one", Policy: "slidinglog"}}
	assert.Equal(t, want, list)
}

// A suite that looks at outcomes alone lets mutants live, and the score says which and what share.
func TestSurvivors(t *testing.T) {
	all := suite(t)
	all.Files = slices.DeleteFunc(all.Files, func(f vectors.File) bool { return f.Category != "basic" })
	s, err := mutants.Run(t.Context(), all, mutants.Options{Policies: []string{"tokenbucket"}})
	require.NoError(t, err)
	alive := s.Survivors()
	require.NotEmpty(t, alive)
	killed, mortal := s.Killed()
	assert.Equal(t, mortal-len(alive), killed)
	assert.Contains(t, s.Line(), fmt.Sprintf("score: %d of %d mutants killed", killed, mortal))
	assert.False(t, strings.Contains(s.Line(), "100 %"))
	_, err = mutants.Page(all, s)
	assert.ErrorContains(t, err, "no case kills it")
}
