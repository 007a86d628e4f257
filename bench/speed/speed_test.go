package speed_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weir/bench/speed"
)

// Every row of this process does what it says: all is allowed, or in a row of refusals nothing; over two passes and more.
func TestRowsDoWhatTheySay(t *testing.T) {
	rows, err := speed.Slices(t.Context(), 1<<12)
	if err != nil || rows < 40 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// A row that does otherwise is found out.
func TestWrongRowsAreFoundOut(t *testing.T) {
	for _, c := range []struct {
		allows int
		denied bool
		ok     bool
	}{
		{8, false, true},
		{7, false, false}, // one was refused
		{0, true, true},
		{1, true, false}, // one was allowed
	} {
		if err := speed.Try(8, c.allows, c.denied); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// The first outputs of splitmix64 from a state of 0, as its authors' code gives them: the children's keys are the same.
func TestKeys(t *testing.T) {
	want := []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f, 0xf88bb8a8724c81ec}
	var keys []uint64
	for i := range uint64(4) {
		keys = append(keys, speed.Mix(i))
	}
	if !slices.Equal(keys, want) {
		t.Errorf("%x", keys)
	}
	if got := speed.Texts(keys); got[0] != "e220a8397b1dcdaf" || got[2] != "06c45d188009454f" || len(got) != 4 {
		t.Error(got)
	}
	count := map[uint64]int{}
	for _, k := range speed.Zipf(keys) {
		count[k]++
	}
	for k := range count {
		if !slices.Contains(keys, k) {
			t.Errorf("%x is no key", k)
		}
	}
	if got := speed.Spaced(100, 10_000, 3); !slices.Equal(got, []int{100, 1000, 10_000}) {
		t.Error(got)
	}
}

func TestQuantiles(t *testing.T) {
	for _, c := range []struct {
		values  []float64
		q, want float64
	}{
		{[]float64{3, 1, 2}, 0.5, 2},
		{[]float64{4, 1, 2, 3}, 0.5, 2.5}, // between two
		{[]float64{4, 1, 2, 3, 0}, 0.25, 1},
		{[]float64{7}, 1, 7},
	} {
		if got := speed.Quantile(c.values, c.q); got != c.want {
			t.Errorf("%v: %v", c, got)
		}
	}
	if !math.IsNaN(speed.Median(nil)) {
		t.Error("a median of nothing")
	}
	// 9999 of 10,000 are 5 ns, and the worst is beyond what the histogram tells apart.
	all := append(slices.Repeat([]int64{5}, 9999), 1<<40)
	if q, worst := speed.Latency(0.9999, all...); q != 5 || worst != 1<<40 {
		t.Error(q, worst)
	}
}

// Both rows are in every round that counts, and a ratio is taken within a round.
func TestRounds(t *testing.T) {
	samples, ratio, err := speed.Rounds(5)
	if err != nil || samples[0] != 5 || samples[1] != 5 || ratio != 2 {
		t.Error(samples, ratio, err)
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		got, bound  float64
		most, least string
	}{
		{1, 2, "met", "**missed**"},
		{2, 2, "met", "met"},
		{3, 2, "**missed**", "met"},
		{math.NaN(), 2, "", ""}, // what was left out is neither
	} {
		if most, least := speed.Verdicts(c.got, c.bound); most != c.most || least != c.least {
			t.Errorf("%+v: %s, %s", c, most, least)
		}
	}
	for x, want := range map[float64]string{1.234: "1.23", 9.996: "10.0", 99.96: "100", 12345.6: "12346", -0.5: "-0.50"} {
		if got := speed.Number(x); got != want {
			t.Errorf("%v: %s", x, got)
		}
	}
	if got := speed.Grouped(10_000_007); got != "10,000,007" {
		t.Error(got)
	}
}

// A row that did not run has no line, and a section that was left out no table.
func TestReport(t *testing.T) {
	page := speed.Page()
	for _, want := range []string{"### left out\n\nwhy\n\n### t", "| row | 5.00 | 4.50 to 5.50 | 2.50 |\n", "| floor: f | 2.00 |"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in:\n%s", want, page)
		}
	}
	if strings.Contains(page, "absent") {
		t.Error(page)
	}
}

// Only what stands between the marks is changed, and a page without them is refused.
func TestUpdate(t *testing.T) {
	page := filepath.Join(t.TempDir(), "README.md")
	write := func(text string) {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a\n<!-- speed: begin -->\nold\n<!-- speed: end -->\nb\n")
	if err := speed.Update(page, "new\n"); err != nil {
		t.Fatal(err)
	}
	const head = "a\n<!-- speed: begin -->\n![A million random keys, ns a decision, weir and rivals](rivals.svg)\n\n" +
		"![ns a decision by number of keys](keys.svg)\n\n"
	text, err := os.ReadFile(page)
	if err != nil || string(text) != head+"new\n<!-- speed: end -->\nb\n" {
		t.Errorf("%s, %v", text, err)
	}
	for _, name := range []string{"rivals.svg", "keys.svg"} {
		picture, err := os.ReadFile(filepath.Join(filepath.Dir(page), name))
		if err != nil || !strings.Contains(string(picture), "</svg>") {
			t.Errorf("%s: %v", name, err)
		}
	}
	write("a\n<!-- speed: end -->\n<!-- speed: begin -->\n")
	if err := speed.Update(page, "new"); err == nil {
		t.Error("a page whose marks are the wrong way round was taken")
	}
}

// Bytes a key are bytes of that many keys: no table is smaller than its keys and states.
func TestBytesAKey(t *testing.T) {
	for name, least := range map[string]float64{"gcra": 16, "tokenbucket": 24, "dualbucket": 24} {
		bytes, err := speed.PerKey(name, 10_000, 20_000)
		if err != nil || len(bytes) != 2 || slices.Min(bytes) < least || slices.Max(bytes) > 1000 {
			t.Errorf("%s: %v, %v", name, bytes, err)
		}
	}
}
