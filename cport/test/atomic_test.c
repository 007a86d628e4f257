/*
 * atomic_test.c - eight threads and one word: of a burst exactly as many permits are given out as there are, whoever
 * comes, and what is given back is given out again. POSIX threads; elsewhere it tests nothing.
 */
#include "check.h"

#include "weir/gcra_atomic.h"

#include "sources.h"

#if defined(__unix__) || defined(__APPLE__)

#include <pthread.h>

enum { THREADS = 8, ROUNDS = 20000, BURST = 50000 };

static weir_gcra_rules rules;
static _Atomic uint64_t tat;

/* Takes, gives every tenth back, and returns how many it kept. */
static void *run(void *kept)
{
    uint64_t *count = (uint64_t *)kept;
    int i;

    for (i = 0; i < ROUNDS; i++) {
        if (weir_gcra_take_atomic(&rules, &tat, 7, 1).outcome == WEIR_ALLOW) {
            ++*count;
            if (i % 10 == 0) {
                weir_gcra_refund_atomic(&rules, &tat, 7, 1);
                --*count;
            }
        }
    }
    return NULL;
}

int main(void)
{
    const weir_limit limit = {1, 1000, BURST, 0, 0, 0};
    static uint64_t kept[THREADS];
    pthread_t threads[THREADS];
    uint64_t total = 0;
    int i;

    SAME(weir_scale_init(&rules, &limit), WEIR_OK);
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, run, &kept[i]) == 0);
    }
    for (i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        total += kept[i];
    }
    SAME(weir_gcra_peek_atomic(&rules, &tat, 7, 0).debt, total * 1000);
    while (weir_gcra_take_atomic(&rules, &tat, 7, 1).outcome == WEIR_ALLOW) {
        total++;
    }
    SAME(total, BURST);
    return failures != 0;
}

#else

int main(void)
{
    return 0;
}

#endif
