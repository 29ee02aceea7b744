/* SPDX-License-Identifier: MIT */
/*
 * program_file.c -- see program_file.h. pidfd_getfd(2), Linux 5.6, gives the
 * open file itself. Before that, or where it is forbidden, the link in /proc
 * does, but it opens the file anew, with an offset of its own: then only to
 * append to it.
 */
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "threads.h"
#include "program_file.h"

static int
copy_file(int fd)
{
    long process = arch_syscall(SYS_pidfd_open, sys_getpid(), 0, 0, 0, 0, 0);
    if (process < 0)
        return -1;
    long copy = arch_syscall(SYS_pidfd_getfd, process, fd, 0, 0, 0, 0);
    sys_close((int)process);
    return (int)copy;
}

static int
open_link(int fd)
{
    char path[PROC_PATH_SIZE], file[20];
    struct text text;
    text_begin(&text, file, sizeof(file));
    text_add(&text, "/fd/");
    text_add_number(&text, (uint64_t)fd);
    /* Any thread but ours will do. The main thread may have ended. */
    return (int)sys_open(proc_path(path, 0, threads_first(), file),
                         O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
}

static bool
is_for_messages(int fd)
{
    struct stat status;
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fstat(fd, &status) != 0)
        return false;
    return !S_ISREG(status.st_mode) || (flags & O_APPEND) != 0 ||
           (flags & O_ACCMODE) == O_WRONLY;
}

int
program_file_open(int fd, bool is_meant)
{
    int copy = copy_file(fd);
    if (copy < 0)
        copy = open_link(fd);
    if (copy >= 0 && !is_meant && !is_for_messages(copy)) {
        sys_close(copy);
        return -1;
    }
    if (copy < 0 || copy > STDERR_FILENO)
        return copy;
    int higher = fcntl(copy, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    sys_close(copy);
    return higher;
}
