/*
 * arith.h - the one place for arithmetic that 64 bits do not hold, in 64-bit words only: 32-bit targets and BPF
 * have no 128-bit type. Everything else in the library adds, subtracts and compares numbers whose bounds stand
 * where they are made.
 */
#ifndef WEIR_SRC_ARITH_H
#define WEIR_SRC_ARITH_H

#include <stdint.h>

/* What one file of the library needs of another, and nobody else. */
#if defined(__GNUC__)
#define WEIR_INTERNAL __attribute__((visibility("hidden")))
#else
#define WEIR_INTERNAL
#endif

typedef struct weir_wide {
    uint64_t high, low;
} weir_wide;

/*
 * a * b, all 128 bits: schoolbook over 32-bit halves.
 *
 * Bounds: a product of halves is at most (2^32-1)^2 = 2^64 - 2^33 + 1, which leaves room for two more halves;
 * middle takes one half carried in and one added.
 */
static inline weir_wide weir_multiply(uint64_t a, uint64_t b)
{
    const uint64_t half = UINT32_MAX;
    uint64_t low = (a & half) * (b & half);
    uint64_t middle = (a >> 32) * (b & half) + (low >> 32);
    uint64_t other = (a & half) * (b >> 32) + (middle & half);
    weir_wide product;

    product.high = (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
    product.low = other << 32 | (low & half);
    return product;
}

/*
 * min(most, ceil(a * b / d)), for 1 <= d <= 2^63. The product has all its 128 bits. Worst case: 64 rounds of long
 * division.
 */
WEIR_INTERNAL uint64_t weir_scaled(uint64_t a, uint64_t b, uint64_t d, uint64_t most);

#endif
