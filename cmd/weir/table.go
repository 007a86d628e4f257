package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"weir"
	"weir/cmd/weir/internal/accesslog"
	"weir/cmd/weir/internal/chart"
	"weir/cmd/weir/internal/replay"
	"weir/policy"
	"weir/vectors"
)

// write shows what came of a log: what it was, a row a policy, and the keys that were denied most.
func (s *simulation) write(to io.Writer) error {
	fmt.Fprintln(to, s.about())
	for _, line := range s.oddities() {
		fmt.Fprintln(to, line)
	}
	fmt.Fprintln(to)
	if err := writeGrid(to, s.table()); err != nil {
		return err
	}
	rows := s.worstRows()
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(to)
	return writeGrid(to, append([][]string{{"policy", "worst key", "refused", "of"}}, rows...))
}

// writeGrid writes rows of cells, right-aligned.
func writeGrid(to io.Writer, rows [][]string) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintf(w, "%s\t\n", strings.Join(row, "\t"))
	}
	return w.Flush()
}

// about is one line that says what was read.
func (s *simulation) about() string {
	return fmt.Sprintf("limit %s; %s requests of %s keys in %v; %s log", s.run.Limit, grouped(s.stats.Read),
		grouped(uint64(len(s.run.Names))), s.run.Last.Round(time.Millisecond), shown(s.stats.Format))
}

// table is a heading and a row a policy.
func (s *simulation) table() [][]string {
	rows := [][]string{{"policy", "requests", "allowed", "denied", "too costly", "keys", "keys denied", "most in any " + periodOf(s.run.Limit),
		"at most", "longest hold"}}
	for _, t := range s.run.Trials {
		most, _ := t.Most()
		rows = append(rows, []string{t.Name, grouped(s.run.Total), grouped(t.Counts[policy.Allow]), grouped(t.Counts[policy.Deny]),
			grouped(t.Counts[policy.TooCostly]), grouped(t.Keys()), grouped(t.KeysDenied()), grouped(most), grouped(t.Bound()), hold(t)})
	}
	return rows
}

// hold is how long a leaky bucket would have a request wait to make the output smooth; no other policy holds any.
func hold(t *replay.Trial) string {
	if t.Longest == 0 {
		return "0"
	}
	return (time.Duration(t.Longest) * t.Tick).Round(time.Microsecond).String()
}

// periodOf is the period as the limit's text has it, with a number before a lone unit.
func periodOf(l weir.Limit) string {
	_, period, _ := strings.Cut(weir.Per(1, l.Period).String(), "/")
	if period[0] < '0' || period[0] > '9' {
		return "1" + period
	}
	return period
}

// oddities are lines that a reader of the table has to know.
func (s *simulation) oddities() []string {
	lines := logOddities(s.stats)
	if s.run.Early > 0 {
		lines = append(lines, fmt.Sprintf("%s requests are more than %v earlier than the first line and were taken to come %v before it: "+
			"is the log in order, oldest first?", grouped(s.run.Early), replay.Origin, replay.Origin))
	}
	lines = append(lines, s.run.Notes...)
	for _, t := range s.run.Trials {
		if n := t.Counts[policy.PastHorizon]; n > 0 {
			lines = append(lines, fmt.Sprintf("%s: %s requests came past the horizon of %d ticks of %v and were not decided",
				t.Name, grouped(n), t.Horizon, t.Tick))
		}
	}
	return lines
}

// logOddities are those of the log itself.
func logOddities(stats accesslog.Stats) (lines []string) {
	if stats.StepsBack > 0 {
		lines = append(lines, fmt.Sprintf("the log's clock steps back %s times, by %v at most", grouped(stats.StepsBack), stats.LargestStepBack))
	}
	if stats.Trailing > 0 {
		lines = append(lines, fmt.Sprintf("%s files go on after the end of their gzip stream; that was not read", grouped(stats.Trailing)))
	}
	if stats.Unreadable > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s lines could not be read:", grouped(stats.Unreadable), grouped(stats.Lines)))
		for _, c := range stats.Samples {
			lines = append(lines, "  "+c.String())
		}
	}
	return lines
}

// worstRows are the keys that were refused most often, under each policy.
func (s *simulation) worstRows() (rows [][]string) {
	for _, t := range s.run.Trials {
		for _, id := range t.Worst(s.worst) {
			rows = append(rows, []string{t.Name, shown(s.run.Names[id]), grouped(t.Denied[id]), grouped(s.run.Requests[id])})
		}
	}
	return rows
}

// shown is a key that a stranger chose, safe to print and not too long.
func shown(key string) string {
	const most = 60
	key = accesslog.ShowKey(key)
	if runes := []rune(key); len(runes) > most {
		key = string(runes[:most]) + "..."
	}
	return vectors.Clean(key)
}

// grouped writes a number with commas between thousands.
func grouped(n uint64) string { return chart.Grouped(n) }
