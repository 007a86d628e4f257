/*
 * vectors_main.c - runs the whole suite through the C library: no Go, no JSON. It includes the header that
 * `weir vectors export --c-header weir_vectors.h` writes, and compares every field of every answer. Prints what
 * was run and each difference, names every case that it leaves out, and returns 0 only if there is no difference.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policies.h"
#include "weir/hash.h"

#include "weir_vectors.h"

/* The most memory that a case may take; one that needs more is left out. A small machine says less. */
#ifndef VECTORS_BYTES
#define VECTORS_BYTES (UINT64_C(64) << 20)
#endif

/* The rooms where a case leaves the number open; its fills are written out for as many. */
#define ROOMS 1024

static unsigned long differences, cases[POLICIES], steps[POLICIES], left_out;

/* In the order of enum weir_vector_word. "ok" stands for a policy that could be made. */
static const char *const words[] = {
    "ok",           "allow",           "deny",           "too_costly",      "full",
    "past_horizon", "unknown_policy",  "invalid_second", "invalid_permits", "invalid_period",
    "invalid_burst", "limit_too_large", "invalid_max_keys",
};

static void differ(const char *id, size_t step, const char *field, const char *got, const char *want)
{
    differences++;
    printf("%s step %lu: %s is %s, want %s\n", id, (unsigned long)step, field, got, want);
}

static void same_word(const char *id, size_t step, const char *got, enum weir_vector_word want)
{
    if (strcmp(got, words[want]) != 0) {
        differ(id, step, "outcome", got, words[want]);
    }
}

static void same_number(const char *id, size_t step, const char *field, uint64_t got, uint64_t want)
{
    char a[24], b[24];

    if (got != want) {
        (void)snprintf(a, sizeof a, "%" PRIu64, got);
        (void)snprintf(b, sizeof b, "%" PRIu64, want);
        differ(id, step, field, a, b);
    }
}

static void same_answer(const char *id, size_t step, const weir_answer *got, const struct weir_vector_want *want)
{
    if (want->has & WEIR_VECTOR_HAS_OUTCOME) {
        same_word(id, step, weir_outcome_word(got->outcome), want->outcome);
    }
    if (want->has & WEIR_VECTOR_HAS_REMAINING) {
        same_number(id, step, "remaining", got->remaining, want->remaining);
    }
    if (want->has & WEIR_VECTOR_HAS_RETRY_AFTER) {
        same_number(id, step, "retry_after", got->retry_after, want->retry_after);
    }
    if (want->has & WEIR_VECTOR_HAS_RESET_AFTER) {
        same_number(id, step, "reset_after", got->reset_after, want->reset_after);
    }
    if (want->has & WEIR_VECTOR_HAS_DELAY) {
        same_number(id, step, "delay", got->delay, want->delay);
    }
    if (want->has & WEIR_VECTOR_HAS_BINDING) {
        same_number(id, step, "binding", got->binding, want->second ? WEIR_SECOND : WEIR_FIRST);
    }
}

static weir_limit limit_of(const struct weir_vector_limit *from)
{
    weir_limit limit;

    limit.permits = from->permits;
    limit.period = from->period;
    limit.burst = from->burst;
    limit.permits2 = from->permits2;
    limit.period2 = from->period2;
    limit.burst2 = from->burst2;
    return limit;
}

/* A call that answers an error and no decision; the vectors' word for success is allow. */
static const char *done_word(weir_error error)
{
    return error == WEIR_OK ? "allow" : weir_error_word(error);
}

static void run_step(const policy *p, void *table, const char *id, size_t i, const struct weir_vector_step *t)
{
    const uint64_t cost[2] = {t->cost, t->has_cost2 ? t->cost2 : t->cost};
    const weir_limit limit = limit_of(&t->limit);
    weir_answer got;
    uint32_t r;

    for (r = 0; r < t->repeat; r++) {
        switch (t->op) {
        case WEIR_VECTOR_TAKE:
            got = p->take(table, t->now, t->key + r, cost);
            same_answer(id, i, &got, &t->want);
            break;
        case WEIR_VECTOR_PEEK:
            got = p->peek(table, t->now, t->key + r, cost);
            same_answer(id, i, &got, &t->want);
            break;
        case WEIR_VECTOR_REFUND:
            same_word(id, i, done_word(p->refund(table, t->now, t->key + r, cost)), t->want.outcome);
            break;
        case WEIR_VECTOR_FORGET:
            p->forget(table, t->key + r);
            same_word(id, i, "allow", t->want.outcome);
            break;
        case WEIR_VECTOR_SWEEP:
            same_word(id, i, weir_error_word(p->sweep(table, t->now, 0, NULL, NULL)), WEIR_VECTOR_MADE);
            same_number(id, i, "keys", p->keys(table), t->want.keys);
            break;
        case WEIR_VECTOR_KEYS:
            same_number(id, i, "keys", p->keys(table), t->want.keys);
            break;
        case WEIR_VECTOR_RELIMIT:
            same_word(id, i, done_word(p->relimit(table, t->now, &limit)), t->want.outcome);
            break;
        default:
            differ(id, i, "op", "unknown to this runner", "one of weir_vector_op");
        }
        steps[p - policies]++;
    }
}

/* The entries that a sliding log must have from the start for every limit that the case puts it under. */
static uint64_t most_entries(const struct weir_vector_case *c)
{
    weir_slidinglog_rules rules;
    uint64_t most = 0;
    size_t s;

    for (s = 0; s <= c->step_count; s++) {
        const weir_limit limit = limit_of(s == c->step_count ? &c->limit : &c->steps[s].limit);
        if (weir_slidinglog_rules_init(&rules, &limit) == WEIR_OK && rules.entries > most) {
            most = rules.entries;
        }
    }
    return most;
}

/* Whether a table of so many keys stays within VECTORS_BYTES, with a ring of so many entries a key. Nothing wraps. */
static bool fits(uint64_t max_keys, uint64_t entries)
{
    const uint64_t room = VECTORS_BYTES - 4096;

    return entries < room / 16 - 4 && max_keys <= room / (64 + 16 * entries);
}

/* A case whose policy must be refused: by the size function and by init alike, for a block that is as good as any. */
static void run_refused(const policy *p, const struct weir_vector_case *c, uint64_t max_keys)
{
    static uint64_t block[64];
    const weir_limit limit = limit_of(&c->limit);
    size_t bytes;

    same_word(c->id, 0, weir_error_word(p->size(&limit, max_keys, &bytes)), c->refused);
    same_word(c->id, 0, weir_error_word(p->init(block, sizeof block, &limit, max_keys, 1)), c->refused);
}

/* Makes a table for the case and puts it through the steps. entries is more than 0 for a sliding log. */
static void run_made(const policy *p, const struct weir_vector_case *c, uint64_t max_keys, uint64_t entries)
{
    const weir_limit limit = limit_of(&c->limit);
    weir_limit roomy = limit;
    size_t bytes = 0, s;
    weir_error error;
    void *block;

    if (entries > 0) {
        roomy.permits = roomy.period = entries;
        roomy.burst = 0;
    }
    error = p->size(&roomy, max_keys, &bytes);
    if (error != WEIR_OK) {
        differ(c->id, 0, "size", weir_error_word(error), "ok");
        return;
    }
    block = malloc(bytes);
    error = block == NULL ? WEIR_ERR_MEMORY : p->init(block, bytes, &roomy, max_keys, cases[p - policies]);
    if (error == WEIR_OK && entries > 0) {
        error = p->relimit(block, 0, &limit);
    }
    if (error != WEIR_OK) {
        differ(c->id, 0, "init", weir_error_word(error), "ok");
    }
    for (s = 0; s < c->step_count && error == WEIR_OK; s++) {
        run_step(p, block, c->id, s, &c->steps[s]);
    }
    free(block);
}

static void run_case(const struct weir_vector_case *c)
{
    const policy *p = &policies[c->policy];
    const uint64_t max_keys = c->any_max_keys ? ROOMS : c->max_keys;
    const uint64_t entries = c->policy == WEIR_VECTOR_SLIDINGLOG ? most_entries(c) : 0;

    if (c->refused == WEIR_VECTOR_MADE && !fits(max_keys, entries)) {
        left_out++;
        printf("left out: %s: %" PRIu64 " keys with %" PRIu64 " entries each are more than %" PRIu64 " bytes\n", c->id,
               max_keys, entries, (uint64_t)VECTORS_BYTES);
        return;
    }
    cases[c->policy]++;
    if (c->refused == WEIR_VECTOR_MADE) {
        run_made(p, c, max_keys, entries);
    } else {
        run_refused(p, c, max_keys);
    }
}

static unsigned long run_hashes(void)
{
    const size_t count = sizeof weir_hash_vectors / sizeof weir_hash_vectors[0];
    size_t i;

    for (i = 0; i < count; i++) {
        const struct weir_vector_hash *h = &weir_hash_vectors[i];
        uint64_t got = h->hash == WEIR_VECTOR_MIX32 ? weir_mix32(h->in) : weir_xxh64(h->bytes, h->length, h->seed);
        same_number(h->id, 0, "hash", got, h->want);
    }
    return (unsigned long)count;
}

int main(void)
{
    unsigned long hashes, all = 0;
    size_t i;

    for (i = 0; i < WEIR_VECTORS; i++) {
        run_case(&weir_vectors[i]);
    }
    hashes = run_hashes();
    for (i = 0; i < POLICIES; i++) {
        printf("%-12s %5lu cases %7lu steps\n", policies[i].name, cases[i], steps[i]);
        all += cases[i];
    }
    printf("%-12s %5lu cases\n", "hash", hashes);
    printf("%lu cases run, %lu left out, %lu differences\n", all + hashes, left_out, differences);
    if (all == 0) {
        puts("no case was run, so nothing was shown");
    }
    return differences != 0 || all == 0;
}
