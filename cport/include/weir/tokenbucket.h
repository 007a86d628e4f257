/*
 * tokenbucket.h - the token bucket: a bucket of permits that refills at a steady rate, exactly, fractions included.
 *
 * A table (weir_tokenbucket) is not thread-safe: one caller at a time, or a lock around it. max_keys is how many
 * keys it can hold, all of that is allocated when it is made, and nothing ever grows. A key takes up room at its
 * first allowed request with a cost above 0 and holds it until it is forgotten or a sweep finds it idle; the table
 * never frees room by itself, so the caller sweeps, all at once or some slots at a time. While every room is taken,
 * known keys are served as ever, and a new key gets WEIR_FULL and leaves no trace. A refused, too costly or peeked
 * key leaves none either.
 *
 * The algorithm (the token bucket of traffic policing; as a meter it decides as the GCRA of ITU-T I.371 and ATM
 * Forum TM 4.0 does). A key's state is a balance in units (see weir.h) and the tick `last` at which it was right; a
 * key never seen has a full bucket. At now,
 *
 *     balance = min(L, balance + (now - last) * p)     the refill, carry included; at an earlier now, what it was then
 *     conforming if cost * q <= balance                a tie conforms
 *     then balance = balance - cost * q, last = now
 *
 * Two ways to use it: weir_tokenbucket_step over a state that you keep, or a table over a block of memory that you
 * give. Only allowed requests change anything.
 *
 *     weir_limit limit = {100, 1000000000, 20, 0, 0, 0};      100 a second in nanoseconds, burst 20
 *
 *     weir_tokenbucket_rules rules;                           a state of your own
 *     weir_scale_init(&rules, &limit);
 *     weir_tokenbucket_state state = weir_tokenbucket_fresh(&rules);
 *     if (weir_tokenbucket_step(&rules, &state, now, 1).outcome == WEIR_ALLOW) ...
 *
 *     static uint64_t block[(WEIR_TOKENBUCKET_HEADER + 36 * 1000) / 8];      a table for 1000 keys
 *     weir_tokenbucket *table = (weir_tokenbucket *)block;
 *     weir_tokenbucket_init(block, sizeof block, &limit, 1000, secret);
 *     if (weir_tokenbucket_take(table, now, key, 1).outcome == WEIR_ALLOW) ...
 */
#ifndef WEIR_TOKENBUCKET_H
#define WEIR_TOKENBUCKET_H

#include "weir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Without a table ---- */

/* The constants of one limit; make them with weir_scale_init. The step's functions need it made, and never NULL. */
typedef weir_scale weir_tokenbucket_rules;

/*
 * What a bucket holds: balance units, and the tick at which that was right. The balance is at most L, below 2^62,
 * and below zero only after a refund at a tick before last; it is above -2^63. A state of zeros is an empty bucket
 * at tick 0, not a new one: begin with weir_tokenbucket_fresh.
 */
typedef struct weir_tokenbucket_state {
    int64_t balance;
    uint64_t last;
} weir_tokenbucket_state;

/* The state of a bucket never seen: full. */
static inline weir_tokenbucket_state weir_tokenbucket_fresh(const weir_tokenbucket_rules *rules)
{
    weir_tokenbucket_state fresh = {0, 0};

    fresh.balance = WEIR_CAST(int64_t, rules->tolerance);
    return fresh;
}

/*
 * The balance at now: refilled exactly, never over full; before last, what it would have been then, below zero
 * perhaps. Bounds: now and last are within the horizon, which caps the ticks between them: what they refill is below
 * 2^62, and every value here fits 63 bits and a sign.
 */
static inline int64_t weir_tokenbucket_balance(const weir_tokenbucket_rules *rules, weir_tokenbucket_state state,
                                               uint64_t now)
{
    int64_t refilled;

    if (now < state.last) {
        return state.balance - WEIR_CAST(int64_t, (state.last - now) * rules->tick);
    }
    refilled = state.balance + WEIR_CAST(int64_t, (now - state.last) * rules->tick);
    return refilled < WEIR_CAST(int64_t, rules->tolerance) ? refilled : WEIR_CAST(int64_t, rules->tolerance);
}

/* What the bucket lacks to be full at now, in units below 2^63: what the two sibling meters call debt. */
static inline uint64_t weir_tokenbucket_missing(const weir_tokenbucket_rules *rules, weir_tokenbucket_state state,
                                                uint64_t now)
{
    return WEIR_CAST(uint64_t, WEIR_CAST(int64_t, rules->tolerance) - weir_tokenbucket_balance(rules, state, now));
}

/* The state of a bucket that lacks missing units, below 2^63, at now. */
static inline weir_tokenbucket_state weir_tokenbucket_lacking(const weir_tokenbucket_rules *rules, uint64_t missing,
                                                              uint64_t now)
{
    weir_tokenbucket_state state = {0, 0};

    state.balance = WEIR_CAST(int64_t, rules->tolerance) - WEIR_CAST(int64_t, missing);
    state.last = now;
    return state;
}

/* A bucket as a reader wants to see it: whole permits, and fraction out of `of` of the next one. */
typedef struct weir_tokenbucket_tokens {
    uint64_t whole, fraction, of;
} weir_tokenbucket_tokens;

/*
 * Reads a bucket at now; a balance below zero reads as nothing, a now past the horizon as the horizon. One
 * division.
 */
static inline weir_tokenbucket_tokens weir_tokenbucket_read(const weir_tokenbucket_rules *rules,
                                                            weir_tokenbucket_state state, uint64_t now)
{
    const int64_t balance = weir_tokenbucket_balance(rules, state, now < rules->horizon ? now : rules->horizon);
    weir_tokenbucket_tokens tokens;

    tokens.whole = balance > 0 ? WEIR_CAST(uint64_t, balance) / rules->permit : 0;
    tokens.fraction = balance > 0 ? WEIR_CAST(uint64_t, balance) - tokens.whole * rules->permit : 0;
    tokens.of = rules->permit;
    return tokens;
}

/* Decides as weir_tokenbucket_step would and spends nothing: the debt of the decision is what is missing before the
 * request. No division. */
static inline weir_decision weir_tokenbucket_step_peek(const weir_tokenbucket_rules *rules,
                                                       weir_tokenbucket_state state, uint64_t now, uint64_t cost)
{
    return now > rules->horizon ? weir_refused(WEIR_PAST_HORIZON)
                                : weir_scale_judge(rules, weir_tokenbucket_missing(rules, state, now), cost);
}

/*
 * Decides a request of cost permits at tick now on the state and spends them if it is allowed. *state is written only
 * then. Outcomes: allow, deny, too_costly, past_horizon. No division, no loop. A cost of 0 is allowed whatever is
 * missing and changes nothing. Bounds: what is allowed leaves a balance of 0 or more, so no more than L is missing.
 */
static inline weir_decision weir_tokenbucket_step(const weir_tokenbucket_rules *rules, weir_tokenbucket_state *state,
                                                  uint64_t now, uint64_t cost)
{
    weir_decision d = weir_tokenbucket_step_peek(rules, *state, now, cost);

    if (d.outcome == WEIR_ALLOW && cost > 0) {
        d.debt += cost * rules->permit;
        *state = weir_tokenbucket_lacking(rules, d.debt, now);
    }
    return d;
}

/*
 * The state after putting cost permits back, however many: never over full, and unchanged for a full bucket. now is
 * within the horizon. One division, which spares the product that might not fit 64 bits: the units of cost permits
 * exceed what is missing just when cost exceeds its whole permits.
 */
static inline weir_tokenbucket_state weir_tokenbucket_step_refund(const weir_tokenbucket_rules *rules,
                                                                  weir_tokenbucket_state state, uint64_t now,
                                                                  uint64_t cost)
{
    uint64_t missing = weir_tokenbucket_missing(rules, state, now);

    if (missing == 0) {
        return state;
    }
    missing = cost > missing / rules->permit ? 0 : missing - cost * rules->permit;
    return weir_tokenbucket_lacking(rules, missing, now);
}

/* ---- With a table ---- */

/*
 * A table in a block of memory. It holds no pointer and its layout depends on no compile switch, so a block may be
 * copied, mapped or sent to a machine of the same byte order. It holds its seed: show it to nobody who chooses
 * keys.
 */
typedef struct weir_tokenbucket weir_tokenbucket;

/*
 * The bytes of a table are WEIR_TOKENBUCKET_HEADER + 24 * (max_keys + max_keys/2): at most 36 a key of max_keys. A
 * slot is 24 bytes (key, last, balance) and half as many again are spare, so that a look-up is short even when
 * every room is taken. All 2^64 keys are keys like any other: what marks a slot as held is the top bit of its
 * `last` word, which no tick within a horizon reaches.
 */
#define WEIR_TOKENBUCKET_HEADER 168u

/*
 * How many bytes a table for max_keys keys takes. Checks in this order: WEIR_ERR_NULL; the limit, as
 * weir_scale_init; WEIR_ERR_MAX_KEYS: max_keys is 0, or the bytes are more than half of what size_t counts.
 */
weir_error weir_tokenbucket_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes);

/*
 * Makes an empty table in the caller's block, which is then a weir_tokenbucket; bytes is the block's size. seed
 * decides where keys stand in the table: where strangers choose the keys, give a secret random one, so that they
 * cannot make theirs crowd together. It changes no answer. Checks in this order: WEIR_ERR_NULL, the limit,
 * WEIR_ERR_MAX_KEYS, WEIR_ERR_ALIGN, WEIR_ERR_SIZE. Writes the header and every slot, nothing beyond.
 */
weir_error weir_tokenbucket_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

#ifndef WEIR_NO_MALLOC
/*
 * weir_tokenbucket_init over one malloc; *table is the result, for weir_tokenbucket_destroy. WEIR_ERR_MEMORY if
 * there is none.
 */
weir_error weir_tokenbucket_create(weir_tokenbucket **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

/* Frees what weir_tokenbucket_create made. NULL is nothing to free. */
void weir_tokenbucket_destroy(weir_tokenbucket *table);
#endif

/*
 * Decides whether key may spend cost permits at now, and spends them if so. In this order: past_horizon,
 * too_costly, allow for a cost of 0, full, allow or deny. A NULL table answers WEIR_NONE.
 *
 * No division. Looks at no more than one slot beyond the keys held: 2 slots on average for a known key and 5 for a
 * new one when every room is taken; the run of neighbours that one look-up could walk grows as the logarithm of
 * max_keys unless somebody who knows the seed chose the keys.
 */
weir_decision weir_tokenbucket_take(weir_tokenbucket *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Asks for the memory of key to be brought near, for a take that follows soon: a caller that has many requests at
 * hand names all their keys first. Changes nothing, answers nothing. No loop.
 */
void weir_tokenbucket_prefetch(const weir_tokenbucket *table, uint64_t key);

/* The outcome and wait that take would give, with the debt as it stands. Changes nothing. Bounds as take. */
weir_decision weir_tokenbucket_peek(const weir_tokenbucket *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Gives back cost permits of an earlier request, never making a key better than new. An unknown key stays unknown,
 * and a refunded one keeps its room. Refund soon, and what was spent last: a late refund gives credit for what has
 * come back by itself. WEIR_ERR_NULL, WEIR_ERR_PAST_HORIZON. Bounds as take.
 */
weir_error weir_tokenbucket_refund(weir_tokenbucket *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Makes key as if it had never been seen: its room is free. A NULL table or an unknown key is nothing to do. The
 * slots after it move up at once, so nothing builds up: as many looks as keys held + 1 twice at most, as a rule a
 * few.
 */
void weir_tokenbucket_forget(weir_tokenbucket *table, uint64_t key);

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
weir_error weir_tokenbucket_sweep(weir_tokenbucket *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done);

/*
 * Puts the table under another limit at now. What a key has spent is kept, in permits, rounded up and never more
 * than the new burst; an idle key keeps its room. WEIR_ERR_NULL; the limit, as weir_scale_init;
 * WEIR_ERR_PAST_HORIZON where now is beyond the old horizon or the new. Looks at every slot; each key held costs a
 * 128-bit product and its quotient.
 */
weir_error weir_tokenbucket_relimit(weir_tokenbucket *table, uint64_t now, const weir_limit *limit);

/* How many keys hold room; how many can; the largest now that is decided; the limit in force. 0 for a NULL table. */
uint64_t weir_tokenbucket_keys(const weir_tokenbucket *table);
uint64_t weir_tokenbucket_max_keys(const weir_tokenbucket *table);
uint64_t weir_tokenbucket_horizon(const weir_tokenbucket *table);
weir_limit weir_tokenbucket_limit(const weir_tokenbucket *table);

/*
 * The limit in force in units, for the quotients of a decision (weir.h); a relimit changes it. NULL for a NULL
 * table.
 */
const weir_tokenbucket_rules *weir_tokenbucket_rules_of(const weir_tokenbucket *table);

#ifdef __cplusplus
}
#endif

#endif
