package main

import (
	"fmt"

	"weir"
	"weir/cmd/weir/internal/accesslog"
	"weir/cmd/weir/internal/replay"
)

// simulation is what simulate was asked for.
type simulation struct {
	logs      logs
	worst     int
	svg, html string
	run       *replay.Run
	stats     accesslog.Stats
}

// simulate shows what each policy would have done to a log.
func simulate(a app, args []string) (int, error) {
	f := flags("simulate")
	var s simulation
	var limit weir.Limit
	policies := f.String("policy", "", "only these policies: `names` with commas between; all that fit the limit unless said")
	f.TextVar(&limit, "limit", weir.Limit{}, "required: the `limit`: 100/s burst 20, or two for dualbucket: 100/s burst 20 & 5000/h")
	s.logs.flags(f)
	f.IntVar(&s.worst, "worst", 5, "how many of the worst denied keys to show a policy")
	f.StringVar(&s.svg, "svg", "", "draw pictures into this `file`, as one SVG")
	f.StringVar(&s.html, "html", "", "write a page with the tables and the pictures into this `file`, which needs nothing else")
	if err := parse(a, f, args, logWords); err != nil {
		return usage, err
	}
	if err := s.check(limit, *policies, f.Args()); err != nil {
		return usage, err
	}
	defer a.tidy()()
	return s.replay(a)
}

// check looks at what was asked for before anything is read.
func (s *simulation) check(limit weir.Limit, policies string, words []string) (err error) {
	if limit == (weir.Limit{}) {
		return fmt.Errorf("limit is missing: say --limit \"100/s burst 20\"")
	}
	if err := s.logs.add(words); err != nil {
		return err
	}
	if err := checkWorst(s.worst); err != nil {
		return err
	}
	s.run, err = newRun(limit, policies)
	return err
}

// mostWorst is how many of the worst keys can be shown: each list of them is searched for every key.
const mostWorst = 1000

func checkWorst(n int) error {
	switch {
	case n < 0:
		return fmt.Errorf("worst is %d, must be at least 0", n)
	case n > mostWorst:
		return fmt.Errorf("worst is %d, must be at most %d", n, mostWorst)
	}
	return nil
}

func newRun(limit weir.Limit, policies string) (*replay.Run, error) {
	var chosen []string
	if policies != "" {
		var err error
		if chosen, err = names("policy", policies); err != nil {
			return nil, err
		}
	}
	return replay.New(limit, chosen)
}

// replay reads the log to its end, or to where it breaks off, and writes what came of it.
func (s *simulation) replay(a app) (int, error) {
	if s.pictures() {
		done, err := s.logs.keep(a)
		if err != nil {
			return usage, err
		}
		defer done()
	}
	var err error
	s.stats, err = s.logs.read(a, "simulate", func(r accesslog.Record) { s.run.Add(r.At, r.Key, r.Cost) })
	if s.run.Total == 0 {
		if err == nil {
			err = noRequests(s.stats)
		}
		return usage, err
	}
	if err := s.write(a.out); err != nil {
		return usage, err
	}
	if drawing := s.draw(a); drawing != nil {
		return usage, drawing
	}
	if err != nil {
		return usage, err
	}
	return good, nil
}

func (s *simulation) pictures() bool { return s.svg != "" || s.html != "" }
