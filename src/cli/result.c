/* SPDX-License-Identifier: MIT */
/* result.c -- see result.h. */
#include "result.h"

#include <stdio.h>

#include "base/formats.h"
#include "profile/profile.h"
#include "write/output.h"

#include "command.h"
#include "filters.h"

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

int
result_make(const struct filter_options *filter, char *const *paths, int count,
            const char *out)
{
    /* A spool of a part is made anew, with the times that there were. */
    bool keeps_events =
        output_needs_events(out) ||
        (filter_is_set(filter) && format_of(out) == FORMAT_SPOOL);
    struct profile *profile = filters_load(filter, paths, count, keeps_events);
    int status;

    if (profile == NULL)
        return STATUS_FAILED;
    status = result_write(profile, out);
    profile_free(profile);
    return status;
}
