/*
 * step.c - the steps of the four buckets in the kernel: over a value of a BPF hash map, for a packet (XDP) that carries the
 * request and takes the answer back. Who loads it puts the limit into the map `rules`; see weir_scale_init. The kernel's map
 * bounds the keys: a new one that finds no room gets WEIR_FULL.
 *
 * Two processors may hold the same value at once. A program for more than one takes gcra_atomic.h's way, a bpf_spin_lock in
 * the value, or a map per processor; here every packet is run by itself.
 *
 * What the steps may not have here, and do not: signed division, numbers of 128 bits, functions of more than five arguments
 * or that give a structure back. The last two are why everything must be inlined, which -O2 does.
 */
#include "weir/dualbucket.h"
#include "weir/gcra.h"
#include "weir/leakybucket.h"
#include "weir/tokenbucket.h"

#define SECTION(name) __attribute__((section(name), used))

/* Of the kernel's own interface, linux/bpf.h: the two maps, the two helpers, the packet. */
enum { MAP_TYPE_HASH = 1, MAP_TYPE_ARRAY = 2, XDP_DROP = 1, XDP_PASS = 2 };

struct xdp_md {
    uint32_t data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex;
};

static void *(*const map_lookup)(void *map, const void *key) = (void *(*)(void *map, const void *key))1;
static long (*const map_update)(void *map, const void *key, const void *value,
                                uint64_t flags) = (long (*)(void *, const void *, const void *, uint64_t))2;

/* The state of a key: as many of the words as the policy has. */
typedef struct state {
    uint64_t word[2];
} state;

struct {
    int (*type)[MAP_TYPE_HASH];
    int (*max_entries)[1024];
    uint64_t *key;
    state *value;
} states SECTION(".maps");

struct {
    int (*type)[MAP_TYPE_ARRAY];
    int (*max_entries)[1];
    uint32_t *key;
    weir_dualbucket_rules *value;
} rules SECTION(".maps");

enum { TAKE, PEEK, REFUND };

/* What a packet holds: a request, and the place for its answer. */
typedef struct packet {
    uint64_t op, now, key, cost[2];
    uint64_t outcome, binding, remaining, retry_after, reset_after, delay, next;
} packet;

/* The packet, if it is long enough for one. */
static inline packet *packet_of(const struct xdp_md *context)
{
    packet *p = (packet *)(uintptr_t)context->data;

    return (void *)(p + 1) <= (void *)(uintptr_t)context->data_end ? p : NULL;
}

static inline void answer(packet *p, weir_answer a, uint64_t next)
{
    p->outcome = a.outcome;
    p->binding = a.binding;
    p->remaining = a.remaining;
    p->retry_after = a.retry_after;
    p->reset_after = a.reset_after;
    p->delay = a.delay;
    p->next = next;
}

/* Makes room for the key of an allowed request; if there is none the answer is full instead. */
static inline void hold(packet *p, const state *fresh)
{
    const uint64_t key = p->key;
    const weir_scale none = {0, 0, 0, 0, 0};

    if (map_update(&states, &key, fresh, 1) != 0) {
        answer(p, weir_answer_of(&none, weir_refused(WEIR_FULL)), 0);
    }
}

/*
 * A program: FRESH makes the state of a key never seen, and STEP, LOOK and BACK do a take, a peek and a refund on the state s
 * in the words of the policy; ANSWER and NEXT are made of the decision d.
 */
#define PROGRAM(policy, DECISION, FRESH, STEP, LOOK, BACK, ANSWER, NEXT)                                          \
    int bpf_##policy(struct xdp_md *context);                                                                     \
    SECTION("xdp/" #policy) int bpf_##policy(struct xdp_md *context)                                              \
    {                                                                                                             \
        const uint32_t zero = 0;                                                                                  \
        packet *p = packet_of(context);                                                                           \
        const weir_dualbucket_rules *both = map_lookup(&rules, &zero);                                            \
        state fresh = {{0, 0}}, *s;                                                                               \
        uint64_t key, now, cost[2];                                                                               \
        bool known;                                                                                               \
        DECISION d;                                                                                               \
        if (p == NULL || both == NULL) {                                                                          \
            return XDP_DROP;                                                                                      \
        }                                                                                                         \
        key = p->key, now = p->now, cost[0] = p->cost[0], cost[1] = p->cost[1];                                   \
        s = map_lookup(&states, &key);                                                                            \
        known = s != NULL;                                                                                        \
        if (!known) {                                                                                             \
            FRESH;                                                                                                \
            s = &fresh;                                                                                           \
        }                                                                                                         \
        if (p->op == REFUND) {                                                                                    \
            p->outcome = now > both->horizon ? WEIR_PAST_HORIZON : WEIR_ALLOW;                                    \
            if (known && now <= both->horizon) {                                                                  \
                BACK;                                                                                             \
            }                                                                                                     \
            return XDP_PASS;                                                                                      \
        }                                                                                                         \
        if (p->op == TAKE) {                                                                                      \
            d = STEP;                                                                                             \
        } else {                                                                                                  \
            d = LOOK;                                                                                             \
        }                                                                                                         \
        answer(p, ANSWER, NEXT);                                                                                  \
        if (p->op == TAKE && !known && d.outcome == WEIR_ALLOW && (cost[0] > 0 || cost[1] > 0)) {                 \
            hold(p, &fresh);                                                                                      \
        }                                                                                                         \
        return XDP_PASS;                                                                                          \
    }

#define METER(policy, S, FRESH)                                                                                   \
    PROGRAM(policy, weir_decision, FRESH, weir_##policy##_step(ONE, S, now, cost[0]),                             \
            weir_##policy##_step_peek(ONE, *S, now, cost[0]),                                                     \
            *S = weir_##policy##_step_refund(ONE, *S, now, cost[0]), weir_answer_of(ONE, d), weir_next(ONE, d))

#define ONE (&both->scale[0])
#define TOKENS ((weir_tokenbucket_state *)(void *)s)
#define WATER ((weir_leakybucket_state *)(void *)s)
#define BOTH ((weir_dualbucket_state *)(void *)s)

METER(gcra, s->word, (void)0)
METER(tokenbucket, TOKENS, fresh.word[0] = ONE->tolerance)
METER(leakybucket, WATER, (void)0)
PROGRAM(dualbucket, weir_dualbucket_decision, (void)0, weir_dualbucket_step(both, BOTH, now, cost),
        weir_dualbucket_step_peek(both, BOTH, now, cost), weir_dualbucket_step_refund(both, BOTH, now, cost),
        weir_dualbucket_answer_of(both, d), weir_dualbucket_next(both, d))

/* The helpers are free to all, whatever a program's licence. */
const char licence[] SECTION("license") = "Apache-2.0";
