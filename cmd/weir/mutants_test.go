package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMutantsOfOneFault(t *testing.T) {
	status, out, errs := weirWith(t, "", "mutants", "--mutant", "no-cap")
	assert.Equal(t, 0, status)
	assert.Empty(t, errs)
	assert.Contains(t, out, "no-cap  tokenbucket")
	assert.Contains(t, out, "basic/fills-to-the-brim")
	assert.Contains(t, out, "score: 1 of 1 mutants killed (100 %)")
	assert.NotContains(t, out, "kill nothing", "nothing is known of the other cases' faults")
	status, out, _ = weirWith(t, "", "mutants", "--mutant", "equal-ticks-not-merged")
	assert.Equal(t, 0, status, "it must live")
	assert.Contains(t, out, "nobody: equivalent")
}

func TestMutantsAsJSON(t *testing.T) {
	status, out, _ := weirWith(t, "", "mutants", "--policy", "hash", "--json")
	assert.Equal(t, 0, status)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Greater(t, len(lines), 5)
	var first struct {
		Mutant, Policy, Wrong string
		OK                    bool
		Killers               []struct{ Case, Category, Verdict string }
	}
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &first))
	assert.Equal(t, "hash-seed-ignored", first.Mutant)
	assert.Equal(t, "hash", first.Policy)
	assert.True(t, first.OK)
	require.NotEmpty(t, first.Killers)
	assert.Equal(t, "fail", first.Killers[0].Verdict)
	var last struct {
		Done                    bool
		Mutants, Killed, Mortal int
		Survivors, Idle         []any
	}
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	assert.True(t, last.Done)
	assert.Equal(t, len(lines)-1, last.Mutants)
	assert.Equal(t, last.Mutants, last.Killed)
	assert.NotNil(t, last.Survivors)
	assert.Empty(t, last.Survivors)
}

// A suite of one case lets a mutant live: it is named, with what is wrong with it, and the status is 1.
func TestMutantsThatSurvive(t *testing.T) {
	file := filepath.Join(t.TempDir(), "basic.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"format":1,"policy":"gcra","category":"basic","cases":[
		{"id":"gcra/basic/one","params":{"permits":"1","period":"10","burst":"2"},"max_keys":"*","steps":[
		{"op":"take","now":"0","key":"7","cost":"1","want":{"outcome":"allow","remaining":"1","retry_after":"0","reset_after":"10"}}]}]}`), 0o644))
	status, out, errs := weirWith(t, "", "mutants", "--vectors", file, "--policy", "gcra")
	assert.Equal(t, 1, status)
	assert.Empty(t, errs)
	assert.Contains(t, out, "SURVIVES forget-is-a-no-op of gcra: forget does nothing")
	assert.NotContains(t, out, "SURVIVES burst-plus-one")
	assert.Regexp(t, `score: \d+ of \d+ mutants killed \(\d\d?\.?\d* %\); 1 cases, 0 kill nothing`, out)
}

func TestMutantsInWrongWords(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{"mutants", "--mutant", "none"}, `mutant is "none"`},
		{[]string{"mutants", "--policy", "gcr"}, `policy is "gcr": must be one of`},
		{[]string{"mutants", "--policy", "gcra", "--mutant", "no-cap"}, "does not apply"},
		{[]string{"mutants", "no-cap"}, `unexpected word "no-cap"`},
		{[]string{"mutants", "--vectors", "nowhere"}, "nowhere"},
	} {
		status, out, errs := weirWith(t, "", row.args...)
		assert.Equal(t, 2, status, row.want)
		assert.Empty(t, out)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
		assert.Contains(t, errs, row.want)
	}
}
