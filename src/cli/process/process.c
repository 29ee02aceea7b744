/* SPDX-License-Identifier: MIT */
/*
 * process.c -- see process.h. Pids are reused, so a pid alone does not identify
 * a process; pid and start time together do. A process whose main thread has
 * ended lives as long as another thread does, although its state is that of a
 * dead process.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digits.h"
#include "base/proc.h"
#include "base/text.h"
#include "process.h"

/* Write to ERROR why PID cannot be read. Returns -1. */
static int
explain_unreadable(pid_t pid, char *error, size_t size)
{
    bool is_hidden = pid > 0 && (kill(pid, 0) == 0 || errno == EPERM);
    snprintf(error, size,
             is_hidden ? "process %ld may not be looked at: /proc hides it "
                         "from you; try as its user, or as root"
                       : "there is no process %ld",
             (long)pid);
    return -1;
}

int
process_look(struct process *process, pid_t pid, char *error, size_t size)
{
    *process = (struct process){.pid = pid, .name = "?"};
    char text[1 << 16];
    if (pid <= 0 ||
        proc_read(pid, PROC_PROCESS, "/status", text, sizeof(text)) <= 0)
        return explain_unreadable(pid, error, size);
    if (sscanf(proc_status_line(text, "Name"), "%63[^\n]", process->name) == 1)
        text_hide_controls(process->name);
    process->group = (pid_t)proc_number(proc_status_line(text, "Tgid"));
    process->state = *proc_status_line(text, "State");
    process->caught = proc_bits(proc_status_line(text, "SigCgt"));
    /* The line lists the pids from the namespace of this /proc to the process's
     * own (Linux 4.1). */
    const char *at = proc_status_line(text, "NSpid");
    do
        process->inner = (pid_t)digits_take(&at);
    while (*at++ == '\t');
    if (proc_read(pid, PROC_PROCESS, "/stat", text, sizeof(text)) > 0)
        process->start = proc_number(proc_stat_field(text, 22));
    if (process->group == 0 || process->start == 0)
        return explain_unreadable(pid, error, size); /* it has ended */
    if (process->inner == 0)
        process->inner = pid;
    return 0;
}

bool
process_find_thread(pid_t pid, bool (*is_wanted)(pid_t, pid_t, void *),
                    void *context)
{
    char path[PROC_PATH_SIZE];
    bool found = false;
    DIR *directory = opendir(proc_path(path, pid, PROC_PROCESS, "/task"));
    if (directory == NULL)
        return false;
    const struct dirent *entry;
    while (!found && (entry = readdir(directory)) != NULL)
        if (entry->d_name[0] != '.')
            found = is_wanted(pid, (pid_t)atol(entry->d_name), context);
    closedir(directory);
    return found;
}

bool
process_is_sampler(pid_t pid, pid_t tid)
{
    char name[32];
    return proc_read(pid, tid, "/comm", name, sizeof(name)) > 0 &&
           strcmp(name, "sprof\n") == 0;
}

/* For process_find_thread. */
static bool
is_other_thread(pid_t pid, pid_t tid, void *unused)
{
    (void)unused;
    return tid != pid;
}

bool
process_is_alive(const struct process *process)
{
    struct process now;
    char unused[256];
    if (process_look(&now, process->pid, unused, sizeof(unused)) != 0 ||
        now.start != process->start)
        return false;
    return (now.state != 'Z' && now.state != 'X') ||
           process_find_thread(process->pid, is_other_thread, NULL);
}
