/* SPDX-License-Identifier: MIT */
/*
 * filter.c -- decides for each sample whether it stays. Conditions on the stack
 * are decided once for each node. A stack matches if its caller's stack does,
 * or one of the node's own functions. Parents come before children, so one pass
 * is enough. An expression is tried once for each name.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "model/events.h"
#include "model/label_sets.h"
#include "model/naming.h"
#include "model/sample_state.h"
#include "util/array.h"
#include "util/intern.h"
#include "filter.h"

/* The result for a stack, for one expression. */
enum found { NEEDLESS, NEEDED, MATCHES, DIFFERS };

/* The decisions so far. */
struct sieve {
    struct profile *profile;
    bool *keep;           /* for each sample */
    uint8_t *nodes;       /* enum found, for each node */
    struct intern *names; /* functions that were tried */
    uint8_t *tried;       /* enum found, for each of them */
    uint32_t tried_count;
};

static struct filter_term *
add_term(struct filter_options *filter, enum filter_kind kind, const char *key,
         const char *value)
{
    if (!ARRAY_GROW(filter->terms, filter->count))
        return NULL;
    struct filter_term *term = &filter->terms[filter->count];
    *term = (struct filter_term){.kind = kind, .value = strdup(value)};
    if (key != NULL)
        term->key = strdup(key);
    if (term->value != NULL && (key == NULL || term->key != NULL))
        return term;
    free(term->value);
    free(term->key);
    return NULL;
}

int
filter_add_label(struct filter_options *filter, const char *key,
                 const char *value)
{
    if (add_term(filter, FILTER_LABEL, key, value) == NULL)
        return -1;
    filter->count++;
    return 0;
}

/* Markers are in no module. */
bool
filter_is_in_module(const struct profile *profile, uint32_t node,
                    const char *pattern)
{
    uint32_t module = node != 0 ? profile->nodes[node].module : 0;
    const char *path = profile->modules[module].path;
    const char *name = profile_node_module(profile, node);
    if (node == 0 || profile_is_marker(profile, node))
        return false;
    if (module == 0)
        path = name;
    return strcmp(pattern, name) == 0 || strcmp(pattern, path) == 0 ||
           fnmatch(pattern, name, 0) == 0 || fnmatch(pattern, path, 0) == 0;
}

/* The term counts only once its expression is known to be valid. */
int
filter_add_expression(struct filter_options *filter, enum filter_kind kind,
                      const char *expression, char *error, size_t size)
{
    struct filter_term *term = add_term(filter, kind, NULL, expression);
    if (term == NULL) {
        snprintf(error, size, "%s", strerror(errno));
        return -1;
    }
    int wrong = regcomp(&term->regex, expression, REG_EXTENDED | REG_NOSUB);
    if (wrong != 0) {
        regerror(wrong, &term->regex, error, size);
        free(term->value);
        return -1;
    }
    filter->count++;
    return 0;
}

bool
filter_matches(const regex_t *expression, const char *name, bool is_marker)
{
    regmatch_t inner = {1, (regoff_t)strlen(name) - 1};
    return regexec(expression, name, 0, NULL, 0) == 0 &&
           (!is_marker ||
            regexec(expression, name, 0, &inner, REG_STARTEND) != 0);
}

bool
filter_is_set(const struct filter_options *filter)
{
    return filter->count > 0 || filter->has_time;
}

bool
filter_is_number(const char *text, uint32_t number)
{
    char digits[16];
    snprintf(digits, sizeof(digits), "%u", number);
    return strcmp(text, digits) == 0;
}

/* The literal name is tried before the pattern, because names
 * with brackets exist. */
bool
filter_is_thread(const char *name, uint32_t tid, const char *value)
{
    return strcmp(name, value) == 0 || filter_is_number(value, tid) ||
           fnmatch(value, name, 0) == 0;
}

static bool
is_process(const struct profile_process *process, const char *value)
{
    const char *name = path_name(process->exe);
    size_t length = strlen(name);
    return filter_is_number(value, process->pid) || strcmp(value, name) == 0 ||
           (strncmp(value, name, length) == 0 && value[length] == '.' &&
            filter_is_number(value + length + 1, process->pid));
}

/* A label that has its own rules is compared here; the others are labels of the
 * program. */
static bool
has_label(struct profile *profile, const struct profile_sample *sample,
          const char *key, const char *value)
{
    const struct profile_thread *thread = &profile->threads[sample->thread];
    if (strcmp(key, "thread") == 0)
        return filter_is_thread(thread->name, thread->tid, value);
    if (strcmp(key, "tid") == 0)
        return filter_is_number(value, thread->tid);
    if (strcmp(key, "process") == 0)
        return is_process(&profile->processes[thread->process], value);
    if (strcmp(key, "state") == 0)
        return strcmp(sample_state_name(profile, sample), value) == 0 ||
               (sample->state == STATE_WAITING &&
                strcmp(value, "waiting") == 0);
    if (strcmp(key, "waits_on") == 0)
        return strcmp(sample->waits_on, value) == 0;
    if (strcmp(key, FILTER_MODULE_KEY) == 0)
        return filter_is_in_module(profile, sample->node, value);
    return label_sets_match(profile, sample->labels, key, value);
}

/* Whether SAMPLE has one of the wanted values of KEY. Terms are few, so those
 * with that key are searched for. */
static bool
has_one_of(const struct filter_options *filter, struct profile *profile,
           const struct profile_sample *sample, const char *key)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].kind == FILTER_LABEL &&
            strcmp(filter->terms[i].key, key) == 0 &&
            has_label(profile, sample, key, filter->terms[i].value))
            return true;
    return false;
}

bool
filter_has_labels(const struct filter_options *filter, struct profile *profile,
                  const struct profile_sample *sample)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].kind == FILTER_LABEL &&
            !has_one_of(filter, profile, sample, filter->terms[i].key))
            return false;
    return true;
}

/* Marks have a thread and labels, but neither a state nor a stack. Marks of the
 * whole process stay. */
static bool
keeps_mark(const struct filter_options *filter, struct profile *profile,
           const struct profile_mark *mark)
{
    const struct profile_sample sample = {.thread = mark->thread,
                                          .labels = mark->labels,
                                          .waits_on = ""};
    for (size_t i = 0; i < filter->count; i++) {
        const struct filter_term *term = &filter->terms[i];
        if (mark->thread == PROFILE_NO_THREAD || term->kind != FILTER_LABEL ||
            strcmp(term->key, "state") == 0 ||
            strcmp(term->key, "waits_on") == 0 ||
            strcmp(term->key, FILTER_MODULE_KEY) == 0)
            continue;
        if (!has_one_of(filter, profile, &sample, term->key))
            return false;
    }
    return true;
}

static void
filter_marks(const struct filter_options *filter, struct profile *profile)
{
    size_t kept = 0;
    if (filter->has_time)
        profile_clip_marks(profile, filter->from, filter->to);
    for (size_t i = 0; i < profile->timed_mark_count; i++)
        if (keeps_mark(filter, profile, &profile->timed_marks[i]))
            profile->timed_marks[kept++] = profile->timed_marks[i];
    profile->timed_mark_count = kept;
}

/* Whether NAME matches; it is tried once. Returns NEEDLESS if memory is
 * short. */
static enum found
try_name(struct sieve *sieve, const regex_t *regex, const char *name,
         bool is_marker)
{
    uint32_t number = intern_string(sieve->names, name);
    if (number == INTERN_NONE)
        return NEEDLESS;
    if (number == sieve->tried_count) {
        if (!ARRAY_GROW(sieve->tried, number))
            return NEEDLESS;
        sieve->tried_count++;
        sieve->tried[number] =
            filter_matches(regex, name, is_marker) ? MATCHES : DIFFERS;
    }
    return sieve->tried[number];
}

/* Decide for NODE, whose parent is decided. Returns 0, or -1 if
 * memory is short. */
static int
try_node(struct sieve *sieve, const regex_t *regex, uint32_t node)
{
    uint32_t parent = sieve->profile->nodes[node].parent;
    if (parent != 0 && sieve->nodes[parent] == MATCHES) {
        sieve->nodes[node] = MATCHES;
        return 0;
    }
    const struct symbol *symbol = naming_symbol(sieve->profile, node);
    bool is_marker = profile_is_marker(sieve->profile, node);
    sieve->nodes[node] = DIFFERS;
    for (unsigned i = 0; i < symbol->count; i++) {
        enum found found =
            try_name(sieve, regex, symbol->frames[i].function, is_marker);
        if (found == NEEDLESS)
            return -1;
        if (found == MATCHES)
            sieve->nodes[node] = MATCHES;
    }
    return 0;
}

/* Only nodes on the stacks of samples that are still kept get a name. */
static void
mark_needed(struct sieve *sieve)
{
    const struct profile *profile = sieve->profile;
    memset(sieve->nodes, NEEDLESS, profile->node_count);
    for (uint32_t i = 0; i < profile->sample_count; i++)
        for (uint32_t node = profile->samples[i].node;
             sieve->keep[i] && node != 0 && sieve->nodes[node] == NEEDLESS;
             node = profile->nodes[node].parent)
            sieve->nodes[node] = NEEDED;
}

/* Drop the samples whose stack does not satisfy TERM. Returns 0, or -1 if
 * memory is short. */
static int
sieve_stacks(struct sieve *sieve, const struct filter_term *term)
{
    const struct profile *profile = sieve->profile;
    enum found wanted = term->kind == FILTER_FOCUS ? MATCHES : DIFFERS;
    int status = 0;
    sieve->names = intern_new();
    if (sieve->names == NULL)
        return -1;
    mark_needed(sieve);
    for (uint32_t i = 1; i < profile->node_count && status == 0; i++)
        if (sieve->nodes[i] == NEEDED)
            status = try_node(sieve, &term->regex, i);
    for (uint32_t i = 0; i < profile->sample_count; i++)
        if (sieve->nodes[profile->samples[i].node] != wanted)
            sieve->keep[i] = false;
    intern_free(sieve->names);
    free(sieve->tried);
    sieve->names = NULL;
    sieve->tried = NULL;
    sieve->tried_count = 0;
    return status;
}

/* Labels come first: they are cheap, and leave fewer stacks to be named. */
static int
decide(struct sieve *sieve, const struct filter_options *filter)
{
    struct profile *profile = sieve->profile;
    for (uint32_t i = 0; i < profile->sample_count; i++)
        sieve->keep[i] =
            filter_has_labels(filter, profile, &profile->samples[i]);
    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].kind != FILTER_LABEL &&
            sieve_stacks(sieve, &filter->terms[i]) != 0)
            return -1;
    return 0;
}

/* Sum up the rest again. */
static void
add_samples(struct profile *profile)
{
    memset(profile->totals, 0, sizeof(profile->totals));
    memset(profile->states, 0, sizeof(profile->states));
    for (uint32_t i = 0; i < profile->thread_count; i++)
        memset(profile->threads[i].values, 0,
               sizeof(profile->threads[i].values));
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t *thread = profile->threads[sample->thread].values;
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            sum_add(&thread[j], sample->values[j]);
            sum_add(&profile->totals[j], sample->values[j]);
        }
        sum_add(&profile->states[sample->state], sample->values[VALUE_SAMPLES]);
    }
}

/* Remove the events of samples that go. The others get the new numbers of their
 * samples, which are in NUMBERS. */
static void
renumber_events(const struct sieve *sieve, const uint32_t *numbers)
{
    struct profile *profile = sieve->profile;
    size_t count = 0;
    for (size_t i = 0; i < profile->event_count; i++) {
        struct profile_event event = profile->events[i];
        if (!sieve->keep[event.sample])
            continue;
        event.sample = numbers[event.sample];
        profile->events[count++] = event;
    }
    profile->event_count = count;
}

/* Remove the samples that are not kept. Returns 0, or -1 if memory is short. */
static int
remove_others(const struct sieve *sieve)
{
    struct profile *profile = sieve->profile;
    uint32_t *numbers = malloc((profile->sample_count + 1u) * sizeof(*numbers));
    uint32_t count = 0;
    if (numbers == NULL)
        return -1;
    for (uint32_t i = 0; i < profile->sample_count; i++) {
        numbers[i] = count;
        if (sieve->keep[i])
            profile->samples[count++] = profile->samples[i];
    }
    renumber_events(sieve, numbers);
    free(numbers);
    profile->sample_count = count;
    add_samples(profile);
    return 0;
}

/* Apply all terms but the time. */
static int
filter_samples(const struct filter_options *filter, struct profile *profile)
{
    struct sieve sieve = {.profile = profile};
    int status = -1;
    sieve.keep = malloc(profile->sample_count + 1u);
    sieve.nodes = malloc(profile->node_count);
    if (sieve.keep != NULL && sieve.nodes != NULL &&
        decide(&sieve, filter) == 0)
        status = remove_others(&sieve);
    free(sieve.nodes);
    free(sieve.keep);
    return status;
}

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

/* The options that make a filter describe it: they can be typed again. */
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

/* The time comes first: what it removes needs no other decision. */
int
filter_apply(const struct filter_options *filter, struct profile *profile)
{
    int status = 0;
    if (!filter_is_set(filter))
        return 0;
    if (profile->filter == NULL)
        memcpy(profile->whole, profile->totals, sizeof(profile->whole));
    if (filter->has_time)
        status = events_clip(profile, filter->from, filter->to);
    filter_marks(filter, profile);
    if (status == 0)
        status = filter_samples(filter, profile);
    if (status == 0)
        status = filter_describe(filter, profile);
    if (status != 0)
        errno = ENOMEM;
    return status;
}

void
filter_release(struct filter_options *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        if (filter->terms[i].kind != FILTER_LABEL)
            regfree(&filter->terms[i].regex);
        free(filter->terms[i].key);
        free(filter->terms[i].value);
    }
    free(filter->terms);
    *filter = (struct filter_options){0};
}
