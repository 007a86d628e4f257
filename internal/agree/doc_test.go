package agree_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"weir/dualbucket"
	"weir/gcra"
	"weir/leakybucket"
	"weir/slidinglog"
	"weir/tokenbucket"
)

// TestPages: each policy's page has every chapter that its reader was promised, in this order, and something in each.
func TestPages(t *testing.T) {
	headings := []string{"What it is", "When to use it", "When not", "How it works", "Ties", "Exactness bound",
		"Parameters", "Complexity", "Memory", "Source", "Notes"}
	pages := map[string]func() string{"gcra": gcra.Doc, "tokenbucket": tokenbucket.Doc, "leakybucket": leakybucket.Doc,
		"slidinglog": slidinglog.Doc, "dualbucket": dualbucket.Doc}
	for _, s := range five {
		page := pages[s.name]()
		assert.True(t, strings.HasPrefix(page, "Package "+s.name+" is "), s.name)
		assert.True(t, strings.HasSuffix(page, "\n"), s.name)
		chapters := strings.Split(page, "\n# ")
		found := []string{}
		for _, chapter := range chapters[1:] {
			heading, text, _ := strings.Cut(chapter, "\n")
			found = append(found, heading)
			assert.Greater(t, len(strings.TrimSpace(text)), 40, "%s: %s says nothing", s.name, heading)
		}
		assert.Equal(t, headings, found, s.name)
		assert.NotContains(t, page, "package "+s.name+"\n", "no code")
	}
}

// TestStateSizes: what the pages say of memory is what a state takes.
func TestStateSizes(t *testing.T) {
	for _, row := range []struct {
		what      string
		page      string
		says      string
		got, want uintptr
	}{
		{"one integer", gcra.Doc(), "8 bytes of state a key", unsafe.Sizeof(gcra.State(0)), 8},
		{"balance and tick", tokenbucket.Doc(), "16 bytes of state a key", unsafe.Sizeof(tokenbucket.State{}), 16},
		{"water and tick", leakybucket.Doc(), "16 bytes of state a key", unsafe.Sizeof(leakybucket.State{}), 16},
		{"two integers", dualbucket.Doc(), "16 bytes of state a key", unsafe.Sizeof(dualbucket.State{}), 16},
		{"what is beside the entries", slidinglog.Doc(), "40 bytes of state a key", unsafe.Sizeof(slidinglog.State{}), 40},
	} {
		assert.Contains(t, row.page, row.says, row.what)
		assert.Equal(t, row.want, row.got, row.what)
	}
}
