package redislimit

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Store runs scripts on a Redis or Valkey server, or on the node of a Cluster that holds the keys of a call. The modules
// redislimit/goredis and redislimit/rueidis make one of a client. It is safe for concurrent use.
//
// A Store never sends a call a second time if the server may have run it: a charge that was made twice is a permit lost.
// It follows a MOVED or ASK, which say that nothing was run.
type Store interface {
	// Run runs the calls in as few round trips as it can, those with the same hash tag in their order, and gives a reply to
	// each. It comes back when ctx ends.
	Run(ctx context.Context, calls []Call) []Reply
}

// Call is one script to run.
type Call struct {
	// Digest is the SHA1 of the script in hex: what EVALSHA takes.
	Digest string
	// Source is the script itself if it has to be sent, by EVAL; else it is empty.
	Source string
	// Keys and Args are the script's KEYS and ARGV. All keys of a call have one hash tag.
	Keys, Args []string
}

// Reply is what became of a call.
type Reply struct {
	// Values is the array that the script returned: an int64 for a number, a string for a string.
	Values []any
	// Err is why there is no array. The text of an error that the server gave begins with its word, such as NOSCRIPT.
	Err error
}

// errReply says that a server answered what no script of ours does.
var errReply = errors.New("redislimit: not a reply of this script")

// run runs calls, and those that a node did not know the script of once more with the script: a NOSCRIPT says that
// nothing was run.
func run(ctx context.Context, s Store, calls []Call) []Reply {
	replies := ran(ctx, s, calls)
	var again []Call
	var places []int
	for i, r := range replies {
		if r.Err != nil && strings.HasPrefix(r.Err.Error(), "NOSCRIPT") {
			c := calls[i]
			c.Source = sources[c.Digest]
			again, places = append(again, c), append(places, i)
		}
	}
	if len(again) == 0 {
		return replies
	}
	for i, r := range ran(ctx, s, again) {
		replies[places[i]] = r
	}
	return replies
}

// ran runs calls on a store, whose word on how many replies there are is not taken.
func ran(ctx context.Context, s Store, calls []Call) []Reply {
	replies := s.Run(ctx, calls)
	if len(replies) == len(calls) {
		return replies
	}
	err := fmt.Errorf("redislimit: the store gave %d replies, must be %d", len(replies), len(calls))
	replies = make([]Reply, len(calls))
	for i := range replies {
		replies[i].Err = err
	}
	return replies
}

// runOne is run for a single call.
func runOne(ctx context.Context, s Store, c Call) Reply { return run(ctx, s, []Call{c})[0] }

// answer is the reply of a deciding script: whether the cost was spent, now, and the numbers of each limit; or the text of
// a key, the place of which is counted from 1, that is counted in another limit.
type answer struct {
	spent   bool
	now     uint64
	numbers []any
	foreign int
	text    string
	gone    bool // there is no text, but there may be what the key held before it went
}

func (r Reply) answer() (a answer, err error) {
	if r.Err != nil {
		return a, r.Err
	}
	if len(r.Values) < 2 {
		return a, errReply
	}
	status, ok := r.Values[0].(int64)
	now, err := whole(r.Values[1])
	if !ok || err != nil {
		return a, errReply
	}
	a.spent, a.now, a.numbers = status == 1, now, r.Values[2:]
	if status >= 0 {
		return a, nil
	}
	if len(a.numbers) != 2 {
		return a, errReply
	}
	place, ok := a.numbers[0].(int64)
	if !ok {
		return a, errReply
	}
	a.foreign, a.gone = int(place), status == -2
	if a.text, ok = a.numbers[1].(string); !ok || place < 1 {
		return a, errReply
	}
	return a, nil
}

// whole is a number that a script may return: from 0 to 2^53.
func whole(v any) (uint64, error) {
	n, ok := v.(int64)
	if !ok || n < 0 || n > exact {
		return 0, errReply
	}
	return uint64(n), nil
}
