package cport_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// withMake runs targets of the Makefile in a build folder of their own. What a target leaves out for want of a tool it
// says in a line, which becomes a skipped test.
func withMake(t *testing.T, targets ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles everything several times")
	}
	for _, tool := range []string{"make", "cc", "sh", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s here", tool)
		}
	}
	args := append([]string{"--no-print-directory", "BUILD=" + filepath.ToSlash(t.TempDir())}, targets...)
	cmd := exec.Command("make", args...)
	cmd.Env = append(os.Environ(), "MAKEFLAGS=") // not those of a make that may run this test
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("make %s: %v\n%s", strings.Join(targets, " "), err, out)
	}
	for line := range strings.Lines(string(out)) {
		if what, why, found := strings.Cut(strings.TrimSpace(line), ": skipped, "); found {
			t.Run(what, func(t *testing.T) { t.Skip(why) })
		}
	}
	return string(out)
}

// A programmer who has no Go runs this alone: strict compilation, the C tests, sanitizers, symbols, the amalgamation,
// the vectors from the C header, the README's program.
func TestMake(t *testing.T) {
	out := withMake(t, "all", "test")
	for _, want := range []string{"0 differences", "amalgamation: the same twice", "rows of memory are right, 0 wrong", "all is well"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// Installed by make and by CMake it is found by pkg-config, find_package and add_subdirectory.
func TestInstall(t *testing.T) {
	withMake(t, "test-install")
}

// The tests reach every line of the library and 95 of 100 branches.
func TestCoverage(t *testing.T) {
	withMake(t, "coverage")
}

// The header of vectors is written by the Go of this tree, but any is run: one that is wrong must be noticed.
func TestVectorsNotice(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.h")
	withMake(t, "BUILD="+filepath.ToSlash(dir), "vectors-header")
	text, err := os.ReadFile(filepath.Join(dir, "weir_vectors.h"))
	if err != nil {
		t.Skip("no header was made: there is no go command here")
	}
	wrong := strings.Replace(string(text), "WEIR_VECTOR_ALLOW, 4, 0, 10,", "WEIR_VECTOR_ALLOW, 4, 0, 11,", 1)
	if wrong == string(text) {
		t.Fatal("the first case is another one now")
	}
	if err := os.WriteFile(other, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.ToSlash(filepath.Join(dir, "test", "vectors_main"))
	withMake(t, "BUILD="+filepath.ToSlash(dir), "VECTORS_H="+filepath.ToSlash(other), program)
	out, err := exec.Command(program).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "reset_after is 10, want 11") || !strings.Contains(string(out), "1 differences") {
		t.Errorf("a wrong answer was not noticed: %v\n%s", err, out)
	}
}
