/* weir.c - what every policy shares: words, and a limit in exact units. See weir.h. */
#include "weir/weir.h"

/* What every quantity in units stays below, so that the sum of any two fits 63 bits. */
#define WEIR_UNIT_BOUND (UINT64_C(1) << 62)

const char *weir_error_word(weir_error error)
{
    static const char *const words[] = {
        "ok",            "unknown_policy",  "invalid_second",   "invalid_permits", "invalid_period",
        "invalid_burst", "limit_too_large", "invalid_max_keys", "past_horizon",    "null",
        "align",         "size",            "memory",
    };
    const unsigned long i = (unsigned long)error;

    return i < sizeof words / sizeof words[0] ? words[i] : "unknown";
}

const char *weir_outcome_word(weir_outcome outcome)
{
    static const char *const words[] = {
        "none", "allow", "deny", "too_costly", "full", "past_horizon", "unavailable",
    };

    return outcome < sizeof words / sizeof words[0] ? words[outcome] : words[0];
}

/*
 * The greatest common divisor of two numbers (Euclid). Worst case: 92 rounds, for two consecutive Fibonacci
 * numbers below 2^64 (Lamé).
 */
static uint64_t weir_gcd(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/*
 * Bounds: burst * q < 2^62 just when burst <= (2^62 - 1) / q, so no product is computed before it is known to fit.
 * q >= 2^62 makes that quotient 0, which no burst meets.
 */
weir_error weir_scale_init(weir_scale *scale, const weir_limit *limit)
{
    uint64_t g, p, q;

    if (scale == NULL || limit == NULL) {
        return WEIR_ERR_NULL;
    }
    if ((limit->permits2 | limit->period2 | limit->burst2) != 0) {
        return WEIR_ERR_INVALID_SECOND;
    }
    if (limit->permits == 0) {
        return WEIR_ERR_INVALID_PERMITS;
    }
    if (limit->period == 0) {
        return WEIR_ERR_INVALID_PERIOD;
    }
    if (limit->burst == 0) {
        return WEIR_ERR_INVALID_BURST;
    }
    g = weir_gcd(limit->permits, limit->period);
    p = limit->permits / g;
    q = limit->period / g;
    if (p >= WEIR_UNIT_BOUND || limit->burst > (WEIR_UNIT_BOUND - 1) / q) {
        return WEIR_ERR_LIMIT_TOO_LARGE;
    }
    scale->tick = p;
    scale->permit = q;
    scale->tolerance = limit->burst * q;
    scale->burst = limit->burst;
    scale->horizon = (WEIR_UNIT_BOUND - 1) / p;
    return WEIR_OK;
}

weir_error weir_answer_fill(const weir_scale *scale, const weir_decision *decision, weir_answer *answer)
{
    if (scale == NULL || decision == NULL || answer == NULL) {
        return WEIR_ERR_NULL;
    }
    *answer = weir_answer_of(scale, *decision);
    return WEIR_OK;
}
