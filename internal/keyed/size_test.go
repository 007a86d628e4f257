package keyed_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"

	"weir/dualbucket"
	"weir/gcra"
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
	assert.EqualValues(t, 24, keyed.SlotSize[gcra.State]())
	assert.EqualValues(t, 32, keyed.SlotSize[tokenbucket.State]())
	assert.EqualValues(t, 32, keyed.SlotSize[leakybucket.State]())
	assert.EqualValues(t, 32, keyed.SlotSize[dualbucket.State]())
	assert.EqualValues(t, 80, keyed.SlotSize[slidinglog.State]())
}
