package accesslog_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/cmd/weir/internal/accesslog"
)

const combinedFormat = `$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"`

// A format string for what is also a combined log reads it as the combined format does, and Apache's reads it as nginx's.
func TestFormatStringsReadCombined(t *testing.T) {
	apache := `%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-agent}i\"`
	for _, key := range []string{"", "client", "method", "path", "route", "proto", "status", "referrer", "agent", "user|client+method"} {
		for _, cost := range []string{"", "bytes"} {
			want, _ := read(t, file(t, "combined.log"), accesslog.Options{Format: "combined", Key: key, Cost: cost})
			got, stats := read(t, file(t, "combined.log"), accesslog.Options{Format: apache, Key: key, Cost: cost})
			assert.Equal(t, want, got, "apache: key %q, cost %q", key, cost)
			assert.Equal(t, uint64(1), stats.Unreadable)
			got, _ = read(t, file(t, "combined.log"), accesslog.Options{Format: combinedFormat, Key: key, Cost: cost})
			if assert.Len(t, got, len(want), "nginx: its second field is a hyphen, which is the ident of all these lines") {
				assert.Equal(t, want, got, "nginx: key %q, cost %q", key, cost)
			}
		}
	}
}

func TestFormatStrings(t *testing.T) {
	at := 1500 * time.Millisecond
	for _, row := range []struct {
		why, format, first, second, key string
		want                            string
		cost                            string
		costs                           uint64
	}{
		{"a virtual host first, as Apache's vhost_combined has it", `%v:%p %h %l %u %t "%r" %>s %O`,
			`a.example:443 192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5`,
			`b.example:443 192.0.2.1 - ann [17/May/2015:10:05:04 +0000] "GET /x?y HTTP/1.1" 200 7`, "host+route", "b.example\x00/x", "bytes", 7},
		{"nginx, milliseconds, a header of its own, time taken last", `$msec $remote_addr "$http_x_api_key" $request_time`,
			`1431857103.000 192.0.2.1 "one" 0.001`, `1431857104.500 192.0.2.2 "t\"wo" 0.002`, "http_x_api_key", `t\"wo`, "1", 1},
		{"ISO times and braces", `${time_iso8601}|${remote_addr}`, `2015-05-17T10:05:03+00:00|192.0.2.1`,
			`2015-05-17T12:05:04+02:00|2001:db8::1`, "", "2001:db8::1", "", 1},
		{"Apache's microseconds, and a header by its name", `%{usec}t %h "%{X-Api-Key}i" %%`, `1431857103000000 a "k1" %`,
			`1431857104500000 b "k2" %`, "x-api-key", "k2", "", 1},
		{"a field as the cost", `$msec $remote_addr $request_length`, `0 a 1`, `1.5 b 123`, "", "b", "request_length", 123},
		{"modifiers of Apache, and what follows the last field", `%t %!200,304{Referer}i %^ti`, `[17/May/2015:10:05:03 +0000] r x`,
			`[17/May/2015:10:05:04 +0000] s y z`, "referrer", "s", "", 1},
	} {
		got, stats := read(t, row.first+"\n"+row.second+"\n", accesslog.Options{Format: row.format, Key: row.key, Cost: row.cost})
		require.Len(t, got, 2, "%s: %v", row.why, stats.Samples)
		assert.Equal(t, row.want, got[1].key, row.why)
		assert.Equal(t, row.costs, got[1].cost, row.why)
		if strings.Contains(row.second, "500") || strings.Contains(row.second, "1.5") {
			assert.Equal(t, at, got[1].at, row.why)
		} else {
			assert.Equal(t, time.Second, got[1].at, row.why)
		}
	}
}

func TestFormatStringFaults(t *testing.T) {
	const format = `$remote_addr [$time_local] "$request" $status`
	for _, row := range []struct{ line, want string }{
		{`192.0.2.1 [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200`, ""},
		{`192.0.2.1 [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 and more`, ""},
		{`192.0.2.1 [17/May/2015:10:05:03 +0000] "GET /\" HTTP/1.1" 200`, ""},
		{`192.0.2.1 [never] "GET / HTTP/1.1" 200`, "no time"},
		{`192.0.2.1 17/May/2015:10:05:03 +0000 "GET / HTTP/1.1" 200`, "not as the format string has it"},
		{`192.0.2.1 [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1 200`, "not as the format string has it"},
		{`192.0.2.1 [17/May/2015:10:05:03 +0000] "GET / "x" HTTP/1.1" 200`, "not as the format string has it"},
	} {
		assert.Equal(t, row.want, unreadable(t, row.line, accesslog.Options{Format: format}), row.line)
	}
}

// One line each as the servers write them by default, cut to the fields that matter; values made up.
func TestJSONLines(t *testing.T) {
	for _, row := range []struct {
		why, line, key, want, cost string
		costs                      uint64
	}{
		{"Caddy", `{"level":"info","ts":1431857103.5,"request":{"remote_ip":"192.0.2.9","client_ip":"192.0.2.1","method":"GET","host":"a.example","uri":"/a?b=1","headers":{"User-Agent":["one/1"]}},"user_id":"","size":77,"status":200}`,
			"client+route+agent", "192.0.2.1\x00/a\x00one/1", "bytes", 77},
		{"Traefik", `{"ClientAddr":"192.0.2.1:4711","ClientHost":"192.0.2.1","ClientUsername":"-","DownstreamContentSize":9,"RequestMethod":"POST","RequestPath":"/p","time":"2015-05-17T10:05:03Z"}`,
			"user|client+method", "192.0.2.1\x00POST", "bytes", 9},
		{"Envoy: the port is not the client's name", `{"start_time":"2015-05-17T10:05:03.250Z","method":"GET","path":"/","response_code":200,"bytes_sent":5,"downstream_remote_address":"[2001:db8::1]:4711"}`,
			"", "2001:db8::1", "1", 1},
		{"nginx", `{"time_iso8601":"2015-05-17T10:05:03+00:00","remote_addr":"192.0.2.1","http_x_api_key":"k\u00e9y"}`, "http_x_api_key", "kéy", "", 1},
		{"a number as the key, and a nested cost", `{"time":1.5,"id":12345678901234567890,"a":{"b":"3"}}`, "id", "12345678901234567890", "a.b", 3},
		{"a name with a dot", `{"time":"17/May/2015:10:05:03 +0000","user.id":"u"}`, "user.id", "u", "", 1},
		{"a field that the line lacks", `{"time":1,"client":"c"}`, "user|client", "c", "", 1},
		{"an empty key is one", `{"time":1,"client":""}`, "client", "", "", 1},
	} {
		got, stats := read(t, row.line+"\n", accesslog.Options{Key: row.key, Cost: row.cost})
		require.Len(t, got, 1, "%s: %v", row.why, stats.Samples)
		assert.Equal(t, "json", stats.Format)
		assert.Equal(t, request{0, row.want, row.costs}, got[0], row.why)
	}
	got, _ := read(t, `{"when":"1.25","client":"a"}`+"\n"+`{"when":2,"client":"a"}`, accesslog.Options{Format: "json", Time: "when"})
	assert.Equal(t, []request{{0, "a", 1}, {750 * time.Millisecond, "a", 1}}, got)
	for line, want := range map[string]string{
		`{"client":"a"}`:                      "no time",
		`{"time":1e9,"client":"a"}`:           "no time",
		`{"time":1,"client":"a"`:              "no JSON object",
		`{"time":1,"klient":"a"}`:             "no field that the key asks for",
		`{"time":1,"client":null}`:            "no field that the key asks for",
		`[1]`:                                 "no JSON object",
		`{"time":1,"client":"a\u0000b"}`:      "a NUL byte",
		`{"time":1,"client":"a"} {"time":1}`:  "no JSON object",
		` {"time":{"a":1},"client":"nested"}`: "no time",
		`{"time":1,"client":"a","x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`:         "",
		`{"time":1,"client":"[[\"[","x":` + strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 65): "no JSON object",
		`{"time":1,"client":"a","x":` + strings.Repeat("[", 1<<20-100):                                  "no JSON object",
	} {
		assert.Equal(t, want, unreadable(t, line, accesslog.Options{Format: "json"}), line)
	}
	assert.Equal(t, "no field that the key asks for", unreadable(t, `{"time":1,"client":"a"}`, accesslog.Options{Format: "json", Key: "client+usr|ip2"}))
	assert.Equal(t, "a cost that is not a whole number below 2^64", unreadable(t, `{"time":1,"client":"a","size":1.5}`, accesslog.Options{Format: "json", Cost: "bytes"}))
}

// Two parts never meet in another way than they were written.
func TestKeyParts(t *testing.T) {
	got, _ := read(t, "time,a,b\n1,x y,z\n2,x,y z\n3,-,z\n4,,z\n", accesslog.Options{Key: "a + b"})
	assert.NotEqual(t, got[0].key, got[1].key)
	assert.Equal(t, "x y + z", accesslog.ShowKey(got[0].key))
	got, _ = read(t, "time,a,b\n1,x,z\n3,-,z\n4,,z\n", accesslog.Options{Key: "a|b"})
	assert.Equal(t, []request{{0, "x", 1}, {2 * time.Second, "z", 1}, {3 * time.Second, "z", 1}}, got)
	got, _ = read(t, "time,a+b\n1,x\n", accesslog.Options{Key: "a+b"})
	assert.Equal(t, "x", got[0].key, "a column of that name comes first")
}

func inputs(texts ...string) (all []accesslog.Input) {
	for i, text := range texts {
		all = append(all, accesslog.Input{Name: string(rune('a' + i)), Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(text)), nil
		}})
	}
	return all
}

func TestManyFiles(t *testing.T) {
	var packed bytes.Buffer
	w, err := zstd.NewWriter(&packed)
	require.NoError(t, err)
	_, err = io.WriteString(w, "time,key\n3,c\nbad,c\n")
	require.NoError(t, err)
	require.NoError(t, w.Close())
	first := string(zip(t, "time,key\n1,a\n"))
	files := inputs(first, "", packed.String(), "time,key\n4,d")
	r, err := accesslog.NewFiles(files, accesslog.Options{})
	require.NoError(t, err)
	got, err := all(t, r)
	require.NoError(t, err)
	assert.Equal(t, []request{{0, "a", 1}, {2 * time.Second, "c", 1}, {3 * time.Second, "d", 1}}, got)
	assert.Equal(t, `"c" line 3: no time: "bad,c"`, r.Stats().Samples[0].String())
	assert.Equal(t, int64(len(first)+packed.Len()+len("time,key\n4,d")), r.Consumed())

	r, err = accesslog.NewFiles(inputs("1,a\n", first[:len(first)-9]), accesslog.Options{})
	require.NoError(t, err)
	_, err = all(t, r)
	assert.EqualError(t, err, `"b" line 3: the gzip stream is cut off`)

	gone := errors.New("gone")
	r, err = accesslog.NewFiles(append(inputs("1,a\n"), accesslog.Input{Name: "x", Open: func() (io.ReadCloser, error) { return nil, gone }}), accesslog.Options{})
	require.NoError(t, err)
	got, err = all(t, r)
	assert.Len(t, got, 1)
	require.ErrorIs(t, err, gone)
}

func TestZstdBroken(t *testing.T) {
	w, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	packed := w.EncodeAll([]byte(strings.Repeat("1,a\n2,b\n", 1000)), nil)
	for cut := 4; cut < len(packed); cut++ {
		r, err := accesslog.New(bytes.NewReader(packed[:cut]), accesslog.Options{})
		if err == nil {
			_, err = all(t, r)
		}
		require.ErrorContains(t, err, "the zstd stream is")
	}
}

// What follows a gzip stream is not read, and not taken for a stream that is cut off.
func TestTrailingGarbage(t *testing.T) {
	for _, garbage := range []string{"\x00", "\x00\x00\x00\x00\x00\x00", "x", "2,b\n", "\x1f", strings.Repeat("\x00", 1<<20)} {
		packed := string(zip(t, "1,a\n")) + garbage
		r, err := accesslog.New(strings.NewReader(packed), accesslog.Options{})
		require.NoError(t, err)
		got, err := all(t, r)
		require.NoError(t, err, "%.9q", garbage)
		assert.Equal(t, []request{{0, "a", 1}}, got)
		assert.Equal(t, uint64(1), r.Stats().Trailing)
	}
}

// One absurd first stamp does not lose the log: the lines after it say where it is.
func TestAbsurdFirstTime(t *testing.T) {
	for _, row := range []struct {
		why, text        string
		read, unreadable uint64
		first            string
	}{
		{"the clock of a machine that has just started", "1970-01-01T00:00:00Z,x\n2015-05-17T10:05:03Z,a\n2015-05-17T10:05:04Z,b\n2015-05-17T10:05:05Z,c\n", 3, 1, "a"},
		{"the year 9999", "9999-12-31T00:00:00Z,x\n2015-05-17T10:05:03Z,a\n2015-05-17T10:05:04Z,b\n2015-05-17T10:05:05Z,c\n", 3, 1, "a"},
		{"two lines do not say which is right", "1970-01-01T00:00:00Z,x\n2015-05-17T10:05:03Z,a\n", 2, 0, "x"},
		{"nor do lines that are all far apart", "1970-01-01T00:00:00Z,x\n1990-05-17T10:05:03Z,a\n2015-05-17T10:05:04Z,b\n2020-05-17T10:05:05Z,c\n", 4, 0, "x"},
		{"one in the middle is not the first", "2015-05-17T10:05:03Z,a\n1970-01-01T00:00:00Z,x\n2015-05-17T10:05:04Z,b\n2015-05-17T10:05:05Z,c\n", 4, 0, "a"},
	} {
		got, stats := read(t, row.text, accesslog.Options{Format: "csv"})
		assert.Equal(t, []uint64{row.read, row.unreadable}, []uint64{stats.Read, stats.Unreadable}, row.why)
		require.NotEmpty(t, got, row.why)
		assert.Equal(t, request{0, row.first, 1}, got[0], row.why)
		if row.unreadable > 0 {
			assert.Equal(t, "more than a year from the lines after it", stats.Samples[0].Reason)
		}
	}
}

func TestSpread(t *testing.T) {
	got, _ := read(t, "1,a\n1,b\n1,c\n2,d\n3.5,e\n3.5,f\n2,g\n2,h\n", accesslog.Options{Format: "csv", Spread: true})
	assert.Equal(t, []request{
		{0, "a", 1}, {333333333, "b", 1}, {666666666, "c", 1}, // 1/3 and 2/3 of a second, rounded down
		{time.Second, "d", 1},                                                // alone
		{2500 * time.Millisecond, "e", 1}, {2500 * time.Millisecond, "f", 1}, // not whole: as they are
		{time.Second, "g", 1}, {1500 * time.Millisecond, "h", 1}, // back, and again the whole second
	}, got)
	got, _ = read(t, strings.Repeat("1,a\n", 1<<16+2)+"2,b\n", accesslog.Options{Format: "csv", Spread: true})
	require.Len(t, got, 1<<16+3)
	assert.Equal(t, []request{
		{999984741, "a", 1}, // 65535/65536
		{999999999, "a", 1}, {999999999, "a", 1}, {time.Second, "b", 1},
	}, got[1<<16-1:], "no more than 65536 are held")
}

// FuzzFormatString holds what is true of any format string and any line: an error of one line, or no panic.
func FuzzFormatString(f *testing.F) {
	f.Add(combinedFormat, `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET / HTTP/1.1" 200 5 "-" "-"`, "client+route|user")
	f.Add(`%{usec}t %h "%{X-Api-Key}i" %% %^ti %>s`, `1431857103000000 a "k1" % x 1`, "x-api-key")
	f.Add(`${time_iso8601}|${remote_addr}$`, `2015-05-17T10:05:03+00:00|192.0.2.1$`, "")
	f.Fuzz(func(t *testing.T, format, line, key string) {
		if !strings.ContainsAny(format, "$%") {
			return
		}
		r, err := accesslog.New(strings.NewReader(line), accesslog.Options{Format: format, Key: key})
		if err == nil {
			_, err = all(t, r)
		}
		var wrong *accesslog.OptionError
		if err != nil && !errors.As(err, &wrong) {
			require.ErrorIs(t, err, io.ErrUnexpectedEOF) // what looked like a gzip stream
		}
	})
}
