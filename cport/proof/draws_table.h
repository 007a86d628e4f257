/* draws_table.h - the end of draws.c: which theorem takes which arguments, and main. */

/* A theorem over a TAT and some ticks. Those but the first three want now within the horizon. */
#define LATER(name)                                                      \
    static void run_##name(const arguments *a)                           \
    {                                                                    \
        name(&a->rules, a->tat, a->now, a->cost, a->ticks);              \
    }

#define LATER_WITHIN(name)                                               \
    static void run_##name(const arguments *a)                           \
    {                                                                    \
        if (a->now <= a->rules.horizon) {                                \
            name(&a->rules, a->tat, a->now, a->cost, a->ticks);          \
        }                                                                \
    }

LATER(retry_after_exact)
LATER(retry_after_tight)
LATER(retry_after_never)
LATER_WITHIN(reset_after_tight)
LATER_WITHIN(next_exact)
LATER_WITHIN(next_tight)

static void run_reset_after_exact(const arguments *a)
{
    if (a->now <= a->rules.horizon) {
        reset_after_exact(&a->rules, a->tat, a->now, a->cost, a->ticks, a->more);
    }
}

static void run_remaining_largest(const arguments *a)
{
    if (a->now <= a->rules.horizon) {
        remaining_largest(&a->rules, a->tat, a->now, a->cost, a->more);
    }
}

static void run_delay_exact(const arguments *a)
{
    if (a->now <= a->rules.horizon) {
        delay_exact(&a->rules, water_of(a), a->now, a->cost, a->ticks);
    }
}

static void run_delay_tight(const arguments *a)
{
    if (a->now <= a->rules.horizon) {
        delay_tight(&a->rules, water_of(a), a->now, a->cost, a->ticks);
    }
}

static void run_equal_gcra_tokenbucket(const arguments *a)
{
    equal_step_gcra_tokenbucket(&a->rules, a->tat, balance_of(a), a->now, a->cost);
}

static void run_equal_gcra_leakybucket(const arguments *a)
{
    equal_step_gcra_leakybucket(&a->rules, a->tat, water_of(a), a->now, a->cost);
}

static void run_equal_refunds(const arguments *a)
{
    if (a->now <= a->rules.horizon) {
        equal_refund_gcra_tokenbucket(&a->rules, a->tat, balance_of(a), a->now, a->cost);
        equal_refund_gcra_leakybucket(&a->rules, a->tat, water_of(a), a->now, a->cost);
    }
}

static void run_equal_runs(const arguments *a)
{
    equal_runs(&a->rules, a->run, sizeof a->run / sizeof a->run[0]);
}

static void run_admits_burst_and_rate(const arguments *a)
{
    admits_burst_and_rate(&a->rules, a->tat, a->run, sizeof a->run / sizeof a->run[0], a->from, a->to);
}

static const struct theorem {
    const char *name;
    void (*run)(const arguments *);
} theorems[] = {
    {"quotients_exact", quotients},
    {"limit_in_range", limit_in_range},
    {"gcra_no_overflow", gcra_step},
    {"tokenbucket_no_overflow", tokenbucket_step},
    {"leakybucket_no_overflow", leakybucket_step},
    {"equal_gcra_tokenbucket", run_equal_gcra_tokenbucket},
    {"equal_gcra_leakybucket", run_equal_gcra_leakybucket},
    {"equal_refunds", run_equal_refunds},
    {"equal_runs", run_equal_runs},
    {"retry_after_exact", run_retry_after_exact},
    {"retry_after_tight", run_retry_after_tight},
    {"retry_after_never", run_retry_after_never},
    {"reset_after_exact", run_reset_after_exact},
    {"reset_after_tight", run_reset_after_tight},
    {"remaining_largest", run_remaining_largest},
    {"next_exact", run_next_exact},
    {"next_tight", run_next_tight},
    {"delay_exact", run_delay_exact},
    {"delay_tight", run_delay_tight},
    {"admits_burst_and_rate", run_admits_burst_and_rate},
};

/* Static, so that a longjmp finds them as they were. */
static arguments now_drawn;

static bool holds_for(const struct theorem *t)
{
    if (setjmp(refuted) != 0) {
        return false;
    }
    t->run(&now_drawn);
    return true;
}

static void show(const char *name)
{
    const arguments *a = &now_drawn;
    size_t i;

    printf("%s refuted: p %llu, q %llu, burst %llu, tat %llu, last %llu, now %llu, cost %llu, ticks %llu, more %llu, "
           "from %llu, to %llu, run",
           name, (unsigned long long)a->rules.tick, (unsigned long long)a->rules.permit,
           (unsigned long long)a->rules.burst, (unsigned long long)a->tat, (unsigned long long)a->last,
           (unsigned long long)a->now, (unsigned long long)a->cost, (unsigned long long)a->ticks,
           (unsigned long long)a->more, (unsigned long long)a->from, (unsigned long long)a->to);
    for (i = 0; i < sizeof a->run / sizeof a->run[0]; i++) {
        printf(" %s%llu@%llu", a->run[i].refund ? "-" : "", (unsigned long long)a->run[i].cost,
               (unsigned long long)a->run[i].now);
    }
    printf("\n");
}

static bool check(const struct theorem *t)
{
    uint64_t smalls = 0, wides;

    held = 0;
    while (small(&now_drawn, smalls)) {
        if (!holds_for(t)) {
            show(t->name);
            return false;
        }
        smalls++;
    }
    for (wides = 0; wides < 1000000; wides++) {
        draw(&now_drawn);
        if (!holds_for(t)) {
            show(t->name);
            return false;
        }
    }
    printf("%-26s holds on %llu small and %llu drawn arguments, %llu checks\n", t->name, (unsigned long long)smalls,
           (unsigned long long)wides, (unsigned long long)held);
    return held > 0;
}

int main(int argc, char **argv)
{
    bool all = true;
    size_t i, ran = 0;

    for (i = 0; i < sizeof theorems / sizeof theorems[0]; i++) {
        if (argc < 2 || strcmp(argv[1], theorems[i].name) == 0) {
            all = check(&theorems[i]) && all;
            ran++;
        }
    }
    return all && ran > 0 ? 0 : 1;
}
