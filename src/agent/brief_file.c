/* SPDX-License-Identifier: MIT */
/*
 * brief_file.c -- see brief_file.h. A process that was stopped while it holds
 * the lock (SIGSTOP, a debugger) must not stop others. So the others try for a
 * short time, and then make their own file.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "base/text.h"
#include "store/spool_file.h"
#include "brief_file.h"

/* How often to try for the lock, and the pause between two tries in ns. To
 * write one spool takes some 10 us. */
#define TRIES 20
#define PAUSE_NS 100000u

/* Limit of the file's size, in bytes. */
#define SIZE_MOST (1u << 30)

void
brief_file_beside(const struct config_files *files, const char *name,
                  char *path, size_t size)
{
    const char *slash = strrchr(files->outputs[0], '/');
    struct text text;
    text_begin(&text, path, size);
    if (slash != NULL)
        text_add_bytes(&text, files->outputs[0],
                       (size_t)(slash + 1 - files->outputs[0]));
    text_add(&text, name);
}

static bool
lock(int fd)
{
    static _Atomic uint32_t never;
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        sys_futex_wait(&never, 0, clock_now() + PAUSE_NS);
    }
    return false;
}

/* Whether the file with STATUS is one that this process may add ROOM bytes to.
 */
static bool
has_room(const struct stat *status, size_t room)
{
    uint64_t end = (uint64_t)status->st_size + room;
    return S_ISREG(status->st_mode) && status->st_uid == sys_geteuid() &&
           status->st_size % 8 == 0 && end < SIZE_MOST &&
           spool_file_may_have(end);
}

int
brief_file_begin(struct brief_file *file, const struct config_files *files,
                 size_t room)
{
    char path[PATH_MAX];
    struct stat status;
    brief_file_beside(files, BRIEF_FILE, path, sizeof(path));
    long fd =
        arch_syscall(SYS_openat, AT_FDCWD, (long)path,
                     O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                     0600, 0, 0);
    if (fd < 0)
        return -1;
    file->fd = (int)fd;
    if (lock(file->fd) && fstat(file->fd, &status) == 0 &&
        has_room(&status, room)) {
        file->size = (uint64_t)status.st_size;
        return 0;
    }
    sys_close(file->fd);
    return -1;
}

void
brief_file_end(struct brief_file *file, const void *bytes, size_t size)
{
    long written = arch_syscall(SYS_pwrite64, file->fd, (long)bytes, (long)size,
                                (long)file->size, 0, 0);
    if (written != (long)size)
        arch_syscall(SYS_ftruncate, file->fd, (long)file->size, 0, 0, 0, 0);
    sys_close(file->fd);
}
