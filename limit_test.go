package weir_test

import (
	"encoding/json"
	"flag"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"weir"
)

const day = 24 * time.Hour

func TestParseLimitReads(t *testing.T) {
	for _, row := range []struct {
		text string
		want weir.Limit
		back string // what String writes
	}{
		{"100/s burst 20", weir.Per(100, time.Second).WithBurst(20), "100/s burst 20"},
		{"1000/h", weir.Per(1000, time.Hour), "1000/h"},
		{"100/s burst 20 & 5000/h", weir.Per(100, time.Second).WithBurst(20).And(weir.Per(5000, time.Hour)), "100/s burst 20 & 5000/h"},
		{"1/s&2/m burst 9", weir.Per(1, time.Second).And(weir.Per(2, time.Minute).WithBurst(9)), "1/s & 2/m burst 9"},
		{"  100 / s   burst\t20 ", weir.Per(100, time.Second).WithBurst(20), "100/s burst 20"},
		{"\n1/s\n", weir.Per(1, time.Second), "1/s"},
		{"1/10s", weir.Per(1, 10*time.Second), "1/10s"},
		{"1/1h30m", weir.Per(1, 90*time.Minute), "1/1h30m"},
		{"1/90m", weir.Per(1, 90*time.Minute), "1/1h30m"},
		{"1/7d", weir.Per(1, 7*day), "1/7d"},
		{"1/1d", weir.Per(1, day), "1/d"},
		{"1/day", weir.Per(1, day), "1/d"},
		{"1/hour", weir.Per(1, time.Hour), "1/h"},
		{"1/min", weir.Per(1, time.Minute), "1/m"},
		{"1/minute", weir.Per(1, time.Minute), "1/m"},
		{"1/sec", weir.Per(1, time.Second), "1/s"},
		{"1/second", weir.Per(1, time.Second), "1/s"},
		{"1/ms", weir.Per(1, time.Millisecond), "1/ms"},
		{"1/250us", weir.Per(1, 250*time.Microsecond), "1/250us"},
		{"1/250\u00b5s", weir.Per(1, 250*time.Microsecond), "1/250us"}, // the micro sign
		{"1/250\u03bcs", weir.Per(1, 250*time.Microsecond), "1/250us"}, // the Greek letter
		{"1/1s1ns", weir.Per(1, time.Second+1), "1/1s1ns"},
		{"1/0h5s", weir.Per(1, 5*time.Second), "1/5s"},
		{"18446744073709551615/9223372036854775807ns burst 18446744073709551614",
			weir.Per(math.MaxUint64, math.MaxInt64).WithBurst(math.MaxUint64 - 1),
			"18446744073709551615/106751d23h47m16s854ms775us807ns burst 18446744073709551614"},
	} {
		got, err := weir.ParseLimit(row.text)
		require.NoError(t, err, row.text)
		assert.Equal(t, row.want, got, row.text)
		assert.Equal(t, row.back, got.String(), row.text)
	}
}

func TestParseLimitRefuses(t *testing.T) {
	const shape, period = "must be PERMITS/PERIOD", "must be from 1ns to 292 years in whole numbers of"
	const whole = "must be a whole number from 1 to 18446744073709551615"
	for _, row := range []struct{ text, fault string }{
		{"", shape},
		{"100", shape},
		{"100/", shape},
		{"100 per second", shape},
		{"fast", shape},
		{"/s", `permits is "", ` + whole},
		{"0/s", `permits is "0", ` + whole},
		{"-5/s", `permits is "-5", ` + whole},
		{"+5/s", `permits is "+5", ` + whole},
		{"1.5/s", `permits is "1.5", ` + whole},
		{"1e3/s", `permits is "1e3", ` + whole},
		{"1,000/s", `permits is "1,000", ` + whole},
		{"1_000/s", `permits is "1_000", ` + whole},
		{"10 0/s", `permits is "10 0", ` + whole},
		{"18446744073709551616/s", `permits is "18446744073709551616", ` + whole},
		{"ten/s", `permits is "ten", ` + whole},
		{"100/1", `period is "1", ` + period},
		{"100/60", `period is "60", ` + period},
		{"100/S", `period is "S", ` + period},
		{"100/0s", `period is "0s", ` + period},
		{"100/-1s", `period is "-1s", ` + period},
		{"100/1.5s", `period is "1.5s", ` + period},
		{"100/month", `period is "month", ` + period},
		{"100/1h30", `period is "1h30", ` + period},
		{"100/s/2", `period is "s/2", ` + period},
		{"100/300y", `period is "300y", ` + period},
		{"100/106752d", `period is "106752d", ` + period},
		{"100/106751d24h", `period is "106751d24h", ` + period},
		{"100/9223372036854775808ns", `period is "9223372036854775808ns", ` + period},
		{"100/99999999999999999999s", `period is "99999999999999999999s", ` + period},
		{"100/1 h", `period is "1", ` + period},
		{"100/s 20", `after the period comes nothing or "burst" and a number, not "20"`},
		{"100/s burst", `after the period comes nothing or "burst" and a number, not "burst"`},
		{"100/s burst=20", `not "burst=20"`},
		{"100/s Burst 20", `not "Burst 20"`},
		{"100/s brust 20", `not "brust 20"`},
		{"100/s burst 20 30", `not "burst 20 30"`},
		{"100/s, burst 20", `period is "s,", ` + period},
		{"100/s burst 0", `burst is "0", ` + whole},
		{"100/s burst -1", `burst is "-1", ` + whole},
		{"100/s burst lots", `burst is "lots", ` + whole},
		{"100/s &", "second limit: " + shape},
		{"& 100/s", shape},
		{"100/s && 5/h", "has 3 limits, must be at most 2"},
		{"1/s & 1/m & 1/h", "has 3 limits, must be at most 2"},
		{"100/s and 5/h", `not "and 5/h"`},
		{"100/s & 0/h", `second limit: permits is "0", ` + whole},
		{"100/s & 5/w", `second limit: period is "w", ` + period},
		{"\x00\xff/s", "permits is"},
	} {
		got, err := weir.ParseLimit(row.text)
		require.ErrorIs(t, err, weir.ErrLimitText, row.text)
		assert.ErrorContains(t, err, row.fault, row.text)
		assert.Zero(t, got)
		assertOneLine(t, err)
	}
}

// The length of a bad text must not come through in the message: it is somebody's terminal, or a log that a stranger fills.
func TestParseLimitMessageOfALongTextIsShort(t *testing.T) {
	long := strings.Repeat("9", 5000)
	for _, text := range []string{long, long + "/s", "1/" + long, "1/s burst " + long, "1/s " + long, "1/s & 1/" + long} {
		_, err := weir.ParseLimit(text)
		require.ErrorIs(t, err, weir.ErrLimitText)
		assert.Less(t, len(err.Error()), 400, "%.60s...", text)
	}
}

// drawnText is a limit that New may or may not take: text knows nothing of policies.
func drawnText(t *rapid.T) weir.Limit {
	period := rapid.Custom(func(t *rapid.T) time.Duration {
		unit := rapid.SampledFrom([]time.Duration{1, time.Microsecond, time.Millisecond, time.Second, time.Minute, time.Hour, day}).Draw(t, "unit")
		return unit*time.Duration(rapid.Int64Range(1, 100_000).Draw(t, "n")) + time.Duration(rapid.Int64Range(0, 2).Draw(t, "odd"))
	})
	l := weir.Per(rapid.Uint64Min(1).Draw(t, "permits"), period.Draw(t, "period"))
	l.Burst = rapid.Uint64().Draw(t, "burst")
	if rapid.Bool().Draw(t, "two") {
		l.Permits2, l.Period2 = rapid.Uint64Min(1).Draw(t, "permits2"), period.Draw(t, "period2")
		l.Burst2 = rapid.Uint64().Draw(t, "burst2")
	}
	return l
}

// plain is l with a burst that equals its permits left out, which means the same and is how String writes it.
func plain(l weir.Limit) weir.Limit {
	if l.Burst == l.Permits {
		l.Burst = 0
	}
	if l.Burst2 == l.Permits2 {
		l.Burst2 = 0
	}
	return l
}

func TestLimitTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawnText(t)
		back, err := weir.ParseLimit(l.String())
		require.NoError(t, err)
		require.Equal(t, plain(l), plain(back))
		text, err := l.MarshalText()
		require.NoError(t, err)
		require.Equal(t, l.String(), string(text))
		var into weir.Limit
		require.NoError(t, into.UnmarshalText(text))
		require.Equal(t, back, into)
	})
}

// String says that ParseLimit reads it back. A burst that was given should be written, or the text in a file changes under
// its owner and the limit read back is not the one that was written.
func TestLimitTextKeepsABurstThatEqualsThePermits(t *testing.T) {
	l, err := weir.ParseLimit("100/s burst 100")
	require.NoError(t, err)
	back, err := weir.ParseLimit(l.String())
	require.NoError(t, err)
	assert.Equal(t, l, back, "written as %q", l.String())
}

func TestLimitUnmarshalErrorChangesNothing(t *testing.T) {
	l := weir.Per(5, time.Second)
	require.ErrorIs(t, l.UnmarshalText([]byte("5/w")), weir.ErrLimitText)
	assert.Equal(t, weir.Per(5, time.Second), l)
}

func TestLimitInAFlag(t *testing.T) {
	var l weir.Limit
	set := flag.NewFlagSet("x", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.TextVar(&l, "limit", weir.Per(1, time.Hour), "how fast")
	assert.Equal(t, weir.Per(1, time.Hour), l, "the default")
	require.NoError(t, set.Parse([]string{"-limit", "100/s burst 20"}))
	assert.Equal(t, weir.Per(100, time.Second).WithBurst(20), l)
	assert.ErrorContains(t, set.Parse([]string{"-limit", "100/w"}), `period is "w"`)
}

func TestLimitInJSONAndYAML(t *testing.T) {
	type config struct {
		Limit weir.Limit            `json:"limit" yaml:"limit"`
		Per   map[string]weir.Limit `json:"per" yaml:"per"`
	}
	want := config{weir.Per(100, time.Second).WithBurst(20).And(weir.Per(5000, time.Hour)),
		map[string]weir.Limit{"guest": weir.Per(1, time.Minute)}}
	for _, row := range []struct {
		name      string
		marshal   func(any) ([]byte, error)
		unmarshal func([]byte, any) error
		text, bad string
	}{
		{"json", json.Marshal, json.Unmarshal,
			`{"limit":"100/s burst 20 & 5000/h","per":{"guest":"1/m"}}`, `{"limit":"100"}`},
		{"yaml", yaml.Marshal, yaml.Unmarshal,
			"limit: 100/s burst 20 & 5000/h\nper:\n  guest: 1/m\n", "limit: 100\n"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got config
			require.NoError(t, row.unmarshal([]byte(row.text), &got))
			assert.Equal(t, want, got)
			text, err := row.marshal(got)
			require.NoError(t, err)
			var again config
			require.NoError(t, row.unmarshal(text, &again))
			assert.Equal(t, want, again)
			assert.ErrorContains(t, row.unmarshal([]byte(row.bad), &got), "must be PERMITS/PERIOD")
		})
	}
}

func FuzzParseLimit(f *testing.F) {
	for _, seed := range []string{"", "100/s burst 20", "1000/h", "100/s burst 20 & 5000/h", "1/1h30m", "1/\u00b5s", "1/7d",
		"1/9223372036854775807ns", "1/h30m", "1/s1", "/", "&", "1/s & ", "1/s burst 1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := weir.ParseLimit(text)
		if err != nil {
			require.ErrorIs(t, err, weir.ErrLimitText)
			require.Zero(t, l)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.Positive(t, l.Permits)
		require.Positive(t, l.Period)
		back, err := weir.ParseLimit(l.String())
		require.NoError(t, err)
		require.Equal(t, plain(l), plain(back))
		require.Equal(t, l.String(), back.String())
		_, _ = weir.New("gcra", l) // takes it or not, without a panic
	})
}
