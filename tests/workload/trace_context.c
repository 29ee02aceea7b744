/* SPDX-License-Identifier: MIT */
/*
 * trace_context.c -- publishes the trace and span of each thread, as libraries
 * of OpenTelemetry do. The main thread computes in span "a", in "b", while its
 * record is not valid, without a record, and with a pointer to no memory. The
 * thread "waiter" sleeps in span "c" meanwhile; "hurry" has another span every
 * millisecond.
 *
 * Usage: trace_context MS [LIBRARY]   each part takes MS milliseconds of CPU
 *                                     time; LIBRARY has the variable
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_context.h"
#include "work.h"

/* Memory that nothing is mapped at. */
#define NOWHERE 0x1000u

static struct trace_record *volatile *(*place)(void) = trace_context_place;
static volatile uint64_t sink;

/* Give the calling thread a span of 8 bytes LETTER. The record is its own. */
static void
enter(struct trace_record *record, unsigned char letter)
{
    record->valid = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memset(record->trace, 0x11, sizeof(record->trace));
    memset(record->span, letter, sizeof(record->span));
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    record->valid = 1;
    *place() = record;
}

static void *
wait_in_span(void *ms)
{
    struct trace_record record = {.flags = 1};

    enter(&record, 0xcc);
    work_sleep(*(unsigned *)ms);
    *place() = NULL;
    return NULL;
}

static void *
hurry(void *ms)
{
    struct trace_record *record = calloc(1, sizeof(*record));

    for (unsigned i = 0; i < *(unsigned *)ms; i++) {
        enter(record, (unsigned char)(1 + i % 64));
        sink += work_burn(1);
    }
    *place() = NULL;
    free(record);
    return NULL;
}

static void
compute(unsigned ms)
{
    struct trace_record *record = calloc(1, sizeof(*record));

    enter(record, 0xaa);
    sink += work_burn(ms);
    enter(record, 0xbb);
    sink += work_burn(ms);
    record->valid = 0;
    sink += work_burn(ms);
    record->valid = 1;
    *place() = NULL;
    sink += work_burn(ms);
    *place() = (struct trace_record *)NOWHERE;
    sink += work_burn(ms);
    *place() = NULL;
    free(record);
}

int
main(int argc, char **argv)
{
    unsigned ms = work_argument(argc, argv, 1, 200), all = 5 * ms;
    pthread_t waiter, other;
    void *library = argc > 2 ? dlopen(argv[2], RTLD_NOW) : NULL;

    if (argc > 2 && library == NULL)
        work_fail(dlerror());
    if (library != NULL)
        *(void **)&place = dlsym(library, "trace_context_place");
    if (pthread_create(&waiter, NULL, wait_in_span, &all) != 0 ||
        pthread_create(&other, NULL, hurry, &ms) != 0)
        work_fail("pthread_create");
    pthread_setname_np(waiter, "waiter");
    pthread_setname_np(other, "hurry");
    compute(ms);
    pthread_join(waiter, NULL);
    pthread_join(other, NULL);
    puts("ok");
    return 0;
}
