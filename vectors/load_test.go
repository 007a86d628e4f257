package vectors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/vectors"
)

func TestLoad(t *testing.T) {
	s := suiteFrom(t, map[string]string{
		"VERSION":                "2.1.0\n",
		"rules.json":             `{"format":1,"rules":{"TIE":{"says":"a","where":"b","catches":"c"}}}`,
		"gcra/basic.json":        fileOf(threePerSecond(), everyOp()),
		"gcra/atm.json":          `{"format":1,"policy":"gcra","category":"atm","cases":[{"id":"gcra/atm/x","new":[],"params":{},"max_keys":"0","config_error":"invalid_max_keys"}]}`,
		"hash/m.json":            `{"format":1,"hash":"mix32","cases":[{"id":"hash/mix32/0","in":"0","want":"0"}]}`,
		"schema/x.schema.json":   "not read",
		"text/gcra.json":         "not read",
		"mutants.json":           "not read",
		".git/x.json":            "not read",
		"testdata/fuzz/case.txt": "not read",
	})
	assert.Equal(t, "2.1.0", s.Version)
	require.Len(t, s.Files, 2)
	assert.Equal(t, "basic", s.Files[0].Category, "categories stand in the suite's order")
	assert.Equal(t, 4, s.Cases())
	assert.Equal(t, vectors.Rule{Says: "a", Where: "b", Catches: "c"}, s.Rules["TIE"])
	take := s.Files[0].Cases[0].Steps[0]
	assert.EqualValues(t, 334, *take.Want.ResetAfter)
	full := s.Files[0].Cases[1].Steps[2]
	assert.Equal(t, vectors.Never, *full.Want.RetryAfter)
}

func TestLoadPath(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "my.json")
	require.NoError(t, os.WriteFile(file, []byte(fileOf(threePerSecond())), 0o600))
	for _, name := range []string{dir, file} {
		s, err := vectors.LoadPath(name)
		require.NoError(t, err)
		assert.Equal(t, 1, s.Cases())
		assert.NotEmpty(t, s.Rules, "the package's own rules")
	}
	_, err := vectors.LoadPath(filepath.Join(dir, "gone"))
	assert.ErrorContains(t, err, "gone: cannot be read: no such file")
	empty := t.TempDir()
	_, err = vectors.LoadPath(empty)
	assert.ErrorContains(t, err, "no vector file here")
	big := filepath.Join(empty, "big.json")
	require.NoError(t, os.WriteFile(big, nil, 0o600))
	require.NoError(t, os.Truncate(big, 64<<20+1))
	_, err = vectors.LoadPath(big)
	assert.EqualError(t, err, big+": has 67108865 bytes, at most 67108864 are read")
}

// badFiles are texts of gcra/basic.json and what the loader must say of each, after the file's name.
var badFiles = []struct{ name, text, says string }{
	{"nothing", ``, "not JSON: it ends too early"},
	{"cut", `{"format":1,`, "not JSON: it ends too early"},
	{"no object", `[]`, "must be a JSON object"},
	{"more behind", fileOf(threePerSecond()) + "{}", "something follows the JSON object"},
	{"no format", `{"policy":"gcra"}`, "format: missing"},
	{"format of the future", `{"format":2}`, "format is 2: must be the number 1: this reader knows no other"},
	{"format as text", `{"format":"1"}`, `format is "1": must be the number 1`},
	{"a name twice", `{"format":1,"format":1}`, "format: stands twice in one object"},
	{"unknown policy", `{"format":1,"policy":"GCRA","category":"basic","cases":[]}`, `policy is "GCRA": must be one of gcra, tokenbucket`},
	{"unknown hash", `{"format":1,"hash":"md5","cases":[]}`, `hash is "md5": must be one of xxh64, mix32`},
	{"no case", fileOf(), "cases is []: must hold at least one case"},
	{"cases no list", `{"format":1,"policy":"gcra","category":"basic","cases":{}}`, "cases is {}: must be a list"},
	{"case null", fileOf("null"), "must be a JSON object"},
	{"no id", fileOf(`{}`), "id: missing"},
	{"other prefix", fileOf(`{"id":"gcra/atm/x"}`), `case gcra/atm/x: id is "gcra/atm/x": must be gcra/basic/NAME`},
	{"a capital", fileOf(`{"id":"gcra/basic/X"}`), `id is "gcra/basic/X": must be`},
	{"id twice", fileOf(threePerSecond(), threePerSecond()), `id is "gcra/basic/three-per-second": is taken by a case in gcra/basic.json`},
	{"unknown rule", fileOf(strings.Replace(threePerSecond(), "TIE", "NONE", 1)), `rules is ["NONE"]: names a rule that rules.json lacks`},
	{"unknown need", fileOf(oneCase("x", "*", `,"needs":["xxh64"]`, "{}")), `needs is ["xxh64"]: must be some of max_keys, refund`},
	{"kills", fileOf(oneCase("x", "*", `,"kills":["A B"]`, "{}")), `kills is ["A B"]: must be names`},
	{"max_keys", fileOf(oneCase("x", "all", "", "{}")), `max_keys is "all": must be a JSON string of a canonical decimal`},
	{"params", fileOf(`{"id":"gcra/basic/x","max_keys":"*","params":[]}`), "must be a JSON object"},
	{"a param too large", fileOf(`{"id":"gcra/basic/x","max_keys":"*","params":{"burst":"9223372036854775808"}}`),
		`params.burst is "9223372036854775808": must be at most 9223372036854775807`},
	{"neither", fileOf(`{"id":"gcra/basic/x","max_keys":"*","params":{}}`), "config_error: a case has either steps or a config_error"},
	{"both", fileOf(oneCase("x", "*", `,"config_error":"invalid_burst"`, "{}")), "a case has either steps or a config_error"},
	{"unknown word", fileOf(refused("x", "", "bad")), `config_error is "bad": must be one of unknown_policy`},
	{"no step", fileOf(oneCase("x", "*", "")), "steps is []: must hold at least one step"},
}

// badSteps are steps after a good one, and what the loader must say of each, after file and case.
var badSteps = []struct{ name, text, says string }{
	{"no op", `{}`, "step 1: op: missing"},
	{"unknown op", `{"op":"give"}`, `step 1: op is "give": must be one of take, peek, refund`},
	{"op null", `{"op":null}`, "step 1: op is null: must be a string"},
	{"take without now", `{"op":"take","key":"1","cost":"1"}`, "step 1: now: missing"},
	{"take without key", `{"op":"take","now":"1","cost":"1"}`, "step 1: key: missing"},
	{"take without cost", `{"op":"take","key":"1","now":"1"}`, "step 1: cost: missing"},
	{"peek without want", `{"op":"peek","key":"1","now":"1","cost":"1"}`, "step 1: want: missing"},
	{"a name in capitals is another", `{"op":"take","Now":"1","key":"1","cost":"1"}`, "step 1: now: missing"},
	{"a JSON number", `{"op":"forget","key":1}`, "step 1: key is 1: must be a JSON string of a canonical decimal"},
	{"leading zero", `{"op":"forget","key":"01"}`, `step 1: key is "01": must be a JSON string`},
	{"sign", `{"op":"forget","key":"+1"}`, `step 1: key is "+1": must be a JSON string`},
	{"exponent", `{"op":"forget","key":"1e3"}`, `step 1: key is "1e3": must be a JSON string`},
	{"key beyond 64 bits", `{"op":"forget","key":"18446744073709551616"}`, "at most 18446744073709551615"},
	{"now beyond 63 bits", `{"op":"sweep","now":"9223372036854775808"}`, `now is "9223372036854775808": must be at most`},
	{"sweep without count", `{"op":"sweep","now":"1","want":{}}`, "step 1: want.keys: missing"},
	{"refund without outcome", `{"op":"refund","now":"1","key":"1","cost":"1","want":{}}`, "want.outcome: missing"},
	{"a refund is not denied", `{"op":"refund","now":"1","key":"1","cost":"1","want":{"outcome":"deny"}}`, `want.outcome is "deny"`},
	{"take without reset", `{"op":"take","now":"1","key":"1","cost":"1","want":{"outcome":"allow","remaining":"0","retry_after":"0"}}`,
		"step 1: want.reset_after: missing"},
	{"only retry_after is never", take("1", "1", "deny", "0", "-1", "-1"), `want.reset_after is "-1": must be`},
	{"never has one form", take("1", "1", "deny", "0", "18446744073709551615", "1"), "want.retry_after is"},
	{"unknown outcome", take("1", "1", "ok", "0", "0", "1"), `want.outcome is "ok": must be one of allow, deny`},
	{"keys in an open table", `{"op":"keys","want":{"keys":"1"}}`, "keys stands only in a case with a number for max_keys"},
	{"relimit without params", `{"op":"relimit","now":"1"}`, "step 1: params: missing"},
	{"relimit's params", `{"op":"relimit","now":"1","params":{"period":"x"}}`, `step 1: params.period is "x"`},
	{"fill without leave", `{"op":"fill","now":"1"}`, "step 1: leave: missing"},
	{"second cost of one limit", `{"op":"forget","key":"1","cost2":"1"}`, "only a dual bucket has a second cost"},
	{"control characters", "{\"op\":\"\\u001b[2J\"}", `op is "\u001b[2J": must be`},
	{"a fill that nobody can count", `{"op":"sweep","now":"9","want":{"keys":"3"}},{"op":"fill","now":"9","leave":"0"}`,
		"fill at step 2: a sweep before it has freed some keys and not all"},
}

func TestLoadRefuses(t *testing.T) {
	for _, row := range badFiles {
		t.Run(row.name, func(t *testing.T) { refuses(t, "gcra/basic.json", row.text, row.says) })
	}
	for _, row := range badSteps {
		t.Run(row.name, func(t *testing.T) {
			text := fileOf(oneCase("x", "*", "", take("0", "7", "allow", "0", "0", "334"), row.text))
			refuses(t, "gcra/basic.json", text, row.says)
		})
	}
}

// What only some files can have.
func TestLoadRefusesByKind(t *testing.T) {
	file := func(policy, want string) string {
		return `{"format":1,"policy":"` + policy + `","category":"basic","cases":[{"id":"` + policy + `/basic/x","params":{},"max_keys":"*",
		"steps":[{"op":"take","now":"0","key":"0","cost":"1","want":{"outcome":"allow","remaining":"0","retry_after":"0","reset_after":"0"` + want + `}}]}]}`
	}
	hash := func(kind, fields string) string {
		return `{"format":1,"hash":"` + kind + `","cases":[{"id":"hash/` + kind + `/x"` + fields + `}]}`
	}
	for _, row := range []struct{ name, text, says string }{
		{"a leaky bucket says delay", file("leakybucket", ""), "step 0: want.delay: missing"},
		{"a dual bucket says binding", file("dualbucket", ""), "step 0: want.binding: missing"},
		{"which is first or second", file("dualbucket", `,"binding":"third"`), `want.binding is "third": must be one of first, second`},
		{"a hash has a want", hash("mix32", `,"in":"1"`), "want: missing"},
		{"mix32 has an in", hash("mix32", `,"want":"1"`), "in: missing"},
		{"of 32 bits", hash("mix32", `,"want":"1","in":"4294967296"`), "in is \"4294967296\": must be at most 4294967295"},
		{"xxh64 has a seed", hash("xxh64", `,"want":"1","hex":""`), "seed: missing"},
		{"and bytes", hash("xxh64", `,"want":"1","hex":"0","seed":"0"`), "hex is \"0\": must be bytes"},
		{"in one form", hash("xxh64", `,"want":"1","hex":"AB","seed":"0"`), "hex is \"AB\": must be bytes"},
		{"hash cases", `{"format":1,"hash":"mix32","cases":[]}`, "must hold at least one case"},
	} {
		t.Run(row.name, func(t *testing.T) { refuses(t, "a/b.json", row.text, row.says) })
	}
	for _, row := range []struct{ name, text, says string }{
		{"no rules", `{"format":1}`, "rules.json: rules: missing"},
		{"half a rule", `{"format":1,"rules":{"A":{"says":"x","where":"y"}}}`, "rules.json: A.catches: missing"},
		{"rules no object", `{"format":1,"rules":[]}`, "must be a JSON object"},
	} {
		t.Run(row.name, func(t *testing.T) { refuses(t, "rules.json", row.text, row.says) })
	}
}

// refuses asserts that the loader's only word on a file is one line that starts with its name.
func refuses(t *testing.T, name, text, says string) {
	t.Helper()
	_, err := vectors.Load(treeOf(map[string]string{name: text, "z/other.json": fileOf(refused("other", "", "invalid_permits"))}))
	var fault *vectors.FileError
	require.ErrorAs(t, err, &fault)
	assert.True(t, strings.HasPrefix(err.Error(), name+": "), "%v", err)
	assert.Contains(t, err.Error(), says)
	assert.NotContains(t, err.Error(), "\n")
}

// One id may not stand in two files either.
func TestLoadRefusesAnIDInTwoFiles(t *testing.T) {
	text := fileOf(threePerSecond())
	_, err := vectors.Load(fstest.MapFS{"a.json": {Data: []byte(text)}, "b.json": {Data: []byte(text)}})
	assert.ErrorContains(t, err, "b.json: case gcra/basic/three-per-second: id is")
	assert.ErrorContains(t, err, "is taken by a case in a.json")
}

func FuzzLoad(f *testing.F) {
	f.Add([]byte(fileOf(threePerSecond(), everyOp())))
	f.Add([]byte(`{"format":1,"hash":"xxh64","cases":[{"id":"hash/xxh64/x","hex":"00","seed":"0","want":"1"}]}`))
	for _, row := range badFiles {
		f.Add([]byte(row.text))
	}
	for _, row := range badSteps {
		f.Add([]byte(fileOf(oneCase("x", "3", "", row.text))))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := vectors.Load(fstest.MapFS{"a.json": {Data: text}})
		if err != nil {
			assert.NotContains(t, err.Error(), "\n")
			return
		}
		// Whatever loads can be run, and makes a report, without a panic of ours.
		r, err := vectors.Run(t.Context(), s, honest(t), vectors.Options{})
		require.NoError(t, err)
		require.Len(t, r.Results, s.Cases())
	})
}
