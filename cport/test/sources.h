/* sources.h - the whole library as one file, for tests that look inside. */
#ifndef WEIR_TEST_SOURCES_H
#define WEIR_TEST_SOURCES_H

#include "../src/arith.c"
#include "../src/dualbucket.c"
#include "../src/gcra.c"
#include "../src/hash.c"
#include "../src/leakybucket.c"
#include "../src/slidinglog.c"
#include "../src/table.c"
#include "../src/tokenbucket.c"
#include "../src/weir.c"

#endif
