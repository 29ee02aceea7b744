/* SPDX-License-Identifier: MIT */
/*
 * report_main.c -- libsprof-report.so as a program; report.h describes its
 * arguments.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

static int
run_report(int argc, const char *const *argv)
{
    struct sprof_report report = {0};
    bool is_stacks = argc == 6 && strcmp(argv[2], SPROF_REPORT_STACKS) == 0;
    if (argc < 5 || strcmp(argv[1], SPROF_REPORT_ABI) != 0) {
        puts("libsprof-report.so: expected to be run by the libsprof.so of its "
             "own version");
        return 2;
    }
    argv += is_stacks ? 3 : 2;
    report.inlines = argv[0][0] != '0';
    report.spool = argv[1];
    report.outputs = argv + 2;
    report.output_count = (size_t)argc - 4;
    int result = is_stacks
                     ? sprof_report_stacks(&report, STDERR_FILENO,
                                           (uint32_t)strtoul(argv[2], NULL, 10))
                     : sprof_report_write(&report);
    puts(result == 0 ? SPROF_REPORT_OK : report.error);
    return result == 0 ? 0 : 1;
}

/* A process that waits for the program also waits for this one. _exit saves
 * time: destructors have nothing to do. */
int
main(int argc, char **argv)
{
    int status = run_report(argc, (const char *const *)argv);
    fflush(stdout);
    _exit(status);
}
