package rivals

import (
	"context"
	"math"
	"strconv"
	"time"

	jujulimit "github.com/juju/ratelimit"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	uberlimit "go.uber.org/ratelimit"
	"golang.org/x/time/rate"

	"weir/policy"
	"weir/vectors"
)

// xtimeTable is golang.org/x/time/rate: AllowN, and TokensAt rounded down for what remains.
type xtimeTable struct {
	perKey[*rate.Limiter]
	clock *clock
}

func openXtime(l policy.Limit, c *clock) (limiter, error) {
	perSecond := rate.Limit(float64(l.Permits) / float64(l.Period) * float64(time.Second))
	return xtimeTable{newPerKey(func() *rate.Limiter { return rate.NewLimiter(perSecond, int(l.Burst)) }), c}, nil
}

func (t xtimeTable) take(key, cost uint64) vectors.Want {
	one := t.of(key)
	ok := one.AllowN(t.clock.now, int(cost))
	return vectors.Want{Outcome: yesNo(ok), Remaining: number(int64(math.Floor(one.TokensAt(t.clock.now))))}
}

// jujuTable is github.com/juju/ratelimit.
type jujuTable struct {
	perKey[*jujulimit.Bucket]
}

// openJuju makes buckets with the quantum that makes the rate exact: permits / g tokens every period / g nanoseconds, where g
// is the greatest common divisor.
func openJuju(l policy.Limit, c *clock) (limiter, error) {
	g := max(gcd(l.Permits, l.Period), 1)
	open := func() *jujulimit.Bucket {
		return jujulimit.NewBucketWithQuantumAndClock(time.Duration(l.Period/g), int64(l.Burst), int64(l.Permits/g), c)
	}
	open() // panics at once if the limit is refused
	return jujuTable{newPerKey(open)}, nil
}

// openJujuRate makes buckets by their rate a second, which juju meets within 1 %.
func openJujuRate(l policy.Limit, c *clock) (limiter, error) {
	perSecond := float64(l.Permits) / float64(l.Period) * float64(time.Second)
	open := func() *jujulimit.Bucket {
		return jujulimit.NewBucketWithRateAndClock(perSecond, int64(l.Burst), c)
	}
	open() // panics at once if the limit is refused
	return jujuTable{newPerKey(open)}, nil
}

func (t jujuTable) take(key, cost uint64) vectors.Want {
	one := t.of(key)
	_, ok := one.TakeMaxDuration(int64(cost), 0)
	return vectors.Want{Outcome: yesNo(ok), Remaining: number(one.Available())}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// throttledTable is throttled's GCRA over its store in memory.
type throttledTable struct {
	limiter *throttled.GCRARateLimiterCtx
}

func openThrottled(l policy.Limit, c *clock) (limiter, error) {
	store, err := memstore.New(0)
	if err != nil {
		return nil, err
	}
	store.SetTimeNow(c.Now)
	quota := throttled.RateQuota{MaxRate: throttled.PerDuration(int(l.Permits), time.Duration(l.Period)),
		MaxBurst: int(l.Burst) - 1}
	one, err := throttled.NewGCRARateLimiterCtx(throttled.WrapStoreWithContext(store), quota)
	return throttledTable{one}, err
}

func (t throttledTable) ask(key, cost uint64) (limited bool, r throttled.RateLimitResult) {
	limited, r, err := t.limiter.RateLimitCtx(context.Background(), strconv.FormatUint(key, 10), int(cost))
	if err != nil {
		panic(err)
	}
	return limited, r
}

func (t throttledTable) take(key, cost uint64) vectors.Want {
	limited, r := t.ask(key, cost)
	w := vectors.Want{Outcome: "allow", Remaining: number(r.Remaining), ResetAfter: number(int64(r.ResetAfter)), RetryAfter: wait(0)}
	if limited {
		w.Outcome, w.RetryAfter = throttledRefusal(r)
	}
	return w
}

// peek asks for 0, which throttled answers with the wait of a request for 1.
func (t throttledTable) peek(key, _ uint64) vectors.Want {
	_, r := t.ask(key, 0)
	w := vectors.Want{Outcome: "allow", Remaining: number(r.Remaining), ResetAfter: number(int64(r.ResetAfter)), RetryAfter: wait(0)}
	if r.RetryAfter >= 0 {
		w.Outcome, w.RetryAfter = throttledRefusal(r)
	}
	return w
}

// throttledRefusal is a refusal in the suite's words: a wait of -1 is throttled's way to say that none will do.
func throttledRefusal(r throttled.RateLimitResult) (outcome string, retry *vectors.Wait) {
	if r.RetryAfter < 0 {
		never := vectors.Never
		return "too_costly", &never
	}
	return "deny", wait(r.RetryAfter)
}

// uberTable is go.uber.org/ratelimit without slack: what Take would sleep is the delay of a leaky bucket.
type uberTable struct {
	perKey[uberlimit.Limiter]
	clock *clock
}

func openUber(l policy.Limit, c *clock) (limiter, error) {
	open := func() uberlimit.Limiter {
		return uberlimit.New(int(l.Permits), uberlimit.Per(time.Duration(l.Period)), uberlimit.WithClock(c), uberlimit.WithoutSlack)
	}
	open() // panics at once if the limit is refused
	return uberTable{newPerKey(open), c}, nil
}

func (t uberTable) take(key, _ uint64) vectors.Want {
	t.clock.slept = 0
	t.of(key).Take()
	return vectors.Want{Outcome: "allow", Delay: number(int64(t.clock.slept))}
}
