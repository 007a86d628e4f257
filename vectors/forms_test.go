package vectors_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/policy"
	"weir/vectors"
)

// denied makes every answer a denial.
func denied(a policy.Answer) policy.Answer {
	a.Outcome = policy.Deny
	return a
}

// reports are a report in all four forms.
func reports(t *testing.T, r vectors.Report) map[string]string {
	t.Helper()
	forms := map[string]string{}
	for name, write := range map[string]func(io.Writer) error{"table": r.WriteTable, "json": r.WriteJSON,
		"junit": func(w io.Writer) error { return vectors.WriteJUnit(w, r) },
		"tap":   func(w io.Writer) error { return vectors.WriteTAP(w, r) }} {
		var b bytes.Buffer
		require.NoError(t, write(&b))
		forms[name] = b.String()
	}
	return forms
}

// Whatever a port says, a terminal and a report see text without control characters or markup.
func TestNothingGetsThrough(t *testing.T) {
	for _, mode := range []string{"evil name", "evil error", "evil skip", "evil outcome", "crash at hello", "banner"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			r := try(t, threeCases(t), mode, nil)
			if r.hello != nil {
				r.report = vectors.Report{}
				r.report.Note("hello", r.hello)
			}
			for form, text := range reports(t, r.report) {
				for _, c := range text {
					assert.False(t, c < ' ' && c != '\n' || c == 0x7f || c >= 0x80, "%s: %U", form, c)
				}
				if strings.HasPrefix(mode, "evil ") {
					assert.Contains(t, text, "script", form)
				}
				if form == "junit" {
					assert.NotContains(t, text, "<script>")
					assertXML(t, text)
				}
				if form == "tap" {
					assert.NotRegexp(t, `(?m)^(not )?ok .*[^\\\n]#`, strings.ReplaceAll(text, " # TODO", ""))
				}
				if form == "json" {
					for line := range strings.Lines(text) {
						assert.True(t, json.Valid([]byte(line)))
					}
				}
			}
		})
	}
}

func assertXML(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if !assert.NoError(t, err) {
			return
		}
	}
}

func expect(t *testing.T, text string) *vectors.Expectations {
	t.Helper()
	e, err := vectors.ReadExpectations("known.txt", strings.NewReader(text))
	require.NoError(t, err)
	return e
}

// What is expected to fail and does is right but not conformant; anything else about an expectation is wrong.
func TestExpectations(t *testing.T) {
	deny := vectors.NewRegistryDriver("deny", "go", registry(t, altering(denied)))
	s := suiteOf(t, threePerSecond(), everyOp(), refused("bad", "", "invalid_permits"))
	for _, row := range []struct {
		name, file string
		driver     vectors.Driver
		ok         bool
		table      string
	}{
		{"all listed", "# known\n\n gcra/basic/three-* # no denial yet \ngcra/basic/every-op#ticket 7: it is long", deny, true,
			"1 fail as expected: no denial yet\n1 fail as expected: ticket 7: it is long\n\npartial: 1 of 3 (gcra 1 of 3, 2 expected to fail)"},
		{"one is not listed", "gcra/basic/every-op # x", deny, false, "FAIL gcra/basic/three-per-second"},
		{"one passes", "gcra/*/* # all of it", deny, false, "PASS gcra/basic/bad\n"},
		{"matches nothing", "gcra/* # a star is no slash\ngcra/basic/*[!d] # all but bad", deny, false, "known.txt line 1: gcra/* matches no case\n"},
		{"nothing to expect", "# nothing\n", honest(t), true, "conformant: 3 of 3"},
		{"what is not claimed", "gcra/basic/every-op # x", honest(t).Without("refund"), false,
			"known.txt line 1: gcra/basic/every-op matches only cases that need what the port does not claim"},
		{"a skip that is listed", "gcra/*/* # slow", script(func(vectors.Request) (vectors.Reply, error) { return vectors.Reply{Skipped: "slow"}, nil }),
			true, "2 skipped as expected: slow"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, table := reportOf(t, row.driver, s, vectors.Options{Expect: expect(t, row.file)})
			assert.Equal(t, row.ok, r.OK(false), table)
			assert.Equal(t, row.name == "nothing to expect", r.Conformant())
			assert.Contains(t, table, row.table)
		})
	}
	var all []string
	for _, text := range []string{"gcra/*/*", "gcra/*/* #", "a b # c", "[ # c"} {
		_, err := vectors.ReadExpectations("f", strings.NewReader("\n"+text))
		all = append(all, err.Error())
	}
	assert.Equal(t, []string{"f line 2: reason is missing: must be GLOB # REASON", "f line 2: reason is missing: must be GLOB # REASON",
		`f line 2: glob is "a b": must be one word`, `f line 2: glob is "[": syntax error in pattern`}, all)
}

// Every sort of result in TAP and in JUnit.
func TestTAPAndJUnit(t *testing.T) {
	deny := vectors.NewRegistryDriver("deny", "go", registry(t, altering(denied))).Without("refund")
	s := suiteOf(t, threePerSecond(), strings.Replace(threePerSecond(), "three-per-second", "known", 1), everyOp(),
		refused("bad", "", "invalid_permits"), refused("good", "", "invalid_permits"))
	o := vectors.Options{Expect: expect(t, "gcra/basic/known # ticket #7\ngcra/basic/good # x\nnone # y"),
		Replay: func(id string) string { return "weir verify --case " + id }}
	r, _ := reportOf(t, deny, s, o)
	forms := reports(t, r)
	assert.Equal(t, `TAP version 14
1..6
not ok 1 - deny: gcra/basic/three-per-second
  ---
  message: "step 0, take: outcome: wanted allow, got deny"
  verdict: "fail"
  field: "outcome"
  wanted: "allow"
  got: "deny"
  replay: "weir verify --case gcra/basic/three-per-second"
  ...
not ok 2 - deny: gcra/basic/known # TODO ticket \#7
  ---
  message: "step 0, take: outcome: wanted allow, got deny"
  verdict: "fail"
  field: "outcome"
  wanted: "allow"
  got: "deny"
  ...
ok 3 - deny: gcra/basic/every-op # SKIP unsupported: refund
ok 4 - deny: gcra/basic/bad
not ok 5 - deny: gcra/basic/good
  ---
  message: "passes, but is expected to fail: x"
  verdict: "pass"
  ...
not ok 6 - known.txt line 3: none matches no case
# deny: partial: 2 of 5 (gcra 2 of 5, 2 expected to fail)
`, forms["tap"])
	assertXML(t, forms["junit"])
	for _, part := range []string{`<testsuites name="weir vectors" tests="6" failures="3" errors="0" skipped="2">`,
		`<testsuite name="deny.gcra.basic" tests="5" failures="2" errors="0" skipped="2">`,
		`<failure type="fail" message="step 0, take: outcome: wanted allow, got deny">`,
		`<skipped message="fail as expected: ticket #7">`, `<skipped message="unsupported: refund">`,
		`<failure type="unexpected_pass" message="passes, but is expected to fail: x">`,
		`<failure type="stale" message="known.txt line 3: none matches no case">`} {
		assert.Contains(t, forms["junit"], part)
	}
	assert.Contains(t, forms["table"], "    replay: weir verify --case gcra/basic/three-per-second\n")
	assert.Contains(t, forms["json"], `"expected":"ticket #7"`)
	assert.Contains(t, forms["json"], `"stale":["known.txt line 3: none matches no case"]`)
}

func TestSplitCommand(t *testing.T) {
	for _, row := range []struct {
		in  string
		out []string
	}{
		{"port", []string{"port"}},
		{" python3\t port.py\n -v ", []string{"python3", "port.py", "-v"}},
		{`'a b' "c d" e\ f`, []string{"a b", "c d", "e f"}},
		{`a'b'"c"\d`, []string{"abcd"}},
		{`x '' ""`, []string{"x", "", ""}},
		{`'C:\port.exe' "a\b\"\\"`, []string{`C:\port.exe`, `a\b"\`}},
		{`x $HOME * ; | > & ~ #`, []string{"x", "$HOME", "*", ";", "|", ">", "&", "~", "#"}},
		{"x 'Grüße\n'", []string{"x", "Grüße\n"}},
	} {
		out, err := vectors.SplitCommand(row.in)
		require.NoError(t, err)
		assert.Equal(t, row.out, out)
		again, err := vectors.SplitCommand(vectors.Quote(out...))
		require.NoError(t, err)
		assert.Equal(t, out, again)
	}
	for in, says := range map[string]string{"": "names no program", " ": "names no program", "''": "names no program",
		`a 'b`: "has a ' at byte 2 that is not closed", `a "b\"`: `has a " at byte 2 that is not closed`, `a\`: `ends in a lone \`} {
		_, err := vectors.SplitCommand(in)
		assert.EqualError(t, err, says)
	}
}

// The suite's own files are laid out as Layout has them and have no fault; a file with faults has each named.
func TestLint(t *testing.T) {
	var own []string
	for _, folder := range append(vectors.Policies(), "hash") {
		names, err := filepath.Glob(filepath.Join(folder, "*.json"))
		require.NoError(t, err)
		own = append(own, names...)
	}
	problems, err := vectors.Lint(own...)
	require.NoError(t, err)
	assert.Empty(t, problems)
	dir := filepath.Join(t.TempDir(), "gcra")
	require.NoError(t, os.Mkdir(dir, 0o755))
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
		return name
	}
	never := `{"format":1,"policy":"gcra","category":"odd","cases":[` + strings.ReplaceAll(strings.ReplaceAll(oneCase("x", "*", "",
		take("0", "7", "allow", "0", "-1", "334")), `"comment":"c","rules":["TIE"],`, ""), "gcra/basic", "gcra/odd") + `]}`
	problems, err = vectors.Lint(write("basic.json", fileOf(threePerSecond())), write("more.json", fileOf(threePerSecond())),
		write("broken.json", "{"), write("odd.json", never))
	require.NoError(t, err)
	for i, part := range []string{`basic.json: line 1: formatting: must be "{"`, "more.json: case gcra/basic/three-per-second: id is",
		"broken.json: not JSON", `odd.json: category is odd: must be one of`, "case gcra/odd/x: comment: missing", "case gcra/odd/x: rules: must name",
		"case gcra/odd/x: step 0: want.retry_after is -1: does not go with outcome allow", "odd.json: line 1: formatting"} {
		require.Greater(t, len(problems), i)
		assert.Contains(t, problems[i], part)
		assert.NotContains(t, problems[i], "\n")
	}
	assert.Len(t, problems, 8)
	_, err = vectors.Lint(dir)
	assert.ErrorContains(t, err, "not a regular file")
	_, err = vectors.Lint("no/such.json")
	assert.ErrorContains(t, err, "cannot be read")
}

// The JSON that is exported is the suite's own, to the byte.
func TestJSONFiles(t *testing.T) {
	s, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	files, err := vectors.JSONFiles(s)
	require.NoError(t, err)
	assert.Len(t, files, len(s.Files)+len(s.Hashes))
	for name, text := range files {
		assert.Equal(t, readFile(t, name), string(text), name)
	}
}

// texts are all files of the text form, one after the other in the order of the suite.
func texts(t *testing.T) string {
	s, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	files := vectors.TextFiles(s)
	var b strings.Builder
	for _, f := range s.Files {
		b.Write(files[path.Join(f.Policy, f.Category+".txt")])
	}
	for _, h := range s.Hashes {
		b.Write(files[path.Join("hash", h.Hash+".txt")])
	}
	return b.String()
}

// What the text form says to a port, an honest one answers as the text form has it, where it is not "-".
func TestTextForm(t *testing.T) {
	t.Parallel()
	name, err := badport()
	require.NoError(t, err)
	var sent strings.Builder
	var want []string
	for line := range strings.Lines(texts(t)) {
		assert.LessOrEqual(t, len(line), 258, line)
		switch line[0] {
		case '>', '?':
			sent.WriteString(line[2:])
		case '<':
			want = append(want, strings.TrimSuffix(line[2:], "\n"))
		default:
			assert.Regexp(t, `^(id [a-z0-9/._-]+|needs( [a-z0-9_]+)+)?\n$`, line)
		}
	}
	cmd := exec.Command(name, "-protocol", "text", "honest")
	cmd.Stdin = strings.NewReader(sent.String())
	out, err := cmd.Output()
	require.NoError(t, err)
	got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	require.Len(t, got, len(want))
	for i := range want {
		w, g := strings.Split(want[i], " "), strings.Split(got[i], " ")
		require.Len(t, g, len(w))
		for f := range w {
			if w[f] != "-" {
				require.Equal(t, w[f], g[f], "%s for %s", got[i], want[i])
			}
		}
	}
}

// The C header compiles without a warning, and a program made of it alone prints the text form, to the byte.
func TestCHeader(t *testing.T) {
	t.Parallel()
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc: the C header is not compiled")
	}
	s, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	dir := t.TempDir()
	var header bytes.Buffer
	require.NoError(t, vectors.WriteCHeader(&header, s))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "vectors.h"), header.Bytes(), 0o644))
	program := filepath.Join(dir, "print.exe")
	out, err := exec.Command(cc, "-std=c11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-I", dir, "-o", program,
		filepath.Join("testdata", "print.c")).CombinedOutput()
	require.NoError(t, err, string(out))
	printed, err := exec.Command(program).Output()
	require.NoError(t, err)
	want, got := strings.Split(texts(t), "\n"), strings.Split(string(printed), "\n")
	for i := range want {
		require.Greater(t, len(got), i)
		if words := strings.Fields(want[i]); len(words) > 6 && (words[1] == "case" || words[3] == "relimit") {
			of := len(words) - 6 // a limit's numbers
			want[i] = strings.Join(words[:of], " ") + strings.ReplaceAll(" "+strings.Join(words[of:], " "), " -", " 0")
		}
		require.Equal(t, want[i], got[i], "line %d", i)
	}
	assert.Len(t, got, len(want))
}

// A suite without cases makes a header that compiles too; Hello.Unknown names what nobody knows.
func TestOddities(t *testing.T) {
	var header bytes.Buffer
	require.NoError(t, vectors.WriteCHeader(&header, vectors.Suite{}))
	assert.Contains(t, header.String(), "weir_vectors[] = {\n    {0}\n}")
	h, err := vectors.NewRegistryDriver("x", "go", weir.Registry()).Hello(t.Context())
	require.NoError(t, err)
	assert.Empty(t, h.Unknown())
	h.Policies, h.Can = append(h.Policies, "gcar\x1b"), append(h.Can, "fly")
	assert.Equal(t, []string{`gcar\x1b`, "fly"}, h.Unknown())
}
