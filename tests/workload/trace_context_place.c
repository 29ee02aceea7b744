/* SPDX-License-Identifier: MIT */
/* trace_context_place.c -- the variable that points to a thread's record. It is
 * built in each way in which a thread-local variable can be found. */
#include "trace_context.h"

__thread struct trace_record *volatile otel_thread_ctx_v1;

struct trace_record *volatile *
trace_context_place(void)
{
    return &otel_thread_ctx_v1;
}
