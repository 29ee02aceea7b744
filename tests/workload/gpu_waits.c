/* SPDX-License-Identifier: MIT */
/*
 * gpu_waits.c -- calls a library that waits for a GPU (gpu_stand_in.c): asleep
 * in system calls, and with CPU time that is no work. `gpu_waits [MS]` spends
 * about MS in each function, in turns, and prints by its own clocks, in
 * seconds,
 *
 *     gpu SLEPT SPUN WALL
 *     others SLEPT COMPUTED WALL
 *
 * SLEPT is the time without a CPU, less the time in which the thread could have
 * run, by its schedstat. WALL is all time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

#define ROUNDS 4u

int cudaStreamSynchronize(unsigned ms);
int cudaEventSynchronize(unsigned ms);
int cuMemcpyDtoH_v2(unsigned ms);
int hipDeviceSynchronize(unsigned ms);
int ncclGroupEnd(unsigned ms);
int cudaLaunchKernel(unsigned ms);
int cudaMemcpyAsync(unsigned ms);
int customSynchronize(unsigned ms);

struct clocks {
    uint64_t wall, cpu, queued; /* ns */
};

/* proc(5): the second number of schedstat is the time in the queue, in ns. */
static struct clocks
now(void)
{
    struct clocks clocks = {work_now_ns(), work_cpu_ns(), 0};
    char text[128] = "";
    int from = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (from < 0 || read(from, text, sizeof(text) - 1) <= 0)
        work_fail("schedstat");
    close(from);
    char *end = text;
    (void)strtoull(text, &end, 10);
    clocks.queued = strtoull(end, NULL, 10);
    return clocks;
}

/* Call FUNCTION, and add the time to SUM. */
FRAME static void
call(int (*function)(unsigned), unsigned ms, struct clocks *sum)
{
    struct clocks before = now();
    if (function(ms) != 0)
        work_fail("a function of the stand-in");
    struct clocks after = now();
    sum->wall += after.wall - before.wall;
    sum->cpu += after.cpu - before.cpu;
    sum->queued += after.queued - before.queued;
}

static void
print(const char *what, const struct clocks *sum)
{
    printf("%s %.3f %.3f %.3f\n", what,
           (double)(sum->wall - sum->cpu - sum->queued) / 1e9,
           (double)sum->cpu / 1e9, (double)sum->wall / 1e9);
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 600) / ROUNDS;
    struct clocks gpu = {0}, others = {0};
    for (unsigned i = 0; i < ROUNDS; i++) {
        call(cudaStreamSynchronize, ms, &gpu);
        call(cudaLaunchKernel, ms, &others);
        call(cudaEventSynchronize, ms, &gpu);
        call(cudaMemcpyAsync, ms, &others);
        call(cuMemcpyDtoH_v2, ms, &gpu);
        call(customSynchronize, ms, &others);
        call(hipDeviceSynchronize, ms, &gpu);
        call(ncclGroupEnd, ms, &gpu);
    }
    print("gpu", &gpu);
    print("others", &others);
    puts("ok");
    return 0;
}
