/*
 * gcra_test.c - what the GCRA's table does with bad arguments, with keys that crowd together, and against a slow
 * model. It includes the sources, so that it can ask where a key's home is. Prints nothing and returns 0 if all is
 * well.
 */
#include "check.h"

#include <string.h>

#include "sources.h"

#define WORDS 512

static const weir_limit per_second = {100, 1000000000, 20, 0, 0, 0};

static void fill(uint64_t *block)
{
    memset(block, 0xa5, WORDS * sizeof *block);
}

static bool untouched(const uint64_t *block)
{
    const unsigned char *at = (const unsigned char *)block;
    size_t i;

    for (i = 0; i < WORDS * sizeof *block; i++) {
        if (at[i] != 0xa5) {
            return false;
        }
    }
    return true;
}

/* Each limit that is refused, in the order in which the faults are looked for. */
static void test_bad_limits(void)
{
    static const struct {
        weir_limit limit;
        weir_error want;
    } rows[] = {
        {{0, 0, 0, 1, 0, 0}, WEIR_ERR_INVALID_SECOND},
        {{3, 1000, 1, 0, 1, 0}, WEIR_ERR_INVALID_SECOND},
        {{3, 1000, 1, 0, 0, 1}, WEIR_ERR_INVALID_SECOND},
        {{0, 0, 0, 0, 0, 0}, WEIR_ERR_INVALID_PERMITS},
        {{1, 0, 0, 0, 0, 0}, WEIR_ERR_INVALID_PERIOD},
        {{1, 1, 0, 0, 0, 0}, WEIR_ERR_INVALID_BURST},
        {{1, UINT64_C(1) << 62, 1, 0, 0, 0}, WEIR_ERR_LIMIT_TOO_LARGE},          /* q */
        {{1, UINT64_C(1) << 31, UINT64_C(1) << 31, 0, 0, 0}, WEIR_ERR_LIMIT_TOO_LARGE}, /* L is 2^62 */
        {{1, UINT64_C(1) << 32, UINT64_C(1) << 32, 0, 0, 0}, WEIR_ERR_LIMIT_TOO_LARGE}, /* L wraps to 0 */
        {{UINT64_C(1) << 62, 1, 1, 0, 0, 0}, WEIR_ERR_LIMIT_TOO_LARGE},          /* p */
        {{UINT64_MAX, 1, 1, 0, 0, 0}, WEIR_ERR_LIMIT_TOO_LARGE},
        {{(UINT64_C(1) << 62) - 1, 1, 1, 0, 0, 0}, WEIR_OK},
        {{UINT64_MAX, UINT64_MAX, (UINT64_C(1) << 62) - 1, 0, 0, 0}, WEIR_OK}, /* p = q = 1 */
        {{1, (UINT64_C(1) << 62) - 1, 1, 0, 0, 0}, WEIR_OK},
    };
    uint64_t block[WORDS];
    size_t i, bytes;

    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bytes = 77;
        fill(block);
        SAME(weir_gcra_size(&rows[i].limit, 3, &bytes), rows[i].want);
        SAME(weir_gcra_init(block, sizeof block, &rows[i].limit, 3, 1), rows[i].want);
        SAME(bytes, rows[i].want == WEIR_OK ? 224 : 77);
        CHECK((rows[i].want != WEIR_OK) == untouched(block));
    }
}

/* Every other bad argument: a named error, and neither the block nor a result is touched. */
static void test_bad_arguments(void)
{
    static const uint64_t too_many[] = {0, SIZE_MAX / 48, SIZE_MAX / 24, SIZE_MAX / 16, UINT64_C(1) << 59,
                                        UINT64_C(1) << 60, UINT64_C(1) << 63, UINT64_MAX};
    uint64_t block[WORDS];
    weir_gcra *made = NULL;
    size_t i, bytes = 77;

    fill(block);
    for (i = 0; i < sizeof too_many / sizeof too_many[0]; i++) {
        SAME(weir_gcra_size(&per_second, too_many[i], &bytes), WEIR_ERR_MAX_KEYS);
        SAME(weir_gcra_init(block, sizeof block, &per_second, too_many[i], 1), WEIR_ERR_MAX_KEYS);
        SAME(weir_gcra_create(&made, &per_second, too_many[i], 1), WEIR_ERR_MAX_KEYS);
    }
    SAME(weir_gcra_size(NULL, 1, &bytes), WEIR_ERR_NULL);
    SAME(weir_gcra_size(&per_second, 1, NULL), WEIR_ERR_NULL);
    SAME(weir_gcra_init(NULL, sizeof block, &per_second, 1, 1), WEIR_ERR_NULL);
    SAME(weir_gcra_init(block, sizeof block, NULL, 1, 1), WEIR_ERR_NULL);
    SAME(weir_gcra_create(NULL, &per_second, 1, 1), WEIR_ERR_NULL);
    SAME(weir_gcra_create(&made, NULL, 1, 1), WEIR_ERR_NULL);
    SAME(weir_gcra_init((unsigned char *)block + 1, sizeof block - 8, &per_second, 1, 1), WEIR_ERR_ALIGN);
    SAME(weir_gcra_init((unsigned char *)block + 4, sizeof block - 8, &per_second, 1, 1), WEIR_ERR_ALIGN);
    SAME(weir_gcra_init(block, 0, &per_second, 1, 1), WEIR_ERR_SIZE);
    SAME(weir_gcra_init(block, WEIR_GCRA_HEADER + 15, &per_second, 1, 1), WEIR_ERR_SIZE);
    CHECK(made == NULL);
    SAME(bytes, 77);
    CHECK(untouched(block));
}

/* A table that is not there answers nothing and breaks nothing. */
static void test_no_table(void)
{
    uint64_t freed = 77;
    bool done = true;
    weir_decision d = weir_gcra_take(NULL, 0, 0, 1);

    SAME(d.outcome, WEIR_NONE);
    SAME(d.wait, WEIR_NEVER);
    SAME(weir_gcra_peek(NULL, 0, 0, 1).outcome, WEIR_NONE);
    SAME(weir_gcra_refund(NULL, 0, 0, 1), WEIR_ERR_NULL);
    SAME(weir_gcra_relimit(NULL, 0, &per_second), WEIR_ERR_NULL);
    SAME(weir_gcra_sweep(NULL, 0, 0, &freed, &done), WEIR_ERR_NULL);
    CHECK(freed == 77 && done);
    weir_gcra_forget(NULL, 1);
    SAME(weir_gcra_keys(NULL) + weir_gcra_max_keys(NULL) + weir_gcra_horizon(NULL), 0);
    SAME(weir_gcra_limit(NULL).permits, 0);
    CHECK(weir_gcra_rules_of(NULL) == NULL);
    weir_gcra_destroy(NULL);
}

/* Words that vectors and messages use. */
static void test_words(void)
{
    CHECK(strcmp(weir_error_word(WEIR_OK), "ok") == 0);
    CHECK(strcmp(weir_error_word(WEIR_ERR_MAX_KEYS), "invalid_max_keys") == 0);
    CHECK(strcmp(weir_error_word(WEIR_ERR_PAST_HORIZON), "past_horizon") == 0);
    CHECK(strcmp(weir_error_word(WEIR_ERR_MEMORY), "memory") == 0);
    CHECK(strcmp(weir_error_word((weir_error)99), "unknown") == 0);
    CHECK(strcmp(weir_outcome_word(WEIR_TOO_COSTLY), "too_costly") == 0);
    CHECK(strcmp(weir_outcome_word(WEIR_UNAVAILABLE), "unavailable") == 0);
    CHECK(strcmp(weir_outcome_word(99), "none") == 0);
}

/* The block is written to its last byte and not beyond, and a copy of it is a table of its own. */
static void test_block(void)
{
    uint64_t block[WORDS], copy[WORDS];
    weir_gcra *table = (weir_gcra *)block, *twin = (weir_gcra *)copy;
    size_t bytes = 0, i;

    SAME(weir_gcra_size(&per_second, 64, &bytes), WEIR_OK);
    SAME(bytes, WEIR_GCRA_HEADER + 24 * 64);
    fill(block);
    SAME(weir_gcra_init(block, bytes, &per_second, 64, 1), WEIR_OK);
    for (i = bytes / 8; i < WORDS; i++) {
        SAME(block[i], UINT64_C(0xa5a5a5a5a5a5a5a5));
    }
    SAME(weir_gcra_take(table, 0, 7, 20).outcome, WEIR_ALLOW);
    memcpy(copy, block, sizeof block);
    SAME(weir_gcra_take(twin, 0, 7, 1).outcome, WEIR_DENY);
    weir_gcra_forget(twin, 7);
    SAME(weir_gcra_take(twin, 0, 7, 1).outcome, WEIR_ALLOW);
    SAME(weir_gcra_take(table, 0, 7, 1).outcome, WEIR_DENY);
}

/* A sweep beyond the horizon is one at the horizon: 2^61 ticks of 8 units would wrap to 0 and find nobody idle. */
static void test_sweep_beyond(void)
{
    const weir_limit limit = {8, 1, 1, 0, 0, 0};
    uint64_t block[WORDS], freed = 0;
    weir_gcra *table = (weir_gcra *)block;

    SAME(weir_gcra_init(block, sizeof block, &limit, 4, 1), WEIR_OK);
    SAME(weir_gcra_take(table, 0, 7, 1).outcome, WEIR_ALLOW);
    SAME(weir_gcra_sweep(table, UINT64_C(1) << 61, 0, &freed, NULL), WEIR_OK);
    SAME(freed, 1);
}

/* Over one malloc: the same table. */
static void test_create(void)
{
    weir_gcra *table = NULL;

    SAME(weir_gcra_create(&table, &per_second, 1000, 1), WEIR_OK);
    SAME(weir_gcra_max_keys(table), 1000);
    SAME(weir_gcra_take(table, 0, UINT64_MAX, 1).outcome, WEIR_ALLOW);
    SAME(weir_gcra_keys(table), 1);
    weir_gcra_destroy(table);
}

/* The pure step: 3 per 1000 ticks, whose second permit is due at tick 334; a cost of 0 leaves the word alone. */
static void test_step(void)
{
    const weir_limit limit = {3, 1000, 1, 0, 0, 0};
    weir_gcra_rules rules;
    weir_answer a;
    uint64_t tat = 0;

    SAME(weir_scale_init(NULL, &limit), WEIR_ERR_NULL);
    SAME(weir_scale_init(&rules, &limit), WEIR_OK);
    SAME(weir_gcra_step(&rules, &tat, 0, 1).outcome, WEIR_ALLOW);
    SAME(tat, 1000);
    a = weir_answer_of(&rules, weir_gcra_step(&rules, &tat, 333, 1));
    CHECK(a.outcome == WEIR_DENY && a.remaining == 0 && a.retry_after == 1 && a.reset_after == 1);
    SAME(weir_gcra_step(&rules, &tat, 900, 0).outcome, WEIR_ALLOW);
    SAME(tat, 1000);
    SAME(weir_gcra_step_peek(&rules, tat, 334, 1).outcome, WEIR_ALLOW);
    SAME(weir_gcra_step_refund(&rules, tat, 0, UINT64_MAX), 0);
    SAME(weir_gcra_step_refund(&rules, tat, 500, 1), 1000);
    SAME(weir_gcra_step(&rules, &tat, rules.horizon, 1).outcome, WEIR_ALLOW);
    SAME(weir_gcra_step(&rules, &tat, rules.horizon + 1, 1).outcome, WEIR_PAST_HORIZON);
    SAME(weir_gcra_step(&rules, &tat, 0, 2).outcome, WEIR_TOO_COSTLY);
}

/* Products and quotients of 128 bits, at the edges of their words. */
static void test_arith(void)
{
    const uint64_t top = UINT64_MAX, large = UINT64_C(1) << 62;
    weir_wide w = weir_multiply(top, top);

    CHECK(w.high == top - 1 && w.low == 1);
    w = weir_multiply(UINT64_C(1) << 32, UINT64_C(1) << 32);
    CHECK(w.high == 1 && w.low == 0);
    SAME(weir_scaled(large, large, large, top), large);
    SAME(weir_scaled(large - 1, large, large - 1, top), large);
    SAME(weir_scaled(large + 1, large - 1, large, top), large); /* 2^62 - 2^-62 rounds up */
    SAME(weir_scaled(7, 3, 2, top), 11);
    SAME(weir_scaled(7, 3, 2, 10), 10);
    SAME(weir_scaled(top, top, 1, 5), 5);
    SAME(weir_scaled(0, large, 1, 5), 0);
}

/*
 * Keys that share one home, at each home of the table, its last slots included: the run goes round the end. All
 * are served, each can be forgotten without losing another, and nothing of a forgotten one is left.
 */
static void test_crowd(void)
{
    enum { KEYS = 8 };
    uint64_t block[WORDS], key[KEYS];
    weir_gcra *table = (weir_gcra *)block;
    uint64_t home, gone, next, i;

    for (home = 0; home < KEYS + KEYS / 2 + 1; home++) {
        for (gone = 0; gone < KEYS; gone++) {
            SAME(weir_gcra_init(block, sizeof block, &per_second, KEYS, home), WEIR_OK);
            for (i = 0, next = 0; i < KEYS; next++) {
                if (weir_table_home(&table->table, next) == home) {
                    key[i++] = next;
                    SAME(weir_gcra_take(table, 0, next, i).outcome, WEIR_ALLOW);
                }
            }
            SAME(weir_gcra_peek(table, 0, next, 1).outcome, WEIR_FULL);
            weir_gcra_forget(table, key[gone]);
            SAME(weir_gcra_keys(table), KEYS - 1);
            for (i = 0; i < KEYS; i++) {
                weir_answer a = weir_answer_of(&table->rules, weir_gcra_peek(table, 0, key[i], 0));
                SAME(a.remaining, i == gone ? 20 : 19 - i);
            }
        }
    }
}

int main(void)
{
    test_bad_limits();
    test_bad_arguments();
    test_no_table();
    test_words();
    test_block();
    test_sweep_beyond();
    test_create();
    test_step();
    test_arith();
    test_crowd();
    return failures != 0;
}
