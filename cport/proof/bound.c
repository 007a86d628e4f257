/* bound.c - what a whole run of requests can come to; see theorems.h. */
#include "theorems.h"

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63 && \valid_read(run + (0 .. n - 1));
    requires from <= to <= rules->horizon;
    assigns \nothing;
*/
void admits_burst_and_rate(const weir_scale *rules, uint64_t tat, const request *run, uint64_t n, uint64_t from,
                           uint64_t to)
{
    uint64_t admitted = 0, i;

    /*@ assert units(*rules, to) == units(*rules, from) + units(*rules, to - from); */
    /*@ assert 0 <= units(*rules, from) <= units(*rules, to) < P62; */
    /*@ loop invariant 0 <= i <= n && tat < P63;
        loop invariant admitted == 0 ||
            admitted * rules->permit <= \min(tat, units(*rules, to) + rules->tolerance) - units(*rules, from);
        loop assigns i, tat, admitted;
        loop variant n - i;
    */
    for (i = 0; i < n; i++) {
        /*@ ghost uint64_t before = tat; */
        const weir_decision d = weir_gcra_step(rules, &tat, run[i].now, run[i].cost);
        if (d.outcome == WEIR_ALLOW && run[i].now >= from && run[i].now <= to) {
            /*@ assert units(*rules, from) <= units(*rules, run[i].now) <= units(*rules, to); */
            /*@ assert run[i].cost > 0 ==>
                  tat == \max(before, units(*rules, run[i].now)) + run[i].cost * rules->permit &&
                  tat <= units(*rules, run[i].now) + rules->tolerance; */
            /*@ assert (admitted + run[i].cost) * rules->permit ==
                  admitted * rules->permit + run[i].cost * rules->permit; */
            admitted += run[i].cost;
            /*@ assert admitted == 0 ||
                admitted * rules->permit <= \min(tat, units(*rules, to) + rules->tolerance) - units(*rules, from); */
        } else {
            /*@ assert tat >= before; */
        }
    }
    must(admitted * rules->permit <= rules->tolerance + (to - from) * rules->tick);
}
