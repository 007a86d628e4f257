/* gcra.c - the GCRA over a table of keys: the pure step of gcra.h, and where each key's word is kept. */
#include "weir/gcra.h"

#include "table.h"

#ifndef WEIR_NO_MALLOC
#include <stdlib.h>
#endif

/* The words of a slot: key, TAT. */
#define WEIR_GCRA_WORDS ((size_t)2)

/* The block: this header, then the slots. Words of 64 bits only, so no switch and no target moves anything. */
struct weir_gcra {
    weir_table table;
    weir_gcra_rules rules;
    weir_limit limit; /* in force */
    uint64_t slots[];
};

_Static_assert(sizeof(struct weir_gcra) + WEIR_GCRA_WORDS * sizeof(uint64_t) == WEIR_GCRA_HEADER,
               "the published header is the real one and the slot that is always free");

/* The checks that size, init and create share: *rules and *bytes mean something only for WEIR_OK. */
static weir_error weir_gcra_plan(weir_gcra_rules *rules, size_t *bytes, const weir_limit *limit, uint64_t max_keys)
{
    weir_error error = weir_scale_init(rules, limit);

    if (error != WEIR_OK) {
        return error;
    }
    return weir_table_bytes(max_keys, sizeof(struct weir_gcra), WEIR_GCRA_WORDS, 0, bytes);
}

weir_error weir_gcra_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes)
{
    weir_gcra_rules rules;

    return bytes == NULL ? WEIR_ERR_NULL : weir_gcra_plan(&rules, bytes, limit, max_keys);
}

/* Worst case: one write for each word of the block. */
weir_error weir_gcra_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_gcra *table = (weir_gcra *)block;
    weir_gcra_rules rules;
    weir_error error;
    size_t needed;

    if (block == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_gcra_plan(&rules, &needed, limit, max_keys);
    if (error == WEIR_OK) {
        error = weir_table_check(block, bytes, needed);
    }
    if (error == WEIR_OK) {
        weir_table_init(block, sizeof *table, WEIR_GCRA_WORDS, (size_t)max_keys, seed);
        table->rules = rules;
        table->limit = *limit;
    }
    return error;
}

#ifndef WEIR_NO_MALLOC
weir_error weir_gcra_create(weir_gcra **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_error error;
    size_t bytes;
    void *made;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_gcra_size(limit, max_keys, &bytes);
    if (error != WEIR_OK) {
        return error;
    }
    made = malloc(bytes);
    if (made == NULL) {
        return WEIR_ERR_MEMORY;
    }
    error = weir_gcra_init(made, bytes, limit, max_keys, seed);
    *table = (weir_gcra *)made;
    return error;
}

void weir_gcra_destroy(weir_gcra *table)
{
    free(table);
}
#endif

/* The number of the key's slot, or of the free one where it would stand. Worst case: keys + 1 looks. */
static size_t weir_gcra_find(const weir_gcra *g, uint64_t key)
{
    return weir_table_find(&g->table, g->slots, key, WEIR_GCRA_WORDS);
}

/*
 * A key never seen owes nothing, so it is allowed whatever fits the burst: it is denied never, and `full` comes before
 * the verdict just where it takes the place of an allowance that costs. The step works on a copy of the state, so that
 * a key without room leaves no trace. Worst case: one look-up.
 */
weir_decision weir_gcra_take(weir_gcra *table, uint64_t now, uint64_t key, uint64_t cost)
{
    weir_decision d = weir_refused(WEIR_NONE);

    if (table != NULL) {
        uint64_t *slot = table->slots + weir_gcra_find(table, key) * WEIR_GCRA_WORDS;
        uint64_t tat = slot[1] & ~WEIR_HELD;
        d = weir_gcra_step(&table->rules, &tat, now, cost);
        if (d.outcome == WEIR_ALLOW && cost > 0) {
            if (weir_table_hold(&table->table, slot, key)) {
                slot[1] = tat | WEIR_HELD;
            } else {
                d = weir_refused(WEIR_FULL);
            }
        }
    }
    return d;
}

/* `full` as for a take. Worst case: one look-up. */
weir_decision weir_gcra_peek(const weir_gcra *table, uint64_t now, uint64_t key, uint64_t cost)
{
    weir_decision d = weir_refused(WEIR_NONE);

    if (table != NULL) {
        const uint64_t *slot = table->slots + weir_gcra_find(table, key) * WEIR_GCRA_WORDS;
        d = weir_gcra_step_peek(&table->rules, slot[1] & ~WEIR_HELD, now, cost);
        if (d.outcome == WEIR_ALLOW && cost > 0 && weir_table_no_room(&table->table, slot)) {
            d = weir_refused(WEIR_FULL);
        }
    }
    return d;
}

void weir_gcra_prefetch(const weir_gcra *table, uint64_t key)
{
    if (table != NULL) {
        weir_prefetch(table->slots + weir_table_home(&table->table, key) * WEIR_GCRA_WORDS);
    }
}

/* Worst case: one look-up and one division. */
weir_error weir_gcra_refund(weir_gcra *table, uint64_t now, uint64_t key, uint64_t cost)
{
    uint64_t *slot;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    if (now > table->rules.horizon) {
        return WEIR_ERR_PAST_HORIZON;
    }
    slot = table->slots + weir_gcra_find(table, key) * WEIR_GCRA_WORDS;
    if (weir_table_held(slot)) {
        slot[1] = weir_gcra_step_refund(&table->rules, slot[1] & ~WEIR_HELD, now, cost) | WEIR_HELD;
    }
    return WEIR_OK;
}

/* Worst case: one look-up and one removal. */
void weir_gcra_forget(weir_gcra *table, uint64_t key)
{
    size_t i;

    if (table == NULL) {
        return;
    }
    i = weir_gcra_find(table, key);
    if (weir_table_held(table->slots + i * WEIR_GCRA_WORDS)) {
        weir_table_remove(&table->table, table->slots, WEIR_GCRA_WORDS, i);
    }
}

/*
 * A key is idle when its TAT has come. Worst case: as weir_pass. Bounds: the time is at most the horizon, so its
 * units are below 2^62.
 */
weir_error weir_gcra_sweep(weir_gcra *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done)
{
    weir_pass pass;
    uint64_t s;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    s = (now < table->rules.horizon ? now : table->rules.horizon) * table->rules.tick;
    pass = weir_pass_begin(&table->table, slots);
    while (weir_pass_more(&table->table, &pass)) {
        const uint64_t *slot = table->slots + pass.at * WEIR_GCRA_WORDS;
        if (weir_table_held(slot) && (slot[1] & ~WEIR_HELD) <= s) {
            weir_table_remove(&table->table, table->slots, WEIR_GCRA_WORDS, pass.at);
        } else {
            pass.at++;
        }
    }
    weir_pass_end(&table->table, &pass, freed, done);
    return WEIR_OK;
}

/*
 * A debt of units under the old rules is ceil(debt * q' / q) under the new ones, and at most their tolerance.
 *
 * Worst case: one round for each slot, at most 64 steps of long division in each. Bounds: a debt is below 2^63, q
 * and q' below 2^62, so the product has its place in 128 bits; both times are within their horizons, so s and s'
 * are below 2^62, and the new TAT, at most s' + L', is below 2^63.
 */
weir_error weir_gcra_relimit(weir_gcra *table, uint64_t now, const weir_limit *limit)
{
    weir_gcra_rules to;
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
        uint64_t *slot = table->slots + i * WEIR_GCRA_WORDS;
        if (weir_table_held(slot)) {
            uint64_t debt = weir_gcra_debt(&table->rules, slot[1] & ~WEIR_HELD, now);
            debt = weir_scaled(debt, to.permit, table->rules.permit, to.tolerance);
            slot[1] = (now * to.tick + debt) | WEIR_HELD;
        }
    }
    table->rules = to;
    table->limit = *limit;
    return WEIR_OK;
}

uint64_t weir_gcra_keys(const weir_gcra *table)
{
    return table == NULL ? 0 : table->table.keys;
}

uint64_t weir_gcra_max_keys(const weir_gcra *table)
{
    return table == NULL ? 0 : table->table.max_keys;
}

uint64_t weir_gcra_horizon(const weir_gcra *table)
{
    return table == NULL ? 0 : table->rules.horizon;
}

weir_limit weir_gcra_limit(const weir_gcra *table)
{
    static const weir_limit none = {0, 0, 0, 0, 0, 0};

    return table == NULL ? none : table->limit;
}

const weir_gcra_rules *weir_gcra_rules_of(const weir_gcra *table)
{
    return table == NULL ? NULL : &table->rules;
}
