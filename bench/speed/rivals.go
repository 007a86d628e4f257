package speed

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/didip/tollbooth/v7"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/go-chi/httprate"
	jujulimit "github.com/juju/ratelimit"
	"github.com/sethvargo/go-limiter/memorystore"
	"github.com/throttled/throttled/v2"
	"github.com/throttled/throttled/v2/store/memstore"
	ululimit "github.com/ulule/limiter/v3"
	ulumemory "github.com/ulule/limiter/v3/drivers/store/memory"
	"golang.org/x/time/rate"
)

// rival is a library that keeps string keys and reads its own clock, as its users have it: 100 permits a second, a burst of
// 10^9 where it has bursts, 360,000 an hour where it counts in windows. None refuses a request here.
type rival struct {
	name, module string
	how          string // how it is driven, and what its answer leaves out
	open         func() (allow func(key string) bool, done func(), err error)
}

// nothing is a done for those who have nothing to stop.
func nothing() {}

func newRate() *rate.Limiter { return rate.NewLimiter(100, 1e9) }

// keyedRivals are in the order of the table.
func keyedRivals() []rival {
	return []rival{
		{"x/time/rate, sharded map", "golang.org/x/time", "Allow of a Limiter a key, in 256 maps with a mutex each; yes or no", openShardedRate},
		{"x/time/rate, sync.Map", "golang.org/x/time", "the same in a sync.Map", openSyncRate},
		{"throttled, memstore", "github.com/throttled/throttled/v2", "RateLimitCtx; tells remaining, reset and retry", openThrottled},
		{"go-limiter, memorystore", "github.com/sethvargo/go-limiter", "Take; fixed intervals; tells remaining and reset", openGoLimiter},
		{"ulule/limiter, memory", "github.com/ulule/limiter/v3", "Get; fixed windows, its clean-up once an hour so that none falls into the run; tells remaining and reset", openUlule},
		{"tollbooth", "github.com/didip/tollbooth/v7", "LimitReached; its copy of x/time/rate in an expiring cache; yes or no", openTollbooth},
		{"httprate", "github.com/go-chi/httprate", "OnLimit with its headers switched off; a sliding window by two maps of counters, the second still empty here; yes or no", openHTTPRate},
		{"juju/ratelimit, sharded map", "github.com/juju/ratelimit", "TakeAvailable(1) of a Bucket a key, maps as above; yes or no", openJuju},
		{"failsafe-go, sharded map", "github.com/failsafe-go/failsafe-go", "TryAcquirePermit of a bursty RateLimiter a key, maps as above; yes or no", openFailsafe},
	}
}

func openShardedRate() (func(string) bool, func(), error) {
	m := newByText(newRate)
	return func(key string) bool { return m.get(key).Allow() }, nothing, nil
}

func openSyncRate() (func(string) bool, func(), error) {
	var m sync.Map
	return func(key string) bool { return inSyncMap(&m, key, newRate).Allow() }, nothing, nil
}

// throttledLimiter has no bound on its keys: with one it keeps them in order of use, which costs more.
func throttledLimiter(now func() time.Time) (*throttled.GCRARateLimiterCtx, error) {
	store, err := memstore.New(0)
	if err != nil {
		return nil, err
	}
	if now != nil {
		store.SetTimeNow(now)
	}
	quota := throttled.RateQuota{MaxRate: throttled.PerSec(100), MaxBurst: 1e9 - 1}
	return throttled.NewGCRARateLimiterCtx(throttled.WrapStoreWithContext(store), quota)
}

func openThrottled() (func(string) bool, func(), error) {
	l, err := throttledLimiter(nil)
	ctx := context.Background()
	return func(key string) bool {
		limited, _, err := l.RateLimitCtx(ctx, key, 1)
		return !limited && err == nil
	}, nothing, err
}

func openGoLimiter() (func(string) bool, func(), error) {
	ctx := context.Background()
	store, err := memorystore.New(&memorystore.Config{Tokens: 360_000, Interval: time.Hour})
	if err != nil {
		return nil, nil, err
	}
	allow := func(key string) bool {
		_, _, _, ok, err := store.Take(ctx, key)
		return ok && err == nil
	}
	return allow, func() { _ = store.Close(ctx) }, nil
}

func openUlule() (func(string) bool, func(), error) {
	ctx := context.Background()
	store := ulumemory.NewStoreWithOptions(ululimit.StoreOptions{Prefix: ululimit.DefaultPrefix, CleanUpInterval: time.Hour})
	l := ululimit.New(store, ululimit.Rate{Period: time.Hour, Limit: 360_000})
	return func(key string) bool {
		c, err := l.Get(ctx, key)
		return !c.Reached && err == nil
	}, nothing, nil
}

func openTollbooth() (func(string) bool, func(), error) {
	l := tollbooth.NewLimiter(100, nil).SetBurst(1e9)
	return func(key string) bool { return !l.LimitReached(key) }, nothing, nil
}

// silent is where httprate's answer goes: it is asked to write no header.
type silent http.Header

func (s silent) Header() http.Header         { return http.Header(s) }
func (s silent) Write(b []byte) (int, error) { return len(b), nil }
func (s silent) WriteHeader(int)             {}

func openHTTPRate() (func(string) bool, func(), error) {
	l := httprate.NewRateLimiter(360_000, time.Hour, httprate.WithResponseHeaders(httprate.ResponseHeaders{}))
	w, r := silent{}, &http.Request{}
	return func(key string) bool { return !l.OnLimit(w, r, key) }, nothing, nil
}

func openJuju() (func(string) bool, func(), error) {
	m := newByText(func() *jujulimit.Bucket { return jujulimit.NewBucketWithRate(100, 1e9) })
	return func(key string) bool { return m.get(key).TakeAvailable(1) == 1 }, nothing, nil
}

func openFailsafe() (func(string) bool, func(), error) {
	m := newByText(func() ratelimiter.RateLimiter[any] { return ratelimiter.NewBursty[any](360_000, time.Hour) })
	return func(key string) bool { return m.get(key).TryAcquirePermit() }, nothing, nil
}
