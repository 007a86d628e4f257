// Command speed measures decisions a second of package redislimit, of github.com/go-redis/redis_rate, and of a script that
// issues the same commands without arithmetic, side by side in one run, on a server of its own. It ends by itself.
package main

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/go-redis/redis_rate/v10"
	goredisclient "github.com/redis/go-redis/v9"
	rueidisclient "github.com/redis/rueidis"

	"weir"
	"weir/redislimit"
	"weir/redislimit/goredis"
	"weir/redislimit/rueidis"
)

func main() {
	rounds := flag.Int("rounds", 7, "how often each is measured; the medians are printed")
	each := flag.Duration("time", 700*time.Millisecond, "how long each measurement takes")
	program := flag.String("server", "redis-server", "the server `program`")
	only := flag.String("only", "", "measure only those whose name contains this `text`, and what they are compared with")
	flag.Parse()
	if err := run(*program, *only, *rounds, *each); err != nil {
		fmt.Fprintln(os.Stderr, "speed:", err)
		os.Exit(1)
	}
}

func run(program, only string, rounds int, each time.Duration) error {
	addr, stop, err := start(program)
	if err != nil {
		return err
	}
	defer stop()
	all, closeAll, err := contestants(addr)
	if err != nil {
		return err
	}
	defer closeAll()
	fmt.Printf("%s, %d CPUs, %s, %s, %s\n\n", runtime.GOARCH, runtime.NumCPU(), runtime.Version(), program, time.Now().Format(time.DateOnly))
	fmt.Printf("| callers | %-44s | decisions/s | of redis_rate | of its bare script | CPU us, here + server |\n| ---: | --- | ---: | ---: | ---: | ---: |\n", "limiter")
	for _, callers := range []int{1, 16, 128} {
		measure(all, only, callers, rounds, each)
	}
	return nil
}

// start runs a server that keeps nothing on disk.
func start(program string) (addr string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	addr = l.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	l.Close()
	cmd := exec.Command(program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--daemonize", "no")
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	for range 200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return addr, stop, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	return "", nil, fmt.Errorf("%s does not listen on %s", program, addr)
}

// contestant is one way to decide; bare is the index of the one that does the same without arithmetic.
type contestant struct {
	name string
	ask  func(ctx context.Context, key string) error
	bare int
	cpu  func(context.Context) float64 // of the server
}

// bareScript issues the commands of an allowed GCRA request with its arguments and as long an answer, and computes nothing.
const bareScript = `redis.call('TIME')
redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], ARGV[2], 'PXAT', '4102444800000')
return {1, 1790000000000000, 0, 0}`

func contestants(addr string) (all []contestant, closeAll func(), err error) {
	g := goredisclient.NewClient(&goredisclient.Options{Addr: addr, PoolSize: 128, ContextTimeoutEnabled: true})
	r, err := rueidisclient.NewClient(rueidisclient.ClientOption{InitAddress: []string{addr}, DisableCache: true})
	if err != nil {
		g.Close()
		return nil, nil, err
	}
	rate := redis_rate.NewLimiter(g)
	limit := redis_rate.Limit{Rate: 100_000_000, Burst: 100_000_000, Period: time.Second}
	all = []contestant{{"go-redis/redis_rate v10", func(ctx context.Context, key string) error {
		_, err := rate.Allow(ctx, key, limit)
		return err
	}, 0, nil}}
	for _, c := range []struct {
		name  string
		store redislimit.Store
	}{{"go-redis", goredis.Store(g)}, {"rueidis", rueidis.Store(r)}} {
		bare := len(all)
		call, err := bareCall(c.store)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, contestant{"bare script, " + c.name, call, bare, nil})
		for _, name := range weir.Names() {
			ask, err := allow(c.store, name)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, contestant{"redislimit " + name + ", " + c.name, ask, bare, nil})
		}
		for _, permits := range []uint64{50, 500} {
			ask, err := allow(c.store, "gcra", redislimit.WithLease(permits), redislimit.WithPrefix("lease"))
			if err != nil {
				return nil, nil, err
			}
			all = append(all, contestant{fmt.Sprintf("redislimit gcra, leases of %d, %s", permits, c.name), ask, bare, nil})
		}
	}
	for i := range all {
		all[i].cpu = serverCPU(g)
	}
	return all, func() { g.Close(); r.Close() }, nil
}

func allow(s redislimit.Store, name string, o ...redislimit.Option) (func(context.Context, string) error, error) {
	limit := weir.Per(100_000_000, time.Second)
	if name == "dualbucket" {
		limit = limit.And(limit)
	}
	if name == "slidinglog" {
		limit = weir.Per(100_000_000, 10*time.Millisecond) // it keeps what it spends
	}
	l, err := redislimit.New(s, name, limit, append(o, redislimit.WithTimeout(5*time.Second))...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, key string) error { return l.Allow(ctx, key).Err() }, nil
}

// bareCall runs the bare script as a limiter would: with a deadline, by its digest, through the same store.
func bareCall(s redislimit.Store) (func(context.Context, string) error, error) {
	args := []string{"100/1/100000000", strings.Repeat("x", 40)}
	load := s.Run(context.Background(), []redislimit.Call{{Source: bareScript, Keys: []string{"bare"}, Args: args}})
	if load[0].Err != nil {
		return nil, load[0].Err
	}
	sum := sha1.Sum([]byte(bareScript))
	sha := hex.EncodeToString(sum[:])
	return func(ctx context.Context, key string) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return s.Run(ctx, []redislimit.Call{{Digest: sha, Keys: []string{"weir:bare::{" + key + "}"}, Args: args}})[0].Err
	}, nil
}

// measure interleaves all contestants, round by round, and prints the median of each and of its ratios.
func measure(all []contestant, only string, callers, rounds int, each time.Duration) {
	rates, ours, theirs := make([][]float64, len(all)), make([][]float64, len(all)), make([][]float64, len(all))
	chosen := func(i int) bool {
		return i == 0 || strings.Contains(all[i].name, only) || slices.ContainsFunc(all, func(c contestant) bool {
			return c.bare == i && strings.Contains(c.name, only)
		})
	}
	for range rounds {
		for i, c := range all {
			if !chosen(i) {
				continue
			}
			rate, client, server := rateOf(c, callers, each)
			rates[i], ours[i], theirs[i] = append(rates[i], rate), append(ours[i], client), append(theirs[i], server)
		}
	}
	for i, c := range all {
		if !chosen(i) {
			continue
		}
		fmt.Printf("| %d | %-44s | %s | %.2f | %.2f | %.1f + %.1f |\n", callers, c.name, strconv.Itoa(int(median(rates[i]))),
			median(ratios(rates[i], rates[0])), median(ratios(rates[i], rates[c.bare])), median(ours[i]), median(theirs[i]))
	}
}

func ratios(a, b []float64) []float64 {
	r := make([]float64, len(a))
	for i := range a {
		r[i] = a[i] / b[i]
	}
	return r
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return x[len(x)/2]
}

// rateOf is decisions a second of so many callers on one hot key, and the microseconds of CPU time that each took in this
// process and in the server.
func rateOf(c contestant, callers int, each time.Duration) (rate, ours, theirs float64) {
	ctx, cancel := context.WithTimeout(context.Background(), each+10*time.Second)
	defer cancel()
	var done, failed atomic.Int64
	var stop atomic.Bool
	var all sync.WaitGroup
	begin, client, server := time.Now(), cpu(), c.cpu(ctx)
	for range callers {
		all.Go(func() {
			for !stop.Load() {
				if c.ask(ctx, "hot") != nil {
					failed.Add(1)
				}
				done.Add(1)
			}
		})
	}
	time.Sleep(each)
	stop.Store(true)
	all.Wait()
	n, spent := float64(done.Load()), time.Since(begin)
	ours, theirs = float64((cpu()-client).Nanoseconds())/1000/n, (c.cpu(ctx)-server)*1e6/n
	if f := failed.Load(); f > 0 {
		fmt.Fprintf(os.Stderr, "speed: %s: %d of %.0f were not allowed\n", c.name, f, n)
	}
	return n / spent.Seconds(), ours, theirs
}

// cpu is the CPU time of this process so far.
func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for this process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// serverCPU is the seconds of CPU time of the server so far; 0 where it does not say.
func serverCPU(g *goredisclient.Client) func(context.Context) float64 {
	return func(ctx context.Context) (total float64) {
		for _, line := range strings.Split(g.Info(ctx, "cpu").Val(), "\r\n") {
			name, value, _ := strings.Cut(line, ":")
			if name == "used_cpu_user" || name == "used_cpu_sys" {
				n, _ := strconv.ParseFloat(value, 64)
				total += n
			}
		}
		return total
	}
}
