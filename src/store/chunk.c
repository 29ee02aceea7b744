/* SPDX-License-Identifier: MIT */
/*
 * chunk.c -- makes room in the spool's file without harm to the program in
 * whose process it runs. Sampler thread; system calls by number, so that no
 * wrapper that the program put in libc's place is called; no malloc, no stdio.
 *
 * Three things are hard about it. A page of a mapped file for which the disk
 * has no block is SIGBUS when it is touched: so blocks are reserved first. The
 * kernel answers a breach of RLIMIT_FSIZE with SIGXFSZ, which ends a program:
 * so the limit is asked first. And a program may close descriptors that are not
 * its own, and get our number for a file of its own: so a descriptor is held
 * for an instant only, far from the numbers that programs use, and what it
 * stands for is checked before and after use.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sys.h"
#include "chunk.h"

/* Where descriptors are moved to: above those that programs count on. */
#define DESCRIPTOR_FLOOR 512

/* tmpfs gives up a reservation when a signal arrives. The sampler blocks them
 * all; the thread that creates the file may need some attempts. */
#define RESERVE_ATTEMPTS 100

static const unsigned char zeros[4096];

static int
close_quietly(int fd)
{
    int saved = errno;

    syscall(SYS_close, fd);
    errno = saved;
    return -1;
}

/* open(2), then away from the low numbers: a program that closes descriptor 0
 * and opens a file to get it back may do so at this moment. */
static int
open_high(const char *path, int flags)
{
    int low = (int)syscall(SYS_openat, AT_FDCWD, path,
                           flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
    int high;

    if (low < 0)
        return -1;
    high = (int)syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, DESCRIPTOR_FLOOR);
    if (high < 0)
        return low; /* RLIMIT_NOFILE is small. */
    close_quietly(low);
    return high;
}

static bool
is_ours(const struct chunk_file *file, int fd)
{
    struct stat now;

    return syscall(SYS_fstat, fd, &now) == 0 && S_ISREG(now.st_mode) &&
           now.st_dev == file->device && now.st_ino == file->inode;
}

/* Close FD unless the program did and its number means another file by now. */
static void
close_ours(const struct chunk_file *file, int fd)
{
    int saved = errno;

    if (fd != file->kept && is_ours(file, fd))
        close_quietly(fd);
    errno = saved;
}

/* The spool again, if it is still at its path. */
static int
reopen(const struct chunk_file *file)
{
    struct stat now;
    int fd;

    if (file->kept != 0) {
        /* One that was removed is of no use to anybody. */
        if (syscall(SYS_fstat, file->kept, &now) == 0 && now.st_nlink > 0)
            return file->kept;
        errno = ESTALE;
        return -1;
    }
    fd = open_high(file->path, 0);
    if (fd < 0) {
        if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR)
            errno = ESTALE;
        return -1;
    }
    if (is_ours(file, fd))
        return fd;
    errno = ESTALE;
    return close_quietly(fd);
}

/* Whether the program's RLIMIT_FSIZE lets a file have END bytes. */
static bool
is_allowed(uint64_t end)
{
    struct rlimit limit;

    return syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) != 0 ||
           end <= limit.rlim_cur;
}

/* For file systems that cannot reserve: a block that was written is there. */
static int
write_zeros(int fd, uint64_t offset, size_t size)
{
    while (size > 0) {
        size_t part = size < sizeof(zeros) ? size : sizeof(zeros);
        long written = syscall(SYS_pwrite64, fd, zeros, part, offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written < 0 ? errno : ENOSPC;
            return -1;
        }
        offset += (uint64_t)written;
        size -= (size_t)written;
    }
    return 0;
}

static int
reserve(int fd, uint64_t offset, size_t size)
{
    long result;
    int attempts = 0;

    if (!is_allowed(offset + size)) {
        errno = EFBIG;
        return -1;
    }
    do
        result = syscall(SYS_fallocate, fd, 0, offset, size);
    while (result != 0 && errno == EINTR && ++attempts < RESERVE_ATTEMPTS);
    if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        return write_zeros(fd, offset, size);
    return result == 0 ? 0 : -1;
}

static int
reserve_and_map(const struct chunk_file *file, int fd, uint64_t offset,
                struct chunk *chunk)
{
    long map;

    if (reserve(fd, offset, chunk->size) != 0)
        return -1;
    map = sys_map(chunk->size, MAP_SHARED, fd, offset);
    if (map < 0) {
        errno = (int)-map;
        return -1;
    }
    chunk->map = (unsigned char *)map;
    if (!is_ours(file, fd)) {
        chunk_unmap(chunk);
        errno = ESTALE;
        return -1;
    }
    syscall(SYS_madvise, map, chunk->size, MADV_DONTFORK);
    /* A program that locks its memory does not mean ours. */
    syscall(SYS_munlock, map, chunk->size);
    return 0;
}

int
chunk_create(struct chunk_file *file, struct chunk *chunk)
{
    struct stat made;
    int saved, fd = open_high(file->path, O_CREAT | O_EXCL);

    if (fd < 0)
        return -1;
    /* Whatever the umask took away: the file has to be opened again. */
    if (syscall(SYS_fstat, fd, &made) != 0 ||
        syscall(SYS_fchmod, fd, 0600) != 0)
        goto undo;
    file->device = made.st_dev;
    file->inode = made.st_ino;
    if (reserve_and_map(file, fd, 0, chunk) != 0)
        goto undo;
    close_ours(file, fd);
    return 0;

undo:
    saved = errno;
    syscall(SYS_unlinkat, AT_FDCWD, file->path, 0);
    close_quietly(fd);
    errno = saved;
    return -1;
}

void
chunk_keep(struct chunk_file *file)
{
    int low, fd = reopen(file);

    /* A number as low as can be: others, which are opened later and closed in
     * one call, must lie above it. But 0 means none. */
    if (fd < 0)
        return;
    low = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 1);
    if (low >= 0 || fd == 0)
        close_quietly(fd);
    if (low < 0 && fd != 0)
        low = fd;
    file->kept = low > 0 ? low : 0;
    if (low > 0)
        syscall(SYS_flock, low, LOCK_EX | LOCK_NB);
}

int
chunk_extend(const struct chunk_file *file, uint64_t offset,
             struct chunk *chunk)
{
    int result, fd = reopen(file);

    if (fd < 0)
        return -1;
    result = reserve_and_map(file, fd, offset, chunk);
    close_ours(file, fd);
    return result;
}

void
chunk_retire(const struct chunk *chunk)
{
    syscall(SYS_madvise, chunk->map, chunk->size, MADV_DONTNEED);
}

void
chunk_unmap(const struct chunk *chunk)
{
    syscall(SYS_munmap, chunk->map, chunk->size);
}

int
chunk_cut(const struct chunk_file *file, uint64_t size)
{
    long result;
    int fd = reopen(file);

    if (fd < 0)
        return -1;
    result = syscall(SYS_ftruncate, fd, size);
    close_ours(file, fd);
    return result == 0 ? 0 : -1;
}

void
chunk_release(struct chunk_file *file)
{
    if (file->kept != 0)
        close_quietly(file->kept);
    file->kept = 0;
}
