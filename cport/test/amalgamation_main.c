/*
 * amalgamation_main.c - a program that takes the library from the one file, in two C files: the functions are in
 * this one. amalgamation_other.c makes a table, this one uses it. Returns 0 if all is well.
 */
#define WEIR_IMPLEMENTATION
#include "weir_amalgamation.h"

/* Twice is as good as once. */
#include "weir_amalgamation.h"

weir_error other_init(uint64_t *block, size_t bytes);

int main(void)
{
    static uint64_t block[64];
    weir_gcra *table = (weir_gcra *)block;

    if (other_init(block, sizeof block) != WEIR_OK) {
        return 1;
    }
    if (weir_gcra_take(table, 0, weir_xxh64("user:42", 7, 0), 1).outcome != WEIR_ALLOW) {
        return 2;
    }
    if (weir_gcra_take(table, 999, weir_xxh64("user:42", 7, 0), 1).outcome != WEIR_DENY) {
        return 3;
    }
    return weir_gcra_keys(table) == 1 ? 0 : 4;
}
