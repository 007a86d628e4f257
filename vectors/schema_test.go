package vectors_test

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/vectors"
)

// schemas compiles the suite's schemas; the name may end in a fragment.
func schemas(t *testing.T) func(name string) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	names, err := fs.Glob(vectors.FS(), "schema/*.json")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(names), 4)
	for _, name := range names {
		require.NoError(t, c.AddResource("mem:///"+name, parse(t, readFile(t, name))))
	}
	return func(name string) *jsonschema.Schema {
		file, fragment, _ := strings.Cut(name, "#")
		s, err := c.Compile("mem:///schema/" + file + ".schema.json#" + fragment)
		require.NoError(t, err)
		return s
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	b, err := fs.ReadFile(vectors.FS(), name)
	require.NoError(t, err)
	return string(b)
}

func parse(t *testing.T, text string) any {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	require.NoError(t, err, text)
	return v
}

func TestDataFitsTheSchemas(t *testing.T) {
	schema := schemas(t)
	assert.NoError(t, schema("rules").Validate(parse(t, readFile(t, "rules.json"))))
	names, err := fs.Glob(vectors.FS(), "*/*.json")
	require.NoError(t, err)
	for _, name := range names {
		switch path.Dir(name) {
		case "hash":
			assert.NoError(t, schema("hash").Validate(parse(t, readFile(t, name))), name)
		case "long":
			assert.NoError(t, schema("long").Validate(parse(t, readFile(t, name))), name)
		case "gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket":
			assert.NoError(t, schema("vectors").Validate(parse(t, readFile(t, name))), name)
		}
	}
}

// What the loader refuses for its form the schema refuses too. The loader alone knows what is spread over a file or over
// several: ids and their prefix, rules, fills.
func TestSchemaRefusesWhatTheLoaderRefuses(t *testing.T) {
	schema := schemas(t)("vectors")
	loaderOnly := []string{"nothing", "cut", "more behind", "a name twice", "unknown hash", "other prefix", "id twice",
		"unknown rule", "keys in an open table", "a fill that nobody can count"}
	require.NoError(t, schema.Validate(parse(t, fileOf(threePerSecond(), everyOp(), refused("x", "", "invalid_burst")))))
	check := func(name, text string) {
		if !slices.Contains(loaderOnly, name) {
			assert.Error(t, schema.Validate(parse(t, text)), name)
		}
	}
	for _, row := range badFiles {
		check(row.name, row.text)
	}
	for _, row := range badSteps {
		check(row.name, fileOf(oneCase("x", "*", "", take("0", "7", "allow", "0", "0", "334"), row.text)))
	}
}

// The last number that fits and the first that does not, where the schema has to say so with a pattern.
func TestSchemaBounds(t *testing.T) {
	schema := schemas(t)
	for _, row := range []struct {
		def, number string
		ok          bool
	}{
		{"number", "0", true}, {"number", "9223372036854775807", true}, {"number", "9223372036854775808", false},
		{"number", "10000000000000000000", false}, {"number", "00", false}, {"number", "", false}, {"number", "-1", false},
		{"key", "18446744073709551615", true}, {"key", "18446744073709551616", false}, {"key", "9999999999999999999", true},
		{"wait", "-1", true}, {"wait", "-2", false}, {"wait", "9223372036854775807", true},
		{"maxKeys", "*", true}, {"maxKeys", "**", false},
	} {
		err := schema("vectors#/$defs/" + row.def).Validate(row.number)
		assert.Equal(t, row.ok, err == nil, "%s %q: %v", row.def, row.number, err)
	}
}

func TestProtocolMessages(t *testing.T) {
	schema := schemas(t)
	for _, row := range []struct {
		def, text string
		ok        bool
	}{
		{"request", `{"cmd":"hello","protocol":1,"suite":"1.0.0"}`, true},
		{"request", `{"cmd":"hello","protocol":2,"suite":"1.0.0"}`, false},
		{"request", `{"cmd":"bye"}`, true},
		{"request", `{"cmd":"by"}`, false},
		{"request", `{"cmd":"case","seq":7,"policy":"gcra","params":{"permits":"3"},"max_keys":"*","steps":[{"op":"take","now":"0","key":"7","cost":"1"}]}`, true},
		{"request", `{"cmd":"case","seq":7,"policy":"gcra","params":{},"max_keys":"1","steps":[],"more":true}`, true},
		{"request", `{"cmd":"case","seq":"7","policy":"gcra","params":{},"max_keys":"1","steps":[]}`, false},
		{"request", `{"cmd":"case","seq":7,"policy":"gcra","params":{},"max_keys":"1","steps":[{"op":"fill","now":"0","leave":"1"}]}`, false},                  // a port never sees it
		{"request", `{"cmd":"case","seq":7,"policy":"gcra","params":{},"max_keys":"1","steps":[{"op":"forget","key":"7","want":{"outcome":"allow"}}]}`, false}, // nor this
		{"request", `{"cmd":"steps","seq":7,"steps":[{"op":"keys"}],"more":false}`, true},
		{"request", `{"cmd":"steps","seq":7,"steps":[{"op":"take","now":"0"}],"more":false}`, false},
		{"request", `{"cmd":"hash","seq":8,"hash":"xxh64","hex":"616263","seed":"0"}`, true},
		{"request", `{"cmd":"hash","seq":8,"hash":"mix32","in":"4294967295"}`, true},
		{"request", `{"cmd":"hash","seq":8,"hash":"mix32","in":"4294967296"}`, false},
		{"request", `{"cmd":"hash","seq":8,"hash":"mix32","hex":"","seed":"0"}`, false},
		{"helloAnswer", `{"protocol":1,"name":"p","version":"0","language":"c","policies":["gcra"],"can":[],"max_keys":"1024"}`, true},
		{"helloAnswer", `{"protocol":1,"name":"p","version":"0","language":"c","policies":["gcra"],"can":[],"max_keys":"0"}`, false},
		{"helloAnswer", `{"protocol":1,"name":"p","version":"0","language":"c","policies":["gcra"],"can":[],"max_keys":1024}`, false},
		{"helloAnswer", `{"protocol":1,"name":"p"}`, false},
		{"results", `{"seq":7,"results":[{"outcome":"allow","remaining":"0","retry_after":"0","reset_after":"334","delay":"0","binding":"first"}]}`, true},
		{"results", `{"seq":7,"results":[{"outcome":"allow"},{"keys":"3"},{"outcome":"past_horizon"}]}`, true},
		{"results", `{"seq":7,"results":[{"outcome":"allow","remaining":"0"}]}`, false}, // half an answer
		{"results", `{"seq":7,"results":[{"outcome":"allow","remaining":0,"retry_after":"0","reset_after":"334"}]}`, false},
		{"results", `{"seq":7,"results":[{}]}`, false},
		{"results", `{"results":[]}`, false},
		{"answer", `{"seq":7,"config_error":"invalid_burst"}`, true},
		{"answer", `{"seq":7,"config_error":"no"}`, false},
		{"answer", `{"seq":7,"skipped":"why"}`, true},
		{"answer", `{"seq":8,"key":"18446744073709551615"}`, true},
		{"answer", `{"error":"text"}`, true},
		{"answer", `{}`, false},
	} {
		err := schema("protocol#/$defs/" + row.def).Validate(parse(t, row.text))
		assert.Equal(t, row.ok, err == nil, "%s %s: %v", row.def, row.text, err)
	}
}

// What the runner hands to a driver is what the protocol's schema says, so that a driver has to add a name and a number.
func TestRequestsFitTheProtocol(t *testing.T) {
	schema := schemas(t)("protocol#/$defs/case")
	d := script(func(q vectors.Request) (vectors.Reply, error) {
		text := marshalled(t, q)
		assert.NoError(t, schema.Validate(parse(t, `{"cmd":"case","seq":1,`+text[1:])))
		return vectors.Reply{}, nil
	})
	d.hello.Can = vectors.Capabilities()
	run(t, d, suiteOf(t, threePerSecond(), everyOp(), refused("x", "", "invalid_permits")))
	assert.Len(t, d.sent, 3)
}

func TestSchemaOfLongTranscripts(t *testing.T) {
	schema := schemas(t)("long")
	const good = `{"format":1,"policy":"gcra","params":{"permits":"3","period":"1000","burst":"5"},"max_keys":"8",` +
		`"needs":["peek"],"generator":"weir-1","seed":"18446744073709551615","steps":"2000","every":"1000","digests":["0","1"]}`
	require.NoError(t, schema.Validate(parse(t, good)))
	for _, row := range []struct{ old, bad string }{
		{`"weir-1"`, `"weir-2"`},
		{`"gcra"`, `"dualbucket"`}, // which has a second limit
		{`"gcra"`, `"hash"`},
		{`"permits":"3"`, `"permits":"0"`},
		{`,"burst":"5"`, ``},
		{`"every":"1000"`, `"every":"0"`},
		{`"steps":"2000"`, `"steps":2000`},
		{`["0","1"]`, `["0","01"]`},
		{`,"seed":"18446744073709551615"`, ``},
	} {
		text := strings.Replace(good, row.old, row.bad, 1)
		require.NotEqual(t, good, text)
		assert.Error(t, schema.Validate(parse(t, text)), text)
	}
}

func TestSchemaOfHashes(t *testing.T) {
	schema := schemas(t)("hash")
	for _, text := range []string{
		`{"format":1,"hash":"md5","cases":[{"id":"hash/md5/x","want":"1"}]}`,
		`{"format":1,"hash":"xxh64","cases":[]}`,
		`{"format":1,"hash":"xxh64","cases":[{"id":"hash/xxh64/x","hex":"AB","seed":"0","want":"1"}]}`,
		`{"format":1,"hash":"xxh64","cases":[{"id":"hash/xxh64/x","hex":"0","seed":"0","want":"1"}]}`,
		`{"format":1,"hash":"xxh64","cases":[{"id":"hash/xxh64/x","hex":"00","want":"1"}]}`,
		`{"format":1,"hash":"xxh64","cases":[{"id":"hash/mix32/x","hex":"00","seed":"0","want":"1"}]}`,
		`{"format":1,"hash":"mix32","cases":[{"id":"hash/mix32/x","in":"4294967296","want":"1"}]}`,
		`{"format":1,"hash":"mix32","cases":[{"id":"hash/mix32/x","in":"1","want":1}]}`,
		`{"format":1,"hash":"mix32","cases":[{"id":"hash/mix32/x","in":"1"}]}`,
	} {
		assert.Error(t, schema.Validate(parse(t, text)), text)
	}
	rules := schemas(t)("rules")
	for _, text := range []string{
		`{"rules":{}}`,
		`{"format":1,"rules":{"lower":{"says":"a","where":"README.md#b","catches":"c"}}}`,
		`{"format":1,"rules":{"A":{"says":"a","where":"b","catches":"c"}}}`,
		`{"format":1,"rules":{"A":{"says":"a","where":"README.md#b"}}}`,
	} {
		assert.Error(t, rules.Validate(parse(t, text)), text)
	}
}
