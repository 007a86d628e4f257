/* check.h - the least that a test needs: say which line failed, go on, and count. */
#ifndef WEIR_TEST_CHECK_H
#define WEIR_TEST_CHECK_H

#include <inttypes.h>
#include <stdio.h>

static int failures;

#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);         \
            failures++;                                                            \
        }                                                                          \
    } while (0)

#define SAME(got, want)                                                            \
    do {                                                                           \
        uint64_t got_ = (got), want_ = (want);                                     \
        if (got_ != want_) {                                                       \
            printf("%s:%d: %s is %" PRIu64 ", want %" PRIu64 "\n", __FILE__, __LINE__, #got, got_, want_); \
            failures++;                                                            \
        }                                                                          \
    } while (0)

#endif
