/* SPDX-License-Identifier: MIT */
/*
 * hand_over.c -- two processes on one CPU that hand a byte to and fro, as fast
 * as they can: 100,000 switches a second, each of which costs something where a
 * trigger has a timer to stop and start. Then the first one computes.
 *
 * Arguments: milliseconds of its CPU time for handing over, 600, and for
 * computing, 0.
 */
#include <sched.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "work.h"

static volatile uint64_t sink;

static uint64_t
used_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void
stay_on_one_cpu(void)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set) != 0)
        work_fail("sched_getaffinity");
    for (int cpu = 0, found = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set) && found++ > 0)
            CPU_CLR(cpu, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void
give_back(int in, int out)
{
    char byte;

    while (read(in, &byte, 1) == 1)
        if (write(out, &byte, 1) != 1)
            break;
    _exit(0);
}

FRAME void
handing_over(int out, int in, unsigned ms)
{
    uint64_t until = used_ms() + ms;
    char byte = 0;

    while (used_ms() < until)
        for (int i = 0; i < 16; i++)
            if (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)
                work_fail("the other process is gone");
    KEEP_FRAME();
}

FRAME void
computing(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

int
main(int argc, char **argv)
{
    int there[2], back[2];

    stay_on_one_cpu();
    if (pipe(there) != 0 || pipe(back) != 0)
        work_fail("pipe");
    if (fork() == 0) {
        close(there[1]);
        close(back[0]);
        give_back(there[0], back[1]);
    }
    close(there[0]);
    handing_over(there[1], back[0], work_argument(argc, argv, 1, 600));
    close(there[1]);
    wait(NULL);
    computing(work_argument(argc, argv, 2, 0));
    puts("ok");
    return 0;
}
