/* SPDX-License-Identifier: MIT */
/*
 * late_signals.c -- ends a moment before a signal comes that would have ended
 * it otherwise, or ends in ways that no function of the C library sees. Its
 * status, and what it says, must be the same with and without a profiler.
 *
 * Usage: late_signals HOW; a word of the table at the end
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "raw_call.h"
#include "work.h"

static volatile uint64_t sink;

/* Every US microseconds if REPEATS, else once after that time. */
static void
set_timer(long us, int repeats)
{
    struct itimerval timer = {{0, repeats ? us : 0}, {0, us}};
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void
end_otherwise(int number)
{
    (void)number;
    _exit(55);
}

/* When the end began, in seconds, 0 before. */
static volatile double over;

static double
now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* A thread that had to wait for a CPU may be a little late. */
static void
complain(int number)
{
    (void)number;
    if (over != 0 && now() - over > 0.5 &&
        write(STDOUT_FILENO, "late\n", 5) != 5)
        _exit(56);
}

/* For a profile that takes longer to write. */
static void
alarm_by_default(void)
{
    sink += work_burn(50);
    set_timer(500000, 0);
    exit(41);
}

static void
alarm_handled(void)
{
    signal(SIGALRM, end_otherwise);
    sink += work_burn(50);
    set_timer(500000, 0);
    exit(42);
}

static void
ticks(void)
{
    signal(SIGALRM, complain);
    set_timer(1000, 1);
    sink += work_burn(50);
    over = now();
    _exit(43);
}

static void
raw_exit(void)
{
    sink += work_burn(50);
    syscall(SYS_exit, 44);
}

/* The same, past all hooks. */
static void
rawest_exit(void)
{
    sink += work_burn(50);
    raw_call(SYS_exit, 45, 0, 0, 0);
}

/* A forbidden call kills the thread, which is the last one. */
static void
forbidden(void)
{
    sink += work_burn(50);
    prctl(PR_SET_SECCOMP, 1);
    syscall(SYS_getpid);
}

static const struct {
    const char *name;
    void (*end)(void);
} ways[] = {
    {"alarm_by_default", alarm_by_default},
    {"alarm_handled", alarm_handled},
    {"ticks", ticks},
    {"raw_exit", raw_exit},
    {"rawest_exit", rawest_exit},
    {"forbidden", forbidden},
};

int
main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (argc < 2)
            puts(ways[i].name);
        else if (strcmp(argv[1], ways[i].name) == 0)
            ways[i].end();
    return 1;
}
