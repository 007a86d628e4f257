package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// evenLog is of ten clients: client i sends i requests at once, and again two minutes later.
func evenLog() string {
	var b strings.Builder
	for _, second := range []int{0, 120} {
		for i := range 10 {
			for range i + 1 {
				fmt.Fprintf(&b, "%d,c%d,1\n", second, i+1)
			}
		}
	}
	return b.String()
}

// TestRecommend by hand: 8 of the ten clients send at most 8 at once, and every bucket is full again after two minutes if it
// regains 8 in a minute, or 4: the least is 8 a minute, since permits are tried with a burst as large.
func TestRecommend(t *testing.T) {
	status, out, errs := weirWith(t, evenLog(), "recommend", "--log", "-", "--percentile", "80")
	require.Equal(t, 0, status, errs)
	assert.Contains(t, out, "110 requests of 10 clients in 2m0s; csv log; at least 80 % of the clients untouched")
	assert.Regexp(t, ` gcra  8/m burst 8 +8  10 +6  110\n`, out, "c9 loses 1 of 9 and c10 2 of 10, twice")
	assert.Regexp(t, ` slidinglog +8/m +8  10 +6  110\n`, out)
	assert.Regexp(t, ` gcra +c10 +4  20\n +gcra +c9 +2  18\n`, out)
	assert.NotContains(t, out, "dualbucket")

	_, yaml, found := strings.Cut(out, "one of\n\n")
	require.True(t, found)
	file := filepath.Join(t.TempDir(), "limits.yaml")
	require.NoError(t, os.WriteFile(file, []byte(yaml), 0o644))
	status, _, errs = weirWith(t, "", "check", file)
	assert.Equal(t, 0, status, "what is to be pasted is a configuration: %s", errs)
}

// TestRecommendTwo: 10 in any minute, and 20 in an hour.
func TestRecommendTwo(t *testing.T) {
	status, out, _ := weirWith(t, evenLog(), "recommend", "--log", "-", "--percentile", "100", "--period2", "h")
	assert.Equal(t, 0, status)
	assert.Regexp(t, ` dualbucket  10/m burst 10 & 20/h burst 20 +10  10 +0  110\n`, out)
}

func TestRecommendRefuses(t *testing.T) {
	for _, row := range []struct {
		args []string
		want string
	}{
		{[]string{}, "log is missing"},
		{[]string{"--log", "-", "--percentile", "0"}, `percentile is "0", must be above 0 and at most 100`},
		{[]string{"--log", "-", "--period", "1"}, `period is "1", must be a period as in a limit`},
		{[]string{"--log", "-", "--period2", "h burst 3"}, `period2 is "h burst 3", must be a period as in a limit`},
		{[]string{"--log", "-", "--worst", "1001"}, "worst is 1001, must be at most 1000"},
		{[]string{"--log", "-"}, "log: has no requests"},
		{[]string{"--log", "nowhere"}, "nowhere"},
	} {
		status, out, errs := weirWith(t, "", append([]string{"recommend"}, row.args...)...)
		assert.Equal(t, 2, status, row.want)
		assert.Empty(t, out, row.want)
		assert.Equal(t, 1, strings.Count(errs, "\n"), errs)
		assert.Contains(t, errs, row.want)
	}
}
