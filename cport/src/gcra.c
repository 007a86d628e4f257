/* gcra.c - the GCRA over a table of keys: the pure step of gcra.h, and where each key's word is kept. */
#include "weir/gcra.h"

#include "arith.h"
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
    weir_limit limit;
    uint64_t slots[];
};

_Static_assert(sizeof(struct weir_gcra) + WEIR_GCRA_WORDS * sizeof(uint64_t) == WEIR_GCRA_HEADER,
               "the published header is the real one and the slot that is always free");

/* What init is about to write, checked. */
typedef struct weir_gcra_plan {
    weir_gcra_rules rules;
    uint64_t slots;
    size_t bytes;
} weir_gcra_plan;

/* The checks that size and init share. *plan means something only for WEIR_OK. Bounds: as weir_table_slots. */
static weir_error weir_gcra_plan_for(weir_gcra_plan *plan, const weir_limit *limit, uint64_t max_keys)
{
    weir_error error = weir_scale_init(&plan->rules, limit);

    if (error != WEIR_OK) {
        return error;
    }
    plan->slots = weir_table_slots(max_keys, sizeof(struct weir_gcra), WEIR_GCRA_WORDS);
    if (plan->slots == 0) {
        return WEIR_ERR_MAX_KEYS;
    }
    plan->bytes = sizeof(struct weir_gcra) + (size_t)plan->slots * WEIR_GCRA_WORDS * sizeof(uint64_t);
    return WEIR_OK;
}

weir_error weir_gcra_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes)
{
    weir_gcra_plan plan;
    weir_error error;

    if (bytes == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_gcra_plan_for(&plan, limit, max_keys);
    if (error == WEIR_OK) {
        *bytes = plan.bytes;
    }
    return error;
}

/* Writes a checked plan. Worst case: one write for each word of the block. */
static void weir_gcra_build(weir_gcra *g, const weir_gcra_plan *plan, const weir_limit *limit, uint64_t max_keys,
                            uint64_t seed)
{
    g->rules = plan->rules;
    g->limit = *limit;
    weir_table_init(&g->table, g->slots, WEIR_GCRA_WORDS, plan->slots, max_keys, seed);
}

weir_error weir_gcra_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_gcra_plan plan;
    weir_error error;

    if (block == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_gcra_plan_for(&plan, limit, max_keys);
    if (error != WEIR_OK) {
        return error;
    }
    if ((uintptr_t)block % WEIR_ALIGN != 0) {
        return WEIR_ERR_ALIGN;
    }
    if (bytes < plan.bytes) {
        return WEIR_ERR_SIZE;
    }
    weir_gcra_build((weir_gcra *)block, &plan, limit, max_keys, seed);
    return WEIR_OK;
}

#ifndef WEIR_NO_MALLOC
weir_error weir_gcra_create(weir_gcra **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_gcra_plan plan;
    weir_error error;
    weir_gcra *made;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_gcra_plan_for(&plan, limit, max_keys);
    if (error != WEIR_OK) {
        return error;
    }
    made = (weir_gcra *)malloc(plan.bytes);
    if (made == NULL) {
        return WEIR_ERR_MEMORY;
    }
    weir_gcra_build(made, &plan, limit, max_keys, seed);
    *table = made;
    return WEIR_OK;
}

void weir_gcra_destroy(weir_gcra *table)
{
    free(table);
}
#endif

/* Where in slots the key's slot starts, or the free one where it would stand. Worst case: keys + 1 looks. */
static size_t weir_gcra_find(const weir_gcra *g, uint64_t key)
{
    return weir_table_find(&g->table, g->slots, WEIR_GCRA_WORDS, key) * WEIR_GCRA_WORDS;
}

/* Frees the held slot that starts at word at. Worst case: as weir_table_remove. */
static void weir_gcra_free(weir_gcra *g, size_t at)
{
    weir_table_remove(&g->table, g->slots, WEIR_GCRA_WORDS, at / WEIR_GCRA_WORDS);
}

/* Whether a slot's key would be refused for want of room: a key that holds none, and all rooms are taken. */
static bool weir_gcra_no_room(const weir_gcra *g, const uint64_t *slot)
{
    return !weir_table_held(slot) && g->table.keys >= g->table.max_keys;
}

/*
 * A key never seen owes nothing, so the step allows whatever fits the burst: it is denied never, and `full` comes
 * before the verdict just where it takes the place of an allowance that costs. Worst case: one look-up.
 */
weir_decision weir_gcra_take(weir_gcra *table, uint64_t now, uint64_t key, uint64_t cost)
{
    weir_decision d;
    uint64_t *slot;
    uint64_t tat;

    if (table == NULL) {
        return weir_refused(WEIR_NONE);
    }
    slot = table->slots + weir_gcra_find(table, key);
    tat = slot[1] & ~WEIR_HELD;
    d = weir_gcra_step(&table->rules, &tat, now, cost);
    if (d.outcome != WEIR_ALLOW || cost == 0) {
        return d;
    }
    if (weir_gcra_no_room(table, slot)) {
        return weir_refused(WEIR_FULL);
    }
    if (!weir_table_held(slot)) {
        table->table.keys++;
        slot[0] = key;
    }
    slot[1] = tat | WEIR_HELD;
    return d;
}

/* Worst case: one look-up. */
weir_decision weir_gcra_peek(const weir_gcra *table, uint64_t now, uint64_t key, uint64_t cost)
{
    weir_decision d;
    const uint64_t *slot;

    if (table == NULL) {
        return weir_refused(WEIR_NONE);
    }
    slot = table->slots + weir_gcra_find(table, key);
    d = weir_gcra_step_peek(&table->rules, slot[1] & ~WEIR_HELD, now, cost);
    if (d.outcome == WEIR_ALLOW && cost > 0 && weir_gcra_no_room(table, slot)) {
        return weir_refused(WEIR_FULL);
    }
    return d;
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
    slot = table->slots + weir_gcra_find(table, key);
    if (weir_table_held(slot)) {
        slot[1] = weir_gcra_step_refund(&table->rules, slot[1] & ~WEIR_HELD, now, cost) | WEIR_HELD;
    }
    return WEIR_OK;
}

/* Worst case: one look-up and one removal. */
void weir_gcra_forget(weir_gcra *table, uint64_t key)
{
    size_t at;

    if (table == NULL) {
        return;
    }
    at = weir_gcra_find(table, key);
    if (weir_table_held(table->slots + at)) {
        weir_gcra_free(table, at);
    }
}

/* Whether the key of a slot is idle at s units: a held slot whose TAT has come. */
static bool weir_gcra_idle(const uint64_t *slot, uint64_t s)
{
    return weir_table_held(slot) && (slot[1] & ~WEIR_HELD) <= s;
}

/*
 * A removal fills slot i from behind or leaves it free, so i is looked at again: what is behind it has not been
 * looked at yet, except where the run of neighbours goes round the table's end, and those may be looked at twice.
 * Nothing moves from a slot not yet looked at to one that has been, so no key idle at now is missed.
 *
 * Worst case: min(looks, slots + keys) rounds, since each either goes on or frees a key, and a removal in each of
 * the latter. Bounds: the time is at most the horizon, so its units are below 2^62.
 */
weir_error weir_gcra_sweep(weir_gcra *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done)
{
    uint64_t before, s, looks, i;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    before = table->table.keys;
    s = (now < table->rules.horizon ? now : table->rules.horizon) * table->rules.tick;
    i = slots == 0 ? 0 : table->table.cursor;
    looks = slots == 0 ? UINT64_MAX : slots;
    for (; looks > 0 && i < table->table.slots; looks--) {
        size_t at = (size_t)i * WEIR_GCRA_WORDS;
        if (weir_gcra_idle(table->slots + at, s)) {
            weir_gcra_free(table, at);
        } else {
            i++;
        }
    }
    table->table.cursor = i < table->table.slots ? i : 0;
    if (freed != NULL) {
        *freed = before - table->table.keys;
    }
    if (done != NULL) {
        *done = i >= table->table.slots;
    }
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
    uint64_t i;

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
    for (i = 0; i < table->table.slots; i++) {
        uint64_t *slot = table->slots + (size_t)i * WEIR_GCRA_WORDS;
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
