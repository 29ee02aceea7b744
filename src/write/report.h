/* SPDX-License-Identifier: MIT */
/*
 * report.h -- the one door of libsprof-report.so, and the small seam between
 * the profiled process and everything heavy. agent/output.c loads the library
 * when there is a spool to report and calls sprof_report_write by name.
 */
#ifndef WRITE_REPORT_H
#define WRITE_REPORT_H

#include <stddef.h>
#include <stdint.h>

#define SPROF_REPORT_ABI 1

struct sprof_report {
    uint32_t abi; /* SPROF_REPORT_ABI */
    int inlines;  /* SPROF_INLINES */
    const char *spool;
    const char *const *outputs; /* absolute paths; the ending is the format */
    size_t output_count;
    /* Filled in: */
    uint64_t samples; /* sample points in the profile */
    uint64_t threads;
    char error[512]; /* one line for each failed output, without newline */
};

/*
 * Read the spool, symbolize it and write every output (each beside its name,
 * then renamed; mode 0600). Returns 0, or -1 with REPORT->error set; outputs
 * that could be written are written all the same. Allocates; keeps nothing.
 */
__attribute__((visibility("default"))) int
sprof_report_write(struct sprof_report *report);

#endif
