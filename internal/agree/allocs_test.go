package agree_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/gcra"
	"weir/policy"
)

var sink policy.Answer

// TestNoAllocations: take and peek of a known key allocate nothing, allowed or denied, and nor do the quotients of the
// decision, a refund or a forget.
func TestNoAllocations(t *testing.T) {
	for _, s := range five {
		p := ample(t, s, 10)
		now := uint64(1e9)
		for range 200 { // the sliding log's ring has its size
			now += 1e8
			p.Take(now, 7, 1)
		}
		var d policy.Decision
		for _, row := range []struct {
			why string
			do  func()
			ok  bool
		}{
			{"take, allowed", func() { now += 1e8; d = p.Take(now, 7, 1) }, true},
			{"take a batch, allowed", func() { now += 1e9; d = p.Take(now, 7, 10) }, true},
			{"take, denied", func() { d = p.Take(now, 7, 10) }, false},
			{"take, too costly", func() { d = p.Take(now, 7, 11) }, false},
			{"peek, denied", func() { d = p.Peek(now, 7, 10) }, false},
			{"peek, allowed", func() { d = p.Peek(now+1e10, 7, 1) }, true},
			{"peek of a new key", func() { d = p.Peek(now, 8, 1) }, true},
			{"past the horizon", func() { d = p.Take(policy.Never, 7, 1) }, false},
			{"the answer", func() { sink = d.Answer() }, false},
			{"take and refund", func() { now += 1e8; d = p.Take(now, 7, 1); p.Refund(now, 7, 1) }, true},
		} {
			assert.Zero(t, testing.AllocsPerRun(200, row.do), "%s: %s", s.name, row.why)
			assert.Equal(t, row.ok, d.OK(), "%s: %s", s.name, row.why)
		}
	}
}

// TestNoAllocationsTwoCosts is the same with a cost for each limit.
func TestNoAllocationsTwoCosts(t *testing.T) {
	p := ample(t, five[4], 10).(policy.TwoCosts)
	now := uint64(1e9)
	p.Take2(now, 7, 1, 2)
	assert.Zero(t, testing.AllocsPerRun(200, func() { now += 1e9; sink = p.Take2(now, 7, 1, 2).Answer() }))
	assert.Zero(t, testing.AllocsPerRun(200, func() { sink = p.Peek2(now, 7, 10, 10).Answer() }))
}

// TestNoAllocationsDirect: nor does the form for one key.
func TestNoAllocationsDirect(t *testing.T) {
	direct, err := gcra.NewDirect(policy.Limit{Permits: 10, Period: 1e9, Burst: 10})
	require.NoError(t, err)
	now := uint64(0)
	assert.Zero(t, testing.AllocsPerRun(200, func() { now += 1e8; sink = direct.Take(now, 1).Answer() }))
	assert.Equal(t, policy.Allow, sink.Outcome)
	direct.Take(now, 10)
	assert.Zero(t, testing.AllocsPerRun(200, func() { sink = direct.Take(now, 10).Answer() }))
	assert.Equal(t, policy.Deny, sink.Outcome)
	assert.Zero(t, testing.AllocsPerRun(200, func() { sink = direct.Peek(now, 10).Answer() }))
	assert.Zero(t, testing.AllocsPerRun(200, func() { direct.Refund(now, 1) }))
}
