//go:build cgo

package cport_test

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weir/vectors"
)

// compilePort makes the plain-text port, under the sanitizers where the compiler has them.
func compilePort(t *testing.T) string {
	t.Helper()
	sources, err := filepath.Glob("src/*.c")
	if err != nil {
		t.Fatal(err)
	}
	port, cc := outFile(t), compilers(t, "gcc", "clang")[0]
	args := append([]string{"-I", "include", "-o", port, "test/port.c"}, sources...)
	args = append(args, strict...)
	checked := append(args, "-fsanitize=address,undefined", "-fno-sanitize-recover")
	if exec.Command(cc, checked...).Run() != nil {
		t.Log("no sanitizers here")
		run(t, cc, args...)
	}
	return port
}

// The C library without any Go answers the whole suite, but for the one log that would take 2^62 entries.
func TestPort(t *testing.T) {
	suite, err := vectors.Load(vectors.FS())
	if err != nil {
		t.Fatal(err)
	}
	d, err := vectors.NewPort(t.Context(), vectors.PortOptions{Command: []string{compilePort(t)}, Text: true, Suite: suite.Version})
	if err != nil {
		t.Fatal(err)
	}
	r, err := vectors.Run(t.Context(), suite, d, vectors.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Note("bye", d.Close())
	for _, one := range r.Results {
		if one.Verdict != vectors.Pass {
			t.Errorf("%s: %s %s", one.ID, one.Verdict, one.Why)
		}
	}
	if len(r.Results) < 1600 {
		t.Errorf("%d cases, want 1,600 at least", len(r.Results))
	}
}

// What the port does not understand it says, and goes on.
func TestPortLines(t *testing.T) {
	cmd := exec.Command(compilePort(t))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for _, row := range []struct{ ask, want string }{
		{"what is this", "! is not understood"},
		{"", "! - not understood"},
		{strings.Repeat("x ", 40), "! - not understood"},
		{"case 1 gcra 5 1 2 x - - -", "! 1 not understood"},
		{"end 1", "end 1"},
		{"case 2 gcra 18446744073709551616 1 2 3 - - -", "! 2 not understood"},
		{"case 3 tokenring 5 1 2 3 - - -", "x 3 unknown_policy"},
		{"step 0 take 0 1 1 -\nend 3", "end 3"},
		{"case 4 gcra 5 1 10 3 - - -\nstep 0 take 0 18446744073709551615 1 -\nstep 1 give 0 1 1 -\nstep 2 take 0 1 1 -\nend 4",
			"r 4 0 allow 2 0 10 0 first\n! 4 not understood\nend 4"},
		{"case 5 slidinglog 4611686018427387904 1 10 - - - -", "x 5 invalid_max_keys"},
		{"end 5", "end 5"},
		{"hash 6 xxh64 0g 0", "! 6 not understood"},
		{"hash 6 xxh64 - 0", "h 6 17241709254077376921\nend 6"},
		{"hash 7 mix32 4294967296", "! 7 not understood"},
	} {
		if _, err := io.WriteString(in, row.ask+"\nend 0\n"); err != nil {
			t.Fatal(err)
		}
		for _, want := range append(strings.Split(row.want, "\n"), "end 0") {
			if !lines.Scan() || lines.Text() != want {
				t.Errorf("%q: %q, want %q", row.ask, lines.Text(), want)
			}
		}
	}
	if _, err := io.WriteString(in, "bye\n"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error("after bye:", err)
	}
}
