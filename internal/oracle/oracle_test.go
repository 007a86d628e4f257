package oracle_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/internal/oracle"
	"weir/policy"
)

// All expectations here are worked out by hand: the comments say how. Times are ticks.

const (
	never = policy.Never
	most  = 1<<64 - 1 // the largest cost, and a key like any other
)

// row is one thing done to a model, why, and what it answers.
type row struct {
	why  string
	do   func(*oracle.Model) any
	want any
}

func allow(remaining, reset uint64) policy.Answer {
	return policy.Answer{Outcome: policy.Allow, Remaining: remaining, ResetAfter: reset}
}

func deny(remaining, retry, reset uint64) policy.Answer {
	return policy.Answer{Outcome: policy.Deny, Remaining: remaining, RetryAfter: retry, ResetAfter: reset}
}

func tooCostly(remaining, reset uint64) policy.Answer {
	return policy.Answer{Outcome: policy.TooCostly, Remaining: remaining, RetryAfter: never, ResetAfter: reset}
}

func refused(o policy.Outcome) policy.Answer { return policy.Answer{Outcome: o, RetryAfter: never} }

func delayed(delay uint64, a policy.Answer) policy.Answer { a.Delay = delay; return a }

func second(a policy.Answer) policy.Answer { a.Binding = policy.Second; return a }

func take(now, key, cost uint64) func(*oracle.Model) any { return take2(now, key, cost, cost) }

func peek(now, key, cost uint64) func(*oracle.Model) any { return peek2(now, key, cost, cost) }

func take2(now, key, cost, cost2 uint64) func(*oracle.Model) any {
	return func(m *oracle.Model) any { return m.Take(now, key, cost, cost2) }
}

func peek2(now, key, cost, cost2 uint64) func(*oracle.Model) any {
	return func(m *oracle.Model) any { return m.Peek(now, key, cost, cost2) }
}

func refund(now, key, cost uint64) func(*oracle.Model) any {
	return func(m *oracle.Model) any { return m.Refund(now, key, cost, cost) }
}

func refund2(now, key, cost, cost2 uint64) func(*oracle.Model) any {
	return func(m *oracle.Model) any { return m.Refund(now, key, cost, cost2) }
}

func next(now, key uint64) func(*oracle.Model) any {
	return func(m *oracle.Model) any { return m.Next(now, key) }
}

func sweep(now uint64) func(*oracle.Model) any {
	return func(m *oracle.Model) any { return m.Sweep(now) }
}

func keys() func(*oracle.Model) any { return func(m *oracle.Model) any { return m.Keys() } }

// forget answers the keys that hold room afterwards.
func forget(key uint64) func(*oracle.Model) any {
	return func(m *oracle.Model) any { m.Forget(key); return m.Keys() }
}

// relimit answers the outcome, or the code of the error.
func relimit(now uint64, l policy.Limit) func(*oracle.Model) any {
	return func(m *oracle.Model) any {
		o, err := m.Relimit(now, l)
		if refusal, ok := err.(*oracle.ConfigError); ok {
			return refusal.Code
		}
		return o
	}
}

func limit(permits, period, burst uint64) policy.Limit {
	return policy.Limit{Permits: permits, Period: period, Burst: burst}
}

func made(t *testing.T, name string, l policy.Limit) *oracle.Model {
	t.Helper()
	m, err := oracle.New(name, l, false, 0)
	require.NoError(t, err)
	return m
}

func madeFor(t *testing.T, name string, l policy.Limit, maxKeys uint64) *oracle.Model {
	t.Helper()
	m, err := oracle.New(name, l, true, maxKeys)
	require.NoError(t, err)
	return m
}

func run(t *testing.T, m *oracle.Model, rows []row) {
	t.Helper()
	for i, r := range rows {
		assert.Equal(t, r.want, r.do(m), "row %d: %s", i, r.why)
	}
}

// TestConfig has every code of the table in the contract, and which comes first where two apply.
func TestConfig(t *testing.T) {
	dual := policy.Limit{Permits: 1, Period: 2, Burst: 3, Permits2: 1, Period2: 2, Burst2: 3}
	but := func(change func(*policy.Limit)) policy.Limit { l := dual; change(&l); return l }
	for _, r := range []struct {
		why, name string
		l         policy.Limit
		code      string
	}{
		{"no such name", "fixedwindow", limit(1, 1, 1), "unknown_policy"},
		{"names are exact", "GCRA", limit(0, 0, 0), "unknown_policy"},
		{"no second limit", "dualbucket", limit(0, 0, 0), "invalid_second"},
		{"one limit is enough", "gcra", dual, "invalid_second"},
		{"any number makes a second limit", "slidinglog", policy.Limit{Burst2: 1}, "invalid_second"},
		{"nothing given", "gcra", limit(0, 0, 0), "invalid_permits"},
		{"then period", "tokenbucket", limit(1, 0, 0), "invalid_period"},
		{"then burst", "leakybucket", limit(1<<62, 1, 0), "invalid_burst"},
		{"burst neither 0 nor permits", "slidinglog", limit(3, 10, 2), "invalid_burst"},
		{"burst 0", "slidinglog", limit(3, 10, 0), ""},
		{"burst = permits", "slidinglog", limit(3, 10, 3), ""},
		{"L = 2^62", "gcra", limit(1, 1, 1<<62), "limit_too_large"},
		{"L = 2^62-1", "gcra", limit(1, 1, 1<<62-1), ""},
		{"L = 2^31 * 2^31", "gcra", limit(1, 1<<31, 1<<31), "limit_too_large"},
		{"L = 2^31 * (2^31-1)", "gcra", limit(1, 1<<31, 1<<31-1), ""},
		{"L is beyond 64 bits, 0 if it wrapped", "gcra", limit(1, 1<<32, 1<<32), "limit_too_large"},
		{"p = 2^62", "gcra", limit(1<<62, 1, 1), "limit_too_large"},
		{"p = 2^61 in lowest terms", "gcra", limit(1<<62, 2, 1), ""},
		{"period 2^62", "slidinglog", limit(1, 1<<62, 0), "limit_too_large"},
		{"permits 2^62, a burst of 1 in lowest terms", "slidinglog", limit(1<<62, 1<<61, 0), "limit_too_large"},
		{"the largest log", "slidinglog", limit(1<<62-1, 1<<62-1, 0), ""},
		{"all of the first limit", "dualbucket", but(func(l *policy.Limit) { l.Burst, l.Permits2 = 1<<62, 0 }),
			"limit_too_large"},
		{"before the second: permits", "dualbucket", but(func(l *policy.Limit) { l.Permits2 = 0 }),
			"invalid_permits"},
		{"its period", "dualbucket", but(func(l *policy.Limit) { l.Period2 = 0 }), "invalid_period"},
		{"its burst", "dualbucket", but(func(l *policy.Limit) { l.Burst2 = 0 }), "invalid_burst"},
		{"its size", "dualbucket", but(func(l *policy.Limit) { l.Burst2 = 1 << 61 }), "limit_too_large"},
		{"room for no keys comes last", "dualbucket", dual, "invalid_max_keys"},
	} {
		if r.code == "" {
			made(t, r.name, r.l)
			continue
		}
		m, err := oracle.New(r.name, r.l, true, 0) // bounded for no keys: the last fault to be found
		assert.Nil(t, m, r.why)
		var refusal *oracle.ConfigError
		require.ErrorAs(t, err, &refusal, r.why)
		assert.Equal(t, r.code, refusal.Code, r.why)
		assert.Contains(t, err.Error(), r.code, r.why)
	}
}

// TestHorizon: the largest now with now * p below 2^62, 2^62-1 for a sliding log.
func TestHorizon(t *testing.T) {
	dual := policy.Limit{Permits: 1, Period: 2, Burst: 3, Permits2: 3, Period2: 1000, Burst2: 3}
	swapped := policy.Limit{Permits: 3, Period: 1000, Burst: 3, Permits2: 1, Period2: 2, Burst2: 3}
	for _, r := range []struct {
		why, name string
		l         policy.Limit
		want      uint64
	}{
		{"p = 1", "gcra", limit(1, 10, 1), 4611686018427387903},
		{"p = 3 divides 2^62-1: 48 years of nanoseconds", "tokenbucket", limit(3, 1e9, 1), 1537228672809129301},
		{"1000/4000 is p = 1", "leakybucket", limit(1000, 4000, 1), 4611686018427387903},
		{"p = 2^61: 2 * p is 2^62", "gcra", limit(1<<61, 1, 1), 1},
		{"p = 2^61 + 1", "gcra", limit(1<<61+1, 1, 1), 1},
		{"p = 2^62 - 1: now 1 is the last", "gcra", limit(1<<62-1, 1, 1), 1},
		{"a log does not multiply", "slidinglog", limit(1<<61, 1, 0), 4611686018427387903},
		{"the nearer of two", "dualbucket", dual, 1537228672809129301},
		{"which may be the first", "dualbucket", swapped, 1537228672809129301},
	} {
		assert.Equal(t, r.want, made(t, r.name, r.l).Horizon(), r.why)
	}
}

// TestOrder takes the five steps of the order of decision one by one, in a table with room for one key.
func TestOrder(t *testing.T) {
	const beyond = 1 << 62
	for _, name := range []string{"gcra", "tokenbucket"} {
		run(t, madeFor(t, name, limit(1, 10, 2), 1), []row{
			{"1 before 2", take(beyond, 1, most), refused(policy.PastHorizon)},
			{"1 before 3", take(beyond, 1, 0), refused(policy.PastHorizon)},
			{"1: peek too", peek(beyond, 1, 1), refused(policy.PastHorizon)},
			{"1: refund too", refund(beyond, 1, 1), policy.PastHorizon},
			{"the horizon itself is decided", peek(beyond-1, 1, 1), allow(2, 0)},
			{"2: however large", take(0, 1, most), tooCostly(2, 0)},
			{"2: one more than the burst", take(0, 1, 3), tooCostly(2, 0)},
			{"3: costs nothing", take(0, 1, 0), allow(2, 0)},
			{"no trace yet", keys(), 0},
			{"5", take(0, 1, 2), allow(0, 20)},
			{"room is taken", keys(), 1},
			{"2 tells the key as it stands", take(5, 1, 3), tooCostly(0, 15)},
			{"3 in debt", take(5, 1, 0), allow(0, 15)},
			{"5: half a permit has leaked, one must", take(5, 1, 1), deny(0, 5, 15)},
			{"2 before 4", take(5, most, 3), tooCostly(2, 0)},
			{"3 before 4", take(5, most, 0), allow(2, 0)},
			{"4", take(5, most, 1), refused(policy.Full)},
			{"4: peek too", peek(5, most, 1), refused(policy.Full)},
			{"a known key is not affected by a full table", take(10, 1, 1), allow(0, 20)},
			{"what is owed at 10 is gone at 30, not at 29", sweep(29), 1},
			{"beyond the horizon counts as the horizon", sweep(most), 0},
			{"room again", take(30, most, 1), allow(1, 10)},
			{"forgetting another changes nothing", forget(1), 1},
			{"one limit does not look at a second cost", take2(30, most, 1, most), allow(0, 20)},
			{"nor needs one", take2(40, most, 1, 0), allow(0, 20)},
			{"forgetting frees", forget(most), 0},
			{"and the key is as new", peek(30, most, 1), allow(2, 0)},
		})
	}
}

// TestNext: the wait for more than what remains.
func TestNext(t *testing.T) {
	run(t, made(t, "gcra", limit(3, 1000, 2)), []row{
		{"never seen", next(0, 7), uint64(0)},
		{"both", take(0, 7, 2), allow(0, 667)},
		{"2 owed; 1 owed after 333.33", next(0, 7), uint64(334)},
		{"one tick before", next(333, 7), uint64(1)},
		{"1 remains; 0 owed after 666.67", next(334, 7), uint64(333)},
		{"as large as it gets", next(667, 7), uint64(0)},
		{"no more comes past the horizon", next(1<<62, 7), uint64(0)},
	})
	run(t, made(t, "slidinglog", limit(3, 10, 0)), []row{
		{"", take(0, 7, 1), allow(2, 10)},
		{"", take(4, 7, 2), allow(0, 10)},
		{"the first expires at 10", next(5, 7), uint64(5)},
		{"the others at 14", next(10, 7), uint64(4)},
		{"1 a tick", relimit(10, limit(1, 20, 0)), policy.Allow},
		{"3 used of 1: only when all have expired, at 24, is one left", next(10, 7), uint64(14)},
	})
	run(t, made(t, "dualbucket", twoBuckets), []row{
		{"1 of 2 and 2 of 5 left", take2(0, 7, 1, 3), allow(1, 300)},
		{"2 in 10 ticks", next(0, 7), uint64(10)},
		{"never more than 2", next(10, 7), uint64(0)},
		{"1 of 2 and none of 5 left", take2(10, 7, 1, 2), second(allow(0, 490))},
		{"4.9 owed of 5; the second has one at 100", next(10, 7), uint64(90)},
	})
}
