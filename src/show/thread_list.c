/* SPDX-License-Identifier: MIT */
/*
 * thread_list.c -- see thread_list.h. Threads are sorted by their names without
 * the digits at the end, then by tid. Consecutive threads are one entry if they
 * have the same name, or if the number in the name grows by one.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "live/stacks.h"
#include "wrap.h"
#include "thread_list.h"

/* A thread in the list. */
struct entry {
    const char *name;
    size_t stem;     /* bytes of the name before its last digits */
    uint64_t number; /* value of these digits, 0 if none */
    uint32_t tid;
};

/* The name of THREAD; "thread" if its name was never read. */
static const char *
name_of(const struct stacks_thread *thread)
{
    return thread->name[0] != '\0' ? thread->name : "thread";
}

void
thread_list_name(FILE *stream, const struct stacks_thread *thread)
{
    fprintf(stream, "%s (%u)", name_of(thread), thread->tid);
}

/* Cut the name where its number begins. */
static struct entry
make_entry(const struct stacks_thread *thread)
{
    const char *name = name_of(thread);
    size_t length = strlen(name), stem = length;
    /* Eighteen digits fit into NUMBER. */
    while (stem > 0 && length - stem < 18 &&
           isdigit((unsigned char)name[stem - 1]))
        stem--;
    return (struct entry){name, stem, strtoull(name + stem, NULL, 10),
                          thread->tid};
}

/* For qsort. */
static int
compare_entries(const void *a, const void *b)
{
    const struct entry *one = a, *two = b;
    size_t least = one->stem < two->stem ? one->stem : two->stem;
    int order = memcmp(one->name, two->name, least);
    if (order == 0 && one->stem != two->stem)
        order = one->stem < two->stem ? -1 : 1;
    if (order != 0)
        return order;
    return (one->tid > two->tid) - (one->tid < two->tid);
}

/* Whether TWO continues ONE: it has the same name again (a step of 0), or the
 * next number (1). *STEP is the step of the entry, -1 while it is open. */
static bool
goes_on(const struct entry *one, const struct entry *two, int *step)
{
    bool has_digits = two->name[two->stem] != '\0';
    if (one->stem != two->stem || memcmp(one->name, two->name, one->stem) != 0)
        return false;
    int this_step;
    if (strcmp(one->name, two->name) == 0)
        this_step = 0;
    else if (has_digits && one->name[one->stem] != '\0' &&
             two->number == one->number + 1)
        this_step = 1;
    else
        return false;
    if (*step >= 0 && *step != this_step)
        return false;
    *step = this_step;
    return true;
}

/* Print the tids of COUNT entries in brackets, and DELIMITER after them. */
static void
print_tids(struct wrap *lines, const struct entry *entries, uint32_t count,
           const char *delimiter)
{
    char word[64];
    for (uint32_t i = 0, last; i < count; i = last + 1) {
        const char *end = ",";
        last = i;
        while (last + 1 < count &&
               entries[last + 1].tid == entries[last].tid + 1)
            last++;
        if (last + 1 == count)
            end = delimiter;
        if (last == i)
            snprintf(word, sizeof(word), "%s%u%s%s", i == 0 ? "(" : "",
                     entries[i].tid, last + 1 == count ? ")" : "", end);
        else
            snprintf(word, sizeof(word), "%s%u-%u%s%s", i == 0 ? "(" : "",
                     entries[i].tid, entries[last].tid,
                     last + 1 == count ? ")" : "", end);
        wrap_word(lines, word);
    }
}

/* Print COUNT entries that belong together. */
static void
print_run(struct wrap *lines, const struct entry *entries, uint32_t count,
          const char *delimiter)
{
    const char *first = entries[0].name, *last = entries[count - 1].name;
    char names[256];
    if (strcmp(first, last) == 0)
        wrap_word(lines, first);
    else {
        snprintf(names, sizeof(names), "%.120s..%.120s", first, last);
        wrap_word(lines, names);
    }
    print_tids(lines, entries, count, delimiter);
}

/* Entries end with commas, so that names with blanks can be distinguished. */
int
thread_list_print(FILE *stream, const struct stacks_thread *threads,
                  const uint32_t *numbers, uint32_t count, const char *after,
                  unsigned indent, unsigned columns)
{
    struct wrap lines = {stream, columns, indent, 0, 0};
    struct entry *entries = calloc(count + 1u, sizeof(*entries));
    const char *delimiter = after[0] != '\0' ? "," : "";
    if (entries == NULL)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        entries[i] = make_entry(&threads[numbers[i]]);
    qsort(entries, count, sizeof(*entries), compare_entries);
    for (uint32_t i = 0, end; i < count; i = end) {
        int step = -1;
        end = i + 1;
        while (end < count && goes_on(&entries[end - 1], &entries[end], &step))
            end++;
        print_run(&lines, entries + i, end - i, end < count ? "," : delimiter);
    }
    wrap_text(&lines, after);
    fputc('\n', stream);
    free(entries);
    return 0;
}
