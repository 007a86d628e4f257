package weir_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
)

// meters are the policies whose permits can be leased.
var meters = []string{"gcra", "tokenbucket", "leakybucket"}

// spentAt is one permit.
type spentAt = time.Duration

// windows counts by brute force, for every window that begins and ends with a permit, both included, and answers how many
// are as full as they may be. Both sides of the bound burst + w * permits / period are multiplied by the period.
func windows(t *testing.T, l weir.Limit, spent []spentAt) (full int) {
	t.Helper()
	burst := l.Burst
	if burst == 0 {
		burst = l.Permits
	}
	for i, start := range spent {
		for j := i; j < len(spent); j++ {
			sum := uint64(j-i+1) * uint64(l.Period)
			bound := burst*uint64(l.Period) + l.Permits*uint64(spent[j]-start)
			if sum > bound {
				require.Fail(t, "too much", "%v: %d permits from %v to %v of %v", l, j-i+1, start, spent[j], spent)
			}
			if sum == bound {
				full++
			}
		}
	}
	return full
}

// crowd is several leases of one key, and others who take from it without.
type crowd struct {
	*rand.Rand
	limiter *weir.Local
	clock   *fakeClock
	leases  []*weir.Lease
	spent   []spentAt
	lone    int // spent without a lease
}

// step lets some time pass, and then somebody do something. Times are drawn such that permits lapse often.
func (c *crowd) step(t *testing.T, l weir.Limit) {
	interval := max(int64(l.Period)/int64(l.Permits), 1)
	switch c.IntN(5) {
	case 0:
		c.clock.add(time.Duration(c.Int64N(interval + 2)))
	case 1:
		c.clock.add(time.Duration(c.Int64N(int64(l.Period) + 2)))
	}
	ok, lease := false, c.leases[c.IntN(len(c.leases))]
	switch c.IntN(8) {
	case 0, 1:
		ok = c.limiter.Allow(ctx, "hot").OK()
		if ok {
			c.lone++
		}
	case 2:
		if c.IntN(3) == 0 {
			lease.Close()
		}
	case 3:
		if n := len(c.spent); n > 0 && c.spent[n-1] == c.clock.Now() { // of what was spent a moment ago, it did not happen
			require.NoError(t, c.limiter.Refund(ctx, "hot", weir.N(1)))
			c.spent = c.spent[:n-1]
		}
	default:
		ok = lease.Allow()
	}
	if ok {
		c.spent = append(c.spent, c.clock.Now())
	}
}

// TestLeasesNeverExceedTheLimit draws limits from 1 to 60 of some unit, so that a tick gives back many permits or takes many
// to give back one, and Close gives back what it holds or leaves it.
func TestLeasesNeverExceedTheLimit(t *testing.T) {
	full, leased, runs := 0, 0, 1500
	if testing.Short() || underRace {
		runs = 150
	}
	draw := rand.New(rand.NewPCG(60, 1))
	for n := range runs {
		unit := []time.Duration{1, time.Microsecond, 7 * time.Millisecond, time.Second}[draw.IntN(4)]
		limit := weir.Per(1+draw.Uint64N(20), unit*time.Duration(1+draw.Int64N(60))).WithBurst(2 + draw.Uint64N(20))
		clock := &fakeClock{now: 5}
		l, err := weir.New(meters[n%3], limit, weir.WithClock(clock))
		if err != nil {
			require.ErrorIs(t, err, weir.ErrInvalidBurst, "a tick gives back more than the burst")
			continue
		}
		c := &crowd{Rand: draw, limiter: l, clock: clock}
		for range 1 + draw.IntN(3) {
			lease, err := l.Lease("hot", 1+draw.Uint64N(limit.Burst))
			require.NoError(t, err)
			c.leases = append(c.leases, lease)
		}
		for range 120 {
			c.step(t, limit)
		}
		full += windows(t, limit, c.spent)
		leased += len(c.spent) - c.lone
	}
	assert.Greater(t, full, runs/4, "windows were filled to the last permit")
	assert.Greater(t, leased, runs, "with leases")
}

// TestLeaseByHand: 1 permit in 100 ms, burst 10. A lease of 4 on an idle key stands at 0, 100, 200 and 300 ms.
func TestLeaseByHand(t *testing.T) {
	for _, name := range meters {
		l, clock := made(t, name, weir.Per(10, time.Second))
		base := clock.Now()
		at := func(ms time.Duration) { clock.set(base + ms*time.Millisecond) }
		left := func() uint64 { return l.Peek(ctx, "a", weir.N(0)).Remaining() }
		lease, err := l.Lease("a", 4)
		require.NoError(t, err)
		assert.Equal(t, uint64(10), left(), "it takes nothing before it has to")
		require.True(t, lease.Allow())
		assert.Equal(t, uint64(6), left())
		at(100)
		require.True(t, lease.Allow(), "the last moment of the second")
		assert.Equal(t, uint64(7), left(), "from those that are held")
		at(250)
		require.True(t, lease.Allow(), "the third has lapsed, this is the fourth")
		assert.Equal(t, uint64(8), left(), "also held")
		require.True(t, lease.Allow(), "and these are new ones")
		assert.Equal(t, uint64(4), left())
		lease.Close()
		assert.Equal(t, uint64(7), left(), "three come back")
		lease.Close()
		assert.Equal(t, uint64(7), left(), "once")
		require.True(t, lease.Allow(), "it may be used again")
		assert.Equal(t, uint64(3), left())
		require.NoError(t, l.Forget(ctx, "a"))
		lease.Close()
		assert.Equal(t, uint64(10), left(), "nothing is left of what was forgotten")
	}
}

// What is given back to a key moves the end of its row, and with it what the leases hold: here the lease's places are from
// 500 to 900 ms, and after 5 permits are given back from 0 to 400.
func TestLeaseHearsOfRefunds(t *testing.T) {
	for _, row := range []struct {
		why  string
		back func(*weir.Local) error
		held uint64 // of 4 at 350 ms
	}{
		{"nothing", func(*weir.Local) error { return nil }, 4},
		{"five", func(l *weir.Local) error { return l.Refund(ctx, "a", weir.N(5)) }, 1},
		{"more than there are", func(l *weir.Local) error { return l.Refund(ctx, "a", weir.N(math.MaxUint64)) }, 0},
		{"all forgotten", func(l *weir.Local) error { return l.Forget(ctx, "a") }, 0},
		{"another limit", func(l *weir.Local) error { return l.SetLimit(ctx, weir.Per(10, time.Second)) }, 0},
		{"another limit in other ticks", func(l *weir.Local) error { return l.SetLimit(ctx, weir.Per(997, time.Second)) }, 0},
	} {
		l, clock := made(t, "gcra", weir.Per(10, time.Second))
		require.True(t, l.AllowN(ctx, "a", weir.N(5)).OK())
		lease, err := l.Lease("a", 5)
		require.NoError(t, err)
		require.True(t, lease.Allow())
		require.NoError(t, row.back(l), row.why)
		clock.add(350 * time.Millisecond)
		before, held := l.Peek(ctx, "a", weir.N(0)), uint64(0)
		for lease.Allow() && l.Peek(ctx, "a", weir.N(0)).ResetAfter() == before.ResetAfter() {
			held++
		}
		assert.Equal(t, row.held, held, row.why)
	}
}

// Of two leases of one key the one that closes first must not make the other's permits good for longer.
func TestLeaseHearsOfOtherLeases(t *testing.T) {
	l, clock := made(t, "gcra", weir.Per(10, time.Second))
	one, err := l.Lease("a", 5)
	require.NoError(t, err)
	other, err := l.Lease("a", 5)
	require.NoError(t, err)
	require.True(t, one.Allow())
	require.True(t, other.Allow()) // its places: 500 to 900 ms, the first spent
	one.Close()                    // 4 given back: 100 to 500 ms
	spent := 2
	clock.add(500 * time.Millisecond)
	for other.Allow() {
		spent++
	}
	assert.Equal(t, 2+10, spent, "at 500 ms the key is as good as new: it lets a burst through, and nobody more")
}

// Where the row is shorter than the lease wants, one permit at a time is taken; then none.
func TestLeaseTakesWhatThereIs(t *testing.T) {
	l, clock := made(t, "gcra", weir.Per(10, time.Second))
	lease, err := l.Lease("a", 4)
	require.NoError(t, err)
	allowed := 0
	for range 20 {
		if lease.Allow() {
			allowed++
		}
	}
	assert.Equal(t, 10, allowed, "4, 4, 1 and 1")
	clock.add(99_999_999)
	assert.False(t, lease.Allow())
	clock.add(1)
	assert.True(t, lease.Allow())
	assert.False(t, lease.Allow())
	clock.set(math.MinInt64)
	assert.False(t, lease.Allow(), "the clock has stepped back: as anybody else is judged")
	clock.set(math.MaxInt64)
	assert.True(t, lease.Allow())
	lease.Close()
}

// A limit that is lowered below what the lease takes at a time leaves one at a time.
func TestLeaseOfMoreThanTheBurst(t *testing.T) {
	l, _ := made(t, "gcra", weir.Per(10, time.Second))
	lease, err := l.Lease("a", 10)
	require.NoError(t, err)
	require.NoError(t, l.SetLimit(ctx, weir.Per(3, time.Second)))
	assert.Equal(t, []bool{true, true, true, false}, []bool{lease.Allow(), lease.Allow(), lease.Allow(), lease.Allow()})
}

// A clock that steps back: a permit is not spent before the moment at which it was taken, when others have spent a burst.
func TestLeaseIsNotSpentBeforeItWasTaken(t *testing.T) {
	l, clock := made(t, "gcra", weir.Per(10, time.Second))
	begin := clock.Now()
	require.Equal(t, uint64(10), drain(l, "a"))
	lease, err := l.Lease("a", 10)
	require.NoError(t, err)
	clock.add(time.Second)
	require.True(t, lease.Allow())
	clock.set(begin)
	assert.False(t, lease.Allow())
}

// 5 permits come back in each tick: the lease knows to a permit how far its row goes, and loses none by it.
func TestLeaseWhosePlacesAreShorterThanATick(t *testing.T) {
	l, clock := made(t, "gcra", weir.Per(5, 1).WithBurst(10))
	lease, err := l.Lease("a", 10)
	require.NoError(t, err)
	for _, want := range []int{10, 5, 5} {
		allowed := 0
		for lease.Allow() {
			allowed++
		}
		assert.Equal(t, want, allowed)
		clock.add(1)
	}
}

func TestLeaseRefused(t *testing.T) {
	for _, row := range []struct {
		name string
		n    uint64
		want string
	}{
		{"gcra", 0, "Lease: n is 0, must be from 1 to 10"},
		{"gcra", 11, "Lease: n is 11, must be from 1 to 10"},
		{"slidinglog", 1, "no lease: of slidinglog, whose permits cannot be spent later than they are taken"},
		{"dualbucket", 1, "no lease: of dualbucket, whose permits cannot be spent later than they are taken"},
	} {
		l, _ := made(t, row.name, limitOf(row.name, weir.Per(10, time.Second)))
		lease, err := l.Lease("a", row.n)
		assert.Nil(t, lease)
		assert.EqualError(t, err, row.want)
		if row.n == 1 {
			assert.ErrorIs(t, err, weir.ErrNoLease)
		}
	}
	l, _ := made(t, "gcra", weir.Per(1_000_000, time.Second))
	_, err := l.Lease("a", 65_537)
	assert.EqualError(t, err, "Lease: n is 65537, must be from 1 to 65536")
}

// TestLeasesAtOnce: goroutines with and without leases on a clock that one of them moves. No window of what each says that
// it spent, at the moment that it says, is over-full; and the moment is read before the permit is asked for.
func TestLeasesAtOnce(t *testing.T) {
	limit := weir.Per(1000, time.Second).WithBurst(50)
	clock := &stepping{}
	l, err := weir.New("gcra", limit, weir.WithClock(clock))
	require.NoError(t, err)
	spent := make([][]spentAt, 4)
	var wg sync.WaitGroup
	for n := range spent {
		wg.Go(func() {
			lease, err := l.Lease("hot", uint64(4*n+1))
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 3000 {
				now := clock.add(time.Duration(1+i%3) * 10 * time.Microsecond)
				if lease.AllowAt(now) {
					spent[n] = append(spent[n], now)
				}
			}
		})
	}
	wg.Wait()
	var all []spentAt
	for _, some := range spent {
		all = append(all, some...)
	}
	slices.Sort(all)
	assert.Greater(t, len(all), 100)
	windows(t, limit, all)
}

// stepping moves whenever it is read with add.
type stepping struct {
	fakeClock
	at atomic.Int64
}

func (s *stepping) Now() time.Duration                { return time.Duration(s.at.Load()) }
func (s *stepping) add(d time.Duration) time.Duration { return time.Duration(s.at.Add(int64(d))) }
