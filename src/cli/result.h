/* SPDX-License-Identifier: MIT */
/* result.h -- the profile that a command writes to a file. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

#include <stdbool.h>

#include "base/formats.h"

struct filter_options;
struct profile;

/* Whether the ending of OUT names a format; if not, complain as COMMAND. */
int result_is_writable(const char *command, const char *out);

/* Write PROFILE to OUT, with wall time if WALL says so and OUT has one value
 * for each stack; or complain on stderr. Returns an exit status. */
int result_write(struct profile *profile, const char *out, bool wall);

/* What the options of commands that write a file say. */
struct result_options {
    const char *ending; /* of the format; NULL: that of the file's name */
    bool has_wall;      /* in formats with one value (format_with_wall) */
    bool is_untimed;    /* times are drawn that nobody knows */
};

/* As getopt_long and the help have them. */
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

/* Whether OPTION, with VALUE, is one of these; then it is in OPTIONS. */
bool result_takes(struct result_options *options, int option,
                  const char *value);

/* The format of OUT, which may be "-". FORMAT_UNKNOWN after a complaint as
 * COMMAND. */
enum format result_format(const char *command, const char *out,
                          const struct result_options *options);

/* Read COUNT files (input.h), and write what FILTER keeps of them to OUT in
 * FORMAT. Complains as COMMAND. Returns an exit status. */
int result_make(const char *command, const struct filter_options *filter,
                char *const *paths, int count, const char *out,
                enum format format, const struct result_options *options);

#endif
