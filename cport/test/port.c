/*
 * port.c - the C library as a port of weir: the plain text protocol of vectors/README.md over all five policies and the
 * hashes, on standard input and output.
 *
 *     cc -std=c11 -I include -o port test/port.c src/[a-z]*.c
 *     weir verify --port ./port --protocol text
 *
 * A sliding log has all its entries from the start, so logs of more than 4,096 are not claimed; each has 16 at least, so
 * that a small limit can be raised.
 */
#include "../any.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE 512
#define WORDS 13
#define LOG_ENTRIES 16

/* The case at hand. */
static struct {
    const char *policy; /* NULL: none, or what comes is ignored until its end */
    int kind;
    uint64_t *block;
    char seq[32];
} at;

static const char *const policies[] = {"gcra", "tokenbucket", "leakybucket", "slidinglog", "dualbucket"};

/* Splits a line into words, in place; more than WORDS are none. */
static int split(char *line, char *word[WORDS])
{
    int count = 0;
    char *next = strtok(line, " \r\n");

    for (; next != NULL; next = strtok(NULL, " \r\n")) {
        if (count == WORDS) {
            return 0;
        }
        word[count++] = next;
    }
    return count;
}

/* A decimal of at most 64 bits; "-" is 0, which is what a number that is not given counts as. */
static bool number(const char *word, uint64_t *value)
{
    *value = 0;
    if (strcmp(word, "-") == 0) {
        return true;
    }
    for (; *word != 0; word++) {
        const uint64_t digit = (uint64_t)(*word - '0');
        if (*word < '0' || *word > '9' || *value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        *value = *value * 10 + digit;
    }
    return true;
}

/* The six numbers of a limit. */
static bool limit_of(char *word[6], weir_limit *limit)
{
    return number(word[0], &limit->permits) && number(word[1], &limit->period) && number(word[2], &limit->burst) &&
           number(word[3], &limit->permits2) && number(word[4], &limit->period2) && number(word[5], &limit->burst2);
}

static void forget_case(void)
{
    free(at.block);
    at.block = NULL;
    at.policy = NULL;
}

static void not_understood(const char *seq)
{
    printf("! %s not understood\n", seq);
    at.policy = NULL;
}

static void hello(void)
{
    printf("hello 1 weir-c %s c\n", WEIR_VERSION);
    printf("policies gcra tokenbucket leakybucket slidinglog dualbucket\n");
    printf("can max_keys peek refund sweep relimit cost2 int64 xxh64 mix32\n");
    printf("max_keys 1024\n.\n");
}

/* The limit to make a table with before it is put under the one that is wanted. */
static weir_limit roomy(weir_limit limit)
{
    if (at.kind == WEIR_ANY_SLIDINGLOG && (limit.permits < LOG_ENTRIES || limit.period < LOG_ENTRIES)) {
        limit.permits = limit.permits < LOG_ENTRIES ? LOG_ENTRIES : limit.permits;
        limit.period = limit.period < LOG_ENTRIES ? LOG_ENTRIES : limit.period;
        limit.burst = 0;
    }
    return limit;
}

/* Makes the table of a case whose policy is known; NULL, or the word that it is refused with. */
static const char *make(weir_limit limit, uint64_t max_keys)
{
    const weir_limit first = roomy(limit);
    size_t bytes;
    weir_error error = weir_any_size(at.kind, limit, max_keys, &bytes);

    if (error == WEIR_OK) {
        error = weir_any_size(at.kind, first, max_keys, &bytes);
    }
    if (error != WEIR_OK) {
        return weir_error_word(error);
    }
    at.block = (uint64_t *)malloc(bytes);
    if (at.block == NULL) {
        return weir_error_word(WEIR_ERR_MEMORY);
    }
    error = weir_any_init(at.kind, at.block, bytes, first, max_keys, UINT64_C(0x9e3779b97f4a7c15));
    if (error == WEIR_OK && memcmp(&first, &limit, sizeof limit) != 0) {
        error = weir_any_relimit(at.kind, at.block, 0, limit);
    }
    return error == WEIR_OK ? NULL : weir_error_word(error);
}

/* case <seq> <policy> <max_keys> and six numbers */
static void begin(char *word[WORDS])
{
    weir_limit limit;
    uint64_t max_keys;
    const char *refused;
    int i;

    forget_case();
    if (!number(word[3], &max_keys) || !limit_of(word + 4, &limit)) {
        not_understood(word[1]);
        return;
    }
    for (i = 0; i < 5; i++) {
        if (strcmp(word[2], policies[i]) == 0) {
            at.policy = policies[i];
            at.kind = i;
        }
    }
    refused = at.policy == NULL ? weir_error_word(WEIR_ERR_UNKNOWN_POLICY) : make(limit, max_keys);
    if (refused == NULL) {
        snprintf(at.seq, sizeof at.seq, "%s", word[1]);
        return;
    }
    printf(strcmp(refused, "memory") == 0 ? "s %s %s\n" : "x %s %s\n", word[1], refused);
    forget_case();
}

/* The answer to a take or a peek. */
static void decided(const char *i, weir_any_answer d)
{
    const weir_answer *a = &d.answer;

    printf("r %s %s %s %" PRIu64, at.seq, i, weir_outcome_word(a->outcome), a->remaining);
    if (a->retry_after == WEIR_NEVER) {
        printf(" -1");
    } else {
        printf(" %" PRIu64, a->retry_after);
    }
    printf(" %" PRIu64 " %" PRIu64 " %s\n", a->reset_after, a->delay, a->binding == WEIR_SECOND ? "second" : "first");
}

static void done(const char *i, weir_error error)
{
    printf("r %s %s %s - - - - -\n", at.seq, i, error == WEIR_OK ? "allow" : weir_error_word(error));
}

static void keys(const char *i)
{
    printf("k %s %s %" PRIu64 "\n", at.seq, i, weir_any_keys(at.kind, at.block));
}

/* step <i> <op> <now> <key> <cost> <cost2>, and six numbers more for a relimit */
static bool step(char *word[WORDS], int count)
{
    const char *i = word[1], *op = word[2];
    uint64_t now, key, cost, cost2;
    weir_limit limit;

    if (!number(word[3], &now) || !number(word[4], &key) || !number(word[5], &cost) || !number(word[6], &cost2)) {
        return false;
    }
    cost2 = strcmp(word[6], "-") == 0 ? cost : cost2;
    if (strcmp(op, "take") == 0) {
        decided(i, weir_any_take(at.kind, at.block, now, key, cost, cost2));
    } else if (strcmp(op, "peek") == 0) {
        decided(i, weir_any_peek(at.kind, at.block, now, key, cost, cost2));
    } else if (strcmp(op, "refund") == 0) {
        done(i, weir_any_refund(at.kind, at.block, now, key, cost, cost2));
    } else if (strcmp(op, "forget") == 0) {
        weir_any_forget(at.kind, at.block, key);
        done(i, WEIR_OK);
    } else if (strcmp(op, "relimit") == 0 && count == 13 && limit_of(word + 7, &limit)) {
        done(i, weir_any_relimit(at.kind, at.block, now, limit));
    } else if (strcmp(op, "sweep") == 0) {
        (void)weir_any_sweep(at.kind, at.block, now, 0);
        keys(i);
    } else if (strcmp(op, "keys") == 0) {
        keys(i);
    } else {
        return false;
    }
    return true;
}

/* hash <seq> xxh64 <hex> <seed>   or   hash <seq> mix32 <in> */
static bool hash(char *word[WORDS], int count)
{
    unsigned char bytes[LINE / 2];
    size_t length = strcmp(word[3], "-") == 0 ? 0 : strlen(word[3]), i;
    uint64_t seed, key;

    if (strcmp(word[2], "mix32") == 0 && count == 4 && number(word[3], &seed) && seed <= UINT32_MAX) {
        key = weir_mix32((uint32_t)seed);
    } else if (strcmp(word[2], "xxh64") == 0 && count == 5 && number(word[4], &seed) && length % 2 == 0) {
        for (i = 0; i < length / 2; i++) {
            char pair[3] = {word[3][2 * i], word[3][2 * i + 1], 0};
            char *end;
            bytes[i] = (unsigned char)strtoul(pair, &end, 16);
            if (*end != 0) {
                return false;
            }
        }
        key = weir_xxh64(bytes, length / 2, seed);
    } else {
        return false;
    }
    printf("h %s %" PRIu64 "\nend %s\n", word[1], key, word[1]);
    return true;
}

/* One line of the runner's; false at its bye. */
static bool answer(char *line)
{
    char *word[WORDS];
    int count = split(line, word);
    const char *what = count > 0 ? word[0] : "";

    if (strcmp(what, "bye") == 0) {
        return false;
    }
    if (strcmp(what, "hello") == 0) {
        hello();
    } else if (strcmp(what, "case") == 0 && count == 10) {
        begin(word);
    } else if (strcmp(what, "step") == 0 && count >= 7) {
        if (at.policy != NULL && !step(word, count)) {
            not_understood(at.seq);
        }
    } else if (strcmp(what, "end") == 0 && count == 2) {
        printf("end %s\n", word[1]);
        forget_case();
    } else if (strcmp(what, "hash") != 0 || count < 4 || !hash(word, count)) {
        not_understood(count > 1 ? word[1] : "-");
    }
    return true;
}

int main(void)
{
    char line[LINE];

    while (fgets(line, sizeof line, stdin) != NULL && answer(line)) {
        if (strncmp(line, "step", 4) != 0) {
            fflush(stdout);
        }
    }
    forget_case();
    return 0;
}
