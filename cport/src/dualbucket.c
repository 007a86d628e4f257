/* dualbucket.c - two limits over a table of keys: the pure step of dualbucket.h, and where each state is kept. */
#include "weir/dualbucket.h"

#include "table.h"

#ifndef WEIR_NO_MALLOC
#include <stdlib.h>
#endif

/* The words of a slot: key, first TAT, second TAT. A free one is all zero: never seen. */
#define WEIR_DUALBUCKET_WORDS ((size_t)3)

/* The block: this header, then the slots. Words of 64 bits only, so no switch and no target moves anything. */
struct weir_dualbucket {
    weir_table table;
    weir_dualbucket_rules rules;
    weir_limit limit; /* in force */
    uint64_t slots[];
};

_Static_assert(sizeof(struct weir_dualbucket) + WEIR_DUALBUCKET_WORDS * sizeof(uint64_t) == WEIR_DUALBUCKET_HEADER,
               "the published header is the real one and the slot that is always free");

weir_error weir_dualbucket_rules_init(weir_dualbucket_rules *rules, const weir_limit *limit)
{
    weir_limit one = {0, 0, 0, 0, 0, 0};
    weir_scale first, second;
    weir_error error;

    if (rules == NULL || limit == NULL) {
        return WEIR_ERR_NULL;
    }
    if ((limit->permits2 | limit->period2 | limit->burst2) == 0) {
        return WEIR_ERR_INVALID_SECOND;
    }
    one.permits = limit->permits;
    one.period = limit->period;
    one.burst = limit->burst;
    error = weir_scale_init(&first, &one);
    if (error != WEIR_OK) {
        return error;
    }
    one.permits = limit->permits2;
    one.period = limit->period2;
    one.burst = limit->burst2;
    error = weir_scale_init(&second, &one);
    if (error == WEIR_OK) {
        rules->scale[0] = first;
        rules->scale[1] = second;
        rules->horizon = first.horizon < second.horizon ? first.horizon : second.horizon;
    }
    return error;
}

weir_error weir_dualbucket_answer_fill(const weir_dualbucket_rules *rules, const weir_dualbucket_decision *decision,
                                       weir_answer *answer)
{
    if (rules == NULL || decision == NULL || answer == NULL) {
        return WEIR_ERR_NULL;
    }
    *answer = weir_dualbucket_answer_of(rules, *decision);
    return WEIR_OK;
}

/* The checks that size, init and create share: *rules and *bytes mean something only for WEIR_OK. */
static weir_error weir_dualbucket_plan(weir_dualbucket_rules *rules, size_t *bytes, const weir_limit *limit,
                                       uint64_t max_keys)
{
    weir_error error = weir_dualbucket_rules_init(rules, limit);

    if (error != WEIR_OK) {
        return error;
    }
    return weir_table_bytes(max_keys, sizeof(struct weir_dualbucket), WEIR_DUALBUCKET_WORDS, 0, bytes);
}

weir_error weir_dualbucket_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes)
{
    weir_dualbucket_rules rules;

    return bytes == NULL ? WEIR_ERR_NULL : weir_dualbucket_plan(&rules, bytes, limit, max_keys);
}

/* Worst case: one write for each word of the block. */
weir_error weir_dualbucket_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_dualbucket *table = (weir_dualbucket *)block;
    weir_dualbucket_rules rules;
    weir_error error;
    size_t needed;

    if (block == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_dualbucket_plan(&rules, &needed, limit, max_keys);
    if (error == WEIR_OK) {
        error = weir_table_check(block, bytes, needed);
    }
    if (error == WEIR_OK) {
        weir_table_init(block, sizeof *table, WEIR_DUALBUCKET_WORDS, (size_t)max_keys, seed);
        table->rules = rules;
        table->limit = *limit;
    }
    return error;
}

#ifndef WEIR_NO_MALLOC
weir_error weir_dualbucket_create(weir_dualbucket **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed)
{
    weir_error error;
    size_t bytes;
    void *made;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_dualbucket_size(limit, max_keys, &bytes);
    if (error != WEIR_OK) {
        return error;
    }
    made = malloc(bytes);
    if (made == NULL) {
        return WEIR_ERR_MEMORY;
    }
    error = weir_dualbucket_init(made, bytes, limit, max_keys, seed);
    *table = (weir_dualbucket *)made;
    return error;
}

void weir_dualbucket_destroy(weir_dualbucket *table)
{
    free(table);
}
#endif

/* The number of the key's slot, or of the free one where it would stand. Worst case: keys + 1 looks. */
static size_t weir_dualbucket_find(const weir_dualbucket *g, uint64_t key)
{
    return weir_table_find(&g->table, g->slots, key, WEIR_DUALBUCKET_WORDS);
}

static weir_dualbucket_state weir_dualbucket_load(const uint64_t *slot)
{
    weir_dualbucket_state state = {{0, 0}};

    state.tat[0] = slot[1] & ~WEIR_HELD;
    state.tat[1] = slot[2];
    return state;
}

/* Writes a state into a held slot. Bounds: a TAT is below 2^63. */
static void weir_dualbucket_store(uint64_t *slot, const weir_dualbucket_state *state)
{
    slot[1] = state->tat[0] | WEIR_HELD;
    slot[2] = state->tat[1];
}

/* Whether a request charges anything, so that its key needs room. */
static bool weir_dualbucket_costs(const uint64_t cost[2])
{
    return (cost[0] | cost[1]) != 0;
}

/*
 * A key never seen owes nothing, so it is allowed whatever fits the burst: it is denied never, and `full` comes before
 * the verdict just where it takes the place of an allowance that costs. The step works on a copy of the state, so that
 * a key without room leaves no trace. Worst case: one look-up.
 */
weir_dualbucket_decision weir_dualbucket_take(weir_dualbucket *table, uint64_t now, uint64_t key,
                                              const uint64_t cost[2])
{
    weir_dualbucket_decision d = weir_dualbucket_refused(WEIR_NONE);

    if (table != NULL && cost != NULL) {
        uint64_t *slot = table->slots + weir_dualbucket_find(table, key) * WEIR_DUALBUCKET_WORDS;
        weir_dualbucket_state state = weir_dualbucket_load(slot);
        d = weir_dualbucket_step(&table->rules, &state, now, cost);
        if (d.outcome == WEIR_ALLOW && weir_dualbucket_costs(cost)) {
            if (weir_table_hold(&table->table, slot, key)) {
                weir_dualbucket_store(slot, &state);
            } else {
                d = weir_dualbucket_refused(WEIR_FULL);
            }
        }
    }
    return d;
}

/* `full` as for a take. Worst case: one look-up. */
weir_dualbucket_decision weir_dualbucket_peek(const weir_dualbucket *table, uint64_t now, uint64_t key,
                                              const uint64_t cost[2])
{
    weir_dualbucket_decision d = weir_dualbucket_refused(WEIR_NONE);

    if (table != NULL && cost != NULL) {
        const uint64_t *slot = table->slots + weir_dualbucket_find(table, key) * WEIR_DUALBUCKET_WORDS;
        const weir_dualbucket_state state = weir_dualbucket_load(slot);
        d = weir_dualbucket_step_peek(&table->rules, &state, now, cost);
        if (d.outcome == WEIR_ALLOW && weir_dualbucket_costs(cost) && weir_table_no_room(&table->table, slot)) {
            d = weir_dualbucket_refused(WEIR_FULL);
        }
    }
    return d;
}

void weir_dualbucket_prefetch(const weir_dualbucket *table, uint64_t key)
{
    if (table != NULL) {
        weir_prefetch(table->slots + weir_table_home(&table->table, key) * WEIR_DUALBUCKET_WORDS);
    }
}

/* Worst case: one look-up and two divisions. */
weir_error weir_dualbucket_refund(weir_dualbucket *table, uint64_t now, uint64_t key, const uint64_t cost[2])
{
    uint64_t *slot;

    if (table == NULL || cost == NULL) {
        return WEIR_ERR_NULL;
    }
    if (now > table->rules.horizon) {
        return WEIR_ERR_PAST_HORIZON;
    }
    slot = table->slots + weir_dualbucket_find(table, key) * WEIR_DUALBUCKET_WORDS;
    if (weir_table_held(slot)) {
        weir_dualbucket_state state = weir_dualbucket_load(slot);
        weir_dualbucket_step_refund(&table->rules, &state, now, cost);
        weir_dualbucket_store(slot, &state);
    }
    return WEIR_OK;
}

/* Worst case: one look-up and one removal. */
void weir_dualbucket_forget(weir_dualbucket *table, uint64_t key)
{
    size_t i;

    if (table == NULL) {
        return;
    }
    i = weir_dualbucket_find(table, key);
    if (weir_table_held(table->slots + i * WEIR_DUALBUCKET_WORDS)) {
        weir_table_remove(&table->table, table->slots, WEIR_DUALBUCKET_WORDS, i);
    }
}

/* Whether a key owes neither limit anything at now, which is within the horizon: both its TATs have come. */
static bool weir_dualbucket_idle(const weir_dualbucket_rules *rules, const uint64_t *slot, uint64_t now)
{
    return (slot[1] & ~WEIR_HELD) <= now * rules->scale[0].tick && slot[2] <= now * rules->scale[1].tick;
}

/* Worst case: as weir_pass. */
weir_error weir_dualbucket_sweep(weir_dualbucket *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done)
{
    weir_pass pass;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    now = now < table->rules.horizon ? now : table->rules.horizon;
    pass = weir_pass_begin(&table->table, slots);
    while (weir_pass_more(&table->table, &pass)) {
        const uint64_t *slot = table->slots + pass.at * WEIR_DUALBUCKET_WORDS;
        if (weir_table_held(slot) && weir_dualbucket_idle(&table->rules, slot, now)) {
            weir_table_remove(&table->table, table->slots, WEIR_DUALBUCKET_WORDS, pass.at);
        } else {
            pass.at++;
        }
    }
    weir_pass_end(&table->table, &pass, freed, done);
    return WEIR_OK;
}

/*
 * A debt of units under an old limit is ceil(debt * q' / q) under the new one, and at most its tolerance. Bounds: a
 * debt is below 2^63, q and q' below 2^62, so the product has its place in 128 bits; both times are within their
 * horizons, so s and s' are below 2^62, and the new TAT, at most s' + L', is below 2^63.
 */
static uint64_t weir_dualbucket_carry(const weir_scale *from, const weir_scale *to, uint64_t tat, uint64_t now)
{
    const uint64_t s = now * from->tick;

    return now * to->tick + weir_scaled(tat > s ? tat - s : 0, to->permit, from->permit, to->tolerance);
}

/* Worst case: one round for each slot, at most twice 64 steps of long division in each. */
weir_error weir_dualbucket_relimit(weir_dualbucket *table, uint64_t now, const weir_limit *limit)
{
    weir_dualbucket_rules to;
    weir_error error;
    size_t i;

    if (table == NULL) {
        return WEIR_ERR_NULL;
    }
    error = weir_dualbucket_rules_init(&to, limit);
    if (error != WEIR_OK) {
        return error;
    }
    if (now > table->rules.horizon || now > to.horizon) {
        return WEIR_ERR_PAST_HORIZON;
    }
    for (i = 0; i < (size_t)table->table.slots; i++) {
        uint64_t *slot = table->slots + i * WEIR_DUALBUCKET_WORDS;
        if (weir_table_held(slot)) {
            weir_dualbucket_state state = weir_dualbucket_load(slot);
            state.tat[0] = weir_dualbucket_carry(&table->rules.scale[0], &to.scale[0], state.tat[0], now);
            state.tat[1] = weir_dualbucket_carry(&table->rules.scale[1], &to.scale[1], state.tat[1], now);
            weir_dualbucket_store(slot, &state);
        }
    }
    table->rules = to;
    table->limit = *limit;
    return WEIR_OK;
}

uint64_t weir_dualbucket_keys(const weir_dualbucket *table)
{
    return table == NULL ? 0 : table->table.keys;
}

uint64_t weir_dualbucket_max_keys(const weir_dualbucket *table)
{
    return table == NULL ? 0 : table->table.max_keys;
}

uint64_t weir_dualbucket_horizon(const weir_dualbucket *table)
{
    return table == NULL ? 0 : table->rules.horizon;
}

weir_limit weir_dualbucket_limit(const weir_dualbucket *table)
{
    static const weir_limit none = {0, 0, 0, 0, 0, 0};

    return table == NULL ? none : table->limit;
}

const weir_dualbucket_rules *weir_dualbucket_rules_of(const weir_dualbucket *table)
{
    return table == NULL ? NULL : &table->rules;
}
