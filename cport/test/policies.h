/*
 * policies.h - the five tables behind one set of pointers, for tests that put all of them through the same calls.
 * Every call takes the costs as an array, of which only a dual bucket looks at the second, and answers in plain numbers.
 */
#ifndef WEIR_TEST_POLICIES_H
#define WEIR_TEST_POLICIES_H

#include "weir/dualbucket.h"
#include "weir/gcra.h"
#include "weir/leakybucket.h"
#include "weir/slidinglog.h"
#include "weir/tokenbucket.h"

typedef struct policy {
    const char *name;
    weir_error (*size)(const weir_limit *limit, uint64_t max_keys, size_t *bytes);
    weir_error (*init)(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed);
    weir_answer (*take)(void *table, uint64_t now, uint64_t key, const uint64_t cost[2]);
    weir_answer (*peek)(const void *table, uint64_t now, uint64_t key, const uint64_t cost[2]);
    weir_error (*refund)(void *table, uint64_t now, uint64_t key, const uint64_t cost[2]);
    void (*forget)(void *table, uint64_t key);
    weir_error (*sweep)(void *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done);
    weir_error (*relimit)(void *table, uint64_t now, const weir_limit *limit);
    uint64_t (*keys)(const void *table);
    uint64_t (*horizon)(const void *table);
} policy;

/* What is the same in all five but for the name. */
#define POLICY_COMMON(P)                                                                                         \
    static void P##_forget_(void *table, uint64_t key)                                                           \
    {                                                                                                            \
        weir_##P##_forget((weir_##P *)table, key);                                                               \
    }                                                                                                            \
    static weir_error P##_sweep_(void *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done)         \
    {                                                                                                            \
        return weir_##P##_sweep((weir_##P *)table, now, slots, freed, done);                                     \
    }                                                                                                            \
    static weir_error P##_relimit_(void *table, uint64_t now, const weir_limit *limit)                           \
    {                                                                                                            \
        return weir_##P##_relimit((weir_##P *)table, now, limit);                                                \
    }                                                                                                            \
    static uint64_t P##_keys_(const void *table)                                                                 \
    {                                                                                                            \
        return weir_##P##_keys((const weir_##P *)table);                                                         \
    }                                                                                                            \
    static uint64_t P##_horizon_(const void *table)                                                              \
    {                                                                                                            \
        return weir_##P##_horizon((const weir_##P *)table);                                                      \
    }

/* How a request is put and its answer read: COST is what the call takes, ANSWER what makes plain numbers of d. */
#define POLICY_REQUESTS(P, DECISION, COST, ANSWER)                                                               \
    static weir_answer P##_take_(void *block, uint64_t now, uint64_t key, const uint64_t cost[2])                \
    {                                                                                                            \
        weir_##P *table = (weir_##P *)block;                                                                     \
        DECISION d = weir_##P##_take(table, now, key, COST);                                                     \
        return ANSWER;                                                                                           \
    }                                                                                                            \
    static weir_answer P##_peek_(const void *block, uint64_t now, uint64_t key, const uint64_t cost[2])          \
    {                                                                                                            \
        const weir_##P *table = (const weir_##P *)block;                                                         \
        DECISION d = weir_##P##_peek(table, now, key, COST);                                                     \
        return ANSWER;                                                                                           \
    }                                                                                                            \
    static weir_error P##_refund_(void *table, uint64_t now, uint64_t key, const uint64_t cost[2])               \
    {                                                                                                            \
        return weir_##P##_refund((weir_##P *)table, now, key, COST);                                             \
    }

/* The delay is a leaky bucket's alone; weir_answer_of has 0 for the others because their allowed waits are 0. */
#define POLICY_SCALED(P) \
    POLICY_COMMON(P)     \
    POLICY_REQUESTS(P, weir_decision, cost[0], weir_answer_of(weir_##P##_rules_of(table), d))

POLICY_SCALED(gcra)
POLICY_SCALED(tokenbucket)
POLICY_SCALED(leakybucket)

POLICY_COMMON(slidinglog)
POLICY_REQUESTS(slidinglog, weir_answer, cost[0], d)

POLICY_COMMON(dualbucket)
POLICY_REQUESTS(dualbucket, weir_dualbucket_decision, cost,
                weir_dualbucket_answer_of(weir_dualbucket_rules_of(table), d))

#define POLICY_ROW(P)                                                                                            \
    {                                                                                                            \
        #P, weir_##P##_size, weir_##P##_init, P##_take_, P##_peek_, P##_refund_, P##_forget_, P##_sweep_,        \
            P##_relimit_, P##_keys_, P##_horizon_                                                                \
    }

enum { GCRA, TOKENBUCKET, LEAKYBUCKET, SLIDINGLOG, DUALBUCKET, POLICIES };

static const policy policies[POLICIES] = {
    POLICY_ROW(gcra), POLICY_ROW(tokenbucket), POLICY_ROW(leakybucket), POLICY_ROW(slidinglog), POLICY_ROW(dualbucket),
};

#endif
