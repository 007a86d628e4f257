/* stdio.h - the little of it that test/vectors_main.c calls. */
#ifndef WEIR_ELSEWHERE_STDIO_H
#define WEIR_ELSEWHERE_STDIO_H

#include <stddef.h>

__attribute__((format(printf, 1, 2))) int printf(const char *format, ...);
__attribute__((format(printf, 3, 4))) int snprintf(char *to, size_t bytes, const char *format, ...);
int puts(const char *text);

#endif
