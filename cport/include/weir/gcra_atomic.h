/*
 * gcra_atomic.h - the GCRA's step on a word that several threads share: one load and one compare-and-swap, no lock.
 *
 * Thread-safe: any number of threads may call these on one word. Only C11 with <stdatomic.h> has them, so this
 * header declares nothing in C++ and where __STDC_NO_ATOMICS__ is defined. The rules are made once, before, and
 * then only read.
 *
 *     static weir_gcra_rules rules;                           made by weir_scale_init
 *     static _Atomic uint64_t tat;                            0: never seen
 *     if (weir_gcra_take_atomic(&rules, &tat, now, 1).outcome == WEIR_ALLOW) ...
 *
 * The word carries its own truth and guards nothing else, so all orders are relaxed. Where the machine has no
 * atomic word of 64 bits (atomic_is_lock_free says no, as on Cortex-M0) the compiler calls its own helpers, which
 * may lock.
 */
#ifndef WEIR_GCRA_ATOMIC_H
#define WEIR_GCRA_ATOMIC_H

#include "gcra.h"

#if !defined(__cplusplus) && defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_ATOMICS__)

#include <stdatomic.h>

/*
 * Decides as weir_gcra_step and spends if allowed, all at once: of two threads that want the last permit one gets
 * it. A denied request, and one of cost 0, writes nothing. No division.
 *
 * Loop: a round is repeated only when another thread spent or gave back between the load and the swap, so that
 * somebody has always got on (lock-free); alone it is one round. An allowed cost always moves the word: the new TAT
 * is larger than the old one.
 */
static inline weir_decision weir_gcra_take_atomic(const weir_gcra_rules *rules, _Atomic uint64_t *tat, uint64_t now,
                                                  uint64_t cost)
{
    uint64_t seen = atomic_load_explicit(tat, memory_order_relaxed);

    for (;;) {
        uint64_t next = seen;
        weir_decision d = weir_gcra_step(rules, &next, now, cost);
        if (next == seen ||
            atomic_compare_exchange_strong_explicit(tat, &seen, next, memory_order_relaxed, memory_order_relaxed)) {
            return d;
        }
    }
}

/* Decides as weir_gcra_take_atomic would and spends nothing: one load. */
static inline weir_decision weir_gcra_peek_atomic(const weir_gcra_rules *rules, _Atomic uint64_t *tat, uint64_t now,
                                                  uint64_t cost)
{
    return weir_gcra_step_peek(rules, atomic_load_explicit(tat, memory_order_relaxed), now, cost);
}

/*
 * Gives back as weir_gcra_step_refund; now is within the horizon. Loop: as weir_gcra_take_atomic. One division a
 * round.
 */
static inline void weir_gcra_refund_atomic(const weir_gcra_rules *rules, _Atomic uint64_t *tat, uint64_t now,
                                           uint64_t cost)
{
    uint64_t seen = atomic_load_explicit(tat, memory_order_relaxed);

    for (;;) {
        const uint64_t next = weir_gcra_step_refund(rules, seen, now, cost);
        if (next == seen ||
            atomic_compare_exchange_strong_explicit(tat, &seen, next, memory_order_relaxed, memory_order_relaxed)) {
            return;
        }
    }
}

#endif

#endif
