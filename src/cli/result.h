/* SPDX-License-Identifier: MIT */
/* result.h -- the profile that a command writes to a file. */
#ifndef CLI_RESULT_H
#define CLI_RESULT_H

struct filter_options;
struct profile;

/* Whether the ending of OUT names a format; if not, complain as COMMAND. */
int result_is_writable(const char *command, const char *out);

/* Write PROFILE to OUT, or complain on stderr. Returns an exit status. */
int result_write(struct profile *profile, const char *out);

/* Read COUNT files (input.h), and write what FILTER keeps of them to OUT. The
 * same. */
int result_make(const struct filter_options *filter, char *const *paths,
                int count, const char *out);

#endif
