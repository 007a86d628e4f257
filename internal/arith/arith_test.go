package arith_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"weir/internal/arith"
)

const top = math.MaxUint64

func TestMulDivCeil(t *testing.T) {
	for _, row := range []struct {
		why           string
		a, b, c, want uint64
	}{
		{"nothing", 0, 5, 7, 0},
		{"a whole quotient stays", 6, 7, 3, 14},
		{"a fraction rounds up", 6, 7, 4, 11},
		{"the product needs 128 bits", top, top, top, top},
		{"the quotient fits just", 1 << 63, 2, 2, 1 << 63},
		{"one too large saturates", 1 << 63, 2, 1, top},
		{"rounding up at the top does not wrap", top, 3, 3, top},
		{"no divisor", 1, 1, 0, top},
	} {
		assert.Equal(t, row.want, arith.MulDivCeil(row.a, row.b, row.c), row.why)
	}
}

func TestMul(t *testing.T) {
	assert.Equal(t, uint64(42), arith.Mul(6, 7))
	assert.Equal(t, uint64(top), arith.Mul(top, 1))
	assert.Equal(t, uint64(top), arith.Mul(1<<32, 1<<32), "2^64 is one more than fits")
}

func TestSub(t *testing.T) {
	assert.Equal(t, uint64(1), arith.Sub(3, 2))
	assert.Equal(t, uint64(0), arith.Sub(2, 3))
	assert.Equal(t, uint64(0), arith.Sub(0, top))
}

// math/big is the second opinion on every input.
func TestAgreesWithBig(t *testing.T) {
	limit := new(big.Int).SetUint64(top)
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Uint64().Draw(t, "a"), rapid.Uint64().Draw(t, "b")
		c := rapid.Uint64Min(1).Draw(t, "c")
		product := new(big.Int).Mul(new(big.Int).SetUint64(a), new(big.Int).SetUint64(b))
		quotient, remainder := new(big.Int).QuoRem(product, new(big.Int).SetUint64(c), new(big.Int))
		assert.Equal(t, clamp(quotient, limit), arith.MulDivFloor(a, b, c))
		if remainder.Sign() > 0 {
			quotient.Add(quotient, big.NewInt(1))
		}
		assert.Equal(t, clamp(quotient, limit), arith.MulDivCeil(a, b, c))
		assert.Equal(t, clamp(product, limit), arith.Mul(a, b))
	})
}

func clamp(n, limit *big.Int) uint64 {
	if n.Cmp(limit) > 0 {
		return limit.Uint64()
	}
	return n.Uint64()
}
