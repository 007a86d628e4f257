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
 * Only words of 64 bits, so the layout is the same everywhere. `words` is the words of a slot, a constant at each
 * call, at least 2. Callers have checked every pointer.
 */
#ifndef WEIR_SRC_TABLE_H
#define WEIR_SRC_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arith.h"

#define WEIR_HELD (UINT64_C(1) << 63)

typedef struct weir_table {
    uint64_t slots;    /* max_keys + max_keys/2 + 1 */
    uint64_t max_keys; /* how many keys may be held */
    uint64_t keys;     /* how many are */
    uint64_t cursor;   /* where the next sweep goes on; below slots */
    uint64_t mask, first, second; /* what places the keys, drawn from the seed; first and second are odd */
} weir_table;

/*
 * The slots for max_keys keys, or 0 if header + slots of so many words are more bytes than half of what size_t
 * counts (the largest object C can point into), or max_keys is 0.
 *
 * Bounds: max_keys is compared first, against a bound that makes 1.5 slots a key fit, so that no sum or product
 * wraps.
 */
static inline uint64_t weir_table_slots(uint64_t max_keys, size_t header, size_t words)
{
    const uint64_t room = ((uint64_t)(SIZE_MAX / 2) - header) / (words * sizeof(uint64_t)) - 1;

    if (max_keys == 0 || max_keys > room / 3 * 2) {
        return 0;
    }
    return max_keys + max_keys / 2 + 1;
}

/* The next number of a sequence drawn from *state: splitmix64 (Steele, Lea, Flood, OOPSLA 2014). Wraps by intent. */
static inline uint64_t weir_draw(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Makes an empty table of slots free slots. One write a word. */
static inline void weir_table_init(weir_table *t, uint64_t *at, size_t words, uint64_t slots, uint64_t max_keys,
                                   uint64_t seed)
{
    const size_t total = (size_t)slots * words;
    size_t i;

    t->slots = slots;
    t->max_keys = max_keys;
    t->keys = 0;
    t->cursor = 0;
    t->mask = weir_draw(&seed);
    t->first = weir_draw(&seed) | 1;
    t->second = weir_draw(&seed) | 1;
    for (i = 0; i < total; i++) {
        at[i] = 0;
    }
}

/*
 * The slot where a key would like to stand: below slots. The products wrap by intent. The multipliers are secret
 * and odd (multiplicative hashing: Dietzfelbinger et al., 1997), and the folds between them carry high bits down.
 * Three rounds, because after two the keys that differ in their top bits only still stand in steps of equal
 * length, and a seed in a hundred or so made those steps crowd.
 */
static inline size_t weir_table_home(const weir_table *t, uint64_t key)
{
    uint64_t x = (key ^ t->mask) * t->first;

    x = (x ^ x >> 32) * t->second;
    x = (x ^ x >> 32) * t->first;
#if SIZE_MAX > UINT32_MAX
    if (t->slots > UINT32_MAX) {
        return (size_t)weir_multiply(x, t->slots).high;
    }
#endif
    return (size_t)((x >> 32) * t->slots >> 32);
}

/* The slot after i, round the table's end. */
static inline size_t weir_table_after(const weir_table *t, size_t i)
{
    return i + 1 < t->slots ? i + 1 : 0;
}

static inline bool weir_table_held(const uint64_t *slot)
{
    return (slot[1] & WEIR_HELD) != 0;
}

/* The slot that holds key, or the free one where it would stand. Worst case: keys + 1 looks. */
static inline size_t weir_table_find(const weir_table *t, const uint64_t *at, size_t words, uint64_t key)
{
    size_t i = weir_table_home(t, key);
    uint64_t looks;

    for (looks = 0; looks < t->keys; looks++) {
        const uint64_t *slot = at + i * words;
        if (slot[0] == key || !weir_table_held(slot)) {
            break;
        }
        i = weir_table_after(t, i);
    }
    return i;
}

/* How far slot b is behind slot a, going round the table's end. Below slots. */
static inline uint64_t weir_table_distance(const weir_table *t, size_t a, size_t b)
{
    return b >= a ? b - a : b + t->slots - a;
}

/*
 * Frees held slot hole and moves up each key behind it that would then be met no later than at its home, so that
 * no look-up meets a gap. Worst case: keys looks and moves (the run of held slots ends at the latest there).
 */
static inline void weir_table_remove(weir_table *t, uint64_t *at, size_t words, size_t hole)
{
    size_t next = hole, word;
    uint64_t looks;

    for (looks = 0; looks < t->keys; looks++) {
        const uint64_t *slot = at + (next = weir_table_after(t, next)) * words;
        if (!weir_table_held(slot)) {
            break;
        }
        if (weir_table_distance(t, weir_table_home(t, slot[0]), next) < weir_table_distance(t, hole, next)) {
            continue;
        }
        for (word = 0; word < words; word++) {
            at[hole * words + word] = slot[word];
        }
        hole = next;
    }
    for (word = 0; word < words; word++) {
        at[hole * words + word] = 0;
    }
    t->keys--;
}

#endif
