/*
 * any.h - the five policies behind one set of functions, told by a number which policy's block they are given: for the Go
 * binding, to which a whole decision with all its quotients is one crossing, and for the test programs. A block is words.
 * It is not part of the library: a program in C calls the functions of the policy that it has.
 */
#ifndef WEIR_ANY_H
#define WEIR_ANY_H

#include "weir/dualbucket.h"
#include "weir/gcra.h"
#include "weir/hash.h"
#include "weir/leakybucket.h"
#include "weir/slidinglog.h"
#include "weir/tokenbucket.h"

enum { WEIR_ANY_GCRA, WEIR_ANY_TOKENBUCKET, WEIR_ANY_LEAKYBUCKET, WEIR_ANY_SLIDINGLOG, WEIR_ANY_DUALBUCKET };

typedef struct weir_any_answer {
    weir_answer answer;
    uint64_t next;
} weir_any_answer;

typedef struct weir_any_swept {
    uint64_t freed;
    bool done;
} weir_any_swept;

/* One request. */
typedef struct weir_any_request {
    uint64_t now, key, cost[2];
} weir_any_request;

#define WEIR_ANY_METER(name)                                                                                    \
    static inline weir_any_answer weir_any_##name(uint64_t *block, const weir_any_request *r, bool spend)         \
    {                                                                                                          \
        weir_##name *table = (weir_##name *)(void *)block;                                                     \
        const weir_scale *scale = weir_##name##_rules_of(table);                                               \
        weir_decision d = spend ? weir_##name##_take(table, r->now, r->key, r->cost[0])                        \
                                : weir_##name##_peek(table, r->now, r->key, r->cost[0]);                       \
        weir_any_answer a;                                                                                      \
        a.answer = weir_answer_of(scale, d);                                                                   \
        a.next = weir_next(scale, d);                                                                          \
        return a;                                                                                              \
    }

WEIR_ANY_METER(gcra)
WEIR_ANY_METER(tokenbucket)
WEIR_ANY_METER(leakybucket)

static inline weir_any_answer weir_any_dualbucket(uint64_t *block, const weir_any_request *r, bool spend)
{
    weir_dualbucket *table = (weir_dualbucket *)(void *)block;
    const weir_dualbucket_rules *rules = weir_dualbucket_rules_of(table);
    weir_dualbucket_decision d = spend ? weir_dualbucket_take(table, r->now, r->key, r->cost)
                                       : weir_dualbucket_peek(table, r->now, r->key, r->cost);
    weir_any_answer a;

    a.answer = weir_dualbucket_answer_of(rules, d);
    a.next = weir_dualbucket_next(rules, d);
    return a;
}

static inline weir_any_answer weir_any_slidinglog(uint64_t *block, const weir_any_request *r, bool spend)
{
    weir_slidinglog *table = (weir_slidinglog *)(void *)block;
    weir_any_answer a;

    a.answer = spend ? weir_slidinglog_take(table, r->now, r->key, r->cost[0])
                     : weir_slidinglog_peek(table, r->now, r->key, r->cost[0]);
    a.next = weir_slidinglog_next(table, r->now, r->key);
    return a;
}

static inline weir_any_answer weir_any_ask(int kind, uint64_t *block, const weir_any_request *r, bool spend)
{
    switch (kind) {
    case WEIR_ANY_GCRA:
        return weir_any_gcra(block, r, spend);
    case WEIR_ANY_TOKENBUCKET:
        return weir_any_tokenbucket(block, r, spend);
    case WEIR_ANY_LEAKYBUCKET:
        return weir_any_leakybucket(block, r, spend);
    case WEIR_ANY_DUALBUCKET:
        return weir_any_dualbucket(block, r, spend);
    default:
        return weir_any_slidinglog(block, r, spend);
    }
}

static inline weir_any_answer weir_any_take(int kind, uint64_t *block, uint64_t now, uint64_t key, uint64_t cost,
                                          uint64_t cost2)
{
    const weir_any_request r = {now, key, {cost, cost2}};
    return weir_any_ask(kind, block, &r, true);
}

static inline weir_any_answer weir_any_peek(int kind, uint64_t *block, uint64_t now, uint64_t key, uint64_t cost,
                                          uint64_t cost2)
{
    const weir_any_request r = {now, key, {cost, cost2}};
    return weir_any_ask(kind, block, &r, false);
}

/* Calls weir_<policy>_<operation> of the policy of that kind on its own type of block. */
#define WEIR_ANY_EACH(operation, ...)                                                                           \
    switch (kind) {                                                                                            \
    case WEIR_ANY_GCRA:                                                                                         \
        return weir_gcra_##operation((weir_gcra *)(void *)block __VA_ARGS__);                                  \
    case WEIR_ANY_TOKENBUCKET:                                                                                  \
        return weir_tokenbucket_##operation((weir_tokenbucket *)(void *)block __VA_ARGS__);                    \
    case WEIR_ANY_LEAKYBUCKET:                                                                                  \
        return weir_leakybucket_##operation((weir_leakybucket *)(void *)block __VA_ARGS__);                    \
    case WEIR_ANY_DUALBUCKET:                                                                                   \
        return weir_dualbucket_##operation((weir_dualbucket *)(void *)block __VA_ARGS__);                      \
    default:                                                                                                   \
        return weir_slidinglog_##operation((weir_slidinglog *)(void *)block __VA_ARGS__);                      \
    }

#define WEIR_ANY_WITH(...) , __VA_ARGS__

static inline void weir_any_prefetch(int kind, uint64_t *block, uint64_t key)
{
    if (kind == WEIR_ANY_GCRA) {
        weir_gcra_prefetch((weir_gcra *)(void *)block, key);
    } else if (kind == WEIR_ANY_TOKENBUCKET) {
        weir_tokenbucket_prefetch((weir_tokenbucket *)(void *)block, key);
    } else if (kind == WEIR_ANY_LEAKYBUCKET) {
        weir_leakybucket_prefetch((weir_leakybucket *)(void *)block, key);
    } else if (kind == WEIR_ANY_DUALBUCKET) {
        weir_dualbucket_prefetch((weir_dualbucket *)(void *)block, key);
    } else {
        weir_slidinglog_prefetch((weir_slidinglog *)(void *)block, key);
    }
}

/* Names all keys first, so that their cache misses overlap, and then takes them in order. */
static inline void weir_any_take_batch(int kind, uint64_t *block, uint64_t now, const uint64_t *keys,
                                      const uint64_t *costs, size_t count, weir_any_answer *out)
{
    size_t i;

    for (i = 0; i < count; i++) {
        weir_any_prefetch(kind, block, keys[i]);
    }
    for (i = 0; i < count; i++) {
        out[i] = weir_any_take(kind, block, now, keys[i], costs[i], costs[i]);
    }
}

static inline weir_error weir_any_refund(int kind, uint64_t *block, uint64_t now, uint64_t key, uint64_t cost,
                                        uint64_t cost2)
{
    const uint64_t both[2] = {cost, cost2};

    switch (kind) {
    case WEIR_ANY_GCRA:
        return weir_gcra_refund((weir_gcra *)(void *)block, now, key, cost);
    case WEIR_ANY_TOKENBUCKET:
        return weir_tokenbucket_refund((weir_tokenbucket *)(void *)block, now, key, cost);
    case WEIR_ANY_LEAKYBUCKET:
        return weir_leakybucket_refund((weir_leakybucket *)(void *)block, now, key, cost);
    case WEIR_ANY_DUALBUCKET:
        return weir_dualbucket_refund((weir_dualbucket *)(void *)block, now, key, both);
    default:
        return weir_slidinglog_refund((weir_slidinglog *)(void *)block, now, key, cost);
    }
}

static inline weir_error weir_any_sweep_into(int kind, uint64_t *block, uint64_t now, uint64_t slots, weir_any_swept *out)
{
    WEIR_ANY_EACH(sweep, WEIR_ANY_WITH(now, slots, &out->freed, &out->done))
}

static inline weir_any_swept weir_any_sweep(int kind, uint64_t *block, uint64_t now, uint64_t slots)
{
    weir_any_swept swept = {0, false};
    (void)weir_any_sweep_into(kind, block, now, slots, &swept);
    return swept;
}

static inline void weir_any_forget(int kind, uint64_t *block, uint64_t key)
{
    if (kind == WEIR_ANY_GCRA) {
        weir_gcra_forget((weir_gcra *)(void *)block, key);
    } else if (kind == WEIR_ANY_TOKENBUCKET) {
        weir_tokenbucket_forget((weir_tokenbucket *)(void *)block, key);
    } else if (kind == WEIR_ANY_LEAKYBUCKET) {
        weir_leakybucket_forget((weir_leakybucket *)(void *)block, key);
    } else if (kind == WEIR_ANY_DUALBUCKET) {
        weir_dualbucket_forget((weir_dualbucket *)(void *)block, key);
    } else {
        weir_slidinglog_forget((weir_slidinglog *)(void *)block, key);
    }
}

static inline weir_error weir_any_relimit(int kind, uint64_t *block, uint64_t now, weir_limit limit)
{
    WEIR_ANY_EACH(relimit, WEIR_ANY_WITH(now, &limit))
}

static inline uint64_t weir_any_keys(int kind, uint64_t *block)
{
    WEIR_ANY_EACH(keys, )
}

static inline uint64_t weir_any_horizon(int kind, uint64_t *block)
{
    WEIR_ANY_EACH(horizon, )
}

static inline weir_limit weir_any_limit(int kind, uint64_t *block)
{
    WEIR_ANY_EACH(limit, )
}

static inline weir_error weir_any_init(int kind, uint64_t *block, size_t bytes, weir_limit limit, uint64_t max_keys,
                                      uint64_t seed)
{
    switch (kind) {
    case WEIR_ANY_GCRA:
        return weir_gcra_init(block, bytes, &limit, max_keys, seed);
    case WEIR_ANY_TOKENBUCKET:
        return weir_tokenbucket_init(block, bytes, &limit, max_keys, seed);
    case WEIR_ANY_LEAKYBUCKET:
        return weir_leakybucket_init(block, bytes, &limit, max_keys, seed);
    case WEIR_ANY_DUALBUCKET:
        return weir_dualbucket_init(block, bytes, &limit, max_keys, seed);
    default:
        return weir_slidinglog_init(block, bytes, &limit, max_keys, seed);
    }
}

static inline weir_error weir_any_size(int kind, weir_limit limit, uint64_t max_keys, size_t *bytes)
{
    switch (kind) {
    case WEIR_ANY_GCRA:
        return weir_gcra_size(&limit, max_keys, bytes);
    case WEIR_ANY_TOKENBUCKET:
        return weir_tokenbucket_size(&limit, max_keys, bytes);
    case WEIR_ANY_LEAKYBUCKET:
        return weir_leakybucket_size(&limit, max_keys, bytes);
    case WEIR_ANY_DUALBUCKET:
        return weir_dualbucket_size(&limit, max_keys, bytes);
    default:
        return weir_slidinglog_size(&limit, max_keys, bytes);
    }
}

#endif
