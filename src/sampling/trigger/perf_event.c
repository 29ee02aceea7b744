/* SPDX-License-Identifier: MIT */
/* perf_event.c -- see perf_event.h. */
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "base/arch.h"
#include "base/sys.h"
#include "perf_kernel.h"
#include "perf_event.h"

/* A thread id that no thread has: larger than any. */
#define NO_THREAD INT_MAX

static int first = -1; /* descriptor of the first event, -1 without events */

/* All events have descriptors from LOWEST to HIGHEST. Other files of the
 * sampler may lie between. */
static int lowest, highest;

static long
try_open(pid_t tid, bool alone, uint64_t period, uint64_t cookie, bool kernel)
{
    struct perf_event_attr attributes = {
        .size = sizeof(attributes),
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = period,
        .disabled = 1,
        .exclude_kernel = !kernel,
        .exclude_hv = 1,
        .inherit = !alone,
        .inherit_thread = !alone,
        .remove_on_exec = 1,
        .sigtrap = 1,
        .sig_data = cookie,
    };
    return arch_syscall(SYS_perf_event_open, (long)&attributes, tid, -1, -1,
                        PERF_FLAG_FD_CLOEXEC, 0);
}

void
perf_event_begin(void)
{
    first = -1;
}

/* Check the running kernel: returns 0, or -errno. */
static int
check_kernel(void)
{
    struct utsname name;
    return uname(&name) == 0 ? perf_kernel_check(name.release) : -ENOSYS;
}

static bool
may_see_kernel(void)
{
    struct utsname name;
    return uname(&name) == 0 && perf_kernel_may_be_seen(name.release);
}

int
perf_event_try(void)
{
    int result = check_kernel();
    if (result != 0)
        return result;
    result = (int)try_open(NO_THREAD, false, 1, 0, false);
    return result == -EACCES || result == -EPERM || result == -ENOSYS ? result
                                                                      : 0;
}

int
perf_event_open_on(pid_t tid, bool alone, uint64_t period, uint64_t cookie,
                   bool *sees_kernel)
{
    int result = check_kernel();
    if (result != 0)
        return result;
    *sees_kernel = may_see_kernel();
    long fd = try_open(tid, alone, period, cookie, *sees_kernel);
    if (fd == -EACCES || fd == -EPERM) {
        *sees_kernel = false;
        fd = try_open(tid, alone, period, cookie, false);
    }
    if (fd < 0)
        return (int)fd;
    if (first < 0)
        first = lowest = highest = (int)fd;
    lowest = (int)fd < lowest ? (int)fd : lowest;
    highest = (int)fd > highest ? (int)fd : highest;
    return 0;
}

/* Whether FD is an event. The sampler may have opened a pipe since the first
 * event, for a running report (agent/spawn.c). */
static bool
is_event(int fd)
{
    uint64_t id;
    return arch_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, (long)&id, 0, 0, 0) ==
           0;
}

void
perf_event_enable(void)
{
    for (int fd = lowest; first >= 0 && fd <= highest; fd++)
        (void)arch_syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ENABLE, 0, 0, 0, 0);
}

void
perf_event_set_period(uint64_t period)
{
    if (first >= 0)
        (void)arch_syscall(SYS_ioctl, first, PERF_EVENT_IOC_PERIOD,
                           (long)&period, 0, 0, 0);
}

void
perf_event_stop(void)
{
    for (int fd = lowest; first >= 0 && fd <= highest; fd++)
        if (is_event(fd))
            sys_close(fd);
    first = -1;
}
