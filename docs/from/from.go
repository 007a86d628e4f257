/*
Package from tells those who come from another limiter what becomes what. It has no code; its examples are compiled and run. How
these libraries answer the vectors is in the README and in bench.

Two things are the same for all of them. A limit without a burst has a burst of its permits; and a weir limiter has many keys: for one
limit without keys give every request the same key.

# golang.org/x/time/rate

	rate.NewLimiter(100, 20)            weir.New("tokenbucket", weir.Per(100, time.Second).WithBurst(20))
	rate.NewLimiter(rate.Every(d), b)   weir.Per(1, d).WithBurst(b)
	a map of *rate.Limiter              the key; idle keys go by themselves
	l.Allow()                           l.Allow(ctx, key).OK()
	l.AllowN(t, n)                      l.AllowN(ctx, key, weir.N(n)).OK(); Local.AllowAt for a moment of your own
	l.Wait(ctx), l.WaitN(ctx, n)        l.Wait(ctx, key, weir.N(n)), first come, first served
	l.Tokens()                          l.Peek(ctx, key, weir.N(0)).Remaining(), whole permits
	l.SetLimit, l.SetBurst              l.SetLimit(ctx, limit), both at once
	l.Reserve(), r.Delay()              leakybucket: Allow(ctx, key).Delay()
	r.Cancel()                          l.Refund(ctx, key, weir.N(1))
	rate.Inf                            no limiter

A Reserve may go beyond the burst into debt, an Allow here never does: what would have been reserved is denied, with its
RetryAfter. Fractions of permits are exact, where x/time/rate has floats.

# github.com/throttled/throttled

	RateQuota{PerSec(100), MaxBurst: 19}   weir.Per(100, time.Second).WithBurst(20): MaxBurst leaves out the first
	NewGCRARateLimiterCtx(store, quota)    weir.New("gcra", limit); with a Redis store redislimit.New
	memstore.NewCtx(maxKeys)               weir.WithMaxKeys(n); a full table refuses new keys, and drops none that count
	RateLimitCtx(ctx, key, n)              AllowN(ctx, key, weir.N(n))
	Limit, Remaining, ResetAfter           Limit().Burst, Remaining(), ResetAfter()
	RetryAfter of -1                       0 if allowed, weir.Never if no wait helps
	HTTPRateLimiterCtx{VaryBy}.RateLimit   httplimit.New(rules) and Wrap
	VaryBy{RemoteAddr: true}               the Key that is nil
	VaryBy{Headers: ...}                   httplimit.Header(name), or a function
	DeniedHandler                          429 with a problem; for another put your handler around Wrap
	X-RateLimit-* headers                  httplimit.WithForms(httplimit.XRateLimit)

# github.com/didip/tollbooth

	tollbooth.NewLimiter(5, nil)           weir.Per(5, time.Second)
	NewLimiter(0.5, nil)                   weir.Per(1, 2*time.Second): no fractions
	SetBurst(10)                           WithBurst(10)
	DefaultExpirationTTL                   none needed: a key goes when it is as good as new
	LimitHandler(lmt, next)                httplimit.New(rules) and Wrap(next)
	SetIPLookup(s)                         httplimit.Address: which proxies are trusted, and which header they write
	SetHeader, SetBasicAuthUsers           httplimit.Header, httplimit.BasicUser, httplimit.First
	SetMethods                             Skip, or a Key with the method in it
	SetOnLimitReached                      weir.Observed

Whoever took the first address of X-Forwarded-For took what clients write there. Address reads from the right and trusts nobody by
default.

# github.com/go-redis/redis_rate

	NewLimiter(client)                     redislimit.New(goredis.Store(client), "gcra", limit)
	PerSecond(10)                          weir.Per(10, time.Second)
	Allow(ctx, key, limit)                 Allow(ctx, key): the limit is the limiter's; for plans a limiter each
	AllowN(ctx, key, limit, n)             AllowN(ctx, key, weir.N(n))
	AllowAtMost(ctx, key, limit, n)        Peek, and then AllowN of what remains
	Reset(ctx, key)                        Forget(ctx, key)
	Result.Allowed > 0                     Result.OK()
	RetryAfter of -1                       0 if allowed, weir.Never if no wait helps
	an error of the server                 the outcome unavailable, or what FailOpen or FailLocal says

Keys do not carry over: redislimit counts in integers under names of its own.

# governor (Rust)

	Quota::per_second(n).allow_burst(b)    weir.Per(n, time.Second).WithBurst(b)
	Quota::with_period(d)                  weir.Per(1, d)
	RateLimiter::direct(quota)             one key
	RateLimiter::keyed(quota)              weir.New("gcra", limit)
	check(), check_key(&k)                 Allow(ctx, key)
	check_n(n), check_key_n(&k, n)         AllowN(ctx, key, weir.N(n))
	InsufficientCapacity                   the outcome too_costly
	NotUntil::wait_time_from(now)          RetryAfter()
	until_ready(), until_key_ready(&k)     Wait(ctx, key, weir.N(1))
	until_ready_with_jitter                none: those who wait are served in their order
	retain_recent(), shrink_to_fit()       by itself
	StateInformationMiddleware             Remaining(), ResetAfter()

For a program that stays in Rust: examples/ports has a port, and the C library can be linked.
*/
package from
