/* SPDX-License-Identifier: MIT */
/*
 * process.c -- see process.h. A pid alone does not name a process for long: the
 * time when it began tells two of the same number apart. A process of which
 * the main thread has ended lives as long as another thread does, though its
 * state is that of a dead one.
 */
#include "process.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* In /proc/PID/stat, the fields behind the name: state is the 3rd of the whole,
 * the start time the 22nd. */
enum { FIELDS_TO_START = 22 - 3 };

/* Take one line of status. */
static void
take_line(struct process *process, const char *line)
{
    unsigned long long caught;
    const char *last;

    if (sscanf(line, "Name: %63[^\n]", process->name) == 1)
        text_hide_controls(process->name);
    sscanf(line, "Tgid: %d", &process->group);
    sscanf(line, "State: %c", &process->state);
    if (sscanf(line, "SigCgt: %llx", &caught) == 1)
        process->caught = caught;
    /* From the namespace of this /proc to its own (Linux 4.1). */
    if (strncmp(line, "NSpid:", 6) == 0) {
        last = strrchr(line, '\t');
        process->inner = last != NULL ? atoi(last) : 0;
    }
}

/* The start time from /proc/PID/stat; 0 if it cannot be read. The name there
 * may hold anything, so what follows its last parenthesis counts. */
static uint64_t
read_start(pid_t pid)
{
    char path[64], text[1024];
    FILE *stream;
    size_t length;
    char *at;

    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    stream = fopen(path, "re");
    if (stream == NULL)
        return 0;
    length = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[length] = '\0';
    at = strrchr(text, ')');
    at = at != NULL ? strchr(at, ' ') : NULL;
    for (int i = 0; i < FIELDS_TO_START && at != NULL; i++)
        at = strchr(at + 1, ' ');
    return at != NULL ? strtoull(at, NULL, 10) : 0;
}

/* Why PID cannot be seen. */
static int
complain(pid_t pid, char *error, size_t size)
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
    char path[64], line[512];
    FILE *stream;

    *process = (struct process){.pid = pid, .name = "?"};
    snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    stream = pid > 0 ? fopen(path, "re") : NULL;
    if (stream == NULL)
        return complain(pid, error, size);
    while (fgets(line, sizeof line, stream) != NULL)
        take_line(process, line);
    fclose(stream);
    process->start = read_start(pid);
    if (process->group == 0 || process->start == 0)
        return complain(pid, error, size); /* it has just ended */
    if (process->inner == 0)
        process->inner = pid;
    return 0;
}

/* Whether a thread of PID besides the main one is there. */
static bool
has_other_threads(pid_t pid)
{
    char path[64];
    DIR *directory;
    const struct dirent *entry;
    bool found = false;

    snprintf(path, sizeof path, "/proc/%ld/task", (long)pid);
    directory = opendir(path);
    if (directory == NULL)
        return false;
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

    if (process_look(&now, process->pid, unused, sizeof unused) < 0 ||
        now.start != process->start)
        return false;
    return (now.state != 'Z' && now.state != 'X') ||
           has_other_threads(process->pid);
}
