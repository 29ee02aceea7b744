/* SPDX-License-Identifier: MIT */
/*
 * cmd_convert.c -- `sprofile convert` and `sprofile merge`: write any input in
 * any format. The ending of the output's name selects the format and is checked
 * before any input is read, because a large spool takes time.
 */
#include <string.h>
#include <unistd.h>

#include "base/formats.h"
#include "model/profile.h"
#include "write/output_file.h"
#include "arguments.h"
#include "inputs.h"
#include "outputs.h"

/* The values of the options. */
struct arguments {
    struct filter_options filter;
    const char *out;    /* NULL: not given yet */
    const char *ending; /* of the format; NULL: the ending of OUT */
    bool has_wall;      /* wall time in formats with one value */
    bool is_untimed;    /* a time axis is drawn although times are not known */
    enum format format; /* after the check */
};

static bool
is_standard(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Find the format of OUT, which may be "-". */
static int
check_format(struct arguments *arguments)
{
    const char *out = arguments->out, *ending = arguments->ending;
    enum format format =
        ending != NULL ? format_of_ending(ending) : format_of(out);
    bool is_binary = format == FORMAT_PPROF || format == FORMAT_SPOOL;
    if (format == FORMAT_UNKNOWN && ending != NULL)
        return command_usage("--format %s: expected one of %s", ending,
                             format_endings());
    if (format == FORMAT_UNKNOWN && is_standard(out))
        return command_usage("-: expected --format, with one of %s",
                             format_endings());
    if (format == FORMAT_UNKNOWN)
        return outputs_refuse(out);
    if (is_standard(out) && is_binary && isatty(STDOUT_FILENO))
        return command_usage("-: standard output is a terminal, and %s is not "
                             "text; expected a file or a pipe",
                             ending);
    arguments->format = arguments->has_wall ? format_with_wall(format) : format;
    return STATUS_DONE;
}

/* Of convert: the last operand is OUT. */
static int
check_convert(void *values, char *const *operands)
{
    struct arguments *arguments = values;
    while (operands[1] != NULL)
        operands++;
    arguments->out = operands[0];
    return check_format(arguments);
}

/* Of merge. */
static int
check_merge(void *values, char *const *operands)
{
    struct arguments *arguments = values;
    if (arguments->out == NULL)
        return command_usage("expected -o OUT");
    return operands[0] != NULL ? check_format(arguments)
                               : command_usage("expected a FILE");
}

/* Take -o. */
static int
take_out(const struct command_option *option, void *field, const char *value)
{
    const char **out = field;
    if (*out != NULL)
        return command_usage("expected one -o OUT");
    return arguments_text(option, field, value);
}

/* Whether a new spool must be made: of a part of the input, or of input from a
 * pipe or standard input. The new spool keeps the times of samples. */
static bool
is_new_spool(const struct filter_options *filter, char *const *paths, int count,
             enum format format)
{
    bool is_new = filter_is_set(filter);
    for (int i = 0; i < count; i++)
        is_new |= inputs_is_stream(paths[i]);
    return is_new && format == FORMAT_SPOOL;
}

/* Read the files and write what the filter keeps of them. Events take memory
 * for each sample point, so they are kept only for formats that show times and
 * for new spools. The Firefox Profiler shows nothing without a time axis. */
static int
run_convert(void *values, char *const *paths, int count)
{
    struct arguments *arguments = values;
    const char *out = arguments->out;
    enum format format = arguments->format;
    if (out == paths[count - 1])
        count--;
    bool keeps_events = format_needs_events(format) ||
                        is_new_spool(&arguments->filter, paths, count, format);
    struct profile *profile =
        inputs_load(&arguments->filter, paths, count, keeps_events);
    int status = STATUS_DONE;
    if (profile == NULL)
        return STATUS_FAILED;
    char error[4096 + 512];
    if (profile->has_no_times && format == FORMAT_FIREFOX &&
        !arguments->is_untimed)
        status = command_complain(
            "%s: its time axis would be invented: a pprof file does not say "
            "when samples were taken; expected a spool (.sprof), or --untimed",
            out);
    else if (output_file_write_as(out, format, profile, error, sizeof(error)) !=
             0)
        status = command_fail("%s", error);
    status = inputs_status(profile, status);
    profile_free(profile);
    return status;
}

/* The endings come from the table that also selects the format. */
static void
print_formats(void)
{
#define FORMAT(id, ending, words, ...) printf("  %-24s%s\n", ending, words);
    FORMAT_TABLE(FORMAT)
#undef FORMAT
    puts("\nOUT is written whole or not at all, with mode 0600. Of several\n"
         "FILEs, one that cannot be read is reported and left out; the exit\n"
         "status is then 1.");
}

#define FIELD(member) .field = offsetof(struct arguments, member)

/* Convert has these options from the second one on. */
static const struct command_option options[] = {
    {"output", "OUT", "the file to write", take_out, FIELD(out), .letter = 'o'},
    {"format", "ENDING",
     "the format, whatever OUT is called; OUT may then\n"
     "be - for standard output",
     arguments_text, FIELD(ending)},
    {"wall", NULL,
     "wall time in formats that have one value for each\n"
     "stack (folded, speedscope), not CPU time",
     arguments_flag, FIELD(has_wall)},
    {"untimed", NULL,
     "draw a time axis of samples whose times are not\n"
     "known, as of a pprof file: one after the other",
     arguments_flag, FIELD(is_untimed)},
    {0},
};

const struct command cmd_convert = {
    .name = "convert",
    .summary = "write another format: pprof, speedscope, Firefox Profiler...",
    .usage = "[OPTION]... FILE... OUT",
    .about =
        "Writes OUT from one spool or pprof file, or the sum of several. Its\n"
        "ending says how:\n\n",
    .more_about = print_formats,
    .options = options + 1,
    .group = {"Which samples", inputs_options},
    .least = 2,
    .operands = "a FILE and OUT",
    .size = sizeof(struct arguments),
    .check = check_convert,
    .run = run_convert,
    .release = inputs_release,
};

const struct command cmd_convert_merge = {
    .name = "merge",
    .summary = "write one profile of many files",
    .usage = "-o OUT FILE...",
    .about =
        "Writes OUT from the sum of all FILEs: those of the processes of one\n"
        "job, or of many runs. Its ending picks the format (`sprofile convert\n"
        "--help` lists them). Where there are several processes, samples are\n"
        "labelled with theirs. A FILE that cannot be read is reported and\n"
        "left out; the exit status is then 1.\n",
    .options = options,
    .group = {"Which samples", inputs_options},
    .size = sizeof(struct arguments),
    .check = check_merge,
    .run = run_convert,
    .release = inputs_release,
};
