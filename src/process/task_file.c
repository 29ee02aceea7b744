/* SPDX-License-Identifier: MIT */
/*
 * task_file.c -- see task_file.h. A path of one step from an open directory is
 * much cheaper than one from the root. A file that stays open saves the search
 * for the path, too. It belongs to its thread, not to the number: after the
 * thread's end it reads as ESRCH (proc_single_show in fs/proc/base.c).
 *
 * The line "NSpid:" of a thread's status has its number in each namespace, from
 * that of /proc on (proc(5), Linux 4.1). The line is read once for each thread.
 * Two sparse arrays remember the numbers, and exist only where the numbers
 * differ.
 */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/digits.h"
#include "base/proc.h"
#include "base/sys.h"
#include "threads.h"
#include "task_file.h"
#include "base/poison.h"

#define TASKS "/proc/self/task"

static uint32_t *tid_of_listed, *listed_of_tid; /* NULL: both are the same */

/* Where relative paths begin: TASKS. AT_FDCWD: the directory is not open, and
 * paths are absolute. */
static int directory = AT_FDCWD;

/* KEPT_MOST: limit of open files of one kind, a power of two. KEPT_FLOOR: least
 * number of their descriptors. The lower ones stay free for files that are open
 * for an instant, also if the program lowers RLIMIT_NOFILE later. */
#define KEPT_MOST 16u
#define KEPT_FLOOR 64

/* The file of thread TID that is open as FD; TID 0: none. */
struct kept {
    pid_t tid;
    int fd;
};

static struct kept kept[TASK_FILE_KINDS][KEPT_MOST];

static struct kept *
kept_place(pid_t tid, enum task_file_kind kind)
{
    return &kept[kind][(uint32_t)tid % KEPT_MOST];
}

static void
let_go(struct kept *place)
{
    if (place->tid != 0)
        sys_close(place->fd);
    place->tid = 0;
}

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
    /* Descriptors of another table are not ours to close. */
    memset(kept, 0, sizeof(kept));
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
    for (unsigned kind = 0; kind < TASK_FILE_KINDS; kind++)
        if (kept_place(tid, kind)->tid == tid)
            let_go(kept_place(tid, kind));
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

/* Open FILE of thread TID at a high number. Returns its descriptor or -errno.
 */
static long
open_to_keep(pid_t tid, const char *file)
{
    char path[PROC_PATH_SIZE];
    long low = sys_call(SYS_openat, directory, task_path(path, tid, file),
                        O_RDONLY | O_CLOEXEC);
    if (low < 0)
        return low;
    long high = sys_call(SYS_fcntl, low, F_DUPFD_CLOEXEC, KEPT_FLOOR);
    sys_close((int)low);
    return high;
}

long
task_file_read_again(pid_t tid, enum task_file_kind kind, char *buffer,
                     size_t size)
{
    static const char *const names[TASK_FILE_KINDS] = {
        [TASK_FILE_SYSCALL] = "/syscall",
        [TASK_FILE_SCHEDSTAT] = "/schedstat",
        [TASK_FILE_STATUS] = "/status",
    };
    struct kept *place = kept_place(tid, kind);
    if (directory == AT_FDCWD)
        return task_file_read(tid, names[kind], buffer, size);
    if (place->tid != tid) {
        long fd = open_to_keep(tid, names[kind]);
        if (fd < 0)
            return task_file_read(tid, names[kind], buffer, size);
        let_go(place);
        *place = (struct kept){tid, (int)fd};
    }
    long length = sys_read_at(place->fd, buffer, size - 1, 0);
    buffer[length > 0 ? length : 0] = '\0';
    if (length >= 0)
        return length;
    /* The thread has ended. Another one may have its number by now. */
    let_go(place);
    return task_file_read(tid, names[kind], buffer, size);
}

long
task_file_read_link(pid_t tid, const char *file, char *buffer, size_t size)
{
    char path[PROC_PATH_SIZE];
    return sys_read_link_at(directory, task_path(path, tid, file), buffer,
                            size);
}
