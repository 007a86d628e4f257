package httplimit_test

import (
	"math/big"
	"net/http"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir"
	"weir/httplimit"
	"weir/policy"
)

// three is the values of the three fields of an older form.
func three(h http.Header, prefix string) [3]string {
	return [3]string{h.Get(prefix + "Limit"), h.Get(prefix + "Remaining"), h.Get(prefix + "Reset")}
}

// Each form alone and together, with the seconds rounded up.
func TestOlderForms(t *testing.T) {
	for _, row := range []struct {
		why       string
		forms     []httplimit.Form
		triple, x [3]string
		draft     bool
	}{
		{"none", nil, [3]string{}, [3]string{}, false},
		{"the draft's", []httplimit.Form{httplimit.RateLimit}, [3]string{}, [3]string{}, true},
		{"three", []httplimit.Form{httplimit.RateLimitTriple}, [3]string{"5", "4", "3"}, [3]string{}, false},
		{"X", []httplimit.Form{httplimit.XRateLimit}, [3]string{}, [3]string{"5", "4", "3"}, false},
		{"X since 1970", []httplimit.Form{httplimit.XRateLimitEpoch}, [3]string{}, [3]string{"5", "4", "946684805"}, false},
		{"all", []httplimit.Form{httplimit.RateLimit, httplimit.RateLimitTriple, httplimit.XRateLimit}, [3]string{"5", "4", "3"}, [3]string{"5", "4", "3"}, true},
	} {
		synctest.Test(t, func(t *testing.T) { // whose clock starts at 2000-01-01, 946684800 s after 1970
			l, err := weir.New("gcra", weir.Per(2, 5*time.Second).WithBurst(5))
			require.NoError(t, err)
			h, _ := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: l}}, httplimit.WithForms(row.forms...))
			time.Sleep(1600 * time.Millisecond) // the reset is at 4.1 s
			r := get(h)
			assert.Equal(t, row.triple, three(r.Header, "RateLimit-"), row.why)
			assert.Equal(t, row.x, three(r.Header, "X-RateLimit-"), row.why)
			assert.Equal(t, row.draft, r.Header.Get("RateLimit") != "" && r.Header.Get("RateLimit-Policy") != "", row.why)
		})
	}
}

// The older forms tell of the rule that binds: the least left, or else the longest wait.
func TestOlderFormsOfSeveralRules(t *testing.T) {
	a, clock := made(t, "gcra", "2/10s")
	b, _ := made(t, "dualbucket", "9/s & 1/1m burst 2", weir.WithClock(clock))
	c, _ := made(t, "slidinglog", "9/1h", weir.WithClock(clock))
	h, _ := wrapped(t, []httplimit.Rule{{Name: "c", Limiter: c}, {Name: "a", Limiter: a}, {Name: "b", Limiter: b}, {Name: "down", Limiter: down{a}}},
		httplimit.WithForms(httplimit.RateLimitTriple), httplimit.FailOpen())
	assert.Equal(t, [3]string{"2", "1", "5"}, three(get(h).Header, "RateLimit-"), "a, of two equal ones")
	clock.add(5 * time.Second)
	assert.Equal(t, [3]string{"2", "0", "115"}, three(get(h).Header, "RateLimit-"), "the second limit of b")
	r := get(h)
	assert.Equal(t, [3]string{"2", "0", "115"}, three(r.Header, "RateLimit-"))
	assert.Equal(t, "55", r.Header.Get("Retry-After"))
}

// A middleware around another adds its items to the list, and neither takes the other's away.
func TestNestedMiddleware(t *testing.T) {
	a, _ := made(t, "gcra", "5/s")
	b, _ := made(t, "gcra", "1/h")
	inner, _ := wrapped(t, []httplimit.Rule{{Name: "b", Limiter: b}})
	m, err := httplimit.New([]httplimit.Rule{{Name: "a", Limiter: a}})
	require.NoError(t, err)
	h := m.Wrap(inner)
	is(t, get(h).Header, "RateLimit", standingItem("a", 4, 1), standingItem("b", 0, 3600))
	r := get(h)
	is(t, r.Header, "RateLimit-Policy", policyItem("a", 5, 1), policyItem("b", 1, 3600))
	assert.Equal(t, []string{"b"}, problemOf(t, r).Violated)
}

// The partition key is a Byte Sequence of six bytes, the same in both fields, different for different keys, and another one
// under another secret.
func TestPartitionKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, secret := range []policy.SipSecret{{1}, {2}} {
		l, _ := made(t, "gcra", "5/s")
		h, _ := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: l, Key: httplimit.Header("K")}}, httplimit.WithPartitionKeys(secret))
		for _, key := range []string{"x", "y", "x"} {
			r := get(h, func(r *http.Request) { r.Header.Set("K", key) })
			a, b := parsed(t, r.Header, "RateLimit")[0], parsed(t, r.Header, "RateLimit-Policy")[0]
			require.Len(t, a.parameters["pk"], 6)
			assert.Equal(t, a.parameters["pk"], b.parameters["pk"])
			h := policy.SipKey(key, secret)
			assert.Equal(t, []byte{byte(h >> 40), byte(h >> 32), byte(h >> 24), byte(h >> 16), byte(h >> 8), byte(h)}, a.parameters["pk"])
			seen[string(a.parameters["pk"].([]byte))] = true
		}
	}
	assert.Len(t, seen, 4)
}

// What the fields say comes true: after t seconds there is more and a second before there is not; after Retry-After seconds
// the request is allowed. The window is the definition, over big integers.
func TestFieldsComeTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"gcra", "tokenbucket", "leakybucket", "slidinglog"}).Draw(t, "policy")
		limit := weir.Limit{
			Permits: rapid.Uint64Range(1, 1000).Draw(t, "permits"),
			Period:  time.Duration(rapid.Int64Range(1, 100_000).Draw(t, "ms")) * time.Millisecond,
			Burst:   rapid.Uint64Range(1, 50).Draw(t, "burst"),
		}
		if name == "slidinglog" {
			limit.Burst = limit.Permits
		}
		clock := &standing{}
		l, err := weir.New(name, limit, weir.WithClock(clock))
		if err != nil {
			t.Skip(err)
		}
		m, err := httplimit.New([]httplimit.Rule{{Name: "a", Limiter: l, Key: httplimit.Header("K")}})
		if err != nil {
			t.Fatal(err)
		}
		h := m.Wrap(nothing{})
		for range rapid.IntRange(1, 60).Draw(t, "before") {
			clock.add(time.Duration(rapid.Int64Range(0, int64(limit.Period)).Draw(t, "step")) / 8)
			get(h)
		}
		r := get(h)
		policies, standings := pairs(t, r.Header)
		if policies["q"] != int64(limit.Burst) || policies["w"] != window(limit) {
			t.Fatalf("%v: %v", limit, policies)
		}
		left := func() int64 { return int64(l.Peek(ctx, "", weir.N(0)).Remaining()) }
		if wait, ok := standings["t"]; ok {
			clock.add(time.Duration(wait-1) * time.Second)
			if left() != standings["r"] {
				t.Fatalf("more than %d a second early", standings["r"])
			}
			clock.add(time.Second)
			if left() <= standings["r"] {
				t.Fatalf("no more than %d after %d s", standings["r"], wait)
			}
			clock.add(-time.Duration(wait) * time.Second)
		}
		if r.StatusCode == http.StatusTooManyRequests {
			wait, err := strconv.Atoi(r.Header.Get("Retry-After"))
			if err != nil || wait < 1 || int64(wait) < standings["t"] {
				t.Fatalf("Retry-After %q, t %d", r.Header.Get("Retry-After"), standings["t"])
			}
			clock.add(time.Duration(wait-1) * time.Second)
			if l.Peek(ctx, "", weir.N(1)).OK() {
				t.Fatal("allowed a second early")
			}
			clock.add(time.Second)
			if !l.Peek(ctx, "", weir.N(1)).OK() {
				t.Fatal("denied after Retry-After")
			}
		}
	})
}

// pairs is the numbers of the two fields.
func pairs(t *rapid.T, h http.Header) (policies, standings map[string]int64) {
	var out [2]map[string]int64
	for i, field := range []string{"RateLimit-Policy", "RateLimit"} {
		out[i] = map[string]int64{}
		for name, value := range parsedByLibrary(t, h, field) {
			out[i][name] = value.(int64)
		}
	}
	return out[0], out[1]
}

// window is how long a burst takes to come back, in whole seconds rounded up.
func window(l weir.Limit) int64 {
	take := new(big.Rat).SetFrac(new(big.Int).Mul(new(big.Int).SetUint64(l.Burst), big.NewInt(int64(l.Period))),
		new(big.Int).Mul(new(big.Int).SetUint64(l.Permits), big.NewInt(1e9)))
	whole := new(big.Int).Div(take.Num(), take.Denom())
	if !take.IsInt() {
		whole.Add(whole, big.NewInt(1))
	}
	return whole.Int64()
}

// The body of a denial names the limit of a dual bucket that denied, as the RateLimit field does.
func TestDenialNamesTheSecondLimit(t *testing.T) {
	l, _ := made(t, "dualbucket", "100/s & 1/h")
	h, _ := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: l}})
	get(h)
	r := get(h)
	is(t, r.Header, "RateLimit", standingItem("a-second", 0, 3600))
	assert.Equal(t, []string{"a-second"}, problemOf(t, r).Violated)
}

// A burst that takes longer to come back than nanoseconds can count is told in full: a thousand million days.
func TestLongestWindow(t *testing.T) {
	l, _ := made(t, "gcra", "1/1d burst 1000000000")
	h, _ := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: l}})
	is(t, get(h).Header, "RateLimit-Policy", policyItem("a", 1_000_000_000, 86_400_000_000_000))
}
