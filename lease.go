package weir

import (
	"errors"
	"fmt"
	"math"
	"time"

	"weir/internal/arith"
	"weir/policy"
)

// mostLeased is how many permits a lease may take at a time: by far enough to make the taking cost nothing.
const mostLeased = 1 << 16

// ErrNoLease refuses a lease on a policy whose permits cannot be spent later than they were taken: on a sliding log a permit
// counts for a whole period from when it was taken, and a dual bucket does not tell how each of its limits stands.
var ErrNoLease = errors.New("no lease")

// leaseMargin is how much longer a permit must be good for Close to give it back.
const leaseMargin = 10 * time.Millisecond

// Lease spends permits of one very hot key that it takes several at a time, so that most requests touch no memory that
// other processors write. It is for one goroutine at a time; each has its own. Local.Lease makes one, the zero Lease is of
// no use.
//
// Never does more pass than the limit: in any time w, counted by when permits are spent, at most burst + rate * w, whatever
// leases there are and whoever else takes from the key. Fewer may for a moment: others cannot have what leases hold, each at
// most n - 1, until it is given back by Close or lapses.
//
// For a permit lapses when the key would have it back. The permits of a bucket stand in a row on its schedule, each with a
// place as long as a permit takes to come back: one taken at t starts at t or, if the key owes something, where the row
// ends, and no place ends later than burst places after t. A lease spends a permit at a moment a with t <= a <= start, and
// that is the whole rule. All who spend at a, with a lease or without, thus have a place between a and a plus burst places,
// and no two have the same. Between moments a and b there is room for burst + rate * (b - a) places between a and b plus burst
// places: that is the limit. (Where nobody holds a permit back the rule is the algorithm itself: a request that comes
// before its theoretical arrival time moves the schedule by as much as one that comes at that time.)
//
// What is given back to the key, by a Refund or by another lease's Close, moves the end of the row to earlier: every lease
// takes its permits for as much earlier, those of other keys now and then too. Forget, SetLimit and the end of an era make
// it let go of all. The clock may step back: a permit is not spent before the moment it was taken at.
type Lease struct {
	limiter *Local
	key     uint64
	lot     uint64       // permits taken at a time
	given   *giving      // what is given back
	seen    uint64       // of given
	era     *era         // when the permits were taken
	taken   uint64       // the tick
	left    uint64       // permits that are held
	start   uint64       // where the next permit's place starts, in units, below 2^63
	scale   policy.Scale // the limit's units
}

// Lease is a lease of key's permits, n at a time: from 1 to the burst, and at most 65,536. It takes none yet. Take n so that n
// permits are a small part of the burst, or others are denied for what the lease holds. The error names n and its bound, or
// wraps ErrNoLease where the policy is a sliding log or has two limits.
func (l *Local) Lease(key string, n uint64) (*Lease, error) {
	limit := l.era.Load().policy.Limit()
	if l.name == slidingLog || limit.HasSecond() {
		return nil, fmt.Errorf("%w: of %s, whose permits cannot be spent later than they are taken", ErrNoLease, l.name)
	}
	if most := min(limit.Burst, mostLeased); n < 1 || n > most {
		return nil, fmt.Errorf("Lease: n is %d, must be from 1 to %d", n, most)
	}
	k := l.key(key)
	return &Lease{limiter: l, key: k, lot: n, given: l.given.of(k)}, nil
}

// Allow spends one permit if the limit lets it. Ask the limiter's Peek for how long to wait if not.
func (s *Lease) Allow() bool { return s.AllowAt(s.limiter.Now()) }

// AllowAt is Allow at now, a reading of the limiter's clock.
func (s *Lease) AllowAt(now time.Duration) bool {
	if s.hold(now) == 0 {
		return s.refill(now)
	}
	s.spend()
	return true
}

// Close gives back what the lease holds, as Refund does: never better than new. A permit that would lapse within 10 ms is
// left to lapse, so that a permit which others take while it is given back is never counted before the place that it gets;
// only where this goroutine is held up for longer than that in between, what lapses in that time may be given back too.
// A closed lease holds nothing and may be used again.
func (s *Lease) Close() {
	own := s.left
	if own == 0 {
		return
	}
	s.given.begin(own)
	defer s.given.end()
	s.seen += own // its own permits do not come before themselves
	if s.giveBack() {
		s.limiter.queue.wake(s.key)
	}
	s.left = 0
}

// giveBack refunds what is held. Whatever else makes a lease let go of its permits waits: it holds the limiter's lock too.
func (s *Lease) giveBack() bool {
	l := s.limiter
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Now()
	back := s.hold(now + min(leaseMargin, math.MaxInt64-max(now, 0)))
	if back > 0 { // then the era is in force, and now within its horizon
		s.era.refund(s.era.at(now).ticks, s.key, N(back))
	}
	return back > 0
}

// hold is how many permits the lease still has at now. It reads what was given back after the clock, and whoever gives
// something back notes it before the clock: so what is not seen here is given back at a later moment than now.
func (s *Lease) hold(now time.Duration) uint64 {
	if s.left == 0 {
		return 0
	}
	if given := s.given.permits.Load(); given != s.seen {
		s.earlier(given - s.seen)
		s.seen = given
	}
	at := s.era.at(now)
	if at.ticks < s.taken || at.ticks > s.era.horizon {
		s.left = 0
	}
	if units := at.ticks * s.scale.Tick; s.left > 0 && units > s.start {
		s.lapse(units)
	}
	return s.left
}

// earlier moves the permits' places forward by those of as many permits.
func (s *Lease) earlier(permits uint64) {
	by := arith.Mul(permits, s.scale.Permit)
	if permits >= mostLeased || by > s.start {
		s.left = 0
		return
	}
	s.start -= by
}

// lapse lets go of the permits whose places start before units.
func (s *Lease) lapse(units uint64) {
	late := units - s.start
	gone := late / s.scale.Permit
	if gone*s.scale.Permit < late {
		gone++
	}
	if gone >= s.left {
		s.left = 0
		return
	}
	s.left -= gone
	s.start += gone * s.scale.Permit
}

func (s *Lease) spend() {
	s.left--
	s.start += s.scale.Permit
}

// refill takes permits and spends one of them; where there are not so many, or something is being given back, it takes one
// alone.
func (s *Lease) refill(now time.Duration) bool {
	s.seen = s.given.permits.Load()
	if s.given.under.Load() != 0 {
		return s.limiter.answer(now, s.key, N(1)).OK()
	}
	e, at := s.limiter.at(now)
	if s.era != e {
		limit := e.policy.Limit()
		scale, err := limit.Scale()
		if err != nil {
			return s.limiter.answer(now, s.key, N(1)).OK()
		}
		s.era, s.scale = e, scale
	}
	d := e.take(at.ticks, s.key, N(s.lot))
	if !d.OK() || s.lot == 1 {
		return d.OK() || s.limiter.answer(now, s.key, N(1)).OK()
	}
	e.tidy(at.ticks)
	s.place(at.ticks, d)
	return true
}

// place notes where the permits that were taken at a tick stand, but for the first, which is spent. How much the key owes
// is known to a tick by when it is as new, and to a permit by what remains; what it owes at least is where its row ends. Since
// it owes the whole lot, that is beyond the beginning of the places.
func (s *Lease) place(at uint64, d policy.Decision) {
	byTick := (d.ResetAfter()-1)*s.scale.Tick + 1
	byPermit := arith.Sub(s.scale.Tolerance+1, (d.Remaining()+1)*s.scale.Permit)
	s.taken, s.left = at, s.lot-1
	s.start = at*s.scale.Tick + max(byTick, byPermit) - s.left*s.scale.Permit
}
