package vectors_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"weir/vectors"
)

// take and peek are steps of three permits in 1000 ticks: remaining, retry_after and reset_after are what is wanted.
func take(now, key, outcome, remaining, retry, reset string) string {
	return step("take", now, key, outcome, remaining, retry, reset)
}

func peek(now, key, outcome, remaining, retry, reset string) string {
	return step("peek", now, key, outcome, remaining, retry, reset)
}

func step(op, now, key, outcome, remaining, retry, reset string) string {
	return fmt.Sprintf(`{"op":%q,"now":%q,"key":%q,"cost":"1","want":{"outcome":%q,"remaining":%q,"retry_after":%q,"reset_after":%q}}`,
		op, now, key, outcome, remaining, retry, reset)
}

// oneCase is a case of three permits in 1000 ticks at burst 1.
func oneCase(name, maxKeys, more string, steps ...string) string {
	return fmt.Sprintf(`{"id":"gcra/basic/%s","comment":"c","rules":["TIE"],"params":{"permits":"3","period":"1000","burst":"1"},
		"max_keys":%q%s,"steps":[%s]}`, name, maxKeys, more, strings.Join(steps, ","))
}

// fileOf is a file of gcra/basic.
func fileOf(cases ...string) string {
	return `{"format":1,"policy":"gcra","category":"basic","cases":[` + strings.Join(cases, ",") + `]}`
}

func suiteOf(t testing.TB, cases ...string) vectors.Suite {
	t.Helper()
	return suiteFrom(t, map[string]string{"gcra/basic.json": fileOf(cases...)})
}

func suiteFrom(t testing.TB, files map[string]string) vectors.Suite {
	t.Helper()
	s, err := vectors.Load(treeOf(files))
	require.NoError(t, err)
	return s
}

func treeOf(files map[string]string) fstest.MapFS {
	tree := fstest.MapFS{}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

// threePerSecond is a denial with its probes between two allowances; an honest GCRA passes it.
func threePerSecond() string {
	return oneCase("three-per-second", "*", "",
		take("0", "7", "allow", "0", "0", "334"),
		take("333", "7", "deny", "0", "1", "1"),
		peek("333", "7", "deny", "0", "1", "1"),
		peek("334", "7", "allow", "1", "0", "0"),
		take("334", "7", "allow", "0", "0", "334"))
}

// everyOp goes through all operations in a table for two keys.
func everyOp() string {
	return oneCase("every-op", "2", "",
		take("0", "1", "allow", "0", "0", "334"),
		take("0", "2", "allow", "0", "0", "334"),
		take("0", "3", "full", "0", "-1", "0"),
		`{"op":"keys","want":{"keys":"2"}}`,
		`{"op":"refund","now":"0","key":"1","cost":"1","want":{"outcome":"allow"}}`,
		`{"op":"forget","key":"2","want":{"outcome":"allow"}}`,
		`{"op":"sweep","now":"0","want":{"keys":"0"}}`,
		`{"op":"fill","now":"0","leave":"1"}`,
		`{"op":"relimit","now":"0","params":{"permits":"3","period":"1000","burst":"2"},"want":{"outcome":"allow"}}`,
		`{"op":"relimit","now":"0","params":{"permits":"3","period":"1000"},"want":{"outcome":"invalid_burst"}}`,
		`{"op":"relimit","now":"9223372036854775807","params":{"permits":"3","period":"1000","burst":"1"},"want":{"outcome":"past_horizon"}}`,
		take("0", "5", "allow", "1", "0", "334"),
		take("9223372036854775807", "5", "past_horizon", "0", "-1", "0"))
}

func refused(name, params, word string) string {
	return fmt.Sprintf(`{"id":"gcra/basic/%s","rules":["CONFIG"],"params":{%s},"max_keys":"*","config_error":%q}`, name, params, word)
}
