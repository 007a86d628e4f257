package keyed_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"weir/dualbucket"
	"weir/internal/keyed"
	"weir/leakybucket"
	"weir/slidinglog"
	"weir/tokenbucket"
)

// TestSlotSizes: the pages of the policies say what a key takes.
func TestSlotSizes(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) < 8 {
		return // 32 bits: less, and the pages speak of 64
	}
	assert.EqualValues(t, 24, keyed.SlotSize[tokenbucket.State]())
	assert.EqualValues(t, 24, keyed.SlotSize[leakybucket.State]())
	assert.EqualValues(t, 24, keyed.SlotSize[dualbucket.State]())
	assert.EqualValues(t, 48, keyed.SlotSize[slidinglog.State]())
}

// TestSizesGrow: whatever size a shard has come to, the next one is an eighth larger at least, pages and all, and not twice
// as large once it is more than a few slots.
func TestSizesGrow(t *testing.T) {
	for _, row := range []struct {
		why   string
		sizes func(shard, asked uint64) (size, before, slots uint64)
	}{
		{"16 bytes a slot", keyed.Sizes[uint64]},
		{"24", keyed.Sizes[tokenbucket.State]},
		{"48", keyed.Sizes[slidinglog.State]},
		{"272", keyed.Sizes[[33]uint64]},
	} {
		for asked := range uint64(20_000) {
			size, before, slots := row.sizes(asked%64, asked)
			if 8*slots < 9*before || slots < 8 || asked > 64 && slots > 2*before || size > slots {
				require.Fail(t, row.why, "after %d comes %d: from %d slots to %d", asked, size, before, slots)
			}
		}
	}
}
