/* SPDX-License-Identifier: MIT */
/*
 * spool_file.c -- see spool_file.h. System calls by number, so that no wrapper
 * that the program put in libc's place is called; no malloc, no stdio.
 *
 * Two things are hard about it. The kernel answers a breach of RLIMIT_FSIZE
 * with SIGXFSZ, which ends a program: so the limit is asked before more is
 * reserved. And a program may close descriptors that are not its own, and get
 * our number for a file of its own: so where the descriptor table is the
 * program's, a descriptor is held for an instant only, far from the numbers
 * that programs use, and what it stands for is checked before it is used and
 * before it is closed.
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
#include "spool_file.h"

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
is_ours(const struct spool_file *file, int fd)
{
    struct stat now;

    return syscall(SYS_fstat, fd, &now) == 0 && S_ISREG(now.st_mode) &&
           now.st_dev == file->device && now.st_ino == file->inode;
}

/* Of one that the program has closed, the number means another file by now. */
void
spool_file_close(const struct spool_file *file, int fd)
{
    int saved = errno;

    if (fd != file->kept && is_ours(file, fd))
        close_quietly(fd);
    errno = saved;
}

int
spool_file_open(const struct spool_file *file)
{
    int fd;

    if (file->kept >= 0)
        return file->kept;
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

bool
spool_file_may_have(uint64_t end)
{
    struct rlimit limit;

    return syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) != 0 ||
           end <= limit.rlim_cur;
}

int
spool_file_write(int fd, const void *bytes, size_t length, uint64_t offset)
{
    while (length > 0) {
        long written = syscall(SYS_pwrite64, fd, bytes, length, offset);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            errno = written < 0 ? errno : ENOSPC;
            return -1;
        }
        bytes = (const unsigned char *)bytes + written;
        offset += (uint64_t)written;
        length -= (size_t)written;
    }
    return 0;
}

/* For file systems that cannot reserve: a block that was written is there. */
static int
write_zeros(int fd, uint64_t offset, uint64_t size)
{
    int result = 0;

    for (uint64_t part; size > 0 && result == 0; size -= part) {
        part = size < sizeof(zeros) ? size : sizeof(zeros);
        result = spool_file_write(fd, zeros, (size_t)part, offset);
        offset += part;
    }
    return result;
}

static int
reserve(int fd, uint64_t offset, uint64_t size)
{
    long result;
    int attempts = 0;

    if (!spool_file_may_have(offset + size)) {
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

int
spool_file_reserve(struct spool_file *file, uint64_t size)
{
    int result, fd = spool_file_open(file);

    if (fd < 0)
        return -1;
    result = reserve(fd, file->size, size - file->size);
    spool_file_close(file, fd);
    if (result == 0)
        file->size = size;
    return result;
}

void
spool_file_lower(struct spool_file *file)
{
    int low = (int)syscall(SYS_fcntl, file->kept, F_DUPFD_CLOEXEC, 0);

    if (low >= 0 && low < file->kept) {
        close_quietly(file->kept);
        file->kept = low;
    } else if (low >= 0) {
        close_quietly(low);
    }
}

/* FD is a file that was just made. */
static int
settle(struct spool_file *file, int fd, uint64_t size)
{
    struct stat made;

    /* Whatever the umask took away: the file has to be opened again. */
    if (syscall(SYS_fstat, fd, &made) != 0 ||
        syscall(SYS_fchmod, fd, 0600) != 0 ||
        (size > 0 && reserve(fd, 0, size) != 0))
        return -1;
    file->device = made.st_dev;
    file->inode = made.st_ino;
    file->size = size;
    return 0;
}

int
spool_file_create(struct spool_file *file, uint64_t size, bool keeps_open)
{
    int saved, fd = open_high(file->path, O_CREAT | O_EXCL);

    file->kept = -1;
    if (fd < 0)
        return -1;
    /* Before anybody can read whose it is. */
    if (keeps_open)
        syscall(SYS_flock, fd, LOCK_EX | LOCK_NB);
    if (settle(file, fd, size) != 0) {
        saved = errno;
        syscall(SYS_unlinkat, AT_FDCWD, file->path, 0);
        close_quietly(fd);
        errno = saved;
        return -1;
    }
    if (keeps_open) {
        file->kept = fd;
        spool_file_lower(file);
    } else {
        spool_file_close(file, fd);
    }
    return 0;
}

void
spool_file_show(const struct spool_file *file)
{
    int fd = spool_file_open(file);

    if (fd < 0)
        return;
    (void)syscall(SYS_mmap, 0, 1, PROT_NONE, MAP_SHARED, fd, 0);
    spool_file_close(file, fd);
}

bool
spool_file_is_short(const struct spool_file *file, int fd)
{
    struct stat now;

    return syscall(SYS_fstat, fd, &now) == 0 &&
           (uint64_t)now.st_size < file->size;
}

bool
spool_file_is_removed(const struct spool_file *file)
{
    struct stat now;

    return file->kept >= 0 && syscall(SYS_fstat, file->kept, &now) == 0 &&
           now.st_nlink == 0;
}

bool
spool_file_is_away(const struct spool_file *file)
{
    struct stat now;

    if (file->kept < 0 || syscall(SYS_fstat, file->kept, &now) != 0)
        return false;
    if (now.st_nlink == 0)
        return true;
    if (syscall(SYS_newfstatat, AT_FDCWD, file->path, &now,
                AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT;
    return now.st_dev != file->device || now.st_ino != file->inode;
}

/* Copy FILE to FD, a file that was just made and is locked like the first. */
static int
copy_to(const struct spool_file *file, int fd)
{
    unsigned char buffer[4096];
    struct stat made;
    uint64_t offset = 0;
    long got;

    syscall(SYS_flock, fd, LOCK_EX | LOCK_NB);
    if (syscall(SYS_fstat, file->kept, &made) != 0)
        return -1;
    if (!spool_file_may_have((uint64_t)made.st_size)) {
        errno = EFBIG;
        return -1;
    }
    while ((got = syscall(SYS_pread64, file->kept, buffer, sizeof(buffer),
                          offset)) > 0) {
        if (spool_file_write(fd, buffer, (size_t)got, offset) != 0)
            return -1;
        offset += (uint64_t)got;
    }
    return got == 0 ? 0 : -1;
}

/* Without a hard link there is no way to a file that has no name (linkat(2)):
 * it takes a copy. One that was moved stays where it was wanted. */
int
spool_file_put_back(struct spool_file *file)
{
    struct spool_file made = {.path = file->path};
    int saved;

    if (!spool_file_is_away(file))
        return 0;
    made.kept = open_high(file->path, O_CREAT | O_EXCL);
    if (made.kept < 0)
        return -1;
    if (copy_to(file, made.kept) == 0 && settle(&made, made.kept, 0) == 0 &&
        spool_file_reserve(&made, file->size) == 0) {
        close_quietly(file->kept);
        *file = made;
        spool_file_lower(file);
        return 0;
    }
    saved = errno;
    syscall(SYS_unlinkat, AT_FDCWD, file->path, 0);
    close_quietly(made.kept);
    errno = saved;
    return -1;
}

int
spool_file_cut(struct spool_file *file, uint64_t size)
{
    long result;
    int fd = spool_file_open(file);

    if (fd < 0)
        return -1;
    result = syscall(SYS_ftruncate, fd, size);
    spool_file_close(file, fd);
    if (result == 0)
        file->size = size;
    return result == 0 ? 0 : -1;
}

void
spool_file_give(const struct spool_file *file, uid_t uid)
{
    int fd = spool_file_open(file);

    if (fd < 0)
        return;
    (void)syscall(SYS_fchown, fd, uid, -1);
    spool_file_close(file, fd);
}

void
spool_file_release(struct spool_file *file)
{
    if (file->kept >= 0)
        close_quietly(file->kept);
    file->kept = -1;
}
