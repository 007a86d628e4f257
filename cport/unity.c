//go:build cgo

/*
 * unity.c - the whole C library as one file, for cgo, which compiles only what stands beside the Go files. Anybody
 * else compiles each file of src with -I include.
 */
#include "src/weir.c"
#include "src/gcra.c"
