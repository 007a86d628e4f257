package wasm

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/vectors"
)

// library is where the C library is from here.
const library = "../.."

func load(t *testing.T) *Module {
	t.Helper()
	bytes, err := Build(t.Context(), library)
	if errors.Is(err, ErrNoTools) {
		t.Skip(err)
	}
	require.NoError(t, err)
	m, err := Load(t.Context(), bytes)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, m.Close(t.Context())) })
	t.Logf("%d bytes", len(bytes))
	return m
}

// TestVectors leaves out what no port in C has memory for, and nothing else.
func TestVectors(t *testing.T) {
	suite, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	d, err := NewDriver(t.Context(), load(t))
	require.NoError(t, err)
	report, err := vectors.Run(t.Context(), suite, d, vectors.Options{})
	require.NoError(t, err)
	t.Log(report.Line())
	for _, r := range report.Results {
		if r.Verdict != vectors.Pass {
			assert.Equal(t, "slidinglog/config/largest", r.ID, "%s: %s", r.Verdict, r.Why)
			assert.Equal(t, vectors.Unsupported, r.Verdict)
		}
	}
	assert.Greater(t, report.Ran(), 1600)
}

// TestModule is alone in the world, and exports what the headers declare.
func TestModule(t *testing.T) {
	m := load(t)
	assert.Zero(t, m.Imported(), "a module that needs something of its host")
	declared, err := Declared(t.Context(), library)
	require.NoError(t, err)
	require.Greater(t, len(exported(declared)), 50)
	assert.Subset(t, m.Exported(), exported(declared))
	for _, name := range m.Exported() {
		assert.Regexp(t, "^weir_", name)
	}
}

// TestPolicy is what no case of the vectors asks.
func TestPolicy(t *testing.T) {
	r := load(t).Registry(t.Context(), nil)
	for _, name := range r.Names() {
		l := policy.Limit{Permits: 5, Period: 10, Burst: 5}
		if name == "dualbucket" {
			l.Permits2, l.Period2, l.Burst2 = 7, 100, 7
		}
		p, err := r.New(name, l, policy.Options{MaxKeys: 3, Bounded: true})
		require.NoError(t, err, name)
		assert.Equal(t, l, p.Limit(), name)
		assert.NotZero(t, p.Horizon(), name)
		d := p.Take(1000, 7, 5)
		assert.Equal(t, policy.Allow, d.Outcome(), name)
		assert.NotZero(t, d.Next(), name)
		assert.Equal(t, 1, p.Keys(), name)
		freed, done := p.Sweep(p.Horizon(), 0)
		assert.Equal(t, 1, freed, name)
		assert.True(t, done, name)
	}
	_, err := r.New("gcra", policy.Limit{Permits: 1, Period: 1, Burst: 1}, policy.Options{MaxKeys: MaxBytes, Bounded: true})
	assert.ErrorIs(t, err, policy.ErrInvalidMaxKeys)
}
