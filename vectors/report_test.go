package vectors_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/vectors"
)

func reportOf(t *testing.T, d vectors.Driver, s vectors.Suite, o vectors.Options) (r vectors.Report, table string) {
	t.Helper()
	r, err := vectors.Run(t.Context(), s, d, o)
	require.NoError(t, err)
	var b strings.Builder
	require.NoError(t, r.WriteTable(&b))
	return r, b.String()
}

func TestTableOfAConformantRun(t *testing.T) {
	r, table := reportOf(t, honest(t), suiteOf(t, threePerSecond(), everyOp()), vectors.Options{})
	assert.True(t, r.Conformant())
	assert.True(t, r.OK(true))
	assert.Equal(t, `honest built-in, go, vectors none

category  gcra
basic        2
total        2

2 pass

conformant: 2 of 2
`, table)
	assert.Equal(t, "conformant: 1 of 1 selected", func() string {
		r, _ := reportOf(t, honest(t), suiteOf(t, threePerSecond(), everyOp()), vectors.Options{Case: "gcra/basic/every-op"})
		return r.Line()
	}())
}

// A failing case is shown step by step, the differing fields marked.
func TestTableOfAFailure(t *testing.T) {
	late := altering(func(a policy.Answer) policy.Answer {
		if a.Outcome == policy.Deny {
			a.RetryAfter, a.ResetAfter = a.RetryAfter+9, 0
		}
		return a
	})
	r, table := reportOf(t, vectors.NewRegistryDriver("late", "go", registry(t, late)), suiteOf(t, threePerSecond(), everyOp()),
		vectors.Options{})
	assert.False(t, r.Conformant())
	assert.False(t, r.OK(false))
	assert.Equal(t, `FAIL gcra/basic/three-per-second
    c
    params permits 3, period 1000, burst 1; max_keys *
       step  op    now  key  cost          outcome  remaining  retry_after  reset_after
          0  take    0    7     1          allow            0            0          334
          1  take  333    7     1  wanted  deny             0            1            1
    !                              got     deny             0          !10           !0
    (3 steps after)
    step 1, take: retry_after: wanted 1, got 10

late built-in, go, vectors none

category  gcra
basic      1/2
total      1/2

1 pass, 1 fail

partial: 1 of 2 (gcra 1 of 2)
`, table)
}

// Of a long case the steps just before the difference are shown, and a step of a fill under its own number.
func TestTableOfALongCase(t *testing.T) {
	never := altering(func(a policy.Answer) policy.Answer {
		if a.Outcome == policy.Full {
			a.Outcome = policy.Deny
		}
		return a
	})
	fill := oneCase("fills", "40", "", `{"op":"fill","now":"0","leave":"0"}`, take("0", "8", "full", "0", "-1", "0"))
	_, table := reportOf(t, vectors.NewRegistryDriver("never", "go", registry(t, never)), suiteOf(t, fill), vectors.Options{})
	assert.Contains(t, table, "(28 steps before, as wanted)")
	assert.Equal(t, 12, strings.Count(table, "  0  take    0  92233720368547758"), table)
	assert.Contains(t, table, "step 1, take: outcome: wanted full, got deny")
	assert.Contains(t, table, "!deny")
}

// What is left out is named, counted, and never conformant; only strict calls it wrong.
func TestTableOfAPartialRun(t *testing.T) {
	s := suiteFrom(t, map[string]string{
		"gcra/basic.json": fileOf(threePerSecond(), everyOp()),
		"hash/b.json":     `{"format":1,"hash":"mix32","cases":[{"id":"hash/mix32/1","in":"1","want":"1364076727"}]}`,
	})
	r, table := reportOf(t, honest(t).Without("peek", "refund", "mix32"), s, vectors.Options{})
	assert.True(t, r.OK(false))
	assert.False(t, r.OK(true))
	assert.Contains(t, table, `
category  gcra  hash
basic      1/2
mix32            0/1
total      1/2   0/1

1 pass, 2 unsupported

1 unsupported: refund
1 unsupported: mix32

partial: 1 of 3 (gcra 1 of 2, hash 0 of 1, 2 probes left out for want of peek)
`)
	r, _ = reportOf(t, honest(t).Without("peek"), suiteOf(t, threePerSecond()), vectors.Options{})
	assert.Equal(t, "partial: 1 of 1 (gcra 1 of 1, 2 probes left out for want of peek)", r.Line())
	assert.False(t, vectors.Report{}.OK(false), "nothing run is nothing shown")
	assert.Equal(t, "partial: 0 of 0", vectors.Report{}.Line())
}

func TestJSONReport(t *testing.T) {
	deny := altering(func(a policy.Answer) policy.Answer { a.Outcome = policy.Deny; return a })
	r, _ := reportOf(t, vectors.NewRegistryDriver("deny", "go", registry(t, deny)), suiteOf(t, threePerSecond(),
		refused("bad", "", "invalid_permits")), vectors.Options{})
	var b strings.Builder
	require.NoError(t, r.WriteJSON(&b))
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	require.Len(t, lines, 3)
	assert.JSONEq(t, `{"id":"gcra/basic/three-per-second","policy":"gcra","category":"basic","verdict":"fail",
		"why":"step 0, take: outcome: wanted allow, got deny","step":0,"op":"take","field":"outcome","wanted":"allow","got":"deny","name":"deny"}`, lines[0])
	assert.JSONEq(t, `{"id":"gcra/basic/bad","policy":"gcra","category":"basic","verdict":"pass","name":"deny"}`, lines[1])
	assert.JSONEq(t, `{"done":true,"suite":"","name":"deny","version":"built-in","language":"go","cases":2,
		"counts":{"fail":1,"pass":1},"left_out":0,"narrowed":false,"conformant":false}`, lines[2])
	for _, line := range lines {
		assert.True(t, json.Valid([]byte(line)))
	}
}

// Nothing that a port says reaches a terminal as it is.
func TestReportsAreClean(t *testing.T) {
	evil := "\x1b]0;title\x07\u202e\u009b2J\n<b>"
	d := script(func(q vectors.Request) (vectors.Reply, error) {
		if len(q.Steps) == 0 {
			return vectors.Reply{ConfigError: evil}, nil
		}
		return vectors.Reply{Results: []vectors.Want{{Outcome: evil}, {}, {}}}, nil
	})
	d.hello.Name, d.hello.Version, d.hello.Language = evil, evil, evil
	r, table := reportOf(t, d, suiteOf(t, strings.Replace(threePerSecond(), `"comment":"c"`, `"comment":"\u001b[2J"`, 1),
		refused("bad", "", "invalid_permits")), vectors.Options{})
	var b strings.Builder
	require.NoError(t, r.WriteJSON(&b))
	for _, text := range []string{table, b.String()} {
		for _, c := range text {
			assert.False(t, c < ' ' && c != '\n' || c == 0x7f || c >= 0x80, "%U in %q", c, text)
		}
	}
	assert.Contains(t, table, `!\x1b]0;title\a\u202e\u009b2J\n<b>`)
	assert.NotContains(t, b.String(), "<b>")
}

func TestClean(t *testing.T) {
	for _, row := range []struct{ in, out string }{
		{"plain text, Grüße", "plain text, Grüße"},
		{"a\tb\r\n", `a\tb\r\n`},
		{"\xff\x00", `\xff\x00`},
		{"'\"\\", "'\"\\"}, // nothing here can do harm
		{"\u2028\ufeff", `\u2028\ufeff`},
		{strings.Repeat("x", 401), strings.Repeat("x", 400) + "..."},
	} {
		assert.Equal(t, row.out, vectors.Clean(row.in))
	}
	assert.Equal(t, vectors.Clean("\x1b"), vectors.Clean(vectors.Clean("\x1b")))
}

// A writer that fails is said, not swallowed.
func TestReportsToABrokenWriter(t *testing.T) {
	f, err := os.Open(os.DevNull) // for reading only
	require.NoError(t, err)
	defer f.Close()
	r, _ := reportOf(t, honest(t), suiteOf(t, threePerSecond()), vectors.Options{})
	assert.Error(t, r.WriteTable(f))
	assert.Error(t, r.WriteJSON(f))
}
