/*
 * theorems.h - the theorems, each a C function: for every argument that meets its `requires`, every `must` in it holds.
 * WP proves them from the contracts; draws.c runs the very same functions on drawn arguments.
 */
#ifndef WEIR_PROOF_THEOREMS_H
#define WEIR_PROOF_THEOREMS_H

#include "buckets.h"

/*@ requires holds;
    assigns \nothing;
*/
void must(bool holds);

/* Whether tat = last * p + (L - balance), and tat = last * p + water. */

/*@ requires \valid_read(rules) && in_range(*rules) && a_balance(*rules, bucket);
    assigns \nothing;
    ensures \result <==> tat == balance_tat(*rules, bucket);
*/
static inline bool stands_for_balance(const weir_scale *rules, uint64_t tat, weir_tokenbucket_state bucket)
{
    return tat == bucket.last * rules->tick + (uint64_t)((int64_t)rules->tolerance - bucket.balance);
}

/*@ requires \valid_read(rules) && in_range(*rules) && a_water(*rules, bucket);
    assigns \nothing;
    ensures \result <==> tat == water_tat(*rules, bucket);
*/
static inline bool stands_for_water(const weir_scale *rules, uint64_t tat, weir_leakybucket_state bucket)
{
    return tat == bucket.last * rules->tick + bucket.water;
}

/* One call of a run: a take, or a refund. */
typedef struct request {
    uint64_t now, cost;
    bool refund;
} request;

#endif
