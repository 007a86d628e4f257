package accesslog_test

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"

	"weir/cmd/weir/internal/accesslog"
)

// FuzzReader holds what is true of any input: no panic, every line counted once, times within bounds, steps back as
// the records show them, complaints that are safe to print, and the same answers however the input arrives.
func FuzzReader(f *testing.F) {
	for _, name := range []string{"common.log", "combined.log", "requests.csv"} {
		text := file(f, name)
		packed := zip(f, text)
		for format := range uint8(6) {
			f.Add([]byte(text), format, "", "")
			f.Add(packed, format, "user", "bytes")
		}
		f.Add(packed[:len(packed)/2], uint8(0), "", "")
		f.Add([]byte(strings.ReplaceAll(text, "\n", "\r\n")), uint8(0), "status", "1")
		f.Add([]byte("\ufeff"+text+"\x00"), uint8(0), "agent", "1")
	}
	f.Add([]byte("-0.5,a\n9999-12-31T23:59:60-23:59,\"b\",3\n,,\n\"\n"), uint8(3), "key", "cost")
	f.Add([]byte(`{"ts":1.5,"request":{"remote_ip":"192.0.2.1"}}`), uint8(4), "", "")
	f.Add([]byte("1,a\n1,b\n1,c\n2,a\n"), uint8(129), "", "")
	f.Fuzz(func(t *testing.T, input []byte, format uint8, key, cost string) {
		formats := []string{"auto", "common", "combined", "csv", "json", `$remote_addr [$time_local] "$request" $status`}
		o := accesslog.Options{Format: formats[format%6], Key: key, Cost: cost, Spread: format >= 128}
		r, err := accesslog.New(bytes.NewReader(input), o)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		got, err := all(t, r) // which adds up the counts
		stats := r.Stats()
		if !o.Spread {
			holds(t, got, stats)
		}
		if err == nil {
			require.True(t, stats.Trailing > 0 || int64(len(input)) == r.Consumed())
			if !bytes.HasPrefix(input, []byte{0x1f, 0x8b}) && !bytes.HasPrefix(input, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
				lines := uint64(bytes.Count(input, []byte("\n")))
				if len(input) > 0 && input[len(input)-1] != '\n' {
					lines++
				}
				require.Equal(t, lines, stats.Lines)
			}
		} else {
			require.NotContains(t, err.Error(), "\n")
		}
		r, errDrip := accesslog.New(drip{bytes.NewReader(input)}, o)
		require.NoError(t, errDrip)
		again, errDrip := all(t, r)
		require.Equal(t, got, again)
		require.Equal(t, stats, r.Stats())
		require.Equal(t, err, errDrip)
	})
}

func holds(t *testing.T, got []request, stats accesslog.Stats) {
	t.Helper()
	steps, largest, last := uint64(0), time.Duration(0), time.Duration(0)
	for i, g := range got {
		require.True(t, i > 0 || g.at == 0)
		require.Less(t, g.at.Abs(), 141*8766*time.Hour) // a year is 8766 hours
		if g.at < last {
			steps, largest = steps+1, max(largest, last-g.at)
		}
		last = g.at
	}
	require.Equal(t, steps, stats.StepsBack)
	require.Equal(t, largest, stats.LargestStepBack)
	require.Len(t, stats.Samples, int(min(stats.Unreadable, 3)))
	for _, c := range stats.Samples {
		require.False(t, strings.ContainsFunc(c.String(), func(r rune) bool { return !unicode.IsPrint(r) }))
	}
}

// drip gives three bytes at a time, as a slow pipe might.
type drip struct{ from io.Reader }

func (d drip) Read(p []byte) (int, error) { return d.from.Read(p[:min(len(p), 3)]) }
