/* amalgamation_other.c - the second user of the one file in a program: it has the declarations only. */
#include "weir_amalgamation.h"

weir_error other_init(uint64_t *block, size_t bytes);

weir_error other_init(uint64_t *block, size_t bytes)
{
    const weir_limit limit = {1, 1000, 1, 0, 0, 0};

    return weir_gcra_init(block, bytes, &limit, 8, 1);
}
