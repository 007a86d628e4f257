/*
 * model_test.c - a million random operations on a small table against the slowest table there is: a list of keys.
 * The decisions of both come from the pure step, so what is compared is the table: which keys hold room, what
 * state each has, and that the slots are in order after every operation.
 */
#include "check.h"

#include "sources.h"

#define KEYS 12
#define DRAWN 24

/* splitmix64 (Steele, Lea, Flood, 2014). */
static uint64_t draw_next(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

typedef struct {
    weir_gcra_rules rules;
    uint64_t keys, key[KEYS], tat[KEYS];
} model;

static uint64_t model_find(const model *m, uint64_t key)
{
    uint64_t i;

    for (i = 0; i < m->keys && m->key[i] != key; i++) {
    }
    return i;
}

static void model_drop(model *m, uint64_t i)
{
    m->keys--;
    m->key[i] = m->key[m->keys];
    m->tat[i] = m->tat[m->keys];
}

static weir_decision model_take(model *m, uint64_t now, uint64_t key, uint64_t cost)
{
    uint64_t i = model_find(m, key), fresh = 0;
    weir_decision d;

    if (i < m->keys) {
        return weir_gcra_step(&m->rules, &m->tat[i], now, cost);
    }
    d = weir_gcra_step(&m->rules, &fresh, now, cost);
    if (d.outcome != WEIR_ALLOW || cost == 0) {
        return d;
    }
    if (m->keys == KEYS) {
        return weir_refused(WEIR_FULL);
    }
    m->key[i] = key;
    m->tat[i] = fresh;
    m->keys++;
    return d;
}

static uint64_t model_sweep(model *m, uint64_t now)
{
    uint64_t i = 0, before = m->keys;

    while (i < m->keys) {
        if (weir_gcra_debt(&m->rules, m->tat[i], now) == 0) {
            model_drop(m, i);
        } else {
            i++;
        }
    }
    return before - m->keys;
}

/* Every key of the model is found in the table with its state, the table holds no other, and free slots are all zero. */
static void compare(const model *m, const weir_gcra *table)
{
    uint64_t i, held = 0;

    for (i = 0; i < table->table.slots; i++) {
        const uint64_t *slot = table->slots + 2 * i;
        held += weir_table_held(slot) ? 1 : 0;
        CHECK(weir_table_held(slot) || (slot[0] == 0 && slot[1] == 0));
    }
    SAME(held, m->keys);
    SAME(weir_gcra_keys(table), m->keys);
    for (i = 0; i < m->keys; i++) {
        SAME(table->slots[2 * weir_gcra_find(table, m->key[i]) + 1], m->tat[i] | WEIR_HELD);
    }
}

/* A pass in steps of a few slots: at the end of it no idle key is left, and the steps have freed as many as one. */
static void sweep_in_steps(weir_gcra *table, model *m, uint64_t now, uint64_t step)
{
    uint64_t freed, total = 0, calls = 0;
    bool done = false;

    SAME(weir_gcra_sweep(table, now, UINT64_MAX, &total, NULL), WEIR_OK); /* ends the pass of an earlier call */
    while (!done && calls++ < 1000) {
        uint64_t from = table->table.cursor;
        SAME(weir_gcra_sweep(table, now, step, &freed, &done), WEIR_OK);
        CHECK(done || table->table.cursor + freed == from + step); /* each look goes on or frees */
        total += freed;
    }
    CHECK(done && calls * step >= table->table.slots);
    SAME(total, model_sweep(m, now));
}

/* One random operation on both. Times wander, and step back now and then. */
static void operate(weir_gcra *table, model *m, uint64_t draw, uint64_t *now)
{
    uint64_t key = draw % DRAWN, cost = draw >> 8 & 3, i, freed, part;
    weir_decision got, want;
    bool done;

    key = key == 0 ? UINT64_MAX : key - 1;
    *now = draw >> 16 & 7 ? *now + (draw >> 20 & 127) : *now - (*now < 50 ? 0 : 50);
    i = model_find(m, key);
    switch (draw >> 32 & 15) {
    case 0:
        weir_gcra_forget(table, key);
        if (i < m->keys) {
            model_drop(m, i);
        }
        break;
    case 1:
        SAME(weir_gcra_refund(table, *now, key, cost), WEIR_OK);
        if (i < m->keys) {
            m->tat[i] = weir_gcra_step_refund(&m->rules, m->tat[i], *now, cost);
        }
        break;
    case 2:
        SAME(weir_gcra_sweep(table, *now / 2, draw >> 40 & 15, &part, NULL), WEIR_OK); /* a pass half done */
        SAME(weir_gcra_sweep(table, *now, 0, &freed, &done), WEIR_OK);
        CHECK(done);
        SAME(freed + part, model_sweep(m, *now));
        break;
    case 3:
        sweep_in_steps(table, m, *now, 1 + (draw >> 40 & 3));
        break;
    default:
        got = weir_gcra_peek(table, *now, key, cost);
        want = weir_gcra_take(table, *now, key, cost);
        CHECK(got.outcome == want.outcome && got.wait == want.wait);
        got = model_take(m, *now, key, cost);
        CHECK(got.outcome == want.outcome && got.wait == want.wait && got.debt == want.debt);
    }
}

int main(void)
{
    const weir_limit limit = {7, 1000, 3, 0, 0, 0};
    uint64_t block[256], seed, state = 1;

    for (seed = 0; seed < 100 && failures == 0; seed++) {
        weir_gcra *table = (weir_gcra *)block;
        uint64_t now = 0, i;
        model m = {0};
        CHECK(weir_scale_init(&m.rules, &limit) == WEIR_OK);
        CHECK(weir_gcra_init(block, sizeof block, &limit, KEYS, seed) == WEIR_OK);
        for (i = 0; i < 10000 && failures == 0; i++) {
            operate(table, &m, draw_next(&state), &now);
            compare(&m, table);
        }
    }
    return failures != 0;
}
