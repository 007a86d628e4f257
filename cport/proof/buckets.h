/* buckets.h - what the functions of tokenbucket.h and leakybucket.h promise, in ACSL; see contracts.h. */
#ifndef WEIR_PROOF_BUCKETS_H
#define WEIR_PROOF_BUCKETS_H

#include "contracts.h"
#include "weir/leakybucket.h"
#include "weir/tokenbucket.h"

/*@
  // The TAT that a bucket stands for.
  logic integer balance_tat(weir_scale s, weir_tokenbucket_state b) = b.last * s.tick + s.tolerance - b.balance;
  logic integer water_tat(weir_scale s, weir_leakybucket_state b) = b.last * s.tick + b.water;

  // The states that a bucket can have: those that stand for a TAT below 2^63. A balance may be below zero.
  predicate a_balance(weir_scale s, weir_tokenbucket_state b) =
    b.last <= s.horizon && b.balance <= s.tolerance && balance_tat(s, b) < P63;
  predicate a_water(weir_scale s, weir_leakybucket_state b) = b.last <= s.horizon && water_tat(s, b) < P63;

  logic integer balance(weir_scale s, weir_tokenbucket_state b, integer now) =
    \min(s.tolerance, b.balance + (now - b.last) * s.tick);
  logic integer missing(weir_scale s, weir_tokenbucket_state b, integer now) = s.tolerance - balance(s, b, now);
  logic integer water(weir_scale s, weir_leakybucket_state b, integer now) =
    \max(0, b.water - (now - b.last) * s.tick);
*/

/* ---- tokenbucket.h ---- */

/*@ requires \valid_read(rules) && in_range(*rules);
    assigns \nothing;
    ensures \result.balance == rules->tolerance && \result.last == 0 && a_balance(*rules, \result);
    ensures balance_tat(*rules, \result) == 0;
*/
static inline weir_tokenbucket_state weir_tokenbucket_fresh(const weir_tokenbucket_rules *rules);

/*@ requires \valid_read(rules) && in_range(*rules) && a_balance(*rules, state) && now <= rules->horizon;
    assigns \nothing;
    ensures \result == balance(*rules, state, now) && \result <= rules->tolerance;
    ensures rules->tolerance - \result < P63;
*/
static inline int64_t weir_tokenbucket_balance(const weir_tokenbucket_rules *rules, weir_tokenbucket_state state,
                                               uint64_t now);

/*@ requires \valid_read(rules) && in_range(*rules) && a_balance(*rules, state) && now <= rules->horizon;
    assigns \nothing;
    ensures \result == missing(*rules, state, now) && \result < P63;
    ensures \result == debt(*rules, balance_tat(*rules, state), now);
*/
static inline uint64_t weir_tokenbucket_missing(const weir_tokenbucket_rules *rules, weir_tokenbucket_state state,
                                                uint64_t now);

/*@ requires \valid_read(rules) && in_range(*rules) && now <= rules->horizon && missing < P63;
    requires units(*rules, now) + missing < P63;
    assigns \nothing;
    ensures \result.last == now && \result.balance == rules->tolerance - missing && a_balance(*rules, \result);
    ensures balance_tat(*rules, \result) == units(*rules, now) + missing;
*/
static inline weir_tokenbucket_state weir_tokenbucket_lacking(const weir_tokenbucket_rules *rules, uint64_t missing,
                                                              uint64_t now);

/*@ requires \valid_read(rules) && in_range(*rules) && a_balance(*rules, state);
    assigns \nothing;
    ensures floored(\result.whole, \max(0, balance(*rules, state, \min(now, rules->horizon))), rules->permit);
    ensures \result.whole * rules->permit + \result.fraction ==
              \max(0, balance(*rules, state, \min(now, rules->horizon)));
    ensures \result.of == rules->permit && \result.fraction < \result.of;
*/
static inline weir_tokenbucket_tokens weir_tokenbucket_read(const weir_tokenbucket_rules *rules,
                                                            weir_tokenbucket_state state, uint64_t now);

/*@ requires \valid_read(rules) && in_range(*rules) && a_balance(*rules, state);
    assigns \nothing;
    ensures now > rules->horizon ==> refused(\result, WEIR_PAST_HORIZON);
    ensures now <= rules->horizon ==>
              \result.debt == missing(*rules, state, now) &&
              \result.debt == debt(*rules, balance_tat(*rules, state), now) &&
              judged(*rules, \result, \result.debt, cost, 0);
*/
static inline weir_decision weir_tokenbucket_step_peek(const weir_tokenbucket_rules *rules,
                                                       weir_tokenbucket_state state, uint64_t now, uint64_t cost);

/*@ requires \valid_read(rules) && \valid(state) && \separated(rules, state);
    requires in_range(*rules) && a_balance(*rules, *state);
    assigns *state;
    ensures a_balance(*rules, *state);
    ensures now > rules->horizon ==> refused(\result, WEIR_PAST_HORIZON);
    ensures now <= rules->horizon ==> judged(*rules, \result, missing(*rules, \old(*state), now), cost, 0);
    ensures now <= rules->horizon ==>
              judged(*rules, \result, debt(*rules, balance_tat(*rules, \old(*state)), now), cost, 0);
    ensures now <= rules->horizon ==> \result.debt == debt(*rules, balance_tat(*rules, \old(*state)), now) +
              (\result.outcome == WEIR_ALLOW ? cost * rules->permit : 0);
    ensures \result.outcome == WEIR_ALLOW && cost > 0 ==>
              state->last == now && state->balance == rules->tolerance - \result.debt &&
              balance_tat(*rules, *state) == units(*rules, now) + \result.debt;
    ensures !(\result.outcome == WEIR_ALLOW && cost > 0) ==> *state == \old(*state);
*/
static inline weir_decision weir_tokenbucket_step(const weir_tokenbucket_rules *rules, weir_tokenbucket_state *state,
                                                  uint64_t now, uint64_t cost);

/*@ requires \valid_read(rules) && in_range(*rules) && a_balance(*rules, state) && now <= rules->horizon;
    assigns \nothing;
    ensures a_balance(*rules, \result);
    ensures missing(*rules, state, now) == 0 ==> \result == state;
    ensures missing(*rules, state, now) > 0 ==> \result.last == now &&
              balance_tat(*rules, \result) ==
                units(*rules, now) + \max(0, missing(*rules, state, now) - cost * rules->permit);
    ensures missing(*rules, state, now) == debt(*rules, balance_tat(*rules, state), now);
*/
static inline weir_tokenbucket_state weir_tokenbucket_step_refund(const weir_tokenbucket_rules *rules,
                                                                  weir_tokenbucket_state state, uint64_t now,
                                                                  uint64_t cost);

/* ---- leakybucket.h ---- */

/*@ requires \valid_read(rules) && in_range(*rules) && a_water(*rules, state) && now <= rules->horizon;
    assigns \nothing;
    ensures \result == water(*rules, state, now) && \result < P63;
    ensures \result == debt(*rules, water_tat(*rules, state), now);
*/
static inline uint64_t weir_leakybucket_water(const weir_leakybucket_rules *rules, weir_leakybucket_state state,
                                              uint64_t now);

/*@ requires \valid_read(rules) && in_range(*rules) && a_water(*rules, state);
    assigns \nothing;
    ensures now > rules->horizon ==> refused(\result, WEIR_PAST_HORIZON);
    ensures now <= rules->horizon ==>
              \result.debt == water(*rules, state, now) &&
              \result.debt == debt(*rules, water_tat(*rules, state), now) &&
              judged(*rules, \result, \result.debt, cost, \result.debt);
*/
static inline weir_decision weir_leakybucket_step_peek(const weir_leakybucket_rules *rules,
                                                       weir_leakybucket_state state, uint64_t now, uint64_t cost);

/*@ requires \valid_read(rules) && \valid(state) && \separated(rules, state);
    requires in_range(*rules) && a_water(*rules, *state);
    assigns *state;
    ensures a_water(*rules, *state);
    ensures now > rules->horizon ==> refused(\result, WEIR_PAST_HORIZON);
    ensures now <= rules->horizon ==>
              judged(*rules, \result, debt(*rules, water_tat(*rules, \old(*state)), now), cost,
                     debt(*rules, water_tat(*rules, \old(*state)), now));
    ensures now <= rules->horizon ==> \result.debt == debt(*rules, water_tat(*rules, \old(*state)), now) +
              (\result.outcome == WEIR_ALLOW ? cost * rules->permit : 0);
    ensures \result.outcome == WEIR_ALLOW && cost > 0 ==>
              state->last == now && state->water == \result.debt &&
              water_tat(*rules, *state) == units(*rules, now) + \result.debt;
    ensures !(\result.outcome == WEIR_ALLOW && cost > 0) ==> *state == \old(*state);
*/
static inline weir_decision weir_leakybucket_step(const weir_leakybucket_rules *rules, weir_leakybucket_state *state,
                                                  uint64_t now, uint64_t cost);

/*@ requires \valid_read(rules) && in_range(*rules) && a_water(*rules, state) && now <= rules->horizon;
    assigns \nothing;
    ensures a_water(*rules, \result);
    ensures water(*rules, state, now) == 0 ==> \result == state;
    ensures water(*rules, state, now) > 0 ==> \result.last == now &&
              \result.water == \max(0, water(*rules, state, now) - cost * rules->permit);
    ensures water(*rules, state, now) == debt(*rules, water_tat(*rules, state), now);
*/
static inline weir_leakybucket_state weir_leakybucket_step_refund(const weir_leakybucket_rules *rules,
                                                                  weir_leakybucket_state state, uint64_t now,
                                                                  uint64_t cost);

#endif
