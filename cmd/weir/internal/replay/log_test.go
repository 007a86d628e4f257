package replay_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/cmd/weir/internal/accesslog"
	"weir/cmd/weir/internal/replay"
	"weir/policy"
)

// requestsOf is what a log holds, as far as it can be read, and whether it breaks off.
func requestsOf(t testing.TB, from io.Reader, o accesslog.Options) (log []request, broken error) {
	t.Helper()
	r, err := accesslog.New(from, o)
	require.NoError(t, err)
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return log, nil
		}
		if err != nil {
			return log, err
		}
		log = append(log, request{record.At, string(record.Key), record.Cost})
	}
}

// TestLogsAgreeWithOracle: on logs that are empty, damaged, out of order, cut off, and with absurd times, whatever can be
// read is decided as the oracle decides it.
func TestLogsAgreeWithOracle(t *testing.T) {
	stamp := func(second int, key string) string {
		return fmt.Sprintf("%s - - [17/May/2015:10:%02d:%02d +0000] \"GET /%s HTTP/1.1\" 200 %d\n", key, second/60%60, second%60, key, second%7)
	}
	var shuffled strings.Builder
	for i := range 900 {
		shuffled.WriteString(stamp(i*7919%3000, fmt.Sprint("192.0.2.", i%5)))
	}
	for _, row := range []struct {
		why, text string
		options   accesslog.Options
		want      int
	}{
		{"empty", "", accesslog.Options{}, 0},
		{"nothing but damage", "x\n\x00\n\n", accesslog.Options{}, 0},
		{"damage between", stamp(1, "a") + "nonsense\n" + stamp(1, "a") + "\x00\x00\n" + stamp(2, "a"), accesslog.Options{}, 3},
		{"out of order", shuffled.String(), accesslog.Options{}, 900},
		{"out of order, bytes as the cost", shuffled.String(), accesslog.Options{Cost: "bytes"}, 900},
		{"spread", shuffled.String(), accesslog.Options{Spread: true}, 900},
		{"an absurd first time, and one later", "1970-01-01T00:00:00Z,a\n" + strings.Repeat("2015-05-17T10:05:03Z,a\n", 9) + "2016-01-01T00:00:00Z,a\n" +
			strings.Repeat("2015-05-17T10:05:04Z,a\n", 9), accesslog.Options{}, 19},
		{"costs beyond any burst", "0,a,18446744073709551615\n0,a,0\n0,a,1\n", accesslog.Options{}, 3},
	} {
		log, err := requestsOf(t, strings.NewReader(row.text), row.options)
		require.NoError(t, err, row.why)
		require.Len(t, log, row.want, row.why)
		for _, limit := range []string{"1/s", "3/10s burst 2 & 5/m", "997/h burst 20 & 20/h burst 1"} {
			for _, trial := range run(t, limit, nil, log).Trials {
				assert.Equal(t, counts(t, trial, log), trial.Counts, "%s: %s under %s", row.why, trial.Name, limit)
			}
		}
	}
}

// TestTraceAgreesWithOracle reads a real log, which WEIR_TRACE names.
func TestTraceAgreesWithOracle(t *testing.T) {
	name := os.Getenv("WEIR_TRACE")
	if name == "" {
		return // the other tests make their logs; with a real one this is one more
	}
	file, err := os.Open(name)
	require.NoError(t, err)
	defer file.Close()
	log, err := requestsOf(t, file, accesslog.Options{})
	require.NoError(t, err)
	require.NotEmpty(t, log)
	for _, limit := range []string{"5/m burst 10 & 20/h", "1/s burst 3 & 40/d"} {
		for _, trial := range run(t, limit, nil, log).Trials {
			assert.Equal(t, counts(t, trial, log), trial.Counts, "%s under %s", trial.Name, limit)
		}
	}
}

// lines makes a log while it is read: n lines of so many clients, who take turns, each client's requests two a second.
type lines struct {
	n, clients, at int
	rest           []byte
}

func (l *lines) Read(b []byte) (int, error) {
	if len(l.rest) == 0 {
		if l.at == l.n {
			return 0, io.EOF
		}
		l.rest = l.rest[:0]
		for range min(1000, l.n-l.at) {
			second := l.at / l.clients / 2
			l.rest = fmt.Appendf(l.rest, "%d,client-%d,1\n", second, l.at%l.clients)
			l.at++
		}
	}
	n := copy(b, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// TestTenMillionLines: at 1 a second and a burst of 5, two a second: a bucket lets 2 through in each of the first four seconds,
// and then one each; a sliding log one each. What is held does not grow with the log.
func TestTenMillionLines(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads ten million lines")
	}
	const n, clients = 10_000_000, 1000
	const seconds = n / clients / 2
	r, err := replay.New(limit(t, "1/s burst 5"), []string{"gcra", "slidinglog"})
	require.NoError(t, err)
	log, err := accesslog.New(&lines{n: n, clients: clients}, accesslog.Options{Format: "csv"})
	require.NoError(t, err)
	held := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	var early uint64
	for record, err := log.Next(); err == nil; record, err = log.Next() {
		r.Add(record.At, record.Key, record.Cost)
		if r.Total == n/100 {
			early = held()
		}
	}
	late := held()
	assert.Equal(t, uint64(n), r.Total)
	assert.Equal(t, uint64(clients*(8+seconds-4)), r.Trials[0].Counts[policy.Allow])
	assert.Equal(t, uint64(clients*(n/clients-8-(seconds-4))), r.Trials[0].Counts[policy.Deny])
	assert.Equal(t, uint64(clients*seconds), r.Trials[1].Counts[policy.Allow])
	assert.Less(t, late, early+1<<20, "what is held after all lines, and after a hundredth of them")
	assert.Equal(t, time.Duration(seconds-1)*time.Second, r.Last)
}

// BenchmarkLog is the way of a line of a log to its decision under GCRA.
func BenchmarkLog(b *testing.B) {
	var text strings.Builder
	const n = 100_000
	for i := range n {
		fmt.Fprintf(&text, "192.0.%d.%d - - [17/May/2015:10:%02d:%02d +0000] \"GET /articles/%d HTTP/1.1\" 200 %d\n", i%40, i*31%251, i/6000, i/100%60, i%997, i)
	}
	for b.Loop() {
		r, err := replay.New(limit(b, "100/s burst 20"), []string{"gcra"})
		require.NoError(b, err)
		log, err := accesslog.New(strings.NewReader(text.String()), accesslog.Options{})
		require.NoError(b, err)
		for record, err := log.Next(); err == nil; record, err = log.Next() {
			r.Add(record.At, record.Key, record.Cost)
		}
		require.Equal(b, uint64(n), r.Total)
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "lines/s")
}
