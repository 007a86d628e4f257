/*
 * fuzz_model.h - the slow second opinion of fuzz.c: a list of keys, each with what it owes and since when, or with all
 * that was ever allowed it and still stands in its log. Everything is found by walking, in numbers of 128 bits that no
 * bound has to be argued for. It shares no arithmetic with the library: it is written after vectors/README.md.
 */
#ifndef WEIR_TEST_FUZZ_MODEL_H
#define WEIR_TEST_FUZZ_MODEL_H

#include "policies.h"

__extension__ typedef unsigned __int128 wide;

enum { MODEL_KEYS = 8, MODEL_ENTRIES = 32 };

typedef struct model_key {
    uint64_t key;
    wide debt[2];   /* owed to each limit */
    uint64_t at[2]; /* at that tick */
    struct {
        uint64_t tick, permits;
    } log[MODEL_ENTRIES + 1];
    size_t count;
} model_key;

typedef struct model {
    int kind; /* of policies.h; GCRA stands for all three meters */
    weir_limit limit;
    int limits; /* 1, or 2 for a dual bucket */
    uint64_t p[2], q[2], burst[2], horizon;
    wide tolerance[2];
    uint64_t entries, max_keys, keys; /* entries: the ring that a log's table was made with */
    model_key key[MODEL_KEYS];
} model;

static const wide unit_bound = (wide)1 << 62;

static uint64_t model_gcd(uint64_t a, uint64_t b)
{
    return b == 0 ? a : model_gcd(b, a % b);
}

/* Puts the model under one of the limits of a bucket, or says why not. */
static weir_error model_scale(model *m, int i, uint64_t permits, uint64_t period, uint64_t burst)
{
    uint64_t g, horizon;

    if (permits == 0 || period == 0 || burst == 0) {
        return permits == 0 ? WEIR_ERR_INVALID_PERMITS : period == 0 ? WEIR_ERR_INVALID_PERIOD : WEIR_ERR_INVALID_BURST;
    }
    g = model_gcd(permits, period);
    m->p[i] = permits / g;
    m->q[i] = period / g;
    m->burst[i] = burst;
    m->tolerance[i] = (wide)burst * m->q[i];
    if (m->tolerance[i] >= unit_bound || m->p[i] >= unit_bound) {
        return WEIR_ERR_LIMIT_TOO_LARGE;
    }
    horizon = (uint64_t)((unit_bound - 1) / m->p[i]);
    m->horizon = i == 0 || horizon < m->horizon ? horizon : m->horizon;
    return WEIR_OK;
}

/* The units of a limit, or the word with which it is refused. The model is good for nothing if it is. */
static weir_error model_limit(model *m, const weir_limit *l)
{
    const bool second = l->permits2 != 0 || l->period2 != 0 || l->burst2 != 0;
    weir_error error;

    if (second != (m->kind == DUALBUCKET)) {
        return WEIR_ERR_INVALID_SECOND;
    }
    m->limit = *l;
    m->limits = second ? 2 : 1;
    if (m->kind != SLIDINGLOG) {
        error = model_scale(m, 0, l->permits, l->period, l->burst);
        return error == WEIR_OK && second ? model_scale(m, 1, l->permits2, l->period2, l->burst2) : error;
    }
    m->horizon = (uint64_t)(unit_bound - 1);
    m->burst[0] = l->permits;
    if (l->permits == 0 || l->period == 0) {
        return l->permits == 0 ? WEIR_ERR_INVALID_PERMITS : WEIR_ERR_INVALID_PERIOD;
    }
    if (l->burst != 0 && l->burst != l->permits) {
        return WEIR_ERR_INVALID_BURST;
    }
    return l->permits >= unit_bound || l->period >= unit_bound ? WEIR_ERR_LIMIT_TOO_LARGE : WEIR_OK;
}

static model_key *model_find(model *m, uint64_t key)
{
    uint64_t i;

    for (i = 0; i < m->keys; i++) {
        if (m->key[i].key == key) {
            return &m->key[i];
        }
    }
    return NULL;
}

static wide model_debt(const model *m, const model_key *k, int i, uint64_t now)
{
    wide leak;

    if (k == NULL) {
        return 0;
    }
    if (now < k->at[i]) {
        return k->debt[i] + (wide)(k->at[i] - now) * m->p[i];
    }
    leak = (wide)(now - k->at[i]) * m->p[i];
    return k->debt[i] > leak ? k->debt[i] - leak : 0;
}

static wide up(wide units, uint64_t by)
{
    return (units + by - 1) / by;
}

/* What a bucket answers for the debts as they are, less spent: 0 before a request is charged and its cost after. */
static void model_quotients(const model *m, const wide debt[2], const uint64_t retry[2], weir_answer *a)
{
    uint64_t left[2] = {0, 0}, reset[2] = {0, 0};
    int i;

    for (i = 0; i < m->limits; i++) {
        left[i] = debt[i] > m->tolerance[i] ? 0 : (uint64_t)((m->tolerance[i] - debt[i]) / m->q[i]);
        reset[i] = (uint64_t)up(debt[i], m->p[i]);
    }
    a->remaining = left[0];
    a->reset_after = reset[0];
    a->retry_after = retry[0];
    if (m->limits == 2) {
        a->remaining = left[1] < left[0] ? left[1] : left[0];
        a->reset_after = reset[1] > reset[0] ? reset[1] : reset[0];
        a->retry_after = retry[1] > retry[0] ? retry[1] : retry[0];
        a->binding = (a->outcome == WEIR_ALLOW ? left[1] < left[0] : retry[1] > retry[0]) ? WEIR_SECOND : WEIR_FIRST;
    }
}

/* The answer of a bucket to a key that has room or gets it, and its debts before and after. */
static weir_answer model_bucket(const model *m, const model_key *k, uint64_t now, const uint64_t cost[2], wide debt[2],
                                bool spend)
{
    weir_answer a = {WEIR_ALLOW, WEIR_FIRST, 0, 0, 0, 0};
    uint64_t retry[2] = {0, 0};
    int i;

    for (i = 0; i < m->limits; i++) {
        const wide units = (wide)cost[i] * m->q[i];
        debt[i] = model_debt(m, k, i, now);
        if (cost[i] > m->burst[i]) {
            a.outcome = WEIR_TOO_COSTLY;
            retry[i] = WEIR_NEVER;
        } else if (cost[i] > 0 && debt[i] + units > m->tolerance[i]) {
            a.outcome = a.outcome == WEIR_ALLOW ? WEIR_DENY : a.outcome;
            retry[i] = (uint64_t)up(debt[i] + units - m->tolerance[i], m->p[i]);
        }
    }
    a.delay = a.outcome == WEIR_ALLOW ? (uint64_t)up(debt[0], m->p[0]) : 0;
    for (i = 0; i < m->limits && spend && a.outcome == WEIR_ALLOW; i++) {
        debt[i] += (wide)cost[i] * m->q[i];
    }
    model_quotients(m, debt, retry, &a);
    return a;
}

static uint64_t model_clock(const model_key *k, uint64_t now)
{
    return k->count > 0 && k->log[k->count - 1].tick > now ? k->log[k->count - 1].tick : now;
}

static wide model_used(const model *m, const model_key *k, uint64_t at)
{
    wide used = 0;
    size_t i;

    for (i = 0; i < k->count; i++) {
        used += (wide)k->log[i].tick + m->limit.period > at ? k->log[i].permits : 0;
    }
    return used;
}

/* The answer of a sliding log as it stands. */
static weir_answer model_log(const model *m, const model_key *k, uint64_t now, uint64_t cost)
{
    static const model_key none;
    weir_answer a = {WEIR_ALLOW, WEIR_FIRST, 0, 0, 0, 0};
    uint64_t at;
    wide used;
    size_t i;

    k = k == NULL ? &none : k;
    at = model_clock(k, now);
    used = model_used(m, k, at);
    a.remaining = used < m->limit.permits ? m->limit.permits - (uint64_t)used : 0;
    a.reset_after = used > 0 ? k->log[k->count - 1].tick + m->limit.period - now : 0;
    if (cost > m->limit.permits) {
        a.outcome = WEIR_TOO_COSTLY;
        a.retry_after = WEIR_NEVER;
    } else if (cost > 0 && used + cost > m->limit.permits) {
        a.outcome = WEIR_DENY;
        for (i = 0; i < k->count && used + cost > m->limit.permits; i++) {
            if ((wide)k->log[i].tick + m->limit.period > at) {
                used -= k->log[i].permits;
                a.retry_after = k->log[i].tick + m->limit.period - now;
            }
        }
    }
    return a;
}

static void model_append(const model *m, model_key *k, uint64_t now, uint64_t cost)
{
    const uint64_t at = model_clock(k, now);
    size_t i, kept = 0;

    for (i = 0; i < k->count; i++) {
        if ((wide)k->log[i].tick + m->limit.period > at) {
            k->log[kept++] = k->log[i];
        }
    }
    if (kept > 0 && k->log[kept - 1].tick == at) {
        k->log[kept - 1].permits += cost;
    } else {
        k->log[kept].tick = at;
        k->log[kept++].permits = cost;
    }
    k->count = kept;
}

/* Decides as a table must, and spends if it is a take. */
static weir_answer model_ask(model *m, uint64_t now, uint64_t key, const uint64_t cost[2], bool take)
{
    model_key *k = model_find(m, key);
    const bool costs = cost[0] > 0 || (m->limits == 2 && cost[1] > 0);
    const weir_answer refused = {WEIR_PAST_HORIZON, WEIR_FIRST, 0, WEIR_NEVER, 0, 0};
    wide debt[2] = {0, 0};
    weir_answer a;
    int i;

    if (now > m->horizon) {
        return refused;
    }
    a = m->kind == SLIDINGLOG ? model_log(m, k, now, cost[0]) : model_bucket(m, k, now, cost, debt, take);
    if (a.outcome != WEIR_ALLOW || !costs) {
        return a;
    }
    if (k == NULL && m->keys == m->max_keys) {
        a = refused;
        a.outcome = WEIR_FULL;
        return a;
    }
    if (!take) {
        return a;
    }
    if (k == NULL) {
        static const model_key none;
        k = &m->key[m->keys++];
        *k = none;
        k->key = key;
    }
    if (m->kind == SLIDINGLOG) {
        model_append(m, k, now, cost[0]);
        a = model_log(m, k, now, 0);
    }
    for (i = 0; i < m->limits && m->kind != SLIDINGLOG; i++) {
        if (cost[i] > 0) {
            k->debt[i] = debt[i];
            k->at[i] = now;
        }
    }
    return a;
}

static weir_error model_refund(model *m, uint64_t now, uint64_t key, const uint64_t cost[2])
{
    model_key *k = model_find(m, key);
    uint64_t at, left = cost[0];
    int i;

    if (now > m->horizon || k == NULL) {
        return now > m->horizon ? WEIR_ERR_PAST_HORIZON : WEIR_OK;
    }
    for (i = 0; i < m->limits && m->kind != SLIDINGLOG; i++) {
        const wide debt = model_debt(m, k, i, now), units = (wide)cost[i] * m->q[i];
        if (debt > 0) {
            k->debt[i] = debt > units ? debt - units : 0;
            k->at[i] = now;
        }
    }
    at = model_clock(k, now);
    while (m->kind == SLIDINGLOG && left > 0 && k->count > 0 &&
           (wide)k->log[k->count - 1].tick + m->limit.period > at) {
        const uint64_t there = k->log[k->count - 1].permits, out = there < left ? there : left;
        left -= out;
        k->log[k->count - 1].permits -= out;
        k->count -= out == there ? 1 : 0;
    }
    return WEIR_OK;
}

static void model_forget(model *m, uint64_t key)
{
    model_key *k = model_find(m, key);

    if (k != NULL) {
        *k = m->key[--m->keys];
    }
}

static bool model_idle(const model *m, const model_key *k, uint64_t now)
{
    if (m->kind == SLIDINGLOG) {
        return model_used(m, k, model_clock(k, now)) == 0;
    }
    return model_debt(m, k, 0, now) == 0 && (m->limits == 1 || model_debt(m, k, 1, now) == 0);
}

/* How many keys it frees. */
static uint64_t model_sweep(model *m, uint64_t now)
{
    const uint64_t before = m->keys;
    uint64_t i = 0;

    while (i < m->keys) {
        if (model_idle(m, &m->key[i], now < m->horizon ? now : m->horizon)) {
            m->key[i] = m->key[--m->keys];
        } else {
            i++;
        }
    }
    return before - m->keys;
}

static weir_error model_relimit(model *m, uint64_t now, const weir_limit *l)
{
    model to = *m;
    weir_error error = model_limit(&to, l);
    uint64_t k;
    int i;

    if (error == WEIR_OK && m->kind == SLIDINGLOG && (l->permits < l->period ? l->permits : l->period) > m->entries) {
        error = WEIR_ERR_LIMIT_TOO_LARGE;
    }
    if (error != WEIR_OK || now > m->horizon || now > to.horizon) {
        return error != WEIR_OK ? error : WEIR_ERR_PAST_HORIZON;
    }
    for (k = 0; k < m->keys && m->kind != SLIDINGLOG; k++) {
        for (i = 0; i < m->limits; i++) {
            const wide debt = (model_debt(m, &m->key[k], i, now) * to.q[i] + m->q[i] - 1) / m->q[i];
            to.key[k].debt[i] = debt < to.tolerance[i] ? debt : to.tolerance[i];
            to.key[k].at[i] = now;
        }
    }
    *m = to;
    return WEIR_OK;
}

#endif
