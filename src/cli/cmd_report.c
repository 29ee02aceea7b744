/* SPDX-License-Identifier: MIT */
/*
 * cmd_report.c -- `sprofile report`: the functions that took the time, as a
 * table on standard output (drawn in write/text_report.c). On a terminal, lines
 * are as wide as it is; else they are as long as they are, so that names can be
 * searched for. Modules without symbols are noted below the table, because that
 * is why their functions have no names.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "write/text_report.h"

#include "command.h"
#include "input.h"

enum { DEFAULT_ROWS = 40 };

static const char help[] =
    "usage: sprofile report [--cpu | --wall] [-n N] FILE...\n"
    "\n"
    "Prints a table of functions. flat is the time spent in the function\n"
    "itself, cum the time spent while it was on the stack, in seconds.\n"
    "Several files are added up.\n"
    "\n"
    "  --cpu     the functions with the most CPU time first (the default)\n"
    "  --wall    the functions with the most wall time first\n"
    "  -n N      N functions, 40 by default; 0 for all\n"
    "  --help    this page\n";

/* The width of the terminal, 0 if standard output is none. */
static unsigned
terminal_columns(void)
{
    struct winsize size;

    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        return size.ws_col;
    return 0;
}

/* Parse a number of rows. Returns 0, or -1 if TEXT is none: strtoul alone would
 * take blanks and signs. */
static int
parse_rows(const char *text, uint32_t *rows)
{
    char *end;
    unsigned long number;

    errno = 0;
    number = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 ||
        number > UINT32_MAX)
        return -1;
    *rows = (uint32_t)number;
    return 0;
}

/* The head says what the numbers below stand for, and what is missing from
 * them; so it is not an option. */
static int
print_report(char *const *paths, int count,
             const struct text_report_options *options)
{
    struct profile *profile = input_load(paths, count);
    int status = STATUS_DONE;

    if (profile == NULL)
        return STATUS_FAILED;
    text_report_head(stdout, profile);
    putchar('\n');
    if (text_report_table(stdout, profile, options) < 0) {
        fprintf(stderr, "sprofile: %s\n", strerror(errno));
        status = STATUS_FAILED;
    }
    text_report_notes(stdout, profile);
    profile_free(profile);
    return status;
}

/* Of --cpu and --wall the last one given counts. */
int
cmd_report(int argc, char **argv)
{
    static const struct option options[] = {
        {"cpu", no_argument, NULL, 'c'},
        {"wall", no_argument, NULL, 'w'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct text_report_options report = {.value = VALUE_CPU,
                                         .rows = DEFAULT_ROWS,
                                         .columns = 0};
    int option;

    while ((option = getopt_long(argc, argv, "n:h", options, NULL)) != -1) {
        switch (option) {
        case 'c':
            report.value = VALUE_CPU;
            break;
        case 'w':
            report.value = VALUE_WALL;
            break;
        case 'n':
            if (parse_rows(optarg, &report.rows) < 0)
                return command_usage(argv[0],
                                     "-n %s: expected a number, 0 for all",
                                     optarg);
            break;
        case 'h':
            fputs(help, stdout);
            return STATUS_DONE;
        default:
            return command_usage(argv[0], NULL);
        }
    }
    if (optind == argc)
        return command_usage(argv[0], "expected a FILE");
    report.columns = terminal_columns();
    return print_report(argv + optind, argc - optind, &report);
}
