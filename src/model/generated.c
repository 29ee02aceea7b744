/* SPDX-License-Identifier: MIT */
/*
 * generated.c -- finds the perf map of a node's process. The name of the
 * file has the pid that the process had in its own PID namespace; so has
 * the spool's header.
 */
#include <stdio.h>
#include <sys/stat.h>

#include "symbol/perf_map.h"
#include "generated.h"

/* The process of NODE: the last one whose nodes begin at or before it. NULL if
 * there is none. */
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

/* PATH_SIZE: bytes for "/tmp/perf-4294967295.map". */
enum { PATH_SIZE = 32 };

static void
map_path(const struct profile_process *process, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "/tmp/perf-%u.map", process->pid);
}

/* The size of the map's file in bytes, 0 if there is none. Maps only grow. */
static uint64_t
map_size(const struct profile_process *process)
{
    struct stat now = {0};
    char path[PATH_SIZE];
    map_path(process, path);
    return lstat(path, &now) == 0 ? (uint64_t)now.st_size : 0;
}

/* Open the map of PROCESS. All records were read before, so that the end of the
 * process is known. The file is as old as the process, even if a flight
 * recorder kept only the end. */
static void
open_map(struct profile_process *process)
{
    uint64_t start = process->start - process->begin, end = process->start;
    sum_add(&end, process->duration);
    char path[PATH_SIZE];
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
    for (uint32_t i = 0; i < profile->process_count; i++) {
        perf_map_close(profile->processes[i].map);
        profile->processes[i].map = NULL;
        profile->processes[i].has_map = false;
    }
}
