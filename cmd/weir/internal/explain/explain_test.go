package explain_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/cmd/weir/internal/explain"
	"weir/vectors"
)

// TestEveryCase: the sums come to what the policies answer and the vectors want, in every case.
func TestEveryCase(t *testing.T) {
	suite, err := vectors.Load(vectors.FS())
	require.NoError(t, err)
	told := 0
	for _, f := range suite.Files {
		for _, c := range f.Cases {
			s, err := explain.Of(f.Policy, c)
			require.NoError(t, err, c.ID)
			var out bytes.Buffer
			err = s.Tell(context.Background(), &out)
			if c.ConfigError != "" {
				require.ErrorContains(t, err, c.ConfigError, c.ID)
				continue
			}
			require.NoError(t, err, c.ID)
			require.False(t, strings.Contains(out.String(), "wanted"), c.ID)
			told++
		}
	}
	assert.Greater(t, told, 900)
}
