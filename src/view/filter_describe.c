/* SPDX-License-Identifier: MIT */
/*
 * filter_describe.c -- describes a filter by the options that make it, so that
 * they can be typed again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"

/* Print the limit END in seconds, or nothing for an open end. */
static void
print_end(FILE *stream, uint64_t end)
{
    if (end != 0 && end != UINT64_MAX)
        fprintf(stream, "%.9g", (double)end / 1e9);
}

/* Print TERM as a user would type it. */
static void
print_term(FILE *stream, const struct filter_term *term)
{
    if (term->kind == FILTER_FOCUS)
        fprintf(stream, "--focus %s", term->value);
    else if (term->kind == FILTER_IGNORE)
        fprintf(stream, "--ignore %s", term->value);
    else if (strcmp(term->key, FILTER_MODULE_KEY) == 0)
        fprintf(stream, "%s %s", term->key, term->value);
    else if (strcmp(term->key, "thread") == 0 ||
             strcmp(term->key, "state") == 0)
        fprintf(stream, "--%s %s", term->key, term->value);
    else
        fprintf(stream, "--label %s=%s", term->key, term->value);
}

/* Print the terms as they were given, and the time last. */
static void
print_options(FILE *stream, const struct filter_options *filter)
{
    const char *separator = "";
    for (size_t i = 0; i < filter->count; i++) {
        fputs(separator, stream);
        print_term(stream, &filter->terms[i]);
        separator = " ";
    }
    if (filter->has_time) {
        fprintf(stream, "%s--time ", separator);
        print_end(stream, filter->from);
        fputc('-', stream);
        print_end(stream, filter->to);
    }
}

int
filter_describe(const struct filter_options *filter, struct profile *profile)
{
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    const char *before = profile->filter;
    if (stream == NULL)
        return -1;
    if (before != NULL)
        fprintf(stream, "%s ", before);
    print_options(stream, filter);
    if (fclose(stream) != 0) {
        free(text);
        return -1;
    }
    const char *string = profile_string(profile, text);
    free(text);
    if (string == NULL)
        return -1;
    profile->filter = string;
    return 0;
}
