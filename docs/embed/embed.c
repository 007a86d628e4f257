// A limiter for 1000 keys in a block of memory. Compile it with -I cport/include and the files of cport/src.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <weir/gcra.h>
#include <weir/hash.h>

static uint64_t block[(WEIR_GCRA_HEADER + 24 * 1000) / 8];

int main(void)
{
    const weir_limit limit = {3, 1000, 2, 0, 0, 0}; /* 3 in 1000 ms, 2 at once; a tick is 1 ms */
    weir_gcra *table = (weir_gcra *)block;
    const char *user = "client-42";
    uint64_t key = weir_xxh64(user, strlen(user), 0);
    weir_error error = weir_gcra_init(block, sizeof block, &limit, 1000, 42); /* in earnest a secret, random seed */

    if (error != WEIR_OK) {
        fprintf(stderr, "%s\n", weir_error_word(error));
        return 1;
    }
    for (uint64_t now = 0; now < 400; now += 111) { /* now is your clock's */
        weir_decision decision = weir_gcra_take(table, now, key, 1);
        weir_answer answer = weir_answer_of(weir_gcra_rules_of(table), decision);
        printf("%s %" PRIu64 " %" PRIu64 "\n", weir_outcome_word(answer.outcome), answer.remaining, answer.retry_after);
    }
    return 0;
}
