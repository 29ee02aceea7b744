/* SPDX-License-Identifier: MIT */
/*
 * api.c -- the functions that include/sprof.h reaches by weak symbols.
 * Starting, stopping, writing and stacks are the sampler's work: the caller
 * asks it, and waits.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/loss.h"
#include "base/sys.h"
#include "labels/labels.h"
#include "sampling/all_stacks.h"
#include "sampling/marks.h"
#include "sampling/registry.h"
#include "sampling/sampler_thread.h"
#include "sampling/session.h"
#include "store/layout.h"
#include "doze.h"
#include "lifecycle.h"
#include "requests.h"
#include "sprof.h"

#define API __attribute__((visibility("default")))

API int
sprof_api_is_running(void)
{
    return phase_is_running() && session_is_announced();
}

API const char *
sprof_api_version(void)
{
    return SPROF_VERSION;
}

API int
sprof_api_thread_register(const char *name)
{
    if (!phase_is_running()) {
        errno = ENOTCONN;
        return -1;
    }
    if (name != NULL && prctl(PR_SET_NAME, name) != 0)
        return -1;
    registry_add_caller();
    return 0;
}

API int
sprof_api_label_set(const char *key, const char *value)
{
    return labels_set(key, value);
}

API int64_t
sprof_api_label_begin(const char *key, const char *value)
{
    return labels_push(key, value);
}

API int
sprof_api_label_end(int64_t scope)
{
    return labels_pop(scope);
}

/* In the child of a fork that is not followed, no thread would write them. A
 * program with marks is worth sampling, however little it has computed so far.
 */
static bool
are_marks_taken(void)
{
    if (lifecycle_is_early() && phase_is_own())
        doze_hurry(DOZE_ATTACH_NS);
    return marks_are_open() && phase_is_on();
}

API int
sprof_api_mark(const char *name)
{
    if (!are_marks_taken())
        return SPROF_ERROR_NOT_RUNNING;
    return marks_put(MARK_USER, name, clock_now(), 0);
}

/* The token of a span is the time at which it began. */
API int64_t
sprof_api_span_begin(void)
{
    return labels_are_on() ? (int64_t)clock_now() : SPROF_ERROR_NOT_RUNNING;
}

API int
sprof_api_span_end(int64_t span, const char *name)
{
    if (span <= 0)
        return span < 0 ? (int)span : SPROF_ERROR_INVALID;
    if (!are_marks_taken())
        return SPROF_ERROR_NOT_RUNNING;
    uint64_t now = clock_now(), begun = (uint64_t)span;
    if (begun > now)
        return SPROF_ERROR_INVALID;
    return marks_put(MARK_SPAN, name, begun, now - begun);
}

#define SECONDS 1000000000ull
#define START_NS (5 * SECONDS)
#define STACKS_NS (10 * SECONDS)
#define PRINT_NS (70 * SECONDS)
#define WRITE_NS (130 * SECONDS)

/* Room for the stacks of all threads: addresses, until they are used. */
#define MEMORY_MOST (256ul << 20)
#define MEMORY_LEAST (1ul << 20)

/* Ask for REQUEST. The result is an enum sprof_error, and errno has the
 * cause. */
static int
ask(enum request request, int fd, struct all_stacks_memory *memory, uint64_t ns)
{
    if (!phase_is_running() || sampler_thread_is_caller())
        return SPROF_ERROR_NOT_RUNNING;
    int error = requests_ask(request, fd, memory, ns);
    if (error == 0)
        return 0;
    errno = error;
    return error == ETIMEDOUT ? SPROF_ERROR_TIMEOUT : SPROF_ERROR_FAILED;
}

API int
sprof_api_start(void)
{
    return ask(REQUEST_START, -1, NULL, START_NS);
}

API int
sprof_api_stop(void)
{
    return ask(REQUEST_STOP, -1, NULL, START_NS);
}

API int
sprof_api_write(void)
{
    return ask(REQUEST_WRITE, -1, NULL, WRITE_NS);
}

API int
sprof_api_stacks_print(int fd)
{
    return ask(REQUEST_PRINT, fd, NULL, PRINT_NS);
}

/* Pass the stacks in MEMORY to VISIT. */
static int
visit_all(const struct all_stacks_memory *memory,
          int (*visit)(const struct sprof_stack *, void *), void *context)
{
    int result = 0;
    for (size_t at = 0; result == 0 && at < memory->used;) {
        const struct all_stacks_stack *from =
            (const void *)(memory->bytes + at);
        int number = from->system_call;
        const struct sprof_stack stack = {
            .tid = (int)from->tid,
            .name = from->name,
            .state = (char)from->state,
            .system_call = number == SYSCALL_UNKNOWN ? -1 : number,
            .cpu_ns = from->cpu == UINT64_MAX ? -1 : (int64_t)from->cpu,
            .missing = from->cause == STACK_NONE
                           ? NULL
                           : stack_cause_text(from->cause),
            .depth = from->count,
            .frames = from->frames};
        result = visit(&stack, context);
        at += from->size;
    }
    return result;
}

API int
sprof_api_stacks_collect(int (*visit)(const struct sprof_stack *, void *),
                         void *context)
{
    struct all_stacks_memory memory = {.size = MEMORY_MOST};
    if (visit == NULL)
        return SPROF_ERROR_INVALID;
    while ((memory.bytes = sys_reserve(memory.size)) == NULL &&
           memory.size > MEMORY_LEAST)
        memory.size /= 4;
    if (memory.bytes == NULL) {
        errno = ENOMEM;
        return SPROF_ERROR_FAILED;
    }
    size_t size = memory.size;
    char *bytes = memory.bytes;
    int result = ask(REQUEST_STACKS, -1, &memory, STACKS_NS);
    if (result == 0)
        result = visit_all(&memory, visit, context);
    if (result != SPROF_ERROR_TIMEOUT)
        sys_release(bytes, size);
    return result;
}
