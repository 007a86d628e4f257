package speed

import (
	"context"
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go/ratelimiter"
	jujulimit "github.com/juju/ratelimit"
	uberlimit "go.uber.org/ratelimit"
	"golang.org/x/time/rate"
)

// start is the moment that counts as tick 0 for rivals that take times.
var start = time.Unix(1_700_000_000, 0)

// set is a clock that stands where it was put.
type set struct{ now time.Time }

func (c *set) Now() time.Time        { return c.now }
func (c *set) Sleep(d time.Duration) { c.now = c.now.Add(d) }

// given are the rivals that can be told the time, with the quota of keyedRivals and the key in the type that each takes: a
// number where it takes any, else a string. They get the same nows as a policy does, as time.Time, by an argument
// or by a clock that is theirs to read.
func given(keys []uint64, names []string) ([]row, error) {
	sharded := newByNumber(newRate)
	var shared sync.Map
	bucketClock, storeClock := &set{start}, &set{start}
	buckets := newByNumber(func() *jujulimit.Bucket { return jujulimit.NewBucketWithRateAndClock(100, 1e9, bucketClock) })
	store, err := throttledLimiter(storeClock.Now)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	return []row{
		here("x/time/rate, sharded map", eachAt(keys, func(now, key uint64) bool {
			return sharded.get(key).AllowN(start.Add(time.Duration(now)), 1)
		})),
		here("x/time/rate, sync.Map", eachAt(keys, func(now, key uint64) bool {
			return inSyncMap(&shared, key, newRate).AllowN(start.Add(time.Duration(now)), 1)
		})),
		here("juju/ratelimit, sharded map", eachAt(keys, func(now, key uint64) bool {
			bucketClock.now = start.Add(time.Duration(now))
			return buckets.get(key).TakeAvailable(1) == 1
		})),
		here("throttled, memstore", eachAt(keys, func(now, key uint64) bool {
			storeClock.now = start.Add(time.Duration(now))
			limited, _, err := store.RateLimitCtx(ctx, names[now/steadyStep%uint64(len(names))], 1)
			return !limited && err == nil
		})),
	}, nil
}

// eachAt calls allow for one key after the other, now moving steadyStep ticks a decision. The call costs about a
// nanosecond, in weir's row too.
//
//go:noinline
func eachAt(keys []uint64, allow func(now, key uint64) bool) loop {
	at := 0
	return func(n int) (allowed int) {
		for i := at; i < at+n; i++ {
			if allow(uint64(i)*steadyStep, keys[i&(len(keys)-1)]) {
				allowed++
			}
		}
		at += n
		return allowed
	}
}

// each is eachAt for those that read a clock of their own.
//
//go:noinline
func each(keys []string, allow func(key string) bool) loop {
	at := 0
	return func(n int) (allowed int) {
		for i := at; i < at+n; i++ {
			if allow(keys[i&(len(keys)-1)]) {
				allowed++
			}
		}
		at += n
		return allowed
	}
}

// times is each for a limiter of one key.
//
//go:noinline
func times(allow func() bool) loop {
	return func(n int) (allowed int) {
		for range n {
			if allow() {
				allowed++
			}
		}
		return allowed
	}
}

// directRivals are limiters of one key with their own clock, a permit a nanosecond, so that none refuses or sleeps.
func directRivals() []row {
	x := rate.NewLimiter(1e9, 1e9)
	j := jujulimit.NewBucketWithRate(1e9, 1e9)
	f := ratelimiter.NewBursty[any](1e9, time.Second)
	u := uberlimit.New(1e9)
	return []row{
		here("x/time/rate", times(x.Allow)),
		here("juju/ratelimit", times(func() bool { return j.TakeAvailable(1) == 1 })),
		here("failsafe-go, bursty", times(f.TryAcquirePermit)),
		here("uber/ratelimit", times(func() bool { return !u.Take().IsZero() })), // it sleeps where another would refuse
	}
}
