// Package replay puts the requests of a log through policies and keeps the score, for the commands of weir that say what
// a limit would have done. Memory grows with the keys: a word or two of state, the counts, and what the key was let
// through within the last period, of which a limit bounds the entries.
package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"weir"
)

const (
	slidingLog = "slidinglog" // the one policy that has no burst of its own
	dualBucket = "dualbucket" // the one that must have a second limit
)

// Origin is how much earlier than the first line of a log its clock begins, for lines that are out of order.
const Origin = 24 * time.Hour

// Run is one log put through some policies at once.
type Run struct {
	// Limit is what was asked for.
	Limit weir.Limit
	// Trials are the policies, in the order in which they were named.
	Trials []*Trial
	// Names are the keys, by number, and Requests how many each made.
	Names    []string
	Requests []uint64
	// Notes are what a reader of the results has to know about the limit.
	Notes []string
	// Total is the requests of all keys; Early is those from before Origin.
	Total, Early uint64
	// First and Last are the earliest and the latest request, since the first of the log.
	First, Last time.Duration

	ids map[string]int
}

// New makes a run of the named policies, or, with none, of all that fit the limit. Each may be named once. The error is
// one line.
func New(limit weir.Limit, names []string) (*Run, error) {
	r := &Run{Limit: limit, ids: map[string]int{}}
	if len(names) == 0 {
		names = fitting(limit)
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, fmt.Errorf("policy is %q twice, must name each once", name)
		}
		l := r.fit(name)
		t, err := newTrial(name, l)
		if err != nil {
			return nil, err
		}
		r.Trials = append(r.Trials, t)
	}
	r.notes(names)
	return r, nil
}

func fitting(limit weir.Limit) []string {
	names := weir.Names()
	if limit.Permits2 == 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return name == dualBucket })
	}
	return names
}

// unknown is the error of a name that is not one of the five.
func unknown(name string) error {
	_, err := weir.Describe(name)
	return err
}

// fit is the part of the limit that a policy can have.
func (r *Run) fit(name string) weir.Limit {
	l := r.Limit
	if name != dualBucket {
		l.Permits2, l.Period2, l.Burst2 = 0, 0, 0
	}
	if name == slidingLog {
		l.Burst = 0
	}
	return l
}

// notes say what of the limit some policies cannot have.
func (r *Run) notes(names []string) {
	if r.Limit.Permits2 != 0 {
		single := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == dualBucket })
		switch len(single) {
		case 0:
		case 1:
			r.Notes = append(r.Notes, single[0]+" has one limit: the first")
		default:
			r.Notes = append(r.Notes, strings.Join(single, ", ")+" have one limit: the first")
		}
	}
	if slices.Contains(names, slidingLog) && r.Limit.Burst != 0 && r.Limit.Burst != r.Limit.Permits {
		r.Notes = append(r.Notes, fmt.Sprintf("slidinglog has no burst of its own: burst %d is dropped", r.Limit.Burst))
	}
}

// Add puts one request through every policy: at a moment since the first line of the log.
func (r *Run) Add(at time.Duration, key []byte, cost uint64) {
	id := r.id(key)
	r.Requests[id]++
	if r.Total == 0 {
		r.First, r.Last = at, at
	}
	r.Total++
	r.First, r.Last = min(r.First, at), max(r.Last, at)
	if at < -Origin {
		r.Early++
	}
	now := clock(at)
	for _, t := range r.Trials {
		t.add(now, id, cost)
	}
}

// clock is a moment of the log in nanoseconds since Origin before its first line; what is earlier is taken to be then.
func clock(at time.Duration) uint64 { return uint64(max(0, at+Origin)) }

// longestKey is how much of a key is held: strangers write keys, and one may be as long as a line.
const longestKey = 256

// id is the number of a key, a new one if it was never seen.
func (r *Run) id(key []byte) int {
	id, known := r.known(key)
	if !known {
		id = len(r.Names)
		name := string(short(key))
		r.ids[name] = id
		r.Names = append(r.Names, name)
		r.Requests = append(r.Requests, 0)
	}
	return id
}

func (r *Run) known(key []byte) (id int, known bool) {
	id, known = r.ids[string(short(key))]
	return id, known
}

// short is a key, or the beginning and the SHA-256 of a long one.
func short(key []byte) []byte {
	if len(key) <= longestKey {
		return key
	}
	sum := sha256.Sum256(key)
	return hex.AppendEncode(append([]byte{}, key[:longestKey]...), sum[:])
}
