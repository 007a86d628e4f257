package chart

import (
	"math"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/plot"
)

const mostTicks = 6

// wholes are ticks at whole numbers: steps of 1, 2 or 5 times a power of ten.
func wholes(low, high float64) []plot.Tick {
	step := uint64(1)
	for i := 0; high/float64(step) > mostTicks && i < 60; i++ {
		step = []uint64{step * 2, step / 2 * 5, step * 2}[i%3] // 1, 2, 5, 10
	}
	var ticks []plot.Tick
	for v := uint64(0); float64(v) <= high; v += step {
		ticks = append(ticks, plot.Tick{Value: float64(v), Label: Grouped(v)})
		if v > math.MaxUint64-step {
			break
		}
	}
	return ticks
}

// Grouped writes a number with commas between thousands.
func Grouped(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// spans are the distances that ticks of time may have.
var spans = []time.Duration{time.Nanosecond, 10 * time.Nanosecond, 100 * time.Nanosecond, time.Microsecond, 10 * time.Microsecond,
	100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute,
	15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 48 * time.Hour,
	7 * 24 * time.Hour, 30 * 24 * time.Hour, 90 * 24 * time.Hour, 365 * 24 * time.Hour, 10 * 365 * 24 * time.Hour, 100 * 365 * 24 * time.Hour}

// ticks are those of an axis that counts bins: round times since the first line of the log.
func (b Bins) ticks(low, high float64) []plot.Tick {
	all := time.Duration(b.Count) * b.Width
	span := spans[0]
	for _, span = range spans {
		if all/span < mostTicks {
			break
		}
	}
	var ticks []plot.Tick
	first := b.Start / span * span
	if first < b.Start {
		first += span
	}
	for at := first; at-b.Start <= all; at += span {
		ticks = append(ticks, plot.Tick{Value: float64(at-b.Start)/float64(b.Width) - 0.5, Label: Span(at)})
	}
	return ticks
}

// Span writes a time as people do: 1h30m, and 2d of 48 hours.
func Span(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 0 {
		return "-" + Span(-d)
	}
	text := ""
	if d >= day {
		text = strconv.FormatInt(int64(d/day), 10) + "d"
		if d %= day; d == 0 {
			return text
		}
	}
	short := d.String()
	if strings.HasSuffix(short, "m0s") {
		short = strings.TrimSuffix(short, "0s")
	}
	if strings.HasSuffix(short, "h0m") {
		short = strings.TrimSuffix(short, "0m")
	}
	return text + short
}
