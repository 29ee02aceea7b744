/* SPDX-License-Identifier: MIT */
/*
 * cmd_convert.c -- `sprofile convert`: writes any input in any format. The
 * ending of the output's name selects the format and is checked before any
 * input is read.
 */
#include <stdio.h>

#include "command.h"
#include "filters.h"
#include "result.h"

/* The endings come from the table that also selects the format. */
static void
print_help(void)
{
    fputs(
        "usage: sprofile convert [OPTION]... FILE... OUT\n"
        "\n"
        "Writes OUT from one spool or pprof file, or the sum of several. Its\n"
        "ending says how:\n"
        "\n",
        stdout);
#define FORMAT(id, ending, words, ...) printf("  %-24s%s\n", ending, words);
    FORMAT_TABLE(FORMAT)
#undef FORMAT
    fputs(
        "\n"
        "OUT is written whole or not at all, with mode 0600. Of several FILEs, "
        "one\n"
        "that cannot be read is told and left out; the exit status is then "
        "1.\n"
        "\n" RESULT_HELP "  --help             this page\n"
        "\n"
        "Which samples:\n" FILTERS_HELP,
        stdout);
}

/* A wrong ending is refused before any input is read, because a large spool
 * takes time. */
int
cmd_convert(int argc, char **argv)
{
    static const struct option options[] = {
        FILTERS_OPTIONS,
        RESULT_OPTIONS,
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct filter_options filter = {0};
    struct result_options result = {0};
    int option, status;
    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option == 'h') {
            print_help();
            return STATUS_DONE;
        }
        if (result_takes(&result, option, optarg))
            continue;
        status = filters_take(&filter, argv[0], option, optarg);
        if (status != STATUS_DONE)
            return status;
    }
    if (argc - optind < 2)
        return command_usage(argv[0], "expected a FILE and OUT");
    const char *out = argv[argc - 1];
    enum format format = result_format(argv[0], out, &result);
    if (format == FORMAT_UNKNOWN)
        return STATUS_USAGE;
    status = result_make(argv[0], &filter, argv + optind, argc - optind - 1,
                         out, format, &result);
    filter_release(&filter);
    return status;
}
