package docs_test

import (
	"context"
	"expvar"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/gcra"
	"weir/httplimit"
	"weir/observe"
	"weir/policy"
	"weir/redislimit"
	"weir/vectors"
)

// The same four requests at once, by policy.
func Example_choose() {
	for _, name := range weir.Names() {
		limit := weir.Per(3, time.Minute)
		if name == "dualbucket" {
			limit = limit.And(weir.Per(2, time.Hour))
		}
		limiter, err := weir.New(name, limit)
		if err != nil {
			log.Fatal(err)
		}
		allowed := 0
		for range 4 {
			if limiter.Allow(context.Background(), "client-42").OK() {
				allowed++
			}
		}
		fmt.Println(name, allowed)
	}
	// Output:
	// gcra 3
	// tokenbucket 3
	// leakybucket 3
	// slidinglog 3
	// dualbucket 2
}

func Example_decision() {
	limiter, err := weir.New("gcra", weir.Per(1, time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	for _, cost := range []uint64{1, 1, 2} {
		switch r := limiter.AllowN(context.Background(), "client-42", weir.N(cost)); r.Outcome() {
		case policy.Allow:
			fmt.Println("go on,", r.Remaining(), "left")
		case policy.Deny:
			fmt.Println("come back, but not before", r.RetryAfter().Round(time.Hour))
		case policy.TooCostly:
			fmt.Println("never:", r.RetryAfter() == weir.Never)
		default: // full, unavailable: nobody could say
			fmt.Println(r.Err())
		}
	}
	// Output:
	// go on, 0 left
	// come back, but not before 1h0m0s
	// never: true
}

func Example_service() {
	limiter, err := weir.New("gcra", weir.Per(1, time.Hour))
	if err != nil {
		log.Fatal(err)
	}
	var counts observe.Counts
	expvar.Publish("weir.api", &counts) // at /debug/vars
	limits, err := httplimit.New([]httplimit.Rule{{Name: "api", Limiter: weir.Observed(limiter, counts.Observer())}})
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(limits.Wrap(http.NotFoundHandler()))
	defer server.Close()
	for range 2 {
		answer, err := http.Get(server.URL)
		if err != nil {
			log.Fatal(err)
		}
		answer.Body.Close()
		fmt.Println(answer.StatusCode, answer.Header.Get("Retry-After"), answer.Header.Get("RateLimit"))
	}
	fmt.Println(counts.Read().Allowed, counts.Read().Denied)
	// Output:
	// 404  "api";r=0;t=3600
	// 429 3600 "api";r=0;t=3600
	// 1 1
}

// limiterOfAll is a limiter that all processes share. store is made of a client of Redis, by weir/redislimit/goredis
// for one.
func limiterOfAll(store redislimit.Store) (weir.Limiter, error) {
	return redislimit.New(store, "gcra", weir.Per(100, time.Second).WithBurst(20),
		redislimit.WithPrefix("api"), redislimit.FailLocal(4)) // a quarter each while the server is away
}

// It is compiled, not run: it needs a server.
func Example_machines() {
	var store redislimit.Store
	limiter, err := limiterOfAll(store)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(limiter.Allow(context.Background(), "client-42"))
}

// A policy of one's own under a name of the suite, here weir's own, put through its cases.
func Example_port() {
	mine := new(policy.Registry)
	if err := mine.Add("gcra", gcra.New); err != nil {
		log.Fatal(err)
	}
	suite, err := vectors.Load(vectors.FS())
	if err != nil {
		log.Fatal(err)
	}
	report, err := vectors.Run(context.Background(), suite, vectors.NewRegistryDriver("mine", "go", mine),
		vectors.Options{Policies: []string{"gcra"}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.OK(true), report.Counts("gcra")[vectors.Fail])
	// Output: true 0
}

// The C program of the guide, compiled as it says.
func TestEmbed(t *testing.T) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("there is no C compiler")
	}
	sources, err := filepath.Glob("../cport/src/*.c")
	require.NoError(t, err)
	program := filepath.Join(t.TempDir(), "embed")
	args := append([]string{"-std=c11", "-Wall", "-Wextra", "-Werror", "-I", "../cport/include", "-o", program, "embed/embed.c"}, sources...)
	out, err := exec.Command(cc, args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, "allow 1 0\nallow 0 0\ndeny 0 112\ndeny 0 1\n", string(out)) // the third is due at 334
}

// The guide's own words are those of the code.
func TestGuideNamesEveryOutcome(t *testing.T) {
	guide, err := os.ReadFile("guide.go")
	require.NoError(t, err)
	for o := policy.Allow; o <= policy.Unavailable; o++ {
		assert.Contains(t, string(guide), "\t"+o.String()+" ")
	}
	for _, name := range weir.Names() {
		assert.Contains(t, string(guide), name)
	}
}
