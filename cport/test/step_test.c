/*
 * step_test.c - the steps without a table, by hand: each over a state that the caller keeps, and the GCRA's over a word
 * that eight threads share.
 */
#include "check.h"

#include <string.h>

#include "weir/dualbucket.h"
#include "weir/gcra.h"
#include "weir/gcra_atomic.h"
#include "weir/hash.h"
#include "weir/leakybucket.h"
#include "weir/slidinglog.h"
#include "weir/tokenbucket.h"

#include "sources.h"

/* 3 per 1000 ticks, burst 2: whole permits and the fraction of the next are read off, and the carry is never lost. */
static void test_token_bucket(void)
{
    const weir_limit limit = {3, 1000, 2, 0, 0, 0};
    weir_tokenbucket_rules rules;
    weir_tokenbucket_state s;
    weir_tokenbucket_tokens tokens;

    SAME(weir_scale_init(&rules, &limit), WEIR_OK);
    s = weir_tokenbucket_fresh(&rules);
    SAME(weir_tokenbucket_step(&rules, &s, 0, 2).outcome, WEIR_ALLOW);
    SAME(weir_retry_after(&rules, weir_tokenbucket_step_peek(&rules, s, 1, 1)), 333);
    tokens = weir_tokenbucket_read(&rules, s, 500);
    CHECK(tokens.whole == 1 && tokens.fraction == 500 && tokens.of == 1000);
    SAME(weir_tokenbucket_step(&rules, &s, 500, 1).debt, 1500);
    s = weir_tokenbucket_step_refund(&rules, s, 400, UINT64_MAX); /* full at 400, and again owed before */
    CHECK(weir_tokenbucket_balance(&rules, s, 400) == 2000 && weir_tokenbucket_balance(&rules, s, 0) == 800);
    s = weir_tokenbucket_step_refund(&rules, s, 400, 1);
    SAME(s.last, 400);
    s = weir_tokenbucket_lacking(&rules, 5000, 100);
    tokens = weir_tokenbucket_read(&rules, s, 100);
    CHECK(s.balance == -3000 && tokens.whole == 0 && tokens.fraction == 0);
    tokens = weir_tokenbucket_read(&rules, s, UINT64_MAX);
    CHECK(tokens.whole == 2 && tokens.fraction == 0);
    SAME(weir_tokenbucket_step(&rules, &s, rules.horizon + 1, 1).outcome, WEIR_PAST_HORIZON);
    SAME(weir_tokenbucket_step(&rules, &s, 100, 0).outcome, WEIR_ALLOW);
    SAME(s.last, 100);
}

/* 1 per 10 ticks, burst 3: each of a burst is held 10 ticks longer, and they go out evenly. */
static void test_leaky_bucket(void)
{
    const weir_limit limit = {1, 10, 3, 0, 0, 0};
    weir_leakybucket_rules rules;
    weir_leakybucket_state s = {0, 0};
    uint64_t i;

    SAME(weir_scale_init(&rules, &limit), WEIR_OK);
    for (i = 0; i < 3; i++) {
        SAME(weir_delay(&rules, weir_leakybucket_step(&rules, &s, 5, 1)), 10 * i);
    }
    SAME(weir_retry_after(&rules, weir_leakybucket_step(&rules, &s, 6, 1)), 9);
    SAME(weir_delay(&rules, weir_leakybucket_step(&rules, &s, 6, 0)), 29);
    SAME(weir_delay(&rules, weir_leakybucket_step(&rules, &s, 6, 4)), 0);
    SAME(weir_leakybucket_water(&rules, s, 0), 35);
    s = weir_leakybucket_step_refund(&rules, s, 10, 1);
    CHECK(s.water == 15 && s.last == 10);
    s = weir_leakybucket_step_refund(&rules, s, 30, 9);
    CHECK(s.water == 15 && s.last == 10);
    s = weir_leakybucket_step_refund(&rules, s, 12, 9);
    CHECK(s.water == 0 && s.last == 12);
    SAME(weir_leakybucket_step(&rules, &s, rules.horizon + 1, 0).outcome, WEIR_PAST_HORIZON);
}

/* At most 5 in any 100 ticks, in a ring of the caller's that is no longer than it must be. */
static void test_sliding_log(void)
{
    const weir_limit limit = {5, 100, 0, 0, 0, 0};
    static const struct {
        uint64_t now, cost, outcome, remaining, retry_after, reset_after;
    } rows[] = {
        {0, 1, WEIR_ALLOW, 4, 0, 100},   {0, 1, WEIR_ALLOW, 3, 0, 100},   {10, 2, WEIR_ALLOW, 1, 0, 100},
        {20, 2, WEIR_DENY, 1, 80, 90},   {20, 4, WEIR_DENY, 1, 90, 90},   {20, 1, WEIR_ALLOW, 0, 0, 100},
        {99, 1, WEIR_DENY, 0, 1, 21},    {100, 2, WEIR_ALLOW, 0, 0, 100}, {50, 1, WEIR_DENY, 0, 60, 150},
        {110, 1, WEIR_ALLOW, 1, 0, 100}, {60, 1, WEIR_ALLOW, 0, 0, 150},  {60, 6, WEIR_TOO_COSTLY, 0, WEIR_NEVER, 150},
        {60, 0, WEIR_ALLOW, 0, 0, 150},  {210, 5, WEIR_ALLOW, 0, 0, 100},
    };
    weir_slidinglog_rules rules;
    weir_slidinglog_log log = {0, 0, 0, 0, 0};
    weir_slidinglog_entry ring[5];
    size_t i;

    SAME(weir_slidinglog_rules_init(&rules, &limit), WEIR_OK);
    SAME(rules.entries, 5);
    for (i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        weir_answer peeked = weir_slidinglog_step_peek(&rules, &log, ring, rows[i].now, rows[i].cost);
        weir_answer a = weir_slidinglog_step(&rules, &log, ring, rows[i].now, rows[i].cost);
        CHECK(peeked.outcome == a.outcome && peeked.retry_after == a.retry_after);
        CHECK(a.outcome == rows[i].outcome && a.remaining == rows[i].remaining);
        CHECK(a.retry_after == rows[i].retry_after && a.reset_after == rows[i].reset_after);
    }
    SAME(weir_slidinglog_step_next(&rules, &log, ring, 210), 100);
    SAME(weir_slidinglog_step_next(&rules, &log, ring, 310), 0);
    SAME(weir_slidinglog_step_next(&rules, &log, ring, WEIR_SLIDINGLOG_HORIZON + 1), 0);
    weir_slidinglog_step_refund(&rules, &log, ring, 210, 2);
    SAME(weir_slidinglog_step_peek(&rules, &log, ring, 210, 0).remaining, 2);
    weir_slidinglog_step_refund(&rules, &log, ring, 210, UINT64_MAX);
    CHECK(log.count == 0 && weir_slidinglog_idle(&rules, &log, 0));
}

/* A ring that is used up, one permit a tick, goes round many times, and never holds more than it has room for. */
static void test_ring(void)
{
    const weir_limit limit = {1000, 7, 0, 0, 0, 0};
    weir_slidinglog_rules rules;
    weir_slidinglog_log log = {0, 0, 0, 0, 0};
    weir_slidinglog_entry ring[7];
    uint64_t now;

    SAME(weir_slidinglog_rules_init(&rules, &limit), WEIR_OK);
    log.total = log.spent = UINT64_MAX - 50; /* totals wrap on the way */
    for (now = 0; now < 10000; now++) {
        weir_answer a = weir_slidinglog_step(&rules, &log, ring, now, 1 + now % 3);
        SAME(a.outcome, WEIR_ALLOW);
        CHECK(log.count <= 7 && log.head < 7);
        SAME(log.count, now < 7 ? now + 1 : 7);
    }
}

/* 1 per 10 ticks, burst 2, and 1 per 100, burst 5: both are charged or neither is. */
static void test_dual_bucket(void)
{
    const weir_limit limit = {1, 10, 2, 1, 100, 5};
    const uint64_t one[2] = {1, 1}, second[2] = {0, 3}, dear[2] = {3, 0};
    weir_dualbucket_rules rules;
    weir_dualbucket_state s = {{0, 0}};
    weir_answer a;

    SAME(weir_dualbucket_rules_init(&rules, &limit), WEIR_OK);
    SAME(weir_dualbucket_step(&rules, &s, 7, one).outcome, WEIR_ALLOW);
    SAME(weir_dualbucket_step(&rules, &s, 7, one).outcome, WEIR_ALLOW);
    a = weir_dualbucket_answer_of(&rules, weir_dualbucket_step(&rules, &s, 7, one));
    CHECK(a.outcome == WEIR_DENY && a.binding == WEIR_FIRST && a.retry_after == 10 && a.reset_after == 200);
    a = weir_dualbucket_answer_of(&rules, weir_dualbucket_step(&rules, &s, 8, second));
    CHECK(a.outcome == WEIR_ALLOW && a.binding == WEIR_FIRST && a.remaining == 0 && s.tat[0] == 27);
    a = weir_dualbucket_answer_of(&rules, weir_dualbucket_step(&rules, &s, 28, one));
    CHECK(a.outcome == WEIR_DENY && a.binding == WEIR_SECOND && a.retry_after == 79 && s.tat[0] == 27);
    a = weir_dualbucket_answer_of(&rules, weir_dualbucket_step(&rules, &s, 28, dear));
    CHECK(a.outcome == WEIR_TOO_COSTLY && a.retry_after == WEIR_NEVER && a.binding == WEIR_FIRST);
    weir_dualbucket_step_refund(&rules, &s, 28, dear);
    CHECK(s.tat[0] == 27 && s.tat[1] == 507);
    a = weir_dualbucket_answer_of(&rules, weir_dualbucket_step(&rules, &s, rules.horizon + 1, one));
    CHECK(a.outcome == WEIR_PAST_HORIZON && a.retry_after == WEIR_NEVER && a.remaining == 0);
}

/* Where there is no table there are no rules either, and everything that may be asked of the decision has its answer. */
static void test_no_table(void)
{
    const uint64_t one[2] = {1, 1};
    const weir_decision d = weir_gcra_take(NULL, 0, 7, 1);
    const weir_dualbucket_decision dual = weir_dualbucket_take(NULL, 0, 7, one);
    weir_answer a = weir_answer_of(weir_gcra_rules_of(NULL), d);

    CHECK(a.outcome == WEIR_NONE && a.remaining == 0 && a.retry_after == WEIR_NEVER && a.reset_after == 0);
    SAME(weir_next(weir_gcra_rules_of(NULL), d), 0);
    a = weir_dualbucket_answer_of(weir_dualbucket_rules_of(NULL), dual);
    CHECK(a.outcome == WEIR_NONE && a.remaining == 0 && a.retry_after == WEIR_NEVER && a.reset_after == 0);
    SAME(weir_dualbucket_next(weir_dualbucket_rules_of(NULL), dual), 0);
}

/*
 * What a language asks that cannot include the header: by hand, 2 of 5 spent at 1 per 10 ticks leave 3 and reset after
 * 20; 2 of 2 per 10 ticks beside 1 per 100, burst 5, leave none of the first.
 */
static void test_filled_answers(void)
{
    const weir_limit limit = {1, 10, 5, 0, 0, 0}, two = {1, 10, 2, 1, 100, 5};
    const uint64_t both[2] = {2, 1}, second_six[2] = {0, 6};
    weir_scale scale;
    weir_dualbucket_rules rules;
    weir_dualbucket_state s = {{0, 0}};
    weir_dualbucket_decision dual;
    weir_decision d;
    weir_answer a = {WEIR_UNAVAILABLE, WEIR_FIRST, 1, 2, 3, 4};
    uint64_t tat = 0;

    SAME(weir_scale_init(&scale, &limit), WEIR_OK);
    SAME(weir_dualbucket_rules_init(&rules, &two), WEIR_OK);
    d = weir_gcra_step(&scale, &tat, 7, 2);
    dual = weir_dualbucket_step(&rules, &s, 7, both);
    SAME(weir_answer_fill(NULL, &d, &a), WEIR_ERR_NULL);
    SAME(weir_answer_fill(&scale, NULL, &a), WEIR_ERR_NULL);
    SAME(weir_answer_fill(&scale, &d, NULL), WEIR_ERR_NULL);
    SAME(weir_dualbucket_answer_fill(NULL, &dual, &a), WEIR_ERR_NULL);
    SAME(weir_dualbucket_answer_fill(&rules, NULL, &a), WEIR_ERR_NULL);
    SAME(weir_dualbucket_answer_fill(&rules, &dual, NULL), WEIR_ERR_NULL);
    CHECK(a.outcome == WEIR_UNAVAILABLE && a.remaining == 1 && a.retry_after == 2 && a.reset_after == 3 && a.delay == 4);
    SAME(weir_answer_fill(&scale, &d, &a), WEIR_OK);
    CHECK(a.outcome == WEIR_ALLOW && a.binding == WEIR_FIRST && a.remaining == 3);
    CHECK(a.retry_after == 0 && a.reset_after == 20 && a.delay == 0);
    d = weir_gcra_step(&scale, &tat, 7, 4);
    SAME(weir_answer_fill(&scale, &d, &a), WEIR_OK);
    CHECK(a.outcome == WEIR_DENY && a.remaining == 3 && a.retry_after == 10 && a.reset_after == 20 && a.delay == 0);
    SAME(weir_dualbucket_answer_fill(&rules, &dual, &a), WEIR_OK);
    CHECK(a.outcome == WEIR_ALLOW && a.binding == WEIR_FIRST && a.remaining == 0);
    CHECK(a.retry_after == 0 && a.reset_after == 100 && a.delay == 0);
    dual = weir_dualbucket_step(&rules, &s, 40, second_six);
    SAME(weir_dualbucket_answer_fill(&rules, &dual, &a), WEIR_OK);
    CHECK(a.outcome == WEIR_TOO_COSTLY && a.binding == WEIR_SECOND && a.retry_after == WEIR_NEVER);
}

/* The hashes' published numbers; more of them are asked for from Go. */
static void test_hashes(void)
{
    unsigned char bytes[64], key[16];
    unsigned i;

    for (i = 0; i < 64; i++) {
        bytes[i] = (unsigned char)i;
        key[i % 16] = (unsigned char)(i % 16);
    }
    SAME(weir_xxh64(NULL, 0, 0), UINT64_C(0xEF46DB3751D8E999));
    SAME(weir_xxh64("abc", 3, 0), UINT64_C(0x44BC2CF5AD770999));
    CHECK(weir_mix32(0) == 0 && weir_mix32(1) == UINT32_C(0x514E28B7));
    SAME(weir_siphash(NULL, 0, key), UINT64_C(0x726fdb47dd0e0e31));
    SAME(weir_siphash(bytes, 15, key), UINT64_C(0xa129ca6149be45e5));
    CHECK(weir_siphash("user:00000000042", 16, key) !=
          weir_siphash("\x55\x80\x66\x0a\x38\xe5\xa7\x0f\x30\x30\x30\x30\xdf\x7b\xc1\x48", 16, key));
    SAME(weir_xxh64("user:00000000042", 16, 9),
         weir_xxh64("\x55\x80\x66\x0a\x38\xe5\xa7\x0f\x30\x30\x30\x30\xdf\x7b\xc1\x48", 16, 9));
}

#if defined(ATOMIC_VAR_INIT) || defined(atomic_load_explicit)
/* One after the other, so that the test needs no threads: atomic_test.c has them. */
static void test_atomic(void)
{
    const weir_limit limit = {1, 10, 2, 0, 0, 0};
    weir_gcra_rules rules;
    _Atomic uint64_t tat = 0;

    SAME(weir_scale_init(&rules, &limit), WEIR_OK);
    SAME(weir_gcra_take_atomic(&rules, &tat, 5, 2).outcome, WEIR_ALLOW);
    SAME(weir_gcra_take_atomic(&rules, &tat, 5, 1).outcome, WEIR_DENY);
    SAME(weir_gcra_take_atomic(&rules, &tat, 5, 0).outcome, WEIR_ALLOW);
    SAME(weir_gcra_peek_atomic(&rules, &tat, 15, 1).outcome, WEIR_ALLOW);
    weir_gcra_refund_atomic(&rules, &tat, 5, 1);
    SAME(weir_gcra_take_atomic(&rules, &tat, 5, 1).outcome, WEIR_ALLOW);
    weir_gcra_refund_atomic(&rules, &tat, 100, 1);
    SAME(tat, 25);
}
#endif

int main(void)
{
    test_token_bucket();
    test_leaky_bucket();
    test_sliding_log();
    test_ring();
    test_dual_bucket();
    test_filled_answers();
    test_no_table();
    test_hashes();
#if defined(ATOMIC_VAR_INIT) || defined(atomic_load_explicit)
    test_atomic();
#endif
    return failures != 0;
}
