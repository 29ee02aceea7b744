/* SPDX-License-Identifier: MIT */
/* trace_context.h -- the record of OTEP 4947, as a library of OpenTelemetry
 * would make it, and where the calling thread has the pointer to its own. */
#ifndef WORKLOAD_TRACE_CONTEXT_H
#define WORKLOAD_TRACE_CONTEXT_H

#include <stdint.h>

struct trace_record {
    uint8_t trace[16], span[8];
    uint8_t valid, flags;
    uint16_t more; /* bytes of attributes after it */
};

struct trace_record *volatile *trace_context_place(void);

#endif
