package replay_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/cmd/weir/internal/replay"
	"weir/internal/oracle"
	"weir/policy"
)

type request struct {
	at   time.Duration
	key  string
	cost uint64
}

func limit(t testing.TB, text string) weir.Limit {
	t.Helper()
	l, err := weir.ParseLimit(text)
	require.NoError(t, err)
	return l
}

func run(t testing.TB, text string, names []string, log []request) *replay.Run {
	t.Helper()
	r, err := replay.New(limit(t, text), names)
	require.NoError(t, err)
	for _, q := range log {
		r.Add(q.at, []byte(q.key), q.cost)
	}
	return r
}

// drawn is a log of requests, in order or not.
func drawn(seed uint64, n int, ordered bool) []request {
	r := rand.New(rand.NewPCG(seed, 1))
	log := make([]request, 0, n)
	at := time.Duration(0)
	for range n {
		step := time.Duration(r.Int64N(int64(400 * time.Millisecond)))
		if !ordered && r.IntN(3) == 0 {
			step = -step * time.Duration(1+r.IntN(5))
		}
		if r.IntN(200) == 0 {
			step *= 1000
		}
		at += step
		cost := uint64(1)
		if r.IntN(8) == 0 {
			cost = r.Uint64N(13)
		}
		log = append(log, request{at, fmt.Sprint("k", r.IntN(7)), cost})
	}
	return log
}

// counts is what the oracle makes of a log, decided as the trial counts it.
func counts(t testing.TB, trial *replay.Trial, log []request) (want [policy.Unavailable + 1]uint64) {
	t.Helper()
	m, err := oracle.New(trial.Name, trial.Limit, false, 0)
	require.NoError(t, err)
	ids := map[string]uint64{}
	for _, q := range log {
		id, known := ids[q.key]
		if !known {
			id = uint64(len(ids))
			ids[q.key] = id
		}
		now := uint64(max(0, q.at+replay.Origin)) / uint64(trial.Tick)
		want[m.Take(now, id, q.cost, q.cost).Outcome]++
	}
	return want
}

// TestAgreesWithOracle: the counts by outcome are the oracle's on every log, also where the clock steps back, by more than a
// day too, and where idle keys come again.
func TestAgreesWithOracle(t *testing.T) {
	for _, text := range []string{"1/s", "3/s burst 1", "5/10s burst 10 & 20/m burst 9", "7/3s & 7/3s burst 2", "997/h burst 20 & 1/s burst 12"} {
		for seed := range uint64(6) {
			log := drawn(seed, 600, seed%2 == 0)
			r := run(t, text, nil, log)
			for _, trial := range r.Trials {
				assert.Equal(t, counts(t, trial, log), trial.Counts, "%s, %s, seed %d", trial.Name, text, seed)
			}
		}
	}
}

// TestPastHorizon: what is beyond the horizon is counted as such and decided by nobody.
func TestPastHorizon(t *testing.T) {
	log := []request{{0, "a", 1}, {139 * 365 * 24 * time.Hour, "a", 1}, {time.Second, "a", 1}}
	r := run(t, "3/s", []string{"gcra", "slidinglog"}, log)
	for _, trial := range r.Trials {
		assert.Equal(t, counts(t, trial, log), trial.Counts, trial.Name)
	}
	assert.Equal(t, uint64(1), r.Trials[0].Counts[policy.PastHorizon])
}

// TestBusiestWindow by hand: at 2 a second, burst 4, six at once and then one every 100 ms: gcra lets 4 through at once, the
// next when half a second has passed, so 5 in the window that ends at 500 ms, and one a half second later. A sliding log lets
// 2 through at once and 2 a second later.
func TestBusiestWindow(t *testing.T) {
	log := []request{{0, "b", 1}}
	for range 6 {
		log = append(log, request{0, "a", 1})
	}
	for i := range 12 {
		log = append(log, request{time.Duration(i+1) * 100 * time.Millisecond, "a", 1})
	}
	r := run(t, "2/s burst 4", []string{"gcra", "slidinglog", "leakybucket"}, log)
	most, id := r.Trials[0].Most()
	assert.Equal(t, uint64(5), most)
	assert.Equal(t, "a", r.Names[id])
	assert.Equal(t, uint64(6), r.Trials[0].Bound())
	most, _ = r.Trials[1].Most()
	assert.Equal(t, uint64(2), most)
	assert.Equal(t, uint64(2), r.Trials[1].Bound())
	assert.Equal(t, uint64(1.5e9), r.Trials[2].Longest, "the fourth at once waits until three have leaked")
	assert.Equal(t, []int{1}, r.Trials[0].Worst(5))
	assert.Equal(t, uint64(12), r.Trials[0].Denied[1], "2 at once and 10 of the 12")
	assert.Equal(t, uint64(1), r.Trials[0].KeysDenied())
	assert.Equal(t, uint64(2), r.Trials[0].Keys())
	assert.Equal(t, []uint64{1, 18}, r.Requests)
}

// TestWindowNeverAboveBound, on drawn logs whose clock does not step back, and a sliding log's never above its permits.
func TestWindowNeverAboveBound(t *testing.T) {
	for seed := range uint64(20) {
		r := run(t, "5/2s burst 9 & 8/7s burst 10", nil, drawn(seed, 500, true))
		for _, trial := range r.Trials {
			most, _ := trial.Most()
			assert.LessOrEqual(t, most, trial.Bound(), "%s, seed %d", trial.Name, seed)
			assert.Positive(t, most)
		}
	}
	r := run(t, "5/2s burst 9 & 8/7s burst 10", []string{"dualbucket"}, nil)
	assert.Equal(t, uint64(12), r.Trials[0].Bound(), "10 + 8/7s * 2 s, which is less than 9 + 5")
}

// TestRedraw: the bins hold the run's own counts, levels never stand above the burst and are exact where they can be told.
func TestRedraw(t *testing.T) {
	log := []request{{-time.Second, "late", 1}}
	for i := range 97 {
		at := time.Duration(i) * time.Second
		log = append(log, request{at, "a", 1}, request{at, "a", 1}, request{at, "b", 1})
	}
	r := run(t, "1/s burst 5", nil, log)
	series, err := r.Redraw(1, func(add func(time.Duration, []byte, uint64)) error {
		for _, q := range append(log, request{0, "grown since", 1}) {
			add(q.at, []byte(q.key), q.cost)
		}
		return nil
	})
	require.NoError(t, err)
	require.Len(t, series, len(r.Trials))
	for i, s := range series {
		trial := r.Trials[i]
		assert.Equal(t, trial.Counts[policy.Allow], sum(s.Allowed), trial.Name)
		assert.Equal(t, trial.Counts[policy.Deny]+trial.Counts[policy.TooCostly], sum(s.Refused), trial.Name)
		most, _ := trial.Most()
		assert.Equal(t, most, highest(s.Most), trial.Name)
		assert.Equal(t, []int{1}, s.Keys, "a alone was refused")
		assert.LessOrEqual(t, highest(s.Levels[0]), trial.Burst())
		assert.Equal(t, -time.Second, s.Start)
	}
	// A bin is a little longer than a second, and the first ends just after 0. Two a second go into a bucket of 5 that leaks
	// one: it holds 2, then one more each second, and 5 from the fourth on.
	assert.Equal(t, []uint64{2, 3, 4, 5, 5, 5}, series[0].Levels[0][:6])
}

func sum(all []uint64) (n uint64) {
	for _, one := range all {
		n += one
	}
	return n
}

func highest(all []uint64) (n uint64) {
	for _, one := range all {
		n = max(n, one)
	}
	return n
}

// TestLongKeysStayApart, and are not held whole.
func TestLongKeysStayApart(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	r := run(t, "1/s", []string{"gcra"}, []request{{0, long + "a", 1}, {0, long + "b", 1}, {0, long + "a", 1}})
	assert.Equal(t, []uint64{2, 1}, r.Requests)
	assert.Less(t, len(r.Names[0]), 400)
}

func TestNewRefuses(t *testing.T) {
	for _, row := range []struct {
		limit string
		names []string
		want  string
	}{
		{"1/s", []string{"gcra", "gcra"}, `policy is "gcra" twice, must name each once`},
		{"1/s", []string{"gcr"}, `unknown_policy: "gcr"; known are gcra, tokenbucket, leakybucket, slidinglog, dualbucket`},
		{"1/s", []string{"dualbucket"}, "dualbucket: invalid_second: "},
	} {
		_, err := replay.New(limit(t, row.limit), row.names)
		assert.ErrorContains(t, err, row.want)
	}
}

// TestTakesDoNotAllocate: memory grows with the keys, not with their requests.
func TestTakesDoNotAllocate(t *testing.T) {
	for _, name := range []string{"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"} {
		r := run(t, "1/s burst 5 & 5/m", []string{name}, nil)
		key := []byte("k")
		at := time.Duration(0)
		add := func() {
			r.Add(at, key, 1)
			at += 100 * time.Millisecond
		}
		for range 1000 {
			add()
		}
		assert.Less(t, testing.AllocsPerRun(1000, add), 1.0, name)
	}
}

func BenchmarkAdd(b *testing.B) {
	for _, name := range weir.Names() {
		b.Run(name, func(b *testing.B) {
			r := run(b, "100/s burst 20 & 5000/h", []string{name}, nil)
			keys := make([][]byte, 10_000)
			for i := range keys {
				keys[i] = fmt.Appendf(nil, "192.0.2.%d", i)
			}
			i := 0
			for b.Loop() {
				r.Add(time.Duration(i)*50*time.Microsecond, keys[i*7919%len(keys)], 1)
				i++
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
