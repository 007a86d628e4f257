//go:build cgo

/*
 * unity.c - the whole C library as one file, for cgo, which compiles only what stands beside the Go files. Anybody
 * else compiles each file of src with -I include.
 */
#include "src/arith.c"
#include "src/dualbucket.c"
#include "src/gcra.c"
#include "src/hash.c"
#include "src/leakybucket.c"
#include "src/slidinglog.c"
#include "src/table.c"
#include "src/tokenbucket.c"
#include "src/weir.c"
