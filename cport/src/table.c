/* table.c - what a table does now and then: it is made, loses a key, is swept. See table.h. */
#include "table.h"

/*
 * Bounds: one key takes no more than 1.5 slots and what is beside them, and one slot is always free; what is left
 * of half the address space is divided by that, so that no sum or product wraps. header + slot is far below it.
 */
weir_error weir_table_bytes(uint64_t max_keys, size_t header, size_t words, uint64_t beside, size_t *bytes)
{
    const size_t slot = words * sizeof(uint64_t), room = SIZE_MAX / 2 - header - slot;
    size_t keys, more;

    if (beside > room || max_keys > room || max_keys == 0) {
        return WEIR_ERR_MAX_KEYS;
    }
    keys = (size_t)max_keys;
    more = (size_t)beside;
    if (keys > room / (slot / 2 * 3 + more)) {
        return WEIR_ERR_MAX_KEYS;
    }
    *bytes = header + (keys + keys / 2 + 1) * slot + keys * more;
    return WEIR_OK;
}

weir_error weir_table_check(const void *block, size_t bytes, size_t needed)
{
    if ((uintptr_t)block % WEIR_ALIGN != 0) {
        return WEIR_ERR_ALIGN;
    }
    return bytes < needed ? WEIR_ERR_SIZE : WEIR_OK;
}

/*
 * Draws from the seed by the same rounds under fixed numbers, those of splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
 * Bounds: max_keys is one that weir_table_bytes has let pass, so that the slots fit a size_t.
 */
void weir_table_init(weir_table *t, uint64_t *at, size_t words, uint64_t max_keys, uint64_t seed)
{
    static const uint64_t odd[2] = {UINT64_C(0xbf58476d1ce4e5b9), UINT64_C(0x94d049bb133111eb)};
    const size_t keys = (size_t)max_keys, slots = keys + keys / 2 + 1;
    size_t i;

    t->slots = slots;
    t->max_keys = keys;
    t->keys = 0;
    t->cursor = 0;
    for (i = 0; i < 3; i++) {
        seed = weir_scatter(seed + UINT64_C(0x9e3779b97f4a7c15), odd) | 1;
        t->place[i] = seed;
    }
    for (i = 0; i < slots * words; i++) {
        at[i] = 0;
    }
}

size_t weir_table_seek(const weir_table *t, const uint64_t *at, size_t words, uint64_t key)
{
    return weir_table_look(t, at, words, key);
}

/* How far slot b is behind slot a, going round the table's end. Below slots. */
static size_t weir_table_distance(const weir_table *t, size_t a, size_t b)
{
    return b >= a ? b - a : b + (size_t)t->slots - a;
}

void weir_table_remove(weir_table *t, uint64_t *at, size_t words, size_t hole)
{
    size_t next = hole, looks, word;

    for (looks = (size_t)t->keys; looks > 0; looks--) {
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

weir_pass weir_pass_begin(const weir_table *t, uint64_t slots)
{
    weir_pass pass;

    pass.looks = slots == 0 || slots > SIZE_MAX ? SIZE_MAX : (size_t)slots;
    pass.before = (size_t)t->keys;
    pass.at = slots == 0 ? 0 : (size_t)t->cursor;
    return pass;
}

void weir_pass_end(weir_table *t, const weir_pass *pass, uint64_t *freed, bool *done)
{
    const bool end = pass->at >= (size_t)t->slots;

    t->cursor = end ? 0 : pass->at;
    if (freed != NULL) {
        *freed = pass->before - (size_t)t->keys;
    }
    if (done != NULL) {
        *done = end;
    }
}
