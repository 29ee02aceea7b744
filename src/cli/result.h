/* SPDX-License-Identifier: MIT */
/* result.h -- the profile that a command writes to a file. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include "base/formats.h"

struct filter_options;
struct profile;

/* Whether the ending of OUT names a format; if not, complain as COMMAND. */
int result_is_writable(const char *command, const char *out);

/* Write PROFILE to OUT, or complain on stderr. Returns an exit status. */
int result_write(struct profile *profile, const char *out);

/* The format of OUT, which may be "-": that of ENDING, or of its own if ENDING
 * is NULL. FORMAT_UNKNOWN after a complaint as COMMAND. */
enum format result_format(const char *command, const char *out,
                          const char *ending);

/* The option that gives that ENDING, as getopt_long and the help have it. */
enum { RESULT_FORMAT = 0x3000 };
#define RESULT_OPTION                                    \
    {                                                    \
        "format", required_argument, NULL, RESULT_FORMAT \
    }
#define RESULT_HELP                                                           \
    "  --format ENDING    the format, whatever OUT is called; OUT may then\n" \
    "                     be - for standard output\n"

/* Read COUNT files (input.h), and write what FILTER keeps of them to OUT in
 * FORMAT. Returns an exit status. */
int result_make(const struct filter_options *filter, char *const *paths,
                int count, const char *out, enum format format);

#endif
