package weir_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"weir"
)

func ExampleNew() {
	ctx := context.Background()
	limiter, err := weir.New("gcra", weir.Per(100, time.Second).WithBurst(10))
	if err != nil {
		log.Fatal(err) // one line that names the field, its value and the bound
	}
	if r := limiter.Allow(ctx, "client-42"); r.OK() {
		fmt.Println("go on,", r.Remaining(), "left")
	} else {
		fmt.Println("come back in", r.RetryAfter()) // exact: one nanosecond earlier it is denied
	}
	// Output: go on, 9 left
}

func ExampleLimiter() {
	ctx, key := context.Background(), "client-42"
	limiter, err := weir.New("dualbucket", weir.Per(100, time.Second).And(weir.Per(1<<20, time.Second)))
	if err != nil {
		log.Fatal(err)
	}
	limiter.AllowN(ctx, key, weir.N(5))          // spend 5
	limiter.AllowN(ctx, key, weir.Both(1, 1500)) // one request and 1500 bytes of a dual bucket
	limiter.Peek(ctx, key, weir.N(1))            // what would be the answer; nothing is spent
	limiter.Wait(ctx, key, weir.N(1))            // sleep until it fits; at once an error if it cannot in time
	limiter.Refund(ctx, key, weir.N(1))          // the work did not happen
	limiter.Forget(ctx, key)                     // as if never seen
	limiter.SetLimit(ctx, weir.Per(200, time.Second))
	fmt.Println(limiter.Limit())
	// Output: 100/s & 1048576/s
}

func ExampleLocal_Wait() {
	limiter, err := weir.New("tokenbucket", weir.Per(1, time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	fmt.Println(limiter.Wait(ctx, "a", weir.N(1)))
	fmt.Println(errors.Is(limiter.Wait(ctx, "a", weir.N(1)), context.DeadlineExceeded)) // an hour is too long: said at once
	fmt.Println(errors.Is(limiter.Wait(ctx, "a", weir.N(2)), weir.ErrTooCostly))
	// Output:
	// <nil>
	// true
	// true
}

func ExampleAll() {
	perClient, err := weir.New("gcra", weir.Per(10, time.Second))
	if err != nil {
		log.Fatal(err)
	}
	perDay, err := weir.New("slidinglog", weir.Per(2, 24*time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	both, err := weir.All(perClient, perDay)
	if err != nil {
		log.Fatal(err)
	}
	for range 3 {
		fmt.Println(both.Allow(context.Background(), "a").Outcome())
	}
	// Output:
	// allow
	// allow
	// deny
}

func ExampleParseLimit() {
	limit, err := weir.ParseLimit("100/s burst 20 & 5000/h")
	fmt.Println(limit, err)
	_, err = weir.ParseLimit("100 per second")
	fmt.Println(err)
	// Output:
	// 100/s burst 20 & 5000/h <nil>
	// limit text "100 per second": must be PERMITS/PERIOD, such as 100/s burst 20
}
