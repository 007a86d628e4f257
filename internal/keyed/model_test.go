package keyed_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir/internal/keyed"
	"weir/policy"
)

const seed = 42

// crowd is keys that the table places in one shard and in few slots under seed.
func crowd(n int) (keys []uint64) {
	for key := uint64(0); len(keys) < n; key++ {
		if h := keyed.Place(seed, key); h>>58 == 5 && h<<6>>59 >= 29 { // towards the end of the slots, so that runs wrap around
			keys = append(keys, key)
		}
	}
	return keys
}

// model is the table as a map: when each key is idle, under a permit a tick.
type model map[uint64]uint64

func (m model) sweep(now uint64) (freed int) {
	for key, idle := range m {
		if idle <= now {
			delete(m, key)
			freed++
		}
	}
	return freed
}

// machine takes from, forgets and sweeps keys of a crowd, in a policy and in the model.
type machine struct {
	p    policy.Policy
	m    model
	room int
	keys []uint64
	now  uint64
}

func newMachine(t testing.TB, made maker, room int, keys []uint64) *machine {
	return &machine{made(t, tickLimit, policy.Options{MaxKeys: uint64(room), Seed: seed}), model{}, room, keys, 0}
}

func (s *machine) take(t require.TestingT, key, cost uint64) {
	want := policy.Full
	if _, known := s.m[key]; known || len(s.m) < s.room {
		want = policy.Allow
		s.m[key] = max(s.m[key], s.now) + cost
	}
	require.Equal(t, want, s.p.Take(s.now, key, cost).Outcome())
}

func (s *machine) forget(key uint64) {
	s.p.Forget(key)
	delete(s.m, key)
}

// check looks at every key of the crowd: known ones are found where they stand, others are as new.
func (s *machine) check(t require.TestingT) {
	require.Equal(t, len(s.m), s.p.Keys())
	for _, key := range s.keys {
		want := uint64(0)
		if idle, known := s.m[key]; known {
			want = idle - min(idle, s.now)
		}
		if got := s.p.Peek(s.now, key, 0).ResetAfter(); got != want {
			require.Equal(t, want, got, "key %d at %d", key, s.now)
		}
	}
}

// TestTableIsAMap: as a state machine that rapid makes small where it fails.
func TestTableIsAMap(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		keys := crowd(40)
		rapid.Check(t, func(rt *rapid.T) {
			s := newMachine(t, made, rapid.IntRange(1, 50).Draw(rt, "room"), keys)
			key := rapid.SampledFrom(keys)
			rt.Repeat(map[string]func(*rapid.T){
				"take": func(t *rapid.T) {
					s.take(t, key.Draw(t, "key"), rapid.Uint64Range(1, 30).Draw(t, "cost"))
				},
				"forget": func(t *rapid.T) { s.forget(key.Draw(t, "key")) },
				"wait":   func(t *rapid.T) { s.now += rapid.Uint64Range(0, 20).Draw(t, "ticks") },
				"sweep": func(t *rapid.T) {
					freed, _ := s.p.Sweep(s.now, 0)
					require.Equal(t, s.m.sweep(s.now), freed)
				},
				"": func(t *rapid.T) { s.check(t) },
			})
		})
	})
}

// TestTableIsAMapLong is the same as a long loop, also with steps of a sweep, which may free any idle keys, and keys
// that do not crowd.
func TestTableIsAMapLong(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		t.Logf("PCG seed %d", seed)
		r := rand.New(rand.NewPCG(seed, 1))
		plain := []uint64{0, policy.Never}
		for i := range uint64(300) {
			plain = append(plain, i<<56, i)
		}
		for _, keys := range [][]uint64{crowd(40), crowd(300), plain} {
			s := newMachine(t, made, len(keys)*2/3, keys)
			for n := range 40_000 {
				key := keys[r.IntN(len(keys))]
				switch r.IntN(12) {
				case 0, 1, 2:
					s.forget(key)
				case 3:
					s.now += r.Uint64N(10)
				case 4:
					freed, _ := s.p.Sweep(s.now, 1+r.IntN(40))
					for _, k := range keys { // which ones it was is seen by who is told full
						if idle, known := s.m[k]; freed > 0 && known && idle <= s.now {
							s.forget(k)
						}
					}
				default:
					s.take(t, key, 1+r.Uint64N(100))
				}
				if n%97 == 0 {
					s.check(t)
				}
			}
			freed, _ := s.p.Sweep(s.now+200, 0)
			require.Equal(t, s.m.sweep(s.now+200), freed)
			s.check(t)
		}
	})
}

// TestGrowth: a hundred thousand keys, each found again with what it spent, in an order that has nothing to do with
// how they came; forgetting every other one loses none.
func TestGrowth(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		const n = 100_000
		for _, step := range []uint64{1, 1 << 32, 1<<63 + 1, 0x9e3779b97f4a7c15} {
			p := made(t, tickLimit, policy.Options{Seed: seed})
			for i := range uint64(n) {
				require.True(t, p.Take(0, i*step, 1+i).OK())
			}
			require.Equal(t, n, p.Keys())
			for i := uint64(0); i < n; i += 2 {
				p.Forget(i * step)
			}
			require.Equal(t, n/2, p.Keys())
			for j := range uint64(n) {
				i := (j * 7919) % n
				want := (i % 2) * (1 + i)
				if got := p.Peek(0, i*step, 1).ResetAfter(); got != want {
					require.Equal(t, want, got, "key %d", i*step)
				}
			}
		}
	})
}

// TestSeedsPlaceAlike: where keys stand changes no answer.
func TestSeedsPlaceAlike(t *testing.T) {
	onBoth(t, func(t *testing.T, made maker) {
		keys := crowd(30)
		one, two := made(t, slow, policy.Options{Seed: seed, MaxKeys: 20}), made(t, slow, policy.Options{MaxKeys: 20})
		r := rand.New(rand.NewPCG(seed, 2))
		for range 2000 {
			now, key, cost := r.Uint64N(1e10), keys[r.IntN(len(keys))], r.Uint64N(4)
			require.Equal(t, one.Take(now, key, cost).Answer(), two.Take(now, key, cost).Answer())
			if r.IntN(50) == 0 {
				one.Sweep(now, 0)
				two.Sweep(now, 0)
				require.Equal(t, one.Keys(), two.Keys())
			}
		}
	})
}
