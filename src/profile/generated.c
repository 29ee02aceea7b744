/* SPDX-License-Identifier: MIT */
/*
 * generated.c -- see generated.h. The file is called by the pid that the
 * process had for itself, in its own PID namespace, as the spool's header is.
 */
#include "generated.h"

#include <stdio.h>

#include "symbol/perf_map.h"

/* The process that NODE is of: the last one whose nodes begin at or before it.
 * NULL if there is none. */
static struct profile_process *
process_of(const struct profile *profile, uint32_t node)
{
    uint32_t low = 0, high = profile->process_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (profile->processes[middle].first_node <= node)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? NULL : &profile->processes[low - 1];
}

/* All records were read by now, so that the end of the process is known. The
 * file is as old as the process, whatever was kept of it. */
static struct perf_map *
open_map(const struct profile_process *process)
{
    uint64_t start = process->start - process->begin, end = process->start;
    char path[32];

    profile_sum(&end, process->duration);
    snprintf(path, sizeof path, "/tmp/perf-%u.map", process->pid);
    return perf_map_open(path, start, end);
}

const struct symbol *
generated_symbol(struct profile *profile, uint32_t node)
{
    struct profile_process *process = process_of(profile, node);

    if (process == NULL)
        return NULL;
    if (!process->has_map) {
        process->map = open_map(process);
        process->has_map = true;
    }
    if (process->map == NULL)
        return NULL;
    return perf_map_find(process->map, profile_offset(profile, node));
}

const char *
generated_problem(const struct profile *profile, uint32_t number)
{
    const struct perf_map *map = profile->processes[number].map;

    return map == NULL ? NULL : perf_map_problem(map);
}

void
generated_release(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++)
        perf_map_close(profile->processes[i].map);
}
