/* SPDX-License-Identifier: MIT */
/*
 * report.h -- the border between the profiled process and everything heavy.
 *
 * libsprof-report.so is a program that stands beside libsprof.so. At its end
 * the profiled process runs it as a separate process. In the program's own
 * address space, libdw and its libraries would be bound to symbols that the
 * program exports.
 *
 *   libsprof-report.so ABI INLINES SPOOL OUTPUT...
 *
 * Some installations take the permission to execute from libraries. Then the
 * file's interpreter runs it with the same arguments.
 *
 * ABI is SPROF_REPORT_ABI, INLINES 0 or 1. SPOOL and the OUTPUTs are absolute
 * paths; the ending of an output says its format. The program writes one line
 * on its standard output, SPROF_REPORT_OK or a sentence that says what failed,
 * and nothing elsewhere.
 *
 *   libsprof-report.so ABI SPROF_REPORT_STACKS INLINES SPOOL NONCE
 *
 * This form writes the stacks of all threads that answer the request NONCE (a
 * decimal number). It writes them on its descriptor 2, which is the program's.
 */
#ifndef WRITE_REPORT_H
#define WRITE_REPORT_H

#include <stddef.h>
#include <stdint.h>

#define SPROF_REPORT_ABI "1"
#define SPROF_REPORT_STACKS "stacks"
#define SPROF_REPORT_OK "ok"

struct sprof_report {
    int inlines; /* SPROF_INLINES */
    const char *spool;
    const char *const *outputs;
    size_t output_count;
    /* Results: */
    uint64_t samples; /* sample points in the profile */
    uint64_t threads;
    char error[512]; /* a sentence for each failure, separated by "; " */
};

/* Write the stacks that answer the request NONCE to descriptor FD. INLINES and
 * SPOOL of REPORT are used. If a pipe is full, the function waits, but not for
 * ever. Returns 0, or -1 with REPORT->error set. */
int sprof_report_stacks(struct sprof_report *report, int fd, uint32_t nonce);

/*
 * Read the spool, look up its names and write every output. Each output is
 * written under another name, then renamed; its mode is 0600. Returns 0, or -1
 * with REPORT->error set; outputs that can be written are written in any case.
 * The function allocates, and keeps nothing.
 */
int sprof_report_write(struct sprof_report *report);

#endif
