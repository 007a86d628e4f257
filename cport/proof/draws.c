/*
 * draws.c - the same theorems, run: on every small argument and on a million drawn ones, where a theorem that does not
 * hold shows a counterexample and one whose `requires` nothing meets shows itself by holding nowhere. What a contract
 * says of a step is here once more, in 128 bits, so that a wrong contract is found as well as a wrong step.
 *
 *     draws            all theorems, a line each; exit 1 if any is refuted
 *     draws NAME       one
 */
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "theorems_all.h"

__extension__ typedef __int128 wide;

static jmp_buf refuted;
static uint64_t held;
static uint64_t seed = UINT64_C(0x9e3779b97f4a7c15);

void must(bool holds)
{
    if (!holds) {
        longjmp(refuted, 1);
    }
    held++;
}

/* ---- Arguments ---- */

typedef struct arguments {
    weir_scale rules;
    uint64_t tat, last, now, cost, ticks, more, from, to;
    request run[6];
} arguments;

static uint64_t next_word(void)
{
    uint64_t z;

    seed += UINT64_C(0x9e3779b97f4a7c15);
    z = seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* A number from low to high, of any magnitude or near either end. */
static uint64_t between(uint64_t low, uint64_t high)
{
    const uint64_t room = high - low, way = next_word() % 4;
    uint64_t x = way == 0 ? next_word() % 4 : next_word() >> (next_word() % 64);

    x = x > room ? room : x;
    return way == 1 ? high - x : low + x;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A cost near what is spare, near the burst, or any number. */
static uint64_t draw_cost(const arguments *a)
{
    const uint64_t s = less(a->now, a->rules.horizon) * a->rules.tick;
    const uint64_t owed = a->tat > s ? a->tat - s : 0;
    const uint64_t fits = owed < a->rules.tolerance ? (a->rules.tolerance - owed) / a->rules.permit : 0;

    switch (next_word() % 4) {
    case 0:
        return next_word();
    case 1:
        return between(fits > 1 ? fits - 1 : 0, fits + 1);
    default:
        return between(0, a->rules.burst + 1);
    }
}

static void draw_rules(weir_scale *rules)
{
    rules->tick = between(1, P62 - 1);
    rules->permit = between(1, P62 - 1);
    rules->burst = between(1, (P62 - 1) / rules->permit);
    rules->tolerance = rules->burst * rules->permit;
    rules->horizon = (P62 - 1) / rules->tick;
}

/* Any arguments; where theorems must meet, ticks are near a wait and runs are near their key's schedule. */
static void draw(arguments *a)
{
    const weir_scale *rules = &a->rules;
    weir_decision d;
    uint64_t s, near;
    size_t i;

    draw_rules(&a->rules);
    a->now = next_word() % 16 == 0 ? next_word() : between(0, rules->horizon);
    s = less(a->now, rules->horizon) * rules->tick;
    a->tat = next_word() % 2 == 0 ? between(0, P63 - 1) : less(between(s, s + rules->tolerance + 2), P63 - 1);
    a->last = between(0, less(rules->horizon, a->tat / rules->tick));
    a->cost = draw_cost(a);
    a->more = draw_cost(a);
    d = weir_gcra_step_peek(rules, a->tat, a->now, a->cost);
    near = weir_scale_ticks(rules, next_word() % 2 == 0 && d.wait != NEVER ? d.wait : d.debt);
    a->ticks = less(next_word() % 2 == 0 ? between(near > 1 ? near - 1 : 0, near + 1) : next_word(),
                    rules->horizon - less(a->now, rules->horizon));
    a->from = between(0, rules->horizon);
    a->to = between(a->from, rules->horizon);
    for (i = 0; i < sizeof a->run / sizeof a->run[0]; i++) {
        a->run[i].now = i > 0 && next_word() % 2 == 0 ? a->run[i - 1].now : between(a->from, rules->horizon);
        a->run[i].cost = draw_cost(a);
        a->run[i].refund = next_word() % 4 == 0;
    }
}

/* The n-th of the small arguments; false where there are no more. */
static bool small(arguments *a, uint64_t n)
{
    static const uint64_t sides[] = {3, 3, 3, 14, 4, 5, 5, 4};
    uint64_t at[8];
    size_t i;

    for (i = 0; i < 8; i++) {
        at[i] = n % sides[i];
        n /= sides[i];
    }
    draw(a);
    a->rules.tick = at[0] + 1;
    a->rules.permit = at[1] + 1;
    a->rules.burst = at[2] + 1;
    a->rules.tolerance = a->rules.burst * a->rules.permit;
    a->rules.horizon = 20;
    a->tat = at[3];
    a->now = at[4];
    a->cost = at[5];
    a->ticks = at[6];
    a->last = less(at[7], a->tat / a->rules.tick);
    a->more = next_word() % 5;
    a->from = next_word() % 4;
    a->to = a->from + next_word() % 8;
    for (i = 0; i < 6; i++) {
        a->run[i].now = next_word() % 16;
        a->run[i].cost = next_word() % 4;
    }
    return n == 0;
}

/* ---- The contracts in 128 bits ---- */

static wide wide_debt(const arguments *a)
{
    const wide debt = (wide)a->tat - (wide)a->now * a->rules.tick;
    return debt > 0 ? debt : 0;
}

/* What a step must decide, by the page; ahead is the wait of an allowed request. */
static void must_judge(const arguments *a, weir_decision d, bool spent, wide ahead)
{
    const wide spare = (wide)a->rules.tolerance - (wide)a->cost * a->rules.permit;
    const wide debt = wide_debt(a);

    if (a->now > a->rules.horizon) {
        must(d.outcome == WEIR_PAST_HORIZON && d.debt == 0 && d.wait == WEIR_NEVER);
    } else if (a->cost > a->rules.burst) {
        must(d.outcome == WEIR_TOO_COSTLY && d.debt == debt && d.wait == WEIR_NEVER);
    } else if (a->cost == 0 || debt <= spare) {
        must(d.outcome == WEIR_ALLOW && d.wait == ahead);
        must(d.debt == debt + (spent ? (wide)a->cost * a->rules.permit : 0));
    } else {
        must(d.outcome == WEIR_DENY && d.debt == debt && d.wait == debt - spare);
    }
}

/* The TAT after a step that decided d. */
static wide after_step(const arguments *a, weir_decision d)
{
    const bool spent = d.outcome == WEIR_ALLOW && a->cost > 0;
    return spent ? (wide)a->now * a->rules.tick + d.debt : (wide)a->tat;
}

/* The TAT after a refund, by the page. */
static wide after_refund(const arguments *a)
{
    const wide debt = wide_debt(a), left = debt - (wide)a->cost * a->rules.permit;
    return debt == 0 ? (wide)a->tat : (wide)a->now * a->rules.tick + (left > 0 ? left : 0);
}

static weir_tokenbucket_state balance_of(const arguments *a)
{
    weir_tokenbucket_state b = {0, 0};

    b.last = a->last;
    b.balance = (int64_t)(a->rules.tolerance - (a->tat - a->last * a->rules.tick));
    return b;
}

static weir_leakybucket_state water_of(const arguments *a)
{
    weir_leakybucket_state b = {0, 0};

    b.last = a->last;
    b.water = a->tat - a->last * a->rules.tick;
    return b;
}

static void quotients(const arguments *a)
{
    const weir_scale *s = &a->rules;
    const uint64_t ticks = weir_scale_ticks(s, a->more), left = weir_scale_remaining(s, a->tat);
    const wide spare = a->tat < s->tolerance ? s->tolerance - a->tat : 0;
    weir_decision d = {0, 0, WEIR_DENY};

    must((wide)ticks * s->tick >= a->more && (ticks == 0 || ((wide)ticks - 1) * s->tick < a->more));
    must((wide)left * s->permit <= spare && ((wide)left + 1) * s->permit > spare);
    d.debt = a->tat;
    d.wait = a->more;
    must(weir_next(s, d) == (d.debt == 0 ? 0 : weir_scale_ticks(s, d.debt + (left + 1) * s->permit - s->tolerance)));
    must(weir_answer_of(s, d).retry_after == ticks && weir_answer_of(s, d).remaining == left);
}

static void gcra_step(const arguments *a)
{
    uint64_t tat = a->tat;

    must_judge(a, weir_gcra_step_peek(&a->rules, tat, a->now, a->cost), false, 0);
    const weir_decision d = weir_gcra_step(&a->rules, &tat, a->now, a->cost);
    must_judge(a, d, true, 0);
    must(tat == after_step(a, d) && tat < P63);
    if (a->now <= a->rules.horizon) {
        must(weir_gcra_step_refund(&a->rules, a->tat, a->now, a->cost) == after_refund(a));
    }
}

static void tokenbucket_step(const arguments *a)
{
    weir_tokenbucket_state b = balance_of(a);

    must_judge(a, weir_tokenbucket_step_peek(&a->rules, b, a->now, a->cost), false, 0);
    const weir_decision d = weir_tokenbucket_step(&a->rules, &b, a->now, a->cost);
    must_judge(a, d, true, 0);
    must((wide)b.last * a->rules.tick + a->rules.tolerance - b.balance == after_step(a, d));
    if (a->now <= a->rules.horizon) {
        b = weir_tokenbucket_step_refund(&a->rules, balance_of(a), a->now, a->cost);
        must((wide)b.last * a->rules.tick + a->rules.tolerance - b.balance == after_refund(a));
    }
}

static void leakybucket_step(const arguments *a)
{
    weir_leakybucket_state b = water_of(a);

    must_judge(a, weir_leakybucket_step_peek(&a->rules, b, a->now, a->cost), false, wide_debt(a));
    const weir_decision d = weir_leakybucket_step(&a->rules, &b, a->now, a->cost);
    must_judge(a, d, true, wide_debt(a));
    must((wide)b.last * a->rules.tick + b.water == after_step(a, d));
    if (a->now <= a->rules.horizon) {
        b = weir_leakybucket_step_refund(&a->rules, water_of(a), a->now, a->cost);
        must((wide)b.last * a->rules.tick + b.water == after_refund(a));
    }
}

/* Any limit that is accepted is in range. */
static void limit_in_range(const arguments *a)
{
    weir_limit limit = {0, 0, 0, 0, 0, 0};
    weir_scale s;

    limit.permits = a->rules.tick;
    limit.period = a->more;
    limit.burst = a->rules.burst;
    if (weir_scale_init(&s, &limit) == WEIR_OK) {
        must(s.tick >= 1 && s.tick < P62 && s.permit >= 1 && s.burst == limit.burst && s.burst >= 1);
        must((wide)s.burst * s.permit == s.tolerance && s.tolerance < P62);
        must((wide)s.horizon * s.tick < P62 && ((wide)s.horizon + 1) * s.tick >= P62);
    }
}

#include "draws_table.h"
