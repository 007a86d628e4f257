/*
 * count.c - requests without a table, each between two calls of mark, so that a trace of every instruction shows what each
 * costs: everything outside of main and mark, the compiler's helpers for products of 64 bits included. The outcomes are
 * checked here, so that what is counted is what is named. Beside that, the processor's own timer counts a thousand calls of
 * each: under `qemu -icount shift=6` an instruction takes 64 ns and the timer of a micro:bit ticks every 62.5 ns.
 */
#include <stdio.h>

#include "weir/dualbucket.h"
#include "weir/gcra.h"
#include "weir/leakybucket.h"
#include "weir/tokenbucket.h"

#include "start.h"

#define ALONE __attribute__((noinline, noclone, used))

/* SysTick: control, reload, current; it counts down, 24 bits wide. */
#define SYSTICK ((volatile uint32_t *)0xe000e010)
#define CALLS 1000

static weir_scale rules;
static weir_dualbucket_rules pair;
static uint64_t tat;
static weir_tokenbucket_state bucket;
static weir_leakybucket_state water;
static weir_dualbucket_state both;

weir_outcome gcra(uint64_t now, uint64_t cost);
weir_outcome tokenbucket(uint64_t now, uint64_t cost);
weir_outcome leakybucket(uint64_t now, uint64_t cost);
weir_outcome dualbucket(uint64_t now, uint64_t cost);
weir_outcome nothing(uint64_t now, uint64_t cost);
void mark(void);

ALONE void mark(void)
{
    __asm__ volatile("" ::: "memory");
}

ALONE weir_outcome gcra(uint64_t now, uint64_t cost)
{
    return weir_gcra_step(&rules, &tat, now, cost).outcome;
}

ALONE weir_outcome tokenbucket(uint64_t now, uint64_t cost)
{
    return weir_tokenbucket_step(&rules, &bucket, now, cost).outcome;
}

ALONE weir_outcome leakybucket(uint64_t now, uint64_t cost)
{
    return weir_leakybucket_step(&rules, &water, now, cost).outcome;
}

ALONE weir_outcome dualbucket(uint64_t now, uint64_t cost)
{
    const uint64_t costs[2] = {cost, cost};

    return weir_dualbucket_step(&pair, &both, now, costs).outcome;
}

ALONE weir_outcome nothing(uint64_t now, uint64_t cost)
{
    return cost != 0 || now != 0 ? WEIR_ALLOW : WEIR_DENY;
}

/* Ticks of the timer for CALLS requests a day apart: all of them are allowed. */
static uint32_t timed(weir_outcome (*step)(uint64_t now, uint64_t cost), int *wrong)
{
    uint64_t now = 0;
    uint32_t begin = SYSTICK[2], i;

    for (i = 0; i < CALLS; i++) {
        now += UINT64_C(86400000000000);
        *wrong |= step(now, 1) != WEIR_ALLOW;
    }
    return (begin - SYSTICK[2]) & 0xffffff;
}

static int time_all(void)
{
    int wrong = 0;
    uint32_t empty;

    SYSTICK[1] = 0xffffff;
    SYSTICK[2] = 0;
    SYSTICK[0] = 5;
    empty = timed(nothing, &wrong);
    printf("ticks nothing %lu\n", (unsigned long)empty);
    printf("ticks gcra %lu\n", (unsigned long)timed(gcra, &wrong));
    printf("ticks tokenbucket %lu\n", (unsigned long)timed(tokenbucket, &wrong));
    printf("ticks leakybucket %lu\n", (unsigned long)timed(leakybucket, &wrong));
    printf("ticks dualbucket %lu\n", (unsigned long)timed(dualbucket, &wrong));
    return wrong;
}

/* One that is allowed out of a full bucket, one allowed in debt, one denied, one too costly. */
static int four(weir_outcome (*step)(uint64_t now, uint64_t cost))
{
    static const struct {
        uint64_t now, cost;
        weir_outcome want;
    } rows[] = {
        {UINT64_C(86400000000000), 1, WEIR_ALLOW},
        {UINT64_C(86400000000003), 1, WEIR_ALLOW},
        {UINT64_C(86400000000004), 19, WEIR_DENY},
        {UINT64_C(86400000000005), 21, WEIR_TOO_COSTLY},
    };
    int wrong = 0, i;

    for (i = 0; i < 4; i++) {
        weir_outcome got;
        mark();
        got = step(rows[i].now, rows[i].cost);
        mark();
        wrong |= got != rows[i].want;
    }
    return wrong;
}

/* 3 a second in nanoseconds, burst 20: no number divides another. The second limit of the pair is 1,000 an hour. */
int main(void)
{
    const weir_limit one = {3, 1000000000, 20, 0, 0, 0};
    const weir_limit two = {3, 1000000000, 20, 1000, UINT64_C(3600000000000), 20};
    int wrong = weir_scale_init(&rules, &one) != WEIR_OK || weir_dualbucket_rules_init(&pair, &two) != WEIR_OK;

    bucket = weir_tokenbucket_fresh(&rules);
    wrong |= four(gcra) | four(tokenbucket) | four(leakybucket) | four(dualbucket);
    both.tat[0] = both.tat[1] = tat = 0;
    bucket = weir_tokenbucket_fresh(&rules);
    water = (weir_leakybucket_state){0, 0};
    wrong |= time_all();
    machine_write(wrong ? "an outcome is not what it should be\n" : "all outcomes are as they should be\n");
    return wrong;
}
