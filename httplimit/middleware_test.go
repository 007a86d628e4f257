package httplimit_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/httplimit"
	"weir/policy"
)

type problem struct {
	Type     string
	Title    string
	Status   int
	Violated []string `json:"violated-policies"`
}

func problemOf(t testing.TB, r *http.Response) problem {
	t.Helper()
	assert.Equal(t, "application/problem+json", r.Header.Get("Content-Type"))
	var p problem
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&p))
	assert.Equal(t, r.StatusCode, p.Status)
	return p
}

// One rule, from the first request to the one after the wait that it was told.
func TestOneRule(t *testing.T) {
	l, clock := made(t, "gcra", "4/10s burst 2")
	h, served := wrapped(t, []httplimit.Rule{{Name: "api", Limiter: l}})

	r := get(h)
	assert.Equal(t, http.StatusOK, r.StatusCode)
	body, _ := io.ReadAll(r.Body)
	assert.Equal(t, "hello", string(body))
	is(t, r.Header, "RateLimit-Policy", policyItem("api", 2, 5))
	is(t, r.Header, "RateLimit", standingItem("api", 1, 3)) // 2.5 s, rounded up
	assert.Empty(t, r.Header.Get("Retry-After"))

	is(t, get(h).Header, "RateLimit", standingItem("api", 0, 3)) // the third permit is due 2.5 s from now too
	r = get(h)
	assert.Equal(t, http.StatusTooManyRequests, r.StatusCode)
	assert.Equal(t, "3", r.Header.Get("Retry-After"))
	assert.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	is(t, r.Header, "RateLimit", standingItem("api", 0, 3))
	p := problemOf(t, r)
	assert.Equal(t, []string{"api"}, p.Violated)
	assert.True(t, strings.HasSuffix(p.Type, "#quota-exceeded"))

	clock.add(3 * time.Second)
	assert.Equal(t, http.StatusOK, get(h).StatusCode)
	assert.EqualValues(t, 3, served.served.Load())
}

// A key that has all it can have is told no time; a limit that is as good as new within a millisecond has a window of 1 s.
func TestFieldsAtTheirEnds(t *testing.T) {
	free := func(*http.Request) weir.Cost { return weir.N(0) }
	l, _ := made(t, "gcra", "1000/s burst 1")
	h, _ := wrapped(t, []httplimit.Rule{{Name: "quick", Limiter: l, Cost: free}})
	r := get(h)
	is(t, r.Header, "RateLimit-Policy", policyItem("quick", 1, 1))
	is(t, r.Header, "RateLimit", standingItem("quick", 1))

	l, _ = made(t, "slidinglog", "5/1m") // has no burst of its own
	h, _ = wrapped(t, []httplimit.Rule{{Name: "log", Limiter: weir.Observed(l, weir.Observer{})}})
	r = get(h)
	is(t, r.Header, "RateLimit-Policy", policyItem("log", 5, 60))
	is(t, r.Header, "RateLimit", standingItem("log", 4, 60))

	l, _ = made(t, "slidinglog", "10/1m burst 3")
	h, _ = wrapped(t, []httplimit.Rule{{Name: "log", Limiter: l, Cost: free}})
	is(t, get(h).Header, "RateLimit-Policy", policyItem("log", 10, 60))

	for period, window := range map[time.Duration]int64{3 * time.Second: 1, 3*time.Second + 1: 2} { // T is a third of a nanosecond more
		l, err := weir.New("gcra", weir.Per(3, period).WithBurst(1))
		require.NoError(t, err)
		h, _ = wrapped(t, []httplimit.Rule{{Name: "third", Limiter: l}})
		is(t, get(h).Header, "RateLimit-Policy", policyItem("third", 1, window))
	}

	l, _ = made(t, "gcra", "1036800000000000/1d")
	h, _ = wrapped(t, []httplimit.Rule{{Name: `all "of\it`, Limiter: l, Cost: free}})
	r = get(h)
	is(t, r.Header, "RateLimit-Policy", policyItem(`all "of\it`, 999_999_999_999_999, 86400)) // cut to 15 digits
}

// A dual bucket is two policies, and the one that binds is told of.
func TestDualBucketFields(t *testing.T) {
	l, _ := made(t, "dualbucket", "2/s & 10/1m")
	cost := weir.Both(1, 1)
	h, _ := wrapped(t, []httplimit.Rule{{Name: "api", Limiter: l, Cost: func(*http.Request) weir.Cost { return cost }}})
	r := get(h)
	is(t, r.Header, "RateLimit-Policy", policyItem("api", 2, 1), policyItem("api-second", 10, 60))
	is(t, r.Header, "RateLimit", standingItem("api", 1, 1))
	cost = weir.Both(0, 9)
	is(t, get(h).Header, "RateLimit", standingItem("api-second", 0, 6))
	cost = weir.Both(1, 1)
	r = get(h)
	assert.Equal(t, http.StatusTooManyRequests, r.StatusCode)
	assert.Equal(t, "6", r.Header.Get("Retry-After"))
}

// Several rules: all are charged or none, the body names those at fault, the wait is the longest.
func TestSeveralRules(t *testing.T) {
	fast, clock := made(t, "gcra", "1/2s")
	day, _ := made(t, "slidinglog", "3/1h", weir.WithClock(clock))
	h, _ := wrapped(t, []httplimit.Rule{
		{Name: "fast", Limiter: fast},
		{Name: "day", Limiter: day, Key: httplimit.Header("X-Tenant")},
	})
	tenant := func(r *http.Request) { r.Header.Set("X-Tenant", "acme") }
	r := get(h, tenant)
	is(t, r.Header, "RateLimit-Policy", policyItem("fast", 1, 2), policyItem("day", 3, 3600))
	is(t, r.Header, "RateLimit", standingItem("fast", 0, 2), standingItem("day", 2, 3600))
	r = get(h, tenant)
	assert.Equal(t, "2", r.Header.Get("Retry-After"))
	assert.Equal(t, []string{"fast"}, problemOf(t, r).Violated)
	assert.EqualValues(t, 2, day.Peek(ctx, "acme", weir.N(0)).Remaining(), "a denied request is charged under none")
	for range 2 {
		clock.add(2 * time.Second)
		assert.Equal(t, http.StatusOK, get(h, tenant).StatusCode)
	}
	r = get(h, tenant)
	assert.Equal(t, []string{"fast", "day"}, problemOf(t, r).Violated)
	assert.Equal(t, "3596", r.Header.Get("Retry-After"))
}

// The longest wait counts wherever its rule stands, and never is longer than any.
func TestWaitsOfSeveralRules(t *testing.T) {
	slow, clock := made(t, "gcra", "1/1h")
	fast, _ := made(t, "gcra", "1/2s", weir.WithClock(clock))
	cost := weir.N(1)
	costed := httplimit.Rule{Name: "costed", Limiter: slow, Key: httplimit.Header("K"), Cost: func(*http.Request) weir.Cost { return cost }}
	h, _ := wrapped(t, []httplimit.Rule{{Name: "slow", Limiter: slow}, costed, {Name: "fast", Limiter: fast}},
		httplimit.WithForms(httplimit.RateLimitTriple))
	get(h)
	r := get(h)
	assert.Equal(t, "3600", r.Header.Get("Retry-After"))
	assert.Equal(t, "3600", r.Header.Get("RateLimit-Reset"))
	cost = weir.N(2)
	r = get(h)
	assert.Empty(t, r.Header.Values("Retry-After"))
	p := problemOf(t, r)
	assert.Equal(t, []string{"slow", "costed", "fast"}, p.Violated)
	assert.Contains(t, p.Title, "ever")
}

// A request is not told to come before its rule has anything more for anybody.
func TestRetryAfterIsNotBeforeT(t *testing.T) {
	l, _ := made(t, "dualbucket", "1/10s & 2/1s")
	cost := weir.Both(1, 1)
	h, _ := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: l, Cost: func(*http.Request) weir.Cost { return cost }}})
	get(h)
	cost = weir.Both(0, 2) // fits in half a second, but the first limit has nothing for ten
	r := get(h)
	assert.Equal(t, "10", r.Header.Get("Retry-After"))
	assert.EqualValues(t, 10, parsed(t, r.Header, "RateLimit")[0].parameters["t"])
}

// What a handler around has said of the body that it expected does not stand over the problem.
func TestDenialReplacesContentFields(t *testing.T) {
	l, _ := made(t, "gcra", "1/1h")
	inner, _ := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: l, Cost: func(*http.Request) weir.Cost { return weir.N(2) }}})
	r := get(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "image/png")
		inner.ServeHTTP(w, r)
	}))
	assert.Empty(t, r.Header.Values("Content-Length"))
	assert.Empty(t, r.Header.Values("Content-Encoding"))
	assert.Equal(t, []string{"a"}, problemOf(t, r).Violated)
}

// Joined limiters are one rule, told as the first of them.
func TestJoinedLimiters(t *testing.T) {
	a, clock := made(t, "gcra", "2/1s")
	b, _ := made(t, "slidinglog", "1/1h", weir.WithClock(clock))
	all, err := weir.All(a, b)
	require.NoError(t, err)
	h, _ := wrapped(t, []httplimit.Rule{{Name: "both", Limiter: all}})
	r := get(h)
	is(t, r.Header, "RateLimit-Policy", policyItem("both", 2, 1))
	is(t, r.Header, "RateLimit", standingItem("both", 0, 3600))
	r = get(h)
	assert.Equal(t, "3600", r.Header.Get("Retry-After"))
	assert.EqualValues(t, 1, a.Peek(ctx, "192.0.2.1", weir.N(0)).Remaining())
}

// A cost that can never fit is denied without a time to come back.
func TestTooCostly(t *testing.T) {
	l, _ := made(t, "gcra", "5/s")
	length := func(r *http.Request) weir.Cost { return weir.N(uint64(r.ContentLength)) }
	h, _ := wrapped(t, []httplimit.Rule{{Name: "bytes", Limiter: l, Cost: length}})
	body := func(n int) func(*http.Request) {
		return func(r *http.Request) { r.ContentLength = int64(n) }
	}
	r := get(h, body(6))
	assert.Equal(t, http.StatusTooManyRequests, r.StatusCode)
	assert.Empty(t, r.Header.Values("Retry-After"))
	assert.Contains(t, problemOf(t, r).Title, "ever")
	is(t, r.Header, "RateLimit", standingItem("bytes", 5))
	assert.Equal(t, http.StatusOK, get(h, body(5)).StatusCode)
}

// What a rule does not hold for it neither decides nor tells.
func TestSkipAndPlans(t *testing.T) {
	free, _ := made(t, "gcra", "1/h")
	pro, _ := made(t, "gcra", "3/h")
	plan := func(r *http.Request) weir.Limiter {
		switch r.Header.Get("Plan") {
		case "free":
			return free
		case "pro":
			return pro
		}
		return nil
	}
	h, _ := wrapped(t, []httplimit.Rule{{
		Name: "calls", Plan: plan, Key: httplimit.Header("User"),
		Skip: func(r *http.Request) bool { return r.Method == http.MethodOptions },
	}})
	for _, row := range []struct {
		method, user, plan string
		want               int
		told               bool
	}{
		{"GET", "a", "free", 200, true},
		{"GET", "a", "free", 429, true},
		{"OPTIONS", "a", "free", 200, false},
		{"GET", "b", "free", 200, true},
		{"GET", "a", "pro", 200, true},
		{"GET", "a", "pro", 200, true},
		{"GET", "a", "none", 200, false},
		{"GET", "a", "pro", 200, true},
		{"GET", "a", "pro", 429, true},
	} {
		r := get(h, func(r *http.Request) {
			r.Method = row.method
			r.Header.Set("User", row.user)
			r.Header.Set("Plan", row.plan)
		})
		assert.Equal(t, row.want, r.StatusCode, row)
		assert.Equal(t, row.told, r.Header.Get("RateLimit") != "", row)
	}
}

// A dry rule decides and spends, is heard of, tells nothing, and is not put on what others have denied.
func TestDryRun(t *testing.T) {
	real, _ := made(t, "gcra", "3/h")
	dry, _ := made(t, "gcra", "1/h")
	var outcomes []policy.Outcome
	o := weir.Observer{Decided: func(_ context.Context, _ weir.Cost, r weir.Result) { outcomes = append(outcomes, r.Outcome()) }}
	h, _ := wrapped(t, []httplimit.Rule{
		{Name: "dry", Limiter: weir.Observed(dry, o), DryRun: true},
		{Name: "real", Limiter: real},
	})
	for i := range 4 {
		r := get(h)
		assert.Equal(t, i < 3, r.StatusCode == http.StatusOK)
		is(t, r.Header, "RateLimit-Policy", policyItem("real", 3, 3600))
	}
	assert.Equal(t, []policy.Outcome{policy.Allow, policy.Deny, policy.Deny}, outcomes)
}

// down is a limiter whose server cannot be asked.
type down struct{ weir.Limiter }

func (d down) AllowN(context.Context, string, weir.Cost) weir.Result { return d.answer() }
func (d down) Peek(context.Context, string, weir.Cost) weir.Result   { return d.answer() }
func (d down) answer() weir.Result                                   { return weir.NewResult(policy.Refused(policy.Unavailable), 1, 0) }

// A limiter without an answer is 503 or passed over, as was chosen; the others hold all the same.
func TestNoAnswer(t *testing.T) {
	full, _ := made(t, "gcra", "5/s", weir.WithMaxKeys(1))
	full.Allow(ctx, "somebody else")
	good, _ := made(t, "gcra", "2/h")
	none := down{good}
	for _, row := range []struct {
		why      string
		limiters []weir.Limiter
		options  []httplimit.Option
		want     []int
		violated []string // of the last
	}{
		{"full", []weir.Limiter{full}, nil, []int{503}, []string{"a"}},
		{"unavailable", []weir.Limiter{none}, nil, []int{503}, []string{"a"}},
		{"one of two", []weir.Limiter{none, good}, nil, []int{503, 503, 503}, []string{"a"}},
		{"full, open", []weir.Limiter{full}, []httplimit.Option{httplimit.FailOpen()}, []int{200, 200}, nil},
		{"unavailable, open", []weir.Limiter{none}, []httplimit.Option{httplimit.FailOpen()}, []int{200, 200}, nil},
		{"of several open ones the rest holds", []weir.Limiter{none, good, full}, []httplimit.Option{httplimit.FailOpen()}, []int{200, 200, 429}, []string{"b"}},
		{"a denial beside it is a denial", []weir.Limiter{good, none}, nil, []int{429}, []string{"a"}},
	} {
		var rules []httplimit.Rule
		for i, l := range row.limiters {
			rules = append(rules, httplimit.Rule{Name: string(rune('a' + i)), Limiter: l})
		}
		h, _ := wrapped(t, rules, row.options...)
		for i, want := range row.want {
			r := get(h)
			assert.Equal(t, want, r.StatusCode, row.why)
			switch {
			case i < len(row.want)-1 || want == http.StatusOK:
				continue
			case want == http.StatusServiceUnavailable:
				assert.Empty(t, r.Header.Values("Retry-After"), row.why)
			}
			assert.Equal(t, row.violated, problemOf(t, r).Violated, row.why)
		}
	}
}

// Each of these is refused with a line that names what is wrong.
func TestNewRefuses(t *testing.T) {
	l, _ := made(t, "gcra", "1/s")
	plan := func(*http.Request) weir.Limiter { return l }
	good := httplimit.Rule{Name: "a", Limiter: l}
	for _, row := range []struct {
		rules   []httplimit.Rule
		options []httplimit.Option
		want    string
	}{
		{nil, nil, "has 0 rules, must have from 1 to 16"},
		{make([]httplimit.Rule, 17), nil, "has 17 rules"},
		{[]httplimit.Rule{{Limiter: l}}, nil, `rule 1 (""): Name has 0 bytes, must have from 1 to 64`},
		{[]httplimit.Rule{{Name: strings.Repeat("a", 65), Limiter: l}}, nil, "Name has 65 bytes"},
		{[]httplimit.Rule{{Name: "a\n", Limiter: l}}, nil, "Name holds the byte 0xa"},
		{[]httplimit.Rule{{Name: "ä", Limiter: l}}, nil, "must be printable ASCII"},
		{[]httplimit.Rule{{Name: "a"}}, nil, "of Limiter and Plan one must be given"},
		{[]httplimit.Rule{{Name: "a", Limiter: l, Plan: plan}}, nil, "of Limiter and Plan one must be given"},
		{[]httplimit.Rule{good, good}, nil, `rule 2: Name is "a", must differ`},
		{[]httplimit.Rule{good}, []httplimit.Option{nil}, "an option is nil"},
		{[]httplimit.Rule{good}, []httplimit.Option{httplimit.WithForms(9)}, "form is 9, must be from 1 to 4"},
		{[]httplimit.Rule{good}, []httplimit.Option{httplimit.WithForms(0)}, "form is 0"},
		{[]httplimit.Rule{good}, []httplimit.Option{httplimit.WithForms(httplimit.XRateLimit, httplimit.XRateLimitEpoch)}, "at most one"},
	} {
		_, err := httplimit.New(row.rules, row.options...)
		require.Error(t, err, row.want)
		assert.Contains(t, err.Error(), row.want)
		assert.NotContains(t, err.Error(), "\n")
	}
}

// gone is a limiter whose store cannot be asked.
type gone struct{ weir.Limiter }

func (gone) Peek(context.Context, string, weir.Cost) weir.Result {
	return weir.NewResult(policy.Refused(policy.Unavailable), 1, 0)
}

// A request that is denied whatever a failed limiter would have said is denied once, also to who counts.
func TestFailOpenDeniesOnce(t *testing.T) {
	a, _ := made(t, "gcra", "1/h")
	b, _ := made(t, "gcra", "1/h")
	a.Allow(ctx, "k")
	denied := 0
	seen := weir.Observed(a, weir.Observer{Decided: func(context.Context, weir.Cost, weir.Result) { denied++ }})
	key := func(*http.Request) string { return "k" }
	h, _ := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: seen, Key: key}, {Name: "b", Limiter: gone{b}, Key: key}}, httplimit.FailOpen())
	r := get(h)
	assert.Equal(t, http.StatusTooManyRequests, r.StatusCode)
	assert.Equal(t, "3600", r.Header.Get("Retry-After"))
	assert.Equal(t, 1, denied)
}

// A rehearsed rule that panics does so before anything is charged.
func TestDryRulePanicsBeforeTheCharge(t *testing.T) {
	l, _ := made(t, "gcra", "5/h")
	key := func(*http.Request) string { return "k" }
	h, _ := wrapped(t, []httplimit.Rule{{Name: "a", Limiter: l, Key: key},
		{Name: "dry", Limiter: l, DryRun: true, Key: func(*http.Request) string { panic("key") }}})
	assert.Panics(t, func() { get(h) })
	assert.EqualValues(t, 5, l.Peek(ctx, "k", weir.N(0)).Remaining())
}
