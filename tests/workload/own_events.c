/* SPDX-License-Identifier: MIT */
/*
 * own_events.c -- uses perf's events with SIGTRAP itself: one for each write to
 * a variable (PERF_TYPE_BREAKPOINT, sigtrap; perf_event_open(2), Linux 5.13).
 * Each of them must reach the handler.
 *
 * Usage: own_events
 * Prints "ok", or what is wrong; "none" where the machine has no such events.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "work.h"

#define WRITES 40000

static volatile uint64_t sink, watched;
static volatile int seen;

static void
see(int signo)
{
    (void)signo;
    seen++;
}

static int
open_event(void)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof(attributes));
    attributes.type = PERF_TYPE_BREAKPOINT;
    attributes.size = sizeof(attributes);
    attributes.bp_type = HW_BREAKPOINT_W;
    attributes.bp_addr = (uint64_t)(uintptr_t)&watched;
    attributes.bp_len = HW_BREAKPOINT_LEN_8;
    attributes.sample_period = 1;
    attributes.disabled = 1;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    attributes.sigtrap = 1;
    attributes.remove_on_exec = 1;
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

int
main(void)
{
    struct sigaction action = {.sa_handler = see};
    sigaction(SIGTRAP, &action, NULL);
    int fd = open_event();
    if (fd < 0) {
        puts("none");
        return 0;
    }
    sink += work_burn(100);
    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
    for (int i = 0; i < WRITES; i++) {
        watched = (uint64_t)i;
        sink += watched;
    }
    ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
    if (seen == WRITES)
        puts("ok");
    else
        printf("%d of %d signals\n", seen, WRITES);
    return 0;
}
