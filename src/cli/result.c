/* SPDX-License-Identifier: MIT */
/* result.c -- see result.h. */
#include "result.h"

#include <stdio.h>
#include <string.h>

#include "base/formats.h"
#include "profile/profile.h"
#include "write/output.h"

#include "command.h"
#include "filters.h"

/* Asked before anything is read or run: the name alone decides. */
int
result_is_writable(const char *command, const char *out)
{
    if (format_of(out) != FORMAT_UNKNOWN)
        return 1;
    command_usage(command, "%s: unknown ending, expected one of %s", out,
                  format_endings());
    return 0;
}

int
result_write(struct profile *profile, const char *out)
{
    char error[4096 + 512];

    if (output_write(out, profile, error, sizeof error) == 0)
        return STATUS_DONE;
    fprintf(stderr, "sprofile: %s\n", error);
    return STATUS_FAILED;
}

/* Whether a spool must be made that no file has: of a part, or of what came by
 * standard input. It is to have the times that there were. */
static bool
is_new_spool(const struct filter_options *filter, char *const *paths, int count,
             const char *out)
{
    bool is_new = filter_is_set(filter);

    for (int i = 0; i < count; i++)
        is_new |= strcmp(paths[i], "-") == 0;
    return is_new && format_of(out) == FORMAT_SPOOL;
}

/* Events take memory for each sample point: they are kept only for formats that
 * show times, and for spools that are made. */
int
result_make(const struct filter_options *filter, char *const *paths, int count,
            const char *out)
{
    bool keeps_events =
        output_needs_events(out) || is_new_spool(filter, paths, count, out);
    struct profile *profile = filters_load(filter, paths, count, keeps_events);
    int status;

    if (profile == NULL)
        return STATUS_FAILED;
    status = result_write(profile, out);
    profile_free(profile);
    return status;
}
