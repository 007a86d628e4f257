/*
 * five_test.c - what all five do with bad arguments, at the ends of their blocks and when they are full. Prints nothing and
 * returns 0 if all is well.
 */
#include "check.h"

#include <string.h>

#include "sources.h"

#include "../any.h"

#define WORDS 512

static const weir_limit good[] = {
    {100, 1000, 20, 0, 0, 0}, {100, 1000, 20, 0, 0, 0}, {100, 1000, 20, 0, 0, 0},
    {4, 1000, 0, 0, 0, 0},    {100, 1000, 20, 7, 90, 30},
};

static uint64_t block[WORDS];

static void fill(void)
{
    memset(block, 0xa5, sizeof block);
}

static bool untouched_from(size_t word)
{
    for (; word < WORDS; word++) {
        if (block[word] != UINT64_C(0xa5a5a5a5a5a5a5a5)) {
            return false;
        }
    }
    return true;
}

/* A limit that is refused is refused by size and by init, and nothing is touched. */
static void refused(int kind, weir_limit limit, uint64_t max_keys, weir_error want)
{
    size_t bytes = 77;

    fill();
    SAME(weir_any_size(kind, limit, max_keys, &bytes), want);
    SAME(weir_any_init(kind, block, sizeof block, limit, max_keys, 1), want);
    SAME(bytes, 77);
    CHECK(untouched_from(0));
}

static void test_limits_and_max_keys(void)
{
    static const uint64_t too_many[] = {0, SIZE_MAX / 48, SIZE_MAX / 16, UINT64_C(1) << 60, UINT64_MAX};
    const uint64_t large = UINT64_C(1) << 62;
    int kind;
    size_t i;

    for (kind = 0; kind < 5; kind++) {
        const uint64_t two = kind == WEIR_ANY_DUALBUCKET ? 1 : 0;
        weir_limit limit = {0, 0, 0, two, two, two};
        refused(kind, limit, 0, WEIR_ERR_INVALID_PERMITS);
        limit.permits = 5;
        refused(kind, limit, 0, WEIR_ERR_INVALID_PERIOD);
        limit.period = 5;
        limit.burst = kind == WEIR_ANY_SLIDINGLOG ? 4 : 0;
        refused(kind, limit, 0, WEIR_ERR_INVALID_BURST);
        limit.burst = limit.permits = large;
        limit.period = 1;
        refused(kind, limit, 0, WEIR_ERR_LIMIT_TOO_LARGE);
        limit.permits = limit.burst = 1;
        limit.period = large;
        refused(kind, limit, 0, WEIR_ERR_LIMIT_TOO_LARGE);
        for (i = 0; i < sizeof too_many / sizeof too_many[0]; i++) {
            refused(kind, good[kind], too_many[i], WEIR_ERR_MAX_KEYS);
        }
        limit = good[kind];
        limit.permits2 = limit.period2 = limit.burst2 = 0;
        if (two == 0) {
            limit.burst2 = 1;
        }
        refused(kind, limit, 0, WEIR_ERR_INVALID_SECOND);
    }
}

/* The second limit is looked at after all of the first. */
static void test_second_limits(void)
{
    const weir_limit rows[] = {
        {1, 1, 1, 0, 1, 1}, {1, 1, 1, 1, 0, 1}, {1, 1, 1, 1, 1, 0}, {1, 1, 1, 1, UINT64_C(1) << 62, 1},
        {1, 1, 0, 0, 0, 1},
    };
    const weir_error want[] = {WEIR_ERR_INVALID_PERMITS, WEIR_ERR_INVALID_PERIOD, WEIR_ERR_INVALID_BURST,
                               WEIR_ERR_LIMIT_TOO_LARGE, WEIR_ERR_INVALID_BURST};
    size_t i;

    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        refused(WEIR_ANY_DUALBUCKET, rows[i], 1, want[i]);
    }
}

/* A log that cannot be addressed is more than any max_keys allows, however few. */
static void test_long_logs(void)
{
    static const uint64_t entries[] = {SIZE_MAX / 32, SIZE_MAX / 16 - 8, SIZE_MAX / 16,
                                       UINT64_C(1) << 60, (UINT64_C(1) << 62) - 1};
    size_t i, bytes = 0;

    for (i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        const weir_limit limit = {entries[i], entries[i], 0, 0, 0, 0};
        refused(WEIR_ANY_SLIDINGLOG, limit, 1, WEIR_ERR_MAX_KEYS);
    }
    {
        const weir_limit limit = {(UINT64_C(1) << 62) - 1, 5, 0, 0, 0, 0};
        SAME(weir_any_size(WEIR_ANY_SLIDINGLOG, limit, 10, &bytes), WEIR_OK);
        SAME(bytes, WEIR_SLIDINGLOG_HEADER + 16 * 15 + 10 * (40 + 16 * 5));
    }
}

#define NO_POINTER(name, kind)                                                                   \
    do {                                                                                         \
        const uint64_t *none = NULL;                                                             \
        weir_##name *made = NULL;                                                                \
        size_t bytes = 77;                                                                       \
        uint64_t freed = 77;                                                                     \
        bool done = true;                                                                        \
        (void)none;                                                                              \
        fill();                                                                                  \
        SAME(weir_##name##_size(NULL, 1, &bytes), WEIR_ERR_NULL);                                \
        SAME(weir_##name##_size(&good[kind], 1, NULL), WEIR_ERR_NULL);                           \
        SAME(weir_##name##_init(NULL, sizeof block, &good[kind], 1, 1), WEIR_ERR_NULL);          \
        SAME(weir_##name##_init(block, sizeof block, NULL, 1, 1), WEIR_ERR_NULL);                \
        SAME(weir_##name##_create(NULL, &good[kind], 1, 1), WEIR_ERR_NULL);                      \
        SAME(weir_##name##_create(&made, NULL, 1, 1), WEIR_ERR_NULL);                            \
        SAME(weir_##name##_create(&made, &good[kind], 0, 1), WEIR_ERR_MAX_KEYS);                 \
        SAME(weir_##name##_init((unsigned char *)block + 1, sizeof block - 8, &good[kind], 1, 1), WEIR_ERR_ALIGN); \
        SAME(weir_##name##_init((unsigned char *)block + 4, sizeof block - 8, &good[kind], 1, 1), WEIR_ERR_ALIGN); \
        SAME(weir_##name##_init(block, 0, &good[kind], 1, 1), WEIR_ERR_SIZE);                    \
        CHECK(made == NULL && bytes == 77 && untouched_from(0));                                 \
        SAME(weir_##name##_size(&good[kind], 1, &bytes), WEIR_OK);                               \
        SAME(weir_##name##_init(block, bytes - 1, &good[kind], 1, 1), WEIR_ERR_SIZE);            \
        CHECK(untouched_from(0));                                                                \
        SAME(weir_##name##_relimit(NULL, 0, &good[kind]), WEIR_ERR_NULL);                        \
        SAME(weir_##name##_sweep(NULL, 0, 0, &freed, &done), WEIR_ERR_NULL);                     \
        CHECK(freed == 77 && done);                                                              \
        weir_##name##_forget(NULL, 1);                                                           \
        weir_##name##_prefetch(NULL, 1);                                                         \
        SAME(weir_##name##_keys(NULL) + weir_##name##_max_keys(NULL) + weir_##name##_horizon(NULL), 0); \
        SAME(weir_##name##_limit(NULL).permits, 0);                                              \
        weir_##name##_destroy(NULL);                                                             \
        SAME(weir_##name##_create(&made, &good[kind], 9, 1), WEIR_OK);                           \
        SAME(weir_##name##_max_keys(made), 9);                                                   \
        SAME(weir_##name##_limit(made).permits, good[kind].permits);                             \
        SAME(weir_##name##_relimit(made, 0, NULL), WEIR_ERR_NULL);                               \
        SAME(weir_##name##_sweep(made, 0, 0, NULL, NULL), WEIR_OK);                              \
        weir_##name##_destroy(made);                                                             \
    } while (0)

static void test_no_pointers(void)
{
    NO_POINTER(gcra, 0);
    NO_POINTER(tokenbucket, 1);
    NO_POINTER(leakybucket, 2);
    NO_POINTER(slidinglog, 3);
    NO_POINTER(dualbucket, 4);
}

/* A table that is not there answers nothing and breaks nothing; nor does a dual bucket without costs. */
static void test_no_table(void)
{
    const uint64_t cost[2] = {1, 1};
    weir_dualbucket *table = (weir_dualbucket *)block;

    SAME(weir_gcra_take(NULL, 0, 0, 1).outcome, WEIR_NONE);
    SAME(weir_tokenbucket_take(NULL, 0, 0, 1).outcome, WEIR_NONE);
    SAME(weir_tokenbucket_peek(NULL, 0, 0, 1).outcome, WEIR_NONE);
    SAME(weir_leakybucket_take(NULL, 0, 0, 1).outcome, WEIR_NONE);
    SAME(weir_leakybucket_peek(NULL, 0, 0, 1).outcome, WEIR_NONE);
    SAME(weir_slidinglog_take(NULL, 0, 0, 1).outcome, WEIR_NONE);
    SAME(weir_slidinglog_peek(NULL, 0, 0, 1).retry_after, WEIR_NEVER);
    SAME(weir_slidinglog_next(NULL, 0, 0) + weir_slidinglog_entries(NULL), 0);
    SAME(weir_dualbucket_take(NULL, 0, 0, cost).outcome, WEIR_NONE);
    SAME(weir_dualbucket_peek(NULL, 0, 0, cost).wait[1], WEIR_NEVER);
    SAME(weir_tokenbucket_refund(NULL, 0, 0, 1), WEIR_ERR_NULL);
    SAME(weir_leakybucket_refund(NULL, 0, 0, 1), WEIR_ERR_NULL);
    SAME(weir_slidinglog_refund(NULL, 0, 0, 1), WEIR_ERR_NULL);
    SAME(weir_dualbucket_refund(NULL, 0, 0, cost), WEIR_ERR_NULL);
    CHECK(weir_tokenbucket_rules_of(NULL) == NULL && weir_leakybucket_rules_of(NULL) == NULL);
    CHECK(weir_dualbucket_rules_of(NULL) == NULL);
    SAME(weir_slidinglog_rules_init(NULL, &good[3]), WEIR_ERR_NULL);
    SAME(weir_dualbucket_rules_init(NULL, &good[4]), WEIR_ERR_NULL);
    SAME(weir_dualbucket_init(block, sizeof block, &good[4], 4, 1), WEIR_OK);
    SAME(weir_dualbucket_take(table, 0, 0, NULL).outcome, WEIR_NONE);
    SAME(weir_dualbucket_peek(table, 0, 0, NULL).outcome, WEIR_NONE);
    SAME(weir_dualbucket_refund(table, 0, 0, NULL), WEIR_ERR_NULL);
    SAME(weir_dualbucket_keys(table), 0);
}

/* As many bytes as size says are enough, and nothing behind them is ever written, whatever is done. */
static void test_blocks(void)
{
    int kind;
    uint64_t max_keys, i;

    for (kind = 0; kind < 5; kind++) {
        for (max_keys = 1; max_keys <= 12; max_keys++) {
            size_t bytes = 0;
            SAME(weir_any_size(kind, good[kind], max_keys, &bytes), WEIR_OK);
            CHECK(bytes <= 216 + max_keys * (kind == WEIR_ANY_GCRA ? 24 : kind == WEIR_ANY_SLIDINGLOG ? 64 + 64 : 36));
            fill();
            SAME(weir_any_init(kind, block, bytes, good[kind], max_keys, max_keys), WEIR_OK);
            for (i = 0; i < 4000; i++) {
                (void)weir_any_take(kind, block, i / 4, i % 17 - 1, i % 3, i % 2);
                (void)weir_any_refund(kind, block, i / 4, i % 5, 1, i % 2);
                if (i % 50 == 0) {
                    weir_any_forget(kind, block, i % 16);
                    (void)weir_any_sweep(kind, block, i / 4, i % 4);
                }
                CHECK(weir_any_keys(kind, block) <= max_keys);
            }
            CHECK(untouched_from((bytes + 7) / 8));
        }
    }
}

/* Known keys are served exactly as if alone while a million others, of all five, are refused and leave no trace. */
static void test_full(void)
{
    static uint64_t alone[WORDS], before[WORDS];
    int kind;
    uint64_t i;

    for (kind = 0; kind < 5; kind++) {
        SAME(weir_any_init(kind, block, sizeof block, good[kind], 2, 5), WEIR_OK);
        SAME(weir_any_init(kind, alone, sizeof alone, good[kind], 2, 5), WEIR_OK);
        (void)weir_any_take(kind, block, 0, UINT64_MAX, 1, 1);
        (void)weir_any_take(kind, alone, 0, UINT64_MAX, 1, 1);
        (void)weir_any_take(kind, block, 0, 0, 1, 1);
        (void)weir_any_take(kind, alone, 0, 0, 1, 1);
        for (i = 0; i < 200000; i++) {
            weir_any_answer a, b;
            if (i % 1000 == 0) {
                a = weir_any_take(kind, block, i / 500, i / 1000 % 2 - 1, 1, 1);
                b = weir_any_take(kind, alone, i / 500, i / 1000 % 2 - 1, 1, 1);
                CHECK(memcmp(&a, &b, sizeof a) == 0);
                memcpy(before, block, sizeof block);
            }
            SAME(weir_any_take(kind, block, i / 500, i + 7, 1, 1).answer.outcome, WEIR_FULL);
            if (i % 1000 == 999) {
                CHECK(memcmp(before, block, sizeof block) == 0);
            }
        }
    }
}

int main(void)
{
    test_limits_and_max_keys();
    test_second_limits();
    test_long_logs();
    test_no_pointers();
    test_no_table();
    test_blocks();
    test_full();
    return failures != 0;
}
