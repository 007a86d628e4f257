package agree_test

import (
	"testing"

	"pgregory.net/rapid"

	"weir/internal/oracle"
)

// TestOracleAgrees: every answer of all five is the oracle's, in every field, Next and the keys that hold room
// included, over a million decisions.
func TestOracleAgrees(t *testing.T) {
	for i, s := range five {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			draw, c := seeded(t, 20+uint64(i)), &count{}
			for c.decisions < 250_000/slowdown {
				judge(t, s, newProgram(draw, s.name, c), 60, never)
			}
			c.check(t)
		})
	}
}

func never() bool { return false }

// TestOracleAgreesShrinking is the same with programs that rapid makes small where one fails.
func TestOracleAgreesShrinking(t *testing.T) {
	for _, s := range five {
		t.Run(s.name, rapid.MakeCheck(func(t *rapid.T) {
			judge(t, s, newProgram(shrinking(t), s.name, &count{}), 20, never)
		}))
	}
}

// judge runs one program through a policy and its model.
func judge(t failer, s subject, g *program, length int, ended func() bool) {
	t.Helper()
	first := g.limit
	p, err := s.make(first, g.options())
	if err != nil {
		g.fail(t, first, "not made: %v", err)
	}
	model, err := oracle.New(s.name, first, true, g.room)
	if err != nil {
		g.fail(t, first, "the oracle: %v", err)
	}
	g.start(p.Horizon())
	for range length {
		if ended() {
			return
		}
		c := g.next()
		got := do(p, c)
		if want := ask(model, c); got != want {
			g.fail(t, first, "oracle %+v\ngot    %+v", want, got)
		}
		g.saw(got)
	}
}
