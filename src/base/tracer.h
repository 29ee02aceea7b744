/* SPDX-License-Identifier: MIT */
#ifndef BASE_TRACER_H
#define BASE_TRACER_H

#include <sys/types.h>

/* The process that traces the calling thread (ptrace(2)), 0 if there is none:
 * "TracerPid:" of proc_pid_status(5). Reads a file; in handler. */
pid_t tracer_pid(void);

#endif
