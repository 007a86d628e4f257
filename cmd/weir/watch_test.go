package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestWatchToTheEnd: without --follow it ends with the log, and says what simulate says.
func TestWatchToTheEnd(t *testing.T) {
	args := []string{"--limit", "3/s burst 1", "--log", "testdata/small.csv", "--worst", "2"}
	status, out, errs := weirWith(t, "", append([]string{"watch"}, args...)...)
	assert.Equal(t, 0, status)
	assert.Empty(t, errs)
	_, want, _ := weirWith(t, "", append([]string{"simulate"}, args...)...)
	assert.Equal(t, want, out)

	text, err := os.ReadFile("testdata/small.csv")
	require.NoError(t, err)
	args[3] = "-"
	_, out, _ = weirWith(t, string(text), append([]string{"watch", "--follow"}, args...)...)
	assert.Equal(t, want, out, "a pipe ends by itself")
}

func TestWatchNothing(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o644))
	status, out, errs := weirWith(t, "", "watch", "--limit", "1/s", "--log", empty)
	assert.Equal(t, 2, status)
	assert.Empty(t, out)
	assert.Equal(t, "weir watch: log: has no requests\n", errs)
	status, _, errs = weirWith(t, strings.Repeat("nonsense\n", 9), "watch", "--limit", "1/s", "--log", "-")
	assert.Equal(t, 2, status)
	assert.Contains(t, errs, "none of 9 lines is a request; line 1: neither common, combined, csv nor json")
}
