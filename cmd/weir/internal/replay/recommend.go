package replay

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"weir"
	"weir/policy"
)

// Reader gives every request of a log to add, in its order, each time that it is called.
type Reader func(add func(at time.Duration, key []byte, cost uint64)) error

// Share is a part of all clients, exactly: Of/10^Digits percent.
type Share struct {
	of     *big.Int
	digits int
}

// ParseShare reads a percentage above 0 and up to 100, with perhaps some digits after a point.
func ParseShare(text string) (Share, error) {
	before, after, _ := strings.Cut(text, ".")
	s := Share{new(big.Int), len(after)}
	bad := fmt.Errorf("percentile is %q, must be above 0 and at most 100, with at most 9 digits after the point", text)
	for _, r := range before + after {
		if r < '0' || r > '9' {
			return s, bad
		}
	}
	if _, ok := s.of.SetString(before+after, 10); !ok || before == "" || len(before) > 3 || len(after) > 9 || s.of.Sign() == 0 || s.of.Cmp(s.scaled(100)) > 0 {
		return s, bad
	}
	return s, nil
}

// scaled is n at the scale of of.
func (s Share) scaled(n int64) *big.Int {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s.digits)), nil)
	return ten.Mul(ten, big.NewInt(n))
}

// least is how many of n clients the share is, rounded up.
func (s Share) least(n int) int {
	all := new(big.Int).Mul(s.of, big.NewInt(int64(n)))
	hundred := s.scaled(100)
	all.Add(all, hundred).Sub(all, big.NewInt(1))
	return int(all.Div(all, hundred).Int64())
}

// Recommendation is, for one policy, the least permits a period and then the least burst under which enough clients pass
// untouched.
type Recommendation struct {
	// Limit has them. The permits are the least with a burst as large; the burst is the least with those permits.
	Limit weir.Limit
	// Trial is what the policy makes of the log under Limit.
	Trial *Trial
}

// search is the state of one Recommend.
type search struct {
	read Reader
	run  *Run     // the keys, and what they ask for; it has no trials
	need []uint64 // by key: the most that it asked for in any period
	want int      // how many clients must pass untouched
}

// Recommend finds limits over some periods, for each policy, that let a share of the clients of a log pass untouched. The second
// period, if it is above 0, is that of a dual bucket's second limit; without it there is none for that policy. What it finds is
// tried on the log itself before it is given. It reads the log some ten times over.
//
// A request that a log stamps earlier than one before it of the same key is taken to come when that one did: a limiter's own
// clock does not step back, and on one that does a greater limit may let less through, so that there would be no least.
func Recommend(read Reader, period, period2 time.Duration, share Share) (*Run, []Recommendation, error) {
	s := &search{read: read, run: &Run{ids: map[string]int{}}}
	if err := s.measure(period); err != nil {
		return nil, nil, err
	}
	if s.run.Total == 0 {
		return s.run, nil, nil
	}
	s.want = share.least(len(s.run.Names))
	logged := weir.Per(max(1, kth(s.need, s.want)), period)
	bucket, untouched, err := s.bucket(period, everybody)
	if err != nil {
		return nil, nil, err
	}
	found := map[string]weir.Limit{"gcra": bucket, "tokenbucket": bucket, "leakybucket": bucket, slidingLog: logged}
	if period2 > 0 {
		if err := s.measure(period2); err != nil {
			return nil, nil, err
		}
		second, _, err := s.bucket(period2, func(id int) bool { return id < len(untouched) && untouched[id] })
		if err != nil {
			return nil, nil, err
		}
		found[dualBucket] = bucket.And(second)
	}
	return s.try(found)
}

func everybody(int) bool { return true }

// kth is the k-th smallest of some numbers, counted from 1; the numbers are left as they are.
func kth(all []uint64, k int) uint64 {
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	return sorted[k-1]
}

// measure learns the keys, and the most that each asks for in any period: a sliding log of as many permits lets it pass.
func (s *search) measure(period time.Duration) error {
	fresh := &Run{ids: map[string]int{}}
	var windows []window
	err := s.read(func(at time.Duration, key []byte, cost uint64) {
		fresh.Add(at, key, cost)
		id := fresh.id(key) // the window stands still where the clock steps back
		if id == len(windows) {
			windows = append(windows, window{})
		}
		windows[id].add(clock(at), cost, uint64(period))
	})
	s.run, s.need = fresh, make([]uint64, len(windows))
	for id, w := range windows {
		s.need[id] = w.most
	}
	return err
}

// fan is how many permits are tried in one reading of the log.
const fan = 8

// bucket finds the least permits with a burst as large, and then the least burst, that let enough of some clients pass, and
// who they are.
func (s *search) bucket(period time.Duration, counts func(id int) bool) (weir.Limit, []bool, error) {
	// A bucket of N permits a period, and as large, lets pass whoever never asks for more than N in any period.
	low, high := uint64(1), max(1, kth(s.need, len(s.need)))
	for low < high {
		candidates := between(low, high)
		ok, err := s.tryAll(candidates, period, counts)
		if err != nil {
			return weir.Limit{}, nil, err
		}
		for i, c := range candidates {
			if ok[i] {
				high = c
				break
			}
			low = c + 1
		}
	}
	return s.burst(weir.Per(high, period), counts)
}

// between are some numbers from low on that part what is below high evenly.
func between(low, high uint64) []uint64 {
	n := min(fan, high-low)
	var all []uint64
	for i := range n {
		all = append(all, low+(high-low)/n*i)
	}
	return all
}

// tryAll says for some permits, each with a burst as large, whether enough clients pass.
func (s *search) tryAll(permits []uint64, period time.Duration, counts func(int) bool) ([]bool, error) {
	var trials []*attempt
	for _, p := range permits {
		t, err := newAttempt(weir.Per(p, period), len(s.need))
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	err := s.each(func(at uint64, id int, cost uint64) {
		for _, t := range trials {
			t.take(at, id, cost)
		}
	})
	ok := make([]bool, len(trials))
	for i, t := range trials {
		n := 0
		for id, touched := range t.touched {
			if !touched && counts(id) {
				n++
			}
		}
		ok[i] = n >= s.want
	}
	return ok, err
}

// each gives every request of those that were measured, the clock of each key standing still where it would step back.
func (s *search) each(add func(at uint64, id int, cost uint64)) error {
	left := s.run.Total
	newest := make([]uint64, len(s.need))
	return s.read(func(at time.Duration, key []byte, cost uint64) {
		if left == 0 {
			return // the log has grown
		}
		left--
		id, known := s.run.known(key)
		if !known || id >= len(newest) {
			return // another log stands there now
		}
		newest[id] = max(newest[id], clock(at))
		add(newest[id], id, cost)
	})
}

// attempt is GCRA under one limit, until a client is denied.
type attempt struct {
	*Trial
	touched []bool
	levels  []uint64 // the most that each has spent and not got back
}

func newAttempt(l weir.Limit, keys int) (*attempt, error) {
	t, err := newTrial("gcra", l)
	if err != nil {
		return nil, err
	}
	return &attempt{t, make([]bool, keys), make([]uint64, keys)}, nil
}

func (t *attempt) take(at uint64, id int, cost uint64) {
	if t.touched[id] {
		return
	}
	switch d := t.Take(id, at/uint64(t.Tick), cost); d.Outcome() {
	case policy.Allow:
		t.levels[id] = max(t.levels[id], t.Limit.Burst-min(t.Limit.Burst, d.Remaining()))
	case policy.Deny, policy.TooCostly:
		t.touched[id] = true
	}
}

// burst finds the least burst with the permits of l: what the k-th of the clients that pass, by what they have spent at once,
// has spent. A level is rounded up to whole permits, as a burst must be.
func (s *search) burst(l weir.Limit, counts func(int) bool) (weir.Limit, []bool, error) {
	t, err := newAttempt(l, len(s.need))
	if err != nil {
		return l, nil, err
	}
	if err := s.each(t.take); err != nil {
		return l, nil, err
	}
	var levels []uint64
	for id, touched := range t.touched {
		if !touched && counts(id) {
			levels = append(levels, t.levels[id])
		}
	}
	l.Burst = max(1, kth(levels, s.want))
	for {
		_, _, err = l.Counted("gcra")
		var wrong *policy.LimitError
		if !errors.As(err, &wrong) || wrong.Field != "burst" || wrong.Bound <= l.Burst {
			break
		}
		l.Burst = wrong.Bound // a tick refills that much
	}
	return l, inverse(t.touched, t.levels, l.Burst), err
}

// inverse says who is untouched and has spent no more than a burst at once.
func inverse(touched []bool, levels []uint64, burst uint64) []bool {
	out := make([]bool, len(touched))
	for id := range touched {
		out[id] = !touched[id] && levels[id] <= burst
	}
	return out
}

// try puts the log through each policy under the limit that was found for it.
func (s *search) try(found map[string]weir.Limit) (*Run, []Recommendation, error) {
	var all []Recommendation
	for _, name := range weir.Names() {
		l, ok := found[name]
		if !ok {
			continue
		}
		t, err := newTrial(name, l)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, Recommendation{l, t})
	}
	err := s.each(func(at uint64, id int, cost uint64) {
		for _, one := range all {
			one.Trial.add(at, id, cost)
		}
	})
	return s.run, all, err
}
