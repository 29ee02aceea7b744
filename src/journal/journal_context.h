/* SPDX-License-Identifier: MIT */
/*
 * journal_context.h -- writes what a thread works on into the journal: the
 * labels task, trace_id and span_id. A program has new ones for each request,
 * so only the latest ones are remembered. One that comes back later is written
 * again, with another number. Readers remember all that a file has, so their
 * number is limited. A mark says when it is reached.
 */
#ifndef JOURNAL_JOURNAL_CONTEXT_H
#define JOURNAL_JOURNAL_CONTEXT_H

#include <stdint.h>

#include "unwind/trace_context.h"

/* Limit of these labels in a file. */
#define JOURNAL_CONTEXT_LABELS_MOST (1u << 19)

/* Returns the number of the labels of TASK and CONTEXT on top of SET, which is
 * a number of journal_labels. TASK is the name of a task, empty or NULL if
 * there is none; of more than SCRIPT_TASK_NAME - 1 bytes only those are used.
 * Labels that could not be written are left out.
 * Context: sampler. */
uint32_t journal_context(uint32_t set, const struct trace_context *context,
                         const char *task);

#endif
