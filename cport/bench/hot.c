/* hot.c - one key that stays in the nearest cache: the steps, the takes, and what they cannot be faster than. */
#include "bench.h"

#include "weir/dualbucket.h"
#include "weir/gcra.h"
#include "weir/leakybucket.h"
#include "weir/slidinglog.h"
#include "weir/tokenbucket.h"

#define BENCH_KEY UINT64_C(0x9e3779b97f4a7c15)
#define BENCH_SEED 42u
#define BENCH_HALF (BENCH_BURST / 2)

static const weir_limit bench_limit = {BENCH_RATE_BYTES, BENCH_RATE_TICKS, BENCH_BURST, 0, 0, 0};

/* A packet each gap, besides. */
static const weir_limit bench_limits = {BENCH_RATE_BYTES, BENCH_RATE_TICKS, BENCH_BURST, 1, BENCH_GAP, 1000000};

/* A log counts packets: a hundred in a hundred gaps. In bytes its ring alone would be 64 GB. */
static const weir_limit bench_log_limit = {100, 100 * BENCH_GAP, 0, 0, 0, 0};

static weir_scale bench_scale;
static uint64_t bench_tat;
static weir_tokenbucket_state bench_tokens;
static weir_leakybucket_state bench_water;
static weir_slidinglog_rules bench_log_rules;
static weir_slidinglog_log bench_log;
static weir_slidinglog_entry bench_ring[100];
static weir_dualbucket_rules bench_dual_rules;
static weir_dualbucket_state bench_dual;

static weir_gcra *bench_gcra;
static weir_tokenbucket *bench_tokenbucket;
static weir_leakybucket *bench_leakybucket;
static weir_slidinglog *bench_slidinglog;
static weir_dualbucket *bench_dualbucket;

/*
 * The calls of a slice, as the rest of a function. `decide` is a call that answers a decision d of now and cost; `also`
 * is what is done with it but to look at its outcome. The compiler does not know what the state is, so it is loaded and
 * stored each time, as that of a packet's flow is.
 */
#define BENCH_LOOP(DECISION, decide, also)                                              \
    {                                                                                   \
        uint64_t now = BENCH_START, allowed = 0;                                        \
        while (calls-- > 0) {                                                           \
            DECISION d;                                                                 \
            now += BENCH_GAP;                                                           \
            BENCH_FENCE();                                                              \
            d = decide;                                                                 \
            also;                                                                       \
            allowed += d.outcome == WEIR_ALLOW;                                         \
        }                                                                               \
        BENCH_FENCE();                                                                  \
        return allowed;                                                                 \
    }

/* The steps. A slice begins with a key that owes half its burst, or all of it where it is to be denied. */
static uint64_t bench_gcra_step(uint64_t calls)
{
    const weir_scale *rules = bench_somewhere(&bench_scale);
    uint64_t *state = bench_somewhere(&bench_tat);
    const uint64_t cost = bench_opaque(BENCH_BYTES);

    *state = 0;
    weir_gcra_step(rules, state, BENCH_START, BENCH_HALF);
    BENCH_LOOP(weir_decision, weir_gcra_step(rules, state, now, cost), (void)0)
}

/* The same, where the caller wants debt and wait too. */
static uint64_t bench_gcra_step_whole(uint64_t calls)
{
    const weir_scale *rules = bench_somewhere(&bench_scale);
    uint64_t *state = bench_somewhere(&bench_tat);
    const uint64_t cost = bench_opaque(BENCH_BYTES);

    *state = 0;
    weir_gcra_step(rules, state, BENCH_START, BENCH_HALF);
    BENCH_LOOP(weir_decision, weir_gcra_step(rules, state, now, cost), BENCH_KEEP(d.debt); BENCH_KEEP(d.wait))
}

static uint64_t bench_gcra_step_denied(uint64_t calls)
{
    const weir_scale *rules = bench_somewhere(&bench_scale);
    uint64_t *state = bench_somewhere(&bench_tat);
    const uint64_t cost = bench_opaque(BENCH_BURST);

    *state = 0;
    weir_gcra_step(rules, state, BENCH_START, BENCH_BURST);
    BENCH_LOOP(weir_decision, weir_gcra_step(rules, state, now, cost), (void)0)
}

static uint64_t bench_tokenbucket_step(uint64_t calls)
{
    const weir_scale *rules = bench_somewhere(&bench_scale);
    weir_tokenbucket_state *state = bench_somewhere(&bench_tokens);
    const uint64_t cost = bench_opaque(BENCH_BYTES);

    *state = weir_tokenbucket_fresh(rules);
    weir_tokenbucket_step(rules, state, BENCH_START, BENCH_HALF);
    BENCH_LOOP(weir_decision, weir_tokenbucket_step(rules, state, now, cost), (void)0)
}

static uint64_t bench_leakybucket_step(uint64_t calls)
{
    const weir_scale *rules = bench_somewhere(&bench_scale);
    weir_leakybucket_state *state = bench_somewhere(&bench_water);
    const uint64_t cost = bench_opaque(BENCH_BYTES);

    *state = (weir_leakybucket_state){0, 0};
    weir_leakybucket_step(rules, state, BENCH_START, BENCH_HALF);
    BENCH_LOOP(weir_decision, weir_leakybucket_step(rules, state, now, cost), (void)0)
}

/* Full after a hundred, and from then on the oldest leaves as the newest comes. */
static uint64_t bench_slidinglog_step(uint64_t calls)
{
    const weir_slidinglog_rules *rules = bench_somewhere(&bench_log_rules);
    weir_slidinglog_log *log = bench_somewhere(&bench_log);
    weir_slidinglog_entry *ring = bench_somewhere(bench_ring);
    const uint64_t cost = bench_opaque(1);

    *log = (weir_slidinglog_log){0, 0, 0, 0, 0};
    BENCH_LOOP(weir_answer, weir_slidinglog_step(rules, log, ring, now, cost), (void)0)
}

static uint64_t bench_dualbucket_step(uint64_t calls)
{
    const weir_dualbucket_rules *rules = bench_somewhere(&bench_dual_rules);
    weir_dualbucket_state *state = bench_somewhere(&bench_dual);
    const uint64_t half[2] = {BENCH_HALF, 500000}, cost[2] = {bench_opaque(BENCH_BYTES), bench_opaque(1)};

    *state = (weir_dualbucket_state){{0, 0}};
    weir_dualbucket_step(rules, state, BENCH_START, half);
    BENCH_LOOP(weir_dualbucket_decision, weir_dualbucket_step(rules, state, now, cost), (void)0)
}

/* The takes: the key is the only one of its table, and new when a slice begins. */
static uint64_t bench_gcra_take(uint64_t calls)
{
    const uint64_t cost = bench_opaque(BENCH_BYTES), key = bench_opaque(BENCH_KEY);

    weir_gcra_forget(bench_gcra, key);
    weir_gcra_take(bench_gcra, BENCH_START, key, BENCH_HALF);
    BENCH_LOOP(weir_decision, weir_gcra_take(bench_gcra, now, key, cost), (void)0)
}

static uint64_t bench_gcra_take_denied(uint64_t calls)
{
    const uint64_t cost = bench_opaque(BENCH_BURST), key = bench_opaque(BENCH_KEY);

    weir_gcra_forget(bench_gcra, key);
    weir_gcra_take(bench_gcra, BENCH_START, key, BENCH_BURST);
    BENCH_LOOP(weir_decision, weir_gcra_take(bench_gcra, now, key, cost), (void)0)
}

static uint64_t bench_tokenbucket_take(uint64_t calls)
{
    const uint64_t cost = bench_opaque(BENCH_BYTES), key = bench_opaque(BENCH_KEY);

    weir_tokenbucket_forget(bench_tokenbucket, key);
    weir_tokenbucket_take(bench_tokenbucket, BENCH_START, key, BENCH_HALF);
    BENCH_LOOP(weir_decision, weir_tokenbucket_take(bench_tokenbucket, now, key, cost), (void)0)
}

static uint64_t bench_leakybucket_take(uint64_t calls)
{
    const uint64_t cost = bench_opaque(BENCH_BYTES), key = bench_opaque(BENCH_KEY);

    weir_leakybucket_forget(bench_leakybucket, key);
    weir_leakybucket_take(bench_leakybucket, BENCH_START, key, BENCH_HALF);
    BENCH_LOOP(weir_decision, weir_leakybucket_take(bench_leakybucket, now, key, cost), (void)0)
}

static uint64_t bench_slidinglog_take(uint64_t calls)
{
    const uint64_t cost = bench_opaque(1), key = bench_opaque(BENCH_KEY);

    weir_slidinglog_forget(bench_slidinglog, key);
    BENCH_LOOP(weir_answer, weir_slidinglog_take(bench_slidinglog, now, key, cost), (void)0)
}

static uint64_t bench_dualbucket_take(uint64_t calls)
{
    const uint64_t half[2] = {BENCH_HALF, 500000}, key = bench_opaque(BENCH_KEY);
    const uint64_t cost[2] = {bench_opaque(BENCH_BYTES), bench_opaque(1)};

    weir_dualbucket_forget(bench_dualbucket, key);
    weir_dualbucket_take(bench_dualbucket, BENCH_START, key, half);
    BENCH_LOOP(weir_dualbucket_decision, weir_dualbucket_take(bench_dualbucket, now, key, cost), (void)0)
}

/* What takes one cycle: an addition that waits for the one before. */
static uint64_t bench_add(uint64_t calls)
{
    uint64_t sum = 0, left;

    for (left = calls; left > 0; left--) {
        __asm__ volatile("" : "+r"(sum));
        sum++;
    }
    return bench_opaque(sum);
}

/* The least that a state in memory takes: it is loaded, changed and stored, and the next load waits for the store. */
static uint64_t bench_hot_line(uint64_t calls)
{
    uint64_t *line = bench_somewhere(&bench_tat);
    uint64_t left;

    *line = 0;
    for (left = calls; left > 0; left--) {
        BENCH_FENCE();
        ++*line;
    }
    BENCH_FENCE();
    return *line;
}

/* A table with room for a thousand keys. */
#define BENCH_TABLE(policy, limit)                                                      \
    do {                                                                                \
        error |= weir_##policy##_size(limit, 1000, &bytes);                             \
        bench_##policy = bench_memory(bytes);                                           \
        error |= weir_##policy##_init(bench_##policy, bytes, limit, 1000, BENCH_SEED);  \
    } while (0)

static void bench_hot_make(void)
{
    weir_error error = weir_scale_init(&bench_scale, &bench_limit);
    size_t bytes = 0;

    error |= weir_slidinglog_rules_init(&bench_log_rules, &bench_log_limit);
    error |= weir_dualbucket_rules_init(&bench_dual_rules, &bench_limits);
    BENCH_TABLE(gcra, &bench_limit);
    BENCH_TABLE(tokenbucket, &bench_limit);
    BENCH_TABLE(leakybucket, &bench_limit);
    BENCH_TABLE(slidinglog, &bench_log_limit);
    BENCH_TABLE(dualbucket, &bench_limits);
    if (error != WEIR_OK) {
        bench_die("a limit or a table cannot be made");
    }
}

void bench_hot_rows(bench_row rows[BENCH_ROWS])
{
    bench_hot_make();
    rows[BENCH_STEP] = (bench_row){"gcra step", bench_gcra_step, 0, true, BENCH_METER, 0.5};
    rows[BENCH_STEP_WHOLE] = (bench_row){"gcra step, debt and wait used", bench_gcra_step_whole, 0, true, BENCH_METER, 0};
    rows[BENCH_STEP_DENIED] = (bench_row){"gcra step, denied", bench_gcra_step_denied, 0, false, BENCH_METER_RED, 0};
    rows[BENCH_TAKE] = (bench_row){"gcra take", bench_gcra_take, 0, true, BENCH_METER, 1.2};
    rows[BENCH_TAKE_DENIED] = (bench_row){"gcra take, denied", bench_gcra_take_denied, 0, false, BENCH_METER_RED, 0};
    rows[BENCH_TOKENBUCKET_STEP] = (bench_row){"tokenbucket step", bench_tokenbucket_step, 0, true, BENCH_METER, 0};
    rows[BENCH_TOKENBUCKET_TAKE] = (bench_row){"tokenbucket take", bench_tokenbucket_take, 0, true, BENCH_METER, 0};
    rows[BENCH_LEAKYBUCKET_STEP] = (bench_row){"leakybucket step", bench_leakybucket_step, 0, true, BENCH_METER, 0};
    rows[BENCH_LEAKYBUCKET_TAKE] = (bench_row){"leakybucket take", bench_leakybucket_take, 0, true, BENCH_METER, 0};
    rows[BENCH_SLIDINGLOG_STEP] = (bench_row){"slidinglog step", bench_slidinglog_step, 0, true, BENCH_METER, 0};
    rows[BENCH_SLIDINGLOG_TAKE] = (bench_row){"slidinglog take", bench_slidinglog_take, 0, true, BENCH_METER, 0};
    rows[BENCH_DUALBUCKET_STEP] = (bench_row){"dualbucket step", bench_dualbucket_step, 0, true, BENCH_METER, 0};
    rows[BENCH_DUALBUCKET_TAKE] = (bench_row){"dualbucket take", bench_dualbucket_take, 0, true, BENCH_METER, 0};
    rows[BENCH_ADD] = (bench_row){"an addition", bench_add, 0, true, -1, 0};
    rows[BENCH_HOT_LINE] = (bench_row){"load and store, one line", bench_hot_line, 0, true, BENCH_METER, 0};
}
