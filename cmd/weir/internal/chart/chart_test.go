package chart_test

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/cmd/weir/internal/chart"
)

// wellFormed reads a document to its end.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestExtremes: whatever the numbers, and however long or short the time, each picture is one that a reader of XML can read, with
// a title for every number.
func TestExtremes(t *testing.T) {
	for _, bins := range []chart.Bins{
		{Start: 0, Width: 1, Count: 1}, {Start: -time.Hour, Width: time.Minute, Count: 96}, {Start: 0, Width: math.MaxInt64 / 200, Count: 96},
		{Start: math.MaxInt64 / 2, Width: time.Nanosecond, Count: 96},
	} {
		for _, n := range []uint64{0, 1, 1000, 1 << 62, math.MaxUint64} {
			all := make([]uint64, bins.Count)
			for i := range all {
				all[i] = n
			}
			requests, err := chart.Requests("p", bins, all, all, n)
			require.NoError(t, err)
			levels, err := chart.Levels("p", bins, []string{"<a>", "", "\"c\" 'd' &"}, [][]uint64{all, all, all}, max(1, n))
			require.NoError(t, err)
			none, err := chart.Levels("p", bins, nil, nil, max(1, n))
			require.NoError(t, err)
			windows, err := chart.Windows("p", "1s", bins, all, n, n, n)
			require.NoError(t, err)
			rows := []chart.Row{{"<p>", n, 0, n, 1, n}, {"q", n, n, 0, 0, 0}}
			shares, err := chart.Shares(rows)
			require.NoError(t, err)
			busiest, err := chart.Busiest(rows, "1s")
			require.NoError(t, err)
			sheet := string(chart.Sheet("<title>", [][]chart.Drawing{{shares, busiest}, {requests, levels, windows}, {none}}))
			wellFormed(t, sheet)
			assert.NotContains(t, sheet, "NaN")
			assert.NotContains(t, sheet, "Inf")
			assert.Equal(t, 1+3*bins.Count+2*len(rows), strings.Count(sheet, "<title>"))
			assert.Contains(t, sheet, ": "+chart.Grouped(n)+" let through, "+chart.Grouped(n)+" refused</title>")
			assert.Less(t, len(sheet), 1<<20)
			wellFormed(t, requests.Element())
		}
	}
}

// TestSpan and Grouped write numbers as people do.
func TestSpan(t *testing.T) {
	for _, row := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0s"}, {time.Nanosecond, "1ns"}, {90 * time.Second, "1m30s"}, {time.Hour, "1h"}, {36 * time.Hour, "1d12h"}, {48 * time.Hour, "2d"},
		{-30 * time.Minute, "-30m"}, {10 * time.Minute, "10m"}, {100 * time.Hour, "4d4h"},
	} {
		assert.Equal(t, row.want, chart.Span(row.d))
	}
	assert.Equal(t, []string{"0", "999", "1,000", "18,446,744,073,709,551,615"},
		[]string{chart.Grouped(0), chart.Grouped(999), chart.Grouped(1000), chart.Grouped(math.MaxUint64)})
}
