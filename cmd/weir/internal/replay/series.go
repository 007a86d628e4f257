package replay

import (
	"time"

	"weir/policy"
)

// Series is what became of a log over time under one policy, in bins of equal length, and how the keys that are followed
// stood.
type Series struct {
	// Start is the beginning of the first bin, since the first line of the log, and Width the length of each.
	Start, Width time.Duration
	// Allowed and Refused are requests by bin; Refused is those denied or too costly.
	Allowed, Refused []uint64
	// Most is the largest cost that any key was let through within a period that ends in the bin.
	Most []uint64
	// Keys are the keys that are followed, by number, and Levels how many permits each has spent and not got back: the
	// most in each bin.
	Keys   []int
	Levels [][]uint64

	filled []int // the bin up to which each level is known
}

// Bins is how many bins a series has.
const Bins = 96

// Redraw puts what a run has read through the same policies again, to gather what pictures are drawn from: it follows, under
// each policy, the keys that were refused most, at most keys of them. read is handed a way to add each request, and has to
// give those that the run was given, in the same order; more than those are left out.
func (r *Run) Redraw(keys int, read func(add func(at time.Duration, key []byte, cost uint64)) error) ([]*Series, error) {
	names := make([]string, len(r.Trials))
	for i, t := range r.Trials {
		names[i] = t.Name
	}
	again, err := New(r.Limit, names)
	if err != nil {
		return nil, err
	}
	var all []*Series
	for i, t := range again.Trials {
		t.series = r.newSeries(r.Trials[i].Worst(keys))
		all = append(all, t.series)
	}
	err = read(func(at time.Duration, key []byte, cost uint64) {
		if again.Total < r.Total {
			again.Add(at, key, cost)
		}
	})
	for _, t := range again.Trials {
		t.series.end(t)
	}
	return all, err
}

func (r *Run) newSeries(keys []int) *Series {
	s := &Series{
		Start: r.First, Width: (r.Last-r.First)/Bins + 1, Keys: keys,
		Allowed: make([]uint64, Bins), Refused: make([]uint64, Bins), Most: make([]uint64, Bins),
	}
	for range keys {
		s.Levels = append(s.Levels, make([]uint64, Bins))
		s.filled = append(s.filled, 0)
	}
	return s
}

func (s *Series) bin(at uint64) int {
	return int(min(Bins-1, (at-min(at, clock(s.Start)))/uint64(s.Width)))
}

// before brings the level of a key that is followed up to the bin of its next request.
func (s *Series) before(t *Trial, at uint64, id int) {
	for i, key := range s.Keys {
		if key == id {
			s.fill(t, i, s.bin(at))
		}
	}
}

// fill sets the level of the bins from the last known one to the one before bin: as the key stands when each begins.
func (s *Series) fill(t *Trial, i, bin int) {
	for ; s.filled[i] < bin; s.filled[i]++ {
		next := s.filled[i] + 1
		begins := clock(s.Start + time.Duration(next)*s.Width)
		s.Levels[i][next] = t.level(begins, s.Keys[i])
	}
}

// after counts a request and what it has raised the level to.
func (s *Series) after(t *Trial, at uint64, id int, d policy.Decision) {
	bin := s.bin(at)
	switch d.Outcome() {
	case policy.Allow:
		s.Allowed[bin]++
		s.Most[bin] = max(s.Most[bin], t.windows[id].sum)
	case policy.Deny, policy.TooCostly:
		s.Refused[bin]++
	}
	for i, key := range s.Keys {
		if key == id && d.Outcome() != policy.PastHorizon {
			spent := t.Burst() - min(t.Burst(), d.Remaining())
			s.Levels[i][bin] = max(s.Levels[i][bin], spent)
		}
	}
}

func (s *Series) end(t *Trial) {
	for i := range s.Keys {
		s.fill(t, i, Bins-1)
	}
}
