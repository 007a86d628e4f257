/*
 * leakybucket.c - the leaky bucket over a table of keys: the pure step of leakybucket.h, and where each state is
 * kept.
 */
#include "weir/leakybucket.h"

#include "table.h"

#ifndef WEIR_NO_MALLOC
#include <stdlib.h>
#endif

/* The words of a slot: key, water, last. A free one is all zero: an empty bucket. */
#define WEIR_LEAKYBUCKET_WORDS ((size_t)3)

/* The block: this header, then the slots. Words of 64 bits only, so no switch and no target moves anything. */
struct weir_leakybucket {
    weir_table table;
    weir_leakybucket_rules rules;
    weir_limit limit; /* in force */
    uint64_t slots[];
};

_Static_assert(sizeof(struct weir_leakybucket) + WEIR_LEAKYBUCKET_WORDS * sizeof(uint64_t) == WEIR_LEAKYBUCKET_HEADER,
               "the published header is the real one and the slot that is always free");

/* The checks that size, init and create share: *rules and *bytes mean something only for WEIR_OK. */
static weir_error weir_leakybucket_plan(weir_leakybucket_rules *rules, size_t *bytes, const weir_limit *limit,
                                        uint64_t max_keys)
{
    weir_error error = weir_scale_init(rules, limit);

    if (error != WEIR_OK) {
        return error;
    }
    return weir_table_bytes(max_keys, sizeof(struct weir_leakybucket), WEIR_LEAKYBUCKET_WORDS, 0, bytes);
}

weir_error weir_leakybucket_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes)
{
    weir_leakybucket_rules rules;

    return bytes == NULL ? WEIR_ERR_NULL : weir_leakybucket_plan(&rules, bytes, limit, max_keys);
}

/* Worst case: one write for each word of the block. */
weir_error weir_leakybucket_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_leakybucket *table = (weir_leakybucket *)block;
    weir_leakybucket_rules rules;
    weir_error error;
    size_t needed;

    if (block == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_leakybucket_plan(&rules, &needed, limit, max_keys);
    if (error == WEIR_OK) {
        error = weir_table_check(block, bytes, needed);
    }
    if (error == WEIR_OK) {
        weir_table_init(block, sizeof *table, WEIR_LEAKYBUCKET_WORDS, (size_t)max_keys, seed);
        table->rules = rules;
        table->limit = *limit;
    }
    return error;
}

#ifndef WEIR_NO_MALLOC
weir_error weir_leakybucket_create(weir_leakybucket **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_error error;
    size_t bytes;
    void *made;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_leakybucket_size(limit, max_keys, &bytes);
    if (error != WEIR_OK) {
        return error;
    }
    made = malloc(bytes);
    if (made == NULL) {
        return WEIR_ERR_MEMORY;
    }
    error = weir_leakybucket_init(made, bytes, limit, max_keys, seed);
    *table = (weir_leakybucket *)made;
    return error;
}

void weir_leakybucket_destroy(weir_leakybucket *table)
{
    free(table);
}
#endif

/* The number of the key's slot, or of the free one where it would stand. Worst case: keys + 1 looks. */
static size_t weir_leakybucket_find(const weir_leakybucket *g, uint64_t key)
{
    return weir_table_find(&g->table, g->slots, key, WEIR_LEAKYBUCKET_WORDS);
}

static weir_leakybucket_state weir_leakybucket_load(const uint64_t *slot)
{
    weir_leakybucket_state state = {0, 0};

    state.water = slot[1] & ~WEIR_HELD;
    state.last = slot[2];
    return state;
}

/* Writes a state into a held slot. Bounds: water is below 2^63. */
static void weir_leakybucket_store(uint64_t *slot, weir_leakybucket_state state)
{
    slot[1] = state.water | WEIR_HELD;
    slot[2] = state.last;
}

/*
 * A key never seen owes nothing, so it is allowed whatever fits the burst: it is denied never, and `full` comes before
 * the verdict just where it takes the place of an allowance that costs. The step works on a copy of the state, so that
 * a key without room leaves no trace. Worst case: one look-up.
 */
weir_decision weir_leakybucket_take(weir_leakybucket *table, uint64_t now, uint64_t key, uint64_t cost)
{
    weir_decision d = weir_refused(WEIR_NONE);

    if (table != NULL) {
        uint64_t *slot = table->slots + weir_leakybucket_find(table, key) * WEIR_LEAKYBUCKET_WORDS;
        weir_leakybucket_state state = weir_leakybucket_load(slot);
        d = weir_leakybucket_step(&table->rules, &state, now, cost);
        if (d.outcome == WEIR_ALLOW && cost > 0) {
            if (weir_table_hold(&table->table, slot, key)) {
                weir_leakybucket_store(slot, state);
            } else {
                d = weir_refused(WEIR_FULL);
            }
        }
    }
    return d;
}

/* `full` as for a take. Worst case: one look-up. */
weir_decision weir_leakybucket_peek(const weir_leakybucket *table, uint64_t now, uint64_t key, uint64_t cost)
{
    weir_decision d = weir_refused(WEIR_NONE);

    if (table != NULL) {
        const uint64_t *slot = table->slots + weir_leakybucket_find(table, key) * WEIR_LEAKYBUCKET_WORDS;
        d = weir_leakybucket_step_peek(&table->rules, weir_leakybucket_load(slot), now, cost);
        if (d.outcome == WEIR_ALLOW && cost > 0 && weir_table_no_room(&table->table, slot)) {
            d = weir_refused(WEIR_FULL);
        }
    }
    return d;
}

void weir_leakybucket_prefetch(const weir_leakybucket *table, uint64_t key)
{
    if (table != NULL) {
        weir_prefetch(table->slots + weir_table_home(&table->table, key) * WEIR_LEAKYBUCKET_WORDS);
    }
}

/* Worst case: one look-up and one division. */
weir_error weir_leakybucket_refund(weir_leakybucket *table, uint64_t now, uint64_t key, uint64_t cost)
{
    uint64_t *slot;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    if (now > table->rules.horizon) {
        return WEIR_ERR_PAST_HORIZON;
    }
    slot = table->slots + weir_leakybucket_find(table, key) * WEIR_LEAKYBUCKET_WORDS;
    if (weir_table_held(slot)) {
        weir_leakybucket_state state = weir_leakybucket_load(slot);
        weir_leakybucket_store(slot, weir_leakybucket_step_refund(&table->rules, state, now, cost));
    }
    return WEIR_OK;
}

/* Worst case: one look-up and one removal. */
void weir_leakybucket_forget(weir_leakybucket *table, uint64_t key)
{
    size_t i;

    if (table == NULL) {
        return;
    }
    i = weir_leakybucket_find(table, key);
    if (weir_table_held(table->slots + i * WEIR_LEAKYBUCKET_WORDS)) {
        weir_table_remove(&table->table, table->slots, WEIR_LEAKYBUCKET_WORDS, i);
    }
}

/* A key is idle when its bucket is empty. Worst case: as weir_pass. */
weir_error weir_leakybucket_sweep(weir_leakybucket *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done)
{
    weir_pass pass;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    now = now < table->rules.horizon ? now : table->rules.horizon;
    pass = weir_pass_begin(&table->table, slots);
    while (weir_pass_more(&table->table, &pass)) {
        const uint64_t *slot = table->slots + pass.at * WEIR_LEAKYBUCKET_WORDS;
        if (weir_table_held(slot) && weir_leakybucket_water(&table->rules, weir_leakybucket_load(slot), now) == 0) {
            weir_table_remove(&table->table, table->slots, WEIR_LEAKYBUCKET_WORDS, pass.at);
        } else {
            pass.at++;
        }
    }
    weir_pass_end(&table->table, &pass, freed, done);
    return WEIR_OK;
}

/*
 * Water of units under the old rules is ceil(water * q' / q) under the new ones, and at most their tolerance.
 *
 * Worst case: one round for each slot, at most 64 steps of long division in each. Bounds: water is below 2^63, q and
 * q' below 2^62, so the product has its place in 128 bits; both times are within their horizons.
 */
weir_error weir_leakybucket_relimit(weir_leakybucket *table, uint64_t now, const weir_limit *limit)
{
    weir_leakybucket_rules to;
    weir_error error;
    size_t i;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_scale_init(&to, limit);
    if (error != WEIR_OK) {
        return error;
    }
    if (now > table->rules.horizon || now > to.horizon) {
        return WEIR_ERR_PAST_HORIZON;
    }
    for (i = 0; i < (size_t)table->table.slots; i++) {
        uint64_t *slot = table->slots + i * WEIR_LEAKYBUCKET_WORDS;
        if (weir_table_held(slot)) {
            weir_leakybucket_state state = weir_leakybucket_load(slot);
            state.water = weir_scaled(weir_leakybucket_water(&table->rules, state, now), to.permit, table->rules.permit,
                                      to.tolerance);
            state.last = now;
            weir_leakybucket_store(slot, state);
        }
    }
    table->rules = to;
    table->limit = *limit;
    return WEIR_OK;
}

uint64_t weir_leakybucket_keys(const weir_leakybucket *table)
{
    return table == NULL ? 0 : table->table.keys;
}

uint64_t weir_leakybucket_max_keys(const weir_leakybucket *table)
{
    return table == NULL ? 0 : table->table.max_keys;
}

uint64_t weir_leakybucket_horizon(const weir_leakybucket *table)
{
    return table == NULL ? 0 : table->rules.horizon;
}

weir_limit weir_leakybucket_limit(const weir_leakybucket *table)
{
    static const weir_limit none = {0, 0, 0, 0, 0, 0};

    return table == NULL ? none : table->limit;
}

const weir_leakybucket_rules *weir_leakybucket_rules_of(const weir_leakybucket *table)
{
    return table == NULL ? NULL : &table->rules;
}
