package tokenbucket_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/tokenbucket"
)

func made(t *testing.T, l policy.Limit) tokenbucket.Reader {
	t.Helper()
	p, err := tokenbucket.New(l, policy.Options{})
	require.NoError(t, err)
	return p.(tokenbucket.Reader)
}

// TestTokens: whole permits and the fraction of the next one, at any now; 3 permits per 1000 ticks, burst 5.
func TestTokens(t *testing.T) {
	p := made(t, policy.Limit{Permits: 3, Period: 1000, Burst: 5})
	for _, row := range []struct {
		why  string
		do   func()
		now  uint64
		want tokenbucket.Tokens
	}{
		{"a key never seen is full", func() {}, 0, tokenbucket.Tokens{Whole: 5, Fraction: 0, Of: 1000}},
		{"two taken", func() { p.Take(0, 7, 2) }, 0, tokenbucket.Tokens{Whole: 3, Fraction: 0, Of: 1000}},
		{"100 ticks are three tenths", func() {}, 100, tokenbucket.Tokens{Whole: 3, Fraction: 300, Of: 1000}},
		{"the fraction is carried when one is taken", func() { p.Take(100, 7, 1) }, 100, tokenbucket.Tokens{Whole: 2, Fraction: 300, Of: 1000}},
		{"a denial changes nothing", func() { p.Take(101, 7, 4) }, 101, tokenbucket.Tokens{Whole: 2, Fraction: 303, Of: 1000}},
		{"almost full", func() {}, 999, tokenbucket.Tokens{Whole: 4, Fraction: 997, Of: 1000}},
		{"never over full", func() {}, 5000, tokenbucket.Tokens{Whole: 5, Fraction: 0, Of: 1000}},
		{"an earlier now sees what was there then", func() {}, 50, tokenbucket.Tokens{Whole: 2, Fraction: 150, Of: 1000}},
		{"emptied", func() { p.Take(5000, 7, 5) }, 5000, tokenbucket.Tokens{Whole: 0, Fraction: 0, Of: 1000}},
		{"below zero reads as nothing", func() {}, 10, tokenbucket.Tokens{Whole: 0, Fraction: 0, Of: 1000}},
		{"past the horizon as the horizon", func() {}, policy.Never, tokenbucket.Tokens{Whole: 5, Fraction: 0, Of: 1000}},
	} {
		row.do()
		assert.Equal(t, row.want, p.Tokens(row.now, 7), row.why)
	}
	assert.Zero(t, p.Take(5000, 7, 1).Remaining())
	assert.Equal(t, 1, p.Keys(), "reading takes no room")
}

// TestTokensAreWhatRemains: the whole permits are what a peek says remains, and the wait for the next one is what the
// fraction still lacks.
func TestTokensAreWhatRemains(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	for range 2000 {
		l := policy.Limit{Permits: 1 + r.Uint64N(9), Period: 1 + r.Uint64N(99), Burst: 1 + r.Uint64N(9)}
		scale, err := l.Scale()
		require.NoError(t, err)
		p := made(t, l)
		for range 30 {
			now := r.Uint64N(200)
			p.Take(now, 7, r.Uint64N(l.Burst+1))
			now = r.Uint64N(200)
			tokens, d := p.Tokens(now, 7), p.Peek(now, 7, 1)
			require.Equal(t, d.Remaining(), tokens.Whole)
			require.Equal(t, scale.Permit, tokens.Of)
			require.Less(t, tokens.Fraction, tokens.Of)
			if d.OK() && d.Next() > 0 {
				lacking := tokens.Of - tokens.Fraction
				require.Equal(t, (lacking+scale.Tick-1)/scale.Tick, d.Next(), "%+v at %d: %+v", l, now, tokens)
			}
		}
	}
}
