/* string.h - the little of it that test/vectors_main.c and the compiler call. */
#ifndef WEIR_ELSEWHERE_STRING_H
#define WEIR_ELSEWHERE_STRING_H

#include <stddef.h>

int strcmp(const char *a, const char *b);
void *memcpy(void *to, const void *from, size_t bytes);
void *memset(void *to, int with, size_t bytes);

#endif
