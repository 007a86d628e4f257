package accesslog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"weir/cmd/weir/internal/accesslog"
)

// unreadable is the reason for which the only line of text cannot be read; "" if it can.
func unreadable(t *testing.T, text string, o accesslog.Options) string {
	t.Helper()
	got, stats := read(t, text, o)
	if len(got) > 0 {
		return ""
	}
	return stats.Samples[0].Reason
}

func TestUnreadableWeblogLines(t *testing.T) {
	const noClient, vhost = "no client, ident and user", "a field too many before the time"
	const good = `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`
	for _, row := range []struct{ old, new, common, combined string }{
		{"", "", "", ""},
		{` "-" "-"`, ` "-"`, "", "no quoted agent"},
		{` "-" "-"`, ``, "", "no quoted referrer"},
		{` "-" "-"`, ` "-" "\"`, "", "no quoted agent"},   // the last quote is escaped
		{` "-" "-"`, ` "-" "\\"`, "", ""},                 // the backslash is
		{` "-" "-"`, ` "-" "\\\"`, "", "no quoted agent"}, // both are
		{` "-" "-"`, ` "-" "a"b`, "", "no quoted agent"},  // more than the field
		{` "-" "-"`, ` "-" "-" "x" y`, "", ""},            // more fields are none of ours
		{` 5 `, ` `, "no size", "no size"},                // with quotes around, - is no size
		{` 5 `, ` - `, "", ""},                            // nothing sent
		{` 5 `, ` -5 `, "no size", "no size"},             //
		{` 5 `, ` 18446744073709551615 `, "", ""},         // 2^64 - 1
		{` 5 `, ` 18446744073709551616 `, "no size", "no size"},
		{` 200 `, ` 20 `, "no status", "no status"},
		{` 200 `, ` 2x0 `, "no status", "no status"},
		{` 200 `, ` - `, "", ""},   // the client went away
		{` 200 `, ` 000 `, "", ""}, // nginx, likewise
		{`"GET / HTTP/1.1"`, `GET / HTTP/1.1`, "no quoted request", "no quoted request"},
		{`"GET / HTTP/1.1"`, `"GET / HTTP/1.1`, "no quoted request", "no quoted request"},
		{`"GET / HTTP/1.1"`, `"GET /"x" HTTP/1.1"`, "no quoted request", "no quoted request"},
		{`"GET / HTTP/1.1"`, `"\"\\\""`, "", ""},
		{`[17/May/2015:10:05:03 +0000]`, `17/May/2015:10:05:03 +0000`, noClient, noClient},
		{`[17/May/2015:10:05:03 +0000]`, `[17/May/2015:10:05:03 +0000`, "no time", "no time"},
		{`[17/May/2015:10:05:03 +0000]`, `[]`, "no time", "no time"},
		{`192.0.2.1 - -`, `192.0.2.1 -`, noClient, noClient},
		{`192.0.2.1 - -`, ` - -`, noClient, noClient},
		{`192.0.2.1 - -`, `192.0.2.1  -`, noClient, noClient},
		{`192.0.2.1 - -`, `example.org:80 192.0.2.1 - -`, vhost, vhost},
		{`192.0.2.1 - -`, `2001:db8::1 - -`, "", ""},
	} {
		line := strings.Replace(good, row.old, row.new, 1)
		assert.Equal(t, row.common, unreadable(t, line, accesslog.Options{Format: "common"}), line)
		assert.Equal(t, row.combined, unreadable(t, line, accesslog.Options{Format: "combined"}), line)
	}
}

func TestUnreadableCSVLines(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{`1,a`, ""},
		{`1,a,2`, ""},
		{`1,`, ""}, // an empty key is one
		{` 1 , a, 2 `, ""},
		{`"1","a","2"`, ""},
		{`1`, "too few columns"},
		{`1,a,2,`, "too many columns"},
		{`1,a,`, "a cost that is not a whole number below 2^64"},
		{`1,a,-1`, "a cost that is not a whole number below 2^64"},
		{`1,a,+1`, "a cost that is not a whole number below 2^64"},
		{`1,a,1.0`, "a cost that is not a whole number below 2^64"},
		{`1,a,18446744073709551616`, "a cost that is not a whole number below 2^64"},
		{`1,a"b`, "quotes that do not match"},
		{`1,"a"b`, "quotes that do not match"},
		{`1,"a`, "quotes that do not match"},
		{`x,a`, "a header without a column called time; name another with --time"},
		{`?,a`, "no time"},
	} {
		assert.Equal(t, row.want, unreadable(t, row.text, accesslog.Options{Format: "csv"}), row.text)
	}
	// A damaged line takes no other with it, and a header counts its columns.
	got, stats := read(t, "time,key,cost\n1,\"a\n2,b,5\n3,\"c\"c\",5\n4,d\n5,e,6\n", accesslog.Options{})
	assert.Equal(t, []request{{0, "b", 5}, {3 * time.Second, "e", 6}}, got)
	assert.Equal(t, []accesslog.Complaint{
		{Line: 2, Reason: "quotes that do not match", Text: `"1,\"a"`},
		{Line: 4, Reason: "quotes that do not match", Text: `"3,\"c\"c\",5"`},
		{Line: 5, Reason: "too few columns", Text: `"4,d"`},
	}, stats.Samples)
}

// The first line is at 0 by Unix time, so that the second tells where its time is.
func TestTimes(t *testing.T) {
	const none = time.Duration(1<<63 - 1)
	const day = 24 * time.Hour
	for _, row := range []struct {
		text string
		want time.Duration
	}{
		{"1", time.Second},
		{"0.1", 100 * time.Millisecond}, // which no float holds
		{"1431857103.123456789", 1431857103123456789},
		{"0.1234567899", 123456789},
		{"-0.5", -500 * time.Millisecond},
		{"-0.9999999999", -999999999},
		{"000000000000000000000000000000001", time.Second},
		{"1e3", none}, {"+1", none}, {".5", none}, {"5.", none}, {"", none}, {"-", none}, {"--1", none}, {"1.-5", none},
		{"1.0000000000x", none}, {"NaN", none}, {"0x10", none}, {"1_000", none},
		{"4418064000", 4418064000 * time.Second}, // 140 years
		{"-4418064000", -4418064000 * time.Second},
		{"4418064000.999999999", 4418064000*time.Second + 999999999},
		{"4418064001", none}, {"-4418064001", none}, {"999999999999999999", none}, {"-999999999999999999", none},
		{"1000000000000000000", none}, {"99999999999999999999999", none},
		{"1970-01-01T00:00:00Z", 0},
		{"1970-01-01t00:00:00z", 0},
		{"1970-01-01 00:00:00.000000001Z", 1},
		{"1970-01-01T02:00:00+02:00", 0},
		{"1969-12-31T18:30:00-05:30", 0},
		{"1970-01-01T00:00:00-00:00", 0},
		{"1969-12-31T23:59:59.25Z", -750 * time.Millisecond},
		{"1972-06-30T23:59:60Z", 912 * day}, // a leap second is the second after it
		{"1970-01-01T00:00:61Z", none}, {"1970-01-01T24:00:00Z", none}, {"1970-01-01T00:60:00Z", none},
		{"1970-00-01T00:00:00Z", none}, {"1970-13-01T00:00:00Z", none}, {"1970-01-00T00:00:00Z", none},
		{"1970-04-31T00:00:00Z", none}, {"1970-02-29T00:00:00Z", none}, {"1900-02-29T00:00:00Z", none},
		{"1972-02-29T00:00:00Z", 789 * day},
		{"1970-01-01T00:00:00", none}, {"1970-01-01", none}, {"1970-01-01T00:00:00.Z", none},
		{"1970-01-01T00:00:00.5", none}, {"1970-01-01T00:00:00+0200", none}, {"1970-01-01T00:00:00+24:00", none},
		{"1970-01-01T00:00:00+02:60", none}, {"1970-01-01T00:00:00Zx", none}, {"1970-01-01T00:00:00,5Z", none},
		{"0000-01-01T00:00:00Z", none}, {"9999-12-31T23:59:59Z", none}, // times, but too far away
	} {
		got, stats := read(t, "0,first\n"+row.text+",second\n", accesslog.Options{Format: "csv"})
		if row.want == none {
			assert.Equal(t, uint64(1), stats.Unreadable, row.text)
		} else if assert.Len(t, got, 2, row.text) {
			assert.Equal(t, row.want, got[1].at, row.text)
		}
	}
}

func TestStamps(t *testing.T) {
	const first = `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "" 200 -` + "\n"
	for _, row := range []struct{ stamp, bad string }{
		{"17/May/2015:10:05:03 +0000", ""},
		{"29/Feb/2016:23:59:60 -2359", ""},
		{"17/MAY/2015:10:05:03 +0000", "no time"},
		{"17/Foo/2015:10:05:03 +0000", "no time"},
		{"17/anF/2015:10:05:03 +0000", "no time"}, // lies across two names
		{"29/Feb/2015:10:05:03 +0000", "no time"},
		{"-1/May/2015:10:05:03 +0000", "no time"},
		{"17/May/-015:10:05:03 +0000", "no time"},
		{"17/May/2015:24:05:03 +0000", "no time"},
		{"17/May/2015:10:05:03 00000", "no time"},
		{"17/May/2015:10:05:03 +2400", "no time"},
		{"17/May/2015:10:05:03 +0060", "no time"},
		{"17/May/2015 10:05:03 +0000", "no time"},
		{"17/May/0000:10:05:03 +0000", "more than 140 years from the first record"},
		{"17/May/9999:10:05:03 +0000", "more than 140 years from the first record"},
	} {
		_, stats := read(t, first+strings.Replace(first, "17/May/2015:10:05:03 +0000", row.stamp, 1), accesslog.Options{})
		if row.bad == "" {
			assert.Equal(t, uint64(2), stats.Read, row.stamp)
		} else if assert.Len(t, stats.Samples, 1, row.stamp) {
			assert.Equal(t, row.bad, stats.Samples[0].Reason, row.stamp)
		}
	}
}

// The calendar agrees with package time's, and both formats with each other, on every day of 138 years: the first,
// those around 1900 that is no leap year, around now, around 2400 that is one, and the last.
func TestCalendar(t *testing.T) {
	for _, year := range []int{1, 1832, 1967, 2330, 9862} {
		from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		var stamps, rfc strings.Builder
		var want []request
		for day := range 365 * 138 { // a little less, so as not to meet the year 10000
			at := from.AddDate(0, 0, day).Add(time.Duration(day) * 12345 * time.Millisecond)
			at = at.Truncate(time.Second)
			local := at.In(time.FixedZone("", day%1439*60-719*60))
			fmt.Fprintf(&stamps, "c - - [%s] \"\" 200 0\n", local.Format("02/Jan/2006:15:04:05 -0700"))
			fmt.Fprintf(&rfc, "%s,c\n", local.Format(time.RFC3339))
			want = append(want, request{at.Sub(from), "c", 1})
		}
		got, _ := read(t, stamps.String(), accesslog.Options{Format: "common"})
		assertSame(t, want, got)
		got, _ = read(t, rfc.String(), accesslog.Options{Format: "csv"})
		assertSame(t, want, got)
	}
}

// assertSame is assert.Equal for lists too long to print.
func assertSame(t *testing.T, want, got []request) {
	t.Helper()
	if !assert.Equal(t, len(want), len(got)) {
		return
	}
	for i := range want {
		if want[i] != got[i] {
			assert.Equal(t, want[i], got[i], i)
			return
		}
	}
}
