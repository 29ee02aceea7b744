/* SPDX-License-Identifier: MIT */
/* result.h -- writes the profile of a command to a file. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include <stdbool.h>

#include "base/formats.h"

struct filter_options;
struct profile;

/* Whether the ending of OUT names a format; if not, a message as COMMAND says
 * so. */
int result_is_writable(const char *command, const char *out);

/* Write PROFILE to OUT. With WALL, wall time is written if the format has one
 * value for each stack. A failure is reported on stderr. Returns an exit
 * status. */
int result_write(struct profile *profile, const char *out, bool wall);

/* The values of the options of commands that write a file. */
struct result_options {
    const char *ending; /* of the format; NULL: the ending of the file's name */
    bool has_wall; /* wall time in formats with one value (format_with_wall) */
    bool is_untimed; /* a time axis is drawn although the times are not known */
};

/* The options, for getopt_long(3) and for the help page. */
enum { RESULT_FORMAT = 0x3000, RESULT_UNTIMED, RESULT_WALL };
#define RESULT_OPTIONS                                  \
    {"format", required_argument, NULL, RESULT_FORMAT}, \
        {"wall", no_argument, NULL, RESULT_WALL},       \
    {                                                   \
        "untimed", no_argument, NULL, RESULT_UNTIMED    \
    }
#define RESULT_HELP                                                            \
    "  --format ENDING    the format, whatever OUT is called; OUT may then\n"  \
    "                     be - for standard output\n"                          \
    "  --wall             wall time in formats that have one value for each\n" \
    "                     stack (folded, speedscope), not CPU time\n"          \
    "  --untimed          draw a time axis of samples whose times are not\n"   \
    "                     known, as of a pprof file: one behind the other\n"

/* Take OPTION with VALUE into OPTIONS, if it is one of these. Returns whether
 * it is. */
bool result_takes(struct result_options *options, int option,
                  const char *value);

/* The format of OUT, which may be "-". Returns FORMAT_UNKNOWN after a message
 * as COMMAND. */
enum format result_format(const char *command, const char *out,
                          const struct result_options *options);

/* Read COUNT files (inputs.h), and write what FILTER keeps of them to OUT in
 * FORMAT. Messages are printed as COMMAND. Returns an exit status. */
int result_make(const char *command, const struct filter_options *filter,
                char *const *paths, int count, const char *out,
                enum format format, const struct result_options *options);

#endif
