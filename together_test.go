package weir_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/policy"
)

// foreign is a limiter that Together knows only as a Limiter. before runs ahead of each charge.
type foreign struct {
	weir.Limiter
	before func()
	refund atomic.Int64
}

func (f *foreign) AllowN(ctx context.Context, key string, c weir.Cost) weir.Result {
	if f.before != nil {
		f.before()
	}
	return f.Limiter.AllowN(ctx, key, c)
}

func (f *foreign) Refund(ctx context.Context, key string, c weir.Cost) error {
	f.refund.Add(1)
	return f.Limiter.Refund(ctx, key, c)
}

func left(l weir.Limiter, key string) uint64 { return l.Peek(ctx, key, weir.N(0)).Remaining() }

func outcomes(all []weir.Result) (o []policy.Outcome) {
	for _, r := range all {
		o = append(o, r.Outcome())
	}
	return o
}

// All or nothing, with keys and costs of their own, and an answer for each.
func TestTogether(t *testing.T) {
	user, _ := made(t, "gcra", weir.Per(5, time.Second))
	tenant, _ := made(t, "slidinglog", weir.Per(8, time.Second))
	ask := func(a, b uint64) []weir.Ask {
		return []weir.Ask{{user, "u", weir.N(a)}, {tenant, "t", weir.N(b)}}
	}
	for _, row := range []struct {
		why          string
		a, b         uint64
		want         []policy.Outcome
		user, tenant uint64 // what is left
	}{
		{"both allow", 1, 2, []policy.Outcome{policy.Allow, policy.Allow}, 4, 6},
		{"the first can never", 6, 2, []policy.Outcome{policy.TooCostly, policy.Allow}, 4, 6},
		{"the second denies", 1, 7, []policy.Outcome{policy.Allow, policy.Deny}, 4, 6},
		{"both deny", 5, 7, []policy.Outcome{policy.Deny, policy.Deny}, 4, 6},
		{"nothing is asked of the first", 0, 6, []policy.Outcome{policy.Allow, policy.Allow}, 4, 0},
		{"all of the first", 4, 0, []policy.Outcome{policy.Allow, policy.Allow}, 0, 0},
	} {
		before := weir.Result{}
		all, ok := weir.Together(ctx, ask(row.a, row.b), []weir.Result{before})
		require.Len(t, all, 3, row.why)
		assert.Equal(t, before, all[0], row.why)
		assert.Equal(t, row.want, outcomes(all[1:]), row.why)
		assert.Equal(t, row.want[0] == policy.Allow && row.want[1] == policy.Allow, ok, row.why)
		assert.Equal(t, [2]uint64{row.user, row.tenant}, [2]uint64{left(user, "u"), left(tenant, "t")}, row.why)
		if ok {
			assert.Equal(t, [2]uint64{row.user, row.tenant}, [2]uint64{all[1].Remaining(), all[2].Remaining()}, row.why)
		}
	}
}

// No asks are allowed; a limiter that is nil has nobody to answer.
func TestTogetherOfNothing(t *testing.T) {
	all, ok := weir.Together(ctx, nil, nil)
	assert.True(t, ok)
	assert.Empty(t, all)
	l, _ := made(t, "gcra", weir.Per(1, time.Second))
	all, ok = weir.Together(ctx, []weir.Ask{{l, "a", weir.N(1)}, {nil, "a", weir.N(1)}}, nil)
	assert.False(t, ok)
	assert.Equal(t, []policy.Outcome{policy.Allow, policy.Unavailable}, outcomes(all))
	assert.Equal(t, uint64(1), left(l, "a"))
	_, ok = weir.Together(ctx, []weir.Ask{{nil, "a", weir.N(1)}}, nil)
	assert.False(t, ok)
}

// One key of one limiter, asked twice, has to have room for both; and where it has not, all of it is undone.
func TestTogetherOnOneKey(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, _ := made(t, name, limitOf(name, weir.Per(5, time.Second)))
		twice := []weir.Ask{{l, "a", weir.N(3)}, {l, "a", weir.N(1)}, {l, "a", weir.N(3)}}
		_, ok := weir.Together(ctx, twice, nil)
		assert.False(t, ok)
		assert.Equal(t, uint64(5), left(l, "a"))
		_, ok = weir.Together(ctx, twice[:2], nil)
		assert.True(t, ok)
		assert.Equal(t, uint64(1), left(l, "a"))
	})
}

// Somebody takes the last permit between the question and the charge: what was charged before is undone, exactly where the
// limiter can, by Refund where it cannot; one that cannot is charged last and so never needs it.
func TestTogetherUndoes(t *testing.T) {
	for _, row := range []struct {
		why     string
		asks    func(local, joined weir.Limiter, a, b *foreign) []weir.Limiter
		refunds int64
	}{
		{"one foreign limiter comes last wherever it stands", func(l, j weir.Limiter, a, _ *foreign) []weir.Limiter { return []weir.Limiter{a, l, j} }, 0},
		{"of two the first is refunded", func(l, j weir.Limiter, a, b *foreign) []weir.Limiter { return []weir.Limiter{b, l, a, j} }, 1},
		{"observed ones are what they observe", func(l, j weir.Limiter, a, _ *foreign) []weir.Limiter {
			return []weir.Limiter{a, weir.Observed(l, weir.Observer{}), j}
		}, 0},
	} {
		local, _ := made(t, "gcra", weir.Per(5, time.Second))
		one, _ := made(t, "tokenbucket", weir.Per(5, time.Second))
		two, _ := made(t, "leakybucket", weir.Per(5, time.Second))
		joined, err := weir.All(one, two)
		require.NoError(t, err)
		inA, _ := made(t, "gcra", weir.Per(1, time.Second))
		inB, _ := made(t, "gcra", weir.Per(5, time.Second))
		a, b := &foreign{Limiter: inA, before: func() { inA.Allow(ctx, "k") }}, &foreign{Limiter: inB}
		var asks []weir.Ask
		for _, l := range row.asks(local, joined, a, b) {
			asks = append(asks, weir.Ask{Limiter: l, Key: "k", Cost: weir.N(1)})
		}
		_, ok := weir.Together(ctx, asks, nil)
		assert.False(t, ok, row.why)
		for _, l := range []weir.Limiter{local, one, two, inB} {
			assert.Equal(t, uint64(5), left(l, "k"), row.why)
		}
		assert.Zero(t, local.Keys()+one.Keys()+two.Keys(), "%s: not even room is taken, as after a refund", row.why)
		assert.Equal(t, row.refunds, b.refund.Load(), row.why)
		assert.Zero(t, a.refund.Load(), row.why)
	}
}

// A limiter that can only be refunded is charged when the others have been: what is taken from them meanwhile, by somebody who
// comes too late, changes nothing.
func TestTogetherChargesForeignLast(t *testing.T) {
	local, _ := made(t, "gcra", weir.Per(1, time.Second))
	in, _ := made(t, "gcra", weir.Per(5, time.Second))
	late := &foreign{Limiter: in, before: func() { assert.False(t, local.Allow(ctx, "k").OK()) }}
	_, ok := weir.Together(ctx, []weir.Ask{{late, "k", weir.N(1)}, {local, "k", weir.N(1)}}, nil)
	assert.True(t, ok)
	assert.Zero(t, late.refund.Load())
}

// Observers hear what came of it: of an allowed request each, of a refused one those who refused.
func TestTogetherIsObserved(t *testing.T) {
	a, _ := made(t, "gcra", weir.Per(2, time.Second))
	b, _ := made(t, "gcra", weir.Per(1, time.Second))
	var ha, hb heard
	asks := []weir.Ask{{weir.Observed(a, ha.observer()), "k", weir.N(1)}, {weir.Observed(b, hb.observer()), "k", weir.N(1)}}
	for range 3 {
		weir.Together(ctx, asks, nil)
	}
	assert.Equal(t, []policy.Outcome{policy.Allow}, ha.outcomes)
	assert.Equal(t, []policy.Outcome{policy.Allow, policy.Deny, policy.Deny}, hb.outcomes)
}

// Many at once on a clock that stands: what is allowed is no more than the smaller limit, and both are charged alike.
func TestTogetherUnderContention(t *testing.T) {
	a, _ := made(t, "gcra", weir.Per(500, time.Second))
	b, _ := made(t, "slidinglog", weir.Per(300, time.Second))
	var allowed atomic.Uint64
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 200 {
				if _, ok := weir.Together(ctx, []weir.Ask{{a, "k", weir.N(1)}, {b, "k", weir.N(1)}}, nil); ok {
					allowed.Add(1)
				}
			}
		})
	}
	all.Wait()
	assert.LessOrEqual(t, allowed.Load(), uint64(300))
	assert.Equal(t, 300-allowed.Load(), left(b, "k"))
	assert.LessOrEqual(t, left(a, "k"), 500-allowed.Load())
}

// What one limiter was charged twice for one key is taken back twice, the later charge first.
func TestTogetherUndoesOneKeyTwice(t *testing.T) {
	for _, name := range []string{"gcra", "tokenbucket", "leakybucket", "slidinglog"} {
		user, _ := made(t, name, weir.Per(10, time.Hour))
		store, _ := made(t, "gcra", weir.Per(1, time.Hour))
		late := &foreign{Limiter: store, before: func() { store.Allow(ctx, "s") }}
		_, ok := weir.Together(ctx, []weir.Ask{{user, "u", weir.N(2)}, {user, "u", weir.N(3)}, {late, "s", weir.N(1)}}, nil)
		require.False(t, ok)
		assert.EqualValues(t, 10, left(user, "u"), name)
	}
}

// own is a limiter of a program's, which has a Local in it and decides otherwise.
type own struct{ *weir.Local }

func (o own) AllowN(ctx context.Context, key string, _ weir.Cost) weir.Result {
	return o.Local.AllowN(ctx, key, weir.N(100))
}

// A Local inside somebody's limiter is not asked past it.
func TestTogetherAsksWhoEmbedsALocal(t *testing.T) {
	inner, _ := made(t, "gcra", weir.Per(10, time.Hour))
	other, _ := made(t, "gcra", weir.Per(10, time.Hour))
	all, ok := weir.Together(ctx, []weir.Ask{{other, "o", weir.N(1)}, {own{inner}, "i", weir.N(1)}}, nil)
	assert.False(t, ok, "%v", all)
	assert.EqualValues(t, 10, left(other, "o"))
}

func ExampleTogether() {
	perUser, _ := weir.New("gcra", weir.Per(10, time.Second))
	perTenant, _ := weir.New("slidinglog", weir.Per(1000, time.Hour))
	_, ok := weir.Together(context.Background(), []weir.Ask{
		{Limiter: perUser, Key: "acme/user-7", Cost: weir.N(1)},
		{Limiter: perTenant, Key: "acme", Cost: weir.N(25)},
	}, nil)
	if ok {
		fmt.Println("charged under both")
	}
	// Output: charged under both
}

// jointly is a Joint that charges the first of the asks, and says what it is told to.
type jointly struct {
	weir.Limiter
	answers int
	can     bool
}

func (j jointly) AllowTogether(ctx context.Context, asks []weir.Ask) (answers []weir.Result, can bool) {
	for range j.answers {
		answers = append(answers, j.AllowN(ctx, asks[0].Key, asks[0].Cost))
	}
	return answers, j.can
}

// What a Joint has decided is not decided again, whatever it answers; what it cannot decide is, as if it were none.
func TestTogetherHeedsAJoint(t *testing.T) {
	for _, row := range []struct {
		why     string
		answers int
		can     bool
		allowed bool
		want    policy.Outcome
		left    uint64
	}{
		{"it decides", 2, true, true, policy.Allow, 3},
		{"it cannot", 0, false, true, policy.Allow, 3},
		{"an answer is missing", 1, true, false, policy.Unavailable, 4},
		{"none is there", 0, true, false, policy.Unavailable, 5},
		{"one is too many", 3, true, false, policy.Unavailable, 2},
	} {
		l, _ := made(t, "gcra", weir.Per(5, time.Second))
		j := jointly{l, row.answers, row.can}
		all, ok := weir.Together(ctx, []weir.Ask{{j, "k", weir.N(1)}, {j, "k", weir.N(1)}}, nil)
		assert.Equal(t, row.allowed, ok, row.why)
		assert.Equal(t, []policy.Outcome{row.want, row.want}, outcomes(all), row.why)
		assert.Equal(t, row.left, left(l, "k"), row.why)
	}
}
