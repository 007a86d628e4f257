/* equal.c - the three meters are one: GCRA, token bucket and leaky bucket answer alike, by the call and by the run. */
#include "theorems.h"

/*@ requires \valid_read(rules) && in_range(*rules) && a_balance(*rules, bucket) && tat == balance_tat(*rules, bucket);
    assigns \nothing;
*/
void equal_step_gcra_tokenbucket(const weir_scale *rules, uint64_t tat, weir_tokenbucket_state bucket, uint64_t now,
                                 uint64_t cost)
{
    const weir_decision peeked = weir_gcra_step_peek(rules, tat, now, cost);
    const weir_decision seen = weir_tokenbucket_step_peek(rules, bucket, now, cost);
    const weir_decision left = weir_gcra_step(rules, &tat, now, cost);
    const weir_decision right = weir_tokenbucket_step(rules, &bucket, now, cost);

    must(peeked.outcome == seen.outcome && peeked.debt == seen.debt && peeked.wait == seen.wait);
    must(left.outcome == right.outcome && left.debt == right.debt && left.wait == right.wait);
    must(left.outcome == peeked.outcome && left.wait == peeked.wait);
    must(stands_for_balance(rules, tat, bucket));
}

/*@ requires \valid_read(rules) && in_range(*rules) && a_water(*rules, bucket) && tat == water_tat(*rules, bucket);
    assigns \nothing;
*/
void equal_step_gcra_leakybucket(const weir_scale *rules, uint64_t tat, weir_leakybucket_state bucket, uint64_t now,
                                 uint64_t cost)
{
    const weir_decision peeked = weir_gcra_step_peek(rules, tat, now, cost);
    const weir_decision seen = weir_leakybucket_step_peek(rules, bucket, now, cost);
    const weir_decision left = weir_gcra_step(rules, &tat, now, cost);
    const weir_decision right = weir_leakybucket_step(rules, &bucket, now, cost);

    must(peeked.outcome == seen.outcome && peeked.debt == seen.debt);
    must(left.outcome == right.outcome && left.debt == right.debt);
    must(left.outcome == WEIR_ALLOW ? left.wait == 0 && right.wait == peeked.debt : left.wait == right.wait);
    must(stands_for_water(rules, tat, bucket));
}

/*@ requires \valid_read(rules) && in_range(*rules) && a_balance(*rules, bucket) && tat == balance_tat(*rules, bucket);
    requires now <= rules->horizon;
    assigns \nothing;
*/
void equal_refund_gcra_tokenbucket(const weir_scale *rules, uint64_t tat, weir_tokenbucket_state bucket, uint64_t now,
                                   uint64_t cost)
{
    must(stands_for_balance(rules, weir_gcra_step_refund(rules, tat, now, cost),
                            weir_tokenbucket_step_refund(rules, bucket, now, cost)));
}

/*@ requires \valid_read(rules) && in_range(*rules) && a_water(*rules, bucket) && tat == water_tat(*rules, bucket);
    requires now <= rules->horizon;
    assigns \nothing;
*/
void equal_refund_gcra_leakybucket(const weir_scale *rules, uint64_t tat, weir_leakybucket_state bucket, uint64_t now,
                                   uint64_t cost)
{
    must(stands_for_water(rules, weir_gcra_step_refund(rules, tat, now, cost),
                          weir_leakybucket_step_refund(rules, bucket, now, cost)));
}

/*@ requires \valid_read(rules) && in_range(*rules) && \valid_read(run + (0 .. n - 1));
    assigns \nothing;
*/
void equal_runs(const weir_scale *rules, const request *run, uint64_t n)
{
    weir_tokenbucket_state balance = weir_tokenbucket_fresh(rules);
    weir_leakybucket_state water = {0, 0};
    uint64_t tat = 0, i;

    /*@ loop invariant 0 <= i <= n && tat < P63;
        loop invariant a_balance(*rules, balance) && tat == balance_tat(*rules, balance);
        loop invariant a_water(*rules, water) && tat == water_tat(*rules, water);
        loop assigns i, tat, balance, water;
        loop variant n - i;
    */
    for (i = 0; i < n; i++) {
        if (run[i].refund && run[i].now <= rules->horizon) {
            tat = weir_gcra_step_refund(rules, tat, run[i].now, run[i].cost);
            balance = weir_tokenbucket_step_refund(rules, balance, run[i].now, run[i].cost);
            water = weir_leakybucket_step_refund(rules, water, run[i].now, run[i].cost);
            must(stands_for_balance(rules, tat, balance) && stands_for_water(rules, tat, water));
        } else {
            const weir_decision g = weir_gcra_step(rules, &tat, run[i].now, run[i].cost);
            const weir_decision t = weir_tokenbucket_step(rules, &balance, run[i].now, run[i].cost);
            const weir_decision l = weir_leakybucket_step(rules, &water, run[i].now, run[i].cost);
            must(g.outcome == t.outcome && g.debt == t.debt && g.wait == t.wait);
            must(g.outcome == l.outcome && g.debt == l.debt && (g.outcome == WEIR_ALLOW || g.wait == l.wait));
            must(stands_for_balance(rules, tat, balance) && stands_for_water(rules, tat, water));
        }
    }
}
