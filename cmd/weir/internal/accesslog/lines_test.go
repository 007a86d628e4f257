package accesslog_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/cmd/weir/internal/accesslog"
)

const mebibyte = 1 << 20

func zip(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestLineEnds(t *testing.T) {
	ab := []request{{0, "a", 1}, {time.Second, "b", 1}}
	for _, row := range []struct {
		text           string
		want           []request
		lines, skipped uint64
	}{
		{"", nil, 0, 0},
		{"\n", nil, 1, 1},
		{"\n \t\r\n\r", nil, 3, 3},
		{"1,a\n2,b\n", ab, 2, 0},
		{"1,a\n2,b", ab, 2, 0}, // no final newline
		{"1,a\r\n2,b\r\n", ab, 2, 0},
		{"1,a\r\n2,b\r", ab, 2, 0},
		{"\ufeff1,a\n2,b", ab, 2, 0},               // a byte order mark
		{"\ufefftime,key\n1,a\n2,b", ab, 3, 1},     // before a header
		{"\ufeff\n1,a\n2,b", ab, 3, 1},             // and alone
		{"time,key\n1,a\ntime,key\n2,b", ab, 4, 2}, // two files joined
		{"\ufefftime,key\n1,a\n\ufefftime,key\n2,b", ab, 4, 2},
	} {
		for _, wrap := range []func(io.Reader) io.Reader{
			func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader,
		} {
			r, err := accesslog.New(wrap(strings.NewReader(row.text)), accesslog.Options{})
			require.NoError(t, err)
			got, err := all(t, r)
			require.NoError(t, err)
			assert.Equal(t, row.want, got, "%q", row.text)
			s := r.Stats()
			assert.Equal(t, []uint64{row.lines, row.skipped, 0}, []uint64{s.Lines, s.Skipped, s.Unreadable}, "%q", row.text)
		}
	}
}

func TestNothingReadable(t *testing.T) {
	got, stats := read(t, "one\ntwo\x00\nthree\x1b[2J\nfour\n"+strings.Repeat("é", 200), accesslog.Options{})
	assert.Empty(t, got)
	assert.Equal(t, accesslog.Stats{Lines: 5, Unreadable: 5, Samples: []accesslog.Complaint{
		{Line: 1, Reason: "neither common, combined, csv nor json", Text: `"one"`},
		{Line: 2, Reason: "a NUL byte", Text: `"two\x00"`},
		{Line: 3, Reason: "neither common, combined, csv nor json", Text: `"three\x1b[2J"`}, // would clear the screen
	}}, stats)
	_, stats = read(t, strings.Repeat("€", 200), accesslog.Options{Format: "csv"})
	assert.Equal(t, `"`+strings.Repeat("€", 20)+`"...`, stats.Samples[0].Text)
	_, stats = read(t, "x"+strings.Repeat("€", 200), accesslog.Options{Format: "csv"}) // cut between two letters
	assert.Equal(t, `"x`+strings.Repeat("€", 19)+`"...`, stats.Samples[0].Text)
}

func TestLongLines(t *testing.T) {
	const head = "1," // then the key
	for _, row := range []struct {
		comment, end string
		length       int
		readable     bool
	}{
		{"the longest", "\n", mebibyte, true},
		{"the longest, CRLF", "\r\n", mebibyte, true},
		{"the longest, at the end", "", mebibyte, true},
		{"one more", "\n", mebibyte + 1, false},
		{"one more, CRLF", "\r\n", mebibyte + 1, false},
		{"one more, at the end", "", mebibyte + 1, false},
		{"two more, at the end", "", mebibyte + 2, false},
		{"the buffer several times", "\n", 5*mebibyte + 3, false},
	} {
		text := head + strings.Repeat("k", row.length-len(head)) + row.end
		for _, after := range []string{"", "2,b\n"} {
			if row.end == "" && after != "" {
				continue
			}
			got, stats := read(t, text+after, accesslog.Options{Format: "csv"})
			want := uint64(strings.Count(after, "\n"))
			if row.readable {
				want++
			} else {
				require.Len(t, stats.Samples, 1, row.comment)
				assert.Equal(t, "longer than 1 MiB", stats.Samples[0].Reason)
				assert.Equal(t, `"1,`+strings.Repeat("k", 58)+`"...`, stats.Samples[0].Text)
			}
			assert.Len(t, got, int(want), row.comment)
			assert.Equal(t, want, stats.Read, row.comment)
		}
	}
}

func TestLongLineIsNotHeld(t *testing.T) {
	const length = 1 << 28
	long := io.MultiReader(io.LimitReader(endless{}, length), strings.NewReader("\n1,a"))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := accesslog.New(long, accesslog.Options{})
	require.NoError(t, err)
	got, err := all(t, r)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.Equal(t, []request{{0, "a", 1}}, got)
	assert.Equal(t, int64(length+len("\n1,a")), r.Consumed())
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*mebibyte), "bytes ever allocated")
}

// endless is a line without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

func TestGzip(t *testing.T) {
	want, _ := read(t, file(t, "combined.log"), accesslog.Options{})
	packed := zip(t, file(t, "combined.log"))
	r, err := accesslog.New(bytes.NewReader(packed), accesslog.Options{})
	require.NoError(t, err)
	got, err := all(t, r)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, int64(len(packed)), r.Consumed()) // as it came

	two := append(zip(t, "1,a\n2,"), zip(t, "b\n")...) // a line may span two members
	r, err = accesslog.New(iotest.OneByteReader(bytes.NewReader(two)), accesslog.Options{})
	require.NoError(t, err)
	got, err = all(t, r)
	require.NoError(t, err)
	assert.Equal(t, []request{{0, "a", 1}, {time.Second, "b", 1}}, got)
}

// A gzip stream cut anywhere gives what came before, counts the line that was cut, and ends in an error, never in a
// panic or in silence.
func TestGzipCutOff(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "%d.%d,key-%d,%d\n", i, i*i, i*7919%97, i)
	}
	want, _ := read(t, text.String(), accesslog.Options{Format: "csv"})
	packed := zip(t, text.String())
	most := 0
	for cut := len("\x1f\x8b"); cut < len(packed); cut++ {
		r, err := accesslog.New(bytes.NewReader(packed[:cut]), accesslog.Options{Format: "csv"})
		var got []request
		if err == nil {
			got, err = all(t, r)
			most = max(most, len(got))
			assert.Equal(t, want[:len(got)], append([]request{}, got...), "nothing wrong")
			assert.LessOrEqual(t, r.Stats().Unreadable, uint64(1))
			line := r.Stats().Read + 1
			assert.EqualError(t, err, fmt.Sprintf("line %d: the gzip stream is cut off", line))
		}
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.NotErrorIs(t, err, io.EOF)
	}
	assert.Equal(t, len(want), most, "only the checksum was missing")
}

func TestGzipBroken(t *testing.T) {
	packed := zip(t, "1,a\n")
	packed[len(packed)-8]++ // the checksum
	r, err := accesslog.New(bytes.NewReader(packed), accesslog.Options{})
	require.NoError(t, err)
	got, err := all(t, r)
	assert.Equal(t, []request{{0, "a", 1}}, got)
	require.ErrorIs(t, err, gzip.ErrChecksum)
	assert.EqualError(t, err, "line 2: the gzip stream is broken: gzip: invalid checksum")

	_, err = accesslog.New(strings.NewReader("\x1f\x8bnot at all"), accesslog.Options{})
	require.ErrorIs(t, err, gzip.ErrHeader)
	_, err = accesslog.New(strings.NewReader("\x1f\x8b"), accesslog.Options{})
	assert.EqualError(t, err, "line 1: the gzip stream is cut off")
}

func TestInputFails(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, row := range []struct {
		text, want       string
		read, unreadable uint64
	}{
		{"", "line 1: the disk is on fire", 0, 0},
		{"1,a\n2,b\n", "line 3: the disk is on fire", 2, 0},
		{"1,a,1\n2,b,1", "line 2: the disk is on fire", 1, 1}, // the cost may have lost digits
		{"1,a,1\n" + strings.Repeat("x", 2*mebibyte), "line 2: the disk is on fire", 1, 1},
	} {
		input := io.MultiReader(strings.NewReader(row.text), iotest.ErrReader(broken))
		r, err := accesslog.New(input, accesslog.Options{})
		if err == nil {
			_, err = all(t, r)
			assert.Equal(t, []uint64{row.read, row.unreadable}, []uint64{r.Stats().Read, r.Stats().Unreadable}, row.want)
		}
		require.ErrorIs(t, err, broken)
		assert.EqualError(t, err, row.want)
	}
}
