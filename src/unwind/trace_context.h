/* SPDX-License-Identifier: MIT */
/*
 * trace_context.h -- the trace and the span in which a thread works, as
 * libraries of OpenTelemetry publish it for profilers: the thread-local
 * variable `otel_thread_ctx_v1` points to a record (OTEP 4947). A thread
 * changes its own record alone. So the record is read while the thread stands
 * still: by its own handler, or by the sampler while the thread waits.
 */
#ifndef UNWIND_TRACE_CONTEXT_H
#define UNWIND_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "process/modules.h"

#define TRACE_CONTEXT_VARIABLE "otel_thread_ctx_v1"

/* Ids of W3C Trace Context, as they lie in memory. A SPAN of 0 means that there
 * is none. */
struct trace_context {
    uint64_t trace[2];
    uint64_t span;
};

/* Bytes of a record that are read, and the offset of the byte that says that
 * the record is valid. */
#define TRACE_CONTEXT_SIZE 25u
#define TRACE_CONTEXT_VALID 24u

/* Begin without a variable. Context: sampler. */
void trace_context_begin(void);

/* MODULE has come, or is gone. Context: sampler. */
void trace_context_module(const struct module *module, bool gone);

/* Look again at variables whose place was not known. Context: sampler. */
void trace_context_settle(void);

/* Take CONTEXT out of the record RECORD of TRACE_CONTEXT_SIZE bytes. Returns
 * false if the record says that it is not valid, or has no span. */
bool trace_context_parse(struct trace_context *context, const uint8_t *record);

/* The context of the calling thread, whose thread pointer is POINTER. The
 * module map is current. Without one, span is 0. It makes a system call only if
 * the thread has a record. Context: any. */
void trace_context_read(struct trace_context *context, uint64_t pointer);

/* The same of thread TID, which waits. Context: sampler. */
void trace_context_read_from(struct trace_context *context, pid_t tid);

#endif
