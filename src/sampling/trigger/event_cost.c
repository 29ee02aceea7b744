/* SPDX-License-Identifier: MIT */
/*
 * event_cost.c -- see event_cost.h. The calling thread measures the CPU time of
 * a loop, alone and with an event that often interrupts it. The event is that
 * of perf_event.c without its signal.
 *
 * The instruction CPUID, which leaves every virtual machine, is no substitute.
 * It took 4 us where an event cost 12 us. It does not show what the kernel does
 * to arm a timer.
 */
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "event_cost.h"

/* PERIOD_NS: CPU time between two interruptions, in ns. STEPS: steps of the
 * loop, of some 1 ns each. ROUNDS: limit of the measurements. Their median
 * counts, because another thread may disturb some. FEW of them are enough if
 * the median's neighbours differ by less than 1 / AGREED of it. */
#define PERIOD_NS 25000u
#define STEPS 40000u
#define ROUNDS 7u
#define FEW 3u
#define AGREED 4u

static volatile uint64_t keep;

static long
open_event(void)
{
    struct perf_event_attr attributes = {
        .size = sizeof(attributes),
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = PERIOD_NS,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return arch_syscall(SYS_perf_event_open, (long)&attributes, 0, -1, -1,
                        PERF_FLAG_FD_CLOEXEC, 0);
}

/* Returns the CPU time of the loop. */
static uint64_t
run_loop(void)
{
    uint64_t start = clock_own(), mix = keep;
    for (uint32_t i = 0; i < STEPS; i++) {
        mix = mix * 6364136223846793005u + 1442695040888963407u;
        keep = mix;
    }
    return clock_own() - start;
}

/* Returns the ns that an interruption cost in a round. */
static uint64_t
measure_round(int fd)
{
    uint64_t plain = run_loop();
    (void)arch_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0);
    uint64_t with = run_loop();
    (void)arch_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_DISABLE, 0, 0, 0, 0);
    return with > plain ? (with - plain) * PERIOD_NS / with : 1;
}

/* Put VALUE into its place among the COUNT SORTED ones. */
static void
insert(uint64_t *sorted, unsigned count, uint64_t value)
{
    while (count > 0 && sorted[count - 1] > value) {
        sorted[count] = sorted[count - 1];
        count--;
    }
    sorted[count] = value;
}

/* Whether the COUNT SORTED costs are enough. */
static bool
do_agree(const uint64_t *sorted, unsigned count)
{
    return count >= FEW && sorted[count / 2 + 1] - sorted[count / 2 - 1] <
                               sorted[count / 2] / AGREED;
}

uint64_t
event_cost_measure(void)
{
    uint64_t costs[ROUNDS];
    unsigned count = 0;
    long fd = open_event();
    if (fd < 0)
        return 0;
    while (count < ROUNDS && !do_agree(costs, count))
        insert(costs, count++, measure_round((int)fd));
    sys_close((int)fd);
    return costs[count / 2];
}
