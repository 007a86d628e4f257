package config_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/config"
)

// TestFaultsAreOneLine: what a file says of itself cannot break the line that names its fault, nor talk to the terminal.
func TestFaultsAreOneLine(t *testing.T) {
	_, err := config.Parse("f.yaml", []byte("\"a\\e[31m\\nb\": 5\n"))
	require.Error(t, err)
	for _, r := range err.Error() {
		assert.True(t, r >= ' ' || r == '\n', "%q", err.Error())
	}
	assert.NotContains(t, err.Error(), "\x1b")
}
