package cport_test

import (
	"regexp"
	"strings"
	"testing"
)

// The benchmark runs, and every row does what it is there for: a slice that is not allowed, or denied, throughout ends
// the program. Nothing is said of times. The instructions are looked at where there is a tool for it.
func TestBench(t *testing.T) {
	out := withMake(t, "bench", "BENCH=--rounds 1")
	for _, row := range []string{
		"gcra step", "gcra take", "tokenbucket take", "leakybucket take", "slidinglog take", "dualbucket take",
		"load and store, one by one", "gcra take, one by one", "gcra take, batch of 32 by batch",
	} {
		if !regexp.MustCompile(`(?m)^\| ` + row + ` +\| +[0-9.]+ \|`).MatchString(out) {
			t.Errorf("no row %q in\n%s", row, out)
		}
	}
	if strings.Contains(out, "divisions in") && !strings.Contains(out, "divisions in takes, steps and look-up: 0;") {
		t.Errorf("something divides where nothing may:\n%s", out)
	}
	if strings.Contains(out, "x86_64") && strings.Contains(out, "calls of prefetch") && !strings.Contains(out, "that do: 5 of 5") {
		t.Errorf("a prefetch was compiled away:\n%s", out)
	}
}
