/* SPDX-License-Identifier: MIT */
/*
 * stacks_filter.c -- keeps some of the stacks of all threads. Deadlocks stay
 * those of all threads. There are far fewer threads than samples, for which
 * filter.c is made. So each thread is looked at by itself. The result of an
 * expression for a stack is kept for the other threads with the same stack.
 */
#include <stdlib.h>
#include <string.h>

#include "model/naming.h"
#include "view/filter.h"
#include "stacks.h"

static bool
is_in_state(const struct stacks_thread *thread, const char *value)
{
    return strcmp(thread->doing, value) == 0 ||
           (stacks_is_waiting(thread) && strcmp(value, "waiting") == 0) ||
           (value[0] != '\0' && value[0] == (char)thread->state &&
            value[1] == '\0');
}

/* Whether the program gave THREAD the label KEY with this VALUE. */
static bool
has_own_label(const struct stacks *stacks, const struct stacks_thread *thread,
              const char *key, const char *value)
{
    const struct stacks_label *list[STACKS_LABELS_MOST];
    unsigned count = stacks_label_list(&stacks->labels, thread->label, list);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(list[i]->key, key) == 0)
            return strcmp(list[i]->value, value) == 0;
    return false;
}

/* By the rules of filter.h. */
static bool
has_label(const struct stacks *stacks, const struct stacks_thread *thread,
          const char *key, const char *value)
{
    if (strcmp(key, "thread") == 0)
        return filter_is_thread(thread->name, thread->tid, value);
    if (strcmp(key, "tid") == 0)
        return filter_is_number(value, thread->tid);
    if (strcmp(key, "state") == 0)
        return is_in_state(thread, value);
    if (strcmp(key, "waits_on") == 0)
        return strcmp(thread->waits_on, value) == 0;
    if (strcmp(key, FILTER_MODULE_KEY) == 0)
        return filter_is_in_module(stacks->profile, thread->node, value);
    return has_own_label(stacks, thread, key, value);
}

/* Whether THREAD has, for each key, one of the values that are asked for. */
static bool
has_labels(const struct stacks *stacks, const struct filter_options *filter,
           const struct stacks_thread *thread)
{
    for (size_t i = 0; i < filter->count; i++) {
        const char *key = filter->terms[i].key;
        bool found = filter->terms[i].kind != FILTER_LABEL;
        for (size_t j = 0; j < filter->count && !found; j++)
            found = filter->terms[j].kind == FILTER_LABEL &&
                    strcmp(filter->terms[j].key, key) == 0 &&
                    has_label(stacks, thread, key, filter->terms[j].value);
        if (!found)
            return false;
    }
    return true;
}

/* Whether a function on the stack of NODE matches. */
static bool
stack_matches(struct profile *profile, uint32_t node, const regex_t *regex)
{
    for (; node != 0; node = profile->nodes[node].parent) {
        const struct symbol *symbol = naming_symbol(profile, node);
        for (unsigned i = 0; i < symbol->count; i++)
            if (regexec(regex, symbol->frames[i].function, 0, NULL, 0) == 0)
                return true;
    }
    return false;
}

/* Drop every thread with a stack that does not satisfy TERM. KNOWN has one byte
 * for each node. */
static void
sieve_stacks(struct stacks *stacks, const struct filter_term *term,
             uint8_t *known)
{
    enum { UNKNOWN, MATCHES, DIFFERS };
    uint8_t wanted = term->kind == FILTER_FOCUS ? MATCHES : DIFFERS;
    memset(known, UNKNOWN, stacks->profile->node_count);
    for (uint32_t i = 0; i < stacks->thread_count; i++) {
        struct stacks_thread *thread = &stacks->threads[i];
        if (!thread->is_kept)
            continue;
        if (known[thread->node] == UNKNOWN)
            known[thread->node] =
                stack_matches(stacks->profile, thread->node, &term->regex)
                    ? MATCHES
                    : DIFFERS;
        thread->is_kept = known[thread->node] == wanted;
    }
}

/* Labels are compared first: this is cheap, and leaves fewer stacks to be
 * named. */
int
stacks_filter_apply(struct stacks *stacks, const struct filter_options *filter)
{
    uint8_t *known = malloc(stacks->profile->node_count);
    if (known == NULL)
        return -1;
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        stacks->threads[i].is_kept =
            has_labels(stacks, filter, &stacks->threads[i]);
    for (size_t i = 0; i < filter->count; i++)
        if (filter->terms[i].kind != FILTER_LABEL)
            sieve_stacks(stacks, &filter->terms[i], known);
    free(known);
    stacks->kept_count = 0;
    for (uint32_t i = 0; i < stacks->thread_count; i++)
        stacks->kept_count += stacks->threads[i].is_kept;
    return stacks_group_all(stacks);
}
