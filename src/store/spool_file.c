/* SPDX-License-Identifier: MIT */
/*
 * spool_file.c -- see spool_file.h. System calls are made by number, because
 * the program may have put its own functions in libc's place. No malloc, no
 * stdio.
 *
 * Two things are hard. The kernel answers a breach of RLIMIT_FSIZE with
 * SIGXFSZ, which ends a program. So the limit is read before more is reserved.
 * A program may also close descriptors that it did not open, and get our number
 * for its own file. So a descriptor in a table that the program shares is held
 * for an instant only, and its number is far above those that programs use.
 * Before it is used or closed, it is compared with the spool.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/sys.h"
#include "spool_file.h"

/* Least number of a descriptor: programs rely on the lower ones. */
#define DESCRIPTOR_FLOOR 512

/* Limit of attempts to reserve room. tmpfs gives up a reservation when a signal
 * arrives. The sampler blocks all signals; the thread that creates the file may
 * need some attempts. */
#define RESERVE_ATTEMPTS 100

static const unsigned char zeros[4096];

long
spool_file_call(long number, long a, long b, long c, long d, long e)
{
    long result = sys_call(number, a, b, c, d, e);
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

/* Call open(2), and move the descriptor away from the low numbers. A program
 * that closes descriptor 0 and opens a file may expect to get 0 back. */
static int
open_high(const char *path, int flags)
{
    int low =
        (int)spool_file_call(SYS_openat, AT_FDCWD, (long)path,
                             flags | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600, 0);
    if (low < 0)
        return -1;
    long high = sys_call(SYS_fcntl, low, F_DUPFD_CLOEXEC, DESCRIPTOR_FLOOR);
    if (high < 0)
        return low; /* RLIMIT_NOFILE is small, so a low number must do. */
    sys_close(low);
    return (int)high;
}

/* Create the file at PATH. With LOCKS it is locked before another process can
 * look at it. */
static int
make_file(const char *path, bool locks)
{
    int fd = open_high(path, O_CREAT | O_EXCL);
    if (fd >= 0 && locks)
        spool_file_call(SYS_flock, fd, LOCK_EX | LOCK_NB, 0, 0, 0);
    return fd;
}

void
spool_file_remove(const char *path)
{
    (void)sys_call(SYS_unlinkat, AT_FDCWD, path);
}

/* Undo make_file. Returns -1; errno is kept. */
static int
unmake_file(const char *path, int fd)
{
    spool_file_remove(path);
    sys_close(fd);
    return -1;
}

static bool
get_status(int fd, struct stat *status)
{
    return spool_file_call(SYS_fstat, fd, (long)status, 0, 0, 0) == 0;
}

/* If the program has closed FD, its number may mean another file now. */
static bool
is_spool(const struct spool_file *file, int fd)
{
    struct stat now;
    return get_status(fd, &now) && S_ISREG(now.st_mode) &&
           now.st_dev == file->device && now.st_ino == file->inode;
}

void
spool_file_close(const struct spool_file *file, int fd)
{
    int saved = errno;
    if (fd != file->kept && is_spool(file, fd))
        sys_close(fd);
    errno = saved;
}

int
spool_file_open(const struct spool_file *file)
{
    if (file->kept >= 0)
        return file->kept;
    int fd = open_high(file->path, 0);
    if (fd < 0) {
        if (errno == ENOENT || errno == ELOOP || errno == ENOTDIR)
            errno = ESTALE;
        return -1;
    }
    if (is_spool(file, fd))
        return fd;
    sys_close(fd);
    errno = ESTALE;
    return -1;
}

bool
spool_file_is_followed(const struct spool_file *file)
{
    struct flock lock = {.l_type = F_WRLCK, .l_len = 1};
    int fd = spool_file_open(file);
    if (fd < 0)
        return false;
    bool is_known = sys_call(SYS_fcntl, fd, F_OFD_GETLK, &lock) == 0;
    spool_file_close(file, fd);
    return is_known && lock.l_type != F_UNLCK;
}

bool
spool_file_may_have(uint64_t end)
{
    struct rlimit limit;
    return spool_file_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit,
                           0) != 0 ||
           end <= limit.rlim_cur;
}

int
spool_file_write(int fd, const void *bytes, size_t length, uint64_t offset)
{
    while (length > 0) {
        long written = spool_file_call(SYS_pwrite64, fd, (long)bytes,
                                       (long)length, (long)offset, 0);
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

/* Some file systems cannot reserve. A block that was written keeps its room. */
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
        result =
            spool_file_call(SYS_fallocate, fd, 0, (long)offset, (long)size, 0);
    while (result != 0 && errno == EINTR && ++attempts < RESERVE_ATTEMPTS);
    if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        return write_zeros(fd, offset, size);
    return (int)result;
}

int
spool_file_reserve(struct spool_file *file, uint64_t size)
{
    int fd = spool_file_open(file);
    if (fd < 0)
        return -1;
    int result = reserve(fd, file->size, size - file->size);
    spool_file_close(file, fd);
    if (result == 0)
        file->size = size;
    return result;
}

void
spool_file_lower(struct spool_file *file)
{
    int low = (int)sys_call(SYS_fcntl, file->kept, F_DUPFD_CLOEXEC);
    if (low >= 0 && low < file->kept) {
        sys_close(file->kept);
        file->kept = low;
    } else if (low >= 0) {
        sys_close(low);
    }
}

/* FD is a file that was just made: note in FILE what it is, and reserve SIZE
 * bytes. Its mode is set regardless of the umask, because the file has to be
 * opened again. */
static int
take_up(struct spool_file *file, int fd, uint64_t size)
{
    struct stat made;
    if (!get_status(fd, &made) ||
        spool_file_call(SYS_fchmod, fd, 0600, 0, 0, 0) != 0 ||
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
    int fd = make_file(file->path, keeps_open);
    file->kept = -1;
    if (fd < 0)
        return -1;
    if (take_up(file, fd, size) != 0)
        return unmake_file(file->path, fd);
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
    static void *shown; /* of the file before a rotation */
    int fd = spool_file_open(file);
    if (fd < 0)
        return;
    sys_release(shown, 1);
    long at = sys_map(1, PROT_NONE, MAP_SHARED, fd, 0);
    shown = at > 0 ? (void *)at : NULL;
    spool_file_close(file, fd);
}

bool
spool_file_is_short(const struct spool_file *file, int fd)
{
    struct stat now;
    return get_status(fd, &now) && (uint64_t)now.st_size < file->size;
}

bool
spool_file_is_removed(const struct spool_file *file)
{
    struct stat now;
    return file->kept >= 0 && get_status(file->kept, &now) && now.st_nlink == 0;
}

bool
spool_file_is_away(const struct spool_file *file)
{
    struct stat now;
    if (file->kept < 0 || !get_status(file->kept, &now))
        return false;
    if (now.st_nlink == 0)
        return true;
    if (spool_file_call(SYS_newfstatat, AT_FDCWD, (long)file->path, (long)&now,
                        AT_SYMLINK_NOFOLLOW, 0) != 0)
        return errno == ENOENT;
    return now.st_dev != file->device || now.st_ino != file->inode;
}

/* Copy FILE to FD, a file that was just made. */
static int
copy_to(const struct spool_file *file, int fd)
{
    unsigned char buffer[4096];
    struct stat made;
    uint64_t offset = 0;
    long got;
    if (!get_status(file->kept, &made))
        return -1;
    if (!spool_file_may_have((uint64_t)made.st_size)) {
        errno = EFBIG;
        return -1;
    }
    while ((got = spool_file_call(SYS_pread64, file->kept, (long)buffer,
                                  sizeof(buffer), (long)offset, 0)) > 0) {
        if (spool_file_write(fd, buffer, (size_t)got, offset) != 0)
            return -1;
        offset += (uint64_t)got;
    }
    return (int)got;
}

/* A file without a name cannot be given one by a hard link (linkat(2)), so it
 * is copied. A file that was moved stays where it is. */
int
spool_file_put_back(struct spool_file *file)
{
    if (!spool_file_is_away(file))
        return 0;
    struct spool_file made = {.path = file->path,
                              .kept = make_file(file->path, true)};
    if (made.kept < 0)
        return -1;
    if (copy_to(file, made.kept) != 0 || take_up(&made, made.kept, 0) != 0 ||
        spool_file_reserve(&made, file->size) != 0)
        return unmake_file(file->path, made.kept);
    sys_close(file->kept);
    *file = made;
    spool_file_lower(file);
    return 0;
}

static long
rename_file(const char *from, const char *to)
{
    return spool_file_call(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD,
                           (long)to, 0);
}

/* Give the file at PATH the name PAST, too. In a file system without hard links
 * PATH is free for an instant. */
static long
link_file(const char *path, const char *past)
{
    long result = spool_file_call(SYS_linkat, AT_FDCWD, (long)path, AT_FDCWD,
                                  (long)past, 0);
    return result != 0 && errno != ENOENT ? rename_file(path, past) : result;
}

int
spool_file_succeed(const char *path, const char *next, const char *past)
{
    spool_file_remove(past);
    if (link_file(path, past) != 0)
        return -1;
    if (rename_file(next, path) == 0)
        return 0;
    int saved = errno;
    /* Without effect if both names are still of one file. */
    (void)rename_file(past, path);
    spool_file_remove(past);
    errno = saved;
    return -1;
}

int
spool_file_cut(struct spool_file *file, uint64_t size)
{
    int fd = spool_file_open(file);
    if (fd < 0)
        return -1;
    int result = (int)spool_file_call(SYS_ftruncate, fd, (long)size, 0, 0, 0);
    spool_file_close(file, fd);
    if (result == 0)
        file->size = size;
    return result;
}

void
spool_file_give(const struct spool_file *file, uid_t uid)
{
    int fd = spool_file_open(file);
    if (fd < 0)
        return;
    (void)spool_file_call(SYS_fchown, fd, uid, -1, 0, 0);
    spool_file_close(file, fd);
}

void
spool_file_release(struct spool_file *file)
{
    if (file->kept >= 0)
        sys_close(file->kept);
    file->kept = -1;
}
