/* SPDX-License-Identifier: MIT */
/*
 * runs.c -- see runs.h. A command is one text, in which the program's path ends
 * at the first blank. It ran as often as processes have it; several images of
 * one process, with one pid, count once.
 */
#include <stdlib.h>
#include <string.h>

#include "runs.h"

/* The process that began first; NULL if there is none. */
static const struct profile_process *
first_process(const struct profile *profile)
{
    const struct profile_process *first = NULL;
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (first == NULL || process->start < first->start)
            first = process;
    }
    return first;
}

const char *
runs_command(const struct profile *profile)
{
    const struct profile_process *first = first_process(profile);
    return first != NULL ? first->command : NULL;
}

/* COMMAND without the directories of its program. */
static const char *
plain(const char *command)
{
    const char *blank = strchrnul(command, ' ');
    const char *slash = memrchr(command, '/', (size_t)(blank - command));
    return slash != NULL ? slash + 1 : command;
}

/* How often PROFILE ran COMMAND. */
static uint32_t
count_runs(const struct profile *profile, const char *command)
{
    uint32_t times = 0, last = 0;
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (strcmp(plain(process->command), command) != 0)
            continue;
        times += times == 0 || process->pid != last;
        last = process->pid;
    }
    return times;
}

bool
runs_are_alike(const struct profile *one, const struct profile *two)
{
    const char *first = runs_command(one), *second = runs_command(two);
    if (first == NULL || second == NULL || first[0] == '\0')
        return false;
    first = plain(first);
    return strcmp(first, plain(second)) == 0 &&
           count_runs(one, first) == count_runs(two, first);
}
