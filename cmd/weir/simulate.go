package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"weir"
	"weir/cmd/weir/internal/accesslog"
	"weir/policy"
)

// simulation is one log put through some policies at once.
type simulation struct {
	limit    weir.Limit
	runs     []*trial
	keys     map[string]int // a number for each key, as the policies know it
	names    []string       // and back
	requests []uint64       // by key
	notes    []string
	worst    int
	early    uint64 // requests from before the origin
}

// simulate shows what each policy would have done to a log.
func simulate(a app, args []string) (int, error) {
	f := flags("simulate")
	var limit weir.Limit
	policies := f.String("policy", "", "only these policies: `names` with commas between; all that fit the limit unless said")
	f.TextVar(&limit, "limit", weir.Limit{}, "required: the `limit`: 100/s burst 20, or two for dualbucket: 100/s burst 20 & 5000/h")
	path := f.String("log", "", "required: the log: a `file`, gzip or not, or - for standard input")
	var o accesslog.Options
	f.StringVar(&o.Format, "format", "auto", "the `format`: common, combined, csv or auto")
	f.StringVar(&o.Key, "key", "", "the `field` that is limited: client, user, path ... or a CSV's column")
	f.StringVar(&o.Cost, "cost", "", "the `cost` of a request: 1, bytes or a CSV's column")
	worst := f.Int("worst", 5, "how many of the worst denied keys to show a policy")
	if err := parse(a, f, args); err != nil {
		return usage, err
	}
	switch {
	case limit == weir.Limit{}:
		return usage, fmt.Errorf("limit is missing: say --limit \"100/s burst 20\"")
	case *path == "":
		return usage, fmt.Errorf("log is missing: say --log FILE, or --log - for standard input")
	case *worst < 0:
		return usage, fmt.Errorf("worst is %d, must be at least 0", *worst)
	}
	s, err := newSimulation(limit, *policies, *worst)
	if err != nil {
		return usage, err
	}
	log, size, err := open(a, *path)
	if err != nil {
		return usage, err
	}
	defer log.Close()
	return s.replay(a, log, size, o)
}

// open gives the log and its size, 0 where that is not known.
func open(a app, path string) (io.ReadCloser, int64, error) {
	if path == "-" {
		return io.NopCloser(a.in), 0, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, fmt.Errorf("log: %w", err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("log: %s is a folder, must be a file", path)
	}
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

func newSimulation(limit weir.Limit, policies string, worst int) (*simulation, error) {
	s := &simulation{limit: limit, keys: map[string]int{}, worst: worst}
	chosen, err := s.choose(policies)
	if err != nil {
		return nil, err
	}
	for _, name := range chosen {
		t, err := newTrial(name, s.fit(name))
		if err != nil {
			return nil, err
		}
		s.runs = append(s.runs, t)
	}
	return s, nil
}

// choose gives the policies that were named, or all that fit the limit.
func (s *simulation) choose(policies string) ([]string, error) {
	if policies != "" {
		all, err := names("policy", policies)
		for i := 1; i < len(all); i++ {
			if slices.Contains(all[:i], all[i]) {
				return nil, fmt.Errorf("policy is %q, must name each once", policies)
			}
		}
		return all, err
	}
	fitting := weir.Names()
	if s.limit.Permits2 == 0 {
		fitting = slices.DeleteFunc(fitting, func(name string) bool { return name == "dualbucket" })
	}
	return fitting, nil
}

// fit is the part of the limit that a policy can have; what it cannot is noted.
func (s *simulation) fit(name string) weir.Limit {
	l := s.limit
	if name != "dualbucket" && l.Permits2 != 0 {
		l.Permits2, l.Period2, l.Burst2 = 0, 0, 0
		s.note(name + " has one limit: the first")
	}
	if name == "slidinglog" && l.Burst != 0 && l.Burst != l.Permits {
		s.note(fmt.Sprintf("slidinglog has no burst of its own: burst %d is dropped", l.Burst))
		l.Burst = 0
	}
	return l
}

func (s *simulation) note(text string) { s.notes = append(s.notes, text) }

// replay reads the log to its end, or to where it breaks off, and writes what came of it.
func (s *simulation) replay(a app, log io.Reader, size int64, o accesslog.Options) (int, error) {
	r, err := accesslog.New(log, o)
	if err != nil {
		return usage, err
	}
	show := newProgress(a.err, size)
	var last time.Duration
	for {
		record, err := r.Next()
		if err != nil {
			show.end()
			return s.finish(a, r.Stats(), last, err)
		}
		last = max(last, record.At)
		s.request(record)
		if show.due() {
			show.line(r.Stats().Lines, r.Consumed())
		}
	}
}

// finish writes the tables of what was read. err is io.EOF if that was all.
func (s *simulation) finish(a app, stats accesslog.Stats, span time.Duration, err error) (int, error) {
	if err == io.EOF {
		err = nil
	}
	if stats.Read > 0 {
		if err := s.write(a.out, stats, span); err != nil {
			return usage, err
		}
	} else if err == nil {
		err = noRequests(stats)
	}
	if err != nil {
		return usage, err
	}
	return good, nil
}

// noRequests is the error of a log in which nothing could be read.
func noRequests(stats accesslog.Stats) error {
	if len(stats.Samples) > 0 {
		return fmt.Errorf("log: none of %d lines is a request; %s", stats.Lines, stats.Samples[0])
	}
	return fmt.Errorf("log: has no requests")
}

// request puts one through every policy.
func (s *simulation) request(record accesslog.Record) {
	id, known := s.keys[string(record.Key)]
	if !known {
		id = len(s.names)
		name := string(record.Key)
		s.keys[name] = id
		s.names = append(s.names, name)
		s.requests = append(s.requests, 0)
	}
	s.requests[id]++
	at := uint64(max(0, record.At+origin))
	if record.At < -origin {
		s.early++
	}
	for _, t := range s.runs {
		t.request(at, id, record.Cost)
	}
}

// origin is how much earlier than the first line of a log its clock begins, for lines that are out of order.
const origin = 24 * time.Hour

// trial is one policy under simulation.
type trial struct {
	name    string
	limit   policy.Limit
	tick    time.Duration
	policy  policy.Policy
	counts  [policy.Unavailable + 1]uint64
	denied  []uint64 // by key
	windows []window // by key
}

func newTrial(name string, l weir.Limit) (*trial, error) {
	if _, err := weir.Describe(name); err != nil {
		return nil, err
	}
	limit, tick, err := l.Counted(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := weir.Registry()
	p, err := r.New(name, limit, policy.Options{})
	if err != nil {
		return nil, err
	}
	return &trial{name: name, limit: limit, tick: tick, policy: p}, nil
}

// request decides one request, at nanoseconds of the log's clock.
func (t *trial) request(at uint64, id int, cost uint64) {
	d := t.policy.Take(at/uint64(t.tick), uint64(id), cost)
	t.counts[d.Outcome()]++
	for id >= len(t.denied) {
		t.denied = append(t.denied, 0)
		t.windows = append(t.windows, window{})
	}
	switch d.Outcome() {
	case policy.Allow:
		t.windows[id].add(at, cost, t.limit.Period*uint64(t.tick))
	case policy.Deny, policy.TooCostly:
		t.denied[id]++
	}
}

// window is what one key was let through within a period, and the most that it ever was.
type window struct {
	spent     []spending // within the period that ends at the newest
	sum, most uint64
}

type spending struct{ at, cost uint64 }

// add counts an admission. A clock that steps back stands still here, as it does for the sliding log.
func (w *window) add(now, cost, period uint64) {
	if cost == 0 {
		return
	}
	last := len(w.spent) - 1
	if last >= 0 && now <= w.spent[last].at {
		w.spent[last].cost += cost
		w.sum += cost
		w.most = max(w.most, w.sum)
		return
	}
	for len(w.spent) > 0 && w.spent[0].at+period <= now {
		w.sum -= w.spent[0].cost
		w.spent = w.spent[1:]
	}
	w.spent = append(w.spent, spending{now, cost})
	w.sum += cost
	w.most = max(w.most, w.sum)
}
