/* SPDX-License-Identifier: MIT */
/*
 * system_calls.c -- functions of libc that are one system call, for this
 * library alone. The linker binds the calls in this library to these functions.
 * This includes libunwind's calls. Any context. They set errno as libc does.
 * They are no cancellation points.
 *
 * read is a hook as well (hooks/hooks_block.c), and serves both.
 *
 * Another module may define functions with these names. ISO C leaves these
 * names to the program (C11, 7.1.3). A program's close or access may do
 * anything. Without this file, the loader would bind this library's calls to
 * the program's functions.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/sys.h"

/* Turn the kernel's ANSWER into libc's result. An error becomes -1 and errno.
 */
static long
result_of(long answer)
{
    if (answer >= 0 || answer < -4095)
        return answer;
    errno = (int)-answer;
    return -1;
}

#define CALL(...) result_of(sys_call(__VA_ARGS__))

/* Define the function NAME, which returns CALL(...). */
#define SYSTEM_CALL(result, name, parameters, ...) \
    result name parameters                         \
    {                                              \
        return (result)CALL(__VA_ARGS__);          \
    }

/* Files by name. */

int
open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode =
        (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(list, mode_t) : 0;
    va_end(list);
    return (int)CALL(SYS_openat, AT_FDCWD, path, flags, mode);
}

SYSTEM_CALL(int, access, (const char *path, int mode), SYS_faccessat, AT_FDCWD,
            path, mode)

/* Before Linux 5.8 the kernel has no faccessat2(2). The older faccessat(2) has
 * no flags, and checks the real ids. These differ from the effective ids only
 * if the program has changed them. A container's filter may answer EPERM to a
 * system call that the filter does not know. */
int
faccessat(int directory, const char *path, int mode, int flags)
{
    int saved = errno;
    int result = (int)CALL(SYS_faccessat2, directory, path, mode, flags);
    if (result == 0 || (errno != ENOSYS && errno != EPERM))
        return result;
    errno = saved;
    return (int)CALL(SYS_faccessat, directory, path, mode);
}

SYSTEM_CALL(int, lstat,
            (const char *restrict path, struct stat *restrict status),
            SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW)
SYSTEM_CALL(ssize_t, readlink,
            (const char *restrict path, char *restrict to, size_t size),
            SYS_readlinkat, AT_FDCWD, path, to, size)
SYSTEM_CALL(int, rename, (const char *from, const char *to), SYS_renameat2,
            AT_FDCWD, from, AT_FDCWD, to, 0)
SYSTEM_CALL(int, renameat2,
            (int from_directory, const char *from, int to_directory,
             const char *to, unsigned flags),
            SYS_renameat2, from_directory, from, to_directory, to, flags)
SYSTEM_CALL(int, unlink, (const char *path), SYS_unlinkat, AT_FDCWD, path, 0)
SYSTEM_CALL(int, chdir, (const char *path), SYS_chdir, path)

/* The kernel's answer does not begin with "/" if the directory is out of reach:
 * getcwd(2). Such an answer is not a path. */
char *
getcwd(char *to, size_t size)
{
    if (CALL(SYS_getcwd, to, size) < 0)
        return NULL;
    if (to[0] == '/')
        return to;
    errno = ENOENT;
    return NULL;
}

/* Descriptors. */

SYSTEM_CALL(int, close, (int fd), SYS_close, fd)
SYSTEM_CALL(int, fstat, (int fd, struct stat *status), SYS_fstat, fd, status)

/* The kernel decides by COMMAND whether it reads the third argument. The
 * argument is a number or an address. Both fit into one register. */
#define WITH_ARGUMENT(name, type, number)                \
    int name(int fd, type command, ...)                  \
    {                                                    \
        va_list list;                                    \
        va_start(list, command);                         \
        long argument = va_arg(list, long);              \
        va_end(list);                                    \
        return (int)CALL(number, fd, command, argument); \
    }

WITH_ARGUMENT(fcntl, int, SYS_fcntl)
WITH_ARGUMENT(ioctl, unsigned long, SYS_ioctl)
SYSTEM_CALL(int, flock, (int fd, int operation), SYS_flock, fd, operation)

/* dup3(2) refuses two equal descriptors. dup2(2) accepts them. */
int
dup2(int from, int to)
{
    if (from == to)
        return CALL(SYS_fcntl, from, F_GETFD) < 0 ? -1 : to;
    return (int)CALL(SYS_dup3, from, to, 0);
}

SYSTEM_CALL(int, pipe2, (int ends[2], int flags), SYS_pipe2, ends, flags)

/* Memory. */

SYSTEM_CALL(int, munmap, (void *memory, size_t size), SYS_munmap, memory, size)
SYSTEM_CALL(int, msync, (void *memory, size_t size, int flags), SYS_msync,
            memory, size, flags)
SYSTEM_CALL(int, mincore, (void *memory, size_t size, unsigned char *pages),
            SYS_mincore, memory, size, pages)

/* The process. */

SYSTEM_CALL(pid_t, getpid, (void), SYS_getpid, 0)
SYSTEM_CALL(pid_t, getppid, (void), SYS_getppid, 0)
SYSTEM_CALL(pid_t, getpgrp, (void), SYS_getpgid, 0)
SYSTEM_CALL(pid_t, setsid, (void), SYS_setsid, 0)
SYSTEM_CALL(int, sched_yield, (void), SYS_sched_yield, 0)

/* The kernel returns the number of bytes that it has filled. No CPU belongs to
 * the other bytes, so they are set to 0. */
int
sched_getaffinity(pid_t tid, size_t size, cpu_set_t *cpus)
{
    long filled = CALL(SYS_sched_getaffinity, tid, size, cpus);
    if (filled < 0)
        return -1;
    memset((char *)cpus + filled, 0, size - (size_t)filled);
    return 0;
}

SYSTEM_CALL(int, getrlimit, (__rlimit_resource_t which, struct rlimit *limit),
            SYS_prlimit64, 0, which, NULL, limit)
SYSTEM_CALL(int, getrusage, (__rusage_who_t who, struct rusage *usage),
            SYS_getrusage, who, usage)

/* The system. */

SYSTEM_CALL(int, uname, (struct utsname * name), SYS_uname, name)

int
gethostname(char *to, size_t size)
{
    struct utsname name;
    if (uname(&name) != 0)
        return -1;
    strncpy(to, name.nodename, size);
    return 0;
}

SYSTEM_CALL(ssize_t, getrandom, (void *to, size_t size, unsigned flags),
            SYS_getrandom, to, size, flags)

/* The library uses this clock until it has found libc's own (clock_use). libc's
 * clock needs no system call. */
SYSTEM_CALL(int, clock_gettime, (clockid_t id, struct timespec *time),
            SYS_clock_gettime, id, time)
