/* SPDX-License-Identifier: MIT */
/*
 * cmd_convert.c -- `sprofile convert`: any input into any format. The ending
 * of the output names it, and is checked before anything is read.
 */
#include <getopt.h>
#include <stdio.h>

#include "base/formats.h"
#include "profile/profile.h"
#include "write/output.h"

#include "command.h"
#include "input.h"

/* The endings come from the one table that also decides. */
static void
print_help(void)
{
    fputs(
        "usage: sprofile convert FILE... OUT\n"
        "\n"
        "Writes OUT from one spool or pprof file, or the sum of several. Its\n"
        "ending says how:\n"
        "\n",
        stdout);
#define FORMAT(name, ending, words) printf("  %-18s%s\n", ending, words);
    FORMAT_TABLE(FORMAT)
#undef FORMAT
    fputs("\n"
          "A .sprof is made of spools only, not of standard input.\n"
          "OUT is written whole or not at all, with mode 0600.\n"
          "\n"
          "  --help    this page\n",
          stdout);
}

/* Returns the exit status. */
static int
convert(char *const *paths, int count, const char *out)
{
    struct profile *profile = output_needs_events(out)
                                  ? input_load_events(paths, count)
                                  : input_load(paths, count);
    char error[4096 + 512];
    int status = STATUS_DONE;

    if (profile == NULL)
        return STATUS_FAILED;
    if (output_write(out, profile, error, sizeof error) < 0) {
        fprintf(stderr, "sprofile: %s\n", error);
        status = STATUS_FAILED;
    }
    profile_free(profile);
    return status;
}

/* A wrong ending is refused here, before a large spool is read for nothing. */
int
cmd_convert(int argc, char **argv)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *out;
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1) {
        if (option != 'h')
            return command_usage(argv[0], NULL);
        print_help();
        return STATUS_DONE;
    }
    if (argc - optind < 2)
        return command_usage(argv[0], "expected a FILE and OUT");
    out = argv[argc - 1];
    if (format_of(out) == FORMAT_UNKNOWN)
        return command_usage(argv[0], "%s: unknown ending, expected one of %s",
                             out, format_endings());
    return convert(argv + optind, argc - optind - 1, out);
}
