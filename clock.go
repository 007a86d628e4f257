package weir

import (
	"context"
	"time"
)

// Clock is where a limiter has its time from. Replace it with WithClock in tests, or to count on a clock of your own.
type Clock interface {
	// Now is the time since some fixed moment. It should never step back; if it does, a key is judged as of that earlier
	// moment and is never admitted more than its limit for it.
	Now() time.Duration
	// Sleep returns nil once d has passed on this clock, or ctx's error as soon as ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
}

// monotonic is the process's own monotonic clock, from the moment it was made. Inside a testing/synctest bubble it is the
// bubble's clock.
type monotonic struct{ base time.Time }

func (m *monotonic) Now() time.Duration { return time.Since(m.base) }

func (m *monotonic) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Now is what the limiter's clock says: for AllowAt, AllowBatch and Lease.AllowAt.
func (l *Local) Now() time.Duration {
	if own, ok := l.clock.(*monotonic); ok {
		return time.Since(own.base) // without the interface, on the way of every request
	}
	return l.clock.Now()
}
