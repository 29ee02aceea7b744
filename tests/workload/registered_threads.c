/* SPDX-License-Identifier: MIT */
/*
 * registered_threads.c -- of two threads that compute, one registers itself, by
 * the public header alone: the program is not linked with the library. With a
 * COUNT, so many threads come one after the other. Each of them computes,
 * registers itself and computes the same again, while the first thread waits.
 *
 * Usage: registered_threads MILLISECONDS [COUNT]
 *
 * MILLISECONDS: of CPU time of each thing. Prints "ok"; with a COUNT, also
 * "truth listed_work NS".
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

static void *
late(void *ns)
{
    uint64_t begin;

    unlisted_work();
    begin = work_cpu_ns();
    if (sprof_thread_register("listed") != 0 && sprof_is_running())
        puts("cannot register");
    listed_work();
    *(uint64_t *)ns += work_cpu_ns() - begin;
    return NULL;
}

static int
come_and_go(unsigned count)
{
    uint64_t ns = 0;
    pthread_t thread;

    for (unsigned i = 0; i < count; i++) {
        if (pthread_create(&thread, NULL, late, &ns) != 0)
            return 1;
        pthread_join(thread, NULL);
    }
    printf("truth listed_work %llu\nok\n", (unsigned long long)ns);
    return 0;
}

int
main(int argc, char **argv)
{
    uint64_t sum = 0;
    pthread_t thread;

    length = argc > 1 ? (unsigned)atoi(argv[1]) : 500;
    if (argc > 2)
        return come_and_go((unsigned)atoi(argv[2]));
    if (pthread_create(&thread, NULL, listed, &sum) != 0)
        return 1;
    sum += unlisted_work();
    pthread_join(thread, NULL);
    puts(sum != 0 ? "ok" : "nothing done");
    return 0;
}
