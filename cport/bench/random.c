/*
 * random.c - a million keys in random order, under a table of the library that has room for just as many, and over a
 * plain array of equal bytes.
 *
 * Each comes in two ways. "One by one": where the next request is known only when this one is answered, so that the
 * time is that of one access from its beginning to its end. "Overlapped": the order is known, and the processor may
 * begin with what comes next while it waits for memory.
 */
#include "bench.h"

#include "weir/gcra.h"

#define BENCH_KEYS 1000000u
#define BENCH_ORDER (UINT64_C(1) << 20)
#define BENCH_CALLS (UINT64_C(1) << 18)
#define BENCH_BATCH 32u
#define BENCH_LINE 8u /* words of a cache line */

static weir_gcra *bench_table;
static uint64_t *bench_keys;  /* in the order in which they are asked for */
static uint64_t *bench_plain; /* as many bytes as the table */
static uint64_t bench_lines;
static uint64_t bench_now = BENCH_START;

/* splitmix64's finaliser over a counter: distinct numbers that look random. */
static uint64_t bench_scatter(uint64_t x)
{
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The line of a key in the plain array: by the upper half of the key, which is as good as random. */
static uint64_t *bench_line_of(uint64_t key)
{
    return bench_plain + ((key >> 32) * bench_lines >> 32) * BENCH_LINE;
}

/* Where in the order a slice begins: the same place for every row of a round, another for the next round's. */
static uint64_t bench_from;

void bench_random_next(void)
{
    bench_from = (bench_from + BENCH_CALLS) % BENCH_ORDER;
}

/*
 * The calls of a slice. Where `wait` is true the place of the next key is the old one plus 0, which the processor knows
 * only when `seen` has come from memory.
 */
static inline uint64_t bench_lines_run(uint64_t calls, bool wait)
{
    const uint64_t *keys = bench_keys + bench_from, zero = bench_opaque(0);
    uint64_t i, seen = 0;

    for (i = 0; i < calls; i++) {
        uint64_t *line = bench_line_of(keys[i + (wait ? seen & zero : 0)]);
        seen = *line;
        *line = seen + 1;
    }
    return calls;
}

static inline uint64_t bench_takes_run(uint64_t calls, bool wait)
{
    const uint64_t *keys = bench_keys + bench_from, zero = bench_opaque(0), cost = bench_opaque(BENCH_BYTES);
    uint64_t i, seen = 0, allowed = 0;

    for (i = 0; i < calls; i++) {
        const weir_decision d = weir_gcra_take(bench_table, ++bench_now, keys[i + (wait ? seen & zero : 0)], cost);
        seen = d.debt;
        allowed += d.outcome == WEIR_ALLOW;
    }
    return allowed;
}

/* The batch that comes next is known when this one is answered. */
static uint64_t bench_batch(uint64_t calls)
{
    const uint64_t *keys = bench_keys + bench_from, zero = bench_opaque(0), cost = bench_opaque(BENCH_BYTES);
    uint64_t i, j, seen = 0, allowed = 0;

    for (i = 0; i < calls; i += BENCH_BATCH) {
        const uint64_t *batch = keys + i + (seen & zero);
        bench_now++;
        for (j = 0; j < BENCH_BATCH; j++) {
            weir_gcra_prefetch(bench_table, batch[j]);
        }
        for (j = 0; j < BENCH_BATCH; j++) {
            const weir_decision d = weir_gcra_take(bench_table, bench_now, batch[j], cost);
            seen = d.debt;
            allowed += d.outcome == WEIR_ALLOW;
        }
    }
    return allowed;
}

static uint64_t bench_line(uint64_t calls)
{
    return bench_lines_run(calls, true);
}

static uint64_t bench_random_take(uint64_t calls)
{
    return bench_takes_run(calls, true);
}

static uint64_t bench_free_line(uint64_t calls)
{
    return bench_lines_run(calls, false);
}

static uint64_t bench_free_take(uint64_t calls)
{
    return bench_takes_run(calls, false);
}

/* Without batches: each call asks for the key that comes 32 calls later. */
static uint64_t bench_ahead(uint64_t calls)
{
    const uint64_t *keys = bench_keys + bench_from, cost = bench_opaque(BENCH_BYTES);
    uint64_t i, allowed = 0;

    for (i = 0; i < calls; i++) {
        weir_gcra_prefetch(bench_table, keys[i + BENCH_BATCH]);
        allowed += weir_gcra_take(bench_table, ++bench_now, keys[i], cost).outcome == WEIR_ALLOW;
    }
    return allowed;
}

/* Every key owes half its burst for longer than the benchmark runs, so that each answer needs what memory holds. */
static void bench_random_make(void)
{
    const weir_limit limit = {BENCH_RATE_BYTES, BENCH_RATE_TICKS, BENCH_BURST, 0, 0, 0};
    size_t bytes = 0;
    uint64_t i;

    weir_gcra_size(&limit, BENCH_KEYS, &bytes);
    bench_table = bench_memory(bytes);
    bench_plain = bench_memory(bytes);
    bench_lines = bytes / (BENCH_LINE * sizeof(uint64_t));
    bench_keys = bench_memory((BENCH_ORDER + BENCH_BATCH) * sizeof(uint64_t));
    if (weir_gcra_init(bench_table, bytes, &limit, BENCH_KEYS, 42) != WEIR_OK) {
        bench_die("the table of a million keys cannot be made");
    }
    for (i = 0; i < BENCH_KEYS; i++) {
        weir_gcra_take(bench_table, BENCH_START, bench_scatter(i), BENCH_BURST / 2);
    }
    for (i = 0; i < BENCH_ORDER; i++) {
        bench_keys[i] = bench_scatter((bench_scatter(i + BENCH_KEYS) >> 32) * BENCH_KEYS >> 32);
    }
}

void bench_random_rows(bench_row rows[BENCH_ROWS])
{
    bench_random_make();
    rows[BENCH_RANDOM_LINE] = (bench_row){"load and store, one by one", bench_line, BENCH_CALLS, true, -1, 0};
    rows[BENCH_RANDOM_TAKE] =
        (bench_row){"gcra take, one by one", bench_random_take, BENCH_CALLS, true, BENCH_RANDOM_LINE, 1.8};
    rows[BENCH_RANDOM_BATCH] =
        (bench_row){"gcra take, batch of 32 by batch", bench_batch, BENCH_CALLS, true, BENCH_RANDOM_LINE, 0.8};
    rows[BENCH_FREE_LINE] = (bench_row){"load and store, overlapped", bench_free_line, BENCH_CALLS, true, -1, 0};
    rows[BENCH_FREE_TAKE] =
        (bench_row){"gcra take, overlapped", bench_free_take, BENCH_CALLS, true, BENCH_FREE_LINE, 0};
    rows[BENCH_FREE_AHEAD] =
        (bench_row){"gcra take, prefetched 32 ahead", bench_ahead, BENCH_CALLS, true, BENCH_FREE_LINE, 0};
}
