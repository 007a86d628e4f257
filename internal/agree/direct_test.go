package agree_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"weir/gcra"
	"weir/policy"
)

// TestDirectAgrees: the form for one key answers what the table answers for each of its keys, in every field, over drawn
// takes, peeks and refunds.
func TestDirectAgrees(t *testing.T) {
	draw, c := seeded(t, 95), &count{}
	for c.decisions < 100_000/slowdown {
		g := newProgram(draw, "gcra", c)
		first := g.limit
		p, err := gcra.New(first, policy.Options{})
		require.NoError(t, err)
		one, err := gcra.NewDirect(first)
		require.NoError(t, err)
		require.Equal(t, first, one.Limit())
		require.Equal(t, p.Horizon(), one.Horizon())
		g.start(p.Horizon())
		for range 60 {
			call := g.next()
			if call.op > refund {
				call.op = take
			}
			call.key = fewKeys[0]
			g.calls[len(g.calls)-1] = call
			want, got := do(p, call), reply{Keys: p.Keys(), Horizon: p.Horizon()}
			var d policy.Decision
			switch call.op {
			case take:
				d = one.Take(call.now, call.cost)
			case peek:
				d = one.Peek(call.now, call.cost)
			case refund:
				got.Outcome = one.Refund(call.now, call.cost)
			}
			if call.op <= peek {
				got.Answer, got.Next = d.Answer(), d.Next()
			}
			if got != want {
				g.fail(t, first, "table  %+v\ndirect %+v", want, got)
			}
			g.saw(got)
		}
	}
}

// TestDirectRefusesLimits as New does, and makes nothing.
func TestDirectRefusesLimits(t *testing.T) {
	draw := seeded(t, 96)
	for range 5000 / slowdown {
		l := wildLimit(draw)
		_, want := gcra.New(l, policy.Options{})
		d, err := gcra.NewDirect(l)
		require.Equal(t, want, err)
		require.Equal(t, err == nil, d != nil)
	}
}
