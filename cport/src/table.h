/*
 * table.h - key -> state in one block, by open addressing: the one key table of the library.
 *
 * A slot is a few words: the key, then the state, whose first word is below 2^63; the word's top bit says that the
 * slot is held. A free slot is all zero. A key stands in the first slot at or after its home, round the table's
 * end, that was free (linear probing: neighbours share cache lines). Three rules keep a look-up short:
 *
 *   - there is always a free slot, at least max_keys/2 + 1 of them, and a look-up ends at the first it meets;
 *   - a removal moves the keys behind it up (Knuth, The Art of Computer Programming, vol. 3, 6.4, algorithm R), so
 *     there are no tombstones to build up;
 *   - homes are drawn by a secret, so that nobody can choose keys that crowd together.
 *
 * Worst case of a look-up: keys + 1 slots. At the fullest, two thirds, Knuth's averages for linear probing are 2
 * slots for a key that is there and 5 for one that is not.
 *
 * Only words of 64 bits, so the layout is the same everywhere. `at` is the first slot, and `words` the words of a
 * slot, a constant at each call, at least 2. Callers have checked every pointer. A block begins with a weir_table,
 * goes on with what its policy adds, and ends with the slots (a sliding log's rings come after them).
 */
#ifndef WEIR_SRC_TABLE_H
#define WEIR_SRC_TABLE_H

#include "weir/weir.h"

#include "arith.h"

#define WEIR_HELD (UINT64_C(1) << 63)

/* A condition that hardly ever holds: the compiler puts what follows from it out of the way of a take. */
#if defined(__GNUC__)
#define WEIR_RARELY(condition) __builtin_expect((condition), 0)
#else
#define WEIR_RARELY(condition) (condition)
#endif

typedef struct weir_table {
    uint64_t slots;    /* max_keys + max_keys/2 + 1 */
    uint64_t max_keys; /* how many keys may be held */
    uint64_t keys;     /* how many are */
    uint64_t cursor;   /* where the next sweep goes on; below slots */
    uint64_t place[3]; /* what places the keys: odd numbers drawn from the seed */
} weir_table;

/* How many slots so many keys have: half as many again, and one that is always free. */
static inline size_t weir_table_slots(size_t keys)
{
    return keys + keys / 2 + 1;
}

/*
 * The bytes of a block for max_keys keys: a header, slots of so many words, and beside them so many bytes a key.
 * WEIR_ERR_MAX_KEYS, and *bytes is not touched, if max_keys is 0 or they are more than half of what size_t counts
 * (the largest object that C can point into). header and words are small; beside is any number. In place, so that the
 * division is the compiler's where beside is a constant.
 *
 * Bounds: one key takes no more than 1.5 slots and what is beside them, and one slot is always free; what is left
 * of half the address space is divided by that, so that no sum or product wraps. header + slot is far below it.
 */
static inline weir_error weir_table_bytes(uint64_t max_keys, size_t header, size_t words, size_t beside, size_t *bytes)
{
    const size_t slot = words * sizeof(uint64_t), room = SIZE_MAX / 2 - header - slot, keys = (size_t)max_keys;

    if (max_keys == 0 || beside > room || max_keys > room / (slot / 2 * 3 + beside)) {
        return WEIR_ERR_MAX_KEYS;
    }
    *bytes = header + weir_table_slots(keys) * slot + keys * beside;
    return WEIR_OK;
}

/* Whether a block is aligned (WEIR_ERR_ALIGN) and as large as is needed (WEIR_ERR_SIZE). */
static inline weir_error weir_table_check(const void *block, size_t bytes, size_t needed)
{
    if ((uintptr_t)block % WEIR_ALIGN != 0) {
        return WEIR_ERR_ALIGN;
    }
    return bytes < needed ? WEIR_ERR_SIZE : WEIR_OK;
}

/*
 * Makes a block an empty table: header and slots are zeros but for what is said of the table. max_keys is one that
 * weir_table_bytes has let pass. One write a word.
 */
WEIR_INTERNAL void weir_table_init(void *block, size_t header, size_t words, size_t max_keys, uint64_t seed);

/*
 * Frees held slot hole and moves up each key behind it that would then be met no later than at its home, so that
 * no look-up meets a gap. Worst case: keys looks and moves (the run of held slots ends at the latest there).
 */
WEIR_INTERNAL void weir_table_remove(weir_table *t, uint64_t *at, size_t words, size_t hole);

/*
 * A pass of a sweep: the slot to look at, and how many looks are left. A pass goes on with `at` until it is not
 * weir_pass_more, and then ends. At a slot whose key is idle the caller removes it and stays, at any other it adds
 * 1 to `at`.
 *
 * A removal fills the slot from behind or leaves it free, so it is looked at again: what is behind it has not been
 * looked at yet, except where the run of neighbours goes round the table's end, and those may be looked at twice.
 * Nothing moves from a slot not yet looked at to one that has been, so no idle key is missed.
 *
 * Worst case: min(looks, slots + keys) rounds, since each either goes on or frees a key, and a removal in each of
 * the latter.
 */
typedef struct weir_pass {
    size_t at, looks, before;
} weir_pass;

/* Begins a pass of so many looks where the last one stopped; of 0: one of all slots, from the first. */
WEIR_INTERNAL weir_pass weir_pass_begin(const weir_table *t, uint64_t slots);

/* Ends it: keeps the place, and says what was freed and whether the table's end was reached. Either may be NULL. */
WEIR_INTERNAL void weir_pass_end(weir_table *t, const weir_pass *pass, uint64_t *freed, bool *done);

static inline bool weir_pass_more(const weir_table *t, weir_pass *pass)
{
    return pass->at < (size_t)t->slots && pass->looks-- > 0;
}

/*
 * Scatters x: three rounds of a fold, which carries high bits down, and a product by an odd number (multiplicative
 * hashing: Dietzfelbinger et al., 1997). The high half of the result is the better one. Wraps by intent.
 */
static inline uint64_t weir_scatter(uint64_t x, const uint64_t odd[2])
{
    x = (x ^ x >> 32) * odd[0];
    x = (x ^ x >> 32) * odd[1];
    return (x ^ x >> 32) * odd[0];
}

/*
 * The slot where a key would like to stand: below slots. Three rounds under secret numbers, because after two the
 * keys that differ in their top bits only still stand in steps of equal length, and a seed in a hundred or so made
 * those steps crowd.
 */
static inline size_t weir_table_home(const weir_table *t, uint64_t key)
{
    const uint64_t x = weir_scatter(key ^ t->place[0], t->place + 1);

#if SIZE_MAX > UINT32_MAX
    if (WEIR_RARELY(t->slots > UINT32_MAX)) {
        return (size_t)weir_multiply(x, t->slots).high;
    }
#endif
    return (size_t)((x >> 32) * (t->slots & UINT32_MAX) >> 32);
}

/* The slot after i, round the table's end. */
static inline size_t weir_table_after(const weir_table *t, size_t i)
{
    return i + 1 < (size_t)t->slots ? i + 1 : 0;
}

static inline bool weir_table_held(const uint64_t *slot)
{
    return (slot[1] & WEIR_HELD) != 0;
}

/* The slot that holds key, or the free one where it would stand. Worst case: keys + 1 looks. */
static inline size_t weir_table_look(const weir_table *t, const uint64_t *at, uint64_t key, size_t words)
{
    size_t i = weir_table_home(t, key), looks = (size_t)t->keys;

    while (at[i * words] != key && weir_table_held(at + i * words) && looks-- > 0) {
        i = weir_table_after(t, i);
    }
    return i;
}

/* weir_table_look, once for the whole library. */
WEIR_INTERNAL size_t weir_table_seek(const weir_table *t, const uint64_t *at, uint64_t key, size_t words);

/* weir_table_look: in place, or where the compiler is told to make small code (-Os), by a call. */
static inline size_t weir_table_find(const weir_table *t, const uint64_t *at, uint64_t key, size_t words)
{
#if defined(__OPTIMIZE_SIZE__)
    return weir_table_seek(t, at, key, words);
#else
    return weir_table_look(t, at, key, words);
#endif
}

/* Whether a slot's key would be refused for want of room: a key that holds none, and all rooms are taken. */
static inline bool weir_table_no_room(const weir_table *t, const uint64_t *slot)
{
    return !weir_table_held(slot) && (size_t)t->keys >= (size_t)t->max_keys;
}

/*
 * Gives the key the slot that weir_table_find found for it, if there is room; the caller then writes its state, held.
 * False, and nothing changes, if there is none.
 */
static inline bool weir_table_hold(weir_table *t, uint64_t *slot, uint64_t key)
{
    if (weir_table_no_room(t, slot)) {
        return false;
    }
    if (!weir_table_held(slot)) {
        t->keys++;
        slot[0] = key;
    }
    return true;
}

/* Asks for a cache line to be brought in, where the compiler knows how. Changes nothing. */
static inline void weir_prefetch(const void *line)
{
#if defined(__GNUC__)
    __builtin_prefetch(line, 1);
#else
    (void)line;
#endif
}

#endif
