/* SPDX-License-Identifier: MIT */
/*
 * gpu_stand_in.c -- a library with names that those of CUDA, NCCL and HIP
 * export. Each function does for MS milliseconds what the real one may do: it
 * sleeps in a system call, or it spins, which MS then counts in CPU time. The
 * work is done by functions below it that export no name.
 */
#include <poll.h>
#include <time.h>

#include "work.h"

FRAME static int
spin(unsigned ms)
{
    (void)work_burn(ms);
    KEEP_FRAME();
    return 0;
}

/* MS may take longer, but no system call is begun again. */
FRAME static int
sleep_in_poll(unsigned ms)
{
    (void)poll(NULL, 0, (int)ms);
    KEEP_FRAME();
    return 0;
}

FRAME static int
sleep_in_nanosleep(unsigned ms)
{
    work_sleep(ms);
    KEEP_FRAME();
    return 0;
}

/* Exported as NAME: does WORK. */
#define EXPORTED(name, work)    \
    int name(unsigned ms);      \
    FRAME int name(unsigned ms) \
    {                           \
        int result = work(ms);  \
        KEEP_FRAME();           \
        return result;          \
    }

/* These wait for the GPU. */
EXPORTED(cudaStreamSynchronize, spin)
EXPORTED(cudaEventSynchronize, sleep_in_poll)
EXPORTED(cuMemcpyDtoH_v2, sleep_in_nanosleep)
EXPORTED(hipDeviceSynchronize, sleep_in_poll)
EXPORTED(ncclGroupEnd, spin)

/* These do not: they compute or sleep for something else. */
EXPORTED(cudaLaunchKernel, spin)
EXPORTED(cudaMemcpyAsync, sleep_in_poll)
EXPORTED(customSynchronize, sleep_in_nanosleep)
