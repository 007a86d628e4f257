/*
 * slidinglog.h - the sliding window log: never more than so many permits in any window of one period.
 *
 * A table (weir_slidinglog) is not thread-safe: one caller at a time, or a lock around it. max_keys is how many keys it
 * can hold, all of that is allocated when it is made, and nothing ever grows. A key takes up room at its first allowed
 * request with a cost above 0 and holds it until it is forgotten or a sweep finds it idle; the table never frees room by
 * itself, so the caller sweeps, all at once or some slots at a time. While every room is taken, known keys are served as
 * ever, and a new key gets WEIR_FULL and leaves no trace. A refused, too costly or peeked key leaves none either.
 *
 * The algorithm (folklore; the guarantee is the definition itself). A key's log holds what it was allowed and when, in
 * pairs of a tick and permits, oldest first, equal ticks merged. A permit spent at t counts while now < t + period:
 *
 *     at   = max(now, tick of the newest pair)         the log never runs backwards
 *     used = permits of the pairs with tick + period > at
 *     allowed if used + cost <= permits                then what has expired is dropped, (at, cost) appended
 *
 * Each pair carries the running total of the log, so that used, and the pair whose expiry frees enough, are found by
 * binary search: a denied request walks nothing and writes nothing. Totals wrap; only differences count.
 * A log takes min(permits, period) entries of 16 bytes. burst is not a parameter: it is 0, or equal to permits.
 *
 * Two ways to use it: weir_slidinglog_step over a log and a ring of entries that you keep, or a table over a block of
 * memory that you give. Only allowed requests change anything.
 *
 *     weir_limit limit = {5, 60000000000, 0, 0, 0, 0};        5 in any minute, in nanoseconds
 *
 *     weir_slidinglog_rules rules;                            a log of your own
 *     weir_slidinglog_log log = {0, 0, 0, 0, 0};
 *     weir_slidinglog_entry ring[5];
 *     weir_slidinglog_rules_init(&rules, &limit);
 *     if (weir_slidinglog_step(&rules, &log, ring, now, 1).outcome == WEIR_ALLOW) ...
 *
 *     weir_slidinglog *table;                                 a table for 1000 keys
 *     weir_slidinglog_create(&table, &limit, 1000, secret);
 *     if (weir_slidinglog_take(table, now, key, 1).outcome == WEIR_ALLOW) ...
 */
#ifndef WEIR_SLIDINGLOG_H
#define WEIR_SLIDINGLOG_H

#include "weir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Without a table ---- */

/* The largest now that is decided, whatever the limit: a tick and a period are below 2^63 together. */
#define WEIR_SLIDINGLOG_HORIZON ((UINT64_C(1) << 62) - 1)

/* The constants of one limit; make them with weir_slidinglog_rules_init. The step's functions need that, and no NULL. */
typedef struct weir_slidinglog_rules {
    uint64_t permits, period; /* at least 1 and below 2^62 */
    uint64_t entries;         /* of the ring: min(permits, period), or what a longer ring has; it stays with the ring */
} weir_slidinglog_rules;

/*
 * Checks a limit, in this order: WEIR_ERR_NULL, WEIR_ERR_INVALID_SECOND, _INVALID_PERMITS, _INVALID_PERIOD,
 * _INVALID_BURST (neither 0 nor permits), _LIMIT_TOO_LARGE (permits or period is 2^62 or more). *rules is written only
 * for WEIR_OK; its entries are min(permits, period), which is what the ring must have. No loop.
 */
weir_error weir_slidinglog_rules_init(weir_slidinglog_rules *rules, const weir_limit *limit);

/* What was spent at one tick, as the running total of the log up to and with it. */
typedef struct weir_slidinglog_entry {
    uint64_t tick, total;
} weir_slidinglog_entry;

/* A key's log, beside its ring of entries. Zeros: never seen. */
typedef struct weir_slidinglog_log {
    uint64_t newest; /* the tick of the newest entry, if there is one */
    uint64_t total;  /* the running total with the newest entry */
    uint64_t spent;  /* the running total before the oldest entry */
    uint64_t head;   /* where in the ring the oldest entry is */
    uint64_t count;  /* how many entries there are */
} weir_slidinglog_log;

/* Where in the ring entry i stands; 0 is the oldest. Bounds: head and i are below entries, which can be addressed. */
static inline size_t weir_slidinglog_place(const weir_slidinglog_rules *rules, const weir_slidinglog_log *log,
                                           uint64_t i)
{
    const uint64_t place = log->head + i;
    return WEIR_CAST(size_t, place < rules->entries ? place : place - rules->entries);
}

/* The running total before entry i, i up to count. */
static inline uint64_t weir_slidinglog_before(const weir_slidinglog_rules *rules, const weir_slidinglog_log *log,
                                              const weir_slidinglog_entry *ring, uint64_t i)
{
    return i == 0 ? log->spent : ring[weir_slidinglog_place(rules, log, i - 1)].total;
}

/* A log as of one now. */
typedef struct weir_slidinglog_view {
    uint64_t now, at; /* at is not before the newest entry: the log does not run backwards */
    uint64_t live;    /* the first entry that still counts at `at`; count if none does */
    uint64_t used;    /* permits of the entries from live on */
} weir_slidinglog_view;

/* The log as of now, within the horizon. At most 62 looks (binary search). Bounds: tick + period is below 2^63. */
static inline weir_slidinglog_view weir_slidinglog_view_at(const weir_slidinglog_rules *rules,
                                                           const weir_slidinglog_log *log,
                                                           const weir_slidinglog_entry *ring, uint64_t now)
{
    weir_slidinglog_view v = {now, 0, 0, 0};
    uint64_t low = 0, high = log->count;

    v.at = log->count > 0 && log->newest > now ? log->newest : now;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (ring[weir_slidinglog_place(rules, log, middle)].tick + rules->period > v.at) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    v.live = low;
    v.used = log->count == 0 ? 0 : log->total - weir_slidinglog_before(rules, log, ring, low);
    return v;
}

/*
 * The first entry with which the permits from live on are at least enough; enough is above 0 and at most what is used.
 * At most 62 looks (binary search).
 */
static inline uint64_t weir_slidinglog_reach(const weir_slidinglog_rules *rules, const weir_slidinglog_log *log,
                                             const weir_slidinglog_entry *ring, const weir_slidinglog_view *v,
                                             uint64_t enough)
{
    const uint64_t from = weir_slidinglog_before(rules, log, ring, v->live);
    uint64_t low = v->live, high = log->count - 1;

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (ring[weir_slidinglog_place(rules, log, middle)].total - from >= enough) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

/* Ticks until the first entry has expired with which at least enough permits are free again. enough as for reach. */
static inline uint64_t weir_slidinglog_expiry(const weir_slidinglog_rules *rules, const weir_slidinglog_log *log,
                                              const weir_slidinglog_entry *ring, const weir_slidinglog_view *v,
                                              uint64_t enough)
{
    const uint64_t i = weir_slidinglog_reach(rules, log, ring, v, enough);
    return ring[weir_slidinglog_place(rules, log, i)].tick + rules->period - v->now;
}

/* The answer of a request that was not weighed at all: full, past_horizon, none. */
static inline weir_answer weir_slidinglog_refused(weir_outcome outcome)
{
    weir_answer a = {0, WEIR_FIRST, 0, WEIR_NEVER, 0, 0};
    a.outcome = outcome;
    return a;
}

/*
 * Decides a request of cost permits on a log as of one now, and spends nothing. At most 62 looks, for a denied one.
 * Bounds: used is below 2^62 and so is a cost that is not too costly. used may exceed permits after a relimit.
 */
static inline weir_answer weir_slidinglog_judge(const weir_slidinglog_rules *rules, const weir_slidinglog_log *log,
                                                const weir_slidinglog_entry *ring, const weir_slidinglog_view *v,
                                                uint64_t cost)
{
    weir_answer a = {WEIR_ALLOW, WEIR_FIRST, 0, 0, 0, 0};

    a.remaining = v->used < rules->permits ? rules->permits - v->used : 0;
    a.reset_after = v->used > 0 ? log->newest + rules->period - v->now : 0;
    if (cost > rules->permits) {
        a.outcome = WEIR_TOO_COSTLY;
        a.retry_after = WEIR_NEVER;
    } else if (cost > a.remaining) {
        a.outcome = WEIR_DENY;
        a.retry_after = weir_slidinglog_expiry(rules, log, ring, v, v->used + cost - rules->permits);
    }
    return a;
}

/* Decides as weir_slidinglog_step would and logs nothing; remaining and reset_after as they stand. No division. */
static inline weir_answer weir_slidinglog_step_peek(const weir_slidinglog_rules *rules, const weir_slidinglog_log *log,
                                                    const weir_slidinglog_entry *ring, uint64_t now, uint64_t cost)
{
    weir_slidinglog_view v;

    if (now > WEIR_SLIDINGLOG_HORIZON) {
        return weir_slidinglog_refused(WEIR_PAST_HORIZON);
    }
    v = weir_slidinglog_view_at(rules, log, ring, now);
    return weir_slidinglog_judge(rules, log, ring, &v, cost);
}

/*
 * Logs cost permits, which were judged to be allowed, above 0, as of the view: drops what has expired, however much, and
 * appends; an equal tick is merged. No loop.
 *
 * Bounds: what is left has distinct ticks in one period and a permit at least in each, with the new entry too, so there
 * are min(permits, period) at most. Totals wrap by intent.
 */
static inline void weir_slidinglog_append(const weir_slidinglog_rules *rules, weir_slidinglog_log *log,
                                          weir_slidinglog_entry *ring, const weir_slidinglog_view *v, uint64_t cost)
{
    log->spent = weir_slidinglog_before(rules, log, ring, v->live);
    log->head = weir_slidinglog_place(rules, log, v->live);
    log->count -= v->live;
    log->total += cost;
    if (log->count == 0 || log->newest != v->at) {
        log->count++;
        log->newest = v->at;
    }
    ring[weir_slidinglog_place(rules, log, log->count - 1)].tick = v->at;
    ring[weir_slidinglog_place(rules, log, log->count - 1)].total = log->total;
}

/*
 * Decides whether cost permits can be spent at tick now without more than permits in any period ticks, and logs them if
 * so. The log and its ring are written only then. Outcomes: allow, deny, too_costly, past_horizon. No division; two
 * binary searches at most, of 62 looks each. A cost of 0 is allowed and changes nothing, even where the log is over
 * full.
 */
static inline weir_answer weir_slidinglog_step(const weir_slidinglog_rules *rules, weir_slidinglog_log *log,
                                               weir_slidinglog_entry *ring, uint64_t now, uint64_t cost)
{
    weir_slidinglog_view v;
    weir_answer a;

    if (now > WEIR_SLIDINGLOG_HORIZON) {
        return weir_slidinglog_refused(WEIR_PAST_HORIZON);
    }
    v = weir_slidinglog_view_at(rules, log, ring, now);
    a = weir_slidinglog_judge(rules, log, ring, &v, cost);
    if (a.outcome == WEIR_ALLOW && cost > 0) {
        weir_slidinglog_append(rules, log, ring, &v, cost);
        a.remaining -= cost;
        a.reset_after = v.at + rules->period - now;
    }
    return a;
}

/*
 * Takes out cost of the permits that count at now, the newest first, however many are asked for; what has expired stays.
 * The newest entry left is the log's clock again. now is within the horizon. Two binary searches.
 */
static inline void weir_slidinglog_step_refund(const weir_slidinglog_rules *rules, weir_slidinglog_log *log,
                                               weir_slidinglog_entry *ring, uint64_t now, uint64_t cost)
{
    const weir_slidinglog_view v = weir_slidinglog_view_at(rules, log, ring, now);
    size_t last;

    if (cost == 0 || v.used == 0) {
        return;
    }
    if (cost < v.used) {
        log->count = weir_slidinglog_reach(rules, log, ring, &v, v.used - cost) + 1;
        log->total -= cost;
    } else {
        log->count = v.live;
        log->total -= v.used;
    }
    if (log->count > 0) {
        last = weir_slidinglog_place(rules, log, log->count - 1);
        ring[last].total = log->total;
        log->newest = ring[last].tick;
    }
}

/* Ticks: the least wait until more permits remain than at now; 0 if nothing counts, and for a now past the horizon. */
static inline uint64_t weir_slidinglog_step_next(const weir_slidinglog_rules *rules, const weir_slidinglog_log *log,
                                                 const weir_slidinglog_entry *ring, uint64_t now)
{
    weir_slidinglog_view v;

    if (now > WEIR_SLIDINGLOG_HORIZON) {
        return 0;
    }
    v = weir_slidinglog_view_at(rules, log, ring, now);
    if (v.used == 0) {
        return 0;
    }
    return weir_slidinglog_expiry(rules, log, ring, &v, v.used > rules->permits ? v.used - rules->permits + 1 : 1);
}

/* Whether nothing of the log counts at now, as if it had never been seen. */
static inline bool weir_slidinglog_idle(const weir_slidinglog_rules *rules, const weir_slidinglog_log *log,
                                        uint64_t now)
{
    return log->count == 0 || log->newest + rules->period <= now;
}

/* ---- With a table ---- */

/*
 * A table in a block of memory. It holds no pointer and its layout depends on no compile switch, so a block may be
 * copied, mapped or sent to a machine of the same byte order. It holds its seed: show it to nobody who chooses keys.
 */
typedef struct weir_slidinglog weir_slidinglog;

/*
 * The bytes of a table are WEIR_SLIDINGLOG_HEADER + 16 * (max_keys + max_keys/2) for the slots, and 40 + 16 * entries
 * for the log of each of max_keys keys, entries being min(permits, period): about 64 + 16 * entries a key. All of it is
 * there from the start, so a million permits in a longer period are 16 MB a key: the size function is where one finds
 * out. All 2^64 keys are keys like any other: what marks a slot as held is the top bit of its second word.
 *
 * A table never has more entries a key than it was made with. To leave room for a larger limit later, make the table for
 * the larger one and put it under the smaller one at once, by weir_slidinglog_relimit.
 */
#define WEIR_SLIDINGLOG_HEADER 160u

/*
 * How many bytes a table for max_keys keys takes. Checks in this order: WEIR_ERR_NULL; the limit, as
 * weir_slidinglog_rules_init; WEIR_ERR_MAX_KEYS: max_keys is 0, or the bytes are more than half of what size_t counts.
 */
weir_error weir_slidinglog_size(const weir_limit *limit, uint64_t max_keys, size_t *bytes);

/*
 * Makes an empty table in the caller's block, which is then a weir_slidinglog; bytes is the block's size. seed decides
 * where keys stand in the table: where strangers choose the keys, give a secret random one, so that they cannot make
 * theirs crowd together. It changes no answer. Checks in this order: WEIR_ERR_NULL, the limit, WEIR_ERR_MAX_KEYS,
 * WEIR_ERR_ALIGN, WEIR_ERR_SIZE. Writes the header and every slot, and of a log what it needs when its key comes.
 */
weir_error weir_slidinglog_init(void *block, size_t bytes, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

#ifndef WEIR_NO_MALLOC
/*
 * weir_slidinglog_init over one malloc; *table is the result, for weir_slidinglog_destroy. WEIR_ERR_MEMORY if there is
 * none.
 */
weir_error weir_slidinglog_create(weir_slidinglog **table, const weir_limit *limit, uint64_t max_keys, uint64_t seed);

/* Frees what weir_slidinglog_create made. NULL is nothing to free. */
void weir_slidinglog_destroy(weir_slidinglog *table);
#endif

/*
 * Decides whether key may spend cost permits at now, and spends them if so. In this order: past_horizon, too_costly,
 * allow for a cost of 0, full, allow or deny. A NULL table answers WEIR_NONE.
 *
 * No division. A look-up looks at no more than one slot beyond the keys held: 2 slots on average for a known key and 5
 * for a new one when every room is taken; the run of neighbours that one look-up could walk grows as the logarithm of
 * max_keys unless somebody who knows the seed chose the keys. In the log two binary searches at most, of 62 looks each;
 * expired entries are dropped at once, however many.
 */
weir_answer weir_slidinglog_take(weir_slidinglog *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Asks for the memory of key to be brought near, for a take that follows soon: a caller that has many requests at hand
 * names all their keys first. Changes nothing, answers nothing. No loop.
 */
void weir_slidinglog_prefetch(const weir_slidinglog *table, uint64_t key);

/* The outcome and retry_after that take would give, the rest as it stands. Changes nothing. Bounds as take. */
weir_answer weir_slidinglog_peek(const weir_slidinglog *table, uint64_t now, uint64_t key, uint64_t cost);

/*
 * Takes out of the key's log the newest of the permits that count, up to cost; older and expired entries stay, and the
 * newest entry left is the log's clock again. An unknown key stays unknown, and a refunded one keeps its room.
 * WEIR_ERR_NULL, WEIR_ERR_PAST_HORIZON. Bounds as take.
 */
weir_error weir_slidinglog_refund(weir_slidinglog *table, uint64_t now, uint64_t key, uint64_t cost);

/* Makes key as if it had never been seen: its room is free. NULL or an unknown key is nothing to do. Bounds: gcra.h. */
void weir_slidinglog_forget(weir_slidinglog *table, uint64_t key);

/*
 * Frees the room of the keys of whose log nothing counts at now. slots is how many slots to look at, going on where the
 * last call stopped; 0 looks at all, from the first to the last. A now beyond the horizon counts as the horizon. *freed
 * is how many keys were freed, *done whether the pass has come to the table's end (the next call starts anew); either
 * may be NULL. WEIR_ERR_NULL for the table. Bounds as in gcra.h.
 */
weir_error weir_slidinglog_sweep(weir_slidinglog *table, uint64_t now, uint64_t slots, uint64_t *freed, bool *done);

/*
 * Puts the table under another limit at now: the entries that are still held keep their ticks and count under the new
 * permits and period. WEIR_ERR_NULL; the limit, as weir_slidinglog_rules_init; WEIR_ERR_LIMIT_TOO_LARGE too where
 * min(permits, period) is more than the entries that a key has here; WEIR_ERR_PAST_HORIZON. No loop.
 */
weir_error weir_slidinglog_relimit(weir_slidinglog *table, uint64_t now, const weir_limit *limit);

/* How many keys hold room; how many can; the largest now that is decided; the limit in force. 0 for a NULL table. */
uint64_t weir_slidinglog_keys(const weir_slidinglog *table);
uint64_t weir_slidinglog_max_keys(const weir_slidinglog *table);
uint64_t weir_slidinglog_horizon(const weir_slidinglog *table);
weir_limit weir_slidinglog_limit(const weir_slidinglog *table);

/* How many entries the log of a key has room for. 0 for a NULL table. */
uint64_t weir_slidinglog_entries(const weir_slidinglog *table);

/*
 * Ticks: the least wait until the remaining of key is larger than at now; 0 if it is as large as it can be, and for a
 * now past the horizon and a NULL table. Bounds as take.
 */
uint64_t weir_slidinglog_next(const weir_slidinglog *table, uint64_t now, uint64_t key);

#ifdef __cplusplus
}
#endif

#endif
