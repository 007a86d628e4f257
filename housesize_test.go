package weir_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The house's bounds, from CONTRIBUTING.md. They hold for tests too.
const (
	mostLinesAFile     = 400
	mostLinesAFunction = 70
)

func TestFilesAreShort(t *testing.T) {
	for _, file := range sourceFiles(t, ".go", ".c", ".h", ".lua") {
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			continue // somebody's temporary file
		}
		require.NoError(t, err)
		lines := bytes.Count(text, []byte("\n"))
		assert.LessOrEqual(t, lines, mostLinesAFile, file)
	}
}

// TestGoFunctionsAreShort counts from the line of func to that of its closing brace. A function literal is counted
// with the function that it is in.
func TestGoFunctionsAreShort(t *testing.T) {
	for _, file := range sourceFiles(t, ".go") {
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				lines := set.Position(f.End()).Line - set.Position(f.Pos()).Line + 1
				assert.LessOrEqual(t, lines, mostLinesAFunction, "%s: %s", file, f.Name.Name)
			}
		}
	}
}

// TestCFunctionsAreShort takes the house's C layout for granted: a function's body is between a line that ends in "{"
// and begins in the first column, or a "{" alone there, and the next "}" in the first column.
func TestCFunctionsAreShort(t *testing.T) {
	found := 0
	for _, file := range sourceFiles(t, ".c", ".h") {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines, start := strings.Split(string(text), "\n"), 0
		for i, line := range lines {
			switch {
			case opensFunction(line) && start == 0:
				start = headOf(lines, i) + 1
			case strings.HasPrefix(line, "}") && start > 0:
				found++
				assert.LessOrEqual(t, i+1-start+1, mostLinesAFunction, "%s:%d", file, start)
				start = 0
			}
		}
		assert.Zero(t, start, "%s:%d: a function that does not end", file, start)
	}
	assert.Greater(t, found, 10, "or the layout is not what this test takes it for")
}

// headOf is the first line of the declaration whose body opens on line i.
func headOf(lines []string, i int) int {
	for i > 0 {
		before := strings.TrimSpace(lines[i-1])
		if before == "" || strings.HasPrefix(before, "#") || strings.HasSuffix(before, "*/") || strings.HasSuffix(before, ";") || strings.HasSuffix(before, "}") {
			break
		}
		i--
	}
	return i
}

// opensFunction leaves out what opens a brace in the first column and is no function: types, extern "C", comments.
func opensFunction(line string) bool {
	if line == "" || strings.ContainsAny(line[:1], " \t*/#") || !strings.HasSuffix(strings.TrimSpace(line), "{") {
		return false
	}
	for _, other := range []string{"extern", "struct", "enum", "union", "typedef"} {
		if strings.HasPrefix(line, other) && !strings.Contains(line, "(") {
			return false
		}
	}
	return !strings.Contains(line, "=")
}
