package main_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// cells finds the row of a table that begins with a word, without the spaces between.
func cells(t *testing.T, out, first string) []string {
	t.Helper()
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == first && strings.ContainsAny(fields[1][:1], "0123456789") {
			return fields[1:]
		}
	}
	t.Fatalf("no row %q in\n%s", first, out)
	return nil
}

// At 3 a second with a burst of 1: alice passes at 0, is denied at 0 and at 0.333, passes at 0.334; bob asks for 2, which
// never fits, passes at 1.5, and asks for 4 at 1.2. Worked out by hand.
func TestSimulateCSV(t *testing.T) {
	status, out, errs := weirWith(t, "", "simulate", "--limit", "3/s burst 1", "--log", "testdata/small.csv", "--policy", "gcra,tokenbucket,leakybucket")
	assert.Equal(t, 0, status)
	assert.Empty(t, errs)
	for _, name := range []string{"gcra", "tokenbucket", "leakybucket"} {
		assert.Equal(t, []string{"7", "3", "2", "2", "2", "2", "2", "4", "0"}, cells(t, out, name),
			"requests, allowed, denied, too costly, keys, keys denied, most in any 1s, at most, longest hold")
	}
	assert.Contains(t, out, "7 requests of 2 keys in 1.5s; csv log")
	assert.Contains(t, out, "steps back 1 times, by 300ms at most")
	assert.Contains(t, out, "1 of 9 lines could not be read")
	assert.Contains(t, out, `line 7: no time: "not a time,alice,1"`)
}

// The sliding log of 3 in any second: alice's first three fit and her fourth does not, since all came within a second; of
// bob's, 2 at 0 and 1 at 1.5 fit, and 4 never does.
func TestSimulateSlidingLog(t *testing.T) {
	_, out, _ := weirWith(t, "", "simulate", "--limit", "3/s burst 1", "--log", "testdata/small.csv", "--policy", "slidinglog")
	assert.Equal(t, []string{"7", "5", "1", "1", "2", "2", "3", "3", "0"}, cells(t, out, "slidinglog"))
	assert.Contains(t, out, "burst 1 is dropped")
}

// Bytes as the cost: at 300 a second 192.0.2.1 spends 100, cannot spend 300 more at once, and spends nothing at the end.
func TestSimulateBytesByKey(t *testing.T) {
	_, out, _ := weirWith(t, "", "simulate", "--limit", "300/s", "--log", "testdata/small.log", "--cost", "bytes", "--policy", "gcra")
	assert.Equal(t, []string{"4", "3", "1", "0", "2", "1", "100", "600", "0"}, cells(t, out, "gcra"))
	_, out, _ = weirWith(t, "", "simulate", "--limit", "1/s", "--log", "testdata/small.log", "--key", "path", "--policy", "gcra")
	assert.Equal(t, []string{"4", "4", "0", "0", "3", "0", "1", "2", "0"}, cells(t, out, "gcra"), "/a twice, a second apart")
	assert.Contains(t, out, "4 requests of 3 keys")
}

// Two limits: every policy with one takes the first and says so. Under 1 an hour alice passes once, bob once, and his other
// two requests cost more than that burst of 1.
func TestSimulateTwoLimits(t *testing.T) {
	status, out, _ := weirWith(t, "", "simulate", "--limit", "3/s & 1/h", "--log", "testdata/small.csv")
	assert.Equal(t, 0, status)
	assert.Contains(t, out, "gcra, tokenbucket, leakybucket, slidinglog have one limit: the first")
	assert.Equal(t, []string{"7", "2", "3", "2", "2", "2", "1", "1", "0"}, cells(t, out, "dualbucket"))
}

// gzip is known by its first bytes, on standard input too, and a broken one gives what could be read and then the error.
func TestSimulateGzip(t *testing.T) {
	plain, err := os.ReadFile("testdata/small.log")
	require.NoError(t, err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(bytes.Repeat(plain, 2000))
	require.NoError(t, err)
	require.NoError(t, w.Close())

	args := []string{"simulate", "--limit", "1/s", "--log", "-"}
	status, out, errs := weirWith(t, packed.String(), args...)
	assert.Equal(t, 0, status)
	assert.Empty(t, errs)
	assert.Equal(t, "8,000", cells(t, out, "gcra")[0])

	status, out, errs = weirWith(t, packed.String()[:packed.Len()/2], args...)
	assert.Equal(t, 2, status)
	assert.NotEmpty(t, cells(t, out, "gcra"))
	assert.Regexp(t, regexp.MustCompile(`^weir simulate: line [0-9]+: .*\n$`), errs)
}

// What strangers wrote into a log reaches no terminal as it is.
func TestSimulateEscapes(t *testing.T) {
	log := strings.Repeat("0,\x1b[31mred\x07,1\n", 3)
	status, out, _ := weirWith(t, log, "simulate", "--limit", "1/s", "--log", "-", "--format", "csv")
	assert.Equal(t, 0, status)
	assert.NotContains(t, out, "\x1b")
	assert.NotContains(t, out, "\x07")
	assert.Contains(t, out, `\x1b[31mred`)
}

// TestSimulateManyFiles: one log in several files, each packed in its own way, is the log in one; so is it on standard input.
func TestSimulateManyFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, text []byte) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, text, 0o644))
		return path
	}
	plain, err := os.ReadFile("testdata/small.csv")
	require.NoError(t, err)
	rows := bytes.SplitAfter(plain, []byte("\n"))
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	_, err = g.Write(bytes.Join(rows[:3], nil))
	require.NoError(t, err)
	require.NoError(t, g.Close())
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	one := file("3.gz", append(packed.Bytes(), "trailing garbage"...))
	two := file("2.zst", z.EncodeAll(bytes.Join(rows[3:6], nil), nil))

	args := []string{"simulate", "--limit", "3/s burst 1", "--log"}
	_, want, _ := weirWith(t, "", append(args, "testdata/small.csv")...)
	status, out, errs := weirWith(t, string(bytes.Join(rows[6:], nil)), append(args, one, two, "-")...)
	assert.Equal(t, 0, status, errs)
	assert.Contains(t, out, "1 files go on after the end of their gzip stream; that was not read")
	assert.Contains(t, out, `"-" line 1: no time: "not a time,alice,1"`)
	table := func(text string) string { return text[strings.Index(text, "\n\n"):] }
	assert.Equal(t, table(want), table(out))
}

// TestSimulateJSON: two fields as the key, and whole seconds spread: of four in a second, at 2 a second and a burst of 1, two
// are let through; all at once it would be one.
func TestSimulateJSON(t *testing.T) {
	log := strings.Repeat(`{"ts":7,"request":{"remote_ip":"192.0.2.1","uri":"/a?x","method":"GET"}}`+"\n", 4)
	args := []string{"simulate", "--limit", "2/s burst 1", "--log", "-", "--key", "client+route", "--policy", "gcra"}
	_, out, _ := weirWith(t, log, args...)
	assert.Equal(t, []string{"4", "1", "3", "0", "1", "1", "1", "3", "0"}, cells(t, out, "gcra"))
	assert.Contains(t, out, "192.0.2.1 + /a")
	_, out, _ = weirWith(t, log, append(args, "--spread")...)
	assert.Equal(t, []string{"4", "2", "2", "0", "1", "1", "2", "3", "0"}, cells(t, out, "gcra"))
}

// TestSimulateOneRequest draws what there is to draw.
func TestSimulateOneRequest(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	status, _, errs := weirWith(t, "1,a,18446744073709551615\n", "simulate", "--limit", "1/s", "--log", "-", "--html", page)
	assert.Equal(t, 0, status, errs)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "0s to 0s: 0 let through, 1 refused")
	assert.NotContains(t, string(text), "NaN")
}
