/*
 * tokenbucket.c - the token bucket over a table of keys: the pure step of tokenbucket.h, and where each state is
 * kept.
 */
#include "weir/tokenbucket.h"

#include "table.h"

#ifndef WEIR_NO_MALLOC
#include <stdlib.h>
#endif

/* The words of a slot: key, last, balance. A free one reads as nothing; see weir_tokenbucket_load. */
#define WEIR_TOKENBUCKET_WORDS ((size_t)3)

/* The block: this header, then the slots. Words of 64 bits only, so no switch and no target moves anything. */
struct weir_tokenbucket {
    weir_table table;
    weir_tokenbucket_rules rules;
    weir_limit limit; /* in force */
    uint64_t slots[];
};

_Static_assert(sizeof(struct weir_tokenbucket) + WEIR_TOKENBUCKET_WORDS * sizeof(uint64_t) == WEIR_TOKENBUCKET_HEADER,
               "the published header is the real one and the slot that is always free");

/* The checks that size, init and create share: *rules and *bytes mean something only for WEIR_OK. */
static weir_error weir_tokenbucket_plan(weir_tokenbucket_rules *rules, size_t *bytes, const weir_limit *limit,
                                        uint64_t max_keys)
{
    weir_error error = weir_scale_init(rules, limit);

    if (error != WEIR_OK) {
        return error;
    }
    return weir_table_bytes(max_keys, sizeof(struct weir_tokenbucket), WEIR_TOKENBUCKET_WORDS, 0, bytes);
}

weir_error weir_tokenbucket_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes)
{
    weir_tokenbucket_rules rules;

    return bytes == NULL ? WEIR_ERR_NULL : weir_tokenbucket_plan(&rules, bytes, limit, max_keys);
}

/* Worst case: one write for each word of the block. */
weir_error weir_tokenbucket_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_tokenbucket *table = (weir_tokenbucket *)block;
    weir_tokenbucket_rules rules;
    weir_error error;
    size_t needed;

    if (block == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_tokenbucket_plan(&rules, &needed, limit, max_keys);
    if (error == WEIR_OK) {
        error = weir_table_check(block, bytes, needed);
    }
    if (error == WEIR_OK) {
        weir_table_init(block, sizeof *table, WEIR_TOKENBUCKET_WORDS, (size_t)max_keys, seed);
        table->rules = rules;
        table->limit = *limit;
    }
    return error;
}

#ifndef WEIR_NO_MALLOC
weir_error weir_tokenbucket_create(weir_tokenbucket **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_error error;
    size_t bytes;
    void *made;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_tokenbucket_size(limit, max_keys, &bytes);
    if (error != WEIR_OK) {
        return error;
    }
    made = malloc(bytes);
    if (made == NULL) {
        return WEIR_ERR_MEMORY;
    }
    error = weir_tokenbucket_init(made, bytes, limit, max_keys, seed);
    *table = (weir_tokenbucket *)made;
    return error;
}

void weir_tokenbucket_destroy(weir_tokenbucket *table)
{
    free(table);
}
#endif

/* The number of the key's slot, or of the free one where it would stand. Worst case: keys + 1 looks. */
static size_t weir_tokenbucket_find(const weir_tokenbucket *g, uint64_t key)
{
    return weir_table_find(&g->table, g->slots, key, WEIR_TOKENBUCKET_WORDS);
}

/* The state in a slot; that of a free one is a full bucket. */
static weir_tokenbucket_state weir_tokenbucket_load(const weir_tokenbucket_rules *rules, const uint64_t *slot)
{
    weir_tokenbucket_state state = weir_tokenbucket_fresh(rules);

    if (weir_table_held(slot)) {
        state.balance = (int64_t)slot[2];
        state.last = slot[1] & ~WEIR_HELD;
    }
    return state;
}

/* Writes a state into a held slot. Bounds: last is within the horizon, below 2^62. */
static void weir_tokenbucket_store(uint64_t *slot, weir_tokenbucket_state state)
{
    slot[1] = state.last | WEIR_HELD;
    slot[2] = (uint64_t)state.balance;
}

/*
 * A key never seen owes nothing, so it is allowed whatever fits the burst: it is denied never, and `full` comes before
 * the verdict just where it takes the place of an allowance that costs. The step works on a copy of the state, so that
 * a key without room leaves no trace. Worst case: one look-up.
 */
weir_decision weir_tokenbucket_take(weir_tokenbucket *table, uint64_t now, uint64_t key, uint64_t cost)
{
    weir_decision d = weir_refused(WEIR_NONE);

    if (table != NULL) {
        uint64_t *slot = table->slots + weir_tokenbucket_find(table, key) * WEIR_TOKENBUCKET_WORDS;
        weir_tokenbucket_state state = weir_tokenbucket_load(&table->rules, slot);
        d = weir_tokenbucket_step(&table->rules, &state, now, cost);
        if (d.outcome == WEIR_ALLOW && cost > 0) {
            if (weir_table_hold(&table->table, slot, key)) {
                weir_tokenbucket_store(slot, state);
            } else {
                d = weir_refused(WEIR_FULL);
            }
        }
    }
    return d;
}

/* `full` as for a take. Worst case: one look-up. */
weir_decision weir_tokenbucket_peek(const weir_tokenbucket *table, uint64_t now, uint64_t key, uint64_t cost)
{
    weir_decision d = weir_refused(WEIR_NONE);

    if (table != NULL) {
        const uint64_t *slot = table->slots + weir_tokenbucket_find(table, key) * WEIR_TOKENBUCKET_WORDS;
        d = weir_tokenbucket_step_peek(&table->rules, weir_tokenbucket_load(&table->rules, slot), now, cost);
        if (d.outcome == WEIR_ALLOW && cost > 0 && weir_table_no_room(&table->table, slot)) {
            d = weir_refused(WEIR_FULL);
        }
    }
    return d;
}

void weir_tokenbucket_prefetch(const weir_tokenbucket *table, uint64_t key)
{
    if (table != NULL) {
        weir_prefetch(table->slots + weir_table_home(&table->table, key) * WEIR_TOKENBUCKET_WORDS);
    }
}

/* Worst case: one look-up and one division. */
weir_error weir_tokenbucket_refund(weir_tokenbucket *table, uint64_t now, uint64_t key, uint64_t cost)
{
    uint64_t *slot;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    if (now > table->rules.horizon) {
        return WEIR_ERR_PAST_HORIZON;
    }
    slot = table->slots + weir_tokenbucket_find(table, key) * WEIR_TOKENBUCKET_WORDS;
    if (weir_table_held(slot)) {
        weir_tokenbucket_state state = weir_tokenbucket_load(&table->rules, slot);
        weir_tokenbucket_store(slot, weir_tokenbucket_step_refund(&table->rules, state, now, cost));
    }
    return WEIR_OK;
}

/* Worst case: one look-up and one removal. */
void weir_tokenbucket_forget(weir_tokenbucket *table, uint64_t key)
{
    size_t i;

    if (table == NULL) {
        return;
    }
    i = weir_tokenbucket_find(table, key);
    if (weir_table_held(table->slots + i * WEIR_TOKENBUCKET_WORDS)) {
        weir_table_remove(&table->table, table->slots, WEIR_TOKENBUCKET_WORDS, i);
    }
}

/* A key is idle when its bucket is full. Worst case: as weir_pass. */
weir_error weir_tokenbucket_sweep(weir_tokenbucket *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done)
{
    weir_pass pass;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    now = now < table->rules.horizon ? now : table->rules.horizon;
    pass = weir_pass_begin(&table->table, slots);
    while (weir_pass_more(&table->table, &pass)) {
        const uint64_t *slot = table->slots + pass.at * WEIR_TOKENBUCKET_WORDS;
        if (weir_table_held(slot) &&
            weir_tokenbucket_missing(&table->rules, weir_tokenbucket_load(&table->rules, slot), now) == 0) {
            weir_table_remove(&table->table, table->slots, WEIR_TOKENBUCKET_WORDS, pass.at);
        } else {
            pass.at++;
        }
    }
    weir_pass_end(&table->table, &pass, freed, done);
    return WEIR_OK;
}

/*
 * What is missing under the old rules is ceil(missing * q' / q) under the new ones, and at most their tolerance.
 *
 * Worst case: one round for each slot, at most 64 steps of long division in each. Bounds: what is missing is below
 * 2^63, q and q' below 2^62, so the product has its place in 128 bits; both times are within their horizons.
 */
weir_error weir_tokenbucket_relimit(weir_tokenbucket *table, uint64_t now, const weir_limit *limit)
{
    weir_tokenbucket_rules to;
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
        uint64_t *slot = table->slots + i * WEIR_TOKENBUCKET_WORDS;
        if (weir_table_held(slot)) {
            weir_tokenbucket_state state = weir_tokenbucket_load(&table->rules, slot);
            uint64_t missing = weir_tokenbucket_missing(&table->rules, state, now);
            missing = weir_scaled(missing, to.permit, table->rules.permit, to.tolerance);
            weir_tokenbucket_store(slot, weir_tokenbucket_lacking(&to, missing, now));
        }
    }
    table->rules = to;
    table->limit = *limit;
    return WEIR_OK;
}

uint64_t weir_tokenbucket_keys(const weir_tokenbucket *table)
{
    return table == NULL ? 0 : table->table.keys;
}

uint64_t weir_tokenbucket_max_keys(const weir_tokenbucket *table)
{
    return table == NULL ? 0 : table->table.max_keys;
}

uint64_t weir_tokenbucket_horizon(const weir_tokenbucket *table)
{
    return table == NULL ? 0 : table->rules.horizon;
}

weir_limit weir_tokenbucket_limit(const weir_tokenbucket *table)
{
    static const weir_limit none = {0, 0, 0, 0, 0, 0};

    return table == NULL ? none : table->limit;
}

const weir_tokenbucket_rules *weir_tokenbucket_rules_of(const weir_tokenbucket *table)
{
    return table == NULL ? NULL : &table->rules;
}
