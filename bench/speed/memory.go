package speed

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"weir/policy"
)

const (
	fewest, most = 300_000, 3_000_000
	logKeys      = 1000
	logPermits   = 1000
)

// memory measures bytes a key over counts of live keys, and bytes an entry of sliding logs.
func (b *bench) memory(ctx context.Context) (section, error) {
	sec := section{title: "Memory", head: []string{"", "bytes a key, mean", "worst", "least"},
		note: fmt.Sprintf("The heap after a collection, less what it was before the table was made, over the live keys, at %d counts from "+
			"300,000 to 3,000,000, each the same factor above the one before, as one table grows through them. A sliding log's "+
			"key holds one entry here. The last line is bytes an entry: 1,000 keys whose logs of 1,000 entries are full and have "+
			"slid three times over.", b.counts)}
	bounds := map[string][2]float64{"gcra": {24, 32}, "tokenbucket": {36, 48}, "leakybucket": {36, 48}, "dualbucket": {36, 48}}
	for _, name := range []string{"gcra", "tokenbucket", "leakybucket", "dualbucket", "slidinglog"} {
		bytes, err := perKey(name, spaced(fewest, most, b.counts))
		if err != nil {
			return section{}, err
		}
		mean, worst := mean(bytes), slices.Max(bytes)
		sec.lines = append(sec.lines, []string{name, number(mean), number(worst), number(slices.Min(bytes))})
		if bound, ok := bounds[name]; ok {
			sec.targets = append(sec.targets,
				atMost(name+", bytes a key, mean over 300,000 to 3,000,000 keys", mean, bound[0], ""),
				atMost(name+", bytes a key, worst of them", worst, bound[1], ""))
		}
		if err := ctx.Err(); err != nil {
			return section{}, err
		}
	}
	entry, err := perEntry()
	sec.lines = append(sec.lines, []string{"slidinglog, an entry, full and sliding", number(entry), "", ""})
	sec.targets = append(sec.targets, atMost("sliding log, bytes an entry in the steady state", entry, 20, ""))
	return sec, err
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// perKey grows a table through the counts, in ascending order.
func perKey(name string, counts []int) ([]float64, error) {
	limit := steady
	if name == "slidinglog" {
		limit = policy.Limit{Permits: 100, Period: 1 << 60}
	}
	before := live()
	p, err := made(name, limit)
	if err != nil {
		return nil, err
	}
	bytes, i := make([]float64, len(counts)), 0
	for at, count := range counts {
		for ; i < count; i++ {
			if !p.Take(0, mix(uint64(i)), 1).OK() {
				return nil, fmt.Errorf("%s: a new key was refused", name)
			}
		}
		bytes[at] = (float64(live()) - float64(before)) / float64(count)
	}
	if p.Keys() != i {
		return nil, fmt.Errorf("%s: %d keys live of %d", name, p.Keys(), i)
	}
	return bytes, nil
}

// perEntry fills logs and lets them slide three times over.
func perEntry() (float64, error) {
	before := live()
	p, err := made("slidinglog", policy.Limit{Permits: logPermits, Period: logPermits})
	if err != nil {
		return 0, err
	}
	for now := range uint64(4 * logPermits) {
		for k := range uint64(logKeys) {
			if !p.Take(now, mix(k), 1).OK() {
				return 0, fmt.Errorf("slidinglog: refused at %d", now)
			}
		}
	}
	bytes := (float64(live()) - float64(before)) / (logKeys * logPermits)
	runtime.KeepAlive(p)
	return bytes, nil
}
