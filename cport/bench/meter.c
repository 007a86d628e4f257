/*
 * meter.c - DPDK's single-rate three colour marker, colour blind: the meter that packet processing has at hand. It is
 * all in its header. Where there is none (WEIR_BENCH_METER is not defined) its rows stay empty.
 */
#include "bench.h"

#ifdef WEIR_BENCH_METER
#include <rte_meter.h>

static struct rte_meter_srtcm meter;
static struct rte_meter_srtcm_profile profile;

/*
 * The profile is written by hand as rte_meter_srtcm_profile_config would for a clock of 2.5 GHz and 1 GB/s: that
 * function asks DPDK's environment, which is not here, for the frequency. 40 bytes each 100 ticks: it takes the least
 * number of bytes whose period is 100 cycles or more. No excess bucket, so that there are two answers as everywhere.
 */
static void bench_meter_make(uint64_t tokens)
{
    profile.cbs = BENCH_BURST;
    profile.ebs = 0;
    profile.cir_period = BENCH_RATE_TICKS;
    profile.cir_bytes_per_period = BENCH_RATE_BYTES;
    meter.time = BENCH_START;
    meter.tc = tokens;
    meter.te = 0;
}

static uint64_t bench_meter_check(uint64_t calls, uint32_t bytes)
{
    struct rte_meter_srtcm *m = bench_somewhere(&meter);
    struct rte_meter_srtcm_profile *p = bench_somewhere(&profile);
    uint64_t now = BENCH_START, green = 0;

    while (calls-- > 0) {
        now += BENCH_GAP;
        BENCH_FENCE();
        green += rte_meter_srtcm_color_blind_check(m, p, now, bytes) == RTE_COLOR_GREEN;
    }
    BENCH_FENCE();
    return green;
}

static uint64_t bench_meter_green(uint64_t calls)
{
    bench_meter_make(BENCH_BURST / 2);
    return bench_meter_check(calls, (uint32_t)bench_opaque(BENCH_BYTES));
}

static uint64_t bench_meter_red(uint64_t calls)
{
    bench_meter_make(0);
    return bench_meter_check(calls, (uint32_t)bench_opaque(BENCH_BURST));
}

void bench_meter_rows(bench_row rows[BENCH_ROWS])
{
    rows[BENCH_METER] = (bench_row){"rte_meter srTCM, green", bench_meter_green, 0, true, -1, 0};
    rows[BENCH_METER_RED] = (bench_row){"rte_meter srTCM, red", bench_meter_red, 0, false, -1, 0};
}
#else
void bench_meter_rows(bench_row rows[BENCH_ROWS])
{
    (void)rows;
}
#endif
