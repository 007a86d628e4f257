package weir_test

import (
	"context"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
)

var _ weir.Clock = (*weir.Coarse)(nil)

// inBubble runs a test on a coarse clock in a bubble, whose time moves only when all its goroutines sleep. A bubble that
// ends while one of its goroutines is left fails the test: so each of these also shows that Close leaves none.
func inBubble(t *testing.T, resolution time.Duration, test func(t *testing.T, c *weir.Coarse)) {
	synctest.Test(t, func(t *testing.T) {
		c, err := weir.NewCoarse(resolution)
		require.NoError(t, err)
		defer c.Close()
		test(t, c)
	})
}

func TestCoarseIsAsOldAsItsResolution(t *testing.T) {
	inBubble(t, 10*time.Millisecond, func(t *testing.T, c *weir.Coarse) {
		begin := time.Now()
		for _, row := range []struct{ real, coarse time.Duration }{
			{0, 0}, {1, 0}, {9_999_999, 0}, {10_000_000, 10_000_000}, {10_000_001, 10_000_000},
			{19_999_999, 10_000_000}, {29_999_999, 20_000_000}, {time.Hour, time.Hour},
		} {
			time.Sleep(row.real - time.Since(begin)) // of the bubble
			synctest.Wait()
			assert.Equal(t, row.coarse, c.Now(), "at %v", row.real)
		}
	})
}

// After Close it reads the exact clock, which is ahead of all that it said before. Closing again is nothing.
func TestCoarseAfterClose(t *testing.T) {
	inBubble(t, time.Second, func(t *testing.T, c *weir.Coarse) {
		l, err := weir.New("gcra", weir.Per(1, time.Second), weir.WithClock(c))
		require.NoError(t, err)
		require.True(t, l.Allow(ctx, "a").OK())
		time.Sleep(999_999_999)
		assert.Zero(t, c.Now())
		c.Close()
		assert.Equal(t, time.Duration(999_999_999), c.Now())
		assert.Equal(t, time.Duration(1), l.Allow(ctx, "a").RetryAfter())
		time.Sleep(time.Nanosecond)
		assert.Equal(t, time.Second, c.Now())
		assert.True(t, l.Allow(ctx, "a").OK())
		require.NoError(t, c.Sleep(ctx, 5))
		assert.Equal(t, time.Second+5, c.Now(), "to the nanosecond")
		c.Close()
	})
}

// Sleep lasts until the clock itself says that the time has passed: what Wait slept for is there then.
func TestCoarseSleep(t *testing.T) {
	inBubble(t, 10*time.Millisecond, func(t *testing.T, c *weir.Coarse) {
		for _, row := range []struct{ offset, d, slept time.Duration }{
			{0, 0, 0},
			{0, -5, 0},
			{0, 10 * time.Millisecond, 10 * time.Millisecond},
			{3 * time.Millisecond, time.Nanosecond, 10*time.Millisecond + 1},     // looks again a resolution later
			{3 * time.Millisecond, 12 * time.Millisecond, 22 * time.Millisecond}, // from 0: at 15 it is 10, at 25 it is 20
			{3 * time.Millisecond, 19_999_999, 29_999_999},                       // at 22.999999 it is 20
		} {
			time.Sleep(10*time.Millisecond - c.Now()%(10*time.Millisecond)) // to nothing in particular
			synctest.Wait()
			for begin := c.Now(); c.Now() == begin; {
				time.Sleep(time.Microsecond)
				synctest.Wait()
			}
			time.Sleep(row.offset)
			begin, from := time.Now(), c.Now()
			require.NoError(t, c.Sleep(ctx, row.d))
			synctest.Wait()
			assert.GreaterOrEqual(t, c.Now()-from, row.d)
			assert.LessOrEqual(t, time.Since(begin), max(row.d, 0)+10*time.Millisecond+time.Microsecond, "%+v", row)
		}
		ended, cancel := context.WithTimeout(ctx, 25*time.Millisecond)
		defer cancel()
		for _, d := range []time.Duration{time.Hour, math.MaxInt64} {
			assert.ErrorIs(t, c.Sleep(ended, d), context.DeadlineExceeded)
		}
		assert.ErrorIs(t, c.Sleep(ended, 0), context.DeadlineExceeded)
	})
}

func TestWaitOnACoarseClock(t *testing.T) {
	inBubble(t, 10*time.Millisecond, func(t *testing.T, c *weir.Coarse) {
		l, err := weir.New("gcra", weir.Per(1, 25*time.Millisecond), weir.WithClock(c))
		require.NoError(t, err)
		begin := time.Now()
		for range 5 {
			require.NoError(t, l.Wait(ctx, "a", weir.N(1)))
		}
		assert.GreaterOrEqual(t, time.Since(begin), 100*time.Millisecond, "never faster than the limit")
	})
}

// Readers on all sides see it go forward only, and never past the exact clock, while it is closed too.
func TestCoarseNeverStepsBackNorAhead(t *testing.T) {
	c, err := weir.NewCoarse(100 * time.Microsecond)
	require.NoError(t, err)
	before := time.Now() // later than when the clock was made
	made := c.Now()
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			last := time.Duration(0)
			for i := range 20_000 {
				now := c.Now()
				if now < last || now-made > time.Since(before)+time.Second && made == 0 {
					t.Errorf("%v after %v", now, last)
					return
				}
				last = now
				if n == 0 && i == 10_000 {
					c.Close()
				}
			}
		})
	}
	wg.Wait()
	c.Close()
}

func TestCoarseRefusesAResolution(t *testing.T) {
	for _, row := range []struct {
		resolution time.Duration
		want       string
	}{
		{0, "NewCoarse: resolution is 0s, must be from 100µs to 1s"},
		{-1, "NewCoarse: resolution is -1ns, must be from 100µs to 1s"},
		{100*time.Microsecond - 1, "NewCoarse: resolution is 99.999µs, must be from 100µs to 1s"},
		{time.Second + 1, "NewCoarse: resolution is 1.000000001s, must be from 100µs to 1s"},
	} {
		c, err := weir.NewCoarse(row.resolution)
		assert.Nil(t, c)
		assert.EqualError(t, err, row.want)
	}
}
