package weir_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// rooms are the folders that the repository may have at its top; CONTRIBUTING.md says what each is for.
var rooms = []string{
	"policy", "gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket", "internal",
	"vectors", "cport", "redislimit", "httplimit", "grpclimit", "observe", "config", "cmd", "bench", "examples", "docs",
	"testdata", // of the tests in this folder
	".ci", ".git",
}

// policyRooms are the five.
var policyRooms = []string{"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"}

// arrows are who may know whom: a folder's non-test code may import these folders of the module and no other. "." is
// package weir. A folder that is not here, nor below one that is, may not exist in the module, but for cmd, which may
// know all.
var arrows = map[string][]string{
	".":                        append([]string{"policy", "internal/arith"}, policyRooms...),
	"gcra":                     {"internal/keyed", "internal/arith", "policy"},
	"tokenbucket":              {"internal/keyed", "internal/arith", "policy"},
	"leakybucket":              {"internal/keyed", "internal/arith", "policy"},
	"slidinglog":               {"internal/keyed", "internal/arith", "policy"},
	"dualbucket":               {"internal/keyed", "internal/arith", "policy"},
	"internal/keyed":           {"policy"},
	"policy":                   {},
	"internal/arith":           {},
	"internal/oracle":          {"policy"}, // a second opinion that shares no arithmetic
	"vectors":                  {"policy"},
	"vectors/internal/badport": {"vectors", "policy", "."}, // a program that the tests run
	"cport":                    {"policy", "."},
	"redislimit":               {"policy", "internal/arith", "."},
	"httplimit":                {"policy", "internal/arith", "."},
	"grpclimit":                {"policy", "."},
	"observe":                  {"policy", "."},
	"config":                   {"httplimit", "policy", "."},
	"internal":                 nil, // tools that only tests and cmd use: anything but cmd
	"examples":                 nil,
	"bench":                    nil,
	"docs":                     nil,
}

func TestTopLevelFolders(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() {
			assert.Contains(t, rooms, e.Name(), "a folder that CONTRIBUTING.md does not plan")
		}
	}
}

// sourceFiles are the repository's files with one of these endings, by slashed path, without .git.
func sourceFiles(t testing.TB, endings ...string) []string {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a temporary file of another test
			}
			return err
		}
		if d.IsDir() && slices.Contains([]string{".git", "testdata", "build", "target"}, d.Name()) {
			return filepath.SkipDir
		}
		if !d.IsDir() && slices.Contains(endings, filepath.Ext(name)) {
			files = append(files, filepath.ToSlash(name))
		}
		return nil
	}))
	require.NotEmpty(t, files)
	return files
}

// inModule says whether a folder belongs to this module and not to one of its own below.
func inModule(folder string) bool {
	for ; folder != "."; folder = path.Dir(folder) {
		if _, err := os.Stat(filepath.FromSlash(folder + "/go.mod")); err == nil {
			return false
		}
	}
	return true
}

// TestImportArrows reads every file, whatever its build tags.
func TestImportArrows(t *testing.T) {
	for _, file := range sourceFiles(t, ".go") {
		folder := path.Dir(file)
		if !inModule(folder) || folder == "cmd" || strings.HasPrefix(folder, "cmd/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		room, may := arrowsOf(folder)
		if !assert.NotEmpty(t, room, "%s: %s is in no room of CONTRIBUTING.md", file, folder) {
			continue
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			require.NoError(t, err)
			to, ours := strings.CutPrefix(imported, "weir")
			if !ours || to != "" && to[0] != '/' {
				continue
			}
			to = path.Clean(strings.TrimPrefix(to+"/.", "/"))
			assert.False(t, to == "cmd" || strings.HasPrefix(to, "cmd/"), "%s imports %s: nothing imports cmd", file, imported)
			if may != nil && !strings.HasSuffix(file, "_test.go") && !below(to, room) {
				assert.Contains(t, may, to, "%s imports %s", file, imported)
			}
		}
	}
}

// arrowsOf is the nearest room that a folder is in, and what it may import.
func arrowsOf(folder string) (room string, may []string) {
	for at := folder; ; at = path.Dir(at) {
		if may, ok := arrows[at]; ok && (at != "." || folder == ".") {
			return at, may
		}
		if at == "." {
			return "", nil
		}
	}
}

// below says whether a folder is in a room that is not package weir: a room may know its own insides.
func below(folder, room string) bool {
	return room != "." && (folder == room || strings.HasPrefix(folder, room+"/"))
}

// TestCoreImportsOnlyXXHash asks the go tool what the core is made of in the end.
func TestCoreImportsOnlyXXHash(t *testing.T) {
	tool, err := exec.LookPath("go")
	require.NoError(t, err, "this test asks the go tool for what packages import, and there is none in PATH")
	core := []string{".", "./policy", "./internal/keyed", "./internal/arith"}
	for _, room := range policyRooms {
		core = append(core, "./"+room)
	}
	out, err := exec.Command(tool, append([]string{"list", "-deps", "-json=ImportPath,Standard"}, core...)...).Output()
	require.NoError(t, err, "%s", out)
	allowed := []string{"weir", "weir/policy", "weir/internal/keyed", "weir/internal/arith", "github.com/cespare/xxhash/v2"}
	for _, room := range policyRooms {
		allowed = append(allowed, "weir/"+room)
	}
	seen := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Standard   bool
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if !p.Standard {
			seen++
			assert.Contains(t, allowed, p.ImportPath)
		}
	}
	assert.Equal(t, len(allowed), seen, "all of these and no more")
}

// heavy are modules that the command alone has a use for: it draws, unpacks, reads JSON and knows terminals.
var heavy = []string{"gonum.org/", "github.com/klauspost/compress", "github.com/tidwall/", "golang.org/x/term"}

// TestOnlyTheCommandIsHeavy: nobody builds what the command needs by importing any other package of the module. Nor does anybody
// download it: the go command fetches what the packages that are imported need.
func TestOnlyTheCommandIsHeavy(t *testing.T) {
	found := 0
	for _, file := range sourceFiles(t, ".go") {
		folder := path.Dir(file)
		if !inModule(folder) || strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range parsed.Imports {
			for _, module := range heavy {
				if strings.HasPrefix(spec.Path.Value, `"`+module) {
					found++
					assert.True(t, strings.HasPrefix(folder, "cmd/weir"), "%s imports %s", file, spec.Path.Value)
				}
			}
		}
	}
	assert.Positive(t, found, "or these are not the modules that the command needs")
}

// TestFivePoliciesHaveTheSameFiles holds the five folders to the same files in the same order, each named alike.
func TestFivePoliciesHaveTheSameFiles(t *testing.T) {
	for _, room := range policyRooms {
		entries, err := os.ReadDir(room)
		require.NoError(t, err)
		var files []string
		for _, e := range entries {
			if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
				files = append(files, strings.Replace(name, room, "NAME", 1))
			}
		}
		slices.Sort(files)
		assert.Equal(t, []string{"NAME.go", "step.go"}, files, room)
	}
}
