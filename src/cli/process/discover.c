/* SPDX-License-Identifier: MIT */
/* discover.c -- see discover.h. The names of threads are read, because they are
 * short: the list of mappings of a process is long. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

#include "discover.h"

/* For process_find_thread. */
static bool
is_sampler(pid_t pid, pid_t tid, void *unused)
{
    (void)unused;
    return process_is_sampler(pid, tid);
}

int
discover_each(void (*use)(const struct process *process, void *context),
              void *context)
{
    DIR *directory = opendir("/proc");
    if (directory == NULL)
        return -1;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        char unused[256];
        struct process process;
        pid_t pid = (pid_t)atol(entry->d_name);
        if (pid > 0 && process_find_thread(pid, is_sampler, NULL) &&
            process_look(&process, pid, unused, sizeof(unused)) == 0)
            use(&process, context);
    }
    closedir(directory);
    return 0;
}
