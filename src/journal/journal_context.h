/* SPDX-License-Identifier: MIT */
/*
 * journal_context.h -- writes the trace context of samples into the journal, as
 * the labels trace_id and span_id. A program has a new span for each request,
 * so what was written is remembered only for the latest ones. One that comes
 * back later is written again, with another number.
 */
#ifndef JOURNAL_JOURNAL_CONTEXT_H
#define JOURNAL_JOURNAL_CONTEXT_H

#include <stdint.h>

#include "unwind/trace_context.h"

/* Returns the number of the labels of CONTEXT on top of SET, which is a number
 * of journal_labels. Returns SET if CONTEXT has no span, or could not be
 * written.
 * Context: sampler. */
uint32_t journal_context(uint32_t set, const struct trace_context *context);

#endif
