/* SPDX-License-Identifier: MIT */
/* result.c -- see result.h. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/profile.h"
#include "write/output.h"
#include "command.h"
#include "filters.h"
#include "inputs.h"
#include "result.h"

static bool
is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* The name alone decides, so this is called before any input is read or a
 * program is run. */
int
result_is_writable(const char *command, const char *out)
{
    if (format_of(out) != FORMAT_UNKNOWN)
        return 1;
    if (is_standard(out))
        command_usage(command, "-: expected a file: standard output is that of "
                               "the program");
    else
        command_usage(command, "%s: unknown ending, expected one of %s", out,
                      format_endings());
    return 0;
}

int
result_write(struct profile *profile, const char *out, bool wall)
{
    enum format format = format_of(out);
    if (wall)
        format = format_with_wall(format);
    char error[4096 + 512];
    if (output_write_as(out, format, profile, error, sizeof(error)) == 0)
        return STATUS_DONE;
    fprintf(stderr, "sprofile: %s\n", error);
    return STATUS_FAILED;
}

/* Whether the format is not for a terminal. */
static bool
is_binary(enum format format)
{
    return format == FORMAT_PPROF || format == FORMAT_SPOOL;
}

bool
result_takes(struct result_options *options, int option, const char *value)
{
    if (option == RESULT_FORMAT)
        options->ending = value;
    else if (option == RESULT_UNTIMED)
        options->is_untimed = true;
    else if (option == RESULT_WALL)
        options->has_wall = true;
    else
        return false;
    return true;
}

enum format
result_format(const char *command, const char *out,
              const struct result_options *options)
{
    const char *ending = options->ending;
    enum format format =
        ending != NULL ? format_of_ending(ending) : format_of(out);
    if (format == FORMAT_UNKNOWN && ending != NULL)
        command_usage(command, "--format %s: expected one of %s", ending,
                      format_endings());
    else if (format == FORMAT_UNKNOWN && is_standard(out))
        command_usage(command, "-: expected --format, with one of %s",
                      format_endings());
    else if (format == FORMAT_UNKNOWN)
        result_is_writable(command, out);
    if (format == FORMAT_UNKNOWN || !is_standard(out) || !is_binary(format) ||
        !isatty(STDOUT_FILENO))
        return options->has_wall ? format_with_wall(format) : format;
    command_usage(command,
                  "-: standard output is a terminal, and %s is not "
                  "text; expected a file or a pipe",
                  ending);
    return FORMAT_UNKNOWN;
}

/* Whether a new spool must be made: of a part of the input, or of input from a
 * pipe or standard input. It is to keep the times of samples. */
static bool
is_new_spool(const struct filter_options *filter, char *const *paths, int count,
             enum format format)
{
    bool is_new = filter_is_set(filter);
    for (int i = 0; i < count; i++)
        is_new |= inputs_is_stream(paths[i]);
    return is_new && format == FORMAT_SPOOL;
}

/* Report that the times of the samples are not known. The Firefox Profiler
 * shows nothing without a time axis. Returns STATUS_FAILED. */
static int
refuse_untimed(const char *command, const char *out)
{
    fprintf(stderr,
            "%s: %s: its time axis would be invented: a pprof file does not "
            "tell when samples were; expected a spool (.sprof), or --untimed\n",
            command, out);
    return STATUS_FAILED;
}

/* Events take memory for each sample point, so they are kept only for formats
 * that show times and for new spools. */
int
result_make(const char *command, const struct filter_options *filter,
            char *const *paths, int count, const char *out, enum format format,
            const struct result_options *options)
{
    bool keeps_events = format_needs_events(format) ||
                        is_new_spool(filter, paths, count, format);
    struct profile *profile = filters_load(filter, paths, count, keeps_events);
    int status = STATUS_DONE;
    if (profile == NULL)
        return STATUS_FAILED;
    char error[4096 + 512];
    if (profile->has_no_times && format == FORMAT_FIREFOX &&
        !options->is_untimed) {
        status = refuse_untimed(command, out);
    } else if (output_write_as(out, format, profile, error, sizeof(error)) !=
               0) {
        fprintf(stderr, "sprofile: %s\n", error);
        status = STATUS_FAILED;
    }
    status = inputs_status(profile, status);
    profile_free(profile);
    return status;
}
