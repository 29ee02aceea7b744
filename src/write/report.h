/* SPDX-License-Identifier: MIT */
/*
 * report.h -- the small seam between the profiled process and everything heavy.
 *
 * libsprof-report.so is a program that stands beside libsprof.so. At its end
 * the profiled process runs it as a process of its own: in the program's own
 * address space, libdw and what it brings along would be bound to whatever the
 * program exports under their names.
 *
 *   libsprof-report.so ABI INLINES SPOOL OUTPUT...
 *
 * Where the file may not be executed (some installations take that permission
 * from libraries), its interpreter runs it with the same arguments.
 *
 * ABI is SPROF_REPORT_ABI, INLINES 0 or 1, SPOOL and OUTPUTs absolute paths
 * whose endings say the format. It writes one line on its standard output,
 * SPROF_REPORT_OK or a sentence that says what failed, and nothing elsewhere.
 *
 *   libsprof-report.so ABI SPROF_REPORT_STACKS INLINES SPOOL NONCE
 *
 * The same, but what it writes is the stacks of all threads that answer the
 * request NONCE (a decimal number), and it writes them on its descriptor 2,
 * which is the program's.
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
    /* Filled in: */
    uint64_t samples; /* sample points in the profile */
    uint64_t threads;
    char error[512]; /* one line for each failed output, without newline */
};

/* Write the stacks that answer the request NONCE to descriptor FD. Of REPORT,
 * INLINES and SPOOL are used. Returns 0, or -1 with REPORT->error set. */
int sprof_report_stacks(struct sprof_report *report, int fd, uint32_t nonce);

/*
 * Read the spool, symbolize it and write every output (each beside its name,
 * then renamed; mode 0600). Returns 0, or -1 with REPORT->error set; outputs
 * that could be written are written all the same. Allocates; keeps nothing.
 */
int sprof_report_write(struct sprof_report *report);

#endif
