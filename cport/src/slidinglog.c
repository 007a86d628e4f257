/*
 * slidinglog.c - the sliding window log over a table of keys: the pure step of slidinglog.h, and where each log is
 * kept.
 */
#include "weir/slidinglog.h"

#include "table.h"

#ifndef WEIR_NO_MALLOC
#include <stdlib.h>
#endif

/* The words of a slot: key, which log is the key's. */
#define WEIR_SLIDINGLOG_WORDS ((size_t)2)

/*
 * The block: this header, the slots, and then max_keys logs, each with its ring behind it. A key has a log just
 * while it holds room. Logs are handed out in order, those given back first: `spare` is 1 + the last one given
 * back, which keeps the one before it in its `newest`; 0 is none. So nothing is written to a log before it is
 * needed.
 */
struct weir_slidinglog {
    weir_table table;
    weir_slidinglog_rules rules;
    uint64_t used, spare; /* used: the logs that have ever been handed out */
    weir_limit limit; /* in force */
    uint64_t slots[];
};

_Static_assert(sizeof(struct weir_slidinglog) + WEIR_SLIDINGLOG_WORDS * sizeof(uint64_t) == WEIR_SLIDINGLOG_HEADER,
               "the published header is the real one and the slot that is always free");
_Static_assert(sizeof(weir_slidinglog_log) == 40 && sizeof(weir_slidinglog_entry) == 16, "no gaps in a log");

weir_error weir_slidinglog_rules_init(weir_slidinglog_rules *rules, const weir_limit *limit)
{
    if (rules == NULL || limit == NULL) {
        return WEIR_ERR_NULL;
    }
    if ((limit->permits2 | limit->period2 | limit->burst2) != 0) {
        return WEIR_ERR_INVALID_SECOND;
    }
    if (limit->permits == 0) {
        return WEIR_ERR_INVALID_PERMITS;
    }
    if (limit->period == 0) {
        return WEIR_ERR_INVALID_PERIOD;
    }
    if (limit->burst != 0 && limit->burst != limit->permits) {
        return WEIR_ERR_INVALID_BURST;
    }
    if (limit->permits > WEIR_SLIDINGLOG_HORIZON || limit->period > WEIR_SLIDINGLOG_HORIZON) {
        return WEIR_ERR_LIMIT_TOO_LARGE;
    }
    rules->permits = limit->permits;
    rules->period = limit->period;
    rules->entries = limit->permits < limit->period ? limit->permits : limit->period;
    return WEIR_OK;
}

/*
 * The words of a log and its ring. Bounds: 5 + 2 * entries is below 2^63 + 5, and in a block that was made it fits.
 */
static uint64_t weir_slidinglog_stride(const weir_slidinglog_rules *rules)
{
    return (sizeof(weir_slidinglog_log) + rules->entries * sizeof(weir_slidinglog_entry)) / sizeof(uint64_t);
}

/*
 * The checks that size, init and create share: *rules and *bytes mean something only for WEIR_OK. Bounds: entries
 * that alone are more bytes than size_t counts are cut to a number of bytes that no machine has.
 */
static weir_error weir_slidinglog_plan(weir_slidinglog_rules *rules, size_t *bytes, const weir_limit *limit,
                                       uint64_t max_keys)
{
    const size_t most = SIZE_MAX / sizeof(weir_slidinglog_entry) - 8;
    weir_error error = weir_slidinglog_rules_init(rules, limit);
    size_t beside;

    if (error != WEIR_OK) {
        return error;
    }
    beside = rules->entries > most ? SIZE_MAX : (size_t)weir_slidinglog_stride(rules) * sizeof(uint64_t);
    return weir_table_bytes(max_keys, sizeof(struct weir_slidinglog), WEIR_SLIDINGLOG_WORDS, beside, bytes);
}

weir_error weir_slidinglog_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes)
{
    weir_slidinglog_rules rules;

    return bytes == NULL ? WEIR_ERR_NULL : weir_slidinglog_plan(&rules, bytes, limit, max_keys);
}

/* Worst case: one write for each word of the header and the slots. */
weir_error weir_slidinglog_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_slidinglog *table = (weir_slidinglog *)block;
    weir_slidinglog_rules rules;
    weir_error error;
    size_t needed;

    if (block == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_slidinglog_plan(&rules, &needed, limit, max_keys);
    if (error == WEIR_OK) {
        error = weir_table_check(block, bytes, needed);
    }
    if (error == WEIR_OK) {
        weir_table_init(block, sizeof *table, WEIR_SLIDINGLOG_WORDS, (size_t)max_keys, seed);
        table->rules = rules;
        table->limit = *limit;
    }
    return error;
}

#ifndef WEIR_NO_MALLOC
weir_error weir_slidinglog_create(weir_slidinglog **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_error error;
    size_t bytes;
    void *made;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_slidinglog_size(limit, max_keys, &bytes);
    if (error != WEIR_OK) {
        return error;
    }
    made = malloc(bytes);
    if (made == NULL) {
        return WEIR_ERR_MEMORY;
    }
    error = weir_slidinglog_init(made, bytes, limit, max_keys, seed);
    *table = (weir_slidinglog *)made;
    return error;
}

void weir_slidinglog_destroy(weir_slidinglog *table)
{
    free(table);
}
#endif

/* The number of the key's slot, or of the free one where it would stand. Worst case: keys + 1 looks. */
static size_t weir_slidinglog_find(const weir_slidinglog *g, uint64_t key)
{
    return weir_table_find(&g->table, g->slots, key, WEIR_SLIDINGLOG_WORDS);
}

/* Where log i is; log 0 stands behind the last slot. */
static size_t weir_slidinglog_at(const weir_slidinglog *g, uint64_t i)
{
    return (size_t)(g->table.slots * WEIR_SLIDINGLOG_WORDS + (i & ~WEIR_HELD) * weir_slidinglog_stride(&g->rules));
}

static weir_slidinglog_log *weir_slidinglog_log_of(weir_slidinglog *g, uint64_t i)
{
    return (weir_slidinglog_log *)(void *)(g->slots + weir_slidinglog_at(g, i));
}

static weir_slidinglog_entry *weir_slidinglog_ring_of(weir_slidinglog *g, uint64_t i)
{
    return (weir_slidinglog_entry *)(void *)(weir_slidinglog_log_of(g, i) + 1);
}

/* The log of a key never seen: nobody looks at its ring. */
static const weir_slidinglog_log weir_slidinglog_fresh = {0, 0, 0, 0, 0};
static const weir_slidinglog_entry weir_slidinglog_nothing = {0, 0};

/* The log of a slot, to be read, and its ring. */
static const weir_slidinglog_log *weir_slidinglog_read(const weir_slidinglog *g, const uint64_t *slot,
                                                       const weir_slidinglog_entry **ring)
{
    const weir_slidinglog_log *log = &weir_slidinglog_fresh;

    *ring = &weir_slidinglog_nothing;
    if (weir_table_held(slot)) {
        log = (const weir_slidinglog_log *)(const void *)(g->slots + weir_slidinglog_at(g, slot[1]));
        *ring = (const weir_slidinglog_entry *)(const void *)(log + 1);
    }
    return log;
}

/* Hands out a log, empty. There is one as long as fewer than max_keys keys hold room. */
static uint64_t weir_slidinglog_claim(weir_slidinglog *g)
{
    uint64_t i = g->used;

    if (g->spare != 0) {
        i = g->spare - 1;
        g->spare = weir_slidinglog_log_of(g, i)->newest;
    } else {
        g->used++;
    }
    *weir_slidinglog_log_of(g, i) = weir_slidinglog_fresh;
    return i;
}

/* Frees held slot i and gives its log back. Worst case: as weir_table_remove. */
static void weir_slidinglog_free(weir_slidinglog *g, size_t i)
{
    const uint64_t log = g->slots[i * WEIR_SLIDINGLOG_WORDS + 1] & ~WEIR_HELD;

    weir_slidinglog_log_of(g, log)->newest = g->spare;
    g->spare = log + 1;
    weir_table_remove(&g->table, g->slots, WEIR_SLIDINGLOG_WORDS, i);
}

/* Whether a slot is free and its key will take it: nothing is in its log, so whatever fits the permits is allowed. */
static bool weir_slidinglog_begins(const weir_slidinglog *g, const uint64_t *slot, uint64_t now, uint64_t cost)
{
    return !weir_table_held(slot) && now <= WEIR_SLIDINGLOG_HORIZON && cost > 0 && cost <= g->rules.permits;
}

/* Worst case: one look-up and one step. */
weir_answer weir_slidinglog_take(weir_slidinglog *table, uint64_t now, uint64_t key, uint64_t cost)
{
    uint64_t *slot;

    if (table == NULL) {
        return weir_slidinglog_refused(WEIR_NONE);
    }
    slot = table->slots + weir_slidinglog_find(table, key) * WEIR_SLIDINGLOG_WORDS;
    if (weir_slidinglog_begins(table, slot, now, cost)) {
        if (!weir_table_hold(&table->table, slot, key)) {
            return weir_slidinglog_refused(WEIR_FULL);
        }
        slot[1] = weir_slidinglog_claim(table) | WEIR_HELD;
    }
    if (!weir_table_held(slot)) {
        return weir_slidinglog_step_peek(&table->rules, &weir_slidinglog_fresh, &weir_slidinglog_nothing, now, cost);
    }
    return weir_slidinglog_step(&table->rules, weir_slidinglog_log_of(table, slot[1]),
                                weir_slidinglog_ring_of(table, slot[1]), now, cost);
}

/* Worst case: one look-up and one step. */
weir_answer weir_slidinglog_peek(const weir_slidinglog *table, uint64_t now, uint64_t key, uint64_t cost)
{
    const weir_slidinglog_entry *ring;
    const weir_slidinglog_log *log;
    const uint64_t *slot;

    if (table == NULL) {
        return weir_slidinglog_refused(WEIR_NONE);
    }
    slot = table->slots + weir_slidinglog_find(table, key) * WEIR_SLIDINGLOG_WORDS;
    if (weir_slidinglog_begins(table, slot, now, cost) && weir_table_no_room(&table->table, slot)) {
        return weir_slidinglog_refused(WEIR_FULL);
    }
    log = weir_slidinglog_read(table, slot, &ring);
    return weir_slidinglog_step_peek(&table->rules, log, ring, now, cost);
}

/* Worst case: one look-up and one step. */
uint64_t weir_slidinglog_next(const weir_slidinglog *table, uint64_t now, uint64_t key)
{
    const weir_slidinglog_entry *ring;
    const weir_slidinglog_log *log;

    if (table == NULL) {
        return 0;
    }
    log = weir_slidinglog_read(table, table->slots + weir_slidinglog_find(table, key) * WEIR_SLIDINGLOG_WORDS, &ring);
    return weir_slidinglog_step_next(&table->rules, log, ring, now);
}

void weir_slidinglog_prefetch(const weir_slidinglog *table, uint64_t key)
{
    if (table != NULL) {
        weir_prefetch(table->slots + weir_table_home(&table->table, key) * WEIR_SLIDINGLOG_WORDS);
    }
}

/* Worst case: one look-up and two binary searches. */
weir_error weir_slidinglog_refund(weir_slidinglog *table, uint64_t now, uint64_t key, uint64_t cost)
{
    uint64_t *slot;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    if (now > WEIR_SLIDINGLOG_HORIZON) {
        return WEIR_ERR_PAST_HORIZON;
    }
    slot = table->slots + weir_slidinglog_find(table, key) * WEIR_SLIDINGLOG_WORDS;
    if (weir_table_held(slot)) {
        weir_slidinglog_step_refund(&table->rules, weir_slidinglog_log_of(table, slot[1]),
                                    weir_slidinglog_ring_of(table, slot[1]), now, cost);
    }
    return WEIR_OK;
}

/* Worst case: one look-up and one removal. */
void weir_slidinglog_forget(weir_slidinglog *table, uint64_t key)
{
    size_t i;

    if (table == NULL) {
        return;
    }
    i = weir_slidinglog_find(table, key);
    if (weir_table_held(table->slots + i * WEIR_SLIDINGLOG_WORDS)) {
        weir_slidinglog_free(table, i);
    }
}

/* Worst case: as weir_pass. */
weir_error weir_slidinglog_sweep(weir_slidinglog *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done)
{
    weir_pass pass;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    now = now < WEIR_SLIDINGLOG_HORIZON ? now : WEIR_SLIDINGLOG_HORIZON;
    pass = weir_pass_begin(&table->table, slots);
    while (weir_pass_more(&table->table, &pass)) {
        const uint64_t *slot = table->slots + pass.at * WEIR_SLIDINGLOG_WORDS;
        if (weir_table_held(slot) &&
            weir_slidinglog_idle(&table->rules, weir_slidinglog_log_of(table, slot[1]), now)) {
            weir_slidinglog_free(table, pass.at);
        } else {
            pass.at++;
        }
    }
    weir_pass_end(&table->table, &pass, freed, done);
    return WEIR_OK;
}

/*
 * The ring keeps its length. Bounds: a later append needs min(permits, period) entries of it at most, by the new
 * numbers.
 */
weir_error weir_slidinglog_relimit(weir_slidinglog *table, uint64_t now, const weir_limit *limit)
{
    weir_slidinglog_rules to;
    weir_error error;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_slidinglog_rules_init(&to, limit);
    if (error != WEIR_OK) {
        return error;
    }
    if (to.entries > table->rules.entries) {
        return WEIR_ERR_LIMIT_TOO_LARGE;
    }
    if (now > WEIR_SLIDINGLOG_HORIZON) {
        return WEIR_ERR_PAST_HORIZON;
    }
    table->rules.permits = to.permits;
    table->rules.period = to.period;
    table->limit = *limit;
    return WEIR_OK;
}

uint64_t weir_slidinglog_keys(const weir_slidinglog *table)
{
    return table == NULL ? 0 : table->table.keys;
}

uint64_t weir_slidinglog_max_keys(const weir_slidinglog *table)
{
    return table == NULL ? 0 : table->table.max_keys;
}

uint64_t weir_slidinglog_horizon(const weir_slidinglog *table)
{
    return table == NULL ? 0 : WEIR_SLIDINGLOG_HORIZON;
}

weir_limit weir_slidinglog_limit(const weir_slidinglog *table)
{
    static const weir_limit none = {0, 0, 0, 0, 0, 0};

    return table == NULL ? none : table->limit;
}

uint64_t weir_slidinglog_entries(const weir_slidinglog *table)
{
    return table == NULL ? 0 : table->rules.entries;
}
