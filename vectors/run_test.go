package vectors_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/vectors"
)

// run puts a driver through cases and returns the results.
func run(t *testing.T, d vectors.Driver, s vectors.Suite) []vectors.Result {
	t.Helper()
	r, err := vectors.Run(t.Context(), s, d, vectors.Options{})
	require.NoError(t, err)
	require.Len(t, r.Results, s.Cases())
	return r.Results
}

func TestAnHonestPolicyPasses(t *testing.T) {
	s := suiteOf(t, threePerSecond(), everyOp(),
		refused("no-burst", `"permits":"3","period":"1000"`, "invalid_burst"),
		refused("second", `"permits":"3","period":"1000","burst":"1","burst2":"1"`, "invalid_second"),
		`{"id":"gcra/basic/no-rooms","params":{"permits":"3","period":"1000","burst":"1"},"max_keys":"0","config_error":"invalid_max_keys"}`)
	for _, r := range run(t, honest(t), s) {
		assert.Equal(t, vectors.Pass, r.Verdict, "%s: %s", r.ID, r.Why)
	}
}

// Every wrong policy, its first difference and the verdict.
func TestWrongPolicies(t *testing.T) {
	alter := altering
	for _, row := range []struct {
		name          string
		maker         policy.Maker
		verdict       vectors.Verdict
		step          int
		op            string
		field, w, got string
	}{
		{"always allow", alter(func(a policy.Answer) policy.Answer { a.Outcome = policy.Allow; return a }),
			vectors.Fail, 1, "take", "outcome", "deny", "allow"},
		{"always deny", alter(func(a policy.Answer) policy.Answer { a.Outcome = policy.Deny; return a }),
			vectors.Fail, 0, "take", "outcome", "allow", "deny"},
		{"remaining off by one", alter(func(a policy.Answer) policy.Answer { a.Remaining++; return a }),
			vectors.Fail, 0, "take", "remaining", "0", "1"},
		{"retry_after off by one", alter(func(a policy.Answer) policy.Answer { a.RetryAfter += a.RetryAfter; return a }),
			vectors.Fail, 1, "take", "retry_after", "1", "2"},
		{"retry_after for ever", alter(func(a policy.Answer) policy.Answer { a.RetryAfter = policy.Never; return a }),
			vectors.Fail, 1, "take", "retry_after", "1", "-1"},
		{"reset_after off by one", alter(func(a policy.Answer) policy.Answer { a.ResetAfter--; return a }),
			vectors.Fail, 0, "take", "reset_after", "334", "333"},
		{"answers nothing", alter(func(policy.Answer) policy.Answer { return policy.Answer{} }),
			vectors.Fail, 0, "take", "outcome", "allow", "none"},
		{"panics at a denial", alter(func(a policy.Answer) policy.Answer {
			if a.Outcome == policy.Deny {
				panic("two\nlines")
			}
			return a
		}), vectors.Crash, -1, "", "", "", ""},
		{"panics when made", func(policy.Limit, policy.Options) (policy.Policy, error) { panic("made") },
			vectors.Crash, -1, "", "", "", ""},
		{"refuses a good limit", func(policy.Limit, policy.Options) (policy.Policy, error) { return nil, policy.ErrInvalidBurst },
			vectors.Fail, -1, "new", "config_error", "none", "invalid_burst"},
		{"refuses without a word", func(policy.Limit, policy.Options) (policy.Policy, error) { return nil, errors.New("no") },
			vectors.ProtocolError, -1, "", "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := vectors.NewRegistryDriver("wrong", "go", registry(t, row.maker))
			all := run(t, d, suiteOf(t, threePerSecond(), refused("bad", "", "invalid_permits")))
			r := all[0]
			assert.Equal(t, row.verdict, r.Verdict, r.Why)
			assert.NotContains(t, r.Why, "\n")
			assert.NotEmpty(t, r.Why)
			if row.step < 0 {
				assert.Nil(t, r.Step)
			} else if assert.NotNil(t, r.Step) {
				assert.Equal(t, row.step, *r.Step)
			}
			assert.Equal(t, []string{row.op, row.field, row.w, row.got}, []string{r.Op, r.Field, r.Wanted, r.Got})
		})
	}
}

// A config error is compared word by word, and making the policy all the same is a failure too.
func TestWrongConfigErrors(t *testing.T) {
	lax := func(_ policy.Limit, o policy.Options) (policy.Policy, error) {
		return newMeter(policy.Limit{Permits: 1, Period: 1, Burst: 1}, o)
	}
	s := suiteOf(t, refused("no-permits", `"period":"1000","burst":"1"`, "invalid_permits"))
	r := run(t, vectors.NewRegistryDriver("lax", "go", registry(t, lax)), s)[0]
	assert.Equal(t, vectors.Fail, r.Verdict)
	assert.Equal(t, []string{"config_error", "invalid_permits", "none"}, []string{r.Field, r.Wanted, r.Got})
	other := func(policy.Limit, policy.Options) (policy.Policy, error) { return nil, policy.ErrInvalidPeriod }
	r = run(t, vectors.NewRegistryDriver("other", "go", registry(t, other)), s)[0]
	assert.Equal(t, []string{"config_error", "invalid_permits", "invalid_period"}, []string{r.Field, r.Wanted, r.Got})
}

// A policy that never comes back is a timeout, and the run goes on.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		defer close(stuck)
		d := vectors.NewRegistryDriver("stuck", "go", registry(t, func(l policy.Limit, o policy.Options) (policy.Policy, error) {
			if l.Permits > 0 {
				<-stuck
			}
			return newMeter(l, o)
		}))
		all := run(t, d, suiteOf(t, threePerSecond(), refused("bad", "", "invalid_permits")))
		assert.Equal(t, vectors.Timeout, all[0].Verdict)
		assert.Equal(t, "no answer within 5s", all[0].Why)
		assert.Equal(t, vectors.Pass, all[1].Verdict)
	})
}

// The steps of a dual bucket, the delay of a leaky bucket, and a policy that has one cost only.
func TestOtherFields(t *testing.T) {
	dual := `{"format":1,"policy":"dualbucket","category":"basic","cases":[{"id":"dualbucket/basic/two",
		"params":{"permits":"1","period":"1","burst":"9","permits2":"1","period2":"1","burst2":"5"},"max_keys":"*","steps":[
		{"op":"take","now":"0","key":"1","cost":"1","want":{"outcome":"allow","remaining":"4","retry_after":"0","reset_after":"1","binding":"second"}},
		{"op":"take","now":"0","key":"1","cost":"7","cost2":"0","want":{"outcome":"allow","remaining":"1","retry_after":"0","reset_after":"8","binding":"first"}},
		{"op":"refund","now":"0","key":"1","cost":"7","cost2":"0","want":{"outcome":"allow"}},
		{"op":"peek","now":"0","key":"1","cost":"1","cost2":"0","want":{"outcome":"allow","remaining":"4","retry_after":"0","reset_after":"1","binding":"second"}}]}]}`
	leaky := `{"format":1,"policy":"leakybucket","category":"basic","cases":[{"id":"leakybucket/basic/one",
		"params":{"permits":"1","period":"5","burst":"2"},"max_keys":"*","steps":[
		{"op":"take","now":"0","key":"1","cost":"1","want":{"outcome":"allow","remaining":"1","retry_after":"0","reset_after":"5","delay":"5"}}]}]}`
	s := suiteFrom(t, map[string]string{"dualbucket/basic.json": dual, "leakybucket/basic.json": leaky})
	all := run(t, vectors.NewRegistryDriver("pair", "go", registry(t, newPair, "dualbucket")), s)
	assert.Equal(t, "leakybucket/basic/one", all[0].ID)
	assert.Equal(t, vectors.Unsupported, all[0].Verdict)
	assert.Equal(t, "policy leakybucket", all[0].Why)
	assert.Equal(t, vectors.Pass, all[1].Verdict, all[1].Why)

	noSecond := func(l policy.Limit, o policy.Options) (policy.Policy, error) {
		l.Permits2, l.Period2, l.Burst2 = 0, 0, 0
		return newMeter(l, o)
	}
	all = run(t, vectors.NewRegistryDriver("single", "go", registry(t, noSecond, "dualbucket", "leakybucket")), s)
	assert.Equal(t, []string{"delay", "5", "0"}, []string{all[0].Field, all[0].Wanted, all[0].Got})
	assert.Equal(t, vectors.ProtocolError, all[1].Verdict)
	assert.Contains(t, all[1].Why, "cost2: this policy takes one cost")
	all = run(t, vectors.NewRegistryDriver("single", "go", registry(t, noSecond, "dualbucket")).Without("cost2"), s)
	assert.Equal(t, "cost2", all[1].Why)
}

// Which capability each case lacks; "" is a pass.
func TestUnsupported(t *testing.T) {
	plain := oneCase("plain", "*", "", take("0", "7", "allow", "0", "0", "334"))
	number := oneCase("number", "2", "", take("0", "7", "allow", "0", "0", "334"))
	declared := oneCase("declared", "*", `,"needs":["int64"]`, take("0", "7", "allow", "0", "0", "334"))
	asks := oneCase("asks", "*", "", take("0", "7", "allow", "0", "0", "334"), peek("1", "7", "deny", "0", "333", "333"))
	fills := oneCase("fills", "*", "", `{"op":"fill","now":"0","leave":"1"}`,
		take("0", "7", "allow", "0", "0", "334"), take("0", "8", "full", "0", "-1", "0"))
	for _, row := range []struct {
		name, text string
		driver     *vectors.RegistryDriver
		lacks      string
	}{
		{"nothing is needed", plain, honest(t).Without(vectors.Capabilities()...), ""},
		{"any number", number, honest(t), ""},
		{"no number at all", number, honest(t).Without("max_keys"), "max_keys"},
		{"another number", number, honest(t).Fixed(3).Without("max_keys"), "max_keys"},
		{"that very number", number, honest(t).Fixed(2).Without("max_keys"), ""},
		{"another, but any will do", number, honest(t).Fixed(3), ""},
		{"as the case says", declared, honest(t).Without("int64"), "int64"},
		{"a peek that is no probe", asks, honest(t).Without("peek"), "peek"},
		{"refund", everyOp(), honest(t).Without("refund"), "refund"},
		{"sweep", everyOp(), honest(t).Without("sweep"), "sweep"},
		{"relimit", everyOp(), honest(t).Without("relimit"), "relimit"},
		{"a fill of any table", fills, honest(t), ""},
		{"a fill of a fixed table", fills, honest(t).Fixed(5).Without("max_keys"), ""},
		{"a fill without end", fills, honest(t).Without("max_keys"), "max_keys"},
		{"a fill too large", fills, honest(t).Fixed(65538), "fill at step 0: a fill too large: 65537 rooms to take, at most 65536"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := run(t, row.driver, suiteOf(t, row.text))[0]
			assert.Equal(t, row.lacks, r.Why)
			if row.lacks == "" {
				assert.Equal(t, vectors.Pass, r.Verdict)
			} else {
				assert.Equal(t, vectors.Unsupported, r.Verdict)
			}
		})
	}
}

// scripted is a driver that answers what it is told to.
type scripted struct {
	hello vectors.Hello
	err   error
	reply func(q vectors.Request) (vectors.Reply, error)
	sent  []vectors.Request
}

func (s *scripted) Hello(context.Context) (vectors.Hello, error) { return s.hello, s.err }
func (s *scripted) Close() error                                 { return nil }

func (s *scripted) Run(_ context.Context, q vectors.Request) (vectors.Reply, error) {
	s.sent = append(s.sent, q)
	return s.reply(q)
}

func (s *scripted) Hash(context.Context, vectors.HashRequest) (vectors.Number, error) { return 1, nil }

func script(reply func(q vectors.Request) (vectors.Reply, error)) *scripted {
	return &scripted{hello: vectors.Hello{Protocol: 1, Policies: []string{"gcra"}, MaxKeys: "16", Can: []string{"xxh64"}}, reply: reply}
}

// A driver is never told what it must answer, sees no fill, and no probes if it has no peek.
func TestWhatADriverSees(t *testing.T) {
	d := script(func(vectors.Request) (vectors.Reply, error) { return vectors.Reply{}, nil })
	fill := oneCase("fills", "*", "", take("0", "7", "allow", "0", "0", "334"), `{"op":"fill","now":"0","leave":"13"}`,
		`{"op":"fill","now":"0","leave":"12"}`)
	r := run(t, d, suiteOf(t, threePerSecond(), fill))
	require.Len(t, d.sent, 2)
	assert.Len(t, d.sent[0].Steps, 3)
	assert.Equal(t, 2, r[0].LeftOut)
	assert.Equal(t, "16", d.sent[0].MaxKeys)
	var keys []uint64
	for _, q := range d.sent {
		for _, s := range q.Steps {
			assert.Nil(t, s.Want)
			assert.Equal(t, "take", s.Op)
		}
	}
	for _, s := range d.sent[1].Steps {
		keys = append(keys, uint64(*s.Key))
	}
	assert.Equal(t, []uint64{7, 1 << 63, 1<<63 + 1, 1<<63 + 2}, keys)
	assert.Zero(t, r[1].LeftOut)
}

// What a driver may do instead of answering.
func TestVerdictsOfADriver(t *testing.T) {
	one := vectors.Want{Outcome: "allow"}
	for _, row := range []struct {
		name    string
		reply   vectors.Reply
		err     error
		verdict vectors.Verdict
		why     string
	}{
		{"one result too few", vectors.Reply{Results: []vectors.Want{one, one}}, nil, vectors.ProtocolError, "2 results for 3 steps"},
		{"a field is missing", vectors.Reply{Results: []vectors.Want{one, one, one}}, nil, vectors.Fail, "step 0, take: remaining: wanted 0, got absent"},
		{"skipped", vectors.Reply{Skipped: "not\x1b[2J now"}, nil, vectors.Skipped, `not\x1b[2J now`},
		{"not understood", vectors.Reply{Error: "what?"}, nil, vectors.ProtocolError, "the case was not understood: what?"},
		{"its own verdict", vectors.Reply{}, &vectors.DriverError{Verdict: vectors.Crash, Text: "exit status 3"}, vectors.Crash, "exit status 3"},
		{"wrapped", vectors.Reply{}, fmt.Errorf("x: %w", &vectors.DriverError{Verdict: vectors.Timeout, Text: "5 s"}), vectors.Timeout, "5 s"},
		{"its deadline", vectors.Reply{}, context.DeadlineExceeded, vectors.Timeout, "context deadline exceeded"},
		{"any error", vectors.Reply{}, errors.New("broken pipe"), vectors.Crash, "broken pipe"},
	} {
		t.Run(row.name, func(t *testing.T) {
			d := script(func(vectors.Request) (vectors.Reply, error) { return row.reply, row.err })
			r := run(t, d, suiteOf(t, threePerSecond()))[0]
			assert.Equal(t, row.verdict, r.Verdict)
			assert.Equal(t, row.why, r.Why)
		})
	}
}

func TestHashes(t *testing.T) {
	s := suiteFrom(t, map[string]string{
		"hash/a.json": `{"format":1,"hash":"xxh64","cases":[{"id":"hash/xxh64/none","hex":"","seed":"0","want":"17241709254077376921"}]}`,
		"hash/b.json": `{"format":1,"hash":"mix32","cases":[{"id":"hash/mix32/1","in":"1","want":"1364076727"}]}`,
	})
	for _, r := range run(t, honest(t), s) {
		assert.Equal(t, vectors.Pass, r.Verdict, r.Why)
	}
	all := run(t, script(nil), s)
	assert.Equal(t, "hash: key: wanted 17241709254077376921, got 1", all[0].Why)
	assert.Equal(t, vectors.Unsupported, all[1].Verdict)
	assert.Equal(t, "mix32", all[1].Why)
	all = run(t, vectors.NewRegistryDriver("c", "c", registry(t, newMeter)), s)
	assert.Equal(t, vectors.Unsupported, all[0].Verdict, "the hashes are Go's: another language does not claim them")
}

// A run that is ended leaves the rest not run.
func TestNotRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	d := script(func(vectors.Request) (vectors.Reply, error) {
		cancel(errors.New("interrupted"))
		return vectors.Reply{}, ctx.Err()
	})
	r, err := vectors.Run(ctx, suiteOf(t, threePerSecond(), everyOp()), d, vectors.Options{})
	require.NoError(t, err)
	for _, one := range r.Results {
		assert.Equal(t, vectors.NotRun, one.Verdict)
		assert.Equal(t, "the run was ended: interrupted", one.Why)
	}
	assert.Len(t, d.sent, 1)
	assert.False(t, r.OK(false))
}

func TestRunRefuses(t *testing.T) {
	s := suiteOf(t, threePerSecond())
	hello := func(protocol int, maxKeys string) vectors.Driver {
		return &scripted{hello: vectors.Hello{Protocol: protocol, MaxKeys: maxKeys}}
	}
	for _, row := range []struct {
		name   string
		driver vectors.Driver
		o      vectors.Options
		says   string
	}{
		{"unknown policy", honest(t), vectors.Options{Policies: []string{"gcar"}}, `policy is "gcar": must be one of gcra, tokenbucket, leakybucket, slidinglog, dualbucket, hash`},
		{"a policy without cases", honest(t), vectors.Options{Policies: []string{"hash"}}, `policy is "hash": these vectors have no case of it`},
		{"unknown case", honest(t), vectors.Options{Case: "gcra/basic/y"}, `case is "gcra/basic/y": no case of these vectors and policies has that id`},
		{"protocol", hello(2, "*"), vectors.Options{}, "hello: protocol_error: protocol is 2: must be 1"},
		{"max_keys", hello(1, "many"), vectors.Options{}, `hello: protocol_error: max_keys is "many": must be "*" or a number above 0`},
		{"max_keys 0", hello(1, "0"), vectors.Options{}, `hello: protocol_error: max_keys is "0": must be "*" or a number above 0`},
		{"no hello", &scripted{err: errors.New("exit status 1")}, vectors.Options{}, "hello: exit status 1"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := vectors.Run(t.Context(), s, row.driver, row.o)
			assert.EqualError(t, err, row.says)
		})
	}
}
