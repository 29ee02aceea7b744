/* SPDX-License-Identifier: MIT */
/*
 * generated.c -- see generated.h. The file is called by the pid that the
 * process had for itself, in its own PID namespace, as the spool's header is.
 */
#include "generated.h"

#include <stdio.h>
#include <sys/stat.h>

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

/* Room for "/tmp/perf-4294967295.map". */
enum { PATH_SIZE = 32 };

static void
map_path(const struct profile_process *process, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "/tmp/perf-%u.map", process->pid);
}

/* How large the map is, which grows and does not shrink. */
static uint64_t
map_size(const struct profile_process *process)
{
    char path[PATH_SIZE];
    struct stat now = {0};

    map_path(process, path);
    return lstat(path, &now) == 0 ? (uint64_t)now.st_size : 0;
}

/* All records were read by now, so that the end of the process is known. The
 * file is as old as the process, whatever was kept of it. */
static void
open_map(struct profile_process *process)
{
    uint64_t start = process->start - process->begin, end = process->start;
    char path[PATH_SIZE];

    profile_sum(&end, process->duration);
    map_path(process, path);
    process->map_size = map_size(process);
    process->map = perf_map_open(path, start, end);
    process->has_map = true;
}

const struct symbol *
generated_symbol(struct profile *profile, uint32_t node)
{
    struct profile_process *process = process_of(profile, node);

    if (process == NULL)
        return NULL;
    if (!process->has_map)
        open_map(process);
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

bool
generated_has_news(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++) {
        const struct profile_process *process = &profile->processes[i];
        if (process->has_map && map_size(process) != process->map_size)
            return true;
    }
    return false;
}

void
generated_forget(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->node_count; i++)
        if (profile->nodes[i].module == 0)
            profile->nodes[i].symbol = NULL;
    generated_release(profile);
    for (uint32_t i = 0; i < profile->process_count; i++) {
        profile->processes[i].map = NULL;
        profile->processes[i].has_map = false;
    }
}

void
generated_release(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->process_count; i++)
        perf_map_close(profile->processes[i].map);
}
