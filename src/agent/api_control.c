/* SPDX-License-Identifier: MIT */
/*
 * api_control.c -- what include/sprof.h says of starting, stopping, writing and
 * stacks. The sampler does it all; here it is asked, and waited for.
 */
#include <errno.h>
#include <stddef.h>

#include "base/phase.h"
#include "base/stack_cause.h"
#include "base/sys.h"
#include "sampling/all_stacks.h"
#include "sampling/sampler_thread.h"
#include "store/layout.h"
#include "requests.h"
#include "sprof.h"

#define API __attribute__((visibility("default")))

#define SECONDS 1000000000ull
#define START_NS (5 * SECONDS)
#define STACKS_NS (10 * SECONDS)
#define PRINT_NS (70 * SECONDS)
#define WRITE_NS (130 * SECONDS)

/* Room for the stacks of all threads: addresses, until they are used. */
#define MEMORY_MOST (256ul << 20)
#define MEMORY_LEAST (1ul << 20)

/* Ask for REQUEST; the result is an enum sprof_error, errno what failed. */
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

/* Hand out what is in MEMORY. */
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
