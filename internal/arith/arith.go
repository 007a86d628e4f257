/*
Package arith is the one place for arithmetic that 64 bits do not hold: products that saturate and quotients of 128-bit
products. Everything else in weir adds, subtracts and compares numbers whose bounds are stated where they are made.
*/
package arith

import (
	"math"
	"math/bits"
)

// Mul is a*b, or 2^64-1 where that is more.
func Mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// MulDivCeil is a*b/c rounded up, or 2^64-1 where that is more. The product has all its 128 bits. c is at least 1;
// a c of 0 answers 2^64-1, the limit of what ever smaller divisors give.
func MulDivCeil(a, b, c uint64) uint64 {
	quotient, remainder := mulDiv(a, b, c)
	if remainder > 0 && quotient < math.MaxUint64 {
		quotient++
	}
	return quotient
}

// MulDivFloor is MulDivCeil rounded down.
func MulDivFloor(a, b, c uint64) uint64 {
	quotient, _ := mulDiv(a, b, c)
	return quotient
}

func mulDiv(a, b, c uint64) (quotient, remainder uint64) {
	hi, lo := bits.Mul64(a, b)
	if hi >= c {
		return math.MaxUint64, 0
	}
	return bits.Div64(hi, lo, c)
}

// Sub is a-b, or 0 where that is less.
func Sub(a, b uint64) uint64 { return a - min(a, b) }
