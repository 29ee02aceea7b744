/* SPDX-License-Identifier: MIT */
/*
 * report_main.c -- libsprof-report.so as a program; report.h describes its
 * arguments.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

/* ARGV begins behind SPROF_REPORT_STACKS. */
static int
run_stacks(struct sprof_report *report, const char *const *argv)
{
    report->inlines = argv[0][0] != '0';
    report->spool = argv[1];
    return sprof_report_stacks(report, STDERR_FILENO,
                               (uint32_t)strtoul(argv[2], NULL, 10));
}

static int
run_outputs(struct sprof_report *report, int argc, const char *const *argv)
{
    report->inlines = argv[2][0] != '0';
    report->spool = argv[3];
    report->outputs = argv + 4;
    report->output_count = (size_t)argc - 4;
    return sprof_report_write(report);
}

static int
run_report(int argc, const char *const *argv)
{
    struct sprof_report report = {0};
    if (argc < 5 || strcmp(argv[1], SPROF_REPORT_ABI) != 0) {
        puts("libsprof-report.so: expected to be run by the libsprof.so of its "
             "own version");
        return 2;
    }
    int result;
    if (argc == 6 && strcmp(argv[2], SPROF_REPORT_STACKS) == 0)
        result = run_stacks(&report, argv + 3);
    else
        result = run_outputs(&report, argc, argv);
    puts(result == 0 ? SPROF_REPORT_OK : report.error);
    return result == 0 ? 0 : 1;
}

/* A process that waits for the program also waits for this one. _exit saves
 * time: there is nothing to do for destructors. */
int
main(int argc, char **argv)
{
    int status = run_report(argc, (const char *const *)argv);
    fflush(stdout);
    _exit(status);
}
