/* SPDX-License-Identifier: MIT */
/*
 * filters.c -- reads the options of filters.h. A filter that leaves nothing is
 * most often a mistyped name. So a message says it, and so does the exit
 * status, as that of grep(1) does. The output is made all the same.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "arguments.h"
#include "inputs.h"
#include "filters.h"

static int
status_of(int result)
{
    return result != 0 ? command_fail("%s", strerror(errno)) : STATUS_DONE;
}

int
filters_take_value(const struct command_option *option, void *filter,
                   const char *value)
{
    return status_of(filter_add_label(filter, option->name, value));
}

/* The value of KEY=VALUE may contain further '='. */
int
filters_take_label(const struct command_option *option, void *filter,
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
filters_take_module(const struct command_option *option, void *filter,
                    const char *pattern)
{
    (void)option;
    return status_of(filter_add_module(filter, pattern));
}

int
filters_take_expression(const struct command_option *option, void *filter,
                        const char *expression)
{
    char error[256];
    if (filter_add_expression(filter, (enum filter_kind)option->number,
                              expression, error, sizeof(error)) != 0)
        return command_usage("--%s %s: %s", option->name, expression, error);
    return STATUS_DONE;
}

/* Read seconds at the start of TEXT into *TIME, in ns. Returns the text behind
 * them, or TEXT if there are none. */
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

const struct command_option filters_options[] = {
    {"thread", "NAME|TID", "samples of this thread (NAME may be a pattern, a*)",
     .take = filters_take_value},
    {"state", "S", "in this state: running, runnable, waiting, futex...",
     .take = filters_take_value},
    {"label", "KEY=VALUE",
     "with this label: thread, tid, process, state,\n"
     "waits_on, or one of the program's",
     FILTERS_LABEL},
    {"module", "GLOB", "taken in the code of this module: libc.so*, app",
     .take = filters_take_module},
    {"time", "A-B", "from second A to second B (5-: to the end)", take_time,
     .words = "seconds: A-B, A- or -B"},
    {"focus", "REGEX", "stacks with a function that matches",
     filters_take_expression, .number = FILTER_FOCUS},
    {"ignore", "REGEX",
     "no stacks with a function that matches\n"
     "(--thread a --thread b: either; --focus a --focus b:\n"
     "both on one stack; different options: all of them)",
     filters_take_expression, .number = FILTER_IGNORE},
    {"full-names", NULL,
     "functions with parameters, return types and all\n"
     "template arguments; REGEX sees them, too",
     arguments_flag, .field = offsetof(struct filter_options, full_names)},
    {0},
};

void
filters_release(void *values)
{
    filter_release(values);
}

/* Only events have the times of samples. They take much memory, so they are
 * kept only for commands that need them. */
struct profile *
filters_load(const struct filter_options *filter, char *const *paths, int count,
             bool keeps_events)
{
    struct profile *profile =
        inputs_load(paths, count, keeps_events || filter->has_time,
                    filter->full_names);
    if (profile == NULL)
        return NULL;
    if (filter->has_time && profile->has_no_times) {
        command_fail("--time: pprof files do not tell when samples were; "
                     "expected spools");
        profile_free(profile);
        return NULL;
    }
    if (status_of(filter_apply(filter, profile)) != STATUS_DONE) {
        profile_free(profile);
        return NULL;
    }
    if (filter_is_set(filter) && profile->sample_count == 0) {
        command_fail("nothing is left by %s", profile->filter);
        profile->is_short = true;
    }
    return profile;
}
