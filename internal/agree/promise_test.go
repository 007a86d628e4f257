package agree_test

import (
	"testing"

	"pgregory.net/rapid"

	"weir/policy"
)

// TestPromises: whatever came before, a request is denied until retry_after and allowed then, a key is not as new
// until reset_after and is then, and no more remains until next. All of it is asked by peeking, so that nothing changes.
func TestPromises(t *testing.T) {
	for i, s := range five {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			draw, c := seeded(t, 30+uint64(i)), &count{}
			for c.decisions < 100_000/slowdown {
				promised(t, s, newProgram(draw, s.name, c), 60)
			}
			c.check(t)
		})
	}
}

// TestPromisesShrinking is the same with programs that rapid makes small where one fails.
func TestPromisesShrinking(t *testing.T) {
	for _, s := range five {
		t.Run(s.name, rapid.MakeCheck(func(t *rapid.T) {
			promised(t, s, newProgram(shrinking(t), s.name, &count{}), 20)
		}))
	}
}

// unknownKey is a key that no program uses.
const unknownKey = 77

func promised(t failer, s subject, g *program, length int) {
	t.Helper()
	first := g.limit
	p, err := s.make(first, g.options())
	if err != nil {
		g.fail(t, first, "not made: %v", err)
	}
	g.start(p.Horizon())
	for range length {
		c := g.next()
		r := do(p, c)
		g.saw(r)
		if c.op > peek || c.now > r.Horizon {
			continue
		}
		broken := ""
		switch r.Outcome {
		case policy.Deny:
			broken = retryKept(p, c, r)
		case policy.Full:
			continue
		}
		if broken == "" {
			broken = resetKept(p, c, r)
		}
		if broken == "" {
			broken = nextKept(p, c, r)
		}
		if broken != "" {
			g.fail(t, first, "%+v: %s", r, broken)
		}
	}
}

// asked is the answer to a peek of the same request wait ticks later; ok is false past the horizon, where nothing was
// promised.
func asked(p policy.Policy, c call, wait uint64) (r reply, ok bool) {
	c.op, c.now = peek, add(c.now, wait)
	return do(p, c), c.now <= p.Horizon()
}

func retryKept(p policy.Policy, c call, r reply) string {
	if r.RetryAfter == 0 || r.RetryAfter == policy.Never {
		return "denied without a wait"
	}
	if then, ok := asked(p, c, r.RetryAfter-1); ok && then.Outcome != policy.Deny {
		return "not denied any more a tick before retry_after"
	}
	if then, ok := asked(p, c, r.RetryAfter); ok && then.Outcome != policy.Allow {
		return "not allowed at retry_after"
	}
	return ""
}

// resetKept compares with a key never seen, by requests of several costs.
func resetKept(p policy.Policy, c call, r reply) string {
	if r.ResetAfter > 0 {
		c.cost, c.cost2 = 0, 0
		if then, ok := asked(p, c, r.ResetAfter-1); ok && then.ResetAfter != 1 {
			return "as new before reset_after"
		}
	}
	l := p.Limit()
	for _, cost := range [][2]uint64{{0, 0}, {1, 1}, {l.Permits, l.Permits2}, {l.Burst, l.Burst2}, {l.Burst + 1, 0}} {
		c.cost, c.cost2 = cost[0], cost[1]
		known, ok := asked(p, c, r.ResetAfter)
		if !ok {
			return ""
		}
		fresh := c
		fresh.key = unknownKey
		unknown, _ := asked(p, fresh, r.ResetAfter)
		if unknown.Outcome != policy.Full && known != unknown {
			return "not as new at reset_after"
		}
	}
	return ""
}

func nextKept(p policy.Policy, c call, r reply) string {
	c.cost, c.cost2 = 0, 0
	if r.Next == 0 {
		if last, _ := asked(p, c, sub(p.Horizon(), c.now)); last.Remaining > r.Remaining {
			return "more remained later, though next said never"
		}
		return ""
	}
	if then, ok := asked(p, c, r.Next-1); ok && then.Remaining != r.Remaining {
		return "another number remained before next"
	}
	if then, ok := asked(p, c, r.Next); ok && then.Remaining <= r.Remaining {
		return "no more remained at next"
	}
	return ""
}
