package keyed_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

// TestNoChargeIsLost: many goroutines take from a few keys that share a few lines, while others sweep, so that slots go from
// key to key. The clock stands still within a round and all keys are idle when the next begins. A charge that was lost, or
// went to another key, would let one key have more than its burst in a round, or another less.
func TestNoChargeIsLost(t *testing.T) {
	const burst, workers = 64, 8
	keys := crowded(24)
	rounds := uint64(scaled(4000, 300))
	for _, row := range []struct {
		why string
		o   policy.Options
	}{
		{"without bound: idle keys give way", policy.Options{Seed: seed}},
		{"bounded: idle keys are swept", policy.Options{Seed: seed, MaxKeys: 24}},
	} {
		p := madeWords(t, policy.Limit{Permits: 1, Period: 1, Burst: burst}, row.o)
		for round := range rounds {
			now := round * 1000
			chosen := rand.New(rand.NewPCG(seed, round)).Perm(len(keys))[:8]
			var admitted [8]atomic.Uint64
			var wg sync.WaitGroup
			for w := range uint64(workers) {
				wg.Go(func() {
					r := rand.New(rand.NewPCG(round, w))
					for range 8 * burst / 4 {
						i := r.IntN(len(chosen))
						cost := 1 + r.Uint64N(3)
						key := keys[chosen[i]]
						switch r.IntN(8) {
						case 0: // spent and given back: as if it had not been
							if p.Take(now, key, cost).OK() {
								p.Refund(now, key, cost)
							}
						case 1:
							if d, undo := p.TakeUndo(now, key, cost, cost); d.OK() && !undo() {
								admitted[i].Add(cost)
							}
						default:
							if p.Take(now, key, cost).OK() {
								admitted[i].Add(cost)
							}
						}
						if r.IntN(64) == 0 {
							runtime.Gosched()
						}
						if w == 0 {
							p.Sweep(now, 8)
						}
					}
				})
			}
			wg.Wait()
			for i := range chosen {
				for p.Take(now, keys[chosen[i]], 1).OK() {
					admitted[i].Add(1)
				}
				require.Equal(t, uint64(burst), admitted[i].Load(), "%s: round %d", row.why, round)
			}
			require.True(t, p.Consistent(), row.why)
		}
	}
}

// TestTakersSeeKeysThatMove: goroutines take from known keys while others make the table grow, shrink, and free what is
// beside them. Every charge of every key is counted in the end.
func TestTakersSeeKeysThatMove(t *testing.T) {
	for round := range uint64(scaled(40, 2)) {
		p := madeWords(t, policy.Limit{Permits: 1, Period: 1, Burst: 1e9}, policy.Options{Seed: seed})
		const known = 500
		var spent [known]atomic.Uint64
		together(func(worker uint64) {
			r := rand.New(rand.NewPCG(round, worker))
			for i := range uint64(scaled(20_000, 5_000)) {
				key := r.Uint64N(known)
				switch {
				case worker < 4:
					if !p.Take(1000, key, 1).OK() {
						t.Error("denied")
					}
					spent[key].Add(1)
				case worker < 6:
					p.Take(1000, known+worker<<32+i, 1) // gives way to nobody at this now
				case worker == 6:
					p.Forget(known + 4<<32 + r.Uint64N(20_000))
				default:
					p.Sweep(1000, 50)
					least := spent[key].Load()
					if d := p.Peek(1000, key, 0); d.ResetAfter() < least {
						t.Errorf("key %d owes %d, after %d were spent", key, d.ResetAfter(), least)
					}
				}
			}
		})
		for key := range uint64(known) {
			assert.Equal(t, spent[key].Load(), p.Peek(1000, key, 0).ResetAfter())
		}
		require.True(t, p.Consistent())
	}
}
