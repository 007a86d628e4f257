package vectors_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/vectors"
)

// What each way to misbehave is called, case by case (three pass where the port allows it), and the cause that is named.
func TestMisbehavingPorts(t *testing.T) {
	const pass, fail, crash = vectors.Pass, vectors.Fail, vectors.Crash
	const timeout, protocol, skipped = vectors.Timeout, vectors.ProtocolError, vectors.Skipped
	type verdicts []vectors.Verdict
	all := func(v vectors.Verdict) verdicts { return verdicts{v, v, v, v} }
	for _, row := range []struct {
		mode      string
		change    func(*vectors.PortOptions)
		verdicts  verdicts
		why, hint string // of the first that does not pass
	}{
		{"honest", nil, all(pass), "", ""},
		{"honest", text, all(pass), "", ""},
		{"two writes", nil, all(pass), "", ""},
		{"crlf", text, all(pass), "", ""},
		{"shout", nil, all(pass), "", ""},
		{"always allow", nil, verdicts{fail, fail, fail, pass}, "step 1, take: outcome: wanted deny, got allow", ""},
		{"always deny", text, verdicts{fail, fail, fail, pass}, "step 0, take: outcome: wanted allow, got deny", ""},
		{"echo", nil, all(protocol), "seq is missing in the answer", "one answer too many or too few"},
		{"too few", nil, verdicts{protocol, protocol, protocol, pass}, "4 results for 5 steps", "one answer for each step"},
		{"too few", text, verdicts{protocol, protocol, protocol, pass}, "4 results for 5 steps", "one answer for each step"},
		{"too many", nil, verdicts{protocol, protocol, protocol, pass}, "6 results for 5 steps", "one answer for each step"},
		{"too many", text, verdicts{protocol, protocol, protocol, pass}, "one more answer than the 5 steps", "one answer for each step"},
		{"wrong seq", nil, all(protocol), "seq 1 answered with 0", "one answer too many or too few"},
		{"wrong seq", text, all(protocol), "seq 1 answered with 0", "one answer too many or too few"},
		{"not JSON", nil, all(protocol), "not JSON: invalid character", "does something else write to standard output?"},
		{"print", nil, all(protocol), "not a JSON object: DEBUG: case 1", "does something else write to standard output?"},
		{"print", text, all(protocol), "begins with none of r, k, x, s, ! and end: DEBUG: case 1", "does something else write"},
		{"nothing", nil, all(protocol), "0 of results, config_error, skipped and error: must be one", ""},
		{"other case", nil, verdicts{fail, fail, fail, pass}, "step 0, take: outcome: wanted allow, got absent", ""},
		{"numbers", nil, verdicts{protocol, protocol, protocol, pass}, "result 0: remaining is the number 0", "numbers must be strings"},
		{"skip", nil, all(skipped), "not to my taste", ""},
		{"skip", text, all(skipped), "not to my taste", ""},
		{"evil error", text, all(protocol), `the case was not understood: \x1b[2J`, "did not know what to make of the request"},
		{"crash at third", nil, verdicts{pass, pass, crash, pass}, "the port ended at this case: exit status 5", ""},
		{"crash at third", text, verdicts{pass, pass, crash, pass}, "the port ended at this case: exit status 5", ""},
		{"orphan", nil, verdicts{pass, pass, crash, pass}, "the port ended at this case: exit status 5", ""},
		{"shout and crash", nil, all(crash), "the port ended at this case: exit status 7", ""},
		{"exit 0", nil, verdicts{pass, crash, pass, crash}, "the port ended at this case: exit status 0", "a port ends at bye"},
		{"sleep", short, all(timeout), "no answer to this case within 300ms", "is standard output flushed"},
		{"sleep", shortText, all(timeout), "no answer to this case within 300ms", "is standard output flushed"},
		{"stubborn", short, all(timeout), "no answer to this case within 300ms", "is standard output flushed"},
		{"half a line", short, all(timeout), "no answer to this case within 300ms", "no newline after 300ms, but 7 bytes of a line"},
		{"no end", shortText, all(timeout), "no whole answer to this case within 300ms: 5 lines so far", "an end line?"},
		{"close input", short, all(protocol), "standard input was closed before the request was read", "until bye"},
		{"close output", short, all(protocol), "standard output was closed, but the program goes on", "redirect its standard output"},
		{"long line", nil, all(protocol), "a line is longer than 1048576 bytes", "at most 1 MiB"},
		{"moody", nil, verdicts{crash, protocol, protocol, protocol}, "exit status 6", ""},
	} {
		t.Run(row.mode, func(t *testing.T) {
			t.Parallel()
			r := try(t, threeCases(t), row.mode, row.change)
			require.NoError(t, r.hello)
			assert.NoError(t, r.bye)
			assert.GreaterOrEqual(t, r.processes, 1)
			got, first := verdictsOf(r.report)
			assert.Equal(t, row.verdicts, verdicts(got))
			if first != nil {
				assert.Contains(t, first.Why, row.why)
				assert.Contains(t, first.Hint, row.hint)
				assert.Equal(t, row.hint == "", first.Hint == "", first.Hint)
			}
		})
	}
}

// verdictsOf are the verdicts of a report, and its first result that is no pass.
func verdictsOf(r vectors.Report) (all []vectors.Verdict, first *vectors.Result) {
	for i, one := range r.Results {
		all = append(all, one.Verdict)
		if one.Verdict != vectors.Pass && first == nil {
			first = &r.Results[i]
		}
	}
	return all, first
}

// What goes wrong at hello ends the run with a verdict and the likely cause.
func TestMisbehavingAtHello(t *testing.T) {
	for _, row := range []struct {
		mode      string
		change    func(*vectors.PortOptions)
		verdict   vectors.Verdict
		why, hint string
	}{
		{"crash at hello", nil, vectors.Crash, "the port ended at hello: exit status 3", ""},
		{"banner", nil, vectors.ProtocolError, "not a JSON object: Welcome to badport 1.0", "a banner on standard output?"},
		{"banner", text, vectors.ProtocolError, "must be hello 1 NAME VERSION LANGUAGE: Welcome", "a banner on standard output?"},
		{"never flush", shortStart, vectors.Timeout, "no answer to hello within 300ms", "no newline after 300ms: is standard output flushed"},
		{"no newline", shortStart, vectors.Timeout, "no answer to hello within 300ms", "does every answer end with a newline?"},
		{"sleep at hello", shortStart, vectors.Timeout, "no answer to hello within 300ms", "is standard output flushed"},
		{"endless", nil, vectors.ProtocolError, "a line is longer than 1048576 bytes", "at most 1 MiB"},
		{"flood", nil, vectors.ProtocolError, "not a JSON object: xxx", "a banner on standard output?"},
		{"half a hello", nil, vectors.ProtocolError, "version is missing in the answer to hello", "banner"},
		{"protocol 2", nil, vectors.ProtocolError, "protocol is 2: must be 1", ""},
		{"honest", func(o *vectors.PortOptions) { o.Text = true }, vectors.ProtocolError, "not a line of plain text", "do not say --protocol text"},
		{"honest", func(o *vectors.PortOptions) { text(o); o.Text = false }, vectors.ProtocolError, "not a JSON object: ! - what?", "--protocol text"},
	} {
		t.Run(row.mode, func(t *testing.T) {
			t.Parallel()
			r := try(t, threeCases(t), row.mode, row.change)
			known := (*vectors.DriverError)(nil)
			require.ErrorAs(t, r.hello, &known)
			assert.Equal(t, row.verdict, known.Verdict)
			assert.Contains(t, known.Text, row.why)
			assert.Contains(t, known.Hint, row.hint)
			assert.NotContains(t, r.hello.Error(), "\x1b")
			assert.NoError(t, r.bye)
		})
	}
}

// A port that has done well must also end well.
func TestMisbehavingAtBye(t *testing.T) {
	for _, row := range []struct {
		mode      string
		change    func(*vectors.PortOptions)
		verdict   vectors.Verdict
		why, hint string
	}{
		{"crash at bye", nil, vectors.Crash, "the port ended at bye: exit status 4", "a port ends with status 0"},
		{"crash at bye", text, vectors.Crash, "the port ended at bye: exit status 4", "a port ends with status 0"},
		{"farewell", nil, vectors.ProtocolError, "bye was answered: bye!", "a farewell that belongs to standard error?"},
		{"linger", func(o *vectors.PortOptions) { short(o); o.Limit = 3 * time.Second }, vectors.Timeout, "the port still runs 3s after bye", "a port ends at bye"},
	} {
		t.Run(row.mode, func(t *testing.T) {
			t.Parallel()
			r := try(t, suiteOf(t, threePerSecond()), row.mode, row.change)
			require.NoError(t, r.hello)
			assert.True(t, r.report.Conformant())
			known := (*vectors.DriverError)(nil)
			require.ErrorAs(t, r.bye, &known)
			assert.Equal(t, row.verdict, known.Verdict)
			assert.Equal(t, row.why, known.Text)
			assert.Contains(t, known.Hint, row.hint)
			r.report.Note("bye", r.bye)
			assert.False(t, r.report.OK(false))
			assert.Equal(t, "partial: 1 of 2 (gcra 1 of 1, protocol 0 of 1)", r.report.Line())
		})
	}
}

// A port that ends at every case is started again ten times and no more.
func TestTenRestarts(t *testing.T) {
	t.Parallel()
	var cases []string
	for i := range 13 {
		cases = append(cases, strings.Replace(threePerSecond(), "three-per-second", fmt.Sprintf("case%d", i), 1))
	}
	r := try(t, suiteOf(t, cases...), "always crash", nil)
	assert.Equal(t, vectors.Counts{vectors.Crash: 11, vectors.NotRun: 2}, r.report.Counts(""))
	assert.Equal(t, "the port was started again 10 times: no more", r.report.Results[12].Why)
	assert.Equal(t, 11, r.processes)
}

// A port that was never there is no verdict, and neither is a limit that makes no sense.
func TestPortsThatCannotBe(t *testing.T) {
	d := newPort(t, t.Context(), vectors.PortOptions{Command: []string{"/no/such/program"}})
	_, err := vectors.Run(t.Context(), threeCases(t), d, vectors.Options{})
	require.ErrorContains(t, err, "port cannot be started: ")
	assert.False(t, errors.As(err, new(*vectors.DriverError)))
	assert.NoError(t, d.Close())
	_, err = vectors.NewPort(t.Context(), vectors.PortOptions{})
	assert.EqualError(t, err, "port: names no program")
	_, err = vectors.NewPort(t.Context(), vectors.PortOptions{Command: []string{"x"}, Limit: -1})
	assert.EqualError(t, err, "time limit is -1ns: must be above 0")
}

// watcher calls back once a text has gone through it.
type watcher struct {
	text string
	then func()
}

func (w *watcher) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(w.text)) {
		w.then()
	}
	return len(b), nil
}

// Ctrl-C in the middle of a case, with a port that does not listen and has a child: the rest is not run, nothing is left.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, at := range []string{`-> {"cmd":"hello"`, `<- {"protocol"`, `-> {"cmd":"case"`} {
		ctx, cancel := context.WithCancelCause(t.Context())
		c := newCensus(t)
		o := options(t, "stubborn", c)
		o.Grace = soon
		o.Trace = &watcher{at, func() { cancel(errors.New("interrupted")) }}
		d := newPort(t, ctx, o)
		r, err := vectors.Run(ctx, threeCases(t), d, vectors.Options{})
		assert.NoError(t, d.Close())
		c.gone(t)
		if err != nil {
			assert.ErrorIs(t, err, context.Canceled)
			continue
		}
		assert.Equal(t, vectors.Counts{vectors.NotRun: 4}, r.Counts(""))
		assert.Equal(t, "the run was ended: interrupted", r.Results[0].Why)
	}
}

// What a port writes to standard error is kept from both ends, and cleaned.
func TestStandardError(t *testing.T) {
	t.Parallel()
	r := try(t, suiteOf(t, threePerSecond()), "shout and crash", nil)
	lines := r.report.Results[0].Stderr
	require.Len(t, lines, 41)
	assert.Equal(t, `all work and no play \x1b[2J`, lines[0])
	assert.Regexp(t, `^\(\d+ bytes left out\)$`, lines[20])
	assert.Equal(t, "the end", lines[40])
	r = try(t, suiteOf(t, threePerSecond()), "crash at third", nil)
	assert.Nil(t, r.report.Results[0].Stderr)
}

// recorder keeps what a driver answers.
type recorder struct {
	vectors.Driver
	replies []vectors.Reply
}

func (r *recorder) Run(ctx context.Context, q vectors.Request) (vectors.Reply, error) {
	reply, err := r.Driver.Run(ctx, q)
	r.replies = append(r.replies, reply)
	return reply, err
}

// The same policies in this process, in JSON lines and in plain text: all pass, and answer the same in every field.
func TestThreeDriversAgree(t *testing.T) {
	t.Parallel()
	s, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	c := newCensus(t)
	o := options(t, "honest", c)
	drivers := []*recorder{{Driver: vectors.NewRegistryDriver("weir", "go", weir.Registry())},
		{Driver: newPort(t, t.Context(), o)}, {Driver: newPort(t, t.Context(), asText(o))}}
	for _, d := range drivers {
		r, err := vectors.Run(t.Context(), s, d, vectors.Options{})
		require.NoError(t, err)
		assert.True(t, r.Conformant(), r.Line())
		for _, policy := range vectors.Policies() {
			counts := r.Counts(policy)
			assert.Equal(t, counts.Total(), counts[vectors.Pass], policy)
		}
		assert.NoError(t, d.Close())
		require.Len(t, d.replies, len(drivers[0].replies))
		for i, reply := range d.replies {
			if len(reply.Results) == 0 {
				reply.Results = drivers[0].replies[i].Results
			}
			assert.Equal(t, drivers[0].replies[i], reply)
		}
	}
	assert.Equal(t, 2, c.gone(t))
}

// A long case goes out in chunks of a thousand, each answered before the next.
func TestChunks(t *testing.T) {
	t.Parallel()
	steps := make([]string, 2500)
	for i := range steps {
		steps[i] = fmt.Sprintf(`{"op":"take","now":"%d","key":"1","cost":"0","want":{"outcome":"allow","remaining":"1","retry_after":"0","reset_after":"0"}}`, i)
	}
	s := suiteOf(t, oneCase("long", "*", "", steps...))
	var log bytes.Buffer
	r := try(t, s, "honest", func(o *vectors.PortOptions) { o.Trace = &log })
	require.NoError(t, r.hello)
	assert.True(t, r.report.Conformant(), r.report.Results[0].Why)
	var sent []int
	for line := range strings.Lines(log.String()) {
		if strings.HasPrefix(line, "-> ") {
			sent = append(sent, strings.Count(line, `"op"`))
		}
	}
	assert.Equal(t, []int{0, 1000, 1000, 500, 0}, sent)
	assert.NotContains(t, log.String(), "want")
	r = try(t, s, "too few", nil)
	assert.Equal(t, "999 results for 1000 steps from step 0 on", r.report.Results[0].Why)
	r = try(t, s, "honest", text)
	assert.True(t, r.report.Conformant())
}
