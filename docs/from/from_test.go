package from_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"weir"
	"weir/httplimit"
)

var (
	ctx = context.Background()
	key = "client-42"
)

// limiter is a limiter that is in order.
func limiter(name string, limit weir.Limit) *weir.Local {
	l, err := weir.New(name, limit)
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// From rate.NewLimiter(rate.Every(time.Hour), 2).
func Example_timeRate() {
	l := limiter("tokenbucket", weir.Per(1, time.Hour).WithBurst(2))
	fmt.Println(l.Allow(ctx, key).OK())
	fmt.Println(l.Peek(ctx, key, weir.N(0)).Remaining()) // Tokens
	fmt.Println(l.AllowN(ctx, key, weir.N(2)).OK())
	fmt.Println(l.Wait(ctx, key, weir.N(1)))
	fmt.Println(l.Refund(ctx, key, weir.N(1))) // Cancel
	fmt.Println(l.SetLimit(ctx, weir.Per(1, time.Minute).WithBurst(5)))
	// Output:
	// true
	// 1
	// false
	// <nil>
	// <nil>
	// <nil>
}

// From throttled's RateQuota{MaxRate: throttled.PerHour(1), MaxBurst: 1}: two can come at once.
func Example_throttled() {
	l := limiter("gcra", weir.Per(1, time.Hour).WithBurst(2))
	for range 3 {
		r := l.Allow(ctx, key)
		fmt.Println(!r.OK(), l.Limit().Burst, r.Remaining(), r.RetryAfter().Round(time.Minute))
	}
	// Output:
	// false 2 1 0s
	// false 2 0 0s
	// true 2 0 1h0m0s
}

// From tollbooth with SetIPLookup of X-Forwarded-For behind one proxy.
func Example_tollbooth() {
	address, err := httplimit.Address{
		Trusted: []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")},
		Header:  httplimit.XForwardedFor,
	}.Key()
	if err != nil {
		log.Fatal(err)
	}
	limits, err := httplimit.New([]httplimit.Rule{{Name: "site", Limiter: limiter("gcra", weir.Per(1, 2*time.Second)), Key: address}},
		httplimit.WithForms(httplimit.XRateLimit))
	if err != nil {
		log.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil) // from 192.0.2.1
	r.Header.Set("X-Forwarded-For", "a lie, 198.51.100.7")
	w := httptest.NewRecorder()
	limits.Wrap(http.NotFoundHandler()).ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("X-RateLimit-Limit"), w.Header().Get("X-RateLimit-Remaining"), w.Header().Get("X-RateLimit-Reset"))
	// Output: 404 1 0 2
}

// From redis_rate's AllowAtMost, here on a limiter of this process; one of redislimit has the same methods.
func Example_redisRate() {
	l := limiter("gcra", weir.Per(3, time.Hour))
	atMost := func(n uint64) uint64 {
		n = min(n, l.Peek(ctx, key, weir.N(0)).Remaining())
		if !l.AllowN(ctx, key, weir.N(n)).OK() {
			return 0 // somebody else was faster
		}
		return n
	}
	fmt.Println(atMost(2), atMost(2), atMost(2))
	fmt.Println(l.Forget(ctx, key), atMost(2)) // Reset
	// Output:
	// 2 1 0
	// <nil> 2
}

// From governor's Quota::per_hour(nonzero!(2u32)) and check_n.
func Example_governor() {
	l := limiter("gcra", weir.Per(2, time.Hour))
	for _, n := range []uint64{2, 1, 3} {
		r := l.AllowN(ctx, key, weir.N(n))
		fmt.Println(r.Outcome(), r.RetryAfter() == weir.Never)
	}
	// Output:
	// allow false
	// deny false
	// too_costly true
}
