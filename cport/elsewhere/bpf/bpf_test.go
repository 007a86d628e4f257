package bpf

import (
	"errors"
	"os"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/policy"
	"weir/vectors"
)

// library is where the C library is from here.
const library = "../.."

// load skips where the kernel does not let this process have BPF; what the verifier says against the program is a failure.
func load(t *testing.T) *ebpf.Collection {
	t.Helper()
	object, err := Build(t.Context(), library)
	if errors.Is(err, ErrNoTools) {
		t.Skip(err)
	}
	require.NoError(t, err)
	all, err := Load(object)
	if errors.Is(err, os.ErrPermission) || errors.Is(err, ebpf.ErrNotSupported) {
		var refused *ebpf.VerifierError
		if !errors.As(err, &refused) {
			t.Skip(err)
		}
	}
	require.NoError(t, err)
	t.Cleanup(all.Close)
	return all
}

// TestVectors runs every case of the four buckets that needs no more than a step.
func TestVectors(t *testing.T) {
	suite, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	d := vectors.NewRegistryDriver("weir-bpf", "c", Registry(load(t))).Fixed(MaxKeys).Without(CannotDo...)
	report, err := vectors.Run(t.Context(), suite, d, vectors.Options{Policies: names})
	require.NoError(t, err)
	t.Log(report.Line())
	for _, r := range report.Results {
		if r.Verdict != vectors.Pass {
			assert.Equal(t, vectors.Unsupported, r.Verdict, "%s: %s", r.ID, r.Why)
		}
	}
	assert.Greater(t, report.Ran(), 600)
}

// TestFull is what the suite cannot ask, since the map's size is the program's.
func TestFull(t *testing.T) {
	p, err := Registry(load(t)).New("gcra", policy.Limit{Permits: 1, Period: 10, Burst: 1}, policy.Options{})
	require.NoError(t, err)
	for key := range uint64(MaxKeys) {
		require.Equal(t, policy.Allow, p.Take(0, key, 1).Outcome())
	}
	assert.Equal(t, policy.Full, p.Take(0, MaxKeys, 1).Outcome())
	assert.Equal(t, MaxKeys, p.Keys())
	assert.Equal(t, policy.Deny, p.Take(9, 0, 1).Outcome(), "a known key is served")
	assert.Equal(t, policy.Allow, p.Take(10, 0, 1).Outcome())
	p.Forget(5)
	assert.Equal(t, policy.Allow, p.Take(0, MaxKeys, 1).Outcome())
}
