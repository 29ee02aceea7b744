/* SPDX-License-Identifier: MIT */
/*
 * perf_kernel.c -- see perf_kernel.h. Linux 5.13 has everything that is needed,
 * with two faults. Before 6.1 a sample that falls into the kernel signals at
 * once instead of waiting for the way back to user mode ("perf: Fix missing
 * SIGTRAPs"). Before 5.18 a thread that blocks SIGTRAP dies of it ("signal:
 * Deliver SIGTRAP on perf event asynchronously if blocked").
 *
 * From 6.11 on, closing an event waited for its signal, if that was on the way
 * ("perf: Fix event leak upon exec and file release"): for ever, if the thread
 * sleeps. 6.15 fixes it, and so do 6.12.24, 6.13.12 and 6.14.3 ("perf: Fix hang
 * while freeing sigtrap event"). Kernels of distributions that have the repair
 * under a lower number are taken for unrepaired.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arch.h"
#include "base/digits.h"
#include "perf_kernel.h"

/* For each 6.x series in which closing waits: the first patch level that does
 * not wait; 0 if all wait. */
static const struct {
    uint64_t minor, repaired;
} waiting[] = {{11, 0}, {12, 24}, {13, 12}, {14, 3}};

/* Take a number and the dot after it. */
static uint64_t
take_part(const char **release)
{
    uint64_t part = digits_take(release);
    *release += **release == '.';
    return part;
}

/* On some machines a sample in the kernel ends the system call. From 6.11 on
 * the signal waits for the way back to user mode. */
bool
perf_kernel_may_be_seen(const char *release)
{
    uint64_t major = take_part(&release), minor = take_part(&release);
    return major * 1000 + minor >= ARCH_PERF_KERNEL_FROM;
}

int
perf_kernel_check(const char *release)
{
    uint64_t major = take_part(&release), minor = take_part(&release);
    uint64_t patch = take_part(&release);
    if (major < 6 || (major == 6 && minor < 1))
        return -EOPNOTSUPP;
    for (size_t i = 0; i < sizeof(waiting) / sizeof(waiting[0]); i++)
        if (major == 6 && minor == waiting[i].minor &&
            (waiting[i].repaired == 0 || patch < waiting[i].repaired))
            return -EDEADLK;
    return 0;
}
