package weir

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// The resolutions that a Coarse clock may have. Below the first it would cost more than it saves; above the second its
// limiters would hardly be ones.
const (
	finestCoarse   = 100 * time.Microsecond
	coarsestCoarse = time.Second
)

// Coarse is a Clock that is read by one load from memory, and is as old as its resolution at most as long as the machine
// lets its goroutine run when it should; where it cannot, by as much as that is late. It is never ahead of the monotonic
// clock that it copies and never steps back. So a limiter on it counts a request as of up to a resolution earlier than it
// came: it may have to wait that much longer than it should, and never less.
//
// Any number of limiters may share it. It has a goroutine of its own until Close; after that it is as exact, and as slow to
// read, as the clock that it copied. NewCoarse makes one, the zero Coarse is of no use.
//
//	clock, err := weir.NewCoarse(time.Millisecond)
//	...
//	defer clock.Close()
//	limiter, err := weir.New("gcra", weir.Per(100, time.Second), weir.WithClock(clock))
type Coarse struct {
	last       atomic.Int64 // the copy, in ns; -1 once it is kept no more
	exact      monotonic
	resolution time.Duration
	closing    context.Context
	close      context.CancelFunc
	closed     chan struct{}
}

// NewCoarse starts a clock that is brought up to date once a resolution, from 100 us to 1 s. Timers of most systems are good
// to a millisecond.
func NewCoarse(resolution time.Duration) (*Coarse, error) {
	if resolution < finestCoarse || resolution > coarsestCoarse {
		return nil, fmt.Errorf("NewCoarse: resolution is %v, must be from %v to %v", resolution, finestCoarse, coarsestCoarse)
	}
	c := &Coarse{exact: monotonic{time.Now()}, resolution: resolution, closed: make(chan struct{})}
	c.closing, c.close = context.WithCancel(context.Background())
	go c.run()
	return c, nil
}

func (c *Coarse) run() {
	defer close(c.closed)
	ticker := time.NewTicker(c.resolution)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			c.last.Store(int64(c.exact.Now()))
		case <-c.closing.Done():
			c.last.Store(-1)
			return
		}
	}
}

// Now is Clock's: the time since the clock was made, as it was last brought up to date.
func (c *Coarse) Now() time.Duration {
	if last := c.last.Load(); last >= 0 {
		return time.Duration(last)
	}
	return c.exact.Now()
}

// Sleep is Clock's. It sleeps until Now says that d has passed, which is up to a resolution longer than d.
func (c *Coarse) Sleep(ctx context.Context, d time.Duration) error {
	begin := c.Now()
	for wait := d; ; wait = c.resolution {
		if err := c.exact.Sleep(ctx, wait); err != nil || c.Now()-begin >= d {
			return err
		}
	}
}

// Close ends the clock's goroutine and returns when it is gone. Limiters go on, on the exact clock. Close it as often as you
// like.
func (c *Coarse) Close() {
	c.close()
	<-c.closed
}
