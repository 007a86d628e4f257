package redislimit

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"weir"
	"weir/policy"
)

// Option changes how New makes a limiter.
type Option func(*Limiter) error

// DefaultTimeout is how long a call may take unless WithTimeout says otherwise.
const DefaultTimeout = 100 * time.Millisecond

// WithPrefix keeps the keys of this limiter apart from those of others on the same server: limiters share their keys if
// they have the same policy and prefix. Without one it is empty.
func WithPrefix(prefix string) Option {
	return func(l *Limiter) error {
		if len(prefix) > longest {
			return fmt.Errorf("WithPrefix: the prefix has %d bytes, must have at most %d", len(prefix), longest)
		}
		l.prefix = prefix
		return nil
	}
}

// WithTimeout bounds how long a call may take, the wait for a connection included; then the answer is that of the fail
// mode. A sooner deadline of a caller's ctx is kept too.
func WithTimeout(d time.Duration) Option {
	return func(l *Limiter) error {
		if d <= 0 {
			return fmt.Errorf("WithTimeout: the timeout is %v, must be above 0", d)
		}
		l.timeout = d
		return nil
	}
}

// WithClock takes the time from c, which must count from the same moment in every process, instead of from the server. A
// limit then counts until its units are 2^62 or its ticks 2^53 and answers past_horizon after that. No key is given an
// expiry: keys stay until they are forgotten. Take it for tests and for replaying logs.
func WithClock(c weir.Clock) Option {
	return func(l *Limiter) error {
		if c == nil {
			return errors.New("WithClock: the clock is nil")
		}
		l.clock = c
		return nil
	}
}

// WithLogger says to log when the server cannot be asked, and when it can again, instead of to slog's default logger.
func WithLogger(log *slog.Logger) Option {
	return func(l *Limiter) error {
		if log == nil {
			return errors.New("WithLogger: the logger is nil")
		}
		l.log = log
		return nil
	}
}

// FailOpen allows every request while the server cannot be asked. Unless it, or FailLocal, is given, each is answered
// Unavailable, and not allowed.
func FailOpen() Option {
	return func(l *Limiter) error {
		l.open = true
		return nil
	}
}

// FailLocal lets a limiter of this process decide while the server cannot be asked: one of share equal parts of the limit,
// so that as many processes together admit at most the limit. A burst or a log of fewer than share permits is one permit: of
// those the processes together can admit one each at once.
// What the server allows this process is charged to it all the while, so that it has no fresh burst to give when it is
// needed.
func FailLocal(share uint64) Option {
	return func(l *Limiter) error {
		if share == 0 {
			return errors.New("FailLocal: the share is 0, must be at least 1")
		}
		l.share = share
		return nil
	}
}

// WithDenialCache remembers the last denial of up to keys keys and answers a request from it, without asking the server, if
// the limit is the same, the cost at least as large and the retry time has not come. A refund or a change of limit that
// another process makes is seen only then.
func WithDenialCache(keys int) Option {
	return func(l *Limiter) error {
		if keys < 1 {
			return fmt.Errorf("WithDenialCache: keys is %d, must be at least 1", keys)
		}
		l.denials = newDenials(keys)
		return nil
	}
}

// WithLease takes permits at once for a key and spends them in this process, for very hot keys. When half of them is left
// the next are fetched, in a goroutine that ends with the call: never more than one call at a time for a key. Where requests
// had to wait all the same, what is fetched next makes four leases with what is left, up to a burst. So a process holds at
// most 4 * permits of a key, what is under way included, besides those that are fetched for requests which wait already.
//
// Leased permits are charged when they are taken and spent later, so that in any window each process can admit up to
// 4 * permits more than the limit, and never more. GiveBack returns what is left, Forget and a new limit give it up. Remaining
// then counts what is left of the lease. It is for gcra and tokenbucket: the delay of a leaky bucket and the window of a
// sliding log count from when a permit is taken, and a dual bucket has no one cost. The error wraps weir.ErrNoLease.
func WithLease(permits uint64) Option {
	return func(l *Limiter) error {
		switch {
		case permits < 2 || permits > exact:
			return fmt.Errorf("WithLease: permits is %d, must be from 2 to %d", permits, uint64(exact))
		case l.name != gcra && l.name != tokenBucket:
			return fmt.Errorf("WithLease: %w: the policy is %s, must be gcra or tokenbucket", weir.ErrNoLease, l.name)
		}
		l.leases = newLeases(permits)
		return nil
	}
}

// shareOf is one of n equal parts of a limit, each rounded down to no less than a permit.
func shareOf(name string, l weir.Limit, n uint64) (weir.Limit, error) {
	one := func(permits, burst uint64, period time.Duration) (uint64, uint64, time.Duration, error) {
		if burst == 0 {
			burst = permits
		}
		if name == slidingLog && permits >= n {
			return permits / n, permits / n, period, nil
		}
		parts := n
		if name == slidingLog {
			parts, permits, burst = (n+permits-1)/permits, 1, 1
		}
		if parts > uint64(weir.Never/max(1, period)) {
			return 0, 0, 0, fmt.Errorf("%w: a period of %v in %d parts is longer than %v", policy.ErrInvalidPeriod, period, n, weir.Never)
		}
		return permits, max(1, burst/n), period * time.Duration(parts), nil
	}
	var err, err2 error
	l.Permits, l.Burst, l.Period, err = one(l.Permits, l.Burst, l.Period)
	if l.Permits2 != 0 {
		l.Permits2, l.Burst2, l.Period2, err2 = one(l.Permits2, l.Burst2, l.Period2)
	}
	return l, errors.Join(err, err2)
}
