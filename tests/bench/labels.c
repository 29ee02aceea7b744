/* SPDX-License-Identifier: MIT */
/*
 * labels.c -- what a label and a mark cost the program that sets them. Prints a
 * line for each operation: its name, and ns of the thread's CPU time a call.
 * Usage: labels ROUNDS. Not linked with the library.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sprof.h"

/* Fewer than there are places for marks. */
#define BURST 4000u

static const char *const values[] = {"/cart", "/checkout/payment"};
static unsigned rounds;

static uint64_t
cpu_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void
report(const char *name, uint64_t since, unsigned calls)
{
    printf("%s|%.2f\n", name, (double)(cpu_now() - since) / calls);
}

static void
set_one(const char *name)
{
    uint64_t start = cpu_now();

    for (unsigned i = 0; i < rounds; i++)
        sprof_label_set("request", values[i % 2]);
    report(name, start, rounds);
}

static void
begin_and_end(void)
{
    uint64_t start = cpu_now();

    for (unsigned i = 0; i < rounds; i++)
        sprof_label_end(sprof_label_begin("phase", values[i % 2]));
    report("sprof_label_begin and _end", start, rounds);
}

static void *
set_in_thread(void *name)
{
    set_one(name);
    return NULL;
}

static void
mark_burst(void)
{
    uint64_t start = cpu_now();

    for (unsigned i = 0; i < BURST; i++)
        sprof_mark("a mark");
    report("sprof_mark", start, BURST);
    usleep(200000);
    start = cpu_now();
    for (unsigned i = 0; i < BURST; i++)
        sprof_span_end(sprof_span_begin(), "a span");
    report("sprof_span_begin and _end", start, BURST);
}

int
main(int argc, char **argv)
{
    char *in_two = "sprof_label_set, in two threads at once";
    pthread_t threads[2];

    rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 1000000;
    sprof_label_set("request", values[0]);
    set_one("sprof_label_set");
    begin_and_end();
    sprof_label_set("user", "ada");
    sprof_label_set("phase", "render");
    set_one("sprof_label_set, below two others");
    for (unsigned i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, set_in_thread, in_two);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    mark_burst();
    return 0;
}
