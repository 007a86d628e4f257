/* theorems_all.h - every theorem by its declaration, for draws.c. */
#ifndef WEIR_PROOF_THEOREMS_ALL_H
#define WEIR_PROOF_THEOREMS_ALL_H

#include "theorems.h"

void retry_after_exact(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks);
void retry_after_tight(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks);
void retry_after_never(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks);
void reset_after_exact(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks,
                       uint64_t next);
void reset_after_tight(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks);
void remaining_largest(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t more);
void next_exact(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks);
void next_tight(const weir_scale *rules, uint64_t tat, uint64_t now, uint64_t cost, uint64_t ticks);
void delay_exact(const weir_scale *rules, weir_leakybucket_state state, uint64_t now, uint64_t cost, uint64_t ticks);
void delay_tight(const weir_scale *rules, weir_leakybucket_state state, uint64_t now, uint64_t cost, uint64_t ticks);
void equal_step_gcra_tokenbucket(const weir_scale *rules, uint64_t tat, weir_tokenbucket_state bucket, uint64_t now,
                                 uint64_t cost);
void equal_step_gcra_leakybucket(const weir_scale *rules, uint64_t tat, weir_leakybucket_state bucket, uint64_t now,
                                 uint64_t cost);
void equal_refund_gcra_tokenbucket(const weir_scale *rules, uint64_t tat, weir_tokenbucket_state bucket, uint64_t now,
                                   uint64_t cost);
void equal_refund_gcra_leakybucket(const weir_scale *rules, uint64_t tat, weir_leakybucket_state bucket, uint64_t now,
                                   uint64_t cost);
void equal_runs(const weir_scale *rules, const request *run, uint64_t n);
void admits_burst_and_rate(const weir_scale *rules, uint64_t tat, const request *run, uint64_t n, uint64_t from,
                           uint64_t to);

#endif
