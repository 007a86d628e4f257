/* stdlib.h - the little of it that test/vectors_main.c calls. */
#ifndef WEIR_ELSEWHERE_STDLIB_H
#define WEIR_ELSEWHERE_STDLIB_H

#include <stddef.h>

/* One block at a time, of ARENA bytes at most. */
void *malloc(size_t bytes);
void free(void *block);

#endif
