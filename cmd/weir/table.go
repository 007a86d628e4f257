package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"weir"
	"weir/cmd/weir/internal/accesslog"
	"weir/policy"
	"weir/vectors"
)

// write shows what came of a log: what it was, a row a policy, and the keys that were denied most.
func (s *simulation) write(to io.Writer, stats accesslog.Stats, span time.Duration) error {
	fmt.Fprintf(to, "limit %s; %s requests of %s keys in %v; %s log\n", s.limit, grouped(stats.Read),
		grouped(uint64(len(s.names))), span.Round(time.Millisecond), stats.Format)
	s.writeOddities(to, stats)
	fmt.Fprintln(to)
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	window := "most in any " + periodOf(s.limit)
	fmt.Fprintf(w, "policy\trequests\tallowed\tdenied\ttoo costly\tkeys\tkeys denied\t%s\t\n", window)
	for _, t := range s.runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", t.name, grouped(stats.Read), grouped(t.counts[policy.Allow]),
			grouped(t.counts[policy.Deny]), grouped(t.counts[policy.TooCostly]), grouped(uint64(t.policy.Keys())),
			grouped(t.keysDenied()), grouped(t.most()))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return s.writeWorst(to)
}

// periodOf is the period as the limit's text has it, with a number before a lone unit.
func periodOf(l weir.Limit) string {
	_, period, _ := strings.Cut(weir.Per(1, l.Period).String(), "/")
	if period[0] < '0' || period[0] > '9' {
		return "1" + period
	}
	return period
}

// writeOddities shows what a reader of the table has to know.
func (s *simulation) writeOddities(to io.Writer, stats accesslog.Stats) {
	if stats.StepsBack > 0 {
		fmt.Fprintf(to, "the log's clock steps back %s times, by %v at most\n", grouped(stats.StepsBack), stats.LargestStepBack)
	}
	if stats.Unreadable > 0 {
		fmt.Fprintf(to, "%s of %s lines could not be read:\n", grouped(stats.Unreadable), grouped(stats.Lines))
		for _, c := range stats.Samples {
			fmt.Fprintf(to, "  %s\n", c)
		}
	}
	if s.early > 0 {
		fmt.Fprintf(to, "%s requests are more than %v earlier than the first line and were taken to come %v before it: is the log "+
			"in order, oldest first?\n", grouped(s.early), origin, origin)
	}
	for _, note := range s.notes {
		fmt.Fprintln(to, note)
	}
	for _, t := range s.runs {
		if n := t.counts[policy.PastHorizon]; n > 0 {
			fmt.Fprintf(to, "%s: %s requests came past the horizon of %d ticks of %v and were not decided\n",
				t.name, grouped(n), t.policy.Horizon(), t.tick)
		}
	}
}

func (t *trial) keysDenied() uint64 {
	n := uint64(0)
	for _, denied := range t.denied {
		if denied > 0 {
			n++
		}
	}
	return n
}

// most is the largest cost that any key was let through within a period.
func (t *trial) most() uint64 {
	most := uint64(0)
	for _, w := range t.windows {
		most = max(most, w.most)
	}
	return most
}

// writeWorst shows the keys that were refused most often, those of equal count in the order in which they came.
func (s *simulation) writeWorst(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "\npolicy\tworst key\trefused\tof\t\n")
	any := false
	for _, t := range s.runs {
		for _, id := range t.worst(s.worst) {
			any = true
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\n", t.name, shown(s.names[id]), grouped(t.denied[id]), grouped(s.requests[id]))
		}
	}
	if !any {
		return nil
	}
	return w.Flush()
}

func (t *trial) worst(n int) []int {
	var ids []int
	for id, denied := range t.denied {
		if denied > 0 {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(t.denied[b], t.denied[a]) })
	return ids[:min(n, len(ids))]
}

// shown is a key that a stranger chose, safe to print and not too long.
func shown(key string) string {
	const most = 60
	if runes := []rune(key); len(runes) > most {
		key = string(runes[:most]) + "..."
	}
	return vectors.Clean(key)
}

// grouped writes a number with commas between thousands.
func grouped(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
