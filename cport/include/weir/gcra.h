/*
 * gcra.h - the generic cell rate algorithm: a rate limiter whose whole state is one word a key.
 *
 * A table (weir_gcra) is not thread-safe: one caller at a time, or a lock around it. max_keys is how many keys it
 * can hold, all of that is allocated when it is made, and nothing ever grows. A key takes up room at its first
 * allowed request with a cost above 0 and holds it until it is forgotten or a sweep finds it idle; the table never
 * frees room by itself, so the caller sweeps, all at once or some slots at a time. While every room is taken,
 * known keys are served as ever, and a new key gets WEIR_FULL and leaves no trace. A refused, too costly or peeked
 * key leaves none either.
 *
 * The algorithm (ITU-T I.371, ATM Forum TM 4.0). A key's state is its theoretical arrival time (TAT), in units
 * (see weir.h): the instant at which the next request would be exactly on schedule. At now, with s = now * p,
 *
 *     debt = max(TAT - s, 0)                   how far the schedule runs ahead; the floor stops idle time from
 *                                              becoming credit
 *     conforming if debt <= L - cost * q       L is the burst tolerance; a tie conforms
 *     then TAT = s + debt + cost * q
 *
 * Two ways to use it: weir_gcra_step over a word that you keep (one limiter, a field of a connection, a value of
 * somebody else's map), or a table over a block of memory that you give. Only allowed requests change anything.
 *
 *     weir_limit limit = {100, 1000000000, 20, 0, 0, 0};      100 a second in nanoseconds, burst 20
 *
 *     weir_gcra_rules rules;                                  a word of your own
 *     uint64_t tat = 0;
 *     weir_scale_init(&rules, &limit);
 *     if (weir_gcra_step(&rules, &tat, now, 1).outcome == WEIR_ALLOW) ...
 *
 *     static uint64_t block[(WEIR_GCRA_HEADER + 24 * 1000) / 8];      a table for 1000 keys
 *     weir_gcra *table = (weir_gcra *)block;
 *     weir_gcra_init(block, sizeof block, &limit, 1000, secret);
 *     if (weir_gcra_take(table, now, key, 1).outcome == WEIR_ALLOW) ...
 */
#ifndef WEIR_GCRA_H
#define WEIR_GCRA_H

#include "weir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Without a table ---- */

/* The constants of one limit; make them with weir_scale_init. The step's functions need it made, and never NULL. */
typedef weir_scale weir_gcra_rules;

/*
 * The units that a key owes at now. tat is below 2^63. Bounds: now <= horizon, so now * p < 2^62.
 */
static inline uint64_t weir_gcra_debt(const weir_gcra_rules *rules, uint64_t tat, uint64_t now)
{
    uint64_t s = now * rules->tick;
    return tat > s ? tat - s : 0;
}

/* Decides as weir_gcra_step would and spends nothing; the debt is the one before the request. No division. */
static inline weir_decision weir_gcra_step_peek(const weir_gcra_rules *rules, uint64_t tat, uint64_t now,
                                                uint64_t cost)
{
    return now > rules->horizon ? weir_refused(WEIR_PAST_HORIZON)
                                : weir_scale_judge(rules, weir_gcra_debt(rules, tat, now), cost);
}

/*
 * Decides a request of cost permits at tick now on the state *tat (0: never seen) and spends them if it is
 * allowed. *tat is written only then. Outcomes: allow, deny, too_costly, past_horizon. No division, no loop. A cost
 * of 0 is allowed whatever the debt and changes nothing, even where now is later than the TAT.
 *
 * Bounds: an allowed debt ends at L < 2^62 at most, and now * p < 2^62, so the new TAT is below 2^63.
 */
static inline weir_decision weir_gcra_step(const weir_gcra_rules *rules, uint64_t *tat, uint64_t now, uint64_t cost)
{
    weir_decision d;

    if (now > rules->horizon) {
        return weir_refused(WEIR_PAST_HORIZON);
    }
    d = weir_scale_judge(rules, weir_gcra_debt(rules, *tat, now), cost);
    if (d.outcome == WEIR_ALLOW && cost > 0) {
        d.debt += cost * rules->permit;
        *tat = now * rules->tick + d.debt;
    }
    return d;
}

/*
 * The state after giving back cost permits, however many: never better than idle, and unchanged for a key that owes
 * nothing. now is within the horizon. One division, which spares the product that might not fit 64 bits: the units
 * of cost permits exceed the debt just when cost exceeds the debt's whole permits.
 */
static inline uint64_t weir_gcra_step_refund(const weir_gcra_rules *rules, uint64_t tat, uint64_t now, uint64_t cost)
{
    uint64_t debt = weir_gcra_debt(rules, tat, now);

    if (debt == 0) {
        return tat;
    }
    debt = cost > debt / rules->permit ? 0 : debt - cost * rules->permit;
    return now * rules->tick + debt;
}

/* ---- With a table ---- */

/*
 * A table in a block of memory. It holds no pointer and its layout depends on no compile switch, so a block may be
 * copied, mapped or sent to a machine of the same byte order. It holds its seed: show it to nobody who chooses
 * keys.
 */
typedef struct weir_gcra weir_gcra;

/*
 * The bytes of a table are WEIR_GCRA_HEADER + 16 * (max_keys + max_keys/2): at most 24 a key of max_keys. A slot
 * is 16 bytes (key, TAT) and half as many again are spare, so that a look-up is short even when every room is
 * taken. All 2^64 keys are keys like any other: what marks a slot as held is the top bit of its TAT word, which no
 * TAT reaches.
 */
#define WEIR_GCRA_HEADER 160u

/*
 * How many bytes a table for max_keys keys takes. Checks in this order: WEIR_ERR_NULL; the limit, as
 * weir_scale_init; WEIR_ERR_MAX_KEYS: max_keys is 0, or the bytes are more than half of what size_t counts.
 */
weir_error weir_gcra_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes);

/*
 * Makes an empty table in the caller's block, which is then a weir_gcra; bytes is the block's size. seed decides
 * where keys stand in the table: where strangers choose the keys, give a secret random one, so that they cannot
 * make theirs crowd together. It changes no answer. Checks in this order: WEIR_ERR_NULL, the limit,
 * WEIR_ERR_MAX_KEYS, WEIR_ERR_ALIGN, WEIR_ERR_SIZE. Writes the header and every slot, nothing beyond.
 */
weir_error weir_gcra_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

#ifndef WEIR_NO_MALLOC
/* weir_gcra_init over one malloc; *table is the result, for weir_gcra_destroy. WEIR_ERR_MEMORY if there is none. */
weir_error weir_gcra_create(weir_gcra **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

/* Frees what weir_gcra_create made. NULL is nothing to free. */
void weir_gcra_destroy(weir_gcra *table);
#endif

/*
 * Decides whether key may spend cost permits at now, and spends them if so. In this order: past_horizon,
 * too_costly, allow for a cost of 0, full, allow or deny. A NULL table answers WEIR_NONE.
 *
 * No division. Looks at no more than one slot beyond the keys held: 2 slots on average for a known key and 5 for a
 * new one when every room is taken; the run of neighbours that one look-up could walk grows as the logarithm of
 * max_keys unless somebody who knows the seed chose the keys.
 */
weir_decision weir_gcra_take(weir_gcra *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Asks for the memory of key to be brought near, for a take that follows soon: a caller that has many requests at
 * hand names all their keys first. Changes nothing, answers nothing. No loop.
 */
void weir_gcra_prefetch(const weir_gcra *table, uint64_t key);

/* The outcome and wait that take would give, with the debt as it stands. Changes nothing. Bounds as take. */
weir_decision weir_gcra_peek(const weir_gcra *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Gives back cost permits of an earlier request, never making a key better than new. An unknown key stays unknown,
 * and a refunded one keeps its room. Refund soon, and what was spent last: a late refund gives credit for what has
 * come back by itself. WEIR_ERR_NULL, WEIR_ERR_PAST_HORIZON. Bounds as take.
 */
weir_error weir_gcra_refund(weir_gcra *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Makes key as if it had never been seen: its room is free. A NULL table or an unknown key is nothing to do. The
 * slots after it move up at once, so nothing builds up: as many looks as keys held + 1 twice at most, as a rule a
 * few.
 */
void weir_gcra_forget(weir_gcra *table, uint64_t key);

/*
 * Frees the room of the keys that are idle at now, as good as never seen. slots is how many slots to look at,
 * going on where the last call stopped; 0 looks at all, from the first to the last. A now beyond the horizon
 * counts as the horizon. *freed is how many keys were freed, *done whether the pass has come to the table's end
 * (the next call starts anew); either may be NULL. WEIR_ERR_NULL for the table.
 *
 * A freed slot may be filled at once by the key after it and is then looked at again, so a whole pass is as many
 * looks as slots and freed keys together; each freed key moves up the run of neighbours behind it (see take). A
 * key that a forget moves across the place where a pass stands is met by the next pass.
 */
weir_error weir_gcra_sweep(weir_gcra *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done);

/*
 * Puts the table under another limit at now. What a key has spent is kept, in permits, rounded up and never more
 * than the new burst; an idle key keeps its room. WEIR_ERR_NULL; the limit, as weir_scale_init;
 * WEIR_ERR_PAST_HORIZON where now is beyond the old horizon or the new. Looks at every slot; each key held costs a
 * 128-bit product and its quotient.
 */
weir_error weir_gcra_relimit(weir_gcra *table, uint64_t now, const weir_limit *limit);

/* How many keys hold room; how many can; the largest now that is decided; the limit in force. 0 for a NULL table. */
uint64_t weir_gcra_keys(const weir_gcra *table);
uint64_t weir_gcra_max_keys(const weir_gcra *table);
uint64_t weir_gcra_horizon(const weir_gcra *table);
weir_limit weir_gcra_limit(const weir_gcra *table);

/*
 * The limit in force in units, for the quotients of a decision (weir.h); a relimit changes it. NULL for a NULL
 * table.
 */
const weir_gcra_rules *weir_gcra_rules_of(const weir_gcra *table);

#ifdef __cplusplus
}
#endif

#endif
