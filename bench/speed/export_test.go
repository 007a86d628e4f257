package speed

import (
	"bytes"
	"context"
	"io"
	"time"
)

// What the tests look at.
var (
	Mix      = mix
	Texts    = texts
	Zipf     = zipf
	Spaced   = spaced
	Median   = median
	Quantile = quantile
	Number   = number
	Grouped  = grouped
)

// Update puts a report into a page without measuring.
func Update(page, report string) error {
	b := newBench(Options{}, io.Discard)
	b.bars = []bar{{"a", 20}, {ownRow, 10}}
	b.curves = []curve{{"one", points{{1000, 1}, {10_000, 20}}}, {"none", nil}}
	return b.update(page, []byte(report))
}

// Verdicts judges got by at most and by at least bound.
func Verdicts(got, bound float64) (most, least string) {
	return atMost("", got, bound, "").verdict(), atLeast("", got, bound, "").verdict()
}

// Latency is a quantile of a histogram of these latencies, and the worst.
func Latency(q float64, all ...int64) (float64, int64) {
	h := new(histogram)
	for _, ns := range all {
		h.add(ns)
	}
	return h.quantile(q), h.worst
}

// Try measures a row that allows so many of n decisions, and must allow all or none.
func Try(n, allows int, denied bool) error {
	r := here("try", func(int) int { return allows })
	r.denied = denied
	_, err := r.measure(n)
	return err
}

// Rounds are how many samples each of two rows gets in count rounds, and the median of their ratios.
func Rounds(count int) (samples []int, ratio float64, err error) {
	rows := make([]row, 2)
	for i, name := range []string{"slow", "quick"} {
		rows[i] = row{name: name, slice: func(n int) (int, time.Duration, error) { return n, time.Duration(n * (2 - i)), nil }}
	}
	s, err := rounds(context.Background(), rows, 8, count)
	return []int{len(s["slow"]), len(s["quick"])}, median(s.ratios("slow", "quick")), err
}

// Slices runs a short slice of every row of this process, over few keys, and answers how many rows there were.
func Slices(ctx context.Context, n int) (int, error) {
	keys := numbers(1 << 10)
	hot, err := hotRows(ctx)
	if err != nil {
		return 0, err
	}
	cold, err := randomRows(keys, io.Discard)
	if err != nil {
		return 0, err
	}
	told, err := given(keys, texts(keys))
	if err != nil {
		return 0, err
	}
	two, err := scalings("", keys, zipf(keys))
	if err != nil {
		return 0, err
	}
	all := append(append(append(append(hot, cold...), told...), two...), directRivals()...)
	for _, r := range keyedRivals() {
		allow, done, err := r.open()
		if err != nil {
			return 0, err
		}
		defer done()
		all = append(all, here(r.name, each(texts(keys), allow)))
	}
	for _, r := range all {
		if _, err := r.measure(n); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// PerKey is bytes a key at these counts, as measured for the report.
func PerKey(name string, counts ...int) ([]float64, error) { return perKey(name, counts) }

// Page is an empty report with one section of each kind.
func Page() string {
	var out bytes.Buffer
	b := newBench(Options{}, io.Discard)
	b.report(&out, Options{Command: "go run . speed"}, []section{
		{title: "left out", note: "why"},
		timed("t", "n", "floor: f", samples{"floor: f": {2, 2}, "row": {4, 6}}, []string{"floor: f", "row", "absent"}),
	})
	return out.String()
}
