/* SPDX-License-Identifier: MIT */
/*
 * trigger_floor.c -- what an interruption costs on this machine, without any
 * profiler. The same computation runs plain, and under each way to interrupt a
 * thread with an empty handler.
 *
 * Usage: trigger_floor HZ ROUNDS
 * Prints a line for each way and round: "WAY NANOSECONDS", CPU time for each
 * interruption; ways that are not possible here are left out. "event" is a perf
 * event that sends no signal, "perf" one with SIGTRAP, "timer" a CPU timer.
 */
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long interruptions;
static long period; /* ns */
static int event = -1, trap = -1;
static timer_t timer;

static void
count(int signo)
{
    (void)signo;
    interruptions++;
}

static double
cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* CPU time of a fixed computation. */
static double
compute(void)
{
    double start = cpu_ns();
    volatile unsigned x = 1;

    for (long i = 0; i < 400000000; i++)
        x = x * 1664525u + 1013904223u;
    return cpu_ns() - start;
}

static int
open_event(int with_signal)
{
    struct perf_event_attr attributes;

    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_TASK_CLOCK;
    attributes.sample_period = (unsigned long)period;
    attributes.disabled = 1;
    attributes.exclude_kernel = geteuid() != 0;
    if (with_signal) {
        attributes.remove_on_exec = 1;
        attributes.sigtrap = 1;
    }
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
}

static void
arm(long ns)
{
    struct itimerspec when = {{0, ns}, {0, ns}};

    timer_settime(timer, 0, &when, NULL);
}

static void
print(const char *way, double with, double without, long times)
{
    if (times > 0)
        printf("%s %.0f\n", way, (with - without) / (double)times);
}

static void
measure(void)
{
    double plain = compute(), with;

    if (event >= 0) {
        ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
        with = compute();
        ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
        print("event", with, plain, (long)(with / (double)period));
    }
    if (trap >= 0) {
        interruptions = 0;
        ioctl(trap, PERF_EVENT_IOC_ENABLE, 0);
        with = compute();
        ioctl(trap, PERF_EVENT_IOC_DISABLE, 0);
        print("perf", with, plain, interruptions);
    }
    interruptions = 0;
    arm(period);
    with = compute();
    arm(0);
    print("timer", with, plain, interruptions);
}

int
main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    struct sigevent to = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    int rounds = argc > 2 ? atoi(argv[2]) : 7;

    period = 1000000000 / (argc > 1 ? atol(argv[1]) : 1000);
    sigaction(SIGTRAP, &action, NULL);
    sigaction(SIGPROF, &action, NULL);
    event = open_event(0);
    trap = open_event(1);
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &to, &timer) != 0)
        return 1;
    for (int i = 0; i < rounds; i++)
        measure();
    return 0;
}
