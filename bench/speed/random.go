package speed

import (
	"context"
	"fmt"
	"io"

	"weir/policy"
)

const (
	// randomSlice is how many decisions a slice over a million keys makes: a quarter of a pass.
	randomSlice = million / 4
	// slowSlice is the same for rows of rivals.
	slowSlice = million / 8

	lineFloor   = "floor: load, compare-and-swap on a random line of 32 MiB"
	fencedFloor = "floor: the same, a fence after each"
	randomRow   = "gcra"
	batchRow    = "gcra, in batches of 64"
	fencedRow   = "gcra, a fence after each"
)

// random measures a million keys in the order of their hashes, so that each decision misses the caches.
func (b *bench) random(ctx context.Context) (section, error) {
	rows, err := randomRows(numbers(million), b.log)
	if err != nil {
		return section{}, err
	}
	s, err := rounds(ctx, rows, randomSlice, b.rounds)
	if err != nil {
		return section{}, err
	}
	sec := timed("A million random keys, one goroutine", "2^20 live keys, none idle, visited in random order; now is passed in and "+
		"moves 10 ticks a decision. The fence is "+fenceName+".", lineFloor, s, names(rows))
	times := func(row, floor string) float64 { return median(s.ratios(row, floor)) }
	sec.targets = []target{
		atMost("gcra, a million random keys, over a load and compare-and-swap on a random line", times(randomRow, lineFloor), 2, " x"),
		atMost("gcra, one cold decision, over the same floor, a fence after each", times(fencedRow, fencedFloor), 1.1, " x"),
		atMost("gcra, in batches of 64, over the floor whose misses overlap", times(batchRow, lineFloor), 1, " x"),
	}
	return sec, nil
}

func randomRows(keys []uint64, log io.Writer) ([]row, error) {
	table := lines(len(keys))
	one, err := held("gcra", keys)
	if err != nil {
		return nil, err
	}
	rows := []row{
		here(lineFloor, randomSwap(table, keys)),
		here(fencedFloor, fencedSwap(table, keys)),
		here(callFloor, leastTakes(newLeast(len(keys)), keys)),
		here(randomRow, takes(one, keys)),
		here(fencedRow, fencedTakes(one, keys)),
	}
	if batched, ok := one.(policy.Batcher); ok {
		rows = append(rows, here(batchRow, batchTakes(batched, keys)))
	} else {
		fmt.Fprintln(log, "speed: left out: gcra takes no batches")
	}
	for _, name := range []string{"tokenbucket", "leakybucket", "dualbucket"} {
		p, err := held(name, keys)
		if err != nil {
			return nil, err
		}
		rows = append(rows, here(name, takes(p, keys)))
	}
	return rows, nil
}
