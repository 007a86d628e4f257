/*
 * contracts.h - what the functions of weir.h and gcra.h promise, in ACSL, for Frama-C's WP. The headers are included as
 * they are; a contract stands at a second declaration of its function and is proved against the body in the header.
 *
 * `in_range` is the whole of what is assumed of a limit. It says nothing of how p and q came about.
 */
#ifndef WEIR_PROOF_CONTRACTS_H
#define WEIR_PROOF_CONTRACTS_H

#include "weir/gcra.h"

#define P62 0x4000000000000000
#define P63 0x8000000000000000
#define NEVER 0xffffffffffffffff

/*@
  // What weir_scale_init makes. tick is p, permit is q, tolerance is L.
  predicate in_range(weir_scale s) =
    1 <= s.tick < P62 && 1 <= s.permit && 1 <= s.burst && s.tolerance == s.burst * s.permit && s.tolerance < P62 &&
    s.horizon * s.tick < P62;

  logic integer units(weir_scale s, integer now) = now * s.tick;
  logic integer debt(weir_scale s, integer tat, integer now) = \max(tat - now * s.tick, 0);
  logic integer spare(weir_scale s, integer cost) = s.tolerance - cost * s.permit;

  // The page's order of decisions, from the third on: a weighed request of a key that owes so much.
  predicate judged(weir_scale s, weir_decision d, integer owed, integer cost, integer ahead) =
    (cost > s.burst ==> d.outcome == WEIR_TOO_COSTLY && d.wait == NEVER) &&
    (cost <= s.burst && (cost == 0 || owed <= spare(s, cost)) ==> d.outcome == WEIR_ALLOW && d.wait == ahead) &&
    (0 < cost <= s.burst && owed > spare(s, cost) ==> d.outcome == WEIR_DENY && d.wait == owed - spare(s, cost));

  predicate refused(weir_decision d, integer outcome) = d.outcome == outcome && d.debt == 0 && d.wait == NEVER;

  predicate ceiling(integer whole, integer units, integer by) =
    0 <= whole && whole * by >= units && (whole == 0 || (whole - 1) * by < units);

  predicate floored(integer whole, integer units, integer by) =
    0 <= whole && whole * by <= units < (whole + 1) * by;

  lemma products_keep_order: \forall integer a, b, c; 0 <= a <= b && 0 <= c ==> a * c <= b * c;
  lemma products_keep_strict_order: \forall integer a, b, c; a < b && 1 <= c ==> a * c + c <= b * c;
  lemma above_the_quotient: \forall integer a, b, c; 0 <= a && 1 <= b && a / b < c ==> a < c * b;
  lemma within_the_quotient: \forall integer a, b, c; 0 <= a && 1 <= b && c <= a / b ==> c * b <= a;
  lemma from_the_ceiling: \forall integer w, u, p, t; 1 <= p && ceiling(w, u, p) && w <= t ==> u <= t * p;
  lemma below_the_ceiling: \forall integer w, u, p, t; 1 <= p && 0 <= t && ceiling(w, u, p) && t < w ==> t * p < u;
  lemma floor_is_largest: \forall integer w, u, q, k; 1 <= q && floored(w, u, q) ==> (k <= w <==> k * q <= u);
  lemma a_floor_is_the_largest: \forall integer v, w, u, q; 1 <= q && floored(v, u, q) && floored(w, u, q) ==> v <= w;
  lemma one_floor: \forall integer v, w, u, q; 1 <= q && floored(v, u, q) && floored(w, u, q) ==> v == w;
*/

/* ---- weir.h ---- */

/*@ assigns \nothing;
    ensures refused(\result, outcome);
*/
static inline weir_decision weir_refused(weir_outcome outcome);

/*@ assigns \nothing;
    ensures \result <==> WEIR_ALLOW <= d.outcome <= WEIR_TOO_COSTLY;
*/
static inline bool weir_weighed(weir_decision d);

/*@ requires \valid_read(scale) && in_range(*scale) && debt < P63;
    assigns \nothing;
    ensures \result.debt == debt && judged(*scale, \result, debt, cost, 0);
*/
static inline weir_decision weir_scale_judge(const weir_scale *scale, uint64_t debt, uint64_t cost);

/*@ requires \valid_read(scale) && in_range(*scale);
    assigns \nothing;
    ensures \result * scale->tick >= units && \result <= units;
    ensures \result == 0 || (\result - 1) * scale->tick < units;
    ensures ceiling(\result, units, scale->tick);
*/
static inline uint64_t weir_scale_ticks(const weir_scale *scale, uint64_t units);

/*@ requires \valid_read(scale) && in_range(*scale);
    assigns \nothing;
    ensures floored(\result, \max(0, scale->tolerance - debt), scale->permit) && \result <= scale->burst;
    ensures debt > 0 ==> \result < scale->burst && (\result + 1) * scale->permit <= scale->tolerance;
*/
static inline uint64_t weir_scale_remaining(const weir_scale *scale, uint64_t debt);

/*@ requires \valid_read(scale) && in_range(*scale);
    assigns \nothing;
    ensures WEIR_ALLOW <= d.outcome <= WEIR_TOO_COSTLY ==>
              floored(\result, \max(0, scale->tolerance - d.debt), scale->permit) && \result <= scale->burst;
    ensures WEIR_ALLOW <= d.outcome <= WEIR_TOO_COSTLY && d.debt > 0 ==>
              (\result + 1) * scale->permit <= scale->tolerance;
    ensures !(WEIR_ALLOW <= d.outcome <= WEIR_TOO_COSTLY) ==> \result == 0;
*/
static inline uint64_t weir_remaining(const weir_scale *scale, weir_decision d);

/*@ requires \valid_read(scale) && in_range(*scale);
    assigns \nothing;
    ensures d.outcome == WEIR_ALLOW ==> \result == 0;
    ensures d.outcome == WEIR_DENY ==> ceiling(\result, d.wait, scale->tick) && \result <= d.wait;
    ensures d.outcome != WEIR_ALLOW && d.outcome != WEIR_DENY ==> \result == NEVER;
*/
static inline uint64_t weir_retry_after(const weir_scale *scale, weir_decision d);

/*@ requires \valid_read(scale) && in_range(*scale);
    assigns \nothing;
    ensures ceiling(\result, d.debt, scale->tick) && \result <= d.debt;
*/
static inline uint64_t weir_reset_after(const weir_scale *scale, weir_decision d);

/*@ requires \valid_read(scale) && in_range(*scale);
    assigns \nothing;
    ensures d.outcome == WEIR_ALLOW ==> ceiling(\result, d.wait, scale->tick) && \result <= d.wait;
    ensures d.outcome != WEIR_ALLOW ==> \result == 0;
*/
static inline uint64_t weir_delay(const weir_scale *scale, weir_decision d);

/*@ requires \valid_read(scale) && in_range(*scale) && d.debt < P63;
    assigns \nothing;
    ensures !(WEIR_ALLOW <= d.outcome <= WEIR_TOO_COSTLY) || d.debt == 0 ==> \result == 0;
    ensures WEIR_ALLOW <= d.outcome <= WEIR_TOO_COSTLY && d.debt > 0 ==>
              \result > 0 && \forall integer left; floored(left, \max(0, scale->tolerance - d.debt), scale->permit) ==>
              ceiling(\result, d.debt + (left + 1) * scale->permit - scale->tolerance, scale->tick);
*/
static inline uint64_t weir_next(const weir_scale *scale, weir_decision d);

/*@ requires \valid_read(scale) && in_range(*scale);
    assigns \nothing;
    ensures \result.outcome == d.outcome && \result.binding == WEIR_FIRST;
    ensures WEIR_ALLOW <= d.outcome <= WEIR_TOO_COSTLY ==>
              floored(\result.remaining, \max(0, scale->tolerance - d.debt), scale->permit);
    ensures d.outcome == WEIR_DENY ==> ceiling(\result.retry_after, d.wait, scale->tick);
    ensures d.outcome == WEIR_ALLOW ==> \result.retry_after == 0 && ceiling(\result.delay, d.wait, scale->tick);
    ensures ceiling(\result.reset_after, d.debt, scale->tick);
*/
static inline weir_answer weir_answer_of(const weir_scale *scale, weir_decision d);

/* ---- gcra.h ---- */

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63 && now <= rules->horizon;
    assigns \nothing;
    ensures \result == debt(*rules, tat, now);
*/
static inline uint64_t weir_gcra_debt(const weir_gcra_rules *rules, uint64_t tat, uint64_t now);

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63;
    assigns \nothing;
    ensures now > rules->horizon ==> refused(\result, WEIR_PAST_HORIZON);
    ensures now <= rules->horizon ==>
              \result.debt == debt(*rules, tat, now) && judged(*rules, \result, debt(*rules, tat, now), cost, 0);
*/
static inline weir_decision weir_gcra_step_peek(const weir_gcra_rules *rules, uint64_t tat, uint64_t now,
                                                uint64_t cost);

/*@ requires \valid_read(rules) && \valid(tat) && \separated(rules, tat) && in_range(*rules) && *tat < P63;
    assigns *tat;
    ensures *tat < P63;
    ensures now > rules->horizon ==> refused(\result, WEIR_PAST_HORIZON);
    ensures now <= rules->horizon ==> judged(*rules, \result, debt(*rules, \old(*tat), now), cost, 0);
    ensures now <= rules->horizon ==> \result.debt == debt(*rules, \old(*tat), now) +
              (\result.outcome == WEIR_ALLOW ? cost * rules->permit : 0);
    ensures *tat == (\result.outcome == WEIR_ALLOW && cost > 0 ? units(*rules, now) + \result.debt : \old(*tat));
*/
static inline weir_decision weir_gcra_step(const weir_gcra_rules *rules, uint64_t *tat, uint64_t now, uint64_t cost);

/*@ requires \valid_read(rules) && in_range(*rules) && tat < P63 && now <= rules->horizon;
    assigns \nothing;
    ensures debt(*rules, tat, now) == 0 ==> \result == tat;
    ensures debt(*rules, tat, now) > 0 ==>
              \result == units(*rules, now) + \max(0, debt(*rules, tat, now) - cost * rules->permit);
    ensures \result <= tat;
*/
static inline uint64_t weir_gcra_step_refund(const weir_gcra_rules *rules, uint64_t tat, uint64_t now, uint64_t cost);

#endif
