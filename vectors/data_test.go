package vectors_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/vectors"
)

func marshalled(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// What the loader lets a stranger's file do, but the suite itself does not.
func TestTheSuiteItself(t *testing.T) {
	s, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	assert.Equal(t, "1.0.0", s.Version)
	require.Len(t, s.Hashes, 2)
	for _, f := range s.Files {
		assert.Contains(t, vectors.Categories(), f.Category)
		for _, c := range f.Cases {
			assert.NotEmpty(t, c.Comment, "%s: comment", c.ID)
			assert.NotEmpty(t, c.Rules, "%s: rules", c.ID)
			for _, step := range c.Steps {
				if step.Want != nil && step.Want.RetryAfter != nil {
					denied := step.Want.Outcome == "deny" || step.Want.Outcome == "allow"
					assert.Equal(t, denied, *step.Want.RetryAfter != vectors.Never, "%s: retry_after of %s", c.ID, step.Want.Outcome)
				}
			}
		}
	}
}

// The hash vectors pass with the hashes of package policy.
func TestHashVectorsPass(t *testing.T) {
	s, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	r, err := vectors.Run(t.Context(), s, honest(t), vectors.Options{Policies: []string{"hash"}})
	require.NoError(t, err)
	assert.Greater(t, len(r.Results), 400)
	assert.True(t, r.Conformant(), r.Line())
}

// Every rule points at a section that README.md has, and every word of the format is in that page.
func TestRulesPointIntoTheReadme(t *testing.T) {
	readme := readFile(t, "README.md")
	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(readme, -1) {
		anchors["README.md#"+strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-")] = true
	}
	s, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	require.NotEmpty(t, s.Rules)
	for id, rule := range s.Rules {
		assert.True(t, anchors[rule.Where], "%s: %s is no section", id, rule.Where)
	}
	words := append(vectors.Capabilities(), vectors.Categories()...)
	for _, v := range vectors.Verdicts() {
		words = append(words, string(v))
	}
	for _, word := range append(words, vectors.Policies()...) {
		assert.Contains(t, readme, word)
	}
}

// README.md promises values that the hash files must have.
func TestReadmeHashExample(t *testing.T) {
	s, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	want := map[string]uint64{}
	for _, h := range s.Hashes {
		for _, c := range h.Cases {
			want[c.ID] = uint64(*c.Want)
		}
	}
	assert.Equal(t, uint64(0xEF46DB3751D8E999), want["hash/xxh64/seed0-length0"])
	assert.Equal(t, uint64(4952883123889572249), want["hash/xxh64/text-616263"])
	assert.Equal(t, want["hash/xxh64/collide2-text"], want["hash/xxh64/collide2-twin"])
	assert.Contains(t, readFile(t, "README.md"), `"key":"4952883123889572249"`)
}

// The first steps of a long transcript and their answers are those that README.md shows.
func TestReadmeLongExample(t *testing.T) {
	long, err := vectors.LoadLong(vectors.FS(), "gcra")
	require.NoError(t, err)
	_, example, found := strings.Cut(readFile(t, "README.md"), "The transcript of gcra begins with these:\n\n")
	require.True(t, found)
	example, _, _ = strings.Cut(example, "\n\n")
	script, d := long.Script(), honest(t)
	var steps []vectors.Step
	for line := range strings.Lines(example) {
		steps = append(steps, script.Next())
		reply, err := d.Run(t.Context(), vectors.Request{Policy: "gcra", Params: long.Params, MaxKeys: long.MaxKeys, Steps: steps})
		require.NoError(t, err)
		got := reply.Results[len(steps)-1]
		script.Answered(got)
		assert.Equal(t, strings.Join(strings.Fields(line), " "), shown(steps[len(steps)-1], got))
	}
	assert.Len(t, steps, 10)
}

// shown is a step of one cost and its answer, as README.md shows them.
func shown(s vectors.Step, w vectors.Want) string {
	text := s.Op
	for _, n := range []*vectors.Number{s.Now, s.Key, s.Cost} {
		if n != nil {
			text += fmt.Sprintf(" %d", *n)
		}
	}
	switch {
	case w.Keys != nil:
		return fmt.Sprintf("%s %d", text, *w.Keys)
	case w.RetryAfter == nil:
		return text + " " + w.Outcome + " - - - - -"
	}
	return fmt.Sprintf("%s %s %d %d %d - -", text, w.Outcome, *w.Remaining, *w.RetryAfter, *w.ResetAfter)
}

func TestNumbersInJSON(t *testing.T) {
	never, last := vectors.Never, vectors.Number(1<<64-1)
	retry := vectors.Wait(5)
	assert.Equal(t, `{"retry_after":"-1","keys":"18446744073709551615"}`, marshalled(t, vectors.Want{RetryAfter: &never, Keys: &last}))
	assert.Equal(t, `{"retry_after":"5"}`, marshalled(t, vectors.Want{RetryAfter: &retry}))
	for _, bad := range []string{`1`, `"01"`, `"-1"`, `""`, `" 1"`, `"1.0"`, `"18446744073709551616"`, `null`, `[]`} {
		var n vectors.Number
		assert.Error(t, json.Unmarshal([]byte(bad), &n), bad)
	}
	for _, bad := range []string{`"-2"`, `-1`, `"9223372036854775808"`, `"18446744073709551615"`} {
		var w vectors.Wait
		assert.Error(t, json.Unmarshal([]byte(bad), &w), bad)
	}
	var w vectors.Wait
	require.NoError(t, json.Unmarshal([]byte(`"-1"`), &w))
	assert.Equal(t, vectors.Never, w)
}
