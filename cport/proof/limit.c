/*
 * limit.c - weir_scale_init makes what contracts.h assumes: whatever the limit, what it accepts is in range. Of
 * weir_gcd it is taken on trust that its result is at least 1 and at most either number: its loop would need an
 * invariant inside the function, and the sources are proved as they are.
 */
#include "contracts.h"
/* The source itself, because the function is static in it. */
#include "../src/weir.c"

/*@ requires a >= 1 && b >= 1;
    assigns \nothing;
    ensures 1 <= \result <= a && \result <= b;
*/
static uint64_t weir_gcd(uint64_t a, uint64_t b);

/*@ requires \valid(scale) && \valid_read(limit) && \separated(scale, limit);
    assigns *scale;
    ensures \result == WEIR_OK ==> in_range(*scale) && scale->burst == limit->burst && scale->permit < P62;
    ensures \result == WEIR_OK ==> (scale->horizon + 1) * scale->tick >= P62;
    ensures \result != WEIR_OK ==> *scale == \old(*scale);
*/
weir_error weir_scale_init(weir_scale *scale, const weir_limit *limit);
