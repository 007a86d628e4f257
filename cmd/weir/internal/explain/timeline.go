package explain

import (
	"fmt"
	"io"
	"math/bits"
	"strings"

	"weir/vectors"
)

const (
	wide  = 64 // columns of the line of time
	tall  = 20 // columns of a level
	drawn = 40 // requests that get a level each
)

// timeline draws the takes of a story on a line of time, and below it how full the key was after each.
func (t *teller) timeline(results []vectors.Want) error {
	first, last, takes := uint64(0), uint64(0), 0
	for _, s := range t.Steps {
		if s.Op != "take" {
			continue
		}
		now := uint64(*s.Now)
		if takes == 0 {
			first, last = now, now
		}
		first, last = min(first, now), max(last, now)
		takes++
	}
	if takes < 2 {
		return nil
	}
	marks := []byte(strings.Repeat(".", wide))
	for i, s := range t.Steps {
		if s.Op == "take" {
			at := column(uint64(*s.Now)-first, last-first)
			marks[at] = joined(marks[at], mark(results[i].Outcome))
		}
	}
	fmt.Fprintf(t.to, "\n%d %s %d   A allowed, x not, * both\n\n", first, marks, last)
	return t.levels(results)
}

// column is where a moment stands: part of all, the product in 128 bits.
func column(part, all uint64) int {
	if all == 0 {
		return 0
	}
	high, low := bits.Mul64(part, wide-1)
	quotient, _ := bits.Div64(high, low, all) // below wide, since part is at most all
	return int(quotient)
}

func mark(outcome string) byte {
	if outcome == "allow" {
		return 'A'
	}
	return 'x'
}

// joined is the mark of a column that has one already.
func joined(old, next byte) byte {
	if old == '.' || old == next {
		return next
	}
	return '*'
}

// levels tells the story a second time, as bars: the level right after each take.
func (t *teller) levels(results []vectors.Want) error {
	quiet := &teller{Story: t.Story, to: io.Discard, limits: limitsOf(t.Policy, t.Params.Limit())}
	shown := 0
	for i, s := range t.Steps {
		if err := quiet.step(i, s, results[i]); err != nil {
			return err
		}
		if s.Op != "take" {
			continue
		}
		if shown++; shown > drawn {
			fmt.Fprintf(t.to, "  and so on\n")
			return nil
		}
		fmt.Fprintf(t.to, "%20d %c", *s.Now, mark(results[i].Outcome))
		for _, l := range quiet.limits {
			n := int(l.level(uint64(*s.Key), uint64(*s.Now), tall))
			fmt.Fprintf(t.to, " [%s%s]", strings.Repeat("#", n), strings.Repeat(" ", tall-n))
		}
		if _, err := fmt.Fprintln(t.to); err != nil {
			return err
		}
	}
	return nil
}
