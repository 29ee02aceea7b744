/* SPDX-License-Identifier: MIT */
/*
 * late_names.c -- threads that choose their names when they were seen already,
 * one after the other, and work or wait under them. HOW is
 *
 *   ends    each works a little longer and ends
 *   waits   each waits; the process ends MS ms, 100, after the last has its
 * name
 *
 * Usage: late_names HOW [MS]
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "work.h"

#define COUNT 20

/* Within that time a thread has been seen, on a busy machine, too. */
#define SEEN_MS 60

static bool ends;
static atomic_uint named;

static void *
choose_name(void *number)
{
    char name[16];
    work_burn(3);
    work_sleep(SEEN_MS);
    snprintf(name, sizeof name, "named-%ld", (long)number);
    pthread_setname_np(pthread_self(), name);
    named++;
    if (ends)
        work_burn(10);
    else
        pause();
    return NULL;
}

int
main(int argc, char **argv)
{
    ends = argc < 2 || strcmp(argv[1], "waits") != 0;
    for (long i = 0; i < COUNT; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, choose_name, (void *)i) != 0)
            work_fail("pthread_create");
        if (ends)
            pthread_join(thread, NULL);
    }
    while (named < COUNT)
        work_sleep(1);
    if (!ends)
        work_sleep(work_argument(argc, argv, 2, 100));
    puts("ok");
    return 0;
}
