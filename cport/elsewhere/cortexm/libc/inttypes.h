/* inttypes.h - the little of it that test/vectors_main.c uses. */
#ifndef WEIR_ELSEWHERE_INTTYPES_H
#define WEIR_ELSEWHERE_INTTYPES_H

#include <stdint.h>

#define PRIu64 "llu"

#endif
