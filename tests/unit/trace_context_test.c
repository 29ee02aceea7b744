/* SPDX-License-Identifier: MIT */
/*
 * trace_context_test.c -- which records are contexts, and how those of this
 * program's threads are found: its own by the thread, and by the sampler those
 * of a thread that waits. This program exports the variable.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arch.h"
#include "process/elf_local.h"
#include "process/modules.h"
#include "unwind/trace_context.h"

#define NOWHERE 0x1000u

__attribute__((
    visibility("default"))) __thread const uint8_t *volatile otel_thread_ctx_v1;

static uint8_t record[64];
static struct trace_context context;
static struct module own;

static void
make_record(uint8_t *to, unsigned char trace, unsigned char span)
{
    memset(to, trace, 16);
    memset(to + 16, span, 8);
    to[TRACE_CONTEXT_VALID] = 1;
}

static void
see(const struct module *module, bool gone)
{
    uint64_t here = (uint64_t)see;
    if (!gone && here >= module->start && here < module->end)
        own = *module;
}

static int
begin_group(void **state)
{
    (void)state;
    return modules_begin(see) != 0 || modules_refresh() != 0 || own.start == 0;
}

static int
begin(void **state)
{
    (void)state;
    make_record(record, 0x12, 0x34);
    otel_thread_ctx_v1 = record;
    trace_context_begin();
    trace_context_module(&own, false);
    return 0;
}

static uint64_t
read_span(void)
{
    trace_context_read(&context, arch_thread_pointer());
    return context.span;
}

static void
records_are_checked(void **state)
{
    (void)state;
    assert_true(trace_context_parse(&context, record));
    assert_int_equal(context.span, 0x3434343434343434);
    assert_true(context.trace[0] == 0x1212121212121212);
    for (unsigned valid = 0; valid < 256; valid++) {
        record[TRACE_CONTEXT_VALID] = (uint8_t)valid;
        assert_int_equal(trace_context_parse(&context, record), valid == 1);
        assert_int_equal(context.span == 0, valid != 1);
    }
    make_record(record, 0, 0x34);
    assert_false(trace_context_parse(&context, record));
    make_record(record, 0x12, 0);
    assert_false(trace_context_parse(&context, record));
    /* One byte of each is enough. */
    record[0] = 0, record[23] = 1;
    assert_true(trace_context_parse(&context, record));
}

static void
the_variable_is_found(void **state)
{
    struct elf_local local;
    (void)state;
    assert_true(elf_local_find(&local, &own, TRACE_CONTEXT_VARIABLE));
    int64_t distance = elf_local_distance(&local, arch_thread_pointer());
    assert_true(arch_thread_pointer() + (uint64_t)distance ==
                (uint64_t)&otel_thread_ctx_v1);
    assert_false(elf_local_find(&local, &own, "otel_thread_ctx_v2"));
    /* A function that is exported is no such variable. */
    assert_false(
        elf_local_find(&local, modules_find((uint64_t)getpid), "getpid"));
}

static void
a_thread_reads_its_own(void **state)
{
    (void)state;
    assert_int_equal(read_span(), 0x3434343434343434);
    record[TRACE_CONTEXT_VALID] = 0;
    assert_int_equal(read_span(), 0);
    otel_thread_ctx_v1 = NULL;
    assert_int_equal(read_span(), 0);
    otel_thread_ctx_v1 = (const uint8_t *)NOWHERE;
    assert_int_equal(read_span(), 0);
}

static void
nothing_is_read_without_the_module(void **state)
{
    (void)state;
    trace_context_module(&own, true);
    assert_int_equal(read_span(), 0);
    trace_context_module(&own, true);
    trace_context_module(&own, false);
    assert_int_equal(read_span(), 0x3434343434343434);
}

/* A thread that waits; PIPES[0] tells its tid, PIPES[1] lets it go. */
static int pipes[2][2];

static void *
wait_there(void *argument)
{
    uint8_t own_record[TRACE_CONTEXT_SIZE];
    pid_t tid = gettid();
    char byte;
    make_record(own_record, 0x56, 0x78);
    otel_thread_ctx_v1 = own_record;
    if (write(pipes[0][1], &tid, sizeof(tid)) != sizeof(tid) ||
        read(pipes[1][0], &byte, 1) != 1)
        abort();
    return argument;
}

static void
the_sampler_reads_that_of_others(void **state)
{
    pthread_t thread;
    pid_t tid;
    (void)state;
    assert_int_equal(pipe(pipes[0]) | pipe(pipes[1]), 0);
    assert_int_equal(pthread_create(&thread, NULL, wait_there, NULL), 0);
    assert_int_equal(read(pipes[0][0], &tid, sizeof(tid)), sizeof(tid));
    trace_context_read_from(&context, tid);
    assert_int_equal(context.span, 0x7878787878787878);
    trace_context_read_from(&context, gettid());
    assert_int_equal(context.span, 0x3434343434343434);
    assert_int_equal(write(pipes[1][1], "", 1), 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    trace_context_read_from(&context, tid);
    assert_int_equal(context.span, 0);
}

int
main(void)
{
#define UNIT(name) cmocka_unit_test_setup(name, begin)
    const struct CMUnitTest tests[] = {
        UNIT(records_are_checked),
        UNIT(the_variable_is_found),
        UNIT(a_thread_reads_its_own),
        UNIT(nothing_is_read_without_the_module),
        UNIT(the_sampler_reads_that_of_others),
    };
    return cmocka_run_group_tests(tests, begin_group, NULL);
}
