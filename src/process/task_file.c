/* SPDX-License-Identifier: MIT */
/*
 * task_file.c -- see task_file.h. A path of one step from an open directory is
 * much cheaper than one from the root.
 *
 * The line "NSpid:" of a thread's status has its number in each namespace, from
 * that of /proc on (proc(5), Linux 4.1). The line is read once for each thread.
 * Two sparse arrays remember the numbers, and exist only where the numbers
 * differ.
 */
#include <fcntl.h>
#include <stdint.h>

#include "base/digits.h"
#include "base/proc.h"
#include "base/sys.h"
#include "threads.h"
#include "task_file.h"
#include "base/poison.h"

#define TASKS "/proc/self/task"

static uint32_t *tid_of_listed, *listed_of_tid; /* NULL: they are the same */

/* Where relative paths begin: TASKS. AT_FDCWD: it is not open, and paths are
 * absolute. */
static int directory = AT_FDCWD;

/* Read the first and the last number of the line "NSpid:" of the thread that is
 * listed as LISTED. */
static bool
read_numbers(pid_t listed, uint32_t *first, uint32_t *last)
{
    char status[4096];
    if (proc_read(0, listed, "/status", status, sizeof(status)) <= 0)
        return false;
    const char *at = proc_status_line(status, "NSpid");
    *first = 0;
    do {
        *last = (uint32_t)digits_take(&at);
        *first = *first != 0 ? *first : *last;
    } while (*at++ == '\t');
    return *first != 0 && *first < THREADS_TIDS && *last < THREADS_TIDS;
}

int
task_file_begin(bool has_own_files)
{
    size_t size = THREADS_TIDS * sizeof(*tid_of_listed);
    uint32_t listed, own;
    long fd = has_own_files ? sys_open(TASKS, O_RDONLY | O_DIRECTORY) : -1;
    directory = fd >= 0 ? (int)fd : AT_FDCWD;
    sys_release(tid_of_listed, size);
    sys_release(listed_of_tid, size);
    tid_of_listed = listed_of_tid = NULL;
    if (!read_numbers(PROC_CALLER, &listed, &own) || listed == own)
        return 0;
    tid_of_listed = sys_reserve(size);
    listed_of_tid = sys_reserve(size);
    return tid_of_listed != NULL && listed_of_tid != NULL ? 0 : -1;
}

long
task_file_open_list(void)
{
    return directory != AT_FDCWD ? directory
                                 : sys_open(TASKS, O_RDONLY | O_DIRECTORY);
}

void
task_file_close_list(long fd)
{
    if (fd != directory)
        sys_close((int)fd);
}

pid_t
task_file_tid(pid_t listed)
{
    uint32_t first, last;
    if (tid_of_listed == NULL || tid_of_listed[listed] != 0)
        return tid_of_listed == NULL ? listed : (pid_t)tid_of_listed[listed];
    if (!read_numbers(listed, &first, &last))
        return 0;
    tid_of_listed[listed] = last;
    listed_of_tid[last] = (uint32_t)listed;
    return (pid_t)last;
}

void
task_file_forget(pid_t tid)
{
    if (tid_of_listed == NULL)
        return;
    tid_of_listed[listed_of_tid[tid]] = 0;
    listed_of_tid[tid] = 0;
}

/* Write the path of FILE of thread TID into PATH. Returns the part of it that
 * begins where relative paths begin. */
static const char *
task_path(char *path, pid_t tid, const char *file)
{
    if (listed_of_tid != NULL)
        tid = (pid_t)listed_of_tid[tid];
    proc_path(path, 0, tid, file);
    return directory != AT_FDCWD ? path + sizeof(TASKS) : path;
}

long
task_file_read(pid_t tid, const char *file, char *buffer, size_t size)
{
    char path[PROC_PATH_SIZE];
    return sys_read_file_at(directory, task_path(path, tid, file), buffer,
                            size);
}

long
task_file_read_link(pid_t tid, const char *file, char *buffer, size_t size)
{
    char path[PROC_PATH_SIZE];
    return sys_read_link_at(directory, task_path(path, tid, file), buffer,
                            size);
}
