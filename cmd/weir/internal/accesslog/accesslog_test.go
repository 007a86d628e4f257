package accesslog_test

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/cmd/weir/internal/accesslog"
)

// request is a Record that outlives the next call.
type request struct {
	at   time.Duration
	key  string
	cost uint64
}

// all reads to the end, or to an error.
func all(t testing.TB, r *accesslog.Reader) ([]request, error) {
	t.Helper()
	var got []request
	for {
		record, err := r.Next()
		if err != nil {
			_, again := r.Next()
			require.Equal(t, err, again, "an error stays")
			s := r.Stats()
			require.Equal(t, s.Lines, s.Read+s.Unreadable+s.Skipped)
			require.Equal(t, uint64(len(got)), s.Read)
			if err == io.EOF {
				err = nil
			}
			return got, err
		}
		got = append(got, request{record.At, string(record.Key), record.Cost})
	}
}

func read(t testing.TB, text string, o accesslog.Options) ([]request, accesslog.Stats) {
	t.Helper()
	r, err := accesslog.New(strings.NewReader(text), o)
	require.NoError(t, err)
	got, err := all(t, r)
	require.NoError(t, err)
	assert.Equal(t, int64(len(text)), r.Consumed())
	return got, r.Stats()
}

func file(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	require.NoError(t, err)
	return string(text)
}

func TestCommonLog(t *testing.T) {
	got, stats := read(t, file(t, "common.log"), accesslog.Options{Cost: "bytes"})
	assert.Equal(t, []request{
		{0, "192.0.2.1", 512},
		{time.Second, "192.0.2.2", 0}, // an hour ahead by the clock, not by its offset; no size
		{-time.Second, "2001:db8::1", 7},
	}, got)
	assert.Equal(t, accesslog.Stats{
		Format: "common", Lines: 3, Read: 3, StepsBack: 1, LargestStepBack: 2 * time.Second,
	}, stats)
}

func TestCombinedLog(t *testing.T) {
	got, stats := read(t, file(t, "combined.log"), accesslog.Options{})
	assert.Equal(t, []request{
		{0, "192.0.2.1", 1},
		{0, "2001:db8::2", 1},
		{-2 * time.Second, "198.51.100.9", 1},
		{5 * time.Second, "192.0.2.1", 1},
	}, got)
	assert.Equal(t, accesslog.Stats{
		Format: "combined", Lines: 5, Read: 4, Unreadable: 1, StepsBack: 1, LargestStepBack: 2 * time.Second,
		Samples: []accesslog.Complaint{{Line: 3, Reason: "no client, ident and user", Text: `"this line is damaged"`}},
	}, stats)
	assert.Equal(t, `line 3: no client, ident and user: "this line is damaged"`, stats.Samples[0].String())
}

func TestCSV(t *testing.T) {
	got, stats := read(t, file(t, "requests.csv"), accesslog.Options{})
	assert.Equal(t, []request{
		{0, "alice", 3},
		{250 * time.Millisecond, `bob, "the" builder`, 1},
		{-1750 * time.Millisecond, "alice", 2},
		{750000001, "carol", 18446744073709551615}, // the tenth digit is dropped, not rounded
	}, got)
	assert.Equal(t, accesslog.Stats{
		Format: "csv", Lines: 7, Read: 4, Unreadable: 1, Skipped: 2, // the header and a blank line
		StepsBack: 1, LargestStepBack: 2 * time.Second,
		Samples: []accesslog.Complaint{
			{Line: 6, Reason: "quotes that do not match", Text: `"alice,\"1,2,never closed"`},
		},
	}, stats)
}

func TestKeys(t *testing.T) {
	common, combined, table := file(t, "common.log"), file(t, "combined.log"), file(t, "requests.csv")
	for _, row := range []struct {
		text, key string
		want      []string
	}{
		{common, "", []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}},
		{common, "client", []string{"192.0.2.1", "192.0.2.2", "2001:db8::1"}},
		{common, "ident", []string{"-", "-", "id"}},
		{common, "user", []string{"-", "alice", "bob smith"}}, // a user may hold spaces
		{common, "method", []string{"GET", "POST", "GET"}},
		{common, "path", []string{"/", "/form?a=1", "/two words"}}, // the query belongs to it; and so do spaces
		{common, "proto", []string{"HTTP/1.1", "HTTP/1.0", "HTTP/2.0"}},
		{common, "status", []string{"200", "302", "404"}},
		{combined, "referrer", []string{"https://example.org/", "-", "-", ""}}, // logged as empty: empty
		{combined, "agent", []string{`one/1.0 (\"quoted\" \\)`, "two", "-", "one"}},
		{combined, "path", []string{"/a", `/a\"b`, "-", "/b"}},
		{combined, "method", []string{"GET", "GET", "-", "GET"}},
		{table, "NOTE", []string{"first", "", "before the first", "x"}}, // a column's name has no case
		{table, "cost", []string{"3", "1", "2", "18446744073709551615"}},
	} {
		got, _ := read(t, row.text, accesslog.Options{Key: row.key})
		var keys []string
		for _, g := range got {
			keys = append(keys, g.key)
		}
		assert.Equal(t, row.want, keys, row.key)
	}
}

func TestRequestsThatLackParts(t *testing.T) {
	for _, row := range []struct{ request, method, path, proto string }{
		{`GET /a HTTP/1.1`, "GET", "/a", "HTTP/1.1"},
		{`GET /a`, "GET", "/a", "-"},             // HTTP/0.9
		{`GET HTTP/1.1`, "GET", "-", "HTTP/1.1"}, // no path
		{`GET`, "GET", "-", "-"},
		{``, "-", "-", "-"},
		{`-`, "-", "-", "-"},                       // nothing came before a timeout
		{`\x16\x03\x01`, `\x16\x03\x01`, "-", "-"}, // TLS to a plain port, as Apache logs it
		{` `, "-", "-", "-"},
	} {
		line := `192.0.2.1 - - [01/Mar/2024:12:00:00 +0000] "` + row.request + `" 400 0`
		for key, want := range map[string]string{"method": row.method, "path": row.path, "proto": row.proto} {
			got, _ := read(t, line, accesslog.Options{Key: key})
			assert.Equal(t, []request{{0, want, 1}}, got, "%s of %q", key, row.request)
		}
	}
}

func TestCosts(t *testing.T) {
	combined, table := file(t, "combined.log"), file(t, "requests.csv")
	for _, row := range []struct {
		text, cost string
		want       []uint64
	}{
		{combined, "1", []uint64{1, 1, 1, 1}},
		{combined, "bytes", []uint64{100, 0, 0, 50}},
		{table, "", []uint64{3, 1, 2, 18446744073709551615}},
		{table, "1", []uint64{1, 1, 1, 1}}, // asked for, so the column is not looked at
		{table, "cost", []uint64{3, 1, 2, 18446744073709551615}},
		{"time,key\n1,a", "", []uint64{1}},
		{"1,a\n2,b,7\n", "", []uint64{1, 7}}, // no header: line by line
		{"1,a\n2,b,7\n", "cost", []uint64{1, 7}},
		{"1,a\n2,b,7\n", "1", []uint64{1, 1}},
		{"time,key,size\n1,a,9", "size", []uint64{9}},
	} {
		got, _ := read(t, row.text, accesslog.Options{Cost: row.cost})
		var costs []uint64
		for _, g := range got {
			costs = append(costs, g.cost)
		}
		assert.Equal(t, row.want, costs, row.cost)
	}
}

func TestWrongOptions(t *testing.T) {
	common := file(t, "common.log")
	for _, row := range []struct {
		text    string
		options accesslog.Options
		want    string
	}{
		{"", accesslog.Options{Format: "xml"}, `format is "xml", must be auto, common, combined, csv, json or a format string of nginx or Apache`},
		{"", accesslog.Options{Format: "common", Key: "agent"}, // a common log has none
			`key is "agent", must be client, ident, user, method, path, route, proto or status (the log's format is common)`},
		{common, accesslog.Options{Key: "agent"}, // told only by the log
			`key is "agent", must be client, ident, user, method, path, route, proto or status (the log's format is common)`},
		{"", accesslog.Options{Format: "combined", Key: "ip"}, `key is "ip", must be client, ident, user, method, ` +
			`path, route, proto, status, referrer or agent (the log's format is combined)`},
		{"", accesslog.Options{Format: "common", Cost: "2"}, `cost is "2", must be 1 or bytes`},
		{"time,user\n", accesslog.Options{}, `key is "key", must be a column of the log: "time", "user"`},
		{"time,user\n", accesslog.Options{Key: "user", Cost: "bytes"},
			`cost is "bytes", must be 1 or a column of the log: "time", "user"`},
		{"time,\x1b[2J\n", accesslog.Options{}, `key is "key", must be a column of the log: "time", "\x1b[2J"`},
		{"time,b,c,d,e,f,g,h,i,j,k\n", accesslog.Options{}, // too many to list
			`key is "key", must be a column of the log: "time", "b", "c", "d", "e", "f", "g", "h", "i", "j", ...`},
		{"1,a\n", accesslog.Options{Key: "client"}, `key is "client", must be key (the log names no columns)`},
		{"1,a\n", accesslog.Options{Time: "when"}, `time is "when", must be left out (the log names no columns)`},
		{"date,user\n1,a\n", accesslog.Options{Format: "csv", Time: "when"}, `time is "when", must be a column of the log: "date", "user"`},
		{common, accesslog.Options{Time: "when"}, `time is "when", must be left out (the log's format is common)`},
		{common, accesslog.Options{Key: "client+color"}, `key is "client+color", must be client, ident, user, method, path, route, proto or status (the log's format is common)`},
		{"", accesslog.Options{Format: "$remote_addr $status"}, `format is "$remote_addr $status", must be one with a time: $time_local, $time_iso8601, $msec or %t`},
		{"", accesslog.Options{Format: "$msec$remote_addr"}, `format is "$msec$remote_addr", must be fields with something between; nothing stands before $remote_addr`},
		{"", accesslog.Options{Format: "%{%H:%M}t %h"}, `format is "%{%H:%M}t %h", must be made of fields that weir knows, not %{%H:%M}t`},
		{"", accesslog.Options{Format: "$msec $remote_addr", Cost: "bytes"}, `cost is "bytes", must be 1 or a field of the format string: time, client`},
		{"", accesslog.Options{Format: "$msec $status"}, `key is "client", must be a field of the format string: time, status`},
		{"", accesslog.Options{Format: "json", Key: "a#b"}, `key is "a#b", must be names of fields, with . for nested ones, and + or | between several`},
		{"", accesslog.Options{Format: "json", Cost: "@this"}, `cost is "@this", must be 1, bytes or the name of a field, with . for a nested one`},
		{"1,a\n", accesslog.Options{Cost: "bytes"}, `cost is "bytes", must be 1 or cost (the log names no columns)`},
	} {
		r, err := accesslog.New(strings.NewReader(row.text), row.options)
		if err == nil {
			_, err = all(t, r)
		} else {
			assert.Nil(t, r)
		}
		var wrong *accesslog.OptionError
		require.ErrorAs(t, err, &wrong)
		assert.EqualError(t, err, row.want)
	}
}
