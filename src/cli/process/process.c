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

#include "base/text.h"
#include "process.h"

/* In /proc/PID/stat, how many fields follow the state up to the start time: the
 * state is field 3, the start time field 22. */
enum { FIELDS_TO_START = 22 - 3 };

/* Take one line of /proc/PID/status. */
static void
take_line(struct process *process, const char *line)
{
    if (sscanf(line, "Name: %63[^\n]", process->name) == 1)
        text_hide_controls(process->name);
    sscanf(line, "Tgid: %d", &process->group);
    sscanf(line, "State: %c", &process->state);
    unsigned long long caught;
    if (sscanf(line, "SigCgt: %llx", &caught) == 1)
        process->caught = caught;
    /* The line lists the pids from the namespace of this /proc to the process's
     * own (Linux 4.1). */
    if (strncmp(line, "NSpid:", 6) == 0) {
        const char *last = strrchr(line, '\t');
        process->inner = last != NULL ? atoi(last) : 0;
    }
}

/* The start time from /proc/PID/stat; 0 if it cannot be read. The name there
 * may contain any character, so the fields are counted from the last
 * parenthesis. */
static uint64_t
read_start(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    FILE *stream = fopen(path, "re");
    if (stream == NULL)
        return 0;
    char text[1024];
    size_t length = fread(text, 1, sizeof(text) - 1, stream);
    fclose(stream);
    text[length] = '\0';
    char *at = strrchr(text, ')');
    at = at != NULL ? strchr(at, ' ') : NULL;
    for (int i = 0; i < FIELDS_TO_START && at != NULL; i++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

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
    char path[64];
    snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
    FILE *stream = pid > 0 ? fopen(path, "re") : NULL;
    if (stream == NULL)
        return explain_unreadable(pid, error, size);
    char line[512];
    while (fgets(line, sizeof(line), stream) != NULL)
        take_line(process, line);
    fclose(stream);
    process->start = read_start(pid);
    if (process->group == 0 || process->start == 0)
        return explain_unreadable(pid, error, size); /* it has ended */
    if (process->inner == 0)
        process->inner = pid;
    return 0;
}

/* Whether PID has a thread besides the main one. */
static bool
has_other_threads(pid_t pid)
{
    char path[64];
    bool found = false;
    snprintf(path, sizeof(path), "/proc/%ld/task", (long)pid);
    DIR *directory = opendir(path);
    if (directory == NULL)
        return false;
    const struct dirent *entry;
    while (!found && (entry = readdir(directory)) != NULL)
        found = atol(entry->d_name) > 0 && atol(entry->d_name) != (long)pid;
    closedir(directory);
    return found;
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
           has_other_threads(process->pid);
}
