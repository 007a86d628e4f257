/*
 * leakybucket.h - the leaky bucket: requests pour in, the bucket leaks at a steady rate, and what would overflow is
 * refused. It also tells how long to hold a request so that the output is smooth.
 *
 * A table (weir_leakybucket) is not thread-safe: one caller at a time, or a lock around it. max_keys is how many keys
 * it can hold, all of that is allocated when it is made, and nothing ever grows. A key takes up room at its first
 * allowed request with a cost above 0 and holds it until it is forgotten or a sweep finds it idle; the table never
 * frees room by itself, so the caller sweeps, all at once or some slots at a time. While every room is taken,
 * known keys are served as ever, and a new key gets WEIR_FULL and leaves no trace. A refused, too costly or peeked
 * key leaves none either.
 *
 * The algorithm (the continuous-state leaky bucket of ITU-T I.371 and ATM Forum TM 4.0, which decides as the GCRA of
 * the same papers does). A key's state is the water in units (see weir.h) and the tick `last` at which it was right;
 * a key never seen has an empty bucket. At now,
 *
 *     water = max(0, water - (now - last) * p)         what has leaked; at an earlier now, what was in it then
 *     conforming if water + cost * q <= L              a tie conforms
 *     then water = water + cost * q, last = now
 *     delay = ceil(water before / p)                   hold an allowed request that long, and they go out evenly
 *
 * Two ways to use it: weir_leakybucket_step over a state that you keep, or a table over a block of memory that you
 * give. Only allowed requests change anything.
 *
 *     weir_limit limit = {100, 1000000000, 20, 0, 0, 0};      100 a second in nanoseconds, burst 20
 *
 *     weir_leakybucket_rules rules;                           a state of your own
 *     weir_leakybucket_state state = {0, 0};
 *     weir_scale_init(&rules, &limit);
 *     weir_decision d = weir_leakybucket_step(&rules, &state, now, 1);
 *     if (d.outcome == WEIR_ALLOW) send_after(weir_delay(&rules, d));
 *
 *     static uint64_t block[(WEIR_LEAKYBUCKET_HEADER + 36 * 1000) / 8];      a table for 1000 keys
 *     weir_leakybucket *table = (weir_leakybucket *)block;
 *     weir_leakybucket_init(block, sizeof block, &limit, 1000, secret);
 *     if (weir_leakybucket_take(table, now, key, 1).outcome == WEIR_ALLOW) ...
 */
#ifndef WEIR_LEAKYBUCKET_H
#define WEIR_LEAKYBUCKET_H

#include "weir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Without a table ---- */

/* The constants of one limit; make them with weir_scale_init. The step's functions need it made, and never NULL. */
typedef weir_scale weir_leakybucket_rules;

/* What is in a bucket: water in units, below 2^63, and the tick at which that was right. Zeros: never seen, empty. */
typedef struct weir_leakybucket_state {
    uint64_t water, last;
} weir_leakybucket_state;

/*
 * What is in the bucket at now: what has leaked since is gone, and never more than there was; before last, what was
 * in it then. Bounds: now and last are within the horizon, so what leaks between them is below 2^62; a later water
 * is at most L, and an earlier one at most that and the leak, below 2^63.
 */
static inline uint64_t weir_leakybucket_water(const weir_leakybucket_rules *rules, weir_leakybucket_state state,
                                              uint64_t now)
{
    uint64_t leaked;

    if (now < state.last) {
        return state.water + (state.last - now) * rules->tick;
    }
    leaked = (now - state.last) * rules->tick;
    return state.water > leaked ? state.water - leaked : 0;
}

/*
 * Decides as weir_leakybucket_step would and pours nothing in: the debt of the decision is the water before the
 * request, and so is the wait of an allowed one, which weir_delay makes ticks of. No division.
 */
static inline weir_decision weir_leakybucket_step_peek(const weir_leakybucket_rules *rules,
                                                       weir_leakybucket_state state, uint64_t now, uint64_t cost)
{
    weir_decision d;

    if (now > rules->horizon) {
        return weir_refused(WEIR_PAST_HORIZON);
    }
    d = weir_scale_judge(rules, weir_leakybucket_water(rules, state, now), cost);
    if (d.outcome == WEIR_ALLOW) {
        d.wait = d.debt;
    }
    return d;
}

/*
 * Decides whether cost permits can be poured in at tick now, and pours them in if so. *state is written only then.
 * Outcomes: allow, deny, too_costly, past_horizon. No division, no loop. A cost of 0 is allowed whatever the water
 * and changes nothing. Bounds: what is allowed ends at L at most.
 */
static inline weir_decision weir_leakybucket_step(const weir_leakybucket_rules *rules, weir_leakybucket_state *state,
                                                  uint64_t now, uint64_t cost)
{
    weir_decision d = weir_leakybucket_step_peek(rules, *state, now, cost);

    if (d.outcome == WEIR_ALLOW && cost > 0) {
        d.debt += cost * rules->permit;
        state->water = d.debt;
        state->last = now;
    }
    return d;
}

/*
 * The state after taking cost permits out again, however many: never below empty, and unchanged for an empty bucket.
 * now is within the horizon. One division, which spares the product that might not fit 64 bits: the units of cost
 * permits exceed the water just when cost exceeds its whole permits.
 */
static inline weir_leakybucket_state weir_leakybucket_step_refund(const weir_leakybucket_rules *rules,
                                                                  weir_leakybucket_state state, uint64_t now,
                                                                  uint64_t cost)
{
    const uint64_t water = weir_leakybucket_water(rules, state, now);
    weir_leakybucket_state after = {0, 0};

    if (water == 0) {
        return state;
    }
    after.water = cost > water / rules->permit ? 0 : water - cost * rules->permit;
    after.last = now;
    return after;
}

/* ---- With a table ---- */

/*
 * A table in a block of memory. It holds no pointer and its layout depends on no compile switch, so a block may be
 * copied, mapped or sent to a machine of the same byte order. It holds its seed: show it to nobody who chooses
 * keys.
 */
typedef struct weir_leakybucket weir_leakybucket;

/*
 * The bytes of a table are WEIR_LEAKYBUCKET_HEADER + 24 * (max_keys + max_keys/2): at most 36 a key of max_keys. A
 * slot is 24 bytes (key, water, last) and half as many again are spare, so that a look-up is short even when every
 * room is taken. All 2^64 keys are keys like any other: what marks a slot as held is the top bit of its water word,
 * which no water reaches.
 */
#define WEIR_LEAKYBUCKET_HEADER 168u

/*
 * How many bytes a table for max_keys keys takes. Checks in this order: WEIR_ERR_NULL; the limit, as
 * weir_scale_init; WEIR_ERR_MAX_KEYS: max_keys is 0, or the bytes are more than half of what size_t counts.
 */
weir_error weir_leakybucket_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes);

/*
 * Makes an empty table in the caller's block, which is then a weir_leakybucket; bytes is the block's size. seed
 * decides where keys stand in the table: where strangers choose the keys, give a secret random one, so that they
 * cannot make theirs crowd together. It changes no answer. Checks in this order: WEIR_ERR_NULL, the limit,
 * WEIR_ERR_MAX_KEYS, WEIR_ERR_ALIGN, WEIR_ERR_SIZE. Writes the header and every slot, nothing beyond.
 */
weir_error weir_leakybucket_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

#ifndef WEIR_NO_MALLOC
/*
 * weir_leakybucket_init over one malloc; *table is the result, for weir_leakybucket_destroy. WEIR_ERR_MEMORY if
 * there is none.
 */
weir_error weir_leakybucket_create(weir_leakybucket **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

/* Frees what weir_leakybucket_create made. NULL is nothing to free. */
void weir_leakybucket_destroy(weir_leakybucket *table);
#endif

/*
 * Decides whether key may spend cost permits at now, and spends them if so. In this order: past_horizon,
 * too_costly, allow for a cost of 0, full, allow or deny. A NULL table answers WEIR_NONE.
 *
 * No division. Looks at no more than one slot beyond the keys held: 2 slots on average for a known key and 5 for a
 * new one when every room is taken; the run of neighbours that one look-up could walk grows as the logarithm of
 * max_keys unless somebody who knows the seed chose the keys.
 */
weir_decision weir_leakybucket_take(weir_leakybucket *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Asks for the memory of key to be brought near, for a take that follows soon: a caller that has many requests at
 * hand names all their keys first. Changes nothing, answers nothing. No loop.
 */
void weir_leakybucket_prefetch(const weir_leakybucket *table, uint64_t key);

/* The outcome and wait that take would give, with the debt as it stands. Changes nothing. Bounds as take. */
weir_decision weir_leakybucket_peek(const weir_leakybucket *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Gives back cost permits of an earlier request, never making a key better than new. An unknown key stays unknown,
 * and a refunded one keeps its room. Refund soon, and what was spent last: a late refund gives credit for what has
 * come back by itself. WEIR_ERR_NULL, WEIR_ERR_PAST_HORIZON. Bounds as take.
 */
weir_error weir_leakybucket_refund(weir_leakybucket *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Makes key as if it had never been seen: its room is free. A NULL table or an unknown key is nothing to do. The
 * slots after it move up at once, so nothing builds up: as many looks as keys held + 1 twice at most, as a rule a
 * few.
 */
void weir_leakybucket_forget(weir_leakybucket *table, uint64_t key);

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
weir_error weir_leakybucket_sweep(weir_leakybucket *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done);

/*
 * Puts the table under another limit at now. What a key has spent is kept, in permits, rounded up and never more
 * than the new burst; an idle key keeps its room. WEIR_ERR_NULL; the limit, as weir_scale_init;
 * WEIR_ERR_PAST_HORIZON where now is beyond the old horizon or the new. Looks at every slot; each key held costs a
 * 128-bit product and its quotient.
 */
weir_error weir_leakybucket_relimit(weir_leakybucket *table, uint64_t now, const weir_limit *limit);

/* How many keys hold room; how many can; the largest now that is decided; the limit in force. 0 for a NULL table. */
uint64_t weir_leakybucket_keys(const weir_leakybucket *table);
uint64_t weir_leakybucket_max_keys(const weir_leakybucket *table);
uint64_t weir_leakybucket_horizon(const weir_leakybucket *table);
weir_limit weir_leakybucket_limit(const weir_leakybucket *table);

/*
 * The limit in force in units, for the quotients of a decision (weir.h); a relimit changes it. NULL for a NULL
 * table.
 */
const weir_leakybucket_rules *weir_leakybucket_rules_of(const weir_leakybucket *table);

#ifdef __cplusplus
}
#endif

#endif
