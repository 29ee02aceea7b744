/* SPDX-License-Identifier: MIT */
/*
 * deep_recursion.c -- a stack far deeper than any profile keeps. The profile
 * must have the leaf end and the root, and say that frames between them are
 * missing.
 *
 * Arguments: depth, 100000; milliseconds of CPU time at the bottom, 1000.
 */
#include <pthread.h>
#include <stdio.h>

#include "work.h"

struct dive {
    unsigned depth;
    unsigned ms;
};

static volatile uint64_t sink;

FRAME static void
bottom(unsigned ms)
{
    sink += work_burn(ms);
    KEEP_FRAME();
}

FRAME static void
descend(unsigned depth, unsigned ms)
{
    if (depth == 0)
        bottom(ms);
    else
        descend(depth - 1, ms);
    sink += depth;
}

static void *
diver(void *argument)
{
    const struct dive *dive = argument;

    descend(dive->depth, dive->ms);
    KEEP_FRAME();
    return NULL;
}

int
main(int argc, char **argv)
{
    struct dive dive;
    pthread_attr_t attributes;
    pthread_t thread;

    dive.depth = work_argument(argc, argv, 1, 100000);
    dive.ms = work_argument(argc, argv, 2, 1000);
    work_expect("descend;descend;descend;descend;bottom;work_burn");

    /* Its own thread, whose stack is large enough whatever ulimit says. */
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes,
                                  (size_t)dive.depth * 256 + (1u << 20)) != 0)
        work_fail("no stack of that size");
    if (pthread_create(&thread, &attributes, diver, &dive) != 0)
        work_fail("pthread_create");
    pthread_join(thread, NULL);
    puts("ok");
    return 0;
}
