package httplimit_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"time"

	"weir"
	"weir/httplimit"
)

func limiterPer(permits uint64, period time.Duration) *weir.Local {
	l, err := weir.New("gcra", weir.Per(permits, period))
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// One limit for each client, told in the fields of every answer.
func Example() {
	limits, err := httplimit.New([]httplimit.Rule{{Name: "api", Limiter: limiterPer(2, time.Hour)}})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(limits.Wrap(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello")
	})))
	defer server.Close()
	for range 3 {
		r, err := http.Get(server.URL)
		if err != nil {
			log.Fatal(err)
		}
		r.Body.Close()
		fmt.Printf("%d %s %s %q\n", r.StatusCode, r.Header.Get("RateLimit-Policy"), r.Header.Get("RateLimit"), r.Header.Get("Retry-After"))
	}
	// Output:
	// 200 "api";q=2;w=3600 "api";r=1;t=1800 ""
	// 200 "api";q=2;w=3600 "api";r=0;t=1800 ""
	// 429 "api";q=2;w=3600 "api";r=0;t=1800 "1800"
}

// Behind a load balancer, with an API key where there is one; customers have the limit of their plan, the body counts too,
// and a new limit is tried out first.
func ExampleNew() {
	address, err := httplimit.Address{
		Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		Header:  httplimit.XForwardedFor,
	}.Key()
	if err != nil {
		log.Fatal(err)
	}
	free, pro := limiterPer(10, time.Second), limiterPer(1000, time.Second)
	limits, err := httplimit.New([]httplimit.Rule{
		{
			Name: "calls",
			Key:  httplimit.First(httplimit.Header("X-Api-Key"), address),
			Plan: func(r *http.Request) weir.Limiter {
				if r.Header.Get("X-Api-Key") != "" {
					return pro
				}
				return free
			},
			Skip: func(r *http.Request) bool { return r.URL.Path == "/health" },
		},
		{
			Name:    "bytes",
			Limiter: limiterPer(1<<20, time.Minute),
			Key:     address,
			Cost:    func(r *http.Request) weir.Cost { return weir.N(uint64(max(0, r.ContentLength))) },
			DryRun:  true,
		},
	}, httplimit.FailOpen())
	if err != nil {
		log.Fatal(err)
	}
	http.Handle("/", limits.Wrap(http.NotFoundHandler()))
}

// A client that keeps to 5 requests a second for each host, and to what hosts ask for.
func ExampleTransport() {
	client := &http.Client{Transport: &httplimit.Transport{
		Limiter: limiterPer(5, time.Second),
		MaxWait: 10 * time.Second,
		Retries: 2,
	}}
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	r, err := client.Get(server.URL)
	if err != nil {
		log.Fatal(err) // errors.Is(err, httplimit.ErrHeld): it would have had to wait too long
	}
	r.Body.Close()
	fmt.Println(r.StatusCode)
	// Output: 404
}
