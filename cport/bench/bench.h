/* bench.h - what the parts of the benchmark share: a row of its table, and how a compiler is kept from cheating. */
#ifndef WEIR_BENCH_H
#define WEIR_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One thing that is measured, in slices of `calls` calls. */
typedef struct bench_row {
    const char *name;
    uint64_t (*run)(uint64_t calls); /* makes so many calls; how many of them were allowed */
    uint64_t calls;
    bool allows; /* whether every call is allowed, or none. A slice that answers otherwise ends the program */
    int against;    /* the row whose time this one's is divided by; -1: none */
    double target;  /* the largest quotient that is good enough; 0: any is */
} bench_row;

/* The rows by number, for `against`. */
enum {
    BENCH_METER,
    BENCH_METER_RED,
    BENCH_STEP,
    BENCH_STEP_WHOLE,
    BENCH_STEP_DENIED,
    BENCH_TAKE,
    BENCH_TAKE_DENIED,
    BENCH_TOKENBUCKET_STEP,
    BENCH_TOKENBUCKET_TAKE,
    BENCH_LEAKYBUCKET_STEP,
    BENCH_LEAKYBUCKET_TAKE,
    BENCH_SLIDINGLOG_STEP,
    BENCH_SLIDINGLOG_TAKE,
    BENCH_DUALBUCKET_STEP,
    BENCH_DUALBUCKET_TAKE,
    BENCH_ADD,
    BENCH_HOT_LINE,
    BENCH_RANDOM_LINE,
    BENCH_RANDOM_TAKE,
    BENCH_RANDOM_BATCH,
    BENCH_FREE_LINE,
    BENCH_FREE_TAKE,
    BENCH_FREE_AHEAD,
    BENCH_ROWS
};

/*
 * The traffic that every hot row meets, the meter's too: packets of 64 bytes, one each 160 ticks, against 40 bytes in
 * 100 ticks. They come as fast as the limit goes, so every one is allowed and the key is always in debt. Denied rows ask
 * for all of the burst of a key that owes all of it.
 */
#define BENCH_BYTES 64u
#define BENCH_GAP UINT64_C(160)
#define BENCH_RATE_BYTES 40u
#define BENCH_RATE_TICKS 100u
#define BENCH_BURST UINT64_C(4000000000)
#define BENCH_START UINT64_C(1000000000000)

/* What memory holds is not known any more after this, and must stand there before: state is loaded and stored anew. */
#define BENCH_FENCE() __asm__ volatile("" ::: "memory")

/* The value is needed, says this, and costs nothing. */
#define BENCH_KEEP(value) __asm__ volatile("" ::"r"(value))

/* A number that the compiler does not know: a variable one that always is the same. */
static inline uint64_t bench_opaque(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value;
}

/* A pointer to who knows where. */
static inline void *bench_somewhere(void *place)
{
    __asm__ volatile("" : "+r"(place));
    return place;
}

/* Ends the program with a line. */
void bench_die(const char *what);

/* Memory of so many bytes from the start of a line, all written once. */
void *bench_memory(size_t bytes);

/* Each part fills in its rows. */
void bench_hot_rows(bench_row rows[BENCH_ROWS]);
void bench_random_rows(bench_row rows[BENCH_ROWS]);

/* Lets the next round ask for other keys. */
void bench_random_next(void);

void bench_meter_rows(bench_row rows[BENCH_ROWS]);

#endif
