package main_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/vectors"
)

// badport is the program of vectors/internal/badport, built once, beside the command.
var badport = sync.OnceValues(func() (string, error) {
	name := filepath.Join(filepath.Dir(program), "badport.exe")
	out, err := exec.Command("go", "build", "-o", name, "weir/vectors/internal/badport").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, out)
	}
	return name, err
})

// port is a command line of badport.
func port(t *testing.T, args ...string) string {
	t.Helper()
	name, err := badport()
	require.NoError(t, err)
	return vectors.Quote(append([]string{name}, args...)...)
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

const oneID = "gcra/basic/first-request"

// The exit status of a run, the last line that it prints, and what it says besides.
func TestVerifyPort(t *testing.T) {
	known := file(t, "known.txt", "gcra/*/* # always allows\n")
	first := file(t, "first.txt", oneID+" # it passes\n")
	for _, row := range []struct {
		name         string
		mode         []string
		flags        []string
		status       int
		last, within string
	}{
		{"JSON", []string{"honest"}, nil, 0, "conformant: ", ""},
		{"text", []string{"-protocol", "text", "honest"}, []string{"--protocol", "text", "--policy", "gcra,hash"}, 0, "conformant: ", ""},
		{"a fault", []string{"too few"}, []string{"--case", oneID}, 1, "partial: 0 of 1 selected", "one answer for each step"},
		{"a known fault", []string{"always deny"}, []string{"--case", oneID, "--expect", known}, 0, "partial: 0 of 1 selected", "fail as expected: always allows"},
		{"no fault any more", []string{"honest"}, []string{"--case", oneID, "--expect", first}, 1, "partial: 1 of 1 selected", "passes, but is expected to fail: it passes"},
		{"a skip", []string{"skip"}, []string{"--case", oneID}, 1, "partial: 0 of 1 selected", "SKIPPED"},
		{"nothing", []string{"claims nothing"}, []string{"--policy", "gcra"}, 1, "partial: 0 of", "nothing was run"},
		{"words that nobody knows", []string{"claims nothing"}, []string{"--policy", "gcra"}, 1, "partial: 0 of", "not known here: gcar"},
		{"crash at hello", []string{"crash at hello"}, nil, 1, "partial: 0 of 1 (protocol 0 of 1)", `standard error: cannot \x1b[31mfind\x1b[0m the <config>`},
		{"crash at bye", []string{"crash at bye"}, []string{"--case", oneID}, 1, "partial: 1 of 2 selected (gcra 1 of 1, protocol 0 of 1)", "CRASH protocol/bye"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			status, out, errs := weirWith(t, "", append([]string{"verify", "--port", port(t, row.mode...)}, row.flags...)...)
			assert.Equal(t, row.status, status, out+errs)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			assert.Contains(t, lines[len(lines)-1], row.last)
			assert.Contains(t, out+errs, row.within)
		})
	}
}

// The replay line under a failure is a command that does it again, with every line shown.
func TestReplay(t *testing.T) {
	command := port(t, "-protocol", "text", "always deny")
	_, out, _ := weirWith(t, "", "verify", "--port", command, "--protocol", "text", "--case", oneID)
	_, line, found := strings.Cut(out, "    replay: weir ")
	require.True(t, found, out)
	line, _, _ = strings.Cut(line, "\n")
	words, err := vectors.SplitCommand(line)
	require.NoError(t, err)
	assert.Equal(t, []string{"verify", "--port", command, "--protocol", "text", "--case", oneID, "--trace"}, words)
	status, out, _ := weirWith(t, "", words...)
	assert.Equal(t, 1, status)
	assert.True(t, strings.HasPrefix(out, `-> hello 1 1.0.0
<- hello 1 badport 0.1 go
<- policies gcra tokenbucket leakybucket slidinglog dualbucket
<- can max_keys refund peek sweep relimit cost2 long_log int64 xxh64 mix32
<- max_keys *
<- .
-> case 1 gcra * 1 10 5 - - -
-> step 0 take 0 7 1 -
-> end 1
<- r 1 0 deny 4 0 10 0 first
<- end 1
-> bye
FAIL `+oneID), out)
}

// What a port writes is escaped in a trace.
func TestTraceIsClean(t *testing.T) {
	_, out, _ := weirWith(t, "", "verify", "--port", port(t, "banner"), "--case", oneID, "--trace")
	assert.Contains(t, out, `<- Welcome to badport 1.0 \x1b[1m`)
	status, out, errs := weirWith(t, "", "verify", "--port", port(t, "honest"), "--case", oneID, "--trace", "--json")
	assert.Equal(t, 0, status)
	assert.Contains(t, errs, "-> {\"cmd\":\"bye\"}\n")
	for line := range strings.Lines(out) {
		assert.True(t, json.Valid([]byte(line)), line)
	}
}

// The reports that machines read say the same as the table.
func TestVerifyReports(t *testing.T) {
	junit := filepath.Join(t.TempDir(), "junit.xml")
	args := []string{"verify", "--port", port(t, "crash at bye"), "--case", oneID, "--junit", junit}
	status, out, _ := weirWith(t, "", append(args, "--tap")...)
	assert.Equal(t, 1, status)
	assert.Contains(t, out, "TAP version 14\n1..2\nok 1 - badport: "+oneID+"\nnot ok 2 - badport: protocol/bye\n")
	text, err := os.ReadFile(junit)
	require.NoError(t, err)
	var tree struct {
		Tests  int `xml:"tests,attr"`
		Errors int `xml:"errors,attr"`
	}
	require.NoError(t, xml.Unmarshal(text, &tree))
	assert.Equal(t, 2, tree.Tests)
	assert.Equal(t, 1, tree.Errors)
	status, out, _ = weirWith(t, "", append(args, "--json")...)
	assert.Equal(t, 1, status)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, 3)
	assert.Contains(t, lines[1], `"id":"protocol/bye"`)
	assert.Contains(t, lines[2], `"done":true`)
	status, out, _ = weirWith(t, "", "verify", "--impl", "go", "--policy", "gcra", "--tap")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "# weir: conformant: ")
}

func TestVerifyRefuses(t *testing.T) {
	p := port(t, "honest")
	bad := file(t, "bad.txt", "gcra/*\n")
	for _, row := range []struct {
		args []string
		says string
	}{
		{[]string{"--trace"}, "trace is given, but no port: it goes with --port"},
		{[]string{"--expect", "x"}, "expect is given, but no port"},
		{[]string{"--protocol", "text"}, "protocol is given, but no port"},
		{[]string{"--port", ""}, "port is empty, must be a command"},
		{[]string{"--port", "'x"}, `port is "'x": it has a ' at byte 0 that is not closed`},
		{[]string{"--port", p, "--impl", "go"}, "impl and port are given, must be one of them"},
		{[]string{"--port", p, "--protocol", "xml"}, `protocol is "xml", must be json or text`},
		{[]string{"--port", p, "--trace"}, "trace is given, but no case: it goes with --case"},
		{[]string{"--port", p, "--timeout", "0s"}, "timeout is 0s, must be above 0"},
		{[]string{"--port", p, "--startup", "-1s"}, "startup is -1s, must be above 0"},
		{[]string{"--port", p, "--expect", "/no/such"}, "expect: open /no/such"},
		{[]string{"--port", p, "--expect", bad}, "bad.txt line 1: reason is missing"},
		{[]string{"--port", p, "--case", "x"}, `case is "x": no case of these vectors`},
		{[]string{"--port", p, "--policy", "gcar"}, `policy is "gcar": must be one of`},
		{[]string{"--port", p, "--case", oneID, "--junit", "/no/such/file"}, "junit: open /no/such/file"},
		{[]string{"--port", "/no/such/program"}, "port cannot be started: "},
		{[]string{"--json", "--tap"}, "json and tap are given, must be one of them"},
		{[]string{"--impl", "rust"}, `impl is "rust", must be go, c, redis or all`},
		{[]string{"--impl", "redis"}, `impl is "redis" and addr is "": --impl redis and --addr go together`},
		{[]string{"--addr", "localhost:1"}, `impl is "all" and addr is "localhost:1": --impl redis and --addr go together`},
		{[]string{"--impl", "redis", "--addr", "nowhere"}, `addr is "nowhere": dial tcp`},
		{[]string{"x"}, `unexpected word "x"`},
	} {
		status, _, errs := weirWith(t, "", append([]string{"verify"}, row.args...)...)
		assert.Equal(t, 2, status, row.args)
		assert.Contains(t, errs, row.says)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	}
}

func TestVectorsExport(t *testing.T) {
	dir := t.TempDir()
	header := filepath.Join(dir, "v.h")
	for _, args := range [][]string{{"--c-header", header}, {"--text", filepath.Join(dir, "text")}, {"--json", filepath.Join(dir, "json")}} {
		status, _, errs := weirWith(t, "", append([]string{"vectors", "export"}, args...)...)
		require.Equal(t, 0, status, errs)
	}
	text, err := os.ReadFile(header)
	require.NoError(t, err)
	assert.Contains(t, string(text), "static const struct weir_vector_case weir_vectors[] = {")
	_, out, _ := weirWith(t, "", "vectors", "export", "--c-header", "-")
	assert.Equal(t, string(text), out)
	text, err = os.ReadFile(filepath.Join(dir, "text", "gcra", "basic.txt"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "id "+oneID+"\n> case 1 gcra * 1 10 5 - - -\n"))

	// What is exported as JSON is a folder that can be used in the place of the built-in one.
	copied := filepath.Join(dir, "json")
	assert.FileExists(t, filepath.Join(copied, "README.md"))
	status, out, _ := weirWith(t, "", "verify", "--vectors", copied, "--impl", "go")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "conformant: ")
	names, err := filepath.Glob(filepath.Join(copied, "gcra", "*.json"))
	require.NoError(t, err)
	status, out, _ = weirWith(t, "", append([]string{"vectors", "lint"}, names...)...)
	assert.Equal(t, 0, status, out)
	require.NoError(t, os.WriteFile(names[0], []byte("{"), 0o644))
	status, out, _ = weirWith(t, "", append([]string{"vectors", "lint"}, names...)...)
	assert.Equal(t, 1, status)
	assert.Equal(t, names[0]+": not JSON: it ends too early\n", out)
}

func TestVectorsRefuses(t *testing.T) {
	for _, row := range []struct {
		args []string
		says string
	}{
		{nil, "export or lint is missing"},
		{[]string{"import"}, `no command "import"; there are export and lint`},
		{[]string{"export"}, "0 of c-header, text and json are given, must be one"},
		{[]string{"export", "--text", "a", "--json", "b"}, "2 of c-header, text and json are given, must be one"},
		{[]string{"export", "--vectors", "/no/such", "--text", "a"}, "/no/such: cannot be read"},
		{[]string{"export", "--c-header", "/no/such/file"}, "open /no/such/file"},
		{[]string{"lint"}, "FILE... is missing"},
		{[]string{"lint", "--fix", "x"}, "flag provided but not defined"},
		{[]string{"lint", "/no/such"}, "/no/such: cannot be read"},
	} {
		status, _, errs := weirWith(t, "", append([]string{"vectors"}, row.args...)...)
		assert.Equal(t, 2, status, row.args)
		assert.Contains(t, errs, row.says)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
	}
	status, out, _ := weirWith(t, "", "vectors", "help")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "weir vectors lint FILE...")
	status, out, _ = weirWith(t, "", "vectors", "export", "-h")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "-c-header")
}
