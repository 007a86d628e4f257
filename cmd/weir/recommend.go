package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"weir"
	"weir/cmd/weir/internal/accesslog"
	"weir/cmd/weir/internal/replay"
	"weir/policy"
)

// advice is what recommend was asked for.
type advice struct {
	logs    logs
	share   replay.Share
	percent string
	period  time.Duration
	period2 time.Duration
	worst   int
	stats   accesslog.Stats
}

// recommend finds, for each policy, the least limit that would have let a share of the clients of a log pass untouched.
func recommend(a app, args []string) (int, error) {
	f := flags("recommend")
	var r advice
	r.logs.flags(f)
	f.StringVar(&r.percent, "percentile", "99.9", "the `share` of the clients, in percent, that must pass untouched")
	period := f.String("period", "m", "the `period` of the limit: s, m, 10m, h ...")
	period2 := f.String("period2", "", "the `period` of a dual bucket's second limit; without it none is recommended")
	f.IntVar(&r.worst, "worst", 3, "how many of the worst denied keys to show a policy")
	if err := parse(a, f, args, logWords); err != nil {
		return usage, err
	}
	if err := r.check(*period, *period2, f.Args()); err != nil {
		return usage, err
	}
	defer a.tidy()()
	done, err := r.logs.keep(a)
	if err != nil {
		return usage, err
	}
	defer done()
	readings := 0
	run, found, err := replay.Recommend(func(add func(time.Duration, []byte, uint64)) (err error) {
		readings++
		r.stats, err = r.logs.read(a, fmt.Sprintf("recommend: reading %d", readings), func(q accesslog.Record) { add(q.At, q.Key, q.Cost) })
		return err
	}, r.period, r.period2, r.share)
	if err != nil {
		return usage, err
	}
	if run.Total == 0 {
		return usage, noRequests(r.stats)
	}
	return good, r.write(a.out, run, found)
}

func (r *advice) check(period, period2 string, words []string) (err error) {
	if err := r.logs.add(words); err != nil {
		return err
	}
	if r.share, err = replay.ParseShare(r.percent); err != nil {
		return err
	}
	if r.period, err = parsePeriod("period", period); err != nil {
		return err
	}
	if period2 != "" {
		if r.period2, err = parsePeriod("period2", period2); err != nil {
			return err
		}
	}
	return checkWorst(r.worst)
}

// parsePeriod reads a period as a limit's text has it.
func parsePeriod(flag, text string) (time.Duration, error) {
	l, err := weir.ParseLimit("1/" + text)
	if err != nil || l.Burst != 0 || l.Permits2 != 0 {
		return 0, fmt.Errorf("%s is %q, must be a period as in a limit: s, 10s, m, 1h30m, 7d", flag, text)
	}
	return l.Period, nil
}

func (r *advice) write(to io.Writer, run *replay.Run, found []replay.Recommendation) error {
	clients := uint64(len(run.Names))
	fmt.Fprintf(to, "%s requests of %s clients in %v; %s log; at least %s %% of the clients untouched\n", grouped(run.Total), grouped(clients),
		run.Last.Round(time.Millisecond), shown(r.stats.Format), r.percent)
	for _, line := range logOddities(r.stats) {
		fmt.Fprintln(to, line)
	}
	if r.stats.StepsBack > 0 {
		fmt.Fprintln(to, "a request stamped earlier than one before it of its key was taken to come when that one did, as on a limiter's own clock")
	}
	fmt.Fprintln(to)
	rows := [][]string{{"policy", "limit", "clients untouched", "of", "requests denied", "of"}}
	for _, one := range found {
		rows = append(rows, []string{one.Trial.Name, one.Limit.String(), grouped(clients - one.Trial.KeysDenied()), grouped(clients),
			grouped(refused(one.Trial)), grouped(run.Total)})
		if n := one.Trial.Counts[policy.PastHorizon]; n > 0 {
			fmt.Fprintf(to, "%s: %s requests came past the horizon and were not decided\n", one.Trial.Name, grouped(n))
		}
	}
	if err := writeGrid(to, rows); err != nil {
		return err
	}
	if err := r.writeWorst(to, run, found); err != nil {
		return err
	}
	return paste(to, found)
}

func (r *advice) writeWorst(to io.Writer, run *replay.Run, found []replay.Recommendation) error {
	rows := [][]string{{"policy", "denied key", "refused", "of"}}
	for _, one := range found {
		for _, id := range one.Trial.Worst(r.worst) {
			rows = append(rows, []string{one.Trial.Name, shown(run.Names[id]), grouped(one.Trial.Denied[id]), grouped(run.Requests[id])})
		}
	}
	if len(rows) == 1 {
		return nil
	}
	fmt.Fprintln(to)
	return writeGrid(to, rows)
}

// paste writes the limits as package config reads them; one of them is to be kept.
func paste(to io.Writer, found []replay.Recommendation) error {
	var b strings.Builder
	b.WriteString("\nto paste into a configuration, one of\n\nlimits:\n")
	for _, one := range found {
		fmt.Fprintf(&b, "  by-%s:\n    policy: %s\n    limit: %s\n", one.Trial.Name, one.Trial.Name, one.Limit)
	}
	_, err := io.WriteString(to, b.String())
	return err
}
