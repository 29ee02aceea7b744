/* SPDX-License-Identifier: MIT */
/*
 * inputs.c -- opens spools and pprof files and adds them up. Each message is
 * one line with the name of the file. A bad file does not affect the others:
 * nine good spools of ten make a profile. A filter that leaves nothing usually
 * has a mistyped name. So a message and the exit status report it, as that of
 * grep(1) does. The output is made nevertheless.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "model/events.h"
#include "model/folding.h"
#include "read/load.h"
#include "arguments.h"
#include "inputs.h"

/* SERVER_SECONDS: the longest wait for a server of debug files, in seconds. The
 * user can end it with Ctrl-C. */
enum { SERVER_SECONDS = 60 };

static int
status_of(int result)
{
    return result != 0 ? command_fail("%s", strerror(errno)) : STATUS_DONE;
}

int
inputs_take_value(const struct command_option *option, void *filter,
                  const char *value)
{
    return status_of(filter_add_label(
        filter, option->words != NULL ? option->words : option->name, value));
}

/* The value of KEY=VALUE may contain further '='. */
int
inputs_take_label(const struct command_option *option, void *filter,
                  const char *pair)
{
    const char *equals = strchr(pair, '=');
    if (equals == NULL || equals == pair)
        return arguments_refuse(option, pair);
    char *key = strndup(pair, (size_t)(equals - pair));
    int result = key != NULL ? filter_add_label(filter, key, equals + 1) : -1;
    free(key);
    return status_of(result);
}

int
inputs_take_expression(const struct command_option *option, void *filter,
                       const char *expression)
{
    char error[256];
    if (filter_add_expression(filter, (enum filter_kind)option->number,
                              expression, error, sizeof(error)) != 0)
        return command_usage("--%s %s: %s", option->name, expression, error);
    return STATUS_DONE;
}

/* Read seconds at the start of TEXT into *TIME, in ns. Returns the text after
 * them, or TEXT if it has none. */
static const char *
read_seconds(const char *text, uint64_t *time)
{
    double seconds;
    const char *end = arguments_fraction(text, 1e9, &seconds);
    if (end == NULL)
        return text;
    *time = (uint64_t)(seconds * 1e9 + 0.5);
    return end;
}

/* Take --time. "1.5-3" means from 1,500,000,000 to 3,000,000,000 ns, "2-" from
 * 2 s to the end, and "-2" up to 2 s; "-" alone is a mistake. */
static int
take_time(const struct command_option *option, void *values, const char *text)
{
    struct filter_options *filter = values;
    filter->from = 0;
    filter->to = UINT64_MAX;
    filter->has_time = true;
    const char *dash = read_seconds(text, &filter->from);
    const char *end = *dash == '-' ? read_seconds(dash + 1, &filter->to) : "-";
    return *end != '\0' || filter->from >= filter->to || strcmp(text, "-") == 0
               ? arguments_refuse(option, text)
               : STATUS_DONE;
}

/* Take --sysroot. Paths of modules begin with a slash. */
static int
take_sysroot(const struct command_option *option, void *values,
             const char *directory)
{
    struct filter_options *filter = values;
    struct stat status;
    if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode))
        return arguments_refuse(option, directory);
    filter->sysroot = directory;
    return STATUS_DONE;
}

const struct command_option inputs_options[] = {
    {"thread", "NAME|TID", "samples of this thread (NAME may be a pattern, a*)",
     .take = inputs_take_value},
    {"state", "S", "in this state: running, runnable, waiting, gpu, futex...",
     .take = inputs_take_value},
    {"label", "KEY=VALUE",
     "with this label: thread, tid, process, state,\n"
     "waits_on, or one of the program's",
     INPUTS_LABEL},
    {"module", "GLOB", "taken in the code of this module: libc.so*, app",
     INPUTS_MODULE},
    {"time", "A-B", "from second A to second B (5-: to the end)", take_time,
     .words = "seconds: A-B, A- or -B"},
    {"focus", "REGEX", "stacks with a function that matches",
     inputs_take_expression, .number = FILTER_FOCUS},
    {"ignore", "REGEX",
     "no stacks with a function that matches\n"
     "(--thread a --thread b: either; --focus a --focus b:\n"
     "both on one stack; different options: all of them)",
     inputs_take_expression, .number = FILTER_IGNORE},
    {"full-names", NULL,
     "functions with parameters, return types and all\n"
     "template arguments; REGEX sees them, too",
     arguments_flag, .field = offsetof(struct filter_options, full_names)},
    {"sysroot", "DIR",
     "the programs and libraries are below DIR: the files\n"
     "of another machine",
     take_sysroot, .words = "a directory"},
    {"native", NULL, "all native frames of interpreters, too", arguments_flag,
     .field = offsetof(struct filter_options, is_native)},
    {"script", NULL,
     "of stacks with functions of Python or PHP, these\n"
     "alone",
     arguments_flag, .field = offsetof(struct filter_options, is_script)},
    {0},
};

void
inputs_release(void *values)
{
    filter_release(values);
}

/* Read FD to its end. Returns the bytes, or NULL with errno set. A pipe cannot
 * be mapped, so it is read into a buffer that doubles. */
static char *
read_all(int fd, size_t *length)
{
    size_t size = 64 * 1024;
    char *bytes = malloc(size);
    ssize_t got = bytes == NULL ? -1 : 1;
    *length = 0;
    while (got > 0) {
        got = read(fd, bytes + *length, size - *length);
        if (got < 0 && errno == EINTR)
            got = 1;
        else if (got > 0)
            *length += (size_t)got;
        if (*length == size) {
            char *more = realloc(bytes, 2 * size);
            if (more == NULL)
                break;
            bytes = more;
            size *= 2;
        }
    }
    if (got == 0)
        return bytes;
    free(bytes);
    return NULL;
}

bool
inputs_is_stream(const char *path)
{
    struct stat now;
    return strcmp(path, "-") == 0 ||
           (stat(path, &now) == 0 && S_ISFIFO(now.st_mode));
}

/* Load a pipe (a shell's <(COMMAND) is the path of one) or standard input. The
 * bytes are freed here, because the profile keeps copies of what it needs. */
static int
load_stream(struct profile *profile, const char *path, char *error, size_t size)
{
    bool is_standard = strcmp(path, "-") == 0;
    const char *name = is_standard ? "standard input" : path;
    int fd = is_standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    size_t length;
    char *bytes = fd >= 0 ? read_all(fd, &length) : NULL;
    int status = -1;
    if (bytes != NULL)
        status = load_memory(profile, bytes, length, name, error, size);
    else
        snprintf(error, size, "%s: %s", name, strerror(errno));
    free(bytes);
    if (!is_standard && fd >= 0)
        close(fd);
    return status;
}

/* Add one input, and print a message about what is wrong with it. Returns 0, or
 * -1 if nothing of it is used. */
static int
load_input(struct profile *profile, const char *path)
{
    char error[4096 + 512] = "";
    int status = inputs_is_stream(path)
                     ? load_stream(profile, path, error, sizeof(error))
                     : load_file(profile, path, error, sizeof(error));
    text_hide_controls(error);
    if (error[0] != '\0')
        command_fail("%s", error);
    return status;
}

/* Load all that is in the files. Only events have the times of samples. They
 * take much memory, so they are kept only for commands that need them. */
static struct profile *
load_all(const struct filter_options *filter, char *const *paths, int count,
         bool keeps_events)
{
    const struct symbolizer_options options = {.inlines = true,
                                               .full_names = filter->full_names,
                                               .sysroot = filter->sysroot,
                                               .server_seconds =
                                                   SERVER_SECONDS};
    struct profile *profile = profile_new(&options);
    int used = 0;
    if (profile == NULL) {
        command_fail("%s", strerror(errno));
        return NULL;
    }
    profile->keeps_events = keeps_events || filter->has_time;
    for (int i = 0; i < count; i++)
        used += load_input(profile, paths[i]) == 0;
    profile->is_short = used < count;
    if (used > 0 && events_separate(profile) == 0)
        return profile;
    if (used > 0)
        command_fail("%s", strerror(ENOMEM));
    profile_free(profile);
    return NULL;
}

/* Whether functions of an interpreter came from a pprof file, which lacks the
 * native frames that were left out, or from a spool. */
static bool
has_scripts_of(const struct profile *profile, bool is_pprof)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile_is_script(profile, i) &&
            profile->nodes[i].is_settled == is_pprof)
            return true;
    return false;
}

/* Let the profile show all native frames. A message says what pprof files
 * lack. */
static int
show_native(struct profile *profile)
{
    profile->shows_native = true;
    if (!has_scripts_of(profile, true))
        return STATUS_DONE;
    if (!has_scripts_of(profile, false))
        return command_fail("--native: pprof files have no native frames of "
                            "interpreters; expected spools");
    command_fail("--native: the pprof files have no native frames of "
                 "interpreters; those of the spools are shown");
    profile->is_short = true;
    return STATUS_DONE;
}

struct profile *
inputs_load(const struct filter_options *filter, char *const *paths, int count,
            bool keeps_events)
{
    struct profile *profile = load_all(filter, paths, count, keeps_events);
    if (profile == NULL)
        return NULL;
    int status = filter->is_native ? show_native(profile) : STATUS_DONE;
    profile->shows_script = filter->is_script;
    folding_apply(profile);
    if (status == STATUS_DONE && filter->is_script && profile->is_from_pprof &&
        !profile->has_scripts)
        status = command_fail("--script: the pprof files have no functions "
                              "that an interpreter ran");
    else if (status == STATUS_DONE && filter->has_time && profile->has_no_times)
        status = command_fail("--time: pprof files do not say when samples "
                              "were taken; expected spools");
    else if (status == STATUS_DONE)
        status = status_of(filter_apply(filter, profile));
    if (status != STATUS_DONE) {
        profile_free(profile);
        return NULL;
    }
    if (filter_is_set(filter) && profile->sample_count == 0) {
        command_fail("no sample is left by %s", profile->filter);
        profile->is_short = true;
    }
    return profile;
}

int
inputs_status(const struct profile *profile, int status)
{
    return status == STATUS_DONE && profile->is_short ? STATUS_FAILED : status;
}
