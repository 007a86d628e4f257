package vectorgen_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/dualbucket"
	"weir/gcra"
	"weir/internal/vectorgen"
	"weir/leakybucket"
	"weir/policy"
	"weir/slidinglog"
	"weir/tokenbucket"
	"weir/vectors"
)

const root = "../../vectors"

func generated(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := vectorgen.Generate()
	require.NoError(t, err)
	return files
}

// What is on disk is what the generator writes, to the byte, and nothing else.
func TestFilesAreAsGenerated(t *testing.T) {
	files := generated(t)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		onDisk, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if !assert.NoError(t, err) {
			continue
		}
		same := string(files[name]) == string(onDisk)
		assert.True(t, same, "vectors/%s: run go run ./internal/vectorgen/write", name)
	}
	for _, p := range vectors.Policies() {
		found, err := filepath.Glob(filepath.Join(root, p, "*"))
		require.NoError(t, err)
		for _, path := range found {
			assert.Contains(t, files, p+"/"+filepath.Base(path), "a file that no case stands behind")
		}
	}
}

func TestGenerateTwice(t *testing.T) { assert.Equal(t, generated(t), generated(t)) }

// The files are a suite that the loader takes, which checks the ids, the rules and every number.
func TestSuite(t *testing.T) {
	tree := fstest.MapFS{}
	for name, data := range generated(t) {
		tree[name] = &fstest.MapFile{Data: data}
	}
	ruleBook, err := os.ReadFile(filepath.Join(root, "rules.json"))
	require.NoError(t, err)
	tree["rules.json"] = &fstest.MapFile{Data: ruleBook}
	suite, err := vectors.Load(tree)
	require.NoError(t, err)

	cases := map[string]int{}
	ids := map[string]bool{}
	categories := map[string][]string{}
	used := map[string]bool{}
	for _, f := range suite.Files {
		categories[f.Policy] = append(categories[f.Policy], f.Category)
		for _, c := range f.Cases {
			cases[f.Policy]++
			assert.False(t, ids[c.ID], c.ID)
			ids[c.ID] = true
			assert.LessOrEqual(t, len(c.Steps), 60, "%s is too long to read", c.ID)
			for _, r := range c.Rules {
				used[r] = true
			}
		}
	}
	for _, p := range vectors.Policies() {
		assert.GreaterOrEqual(t, cases[p], 40, p)
		assert.Equal(t, vectors.Categories(), categories[p], p)
	}
	delete(suite.Rules, "HASH") // the hash files' rule
	for r := range suite.Rules {
		assert.True(t, used[r], "rule %s is tested by no case", r)
	}
}

// Both the runner's expansion of fills and the probes after a denial are what the generator counted on.
func TestFillsAndProbes(t *testing.T) {
	for name, data := range generated(t) {
		var f vectors.File
		require.NoError(t, json.Unmarshal(data, &f), name)
		for _, c := range f.Cases {
			rooms := uint64(1024)
			if c.MaxKeys != "*" {
				_ = json.Unmarshal([]byte(c.MaxKeys), &rooms)
			}
			_, err := vectors.Expand(c, rooms)
			assert.NoError(t, err, c.ID)
			checkProbes(t, f.Policy, c)
		}
	}
}

func checkProbes(t *testing.T, name string, c vectors.Case) {
	for i, s := range c.Steps {
		if s.Want == nil || s.Want.Outcome != "deny" || s.Op != "take" {
			continue
		}
		due := *s.Now + vectors.Number(*s.Want.RetryAfter)
		if p, err := maker(name)(c.Params.Limit(), policy.Options{}); err != nil || uint64(due) > p.Horizon() {
			continue
		}
		require.Less(t, i+2, len(c.Steps), c.ID)
		before, at := c.Steps[i+1], c.Steps[i+2]
		assert.Equal(t, []string{"peek", "deny", "peek", "allow"},
			[]string{before.Op, before.Want.Outcome, at.Op, at.Want.Outcome}, "%s: step %d", c.ID, i)
		assert.Equal(t, []vectors.Number{due - 1, due}, []vectors.Number{*before.Now, *at.Now}, "%s: step %d", c.ID, i)
	}
}

func maker(name string) policy.Maker {
	return map[string]policy.Maker{"gcra": gcra.New, "tokenbucket": tokenbucket.New, "leakybucket": leakybucket.New,
		"slidinglog": slidinglog.New, "dualbucket": dualbucket.New}[name]
}

// wrong is a GCRA that allows one request more than it should.
type wrong struct{ policy.Policy }

func (w wrong) Take(now, key, cost uint64) policy.Decision {
	if d := w.Policy.Take(now, key, cost); d.Outcome() != policy.Deny || d.RetryAfter() > 1 {
		return d
	}
	return w.Policy.Take(now+1, key, cost)
}

// A production policy that differs from the model in one answer, or in one refusal, stops the generator, which says
// where: a vector never comes of one opinion.
func TestDisagreementIsFound(t *testing.T) {
	_, err := vectorgen.GenerateFor("gcra", func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		p, err := gcra.New(l, o)
		return wrong{p}, err
	})
	require.Error(t, err)
	assert.Contains(t, err.Error(), "case gcra/boundary/three-per-second: step 1 (take, 1 in the file): outcome: ")
	assert.Contains(t, err.Error(), "production (0 keys) allow, oracle (0 keys) deny")

	_, err = vectorgen.GenerateFor("gcra", func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		l.Burst = max(l.Burst, 1)
		return gcra.New(l, o)
	})
	require.Error(t, err)
	assert.Contains(t, err.Error(),
		`case gcra/config/zero-burst: config_error: production (0 keys) "", oracle (0 keys) "invalid_burst"`)
}

// Two opinions that agree with each other and not with a pin are not written either.
func TestPinIsCompared(t *testing.T) {
	_, err := vectorgen.GenerateOne(2)
	require.NoError(t, err)
	_, err = vectorgen.GenerateOne(3)
	require.EqualError(t, err, "case gcra/basic/one: step 0 (take, 0 in the file): remaining: pinned 3, answered 2")
}

// The layout is for people: a step is a line, and the file ends in one.
func TestLayout(t *testing.T) {
	files, err := vectorgen.GenerateOne(2)
	require.NoError(t, err)
	assert.Equal(t, strings.TrimPrefix(`
{
  "format": 1,
  "policy": "gcra",
  "category": "basic",
  "cases": [
    {
      "id": "gcra/basic/one",
      "comment": "pinned",
      "rules": ["REMAINING"],
      "params": {"permits": "1", "period": "10", "burst": "3"},
      "max_keys": "*",
      "steps": [
        {"op": "take", "now": "0", "key": "7", "cost": "1", `+
		`"want": {"outcome": "allow", "remaining": "2", "retry_after": "0", "reset_after": "10"}}
      ]
    }
  ]
}
`, "\n"), string(files["gcra/basic.json"]))
}
