package tests_test

import (
	"context"
	"fmt"
	"log"
	"time"

	goredisclient "github.com/redis/go-redis/v9"

	"weir"
	"weir/redislimit"
	"weir/redislimit/goredis"
)

// A limiter that all processes share. It is compiled, not run: it needs a server.
func Example() {
	client := goredisclient.NewClient(&goredisclient.Options{Addr: "127.0.0.1:6379", ContextTimeoutEnabled: true})
	defer client.Close()
	limiter, err := redislimit.New(goredis.Store(client), "gcra", weir.Per(100, time.Second).WithBurst(20),
		redislimit.WithPrefix("api"), redislimit.FailLocal(4))
	if err != nil {
		log.Fatal(err) // one line that names the field, its value and the bound
	}
	if r := limiter.Allow(context.Background(), "client-42"); r.OK() {
		fmt.Println("go on,", r.Remaining(), "left")
	} else {
		fmt.Println("come back in", r.RetryAfter())
	}
}
