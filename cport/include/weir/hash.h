/*
 * hash.h - keys of strings and ids: 64-bit numbers that name them in a table, the same in every port of weir.
 *
 * Take weir_siphash where strangers choose the strings and several processes must agree: with a secret key nobody can
 * make two strings meet. weir_xxh64 is faster and is the portable key, but no defence, whatever its seed: there are
 * strings known that meet under every seed. weir_mix32 spreads 32-bit ids, which never meet.
 *
 * No state, no allocation, no table in memory; every function reads each byte once, at any alignment, and gives the
 * same number on every machine. bytes may be NULL if length is 0, and is not looked at then. weir_siphash takes the
 * same time for all strings of one length; weir_xxh64 does too on a machine whose multiplication does.
 */
#ifndef WEIR_HASH_H
#define WEIR_HASH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * XXH64, the 64-bit hash of xxHash by Yann Collet: the portable key of a string, under seed 0 unless said.
 * weir_xxh64("", 0, 0) is 0xEF46DB3751D8E999. Worst case: a round for each 8 bytes, 11 more at the end. Wraps by
 * intent.
 */
uint64_t weir_xxh64(const void *bytes, size_t length, uint64_t seed);

/*
 * The key of a 32-bit id: the finaliser of MurmurHash3 by Austin Appleby. A bijection, so different ids have
 * different keys; 0 stays 0. Wraps by intent.
 */
uint32_t weir_mix32(uint32_t id);

/*
 * SipHash-2-4 of 64 bits by Jean-Philippe Aumasson and Daniel J. Bernstein (INDOCRYPT 2012), under a key of 16
 * bytes that must be secret, random and the same wherever keys must be the same. Worst case: two rounds for each 8
 * bytes and 6 more. Wraps by intent.
 */
uint64_t weir_siphash(const void *bytes, size_t length, const unsigned char key[16]);

#ifdef __cplusplus
}
#endif

#endif
