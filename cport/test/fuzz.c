/*
 * fuzz.c - any string of bytes is a program of calls. It makes tables of one kind (the three meters side by side, which
 * must agree, or a sliding log, or a dual bucket), puts them through the calls, and compares every answer with the slow
 * model of fuzz_model.h. Beside that: a wait that is told is exact and tight, a peek changes nothing, a refused key
 * leaves no trace, a table may be moved, and a block is not written beyond its end (it is exactly as large as it must
 * be, for the address sanitizer).
 *
 * Built with clang -fsanitize=fuzzer it is a libFuzzer target. With FUZZ_MAIN it is a program of its own: it runs the
 * files that it is given, or if there are none so many drawn programs as FUZZ_MAIN says.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct input {
    const uint8_t *at;
    size_t left;
} input;

typedef struct run {
    input in;
    model m;
    int first, last; /* the policies that run side by side */
    void *table[POLICIES];
    size_t bytes[POLICIES];
    uint64_t now, wait;
} run;

static void fail(const run *r, const char *what, const char *field, uint64_t got, uint64_t want)
{
    (void)fprintf(stderr,
                  "%s of %s: %" PRIu64 ", want %" PRIu64 ", at now %" PRIu64 " under %" PRIu64 " per %" PRIu64
                  " burst %" PRIu64 " and %" PRIu64 " per %" PRIu64 " burst %" PRIu64 "\n",
                  field, what, got, want, r->now, r->m.limit.permits, r->m.limit.period, r->m.limit.burst,
                  r->m.limit.permits2, r->m.limit.period2, r->m.limit.burst2);
    abort();
}

static void same(const run *r, const char *what, const char *field, uint64_t got, uint64_t want)
{
    if (got != want) {
        fail(r, what, field, got, want);
    }
}

/* The next byte of the program; 0 beyond its end. */
static uint64_t byte(input *in)
{
    if (in->left == 0) {
        return 0;
    }
    in->left--;
    return *in->at++;
}

static uint64_t word(input *in)
{
    uint64_t x = 0;
    int i;

    for (i = 0; i < 8; i++) {
        x = x << 8 | byte(in);
    }
    return x;
}

/* A number of any size: small ones, those about a power of two, and all others. */
static uint64_t number(input *in)
{
    const uint64_t b = byte(in);

    if (b < 128) {
        return b & 31;
    }
    if (b < 160) {
        return b << 5 | (byte(in) & 31);
    }
    return b < 224 ? (UINT64_C(1) << (b & 63)) + byte(in) % 3 - 1 : word(in);
}

static weir_limit draw_limit(input *in, int kind)
{
    weir_limit l = {0, 0, 0, 0, 0, 0};

    l.permits = number(in);
    l.period = number(in);
    l.burst = kind == SLIDINGLOG ? 0 : number(in);
    if (kind == SLIDINGLOG && l.permits > MODEL_ENTRIES && l.period > MODEL_ENTRIES) {
        l.period %= MODEL_ENTRIES;
    }
    if (kind == SLIDINGLOG && byte(in) % 16 == 1) {
        l.burst = number(in);
    }
    if (kind == DUALBUCKET || byte(in) % 64 == 1) {
        l.permits2 = number(in);
        l.period2 = number(in);
        l.burst2 = number(in);
    }
    return l;
}

static uint64_t draw_key(const run *r, input *in)
{
    const uint64_t key = byte(in) % (r->m.max_keys + 3);

    return key == 0 ? UINT64_MAX : (key - 1) << (key % 2 ? 0 : 60);
}

/* 1 most often, and what is about the burst. */
static uint64_t draw_cost(const run *r, input *in, int limit)
{
    const uint64_t b = byte(in), burst = r->m.burst[limit];

    switch (b % 8) {
    case 5:
        return burst - b / 8 % 4;
    case 6:
        return b < 128 ? 0 : burst + 1;
    case 7:
        return number(in);
    default:
        return 1 + (b % 8 == 4 ? b / 8 % 8 : 0);
    }
}

/* Moves the clock: on, back, to the edges of the last wait, to the horizon, anywhere. */
static void draw_now(run *r, input *in)
{
    const uint64_t b = byte(in);

    switch (b % 8) {
    case 0:
    case 1:
        break;
    case 2:
        r->now += b / 8;
        break;
    case 3:
        r->now += byte(in) << 8 | b;
        break;
    case 4:
        r->now += r->wait + b / 8 % 3 - 1;
        break;
    case 5:
        r->now -= r->now < b ? 0 : b;
        break;
    case 6:
        r->now = b < 240 ? r->now : r->m.horizon + b / 8 % 3 - 1;
        break;
    default:
        r->now = b < 224 ? 0 : number(in);
    }
}

/* One request, on every table that runs; what they answer must be the model's. */
static weir_answer ask(run *r, uint64_t now, uint64_t key, const uint64_t cost[2], bool take)
{
    const weir_answer want = model_ask(&r->m, now, key, cost, take);
    int i;

    for (i = r->first; i <= r->last; i++) {
        const policy *p = &policies[i];
        weir_answer got = take ? p->take(r->table[i], now, key, cost) : p->peek(r->table[i], now, key, cost);
        same(r, p->name, "outcome", got.outcome, want.outcome);
        same(r, p->name, "remaining", got.remaining, want.remaining);
        same(r, p->name, "retry_after", got.retry_after, want.retry_after);
        same(r, p->name, "reset_after", got.reset_after, want.reset_after);
        same(r, p->name, "binding", got.binding, want.binding);
        same(r, p->name, "delay", got.delay, i == LEAKYBUCKET ? want.delay : 0);
    }
    return want;
}

/* A denied request is allowed after its wait and not a tick sooner; an idle key is as new, and not a tick sooner. */
static void edges(run *r, uint64_t key, const uint64_t cost[2], weir_answer a)
{
    const uint64_t none[2] = {0, 0}, at = r->now + a.retry_after, reset = r->now + a.reset_after;

    if (a.outcome == WEIR_DENY && at <= r->m.horizon) {
        same(r, "an edge", "due", ask(r, at, key, cost, false).outcome, WEIR_ALLOW);
        same(r, "an edge", "early", ask(r, at - 1, key, cost, false).outcome, WEIR_DENY);
    }
    if (a.reset_after > 0 && reset <= r->m.horizon) {
        same(r, "an edge", "reset", ask(r, reset, key, none, false).reset_after, 0);
        same(r, "an edge", "not yet", ask(r, reset - 1, key, none, false).reset_after, 1);
    }
}

/* The wait until more remains: told by other functions than the answer. */
static void next(run *r, uint64_t key)
{
    const uint64_t none[2] = {0, 0}, left = ask(r, r->now, key, none, false).remaining;
    uint64_t wait;

    if (r->m.kind == GCRA) {
        const weir_gcra *table = (const weir_gcra *)r->table[GCRA];
        wait = weir_next(weir_gcra_rules_of(table), weir_gcra_peek(table, r->now, key, 0));
    } else if (r->m.kind == SLIDINGLOG) {
        wait = weir_slidinglog_next((const weir_slidinglog *)r->table[SLIDINGLOG], r->now, key);
    } else {
        const weir_dualbucket *table = (const weir_dualbucket *)r->table[DUALBUCKET];
        wait = weir_dualbucket_next(weir_dualbucket_rules_of(table), weir_dualbucket_peek(table, r->now, key, none));
    }
    if (wait > 0 && r->now + wait <= r->m.horizon) {
        same(r, "next", "more", ask(r, r->now + wait, key, none, false).remaining > left, 1);
        same(r, "next", "not yet", ask(r, r->now + wait - 1, key, none, false).remaining, left);
    }
}

/* A pass of a few slots, and then one of all: together they free what is idle. */
static void sweep(run *r, uint64_t slots)
{
    const uint64_t want = model_sweep(&r->m, r->now);
    int i;

    for (i = r->first; i <= r->last; i++) {
        uint64_t part = 0, rest = 0;
        bool done = false;
        if (slots > 0) {
            same(r, policies[i].name, "sweep", policies[i].sweep(r->table[i], r->now, slots, &part, NULL), WEIR_OK);
        }
        same(r, policies[i].name, "sweep", policies[i].sweep(r->table[i], r->now, 0, &rest, &done), WEIR_OK);
        same(r, policies[i].name, "freed", part + rest, want);
        same(r, policies[i].name, "done", done, true);
    }
}

/* A block holds no pointer: a copy of it elsewhere is the same table. */
static void move(run *r, int i)
{
    void *to = malloc(r->bytes[i]);

    if (to != NULL) {
        memcpy(to, r->table[i], r->bytes[i]);
        free(r->table[i]);
        r->table[i] = to;
    }
}

static void operate(run *r)
{
    const uint64_t op = byte(&r->in), key = draw_key(r, &r->in);
    const uint64_t cost[2] = {draw_cost(r, &r->in, 0), r->m.limits == 2 ? draw_cost(r, &r->in, 1) : 0};
    const bool take = op % 16 < 9;
    weir_error want;
    weir_limit to;
    int i;

    draw_now(r, &r->in);
    if (op % 16 < 11) {
        weir_answer a = ask(r, r->now, key, cost, take);
        r->wait = a.outcome == WEIR_DENY ? a.retry_after : a.reset_after;
        edges(r, key, cost, a);
        next(r, key);
    } else if (op % 16 == 11) {
        want = model_refund(&r->m, r->now, key, cost);
        for (i = r->first; i <= r->last; i++) {
            same(r, policies[i].name, "refund", policies[i].refund(r->table[i], r->now, key, cost), want);
        }
    } else if (op % 16 == 12) {
        model_forget(&r->m, key);
        for (i = r->first; i <= r->last; i++) {
            policies[i].forget(r->table[i], key);
        }
    } else if (op % 16 == 13) {
        sweep(r, op / 16);
    } else if (op % 16 == 14) {
        to = draw_limit(&r->in, r->m.kind);
        want = model_relimit(&r->m, r->now, &to);
        for (i = r->first; i <= r->last; i++) {
            same(r, policies[i].name, "relimit", policies[i].relimit(r->table[i], r->now, &to), want);
        }
    }
    for (i = r->first; i <= r->last; i++) {
        if (op % 16 == 15) {
            move(r, i);
        }
        same(r, policies[i].name, "keys", policies[i].keys(r->table[i]), r->m.keys);
        same(r, policies[i].name, "horizon", policies[i].horizon(r->table[i]), r->m.horizon);
    }
}

/* Makes the tables that the program asks for, or checks that they are refused with the right word. */
static bool make(run *r)
{
    static const int kinds[] = {GCRA, SLIDINGLOG, DUALBUCKET};
    const int kind = kinds[byte(&r->in) % 3];
    const uint64_t seed = byte(&r->in);
    weir_limit limit;
    weir_error want, got;
    int i;

    r->first = kind;
    r->last = kind == GCRA ? LEAKYBUCKET : kind;
    r->m.kind = kind;
    r->m.max_keys = byte(&r->in) % (MODEL_KEYS + 1);
    limit = draw_limit(&r->in, kind);
    want = model_limit(&r->m, &limit);
    want = want == WEIR_OK && r->m.max_keys == 0 ? WEIR_ERR_MAX_KEYS : want;
    r->m.entries = limit.permits < limit.period ? limit.permits : limit.period;
    for (i = r->first; i <= r->last; i++) {
        uint64_t nothing = 0;
        same(r, policies[i].name, "size", policies[i].size(&limit, r->m.max_keys, &r->bytes[i]), want);
        if (want != WEIR_OK) {
            same(r, policies[i].name, "init", policies[i].init(&nothing, 8, &limit, r->m.max_keys, seed), want);
            same(r, policies[i].name, "block", nothing, 0);
            continue;
        }
        r->table[i] = malloc(r->bytes[i]);
        if (r->table[i] == NULL) {
            return false;
        }
        got = policies[i].init(r->table[i], r->bytes[i] - 1, &limit, r->m.max_keys, seed);
        same(r, policies[i].name, "a short init", got, WEIR_ERR_SIZE);
        got = policies[i].init(r->table[i], r->bytes[i], &limit, r->m.max_keys, seed);
        same(r, policies[i].name, "init", got, WEIR_OK);
    }
    return want == WEIR_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const run fresh;
    run r = fresh;
    int i;

    r.in.at = data;
    r.in.left = size;
    if (make(&r)) {
        while (r.in.left > 0) {
            operate(&r);
        }
    }
    for (i = 0; i < POLICIES; i++) {
        free(r.table[i]);
    }
    return 0;
}

#ifdef FUZZ_MAIN
#include "fuzz_main.h"
#endif
