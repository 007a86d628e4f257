package redislimit_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/redislimit"
)

// distant is a store that answers with each call's argument after some time, or not before ctx ends.
type distant struct {
	takes       time.Duration // 0: until ctx ends
	under, most atomic.Int64
	runs        atomic.Int64
}

func (d *distant) Run(ctx context.Context, calls []redislimit.Call) []redislimit.Reply {
	d.runs.Add(1)
	n := d.under.Add(1)
	defer d.under.Add(-1)
	d.most.Store(max(d.most.Load(), n))
	if d.takes == 0 {
		<-ctx.Done()
	}
	time.Sleep(d.takes)
	replies := make([]redislimit.Reply, len(calls))
	for i, c := range calls {
		if replies[i].Err = ctx.Err(); replies[i].Err == nil {
			replies[i].Values = []any{c.Args[0]}
		}
	}
	return replies
}

// TestFlights: as many pipelines are under way at once as the way is long, each call gets its own reply, and calls that come
// together go together.
func TestFlights(t *testing.T) {
	for _, row := range []struct {
		takes time.Duration
		most  int64
	}{
		{100 * time.Microsecond, 2},
		{500 * time.Microsecond, 4},
		{10 * time.Millisecond, 8}, // never more
	} {
		for _, prompt := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				d := &distant{takes: row.takes}
				s := redislimit.Pipelined(d, prompt)
				const callers, calls = 64, 100
				var all sync.WaitGroup
				for i := range callers {
					all.Go(func() {
						for j := range calls {
							want := strconv.Itoa(i*calls + j)
							r := s.Run(t.Context(), []redislimit.Call{{Args: []string{want}}})
							assert.Equal(t, []redislimit.Reply{{Values: []any{want}}}, r)
							time.Sleep(time.Duration(i+1) * time.Microsecond) // or all would come at once
						}
					})
				}
				all.Wait()
				assert.Equal(t, row.most, d.most.Load(), "%v", row.takes)
				assert.Less(t, d.runs.Load(), int64(callers*calls/3))
			})
		}
	}
}

// TestDeadlineOfAFlight: a call is given up at its own deadline, that of the limiter or a sooner one of the caller, whoever it
// travels with, and so is one whose caller goes.
func TestDeadlineOfAFlight(t *testing.T) {
	for _, prompt := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			s := redislimit.Pipelined(&distant{}, prompt)
			patient := limiter(t, s, "gcra", parse(t, "1/s"), redislimit.WithTimeout(time.Second))
			impatient := limiter(t, s, "gcra", parse(t, "1/s"), redislimit.WithTimeout(10*time.Millisecond))
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					begin := time.Now()
					assert.Equal(t, policy.Unavailable, impatient.Allow(t.Context(), "k").Outcome())
					assert.Equal(t, 10*time.Millisecond, time.Since(begin))
				})
				all.Go(func() {
					begin := time.Now()
					assert.Equal(t, policy.Unavailable, patient.Allow(t.Context(), "k").Outcome())
					assert.Equal(t, time.Second, time.Since(begin))
				})
				all.Go(func() {
					begin := time.Now()
					soon, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
					defer cancel()
					assert.Equal(t, policy.Unavailable, patient.Allow(soon, "k").Outcome())
					assert.Equal(t, 30*time.Millisecond, time.Since(begin))
				})
				all.Go(func() {
					begin := time.Now()
					gone, cancel := context.WithCancel(t.Context())
					defer cancel()
					time.AfterFunc(20*time.Millisecond, cancel)
					assert.Equal(t, policy.Unavailable, patient.Allow(gone, "k").Outcome())
					assert.Equal(t, 20*time.Millisecond, time.Since(begin))
				})
			}
			all.Wait()
			require.Equal(t, uint64(12), patient.Counts().Unavailable)
		})
	}
}
