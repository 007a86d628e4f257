package main_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	_ "weir/cmd/weir" // so that a change to the command is a change to its tests, whose results the go tool keeps
)

// program is the command, built once.
var program string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weir")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "weir")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		return 1
	}
	return m.Run()
}

// weirWith runs the command on an input.
func weirWith(t *testing.T, in string, args ...string) (status int, out, errs string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := exec.Command(program, args...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(in), &stdout, &stderr
	if err := c.Run(); err != nil {
		require.IsType(t, new(exec.ExitError), err)
	}
	return c.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func TestList(t *testing.T) {
	status, out, errs := weirWith(t, "", "list")
	assert.Equal(t, 0, status)
	assert.Empty(t, errs)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	require.Len(t, lines, len(weir.Names()))
	for i, name := range weir.Names() {
		assert.Regexp(t, "^"+name+" +[a-z].*\\.$", lines[i])
	}
}

func TestDescribe(t *testing.T) {
	for _, name := range weir.Names() {
		status, out, errs := weirWith(t, "", "describe", name)
		assert.Equal(t, 0, status)
		assert.Empty(t, errs)
		page, err := weir.Describe(name)
		require.NoError(t, err)
		assert.Equal(t, page, out)
	}
}

// Whatever a person types wrong ends in one line and status 2.
func TestWrongWords(t *testing.T) {
	for _, row := range []struct {
		why  string
		args []string
		want string
	}{
		{"no such command", []string{"verfy"}, `no command "verfy"; there are list, describe, verify, simulate`},
		{"describe without a name", []string{"describe"}, "NAME is missing"},
		{"two names", []string{"describe", "gcra", "tokenbucket"}, `unexpected word "tokenbucket"`},
		{"an unknown policy", []string{"describe", "gcr"}, `unknown_policy: "gcr"; known are gcra, tokenbucket, leakybucket, slidinglog, dualbucket`},
		{"list takes nothing", []string{"list", "gcra"}, `unexpected word "gcra"`},
		{"an unknown flag", []string{"list", "--long"}, "not defined: -long"},
		{"an unknown implementation", []string{"verify", "--impl", "rust"}, `impl is "rust", must be`},
		{"an unknown policy to verify", []string{"verify", "--policy", "gcra,foo"}, `policy is "foo": must be one of gcra`},
		{"an empty list", []string{"verify", "--policy", "gcra,,foo"}, `policy is "gcra,,foo", must be names with commas`},
		{"an unknown case", []string{"verify", "--case", "gcra/basic/none"}, `case is "gcra/basic/none"`},
		{"no such vectors", []string{"verify", "--vectors", "nowhere"}, "nowhere"},
		{"vectors that are none", []string{"verify", "--vectors", "testdata/small.csv"}, "small.csv"},
		{"simulate without a limit", []string{"simulate", "--log", "testdata/small.csv"}, "limit is missing"},
		{"simulate without a log", []string{"simulate", "--limit", "1/s"}, "log is missing"},
		{"a limit in other words", []string{"simulate", "--limit", "1 per s", "--log", "x"}, "must be PERMITS/PERIOD"},
		{"a limit of nothing", []string{"simulate", "--limit", "0/s", "--log", "x"}, `permits is "0"`},
		{"a burst that is too small for a tick", []string{"simulate", "--limit", "1000001/s burst 1", "--log", "x"}, "burst is 1, must be at least 11"},
		{"no such log", []string{"simulate", "--limit", "1/s", "--log", "nowhere.log"}, "nowhere.log"},
		{"a folder as log", []string{"simulate", "--limit", "1/s", "--log", "testdata"}, "testdata is a folder"},
		{"an unknown format", []string{"simulate", "--limit", "1/s", "--log", "-", "--format", "xml"}, `format is "xml", must be`},
		{"an unknown field", []string{"simulate", "--limit", "1/s", "--log", "testdata/small.log", "--key", "color"}, `key is "color", must be`},
		{"an unknown cost", []string{"simulate", "--limit", "1/s", "--log", "testdata/small.log", "--cost", "many"}, `cost is "many", must be`},
		{"an unknown policy to simulate", []string{"simulate", "--limit", "1/s", "--log", "-", "--policy", "gcra,bucket"}, `unknown_policy: "bucket"; known are gcra`},
		{"a dual bucket with one limit", []string{"simulate", "--limit", "1/s", "--log", "-", "--policy", "dualbucket"}, "dualbucket: invalid_second"},
		{"an empty log", []string{"simulate", "--limit", "1/s", "--log", "-"}, "log: has no requests"},
		{"two policies alike", []string{"simulate", "--limit", "1/s", "--log", "-", "--policy", "gcra,gcra"}, `policy is "gcra" twice, must name each once`},
		{"standard input twice", []string{"simulate", "--limit", "1/s", "--log", "-", "-"}, "log is - 2 times, must be at most once"},
		{"a second log that is not there", []string{"simulate", "--limit", "1/s", "--log", "testdata/small.csv", "nowhere.log"}, "nowhere.log"},
		{"a format string without a time", []string{"simulate", "--limit", "1/s", "--log", "-", "--format", "$remote_addr"}, `must be one with a time`},
		{"a header without a time", []string{"simulate", "--limit", "1/s", "--log", "testdata/notime.csv"}, "a header without a column called time; name another with --time"},
		{"a column that is not there", []string{"simulate", "--limit", "1/s", "--log", "testdata/notime.csv", "--time", "when"}, `time is "when", must be a column of the log: "day", "who"`},
		{"a look too often", []string{"watch", "--limit", "1/s", "--log", "-", "--every", "1ms"}, "every is 1ms, must be from 100ms to 1h0m0s"},
		{"watch without a log", []string{"watch", "--limit", "1/s"}, "log is missing"},
		{"a number too large", []string{"simulate", "--limit", "1/s", "--log", "-", "--worst", "1001"}, "worst is 1001, must be at most 1000"},
		{"a negative number", []string{"simulate", "--limit", "1/s", "--log", "-", "--worst", "-1"}, "worst is -1, must be at least 0"},
	} {
		status, out, errs := weirWith(t, "", row.args...)
		assert.Equal(t, 2, status, row.why)
		assert.Empty(t, out, row.why)
		assert.Equal(t, 1, strings.Count(errs, "\n"), "%s: %q", row.why, errs)
		assert.Contains(t, errs, row.want, row.why)
	}
}

func TestHelp(t *testing.T) {
	status, out, _ := weirWith(t, "", "help")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "weir simulate")
	status, _, errs := weirWith(t, "")
	assert.Equal(t, 2, status, "nothing asked")
	assert.Contains(t, errs, "weir simulate")
	for _, name := range []string{"list", "describe", "verify", "simulate", "recommend", "watch", "explain"} {
		status, out, errs := weirWith(t, "", name, "-h")
		assert.Equal(t, 0, status, name)
		assert.Contains(t, out, "weir "+name)
		assert.Empty(t, errs)
	}
}
