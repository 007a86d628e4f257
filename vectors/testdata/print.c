/* Prints the text form of the suite from the tables of the C header, so that a test sees that nothing is lost there. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "vectors.h"

static const char *const policies[] = {"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"};
static const char *const ops[] = {"take", "peek", "refund", "forget", "sweep", "keys", "relimit"};
static const char *const words[] = {"-", "allow", "deny", "too_costly", "full", "past_horizon", "unknown_policy",
    "invalid_second", "invalid_permits", "invalid_period", "invalid_burst", "limit_too_large", "invalid_max_keys"};
static const char *const needs[] = {"max_keys", "refund", "peek", "sweep", "relimit", "cost2", "long_log", "int64"};

static void word(int there, uint64_t n)
{
    if (there)
        printf(" %" PRIu64, n);
    else
        printf(" -");
}

/* The header has 0 for a number that a limit leaves out, where the text form has "-": the test takes it for 0. */
static void limit(const struct weir_vector_limit *l)
{
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", l->permits, l->period, l->burst,
        l->permits2, l->period2, l->burst2);
}

static void want(size_t seq, size_t i, const struct weir_vector_want *w)
{
    if (w->has & WEIR_VECTOR_HAS_KEYS) {
        printf("< k %zu %zu %" PRIu64 "\n", seq, i, w->keys);
        return;
    }
    printf("< r %zu %zu %s", seq, i, words[w->outcome]);
    word(w->has & WEIR_VECTOR_HAS_REMAINING, w->remaining);
    if (w->retry_after == UINT64_MAX)
        printf(" -1");
    else
        word(w->has & WEIR_VECTOR_HAS_RETRY_AFTER, w->retry_after);
    word(w->has & WEIR_VECTOR_HAS_RESET_AFTER, w->reset_after);
    word(w->has & WEIR_VECTOR_HAS_DELAY, w->delay);
    printf(" %s\n", !(w->has & WEIR_VECTOR_HAS_BINDING) ? "-" : w->second ? "second" : "first");
}

static void step(size_t seq, size_t i, uint64_t key, const struct weir_vector_step *t)
{
    int charged = t->op == WEIR_VECTOR_TAKE || t->op == WEIR_VECTOR_PEEK || t->op == WEIR_VECTOR_REFUND;

    printf("%c step %zu %s", t->probe ? '?' : '>', i, ops[t->op]);
    word(t->op != WEIR_VECTOR_FORGET && t->op != WEIR_VECTOR_KEYS, t->now);
    word(charged || t->op == WEIR_VECTOR_FORGET, key);
    word(charged, t->cost);
    word(t->has_cost2, t->cost2);
    if (t->op == WEIR_VECTOR_RELIMIT)
        limit(&t->limit);
    else
        printf("\n");
    want(seq, i, &t->want);
}

static void print(size_t seq, const struct weir_vector_case *c)
{
    size_t i = 0;

    printf("id %s\n", c->id);
    if (c->needs) {
        printf("needs");
        for (size_t n = 0; n < sizeof needs / sizeof *needs; n++)
            if (c->needs & 1u << n)
                printf(" %s", needs[n]);
        printf("\n");
    }
    printf("> case %zu %s ", seq, policies[c->policy]);
    if (c->any_max_keys)
        printf("*");
    else
        printf("%" PRIu64, c->max_keys);
    limit(&c->limit);
    for (size_t s = 0; s < c->step_count; s++)
        for (uint32_t r = 0; r < c->steps[s].repeat; r++)
            step(seq, i++, c->steps[s].key + r, &c->steps[s]);
    printf("> end %zu\n", seq);
    if (c->refused != WEIR_VECTOR_MADE)
        printf("< x %zu %s\n", seq, words[c->refused]);
    printf("< end %zu\n\n", seq);
}

static void print_hash(size_t seq, const struct weir_vector_hash *h)
{
    printf("id %s\nneeds %s\n> hash %zu", h->id, h->hash == WEIR_VECTOR_XXH64 ? "xxh64" : "mix32", seq);
    if (h->hash == WEIR_VECTOR_MIX32) {
        printf(" mix32 %" PRIu32 "\n", h->in);
    } else {
        printf(" xxh64 %s", h->length ? "" : "-");
        for (size_t i = 0; i < h->length; i++)
            printf("%02x", (unsigned)(unsigned char)h->bytes[i]);
        printf(" %" PRIu64 "\n", h->seed);
    }
    printf("< h %zu %" PRIu64 "\n< end %zu\n\n", seq, h->want, seq);
}

/* A file of the text form is what has one "policy/category/" before its ids, and counts from 1. */
static int same_file(const char *a, const char *b)
{
    size_t n = (size_t)(strrchr(a, '/') - a);

    return strncmp(a, b, n + 1) == 0;
}

int main(void)
{
    size_t seq = 0;

    for (size_t i = 0; i < WEIR_VECTORS; i++) {
        seq = i > 0 && same_file(weir_vectors[i - 1].id, weir_vectors[i].id) ? seq + 1 : 1;
        print(seq, &weir_vectors[i]);
    }
    for (size_t i = 0; i < WEIR_HASH_VECTORS; i++) {
        seq = i > 0 && same_file(weir_hash_vectors[i - 1].id, weir_hash_vectors[i].id) ? seq + 1 : 1;
        print_hash(seq, &weir_hash_vectors[i]);
    }
    return 0;
}
