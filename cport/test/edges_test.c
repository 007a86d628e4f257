/*
 * edges_test.c - what no ordinary program meets: no memory, a table of more than 2^32 slots, and threads that get in
 * each other's way at every turn. Prints nothing and returns 0 if all is well.
 */
#include "check.h"

#include "sources.h"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>

#include "weir/gcra_atomic.h"
#endif

/* The address sanitizer ends a program that asks for too much, unless it is told to answer as malloc does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Half of the address space is more than there is, and no malloc gives it. The result is not touched. */
static void test_no_memory(void)
{
    const weir_limit one = {1, 1000, 1, 0, 0, 0}, two = {1, 1000, 1, 1, 1000, 1};
    const uint64_t keys = SIZE_MAX / 2 / 100;
    weir_gcra *gcra = NULL;
    weir_tokenbucket *tokenbucket = NULL;
    weir_leakybucket *leakybucket = NULL;
    weir_slidinglog *slidinglog = NULL;
    weir_dualbucket *dualbucket = NULL;

    if (SIZE_MAX <= UINT32_MAX) {
        return; /* there half of it may well be had */
    }
    SAME(weir_gcra_create(&gcra, &one, keys, 1), WEIR_ERR_MEMORY);
    SAME(weir_tokenbucket_create(&tokenbucket, &one, keys, 1), WEIR_ERR_MEMORY);
    SAME(weir_leakybucket_create(&leakybucket, &one, keys, 1), WEIR_ERR_MEMORY);
    SAME(weir_slidinglog_create(&slidinglog, &one, keys, 1), WEIR_ERR_MEMORY);
    SAME(weir_dualbucket_create(&dualbucket, &two, keys, 1), WEIR_ERR_MEMORY);
    CHECK(gcra == NULL && tokenbucket == NULL && leakybucket == NULL && slidinglog == NULL && dualbucket == NULL);
}

/* Asking for memory early changes nothing, for a table that is not there too. */
static void test_prefetch(void)
{
    const weir_limit one = {1, 1000, 1, 0, 0, 0}, two = {1, 1000, 1, 1, 1000, 1};
    static uint64_t block[64];
    uint64_t i;

    for (i = 0; i < 2; i++) {
        void *table = i == 0 ? NULL : block;
        SAME(weir_gcra_init(block, sizeof block, &one, 2, 1), WEIR_OK);
        weir_gcra_prefetch((weir_gcra *)table, 7);
        SAME(weir_tokenbucket_init(block, sizeof block, &one, 2, 1), WEIR_OK);
        weir_tokenbucket_prefetch((weir_tokenbucket *)table, 7);
        SAME(weir_leakybucket_init(block, sizeof block, &one, 2, 1), WEIR_OK);
        weir_leakybucket_prefetch((weir_leakybucket *)table, 7);
        SAME(weir_slidinglog_init(block, sizeof block, &one, 2, 1), WEIR_OK);
        weir_slidinglog_prefetch((weir_slidinglog *)table, 7);
        SAME(weir_slidinglog_keys((weir_slidinglog *)table), 0);
        SAME(weir_slidinglog_next((weir_slidinglog *)table, 0, 7), 0);
        SAME(weir_slidinglog_limit((weir_slidinglog *)table).permits, i);
        SAME(weir_dualbucket_init(block, sizeof block, &two, 2, 1), WEIR_OK);
        weir_dualbucket_prefetch((weir_dualbucket *)table, 7);
    }
}

/* Homes in a table of more than 2^32 slots, of which there is only the header here: below slots, and all over it. */
static void test_home_of_a_large_table(void)
{
#if SIZE_MAX > UINT32_MAX
    static uint64_t block[64];
    weir_table *table = (weir_table *)block;
    uint64_t key, homes[8] = {0, 0, 0, 0, 0, 0, 0, 0}, i;

    weir_table_init(table, sizeof *table, 2, 2, 1);
    table->slots = UINT64_C(3) << 40;
    for (key = 0; key < 8000; key++) {
        const uint64_t home = weir_table_home(table, key);
        CHECK(home < table->slots);
        homes[home / (table->slots / 8) % 8]++;
    }
    for (i = 0; i < 8; i++) {
        CHECK(homes[i] > 800 && homes[i] < 1200);
    }
#endif
}

#if defined(__unix__) || defined(__APPLE__)

enum { ROUNDS = 1000000 };

static weir_gcra_rules rules;
static _Atomic uint64_t tat;

static void *take_and_give(void *refused)
{
    uint64_t *count = (uint64_t *)refused;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        *count += weir_gcra_take_atomic(&rules, &tat, 7, 1).outcome == WEIR_ALLOW ? 0 : 1;
        weir_gcra_refund_atomic(&rules, &tat, 7, 1);
    }
    return NULL;
}

/* Two threads that do nothing but take and give back never find less than their own permit, and leave nothing. */
static void test_swaps_that_fail(void)
{
    const weir_limit limit = {1, 1000, 2, 0, 0, 0};
    uint64_t refused[2] = {0, 0};
    pthread_t other;

    SAME(weir_scale_init(&rules, &limit), WEIR_OK);
    CHECK(pthread_create(&other, NULL, take_and_give, &refused[1]) == 0);
    (void)take_and_give(&refused[0]);
    CHECK(pthread_join(other, NULL) == 0);
    SAME(refused[0] + refused[1], 0);
    SAME(weir_gcra_peek_atomic(&rules, &tat, 7, 0).debt, 0);
}

#else

static void test_swaps_that_fail(void)
{
}

#endif

int main(void)
{
    test_no_memory();
    test_prefetch();
    test_home_of_a_large_table();
    test_swaps_that_fail();
    return failures != 0;
}
