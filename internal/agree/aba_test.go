package agree_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
)

// TestUndoAfterMove: a key that moved to another clock, was forgotten and came back in the same state is not the one that
// the undo knew.
func TestUndoAfterMove(t *testing.T) {
	limit := func(name string, period uint64) policy.Limit {
		l := policy.Limit{Permits: 10, Period: period, Burst: 10}
		if name == "dualbucket" {
			l.Permits2, l.Period2, l.Burst2 = 10, period, 10
		}
		return l
	}
	for _, s := range five {
		p, err := s.make(limit(s.name, 1000), policy.Options{})
		require.NoError(t, err)
		mover, ok := p.(policy.Mover)
		if !ok {
			continue // a sliding log counts in one tick only
		}
		p.Take(0, 7, 1)
		q, err := mover.Move(0, 0, limit(s.name, 2000))
		require.NoError(t, err)
		_, undo := q.(policy.Undoer).TakeUndo(0, 7, 1, 1)
		q.Forget(7)
		q.Take(0, 7, 2)
		assert.False(t, undo(), s.name)
		assert.EqualValues(t, 8, q.Peek(0, 7, 1).Remaining(), s.name)
	}
}
