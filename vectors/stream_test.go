package vectors_test

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/gcra"
	"weir/policy"
	"weir/vectors"
)

// aLong is a transcript of three blocks, its digests those of package gcra.
func aLong(t *testing.T) vectors.Long {
	permits, period, burst := vectors.Number(3), vectors.Number(1000), vectors.Number(5)
	l := vectors.Long{Format: vectors.Format, Policy: "gcra", Params: vectors.Params{Permits: &permits, Period: &period, Burst: &burst},
		MaxKeys: "8", Needs: []string{"max_keys", "peek", "refund", "sweep"}, Generator: vectors.Generator, Seed: 9,
		Steps: 3000, Every: 1000, Digests: make([]vectors.Number, 3)}
	whole, err := vectors.LoadLong(vectors.FS(), "gcra")
	require.NoError(t, err)
	l.Seed, l.Digests = whole.Seed, whole.Digests[:3]
	return l
}

// late is a GCRA that gives one permit too many from its nth take on.
type late struct {
	policy.Policy
	left *int
}

func (l late) Take(now, key, cost uint64) policy.Decision {
	d := l.Policy.Take(now, key, cost)
	if *l.left--; *l.left >= 0 || d.OK() {
		return d
	}
	a := d.Answer()
	a.Remaining++
	return policy.Answered(a, 0)
}

func lateAfter(n int) policy.Maker {
	return func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		p, err := gcra.New(l, o)
		left := n
		return late{p, &left}, err
	}
}

func runLong(t *testing.T, l vectors.Long, d vectors.Driver) vectors.Result {
	t.Helper()
	hello, err := d.Hello(context.Background())
	require.NoError(t, err)
	r := vectors.RunLong(context.Background(), d, hello, l, gcra.New)
	assert.NoError(t, d.Close())
	return r
}

func inProcess(t *testing.T, m policy.Maker) *vectors.RegistryDriver {
	return vectors.NewRegistryDriver("test", "go", registry(t, m, "gcra"))
}

// The right answers pass, through every driver.
func TestLongPasses(t *testing.T) {
	t.Parallel()
	l := aLong(t)
	assert.Equal(t, vectors.Pass, runLong(t, l, inProcess(t, gcra.New)).Verdict)
	name, err := badport()
	require.NoError(t, err)
	for _, protocol := range []string{"json", "text"} {
		d, err := vectors.NewPort(context.Background(), vectors.PortOptions{Command: []string{name, "-protocol", protocol, "honest"},
			Text: protocol == "text", StartUp: generous, Limit: generous})
		require.NoError(t, err)
		r := runLong(t, l, d)
		assert.Equal(t, vectors.Pass, r.Verdict, "%s: %s", protocol, r.Why)
	}
}

// The first bad block is named, and in it the first bad step with the answer that was wanted.
func TestLongNamesTheBadBlock(t *testing.T) {
	t.Parallel()
	r := runLong(t, aLong(t), inProcess(t, lateAfter(1200)))
	assert.Equal(t, vectors.Fail, r.Verdict)
	assert.Contains(t, r.Why, "take: block 2 of 3: wanted deny 0 ")
	assert.Contains(t, r.Why, ", got deny 1 ")
	require.NotNil(t, r.Step)
	assert.GreaterOrEqual(t, *r.Step, 1000)
	assert.Less(t, *r.Step, 2000)
}

// What a port lacks leaves the transcript out, a panic is a crash, and a digest of other answers is the file's fault.
func TestLongOtherwise(t *testing.T) {
	t.Parallel()
	assert.Equal(t, vectors.Unsupported, runLong(t, aLong(t), inProcess(t, gcra.New).Without("sweep")).Verdict)
	r := runLong(t, aLong(t), inProcess(t, func(policy.Limit, policy.Options) (policy.Policy, error) { panic("no") }))
	assert.Equal(t, vectors.Crash, r.Verdict)
	other := aLong(t)
	other.Digests = []vectors.Number{1, 2, 3}
	r = runLong(t, other, inProcess(t, gcra.New))
	assert.Equal(t, vectors.Fail, r.Verdict)
	assert.Contains(t, r.Why, "block 1: the digest is not that of the right answers")
}

// Faults of a long file are named in one line.
func TestLoadLongRefuses(t *testing.T) {
	const good = `"format":1,"policy":"gcra","params":{"permits":"3","period":"10","burst":"1"},"max_keys":"8","needs":[],` +
		`"generator":"weir-1","seed":"1","steps":"2000","every":"1000","digests":["1","2"]`
	for _, row := range []struct{ why, old, new, want string }{
		{"a later format", `"format":1`, `"format":2`, "long/gcra.json: format is 2: must be 1"},
		{"another generator", `weir-1`, `weir-2`, `generator is "weir-2": must be weir-1`},
		{"a block of nothing", `"every":"1000"`, `"every":"0"`, "every is 0: must be a divisor of steps"},
		{"a digest missing", `["1","2"]`, `["1"]`, "digests is 1 long: must be 2 long"},
		{"no limit", `"permits":"3",`, ``, "params is without permits or period"},
		{"another policy", `"policy":"gcra"`, `"policy":"x"`, `policy is "x": must be one of gcra`},
		{"not JSON", `"seed"`, `seed`, "long/gcra.json: invalid character"},
	} {
		_, err := vectors.LoadLong(oneFile("long/gcra.json", "{"+replaceOnce(t, good, row.old, row.new)+"}"), "gcra")
		if assert.Error(t, err, row.why) {
			assert.Contains(t, err.Error(), row.want, row.why)
		}
	}
	_, err := vectors.LoadLong(oneFile("long/gcra.json", "{"+good+"}"), "gcra")
	assert.NoError(t, err)
	_, err = vectors.LoadLong(oneFile("x", ""), "gcra")
	assert.ErrorContains(t, err, "long/gcra.json: cannot be read")
}

func oneFile(name, text string) fstest.MapFS { return fstest.MapFS{name: {Data: []byte(text)}} }

func replaceOnce(t *testing.T, text, old, with string) string {
	require.Equal(t, 1, strings.Count(text, old), old)
	return strings.Replace(text, old, with, 1)
}
