/* SPDX-License-Identifier: MIT */
/* cmd_merge.c -- `sprofile merge`: one profile of many files. */
#include <getopt.h>
#include <stdio.h>

#include "profile/profile.h"

#include "command.h"
#include "input.h"
#include "result.h"

static const char help[] =
    "usage: sprofile merge -o OUT FILE...\n"
    "\n"
    "Writes OUT from the sum of all FILEs: those of the processes of one job,\n"
    "or of many runs. Its ending picks the format (`sprofile convert --help`\n"
    "lists them). Where there are several processes, samples are labelled\n"
    "with theirs. A FILE that cannot be read is told and left out.\n"
    "\n"
    "  -o, --output OUT   the file to write\n"
    "  --help             this page\n";

int
cmd_merge(int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *out = NULL;
    struct profile *profile;
    int option, status;

    while ((option = getopt_long(argc, argv, "o:h", options, NULL)) != -1) {
        switch (option) {
        case 'o':
            out = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return STATUS_DONE;
        default:
            return command_usage(argv[0], NULL);
        }
    }
    if (out == NULL)
        return command_usage(argv[0], "expected -o OUT");
    if (optind == argc)
        return command_usage(argv[0], "expected a FILE");
    if (!result_is_writable(argv[0], out))
        return STATUS_USAGE;
    profile = input_load(argv + optind, argc - optind);
    if (profile == NULL)
        return STATUS_FAILED;
    status = result_write(profile, out);
    profile_free(profile);
    return status;
}
