package agree_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"weir/internal/oracle"
	"weir/policy"
)

// sentinels are all that a limit can be refused with.
var sentinels = []error{policy.ErrInvalidSecond, policy.ErrInvalidPermits, policy.ErrInvalidPeriod,
	policy.ErrInvalidBurst, policy.ErrLimitTooLarge, policy.ErrInvalidMaxKeys}

// wild is any number at all, and often one beside a bound.
func wild(draw source) uint64 {
	switch draw(5) {
	case 0:
		return draw(4)
	case 1:
		return uint64(1)<<draw(64) - draw(2)
	case 2:
		return math.MaxUint64 - draw(3)
	case 3:
		return sized(draw, 63)
	}
	return draw(0)
}

// wildLimit is any six numbers; the second three are often left out, as they must be for most policies.
func wildLimit(draw source) policy.Limit {
	l := policy.Limit{Permits: wild(draw), Period: wild(draw), Burst: wild(draw)}
	if draw(2) == 0 {
		l.Permits2, l.Period2, l.Burst2 = wild(draw), wild(draw), wild(draw)
	}
	if draw(4) == 0 {
		l.Burst = l.Permits
	}
	return l
}

// TestNothingPanics: any limit makes a policy or a LimitError that says what is wrong, the same as the oracle says; any
// call of such a policy answers.
func TestNothingPanics(t *testing.T) {
	draw, kinds := seeded(t, 70), map[string]int{}
	for range 60_000 / slowdown {
		for _, s := range five {
			kinds[survives(t, draw, s)]++
		}
	}
	t.Log(kinds)
	for _, err := range sentinels {
		assert.Positive(t, kinds[policy.Code(err)], "%v was never met", err)
	}
	assert.Greater(t, kinds[""], 10_000/slowdown, "policies were made")
}

// TestNothingPanicsShrinking is the same with programs that rapid makes small where one fails.
func TestNothingPanicsShrinking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		survives(t, shrinking(t), five[rapid.IntRange(0, len(five)-1).Draw(t, "policy")])
	})
}

// survives makes one policy of anything and asks it anything; the code is why it was not made.
func survives(t require.TestingT, draw source, s subject) (code string) {
	l := wildLimit(draw)
	o := policy.Options{Seed: draw(2) * draw(0), Bounded: draw(2) == 0, MaxKeys: draw(3)}
	p, err := s.make(l, o)
	_, wrong := oracle.New(s.name, l, o.Bounded, o.MaxKeys)
	require.Equal(t, modelCode(wrong), policy.Code(err), "%s %+v", s.name, l)
	if err != nil {
		require.Nil(t, p, "%s %+v: an error and a policy", s.name, l)
		explained(t, s, l, o, err)
		return policy.Code(err)
	}
	require.Equal(t, l, p.Limit())
	for range 20 {
		c := call{op: op(draw(6)), now: wild(draw), key: wild(draw), cost: wild(draw), cost2: wild(draw)}
		if draw(2) == 0 {
			c.now = sub(p.Horizon(), draw(3))
		}
		c.limit = wildLimit(draw)
		r := do(p, c)
		if c.op == relimit && r.Code != "" && r.Code != "past_horizon" {
			explained(t, s, c.limit, policy.Options{}, p.Relimit(c.now, c.limit))
		}
		p.Sweep(wild(draw), int(int64(wild(draw))))
	}
	if p, ok := p.(policy.Undoer); ok {
		if d, undo := p.TakeUndo(wild(draw), 7, wild(draw), wild(draw)); d.OK() {
			require.True(t, undo())
		} else {
			require.Nil(t, undo)
		}
	}
	if p, ok := p.(policy.Mover); ok {
		_, _ = p.Move(wild(draw), wild(draw), wildLimit(draw))
		do(p, call{op: take, key: 7, cost: 1})
	}
	return ""
}

// explained checks a refusal: it wraps the sentinel of its code, names a field, holds its value, and the bound that it
// names would not have this fault.
func explained(t require.TestingT, s subject, l policy.Limit, o policy.Options, err error) {
	var e *policy.LimitError
	require.True(t, errors.As(err, &e), "%v", err)
	require.True(t, slices.ContainsFunc(sentinels, func(s error) bool { return errors.Is(err, s) && s.Error() == e.Code }))
	fields := map[string]*uint64{"permits": &l.Permits, "period": &l.Period, "burst": &l.Burst,
		"permits2": &l.Permits2, "period2": &l.Period2, "burst2": &l.Burst2, "max_keys": &o.MaxKeys}
	field := fields[e.Field]
	require.NotNil(t, field, "%v", err)
	require.Equal(t, *field, e.Value, "%v", err)
	*field = e.Bound
	_, err = s.make(l, o)
	var after *policy.LimitError
	if errors.As(err, &after) {
		same := after.Code == e.Code && after.Field == e.Field
		require.False(t, same, "%v: and then, at that bound: %v", e, after)
	}
}
