/* SPDX-License-Identifier: MIT */
/*
 * same_place_library.c -- a library of same_place. It is built three
 * times, with other names: LIBRARY_HAS(burn) is one_burn in the first of them.
 */
#include <poll.h>
#include <stdint.h>

#include "work.h"

uint64_t LIBRARY_HAS(compute)(unsigned ms);

FRAME static uint64_t
LIBRARY_HAS(burn)(unsigned ms)
{
    uint64_t value = 0, until = work_cpu_ns() + ms * 1000000ull;

    while (work_cpu_ns() < until)
        for (unsigned i = 0; i < 10000; i++)
            value = value * 6364136223846793005u + 1442695040888963407u;
    return value;
}

FRAME static void
LIBRARY_HAS(wait)(unsigned ms)
{
    poll(NULL, 0, (int)ms);
    KEEP_FRAME();
}

__attribute__((visibility("default"))) uint64_t
LIBRARY_HAS(compute)(unsigned ms)
{
    uint64_t value = LIBRARY_HAS(burn)(ms);

    LIBRARY_HAS(wait)(ms / 4);
    return value;
}

__attribute__((destructor)) static void
LIBRARY_HAS(end)(void)
{
    (void)LIBRARY_HAS(burn)(1);
}
