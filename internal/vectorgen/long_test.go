package vectorgen_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/internal/vectorgen"
	"weir/vectors"
)

// The long files are what a million decisions of production hash to, to the byte.
func TestLongFilesAreAsGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("five million decisions: not in a short run")
	}
	files, err := vectorgen.LongFiles(false)
	require.NoError(t, err)
	require.Len(t, files, len(vectors.Policies()))
	for name, data := range files {
		onDisk, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		require.NoError(t, err)
		assert.True(t, string(data) == string(onDisk), "vectors/%s: run go run ./internal/vectorgen/write", name)
	}
}

// The oracle gives the same answers. The files were written with it looking on for the whole of the way; here it looks on
// for the beginning.
func TestLongAgreesWithOracle(t *testing.T) {
	for _, name := range vectors.Policies() {
		long, err := vectorgen.Long(name, 20_000, true)
		require.NoError(t, err)
		whole, err := vectors.LoadLong(vectors.FS(), name)
		require.NoError(t, err)
		assert.Equal(t, whole.Digests[:len(long.Digests)], long.Digests, name)
	}
}

// The script meets what it is for: denials, full tables, edges from both sides, time that steps back.
func TestScriptMeetsEdges(t *testing.T) {
	for _, name := range vectors.Policies() {
		count, err := vectorgen.LongCounts(name, 50_000)
		require.NoError(t, err)
		assert.Greater(t, count["deny"], 5_000, name)
		assert.Greater(t, count["allow"], 5_000, name)
		assert.Greater(t, count["full"], 100, name)
		assert.Greater(t, count["too_costly"], 100, name)
		assert.Greater(t, count["denied a tick early"], 400, name)
		assert.Greater(t, count["allowed on the tick"], 400, name)
		assert.Greater(t, count["back"], 1_000, name)
	}
}
