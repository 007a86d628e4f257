/* hash.c - keys of strings and ids; see hash.h. All words wrap; bytes are read lowest first, on every machine. */
#include "weir/hash.h"

static uint64_t weir_rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

/* count bytes, at most 8, as one number, the first the lowest. */
static uint64_t weir_read(const unsigned char *at, size_t count)
{
    uint64_t x = 0;

    while (count > 0) {
        x = x << 8 | at[--count];
    }
    return x;
}

#define WEIR_P1 UINT64_C(0x9E3779B185EBCA87)
#define WEIR_P2 UINT64_C(0xC2B2AE3D27D4EB4F)
#define WEIR_P3 UINT64_C(0x165667B19E3779F9)
#define WEIR_P4 UINT64_C(0x85EBCA77C2B2AE63)
#define WEIR_P5 UINT64_C(0x27D4EB2F165667C5)

static uint64_t weir_xxh64_round(uint64_t lane, uint64_t word)
{
    return weir_rotate(lane + word * WEIR_P2, 31) * WEIR_P1;
}

/* All whole stripes of 32 bytes, of which there is one at least. One round for each. */
static uint64_t weir_xxh64_stripes(const unsigned char *at, size_t stripes, uint64_t seed)
{
    uint64_t lane[4], h;
    int i;

    lane[0] = seed + WEIR_P1 + WEIR_P2;
    lane[1] = seed + WEIR_P2;
    lane[2] = seed;
    lane[3] = seed - WEIR_P1;
    for (; stripes > 0; stripes--) {
        for (i = 0; i < 4; i++) {
            lane[i] = weir_xxh64_round(lane[i], weir_read(at, 8));
            at += 8;
        }
    }
    h = weir_rotate(lane[0], 1) + weir_rotate(lane[1], 7) + weir_rotate(lane[2], 12) + weir_rotate(lane[3], 18);
    for (i = 0; i < 4; i++) {
        h = (h ^ weir_xxh64_round(0, lane[i])) * WEIR_P1 + WEIR_P4;
    }
    return h;
}

uint64_t weir_xxh64(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t left = length;
    uint64_t h = seed + WEIR_P5;

    if (left >= 32) {
        h = weir_xxh64_stripes(at, left / 32, seed);
        at += left / 32 * 32;
        left %= 32;
    }
    h += length;
    for (; left >= 8; left -= 8, at += 8) {
        h = weir_rotate(h ^ weir_xxh64_round(0, weir_read(at, 8)), 27) * WEIR_P1 + WEIR_P4;
    }
    if (left >= 4) {
        h = weir_rotate(h ^ weir_read(at, 4) * WEIR_P1, 23) * WEIR_P2 + WEIR_P3;
        at += 4;
        left -= 4;
    }
    for (; left > 0; left--, at++) {
        h = weir_rotate(h ^ *at * WEIR_P5, 11) * WEIR_P1;
    }
    h = (h ^ h >> 33) * WEIR_P2;
    h = (h ^ h >> 29) * WEIR_P3;
    return h ^ h >> 32;
}

uint32_t weir_mix32(uint32_t id)
{
    id = (id ^ id >> 16) * UINT32_C(0x85EBCA6B);
    id = (id ^ id >> 13) * UINT32_C(0xC2B2AE35);
    return id ^ id >> 16;
}

/* So many of SipHash's rounds over its four words. */
static void weir_siphash_rounds(uint64_t v[4], int rounds)
{
    for (; rounds > 0; rounds--) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = weir_rotate(v[1], 13) ^ v[0];
        v[3] = weir_rotate(v[3], 16) ^ v[2];
        v[0] = weir_rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = weir_rotate(v[1], 17) ^ v[2];
        v[3] = weir_rotate(v[3], 21) ^ v[0];
        v[2] = weir_rotate(v[2], 32);
    }
}

/* Takes in one word: two rounds, the 2 of SipHash-2-4. */
static void weir_siphash_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    weir_siphash_rounds(v, 2);
    v[0] ^= word;
}

/* The last word holds what is left of the bytes, and the length's lowest 8 bits on top. */
uint64_t weir_siphash(const void *bytes, size_t length, const unsigned char key[16])
{
    const unsigned char *at = (const unsigned char *)bytes;
    const uint64_t k0 = weir_read(key, 8), k1 = weir_read(key + 8, 8);
    uint64_t v[4];
    size_t left;

    v[0] = k0 ^ UINT64_C(0x736f6d6570736575);
    v[1] = k1 ^ UINT64_C(0x646f72616e646f6d);
    v[2] = k0 ^ UINT64_C(0x6c7967656e657261);
    v[3] = k1 ^ UINT64_C(0x7465646279746573);
    for (left = length; left >= 8; left -= 8, at += 8) {
        weir_siphash_word(v, weir_read(at, 8));
    }
    weir_siphash_word(v, (uint64_t)length << 56 | weir_read(at, left));
    v[2] ^= 0xff;
    weir_siphash_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
