/* SPDX-License-Identifier: MIT */
/* cmd_merge.c -- `sprofile merge`: writes one profile of many files. */
#include <stdio.h>

#include "command.h"
#include "filters.h"
#include "result.h"

static const char help[] =
    "usage: sprofile merge -o OUT FILE...\n"
    "\n"
    "Writes OUT from the sum of all FILEs: those of the processes of one job,\n"
    "or of many runs. Its ending picks the format (`sprofile convert --help`\n"
    "lists them). Where there are several processes, samples are labelled\n"
    "with theirs. A FILE that cannot be read is told and left out; the exit\n"
    "status is then 1.\n"
    "\n"
    "  -o, --output OUT   the file to write\n" RESULT_HELP
    "  --help             this page\n"
    "\n"
    "Which samples:\n" FILTERS_HELP;

/* Wrong arguments are reported before the first FILE is read, which may take
 * long. */
int
cmd_merge(int argc, char **argv)
{
    static const struct option options[] = {
        FILTERS_OPTIONS,
        RESULT_OPTIONS,
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *out = NULL;
    struct filter_options filter = {0};
    struct result_options result = {0};
    int option, status;
    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            if (out != NULL)
                return command_usage(argv[0], "expected one -o OUT");
            out = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return STATUS_DONE;
        default:
            if (result_takes(&result, option, optarg))
                break;
            status = filters_take(&filter, argv[0], option, optarg);
            if (status != STATUS_DONE)
                return status;
        }
    }
    if (out == NULL)
        return command_usage(argv[0], "expected -o OUT");
    if (optind == argc)
        return command_usage(argv[0], "expected a FILE");
    enum format format = result_format(argv[0], out, &result);
    if (format == FORMAT_UNKNOWN)
        return STATUS_USAGE;
    status = result_make(argv[0], &filter, argv + optind, argc - optind, out,
                         format, &result);
    filter_release(&filter);
    return status;
}
