/* SPDX-License-Identifier: MIT */
/* discover.c -- see discover.h. The names of threads are read, because they are
 * short: the list of mappings of a process is long. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "base/proc.h"
#include "base/text.h"
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

enum { PID_COLUMNS = 11 /* of a line, before the command */ };

/* The destination of the list, its length, and the columns that a command may
 * take. */
struct list {
    FILE *stream;
    unsigned count;
    int limit;
};

/* How many columns a command may take on STREAM: a line of a terminal is not
 * wrapped, a line of a file is whole (ioctl_tty(2)). */
static int
command_limit(FILE *stream)
{
    struct winsize size;
    bool is_terminal = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0;
    return !is_terminal || size.ws_col <= PID_COLUMNS
               ? INT_MAX
               : size.ws_col - PID_COLUMNS;
}

/* For discover_each. */
static void
list_process(const struct process *process, void *context)
{
    struct list *list = context;
    char path[PATH_MAX + 64], unused[PATH_MAX + 512], command[256] = "";
    if (process_find_spool(process->pid, path, sizeof(path), unused,
                           sizeof(unused)) != 0)
        return;
    long length = proc_read(process->pid, PROC_PROCESS, "/cmdline", command,
                            sizeof(command));
    for (long i = 0; i + 1 < length; i++)
        if (command[i] == '\0')
            command[i] = ' ';
    text_hide_controls(command);
    if (list->count++ == 0)
        fputs("These processes run with libsprof.so:\n", list->stream);
    fprintf(list->stream, "%9ld  %.*s\n", (long)process->pid, list->limit,
            length > 0 ? command : process->name);
}

void
discover_list(FILE *stream)
{
    struct list list = {.stream = stream, .limit = command_limit(stream)};
    (void)discover_each(list_process, &list);
    if (list.count == 0)
        fputs("No process that you may look at runs with libsprof.so.\n",
              stream);
}
