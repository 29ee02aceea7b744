/* SPDX-License-Identifier: MIT */
/*
 * filters.c -- reads the options of filters.h. A filter that leaves nothing is
 * most often a mistyped name. So a message says it, and so does the exit
 * status, as that of grep(1) does. The output is made all the same.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "inputs.h"
#include "filters.h"

static int
short_of_memory(void)
{
    fprintf(stderr, "sprofile: %s\n", strerror(errno));
    return STATUS_FAILED;
}

static int
take_label(struct filter_options *filter, const char *key, const char *value)
{
    return filter_add_label(filter, key, value) != 0 ? short_of_memory()
                                                     : STATUS_DONE;
}

/* Take KEY=VALUE; the value may contain further '='. */
static int
take_pair(struct filter_options *filter, const char *command, const char *pair)
{
    const char *equals = strchr(pair, '=');
    if (equals == NULL || equals == pair)
        return command_usage(command, "--label %s: expected KEY=VALUE", pair);
    char *key = strndup(pair, (size_t)(equals - pair));
    if (key == NULL)
        return short_of_memory();
    int status = take_label(filter, key, equals + 1);
    free(key);
    return status;
}

/* Read seconds at the start of TEXT into *TIME, in ns. Returns the text behind
 * them, or TEXT if there are none. strtod(3) alone would accept signs, "inf"
 * and 0x. */
static const char *
read_seconds(const char *text, uint64_t *time)
{
    size_t length = strspn(text, "0123456789.");
    if (length == 0)
        return text;
    char *end;
    double seconds = strtod(text, &end);
    if (end != text + length || seconds > 1e9)
        return text;
    *time = (uint64_t)(seconds * 1e9 + 0.5);
    return end;
}

/* Take --time. "1.5-3" means from 1,500,000,000 to 3,000,000,000 ns, "2-" from
 * 2 s to the end, and "-2" up to 2 s; "-" alone is a mistake. */
static int
take_time(struct filter_options *filter, const char *command, const char *text)
{
    filter->from = 0;
    filter->to = UINT64_MAX;
    filter->has_time = true;
    const char *dash = read_seconds(text, &filter->from);
    if (*dash != '-')
        goto wrong;
    const char *end = read_seconds(dash + 1, &filter->to);
    if (*end != '\0' || filter->from >= filter->to || strcmp(text, "-") == 0)
        goto wrong;
    return STATUS_DONE;

wrong:
    return command_usage(command, "--time %s: expected seconds: A-B, A- or -B",
                         text);
}

static int
take_expression(struct filter_options *filter, const char *command,
                enum filter_kind kind, const char *expression)
{
    char error[256];
    if (filter_add_expression(filter, kind, expression, error, sizeof(error)) !=
        0)
        return command_usage(command, "--%s %s: %s",
                             kind == FILTER_FOCUS ? "focus" : "ignore",
                             expression, error);
    return STATUS_DONE;
}

int
filters_take(struct filter_options *filter, const char *command, int option,
             const char *argument)
{
    switch (option) {
    case FILTERS_THREAD:
        return take_label(filter, "thread", argument);
    case FILTERS_STATE:
        return take_label(filter, "state", argument);
    case FILTERS_LABEL:
        return take_pair(filter, command, argument);
    case FILTERS_TIME:
        return take_time(filter, command, argument);
    case FILTERS_FOCUS:
        return take_expression(filter, command, FILTER_FOCUS, argument);
    case FILTERS_IGNORE:
        return take_expression(filter, command, FILTER_IGNORE, argument);
    case FILTERS_MODULE:
        return filter_add_module(filter, argument) != 0 ? short_of_memory()
                                                        : STATUS_DONE;
    case FILTERS_FULL_NAMES:
        filter->full_names = true;
        return STATUS_DONE;
    default:
        return command_usage(command, NULL);
    }
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
        fputs("sprofile: --time: pprof files do not tell when samples were; "
              "expected spools\n",
              stderr);
        profile_free(profile);
        return NULL;
    }
    if (filter_apply(filter, profile) != 0) {
        short_of_memory();
        profile_free(profile);
        return NULL;
    }
    if (filter_is_set(filter) && profile->sample_count == 0) {
        fprintf(stderr, "sprofile: nothing is left by %s\n", profile->filter);
        profile->is_short = true;
    }
    return profile;
}
