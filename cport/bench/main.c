/*
 * main.c - measures every row in rounds, one slice of each row a round, and prints the table.
 *
 * A quotient is the median of the rounds' quotients, of slices a moment apart: what slows the whole machine for a while
 * slows both. Cycles are the time in units of a dependent addition, which takes one cycle, so they need no counter.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BENCH_SLICE 2e6 /* ns, about, of a row that does not say how many calls it wants */
#define BENCH_MOST_ROUNDS 1000

static double bench_times[BENCH_ROWS][BENCH_MOST_ROUNDS]; /* ns a call */

void bench_die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(3);
}

void *bench_memory(size_t bytes)
{
    void *memory = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);

    if (memory == NULL) {
        bench_die("there is not enough memory");
    }
    memset(memory, 0, bytes);
    return memory;
}

/* On the processor that it is on already, where that can be had. */
static const char *bench_pin(void)
{
#ifdef __linux__
    cpu_set_t one;
    const int here = sched_getcpu();

    CPU_ZERO(&one);
    if (here >= 0) {
        CPU_SET((size_t)here, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0) {
            return "pinned to one processor";
        }
    }
#endif
    return "not pinned";
}

/* What this thread has used of a processor, ns: while another program has it, no time goes by. */
static double bench_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/*
 * Nanoseconds of a slice of so many calls. The stack begins elsewhere each round: where a place on it has the same last
 * twelve bits as one of the table the processor takes one for the other for a while, and a program that is started once
 * would meet that throughout or never.
 */
static double bench_slice(const bench_row *row, uint64_t calls, int round)
{
    char elsewhere[1 + round % 16 * 256];
    double start, took;
    uint64_t allowed;

    BENCH_KEEP(elsewhere);
    start = bench_now_ns();
    allowed = row->run(calls);
    took = bench_now_ns() - start;
    if (allowed != (row->allows ? calls : 0)) {
        bench_die(row->name);
    }
    return took;
}

/* Warms a row up, and finds how many calls make a slice where the row does not say. */
static void bench_calibrate(bench_row *row)
{
    uint64_t calls = row->calls > 0 ? row->calls : 1024;
    double took = bench_slice(row, calls, 0);

    if (row->calls > 0) {
        return;
    }
    while (took < BENCH_SLICE / 4) {
        calls *= 2;
        took = bench_slice(row, calls, 0);
    }
    row->calls = (uint64_t)((double)calls * BENCH_SLICE / took) + 1;
}

/* Each round begins with another row, so that none always comes behind the same one. */
static void bench_measure(bench_row rows[BENCH_ROWS], int rounds)
{
    int round, i;

    for (i = 0; i < BENCH_ROWS; i++) {
        if (rows[i].run != NULL) {
            bench_calibrate(&rows[i]);
        }
    }
    for (round = 0; round < rounds; round++) {
        for (i = 0; i < BENCH_ROWS; i++) {
            const int at = (i + round) % BENCH_ROWS;
            if (rows[at].run != NULL) {
                bench_times[at][round] = bench_slice(&rows[at], rows[at].calls, round) / (double)rows[at].calls;
            }
        }
        bench_random_next();
    }
}

static int bench_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median of a row's times, each divided by that of another row in the same round; by 1 if that is -1. */
static double bench_median(int row, int against, int rounds)
{
    double sorted[BENCH_MOST_ROUNDS];
    int i;

    for (i = 0; i < rounds; i++) {
        sorted[i] = bench_times[row][i] / (against < 0 ? 1 : bench_times[against][i]);
    }
    qsort(sorted, (size_t)rounds, sizeof sorted[0], bench_compare);
    return rounds % 2 == 1 ? sorted[rounds / 2] : (sorted[rounds / 2 - 1] + sorted[rounds / 2]) / 2;
}

/* One line of the table; whether its target is missed. */
static bool bench_print(const bench_row rows[BENCH_ROWS], int at, int rounds)
{
    const bench_row *row = &rows[at];
    const bool compared = row->against >= 0 && rows[row->against].run != NULL;
    const double ratio = compared ? bench_median(at, row->against, rounds) : 0;

    printf("| %-31s | %7.2f | %7.1f |", row->name, bench_median(at, -1, rounds), bench_median(at, BENCH_ADD, rounds));
    if (!compared) {
        printf(" %6s | %-28s | %6s | %-6s |\n", "", "", "", "");
    } else if (row->target > 0) {
        printf(" %6.2f | %-28s | %6.1f | %-6s |\n", ratio, rows[row->against].name, row->target,
               ratio <= row->target ? "met" : "MISSED");
    } else {
        printf(" %6.2f | %-28s | %6s | %-6s |\n", ratio, rows[row->against].name, "", "");
    }
    return compared && row->target > 0 && ratio > row->target;
}

static int bench_usage(void)
{
    fprintf(stderr, "usage: bench [--check] [--rounds 1..%d]\n", BENCH_MOST_ROUNDS);
    return 2;
}

int main(int argc, char **argv)
{
    static bench_row rows[BENCH_ROWS];
    bool check = false, missed = false;
    char *end = "";
    long rounds = 40;
    int i;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0) {
            check = true;
        } else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
            rounds = strtol(argv[++i], &end, 10);
        } else {
            return bench_usage();
        }
    }
    if (*end != '\0' || rounds < 1 || rounds > BENCH_MOST_ROUNDS) {
        return bench_usage();
    }
    printf("%ld rounds, %s\n\n", rounds, bench_pin());
    bench_meter_rows(rows);
    bench_hot_rows(rows);
    bench_random_rows(rows);
    bench_measure(rows, (int)rounds);
    printf("| %-31s | %7s | %7s | %6s | %-28s | %6s | %-6s |\n", "row", "ns", "cycles", "ratio", "to", "target", "");
    printf("| --- | ---: | ---: | ---: | --- | ---: | --- |\n");
    for (i = 0; i < BENCH_ROWS; i++) {
        missed |= rows[i].run != NULL && bench_print(rows, i, (int)rounds);
    }
    return check && missed ? 1 : 0;
}
