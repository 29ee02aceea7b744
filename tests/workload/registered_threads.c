/* SPDX-License-Identifier: MIT */
/*
 * registered_threads.c -- of two threads that compute, one registers itself, by
 * the public header alone: the program is not linked with the library.
 *
 * Usage: registered_threads MILLISECONDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sprof.h"

#include "work.h"

static unsigned length;

FRAME static uint64_t
listed_work(void)
{
    return work_burn(length) + 1;
}

FRAME static uint64_t
unlisted_work(void)
{
    return work_burn(length) + 2;
}

static void *
listed(void *sum)
{
    if (sprof_thread_register("listed") != 0 && sprof_is_running())
        puts("cannot register");
    *(uint64_t *)sum += listed_work();
    return NULL;
}

int
main(int argc, char **argv)
{
    uint64_t sum = 0;
    pthread_t thread;

    length = argc > 1 ? (unsigned)atoi(argv[1]) : 500;
    if (pthread_create(&thread, NULL, listed, &sum) != 0)
        return 1;
    sum += unlisted_work();
    pthread_join(thread, NULL);
    puts(sum != 0 ? "ok" : "nothing done");
    return 0;
}
