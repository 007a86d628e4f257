package weir

import (
	"errors"
	"log/slog"

	"weir/policy"
)

// Option changes how New makes a limiter.
type Option func(*Local) error

// WithClock takes the time from c instead of the process's monotonic clock: a Coarse, or one of your own.
func WithClock(c Clock) Option {
	return func(l *Local) error {
		if c == nil {
			return errors.New("WithClock: the clock is nil")
		}
		l.clock = c
		return nil
	}
}

// WithMaxKeys bounds the limiter to n keys, n at least 1: the whole of what strangers can make it hold. Known keys are
// served whatever comes; a new key is Full when there is no room. The limiter frees the room of idle keys, looking at
// SweepSlots slots of its table at each new key and at 1024 before it answers Full, so a large table may be Full though an
// idle key is in a part of it that was not looked at yet.
func WithMaxKeys(n uint64) Option {
	return func(l *Local) error {
		l.options.MaxKeys, l.options.Bounded = n, true
		_, err := l.options.Capacity()
		return err
	}
}

// WithRegistry takes the policy from r instead of from the five: your own, or those of the C library. Any name but
// slidinglog is taken to be a kind of bucket.
func WithRegistry(r *policy.Registry) Option {
	return func(l *Local) error {
		if r == nil {
			return errors.New("WithRegistry: the registry is nil")
		}
		l.registry = r
		return nil
	}
}

// WithXXH64 makes keys of strings by XXH64 with this seed, as every port does, instead of by a hash keyed with a secret of
// this process. Take it only where no stranger chooses the strings: two that collide under every seed are known.
func WithXXH64(seed uint64) Option {
	return func(l *Local) error {
		l.portable, l.seed = true, seed
		return nil
	}
}

// WithLogger says odd things to log instead of to slog's default logger: a burst that the policy has no use for, a clock
// that ran past the horizon.
func WithLogger(log *slog.Logger) Option {
	return func(l *Local) error {
		if log == nil {
			return errors.New("WithLogger: the logger is nil")
		}
		l.log = log
		return nil
	}
}
