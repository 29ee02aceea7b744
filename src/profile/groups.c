/* SPDX-License-Identifier: MIT */
/*
 * groups.c -- sums up samples by what they have in common. Threads and
 * processes have their numbers already; of states the name counts, because a
 * number means another system call on another machine.
 */
#include "groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "intern.h"
#include "label_sets.h"

/* What a row is made from: a number of its own, its name, what ids it has. */
struct group {
    uint32_t number, id;
    const char *name;
};

static struct group
group_of(struct profile *profile, const struct profile_sample *sample,
         enum table_by by, const char *key)
{
    const struct profile_thread *thread = &profile->threads[sample->thread];
    const struct profile_process *process =
        &profile->processes[thread->process];
    const char *slash = strrchr(process->exe, '/');
    const char *state;

    if (by == TABLE_THREAD)
        return (struct group){sample->thread, thread->tid, thread->name};
    if (by == TABLE_PROCESS)
        return (struct group){thread->process, process->pid,
                              slash != NULL ? slash + 1 : process->exe};
    if (by == TABLE_EXE || by == TABLE_COMMAND) {
        const char *text = by == TABLE_EXE ? process->exe : process->command;
        return (struct group){intern_string(profile->strings, text), 0, text};
    }
    if (by == TABLE_LABEL) {
        const char *value = label_sets_value(profile, sample->labels, key);
        /* Strings of the profile are not in brackets by chance: the row of
         * those without the key has a number that no string has. */
        if (value == NULL)
            return (struct group){INTERN_NONE, 0, TABLE_NO_LABEL};
        return (struct group){intern_string(profile->strings, value), 0, value};
    }
    state = profile_state(profile, sample);
    return (struct group){intern_string(profile->strings, state), 0, state};
}

/* The row of GROUP, made if it is new; NULL if memory is short. */
static struct table_row *
find_row(struct table *table, struct intern *numbers, const struct group *group)
{
    struct table_row *rows =
        array_room(table->rows, table->count, sizeof *rows);
    uint32_t number = intern_put(numbers, &group->number, sizeof group->number);

    if (rows != NULL)
        table->rows = rows;
    if (rows == NULL || number == INTERN_NONE)
        return NULL;
    if (number == table->count)
        rows[table->count++] = (struct table_row){
            .function = group->name,
            .module = "",
            .file = "",
            .id = group->id,
            .number = group->number,
        };
    return &rows[number];
}

/* Flat and cumulative are the same: a sample has one thread and one state, with
 * nothing below it. */
int
groups_build(struct table *table, struct profile *profile, enum table_by by,
             const char *key)
{
    struct intern *numbers = intern_new();

    for (uint32_t i = 0; i < profile->sample_count && numbers != NULL; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        struct group group = group_of(profile, sample, by, key);
        struct table_row *row = find_row(table, numbers, &group);
        if (row == NULL) {
            intern_free(numbers);
            numbers = NULL;
            break;
        }
        for (unsigned j = 0; j < VALUE_COUNT; j++) {
            profile_sum(&row->flat[j], sample->values[j]);
            row->cumulative[j] = row->flat[j];
        }
    }
    if (numbers == NULL) {
        table_release(table);
        errno = ENOMEM;
        return -1;
    }
    intern_free(numbers);
    return 0;
}
