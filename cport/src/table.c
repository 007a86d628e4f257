/* table.c - what a table does now and then: it is made, loses a key, is swept. See table.h. */
#include "table.h"

/* Each number is drawn from the last by one of weir_scatter's rounds; the odd number is 2^64 over the golden ratio. */
void weir_table_init(void *block, size_t header, size_t words, size_t max_keys, uint64_t seed)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    const size_t slots = weir_table_slots(max_keys);
    weir_table *t = (weir_table *)block;
    uint64_t *word = (uint64_t *)block;
    size_t i;

    for (i = header / sizeof *word + slots * words; i > 0; i--) {
        *word++ = 0;
    }
    t->slots = slots;
    t->max_keys = max_keys;
    for (i = 0; i < 3; i++) {
        seed += golden;
        seed = (seed ^ seed >> 32) * golden | 1;
        t->place[i] = seed;
    }
}

size_t weir_table_seek(const weir_table *t, const uint64_t *at, uint64_t key, size_t words)
{
    return weir_table_look(t, at, key, words);
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
