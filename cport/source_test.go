//go:build cgo

package cport_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"weir/cport"
)

var strict = []string{"-std=c11", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-O2"}

// compilers are those of names that this machine has; a test that finds none is skipped and says so.
func compilers(t *testing.T, names ...string) (found []string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err == nil {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		t.Skipf("none of %v is here", names)
	}
	return found
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

func outFile(t *testing.T) string {
	name := "out"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(t.TempDir(), name)
}

// The embedded sources are all that a C program needs: written out elsewhere they compile, each alone, strictly.
func TestSourceStandsAlone(t *testing.T) {
	ccs := compilers(t, "gcc", "clang")
	dir := t.TempDir()
	if err := os.CopyFS(dir, cport.Source()); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(cport.Source(), "src/*.c")
	if err != nil || len(files) == 0 {
		t.Fatal("no sources", err)
	}
	for _, cc := range ccs {
		for _, file := range files {
			args := []string{"-I", filepath.Join(dir, "include"), "-c", filepath.Join(dir, file), "-o", outFile(t)}
			args = append(args, strict...)
			run(t, cc, args...)
			run(t, cc, append(args, "-DWEIR_NO_MALLOC", "-ffreestanding", "-Os")...)
		}
	}
}

// Every header is a C++ header too, without a cast of C's, and needs no other before it.
func TestHeadersAsCPlusPlus(t *testing.T) {
	headers, err := filepath.Glob("include/weir/*.h")
	if err != nil || len(headers) == 0 {
		t.Fatal("no headers", err)
	}
	for _, cxx := range compilers(t, "g++", "clang++") {
		for _, h := range headers {
			run(t, cxx, "-std=c++17", "-Wall", "-Wextra", "-Wold-style-cast", "-Werror", "-x", "c++", "-fsyntax-only", "-include", h, os.DevNull)
		}
	}
}

// The C tests, compiled strictly and run, and once more under the sanitizers where the compiler has them.
func TestC(t *testing.T) {
	tests, err := filepath.Glob("test/*_test.c")
	if err != nil || len(tests) == 0 {
		t.Fatal("no tests", err)
	}
	for _, cc := range compilers(t, "gcc", "clang") {
		for _, test := range tests {
			program := outFile(t)
			args := append([]string{"-I", "include", test, "-o", program, "-pthread"}, strict...)
			run(t, cc, args...)
			run(t, program)
			checked := append(args, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover")
			if out, err := exec.Command(cc, checked...).CombinedOutput(); err != nil {
				t.Logf("%s: no sanitizers here: %s", cc, out)
				continue
			}
			run(t, program)
		}
	}
}
