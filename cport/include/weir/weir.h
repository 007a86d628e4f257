/*
 * weir.h - the words that every policy of weir shares: a limit, a decision, its quotients, outcomes and errors.
 *
 * Everything counts in whole ticks and whole permits. A tick is whatever the caller's clock counts in: pass
 * nanoseconds as `now` and they are the unit of `period` too. Nothing here reads a clock, allocates, keeps a
 * global, uses a float or touches errno. C11, and valid as C++.
 *
 * Exactness. With g = gcd(permits, period), one tick is p = permits/g units and one permit is q = period/g units,
 * so the emission interval period/permits, a rational number, is never computed. All sums are in units. Each
 * quantity that a scale holds is below 2^62, a debt and a theoretical arrival time are below 2^63, so no sum of a
 * step can overflow.
 */
#ifndef WEIR_WEIR_H
#define WEIR_WEIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this library, for the preprocessor and as text. */
#define WEIR_VERSION_MAJOR 0
#define WEIR_VERSION_MINOR 1
#define WEIR_VERSION_PATCH 0
#define WEIR_VERSION "0.1.0"

/* The retry_after of a request that no waiting can help: the largest value of its type, so that nobody spins. */
#define WEIR_NEVER UINT64_MAX

/*
 * How a block of state must be aligned, in bytes. Anything from malloc is, and an array of uint64_t where uint64_t is
 * aligned to 8. On i386 a member of a structure is not: write _Alignas(WEIR_ALIGN), in C++ alignas(WEIR_ALIGN).
 */
#define WEIR_ALIGN 8u

/* A conversion that a C++ program can include under -Wold-style-cast. */
#ifdef __cplusplus
#define WEIR_CAST(type, value) static_cast<type>(value)
#else
#define WEIR_CAST(type, value) ((type)(value))
#endif

/*
 * What a policy enforces: permits per period ticks, and at most burst permits at once. The second three numbers
 * are a dual bucket's second limit and 0 for every other policy. permits, period and burst are at least 1; with g
 * as above, burst * period/g and permits/g are below 2^62. A sliding log has no burst of its own: its burst is 0 or
 * permits, and permits and period are below 2^62.
 */
typedef struct weir_limit {
    uint64_t permits, period, burst;
    uint64_t permits2, period2, burst2;
} weir_limit;

/* What became of a request: one of the numbers below. Fixed in width, so that no compile switch moves a field. */
typedef uint32_t weir_outcome;

enum {
    WEIR_NONE = 0,         /* no answer: there was no table to ask (NULL) */
    WEIR_ALLOW = 1,        /* the request conforms; its cost is spent (a peek spends nothing) */
    WEIR_DENY = 2,         /* the cost fits the limit, but not now; retry_after says when it will */
    WEIR_TOO_COSTLY = 3,   /* the cost is more than the burst, so it can never fit */
    WEIR_FULL = 4,         /* the key is new and there is no room for it */
    WEIR_PAST_HORIZON = 5, /* now is further than the limit can count exactly */
    WEIR_UNAVAILABLE = 6   /* whoever keeps the state could not be asked; nothing in this library answers it */
};

/* Which limit of a dual bucket binds. It is the first wherever there is one limit. */
typedef uint32_t weir_binding;

enum { WEIR_FIRST = 0, WEIR_SECOND = 1 };

/* Why a call failed. A call that fails has changed nothing, its results included. */
typedef enum weir_error {
    WEIR_OK = 0,
    WEIR_ERR_UNKNOWN_POLICY,  /* "unknown_policy": no policy of that name */
    WEIR_ERR_INVALID_SECOND,  /* "invalid_second": one too many, or a dual bucket without */
    WEIR_ERR_INVALID_PERMITS, /* "invalid_permits": permits is 0 */
    WEIR_ERR_INVALID_PERIOD,  /* "invalid_period": period is 0 */
    WEIR_ERR_INVALID_BURST,   /* "invalid_burst": burst is 0; sliding log: it is neither 0 nor permits */
    WEIR_ERR_LIMIT_TOO_LARGE, /* "limit_too_large": beyond the bounds of weir_limit, or of a log's ring */
    WEIR_ERR_MAX_KEYS,        /* "invalid_max_keys": no keys, or more than can be addressed */
    WEIR_ERR_PAST_HORIZON,    /* "past_horizon": now is beyond the horizon of the limit in force, or of the new one */
    WEIR_ERR_NULL,            /* "null": a pointer that must lead somewhere is NULL */
    WEIR_ERR_ALIGN,           /* "align": the block is not aligned to WEIR_ALIGN */
    WEIR_ERR_SIZE,            /* "size": the block is smaller than the size function says */
    WEIR_ERR_MEMORY           /* "memory": malloc found no memory */
} weir_error;

/* The word of an error, as quoted above ("ok" for none, "unknown" for a number that is no error). Never NULL. */
const char *weir_error_word(weir_error error);

/* The word that vectors and protocols use for an outcome: "allow", "deny", ...; "none" for any other number. */
const char *weir_outcome_word(weir_outcome outcome);

/*
 * One limit in units in which nothing is ever rounded; see "Exactness" above. Make it with weir_scale_init. It
 * holds no state, may be shared, and all its fields are below 2^62 and, after weir_scale_init, at least 1.
 */
typedef struct weir_scale {
    uint64_t tick;      /* p: the units that one tick leaks or refills */
    uint64_t permit;    /* q: the units that one permit costs */
    uint64_t tolerance; /* L = burst * q: the burst tolerance */
    uint64_t burst;     /* the most permits that can be spent at once */
    uint64_t horizon;   /* the largest now, in ticks, with now * p below 2^62 */
} weir_scale;

/*
 * Makes the scale of a bucket with one limit. Checks in this order: WEIR_ERR_NULL, WEIR_ERR_INVALID_SECOND,
 * _INVALID_PERMITS, _INVALID_PERIOD, _INVALID_BURST, _LIMIT_TOO_LARGE. At most 94 divisions.
 */
weir_error weir_scale_init(weir_scale *scale, const weir_limit *limit);

/*
 * The decision of one request, in units. The quotients below are computed when they are asked for, because a
 * division costs more than the rest of a take. It is a value and holds on to nothing.
 */
typedef struct weir_decision {
    uint64_t debt;        /* units that the key owes after the request; below 2^63 */
    uint64_t wait;        /* deny: units that must leak first; allow: units ahead in a queue; else WEIR_NEVER */
    weir_outcome outcome; /* look at it first */
} weir_decision;

/* A decision as plain numbers, field by field what vectors and protocols carry. Times are ticks. */
typedef struct weir_answer {
    weir_outcome outcome;
    weir_binding binding; /* which limit of a dual bucket binds; WEIR_FIRST for every other policy */
    uint64_t remaining;   /* whole permits that could still be spent at now, after this request */
    uint64_t retry_after; /* 0 if allowed; denied: the least wait that helps; else WEIR_NEVER */
    uint64_t reset_after; /* the least wait after which the key is as good as one never seen */
    uint64_t delay;       /* leaky bucket: how long to hold an allowed request; else 0 */
} weir_answer;

/* The decision of a request that was not weighed at all: full, past_horizon, none. */
static inline weir_decision weir_refused(weir_outcome outcome)
{
    weir_decision d;

    d.debt = 0;
    d.wait = WEIR_NEVER;
    d.outcome = outcome;
    return d;
}

/* Whether the request was weighed against the key's debt. */
static inline bool weir_weighed(weir_decision d)
{
    return d.outcome >= WEIR_ALLOW && d.outcome <= WEIR_TOO_COSTLY;
}

/*
 * Judges a request of cost permits on a bucket that owes debt units and spends nothing: the conformance test of
 * the generic cell rate algorithm (ITU-T I.371, ATM Forum TM 4.0), which is that of the token bucket and of the
 * leaky bucket as a meter too. A tie conforms, and a cost of 0 always does. debt is below 2^63.
 *
 * Bounds: cost <= burst is checked first, so cost * q <= L < 2^62. No division.
 */
static inline weir_decision weir_scale_judge(const weir_scale *scale, uint64_t debt, uint64_t cost)
{
    weir_decision d = weir_refused(WEIR_TOO_COSTLY);

    d.debt = debt;
    if (cost <= scale->burst) {
        const uint64_t spare = scale->tolerance - cost * scale->permit;
        d.outcome = WEIR_ALLOW;
        d.wait = 0;
        if (debt > spare && cost > 0) {
            d.outcome = WEIR_DENY;
            d.wait = debt - spare;
        }
    }
    return d;
}

/* The least whole number of ticks in which units leak. One division; none for 0 units, which
 * is all that a scale of zeros gives. */
static inline uint64_t weir_scale_ticks(const weir_scale *scale, uint64_t units)
{
    uint64_t whole;

    if (units == 0) {
        return 0;
    }
    whole = units / scale->tick;
    return whole * scale->tick < units ? whole + 1 : whole;
}

/* The whole permits that a bucket that owes debt units could still spend: rounded down. One division at most. */
static inline uint64_t weir_scale_remaining(const weir_scale *scale, uint64_t debt)
{
    return debt >= scale->tolerance ? 0 : (scale->tolerance - debt) / scale->permit;
}

/* Whole permits that could still be spent at now, after this request. */
static inline uint64_t weir_remaining(const weir_scale *scale, weir_decision d)
{
    return weir_weighed(d) ? weir_scale_remaining(scale, d.debt) : 0;
}

/* Ticks: 0 if allowed; denied: the least wait after which the same request is allowed if nobody else comes; else
 * WEIR_NEVER. */
static inline uint64_t weir_retry_after(const weir_scale *scale, weir_decision d)
{
    if (d.outcome == WEIR_ALLOW) {
        return 0;
    }
    return d.outcome == WEIR_DENY ? weir_scale_ticks(scale, d.wait) : WEIR_NEVER;
}

/* Ticks: the least wait after which the key is as good as one never seen. */
static inline uint64_t weir_reset_after(const weir_scale *scale, weir_decision d)
{
    return weir_scale_ticks(scale, d.debt);
}

/* Ticks: how long to hold an allowed request of a leaky bucket so that the output is smooth; else 0. */
static inline uint64_t weir_delay(const weir_scale *scale, weir_decision d)
{
    return d.outcome == WEIR_ALLOW ? weir_scale_ticks(scale, d.wait) : 0;
}

/*
 * Ticks: the least wait until remaining is larger; 0 if it is as large as it can be.
 *
 * Bounds: (remaining + 1) * q <= L for a debt above 0 (then remaining < burst), so the sum with a debt is below
 * 2^63 + 2^62.
 */
static inline uint64_t weir_next(const weir_scale *scale, weir_decision d)
{
    uint64_t more;

    if (!weir_weighed(d) || d.debt == 0) {
        return 0;
    }
    more = (weir_scale_remaining(scale, d.debt) + 1) * scale->permit;
    return weir_scale_ticks(scale, d.debt + more - scale->tolerance);
}

/* All of a decision as plain numbers: three divisions at most for an allowed request, three for a denied one. */
static inline weir_answer weir_answer_of(const weir_scale *scale, weir_decision d)
{
    weir_answer a;

    a.outcome = d.outcome;
    a.binding = WEIR_FIRST;
    a.remaining = weir_remaining(scale, d);
    a.retry_after = weir_retry_after(scale, d);
    a.reset_after = weir_reset_after(scale, d);
    a.delay = weir_delay(scale, d);
    return a;
}

/*
 * weir_answer_of as a function of the library, for languages that call it and cannot include it: *answer is the
 * answer of *decision. scale is what weir_<policy>_rules_of gives for a GCRA, token or leaky bucket. WEIR_ERR_NULL.
 */
weir_error weir_answer_fill(const weir_scale *scale, const weir_decision *decision, weir_answer *answer);

#ifdef __cplusplus
}
#endif

#endif
