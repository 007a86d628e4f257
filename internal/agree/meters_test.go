package agree_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"weir/internal/oracle"
	"weir/policy"
)

// TestMetersAgree: GCRA, token bucket and leaky bucket are one algorithm, in every field of over a million decisions,
// whatever else is done to them, times that step back included. Leaky bucket's delay is what was there to leak before the
// request; every eighth program asks the oracle as well.
func TestMetersAgree(t *testing.T) {
	draw, c := seeded(t, 1), &count{}
	for n := 0; c.decisions < 1_000_000/slowdown; n++ {
		meet(t, newProgram(draw, "leakybucket", c), 100, n%8 == 0, func() bool { return false })
	}
	if slowdown == 1 {
		assert.GreaterOrEqual(t, c.decisions, 1_000_000)
	}
	c.check(t)
}

// TestMetersAgreeShrinking is the same with programs that rapid makes small where one fails.
func TestMetersAgreeShrinking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		meet(t, newProgram(shrinking(t), "leakybucket", &count{}), 20, true, func() bool { return false })
	})
}

// meet runs one program through the three, and through the model of the leaky bucket where asked.
func meet(t failer, g *program, length int, modelled bool, ended func() bool) {
	t.Helper()
	first := g.limit
	var all [3]policy.Policy
	for i, s := range meters {
		p, err := s.make(first, g.options())
		if err != nil {
			g.fail(t, first, "%s is not made: %v", s.name, err)
		}
		all[i] = p
	}
	model, err := oracle.New("leakybucket", first, true, g.room)
	if err != nil {
		g.fail(t, first, "the oracle: %v", err)
	}
	g.start(all[0].Horizon())
	for range length {
		if ended() {
			return
		}
		c := g.next()
		before := all[0].Peek(c.now, c.key, 0).ResetAfter()
		one, two, leaky := do(all[0], c), do(all[1], c), do(all[2], c)
		if one != two {
			g.fail(t, first, "gcra        %+v\ntokenbucket %+v", one, two)
		}
		queued := one
		if c.op <= peek && one.OK() {
			queued.Delay = before
		}
		if queued != leaky {
			g.fail(t, first, "gcra with delay %+v\nleakybucket     %+v", queued, leaky)
		}
		if modelled {
			if want := ask(model, c); want != leaky {
				g.fail(t, first, "oracle      %+v\nleakybucket %+v", want, leaky)
			}
		}
		g.saw(leaky)
	}
}

// OK says whether a decision was an allowance.
func (r reply) OK() bool { return r.Outcome == policy.Allow }
