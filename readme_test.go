package weir_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir"
	"weir/vectors"
)

// Every line of Go in the README stands in an example that is compiled and run.
func TestReadmeCodeIsRun(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	examples, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	known := map[string]bool{}
	for line := range strings.Lines(string(examples)) {
		known[squeeze(line)] = true
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	require.NotEmpty(t, blocks)
	for _, block := range blocks {
		for line := range strings.Lines(block[1]) {
			assert.True(t, known[squeeze(line)], "README has %q, no example does", line)
		}
	}
}

// The table of limits in the README is what ParseLimit takes.
func TestReadmeLimitsParse(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(readme), "\n## Limits\n")
	require.True(t, found)
	table, _, _ := strings.Cut(section, "\n**")
	texts := regexp.MustCompile("`([0-9][^`]*)`").FindAllStringSubmatch(table, -1)
	require.GreaterOrEqual(t, len(texts), 7)
	for _, text := range texts {
		_, err := weir.ParseLimit(text[1])
		assert.NoError(t, err)
	}
}

// The README's table of policies names the five and nothing else.
func TestReadmeNamesTheFive(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(readme), "| policy | keeps a key |")
	table, _, _ = strings.Cut(table, "\n\n")
	var names []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z]+)`").FindAllStringSubmatch(table, -1) {
		names = append(names, row[1])
	}
	assert.Equal(t, weir.Names(), names)
}

func squeeze(line string) string { return strings.Join(strings.Fields(line), " ") }

// The number of deliberate faults in the README is that of vectors/mutants.json.
func TestReadmeCountsTheFaults(t *testing.T) {
	mutants, err := vectors.Mutants(vectors.FS())
	require.NoError(t, err)
	for _, name := range []string{"README.md", "CHANGELOG.md"} {
		page, err := os.ReadFile(name)
		require.NoError(t, err)
		assert.Contains(t, string(page), fmt.Sprintf("%d kinds of deliberate fault", len(mutants)), name)
	}
}
