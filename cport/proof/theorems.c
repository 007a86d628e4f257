/* theorems.c - what one key is answered; see theorems.h. */
#include "theorems.h"

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63;
    assigns \nothing;
*/
void retry_after_exact(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks)
{
    const weir_decision first = weir_gcra_step(rules, &tat, now, cost);
    const uint64_t wait = weir_retry_after(rules, first);

    if (first.outcome == WEIR_DENY && ticks >= wait && now <= rules->horizon && ticks <= rules->horizon - now) {
        must(weir_gcra_step(rules, &tat, now + ticks, cost).outcome == WEIR_ALLOW);
    }
}

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63;
    assigns \nothing;
*/
void retry_after_tight(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks)
{
    const weir_decision first = weir_gcra_step(rules, &tat, now, cost);
    const uint64_t wait = weir_retry_after(rules, first);

    must((wait == 0) == (first.outcome == WEIR_ALLOW));
    if (first.outcome == WEIR_DENY && ticks < wait && now <= rules->horizon && ticks <= rules->horizon - now) {
        /*@ assert units(*rules, now + ticks) == units(*rules, now) + units(*rules, ticks); */
        /*@ assert units(*rules, ticks) < first.wait; */
        must(weir_gcra_step(rules, &tat, now + ticks, cost).outcome == WEIR_DENY);
    }
}

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63;
    assigns \nothing;
*/
void retry_after_never(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks)
{
    const weir_decision first = weir_gcra_step(rules, &tat, now, cost);

    must((weir_retry_after(rules, first) == WEIR_NEVER) == (first.outcome != WEIR_ALLOW && first.outcome != WEIR_DENY));
    if (first.outcome == WEIR_TOO_COSTLY && now <= rules->horizon && ticks <= rules->horizon - now) {
        must(weir_gcra_step(rules, &tat, now + ticks, cost).outcome == WEIR_TOO_COSTLY);
    }
}

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63;
    requires now <= rules->horizon && ticks <= rules->horizon - now;
    assigns \nothing;
*/
void reset_after_exact(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks,
                       uint64_t next)
{
    const uint64_t reset = weir_reset_after(rules, weir_gcra_step(rules, &tat, now, cost));
    weir_decision old, new;
    uint64_t fresh = 0;

    if (ticks < reset) {
        return;
    }
    old = weir_gcra_step(rules, &tat, now + ticks, next);
    new = weir_gcra_step(rules, &fresh, now + ticks, next);
    must(old.outcome == new.outcome);
    must(old.debt == new.debt);
    must(old.wait == new.wait);
    must(tat == fresh || weir_gcra_debt(rules, tat, now + ticks) == 0);
}

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63;
    requires now <= rules->horizon && ticks <= rules->horizon - now;
    assigns \nothing;
*/
void reset_after_tight(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks)
{
    const uint64_t reset = weir_reset_after(rules, weir_gcra_step(rules, &tat, now, cost));

    if (ticks < reset) {
        must(weir_gcra_step_peek(rules, tat, now + ticks, rules->burst).outcome == WEIR_DENY);
        must(weir_gcra_step_peek(rules, 0, now + ticks, rules->burst).outcome == WEIR_ALLOW);
    }
}

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63 && now <= rules->horizon;
    assigns \nothing;
*/
void remaining_largest(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t more)
{
    const uint64_t remaining = weir_remaining(rules, weir_gcra_step(rules, &tat, now, cost));

    must(remaining <= rules->burst);
    must((weir_gcra_step(rules, &tat, now, more).outcome == WEIR_ALLOW) == (more <= remaining));
}

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63;
    requires now <= rules->horizon && ticks <= rules->horizon - now;
    assigns \nothing;
*/
void next_exact(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks)
{
    const weir_decision d = weir_gcra_step(rules, &tat, now, cost);
    const uint64_t next = weir_next(rules, d), remaining = weir_remaining(rules, d);
    const uint64_t later = weir_remaining(rules, weir_gcra_step_peek(rules, tat, now + ticks, 0));

    if (next > 0 && ticks >= next) {
        /*@ assert d.debt == debt(*rules, tat, now) && d.debt == tat - units(*rules, now); */
        /*@ assert ceiling(next, d.debt + (remaining + 1) * rules->permit - rules->tolerance, rules->tick); */
        /*@ assert units(*rules, ticks) >= d.debt + (remaining + 1) * rules->permit - rules->tolerance; */
        /*@ assert units(*rules, now + ticks) == units(*rules, now) + units(*rules, ticks); */
        /*@ assert debt(*rules, tat, now + ticks) <= rules->tolerance - (remaining + 1) * rules->permit; */
        must(later > remaining);
    }
}

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63;
    requires now <= rules->horizon && ticks <= rules->horizon - now;
    assigns \nothing;
*/
void next_tight(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks)
{
    const weir_decision d = weir_gcra_step(rules, &tat, now, cost);
    const uint64_t next = weir_next(rules, d), remaining = weir_remaining(rules, d);
    const uint64_t later = weir_remaining(rules, weir_gcra_step_peek(rules, tat, now + ticks, 0));

    /*@ assert d.debt == debt(*rules, tat, now); */
    /*@ assert units(*rules, now + ticks) == units(*rules, now) + units(*rules, ticks); */
    if (next == 0) {
        must(d.debt == 0 && later == remaining);
    } else if (ticks < next) {
        /*@ assert ceiling(next, d.debt + (remaining + 1) * rules->permit - rules->tolerance, rules->tick); */
        /*@ assert units(*rules, ticks) < d.debt + (remaining + 1) * rules->permit - rules->tolerance; */
        /*@ assert d.debt == tat - units(*rules, now); */
        /*@ assert debt(*rules, tat, now + ticks) >= tat - units(*rules, now) - units(*rules, ticks); */
        /*@ assert debt(*rules, tat, now + ticks) > rules->tolerance - (remaining + 1) * rules->permit; */
        /*@ assert debt(*rules, tat, now + ticks) <= d.debt; */
        must(later == remaining);
    }
}

/*@ requires \valid_read(rules) && in_range(*rules) && a_water(*rules, state);
    requires now <= rules->horizon && ticks <= rules->horizon - now;
    assigns \nothing;
*/
void delay_exact(const weir_scale *rules, weir_leakybucket_state state, uint64_t now, uint64_t cost, uint64_t ticks)
{
    const weir_leakybucket_state before = state;
    const weir_decision d = weir_leakybucket_step(rules, &state, now, cost);
    const uint64_t delay = weir_delay(rules, d);

    must(d.outcome == WEIR_ALLOW || delay == 0);
    if (d.outcome == WEIR_ALLOW && ticks >= delay) {
        /*@ assert d.wait == debt(*rules, water_tat(*rules, before), now) && d.wait <= units(*rules, ticks); */
        /*@ assert units(*rules, now + ticks) == units(*rules, now) + units(*rules, ticks); */
        must(weir_leakybucket_water(rules, before, now + ticks) == 0);
    }
}

/*@ requires \valid_read(rules) && in_range(*rules) && a_water(*rules, state);
    requires now <= rules->horizon && ticks <= rules->horizon - now;
    assigns \nothing;
*/
void delay_tight(const weir_scale *rules, weir_leakybucket_state state, uint64_t now, uint64_t cost, uint64_t ticks)
{
    const weir_leakybucket_state before = state;
    const weir_decision d = weir_leakybucket_step(rules, &state, now, cost);

    if (ticks < weir_delay(rules, d)) {
        /*@ assert d.wait == debt(*rules, water_tat(*rules, before), now) && units(*rules, ticks) < d.wait; */
        /*@ assert units(*rules, now + ticks) == units(*rules, now) + units(*rules, ticks); */
        must(weir_leakybucket_water(rules, before, now + ticks) > 0);
    }
}
