/* arith.c - a 128-bit product and its quotient; see arith.h. Only a relimit needs it. */
#include "arith.h"

/*
 * floor(n / d) and the remainder, for n.high < d <= 2^63, so that the quotient fits 64 bits.
 *
 * Bounds: 64 rounds. The remainder is below d before each, so twice it and a bit is below 2^64.
 */
static uint64_t weir_divide(weir_wide n, uint64_t d, uint64_t *remainder)
{
    uint64_t rest = n.high, quotient = 0;
    int bit;

    if (n.high == 0) {
        *remainder = n.low % d;
        return n.low / d;
    }
    for (bit = 63; bit >= 0; bit--) {
        rest = rest << 1 | (n.low >> bit & 1);
        quotient <<= 1;
        if (rest >= d) {
            rest -= d;
            quotient |= 1;
        }
    }
    *remainder = rest;
    return quotient;
}

/* Bounds: a quotient of 64 bits or more is over any most; one below most can be rounded up without wrapping. */
uint64_t weir_scaled(uint64_t a, uint64_t b, uint64_t d, uint64_t most)
{
    weir_wide product = weir_multiply(a, b);
    uint64_t quotient, remainder;

    if (product.high >= d) {
        return most;
    }
    quotient = weir_divide(product, d, &remainder);
    if (quotient >= most) {
        return most;
    }
    return remainder > 0 ? quotient + 1 : quotient;
}
