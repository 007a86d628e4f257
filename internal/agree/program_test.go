package agree_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"weir/policy"
)

// fewKeys: 0 and 2^64-1 are keys like any other.
var fewKeys = [...]uint64{0, policy.Never, 1, 0x9e3779b97f4a7c15}

// program draws the calls of one run. It remembers what was answered, so that it can aim at the edges.
type program struct {
	draw    source
	name    string
	limit   policy.Limit // in force
	room    uint64       // max_keys
	horizon uint64
	now     uint64 // of the last call within the horizon
	spots   [len(fewKeys)]spot
	calls   []call
	count   *count
}

// spot is what the last answer for a key foretold: the instants at which something changes (it may be spent again, it is
// as new, one more is left), and what was left.
type spot struct {
	now   uint64
	edges [3]uint64
	left  uint64
}

// count is what was drawn, over all programs of a test.
type count struct{ decisions, denials, edges, allowed, full int }

// newProgram draws a limit, and a table that in one of three programs has room for fewer keys than are used.
func newProgram(draw source, name string, c *count) *program {
	g := &program{draw: draw, name: name, limit: limitFor(draw, name), room: 1000, count: c}
	if draw(3) == 0 {
		g.room = 1 + draw(3)
	}
	return g
}

func (g *program) options() policy.Options { return policy.Options{MaxKeys: g.room, Bounded: true} }

// start says where the policy's horizon is, and draws the first now: at 0, anywhere, or close to the end.
func (g *program) start(horizon uint64) {
	g.horizon = horizon
	switch g.draw(4) {
	case 0, 1:
		g.now = min(g.draw(100), horizon)
	case 2:
		g.now = g.draw(add(horizon, 1))
	case 3:
		g.now = sub(horizon, sized(g.draw, 40))
	}
}

// next draws a call and remembers it.
func (g *program) next() call {
	i := g.draw(uint64(len(fewKeys)))
	if g.draw(2) == 0 {
		i = 0 // one key more often than the others, so that it is driven into its limits
	}
	c := call{op: g.drawOp(), key: fewKeys[i], now: g.drawNow(g.spots[i])}
	c.cost = g.drawCost(g.spots[i], g.limit.Burst)
	c.cost2 = c.cost
	if g.name == "dualbucket" && g.draw(2) == 0 {
		c.cost2 = g.drawCost(g.spots[i], g.limit.Burst2)
	}
	if c.op == relimit {
		c.limit = limitFor(g.draw, g.name)
		if g.draw(3) > 0 { // the same clock, other numbers
			c.limit = g.limit
			c.limit.Burst = g.limit.Burst/2 + g.draw(2)
			c.limit.Permits += g.draw(3)
		}
	}
	g.calls = append(g.calls, c)
	return c
}

func (g *program) drawOp() op {
	switch n := g.draw(100); {
	case n < 70:
		return take
	case n < 85:
		return peek
	case n < 92:
		return refund
	case n < 94:
		return forget
	case n < 98:
		return sweep
	}
	return relimit
}

// drawNow is at an edge or one tick beside it, the same now again, a little later, or earlier; rarely anywhere, or past
// the horizon.
func (g *program) drawNow(s spot) uint64 {
	switch n := g.draw(100); {
	case n < 40:
		return sub(add(s.edges[g.draw(3)], g.draw(3)), 1)
	case n < 62:
		return g.now
	case n < 80:
		return min(add(g.now, g.draw(2*(g.limit.Period/g.limit.Permits)+3)), g.horizon)
	case n < 86:
		return min(add(g.now, g.draw(3)), g.horizon)
	case n < 93:
		return sub(g.now, g.draw(g.limit.Period/g.limit.Permits+3))
	case n < 95:
		return g.draw(add(g.now, 1))
	case n < 98:
		return min(add(g.now, sized(g.draw, 50)), g.horizon)
	case n < 99:
		return add(g.horizon, g.draw(3))
	}
	return g.draw(0)
}

func (g *program) drawCost(s spot, burst uint64) uint64 {
	if burst == 0 {
		burst = g.limit.Permits // a sliding log
	}
	switch n := g.draw(100); {
	case n < 8:
		return 0
	case n < 44:
		return 1
	case n < 60:
		return burst
	case n < 64:
		return burst + 1
	case n < 72:
		return s.left
	case n < 91:
		return min(s.left+1, burst)
	case n < 95:
		return 1 + g.draw(burst)
	case n < 99:
		return 1 + burst/2
	}
	return policy.Never - g.draw(2)*g.draw(0)
}

// saw takes note of the reply to the last call.
func (g *program) saw(r reply) {
	c := g.calls[len(g.calls)-1]
	if c.now <= g.horizon {
		g.now = c.now
	}
	g.horizon = r.Horizon
	if c.op == relimit && r.Code == "" {
		g.limit = c.limit
	}
	if c.op != take && c.op != peek {
		return
	}
	for i, key := range fewKeys {
		if key == c.key {
			g.tally(c, r, g.spots[i])
			g.spots[i] = spot{c.now, [3]uint64{c.now, add(c.now, r.ResetAfter), add(c.now, r.Next)}, r.Remaining}
			if r.Outcome == policy.Deny {
				g.spots[i].edges[0] = add(c.now, r.RetryAfter)
			}
		}
	}
}

// tally counts a decision. It is at an edge within one tick of when the last answer for the key said that it may be
// spent again, or is as new; an answer that foretold no wait has no edge.
func (g *program) tally(c call, r reply, s spot) {
	g.count.decisions++
	switch r.Outcome {
	case policy.Allow:
		g.count.allowed++
	case policy.Deny:
		g.count.denials++
	case policy.Full:
		g.count.full++
	}
	for _, e := range s.edges[:2] {
		if e != s.now && max(c.now, e)-min(c.now, e) <= 1 {
			g.count.edges++
			return
		}
	}
}

// failer is a *testing.T, *testing.F or *rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// fail shows the whole program, so that it can be made a row of a table.
func (g *program) fail(t failer, first policy.Limit, format string, args ...any) {
	t.Helper()
	text := ""
	for _, c := range g.calls {
		text += "\n\t" + c.String()
	}
	t.Fatalf("%s under %+v, room for %d:%s\n"+format, append([]any{g.name, first, g.room, text}, args...)...)
}

// check asserts what the issue asks of the draws.
func (c *count) check(t *testing.T) {
	t.Helper()
	t.Logf("%d decisions: %d allowed, %d denied, %d full, %d within one tick of an edge",
		c.decisions, c.allowed, c.denials, c.full, c.edges)
	assert.GreaterOrEqual(t, 5*c.denials, c.decisions, "at least 20 % denials")
	assert.GreaterOrEqual(t, 5*c.edges, c.decisions, "at least 20 % within a tick of an edge")
	assert.Positive(t, c.full, "full tables were met")
}
