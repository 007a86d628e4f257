package weir_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/policy"
)

// batching is a policy that also decides in batches, one request after the other, and notes how long they were.
type batching struct {
	policy.Policy
	sizes []int
}

func (b *batching) TakeBatch(now uint64, keys, costs []uint64, out []policy.Decision) int {
	b.sizes = append(b.sizes, len(keys))
	for i, key := range keys {
		out[i] = b.Take(now, key, costs[i])
	}
	return len(keys)
}

// inBatches is a registry whose policies of one limit are Batchers, and the last of them that was made.
func inBatches(t testing.TB) (r *policy.Registry, last *batching) {
	r, last = new(policy.Registry), new(batching)
	for _, name := range weir.Names() {
		require.NoError(t, r.Add(name, func(l policy.Limit, o policy.Options) (p policy.Policy, err error) {
			if p, err = weir.Registry().New(name, l, o); err != nil || name == "dualbucket" {
				return p, err
			}
			last.Policy = p
			return last, nil
		}))
	}
	return r, last
}

// TestBatchIsOneAfterTheOther: the same answers as asked one by one, duplicates in order, whether the policy knows of
// batches or not, and with two costs.
func TestBatchIsOneAfterTheOther(t *testing.T) {
	registry, _ := inBatches(t)
	draw := rand.New(rand.NewPCG(70, 1))
	for _, options := range [][]weir.Option{nil, {weir.WithRegistry(registry)}} {
		eachPolicy(t, func(t *testing.T, name string) {
			limit := weir.Per(997, time.Second).WithBurst(9)
			switch name {
			case "slidinglog":
				limit = weir.Per(9, 10*time.Millisecond)
			case "dualbucket":
				limit = limit.And(weir.Per(30, time.Second))
			}
			one, clock := made(t, name, limit)
			many, _ := made(t, name, limit, append(options, weir.WithClock(clock))...)
			denied := 0
			for range 60 {
				clock.add(time.Duration(draw.IntN(2_000_003)))
				keys, costs := make([]string, draw.IntN(100)), []weir.Cost(nil)
				for i := range keys {
					keys[i] = fmt.Sprint(draw.IntN(12))
					costs = append(costs, weir.Both(draw.Uint64N(4), draw.Uint64N(5)))
				}
				out := make([]weir.Result, len(keys))
				require.Equal(t, len(keys), many.AllowBatch(many.Now(), keys, costs, out))
				for i, key := range keys {
					want := one.AllowN(ctx, key, costs[i])
					require.Equal(t, want.String(), out[i].String())
					require.Equal(t, want.Answer(), out[i].Answer())
					require.Equal(t, want.Next(), out[i].Next())
					if !want.OK() {
						denied++
					}
				}
			}
			assert.Positive(t, denied)
		})
	}
}

// A batch goes to the policy in groups of 32, and is as long as the shortest of its three parts.
func TestBatchSizes(t *testing.T) {
	registry, last := inBatches(t)
	l, _ := made(t, "gcra", tenIn100ms, weir.WithRegistry(registry))
	keys, costs, out := make([]string, 70), make([]weir.Cost, 70), make([]weir.Result, 70)
	for _, row := range []struct {
		keys, costs, out, want int
		sizes                  []int
	}{
		{70, 70, 70, 70, []int{32, 32, 6}},
		{32, 70, 70, 32, []int{32}},
		{70, 33, 70, 33, []int{32, 1}},
		{70, 70, 1, 1, []int{1}},
		{0, 70, 70, 0, nil},
	} {
		last.sizes = nil
		assert.Equal(t, row.want, l.AllowBatch(0, keys[:row.keys], costs[:row.costs], out[:row.out]))
		assert.Equal(t, row.sizes, last.sizes)
	}
	assert.Zero(t, l.AllowBatch(0, nil, nil, nil))
}

// A full table makes room for the new keys of a batch as it does for one, and a batch of new keys is swept after.
func TestBatchOfNewKeys(t *testing.T) {
	registry, _ := inBatches(t)
	l, clock := made(t, "gcra", tenIn100ms, weir.WithRegistry(registry), weir.WithMaxKeys(2))
	now, out := l.Now(), make([]weir.Result, 3)
	costs := []weir.Cost{weir.N(1), weir.N(1), weir.N(1)}
	l.AllowBatch(now, []string{"a", "b", "c"}, costs, out)
	assert.Equal(t, []error{nil, nil, weir.ErrFull}, []error{out[0].Err(), out[1].Err(), out[2].Err()})
	clock.add(time.Second)
	l.AllowBatch(l.Now(), []string{"c", "d", "e"}, costs, out)
	assert.Equal(t, []error{nil, nil, weir.ErrFull}, []error{out[0].Err(), out[1].Err(), out[2].Err()})

	l, clock = made(t, "gcra", tenIn100ms, weir.WithRegistry(registry))
	keys := make([]string, 32)
	many, results := make([]weir.Cost, 32), make([]weir.Result, 32)
	for round := range 100 {
		clock.add(time.Second)
		for i := range keys {
			keys[i], many[i] = fmt.Sprint(round, i), weir.N(1)
		}
		l.AllowBatch(l.Now(), keys, many, results)
	}
	assert.Less(t, l.Keys(), 800, "of 3200 that came, one after the other's permits were back")
}

func TestAllowAtIsAllowNAtThatMoment(t *testing.T) {
	eachPolicy(t, func(t *testing.T, name string) {
		l, clock := made(t, name, limitOf(name, tenIn100ms))
		now := l.Now()
		clock.add(time.Hour)
		for range 10 {
			require.True(t, l.AllowAt(now, "a", weir.N(1)).OK())
		}
		r := l.AllowAt(now, "a", weir.N(1))
		assert.Equal(t, weir.ErrDenied, r.Err())
		require.True(t, l.AllowAt(now+r.RetryAfter(), "a", weir.N(1)).OK(), "it is judged at the moment that is given")
		assert.Equal(t, weir.ErrDenied, l.AllowAt(now+r.RetryAfter(), "a", weir.N(10)).Err())
	})
}
