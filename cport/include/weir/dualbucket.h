/*
 * dualbucket.h - two limits over one key, such as 100 a second and 5000 an hour: both are charged or neither is.
 *
 * A table (weir_dualbucket) is not thread-safe: one caller at a time, or a lock around it. max_keys is how many
 * keys it can hold, all of that is allocated when it is made, and nothing ever grows. A key takes up room at its
 * first allowed request with a cost above 0 and holds it until it is forgotten or a sweep finds it idle; the table
 * never frees room by itself, so the caller sweeps, all at once or some slots at a time. While every room is taken,
 * known keys are served as ever, and a new key gets WEIR_FULL and leaves no trace. A refused, too costly or peeked
 * key leaves none either.
 *
 * The algorithm (two generic cell rate algorithms, ITU-T I.371, ATM Forum TM 4.0, as the peak and the sustainable
 * cell rate of one connection are policed there; see gcra.h for one). A key's state is two theoretical arrival
 * times, each in its own limit's units. A request has a cost in each limit; a cost of 0 is allowed by its limit and
 * changes nothing in it. Too costly if either limit says so, else denied if either denies, else allowed and both
 * are charged. The costs are an array, so that no call here takes more than five arguments (eBPF).
 *
 * Two ways to use it: weir_dualbucket_step over a state that you keep, or a table over a block of memory that you
 * give. Only allowed requests change anything.
 *
 *     weir_limit limit = {100, 1000000000, 20, 5000, 3600000000000, 1000};    nanoseconds
 *     uint64_t cost[2] = {1, 1};
 *
 *     weir_dualbucket_rules rules;                            a state of your own
 *     weir_dualbucket_state state = {{0, 0}};
 *     weir_dualbucket_rules_init(&rules, &limit);
 *     if (weir_dualbucket_step(&rules, &state, now, cost).outcome == WEIR_ALLOW) ...
 *
 *     static uint64_t block[(WEIR_DUALBUCKET_HEADER + 36 * 1000) / 8];       a table for 1000 keys
 *     weir_dualbucket *table = (weir_dualbucket *)block;
 *     weir_dualbucket_init(block, sizeof block, &limit, 1000, secret);
 *     if (weir_dualbucket_take(table, now, key, cost).outcome == WEIR_ALLOW) ...
 */
#ifndef WEIR_DUALBUCKET_H
#define WEIR_DUALBUCKET_H

#include "weir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Without a table ---- */

/*
 * The constants of two limits; make them with weir_dualbucket_rules_init. The step's functions need that, and no
 * NULL.
 */
typedef struct weir_dualbucket_rules {
    weir_scale scale[2]; /* the first limit, the second */
    uint64_t horizon;    /* the nearer of the two, in ticks */
} weir_dualbucket_rules;

/*
 * Checks both limits and makes their units. In this order: WEIR_ERR_NULL; WEIR_ERR_INVALID_SECOND if there is no
 * second limit; what weir_scale_init says of the first; then of the second. *rules is written only for WEIR_OK. At
 * most 187 divisions.
 */
weir_error weir_dualbucket_rules_init(weir_dualbucket_rules *rules, const weir_limit *limit);

/* A key's theoretical arrival time under each limit, in that limit's units, below 2^63. Zeros: never seen. */
typedef struct weir_dualbucket_state {
    uint64_t tat[2];
} weir_dualbucket_state;

/* The decision of one request, in the units of each limit. The quotients are computed when they are asked for. */
typedef struct weir_dualbucket_decision {
    uint64_t debt[2];     /* units that the key owes each limit after the request; below 2^63 */
    uint64_t wait[2];     /* units that must leak first; 0: that limit allows its cost; WEIR_NEVER: it never can */
    weir_outcome outcome; /* look at it first */
} weir_dualbucket_decision;

/* The decision of a request that was not weighed at all: full, past_horizon, none. */
static inline weir_dualbucket_decision weir_dualbucket_refused(weir_outcome outcome)
{
    weir_dualbucket_decision d = {{0, 0}, {WEIR_NEVER, WEIR_NEVER}, 0};
    d.outcome = outcome;
    return d;
}

/*
 * Decides as weir_dualbucket_step would and spends nothing; the debts are those before the request. No division; two
 * rounds, one for each limit. The outcomes are ordered so that the larger one is the answer.
 */
static inline weir_dualbucket_decision weir_dualbucket_step_peek(const weir_dualbucket_rules *rules,
                                                                 const weir_dualbucket_state *state, uint64_t now,
                                                                 const uint64_t cost[2])
{
    weir_dualbucket_decision d = {{0, 0}, {0, 0}, WEIR_ALLOW};
    int i;

    if (now > rules->horizon) {
        return weir_dualbucket_refused(WEIR_PAST_HORIZON);
    }
    for (i = 0; i < 2; i++) {
        const uint64_t s = now * rules->scale[i].tick;
        weir_decision one = weir_scale_judge(&rules->scale[i], state->tat[i] > s ? state->tat[i] - s : 0, cost[i]);
        d.debt[i] = one.debt;
        d.wait[i] = one.wait;
        d.outcome = one.outcome > d.outcome ? one.outcome : d.outcome;
    }
    return d;
}

/*
 * Decides a request of cost[0] permits of the first limit and cost[1] of the second at tick now, and spends both if
 * it is allowed, else neither. *state is written only then. A limit whose cost is 0 is not touched: its TAT is not even
 * moved up to now. Outcomes: allow, deny, too_costly, past_horizon. No division.
 *
 * Bounds: an allowed debt ends at L < 2^62 at most, and now * p < 2^62, so a new TAT is below 2^63.
 */
static inline weir_dualbucket_decision weir_dualbucket_step(const weir_dualbucket_rules *rules,
                                                            weir_dualbucket_state *state, uint64_t now,
                                                            const uint64_t cost[2])
{
    weir_dualbucket_decision d = weir_dualbucket_step_peek(rules, state, now, cost);
    int i;

    if (d.outcome != WEIR_ALLOW) {
        return d;
    }
    for (i = 0; i < 2; i++) {
        if (cost[i] > 0) {
            d.debt[i] += cost[i] * rules->scale[i].permit;
            state->tat[i] = now * rules->scale[i].tick + d.debt[i];
        }
    }
    return d;
}

/*
 * Gives back cost[0] permits of the first limit and cost[1] of the second, however many: never better than idle,
 * and a limit that is owed nothing is unchanged. now is within the horizon. A division for each limit, which spares
 * a product that might not fit 64 bits.
 */
static inline void weir_dualbucket_step_refund(const weir_dualbucket_rules *rules, weir_dualbucket_state *state,
                                               uint64_t now, const uint64_t cost[2])
{
    int i;

    for (i = 0; i < 2; i++) {
        const weir_scale *scale = &rules->scale[i];
        const uint64_t s = now * scale->tick;
        if (state->tat[i] > s) {
            const uint64_t debt = state->tat[i] - s;
            state->tat[i] = s + (cost[i] > debt / scale->permit ? 0 : debt - cost[i] * scale->permit);
        }
    }
}

/*
 * All of a decision as plain numbers: remaining is the smaller of the two, retry_after and reset_after the larger.
 * binding is, for a denied or too costly request, the limit with the larger retry_after, for an allowed one that with
 * the smaller remaining, the first on a tie and for every other outcome. Six divisions at most.
 */
static inline weir_answer weir_dualbucket_answer_of(const weir_dualbucket_rules *rules, weir_dualbucket_decision d)
{
    weir_answer a = {0, WEIR_FIRST, 0, WEIR_NEVER, 0, 0};
    uint64_t left[2], retry[2], reset[2];
    int i;

    a.outcome = d.outcome;
    if (d.outcome < WEIR_ALLOW || d.outcome > WEIR_TOO_COSTLY) {
        return a;
    }
    for (i = 0; i < 2; i++) {
        left[i] = weir_scale_remaining(&rules->scale[i], d.debt[i]);
        retry[i] = d.wait[i] == WEIR_NEVER ? WEIR_NEVER : weir_scale_ticks(&rules->scale[i], d.wait[i]);
        reset[i] = weir_scale_ticks(&rules->scale[i], d.debt[i]);
    }
    a.remaining = left[1] < left[0] ? left[1] : left[0];
    a.reset_after = reset[1] > reset[0] ? reset[1] : reset[0];
    a.retry_after = retry[1] > retry[0] ? retry[1] : retry[0];
    if (d.outcome == WEIR_ALLOW ? left[1] < left[0] : retry[1] > retry[0]) {
        a.binding = WEIR_SECOND;
    }
    return a;
}

/*
 * weir_dualbucket_answer_of as a function of the library, for languages that call it and cannot include it: *answer is
 * the answer of *decision under the rules that weir_dualbucket_rules_of gives. WEIR_ERR_NULL.
 */
weir_error weir_dualbucket_answer_fill(const weir_dualbucket_rules *rules, const weir_dualbucket_decision *decision,
                                       weir_answer *answer);

/*
 * Ticks: the least wait until remaining is larger; 0 if it is as large as it can be. Where both limits have as much
 * left, the one that regains a permit last decides, unless one of them is as large as it can be. Six divisions at most.
 */
static inline uint64_t weir_dualbucket_next(const weir_dualbucket_rules *rules, weir_dualbucket_decision d)
{
    uint64_t left[2], next[2];
    int i;

    if (d.outcome < WEIR_ALLOW || d.outcome > WEIR_TOO_COSTLY) {
        return 0;
    }
    for (i = 0; i < 2; i++) {
        weir_decision one = {0, 0, 0};
        one.debt = d.debt[i];
        one.outcome = d.outcome;
        left[i] = weir_scale_remaining(&rules->scale[i], one.debt);
        next[i] = weir_next(&rules->scale[i], one);
    }
    if (left[0] != left[1]) {
        return left[0] < left[1] ? next[0] : next[1];
    }
    if (next[0] == 0 || next[1] == 0) {
        return 0;
    }
    return next[0] > next[1] ? next[0] : next[1];
}

/* ---- With a table ---- */

/*
 * A table in a block of memory. It holds no pointer and its layout depends on no compile switch, so a block may be
 * copied, mapped or sent to a machine of the same byte order. It holds its seed: show it to nobody who chooses
 * keys.
 */
typedef struct weir_dualbucket weir_dualbucket;

/*
 * The bytes of a table are WEIR_DUALBUCKET_HEADER + 24 * (max_keys + max_keys/2): at most 36 a key of max_keys. A
 * slot is 24 bytes (key, first TAT, second TAT) and half as many again are spare, so that a look-up is short even
 * when every room is taken. All 2^64 keys are keys like any other: what marks a slot as held is the top bit of its
 * first TAT, which no TAT reaches.
 */
#define WEIR_DUALBUCKET_HEADER 216u

/*
 * How many bytes a table for max_keys keys takes. Checks in this order: WEIR_ERR_NULL; the limit, as
 * weir_dualbucket_rules_init; WEIR_ERR_MAX_KEYS: max_keys is 0, or the bytes are more than half of what size_t
 * counts.
 */
weir_error weir_dualbucket_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes);

/*
 * Makes an empty table in the caller's block, which is then a weir_dualbucket; bytes is the block's size. seed
 * decides where keys stand in the table: where strangers choose the keys, give a secret random one, so that they
 * cannot make theirs crowd together. It changes no answer. Checks in this order: WEIR_ERR_NULL, the limit,
 * WEIR_ERR_MAX_KEYS, WEIR_ERR_ALIGN, WEIR_ERR_SIZE. Writes the header and every slot, nothing beyond.
 */
weir_error weir_dualbucket_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

#ifndef WEIR_NO_MALLOC
/*
 * weir_dualbucket_init over one malloc; *table is the result, for weir_dualbucket_destroy. WEIR_ERR_MEMORY if there
 * is none.
 */
weir_error weir_dualbucket_create(weir_dualbucket **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

/* Frees what weir_dualbucket_create made. NULL is nothing to free. */
void weir_dualbucket_destroy(weir_dualbucket *table);
#endif

/*
 * Decides whether key may spend cost[0] permits of the first limit and cost[1] of the second at now, and spends
 * both if so, else neither. In this order: past_horizon, too_costly, allow where both costs are 0, full, allow or
 * deny. A NULL table or cost answers WEIR_NONE.
 *
 * No division. Looks at no more than one slot beyond the keys held: 2 slots on average for a known key and 5 for a
 * new one when every room is taken; the run of neighbours that one look-up could walk grows as the logarithm of
 * max_keys unless somebody who knows the seed chose the keys.
 */
weir_dualbucket_decision weir_dualbucket_take(weir_dualbucket *table, uint64_t now, uint64_t key,
                                              const uint64_t cost[2]);

/*
 * Asks for the memory of key to be brought near, for a take that follows soon: a caller that has many requests at
 * hand names all their keys first. Changes nothing, answers nothing. No loop.
 */
void weir_dualbucket_prefetch(const weir_dualbucket *table, uint64_t key);

/* The outcome and waits that take would give, with the debts as they stand. Changes nothing. Bounds as take. */
weir_dualbucket_decision weir_dualbucket_peek(const weir_dualbucket *table, uint64_t now, uint64_t key,
                                              const uint64_t cost[2]);

/*
 * Gives back cost[0] and cost[1] permits of an earlier request, never making a key better than new. An unknown key
 * stays unknown, and a refunded one keeps its room. Refund soon, and what was spent last: a late refund gives
 * credit for what has come back by itself. WEIR_ERR_NULL (cost too), WEIR_ERR_PAST_HORIZON. Bounds as take.
 */
weir_error weir_dualbucket_refund(weir_dualbucket *table, uint64_t now, uint64_t key, const uint64_t cost[2]);

/*
 * Makes key as if it had never been seen: its room is free. A NULL table or an unknown key is nothing to do. The
 * slots after it move up at once, so nothing builds up: as many looks as keys held + 1 twice at most, as a rule a
 * few.
 */
void weir_dualbucket_forget(weir_dualbucket *table, uint64_t key);

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
weir_error weir_dualbucket_sweep(weir_dualbucket *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done);

/*
 * Puts the table under another limit at now. What a key has spent is kept, in permits, rounded up and never more
 * than the new burst; an idle key keeps its room. WEIR_ERR_NULL; the limit, as weir_dualbucket_rules_init;
 * WEIR_ERR_PAST_HORIZON where now is beyond the old horizon or the new. Looks at every slot; each key held costs two
 * 128-bit products and their quotients.
 */
weir_error weir_dualbucket_relimit(weir_dualbucket *table, uint64_t now, const weir_limit *limit);

/* How many keys hold room; how many can; the largest now that is decided; the limit in force. 0 for a NULL table. */
uint64_t weir_dualbucket_keys(const weir_dualbucket *table);
uint64_t weir_dualbucket_max_keys(const weir_dualbucket *table);
uint64_t weir_dualbucket_horizon(const weir_dualbucket *table);
weir_limit weir_dualbucket_limit(const weir_dualbucket *table);

/* The limit in force in units, for the quotients of a decision; a relimit changes it. NULL for a NULL table. */
const weir_dualbucket_rules *weir_dualbucket_rules_of(const weir_dualbucket *table);

#ifdef __cplusplus
}
#endif

#endif
