package weir

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"weir/policy"
)

// year is how far off a horizon must be for a tick to be taken.
const year = 365 * 24 * time.Hour

// tickSizes are the ticks that a limiter may count in, the finest first.
var tickSizes = []time.Duration{1, 10, 100,
	time.Microsecond, 10 * time.Microsecond, 100 * time.Microsecond, time.Millisecond}

// Counted is l as the policy of that name counts it, and how long a tick is: what New makes the policy with, for those who
// use package policy or the C library with a clock of their own. The tick is the finest of 1, 10, 100 ns, 1, 10, 100 us
// and 1 ms that divides the period and puts the horizon a year away or more. The error is as New's.
func (l Limit) Counted(name string) (limit policy.Limit, tick time.Duration, err error) {
	c, _, err := count(name, l)
	return c.limit, c.tick, err
}

// counted is a limit in the finest ticks that divide its periods and put the horizon a year away or more.
type counted struct {
	limit policy.Limit
	tick  time.Duration
}

// count finds those ticks for a policy, and refuses a limit that has none. dropped says that a sliding log was given a
// burst, which it has not.
func count(name string, l Limit) (c counted, dropped bool, err error) {
	if err := positive("period", l.Period); err != nil {
		return c, false, err
	}
	if l.Permits2 != 0 || l.Period2 != 0 || l.Burst2 != 0 {
		if err := positive("period2", l.Period2); err != nil {
			return c, false, err
		}
	}
	if name == slidingLog {
		dropped = l.Burst != 0 && l.Burst != l.Permits
		l.Burst = l.Permits
	}
	for _, tick := range tickSizes {
		if l.Period%tick != 0 || l.Period2%tick != 0 {
			break // a coarser tick is a multiple of this one and does not divide either
		}
		c = counted{l.filled().in(tick), tick}
		var near bool
		if near, err = c.check(name); !near {
			return c, dropped, err
		}
	}
	return counted{}, false, err
}

func positive(field string, period time.Duration) error {
	if period < 0 {
		return fmt.Errorf("%w: %s is %v, must be at least 1ns", ErrInvalidPeriod, field, period)
	}
	return nil
}

// in is l counted in ticks that divide its periods.
func (l Limit) in(tick time.Duration) policy.Limit {
	return policy.Limit{
		Permits: l.Permits, Period: uint64(l.Period / tick), Burst: l.Burst,
		Permits2: l.Permits2, Period2: uint64(l.Period2 / tick), Burst2: l.Burst2,
	}
}

// check refuses a limit that cannot be had in these ticks. near says that a coarser tick may do: the numbers are too
// large for this one, or the horizon is within a year.
func (c counted) check(name string) (near bool, err error) {
	if name == slidingLog {
		return false, c.limit.Window()
	}
	var first, second policy.Scale
	dual := name == dualBucket || c.limit.HasSecond() && !slices.Contains(Names(), name)
	if dual {
		first, second, err = c.limit.Scales()
	} else {
		first, err = c.limit.Scale()
	}
	switch {
	case err != nil:
		return errors.Is(err, ErrLimitTooLarge), err
	case first.Horizon < uint64(year/c.tick):
		return true, tooFast("permits", c.limit.Permits, first.Tick, c.tick)
	case dual && second.Horizon < uint64(year/c.tick):
		return true, tooFast("permits2", c.limit.Permits2, second.Tick, c.tick)
	case first.Tick > first.Tolerance:
		return false, refillsTooMuch("burst", first)
	case dual && second.Tick > second.Tolerance:
		return false, refillsTooMuch("burst2", second)
	}
	return false, nil
}

// tooFast is the error of a limit whose horizon is within a year. units is what one tick is: the permits, divided by what
// they have in common with the period.
func tooFast(field string, permits, units uint64, tick time.Duration) error {
	most := (uint64(1)<<62 - 1) / uint64(year/tick)
	return &policy.LimitError{Code: ErrLimitTooLarge.Error(), Field: field, Value: permits, Need: "at most",
		Bound: permits / units * most}
}

// refillsTooMuch is the error of a limit of which one tick gives back more than the burst holds, for part of that would
// be lost each time.
func refillsTooMuch(field string, s policy.Scale) error {
	least := s.Tick / s.Permit
	if s.Tick%s.Permit != 0 {
		least++
	}
	return &policy.LimitError{Code: ErrInvalidBurst.Error(), Field: field, Value: s.Burst, Need: "at least", Bound: least}
}

// instant is a moment on a limiter's clock, in the ticks of an era.
type instant struct {
	ticks uint64
	into  time.Duration // since that tick began
}

// since counts the ticks from base to now. A clock that has stepped back before base stands at base.
func since(base, now, tick time.Duration) instant {
	if now < base {
		return instant{}
	}
	elapsed := uint64(now) - uint64(base) // right even where the difference of the two does not fit a Duration
	if tick == 1 {
		return instant{ticks: elapsed}
	}
	return instant{elapsed / uint64(tick), time.Duration(elapsed % uint64(tick))}
}
