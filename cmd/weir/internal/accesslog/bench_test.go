package accesslog_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"weir/cmd/weir/internal/accesslog"
)

const benchLines = 20000

// lines writes a log of lines of about the usual length.
func lines(format string) []byte {
	var b bytes.Buffer
	for i := range benchLines {
		second, client := i/7%60, i*7919%251
		switch format {
		case "json":
			fmt.Fprintf(&b, `{"level":"info","ts":%d.%06d,"request":{"remote_ip":"192.0.2.%d","client_ip":"192.0.2.%d","method":"GET","host":"a.example",`+
				`"uri":"/articles/%d?page=2","headers":{"User-Agent":["Mozilla/5.0"]}},"duration":0.001,"size":%d,"status":200}`+"\n", 1709294400+i/7, i, client, client, i*31%997, i)
		case "csv":
			fmt.Fprintf(&b, "%d.%09d,192.0.2.%d,%d\n", 1709294400+i/7, i, client, i)
		default:
			fmt.Fprintf(&b, `192.0.2.%d - - [01/Mar/2024:12:00:%02d +0000] "GET /articles/%d?page=2 HTTP/1.1" 200 %d`,
				client, second, i*31%997, i)
			if format == "combined" {
				b.WriteString(` "https://example.org/start" "Mozilla/5.0 (X11; Linux x86_64; rv:123.0) Gecko/20100101"`)
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

func BenchmarkReader(b *testing.B) {
	for _, row := range []struct{ name, format, key string }{
		{"combined", "combined", ""},
		{"combined_by_path", "combined", "path"},
		{"common", "common", ""},
		{"csv", "csv", ""},
		{"json", "json", ""},
		{"format_string", "combined", ""},
		{"combined_gzip", "combined", ""},
	} {
		b.Run(row.name, func(b *testing.B) {
			log := lines(row.format)
			if row.name == "combined_gzip" {
				log = zip(b, string(log))
			}
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				o := accesslog.Options{Key: row.key}
				if row.name == "format_string" {
					o.Format = combinedFormat
				}
				r, err := accesslog.New(bytes.NewReader(log), o)
				require.NoError(b, err)
				for err == nil {
					_, err = r.Next()
					n++
				}
				require.Equal(b, io.EOF, err)
			}
			require.Equal(b, (benchLines+1)*b.N, n) // the end is one more
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "lines/s")
		})
	}
}

// Memory does not grow with the log: a line of a web log allocates nothing, one of a CSV its cells and no more.
func TestAllocations(t *testing.T) {
	for format, most := range map[string]float64{"common": 0, "combined": 0, "csv": 1} {
		r, err := accesslog.New(bytes.NewReader(lines(format)), accesslog.Options{})
		require.NoError(t, err)
		_, err = r.Next()
		require.NoError(t, err)
		got := testing.AllocsPerRun(benchLines/2, func() { _, _ = r.Next() })
		require.LessOrEqual(t, got, most, format)
		require.Zero(t, r.Stats().Unreadable)
	}
}
