/* memory_main.c - checks rows "policy permits period max_keys bytes" of standard input, those of the README's table. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "policies.h"

int main(void)
{
    char name[32];
    uint64_t permits, period, max_keys, want;
    int rows = 0, wrong = 0, i;

    while (scanf("%31s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, name, &permits, &period, &max_keys, &want) == 5) {
        for (i = 0; i < POLICIES && strcmp(name, policies[i].name) != 0; i++) {
        }
        if (i < POLICIES) {
            const uint64_t burst = i == SLIDINGLOG ? 0 : 1, second = i == DUALBUCKET ? 1 : 0;
            const weir_limit limit = {permits, period, burst, second, second, second};
            size_t bytes = 0;
            weir_error error = policies[i].size(&limit, max_keys, &bytes);
            if (error == WEIR_ERR_MAX_KEYS && want > SIZE_MAX / 2) {
                bytes = (size_t)want; /* more than this machine can address, as it says itself */
            }
            if (bytes != (size_t)want) {
                printf("%s for %" PRIu64 " keys: %lu bytes (%s)\n", name, max_keys, (unsigned long)bytes,
                       weir_error_word(error));
                wrong++;
            }
            rows++;
        }
    }
    printf("%d rows of memory are right, %d wrong\n", rows - wrong, wrong);
    return rows == 0 || wrong != 0;
}
