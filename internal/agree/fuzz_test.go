package agree_test

import (
	"testing"
)

// FuzzPolicies: any byte string is a program of calls, over each of the five against the oracle and over the three
// meters against each other.
func FuzzPolicies(f *testing.F) {
	for _, seed := range [][]byte{
		{},
		{0},
		[]byte("any byte string is a program of calls, this one too; it has room for some seventy calls or so."),
		{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255},
		{9, 5, 20, 3, 0, 1, 0, 7, 0, 0, 0, 50, 40, 0, 0, 0, 50, 80, 0, 0, 0, 10, 2, 80, 0, 0, 93, 1, 40, 0, 97, 60},
		{1, 61, 60, 59, 58, 57, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 90, 50, 3, 0, 99, 30, 1},
		{3, 40, 1, 2, 3, 4, 5, 6, 7, 8, 2, 1, 1, 0, 95, 99, 1, 0, 0, 30, 0, 90, 90, 0, 0, 0, 0, 0, 0, 0, 64, 12},
		{4, 0, 128, 64, 32, 16, 8, 4, 2, 1, 3, 2, 0, 0, 69, 61, 55, 0, 1, 85, 61, 70, 0, 0, 70, 39, 2, 1, 85, 0},
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = data[:min(len(data), 2000)] // longer programs only cost time
		for _, s := range five {
			draw, ended := fuzzed(data)
			judge(t, s, newProgram(draw, s.name, &count{}), 400, ended)
		}
		draw, ended := fuzzed(data)
		meet(t, newProgram(draw, "leakybucket", &count{}), 400, false, ended)
	})
}

// FuzzAnyLimit: any byte string is a limit, valid or not, and calls of any kind; nothing panics.
func FuzzAnyLimit(f *testing.F) {
	for _, seed := range []string{"", "0", "limits of every size, and calls past every bound", "\xff\xff\xff\xff\xff\xff\xff\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, s := range five {
			draw, _ := fuzzed(data)
			survives(t, draw, s)
		}
	})
}
