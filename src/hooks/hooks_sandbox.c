/* SPDX-License-Identifier: MIT */
/*
 * hooks_sandbox.c -- the hooks on calls by which a program enters a sandbox, or
 * checks whether it may; see hooks.c for hooks in general. A process enters a
 * user or a time namespace only with one thread (unshare(2), setns(2)). Before
 * that, a sandbox counts the threads by the links of /proc/self/task
 * (Chromium's zygote). In a process with one thread besides ours, the sampler
 * steps aside (lifecycle.h), so that the count is one.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/lifecycle.h"
#include "base/digits.h"
#include "base/phase.h"
#include "base/sys.h"
#include "libc/real.h"
#include "hook.h"

/* With one thread of the program: ".", "..", that thread, and the sampler. */
#define LINKS_OF_TWO 4

/* Whether the program has one thread. */
static bool
is_single(void)
{
    long fd = sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY);
    long links = fd >= 0 ? sys_count_links((int)fd) : -1;
    if (fd >= 0)
        sys_close((int)fd);
    return links == LINKS_OF_TWO;
}

/* Whether PATH is the list of the calling process's threads, from the root, or
 * from a directory that may be /proc. */
static bool
is_task_list(const char *path)
{
    if (strncmp(path, "/proc/", 6) == 0)
        path += 6;
    if (strncmp(path, "self/", 5) == 0) {
        path += 5;
    } else {
        if (digits_take(&path) != (uint64_t)getpid() || *path != '/')
            return false;
        path++;
    }
    return strcmp(path, "task") == 0 || strcmp(path, "task/") == 0;
}

/* The program is about to look at PATH. Most paths do not matter, and their
 * first byte shows that. */
void
hook_before_look(const char *path)
{
    bool may_be =
        path != NULL && (strncmp(path, "/proc/", 6) == 0 || *path == 's' ||
                         (*path >= '1' && *path <= '9'));
    if (may_be && phase_now() == PHASE_RUNNING && is_task_list(path) &&
        phase_is_running() && is_single())
        (void)lifecycle_stand_aside();
}

/* All present and former functions that look at a file by its name (glibc
 * 2.33). */

#define LOOKS(name, parameters, arguments) \
    HOOK_AFTER(hook_before_look(path), int, name, parameters, arguments)

int __xstat(int version, const char *path, struct stat *status);
int __xstat64(int version, const char *path, struct stat64 *status);
int __fxstatat(int version, int directory, const char *path,
               struct stat *status, int flags);
int __fxstatat64(int version, int directory, const char *path,
                 struct stat64 *status, int flags);

LOOKS(stat, (const char *restrict path, struct stat *restrict status),
      (path, status))
LOOKS(stat64, (const char *restrict path, struct stat64 *restrict status),
      (path, status))
LOOKS(fstatat,
      (int directory, const char *restrict path, struct stat *restrict status,
       int flags),
      (directory, path, status, flags))
LOOKS(fstatat64,
      (int directory, const char *restrict path, struct stat64 *restrict status,
       int flags),
      (directory, path, status, flags))
LOOKS(__xstat, (int version, const char *path, struct stat *status),
      (version, path, status))
LOOKS(__xstat64, (int version, const char *path, struct stat64 *status),
      (version, path, status))
LOOKS(__fxstatat,
      (int version, int directory, const char *path, struct stat *status,
       int flags),
      (version, directory, path, status, flags))
LOOKS(__fxstatat64,
      (int version, int directory, const char *path, struct stat64 *status,
       int flags),
      (version, directory, path, status, flags))
LOOKS(statx,
      (int directory, const char *restrict path, int flags, unsigned mask,
       struct statx *restrict status),
      (directory, path, flags, mask, status))

/* Other namespaces. */

/* Flags that unshare(2) refuses to one of several threads. */
#define ALONE (CLONE_NEWUSER | CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)

bool
hook_before_unshare(int flags)
{
    return (flags & ALONE) != 0 && phase_is_running() && is_single() &&
           lifecycle_stand_aside();
}

/* For a mount namespace setns(2) demands a directory of its own, which the
 * sampler leaves to the program at its start. */
bool
hook_before_setns(int fd, int type)
{
    if (!phase_is_running())
        return false;
    if (type == 0)
        type = (int)sys_namespace_type(fd);
    bool is_refused = (type & (CLONE_NEWUSER | CLONE_NEWTIME)) != 0 ||
                      ((type & CLONE_NEWNS) != 0 && lifecycle_is_early());
    return is_refused && is_single() && lifecycle_stand_aside();
}

#define ENTERS(name, parameters, arguments)           \
    HOOK int name parameters                          \
    {                                                 \
        bool is_aside = hook_before_##name arguments; \
        int result = REAL(name) arguments;            \
        if (is_aside)                                 \
            lifecycle_come_back();                    \
        return result;                                \
    }

ENTERS(unshare, (int flags), (flags))
ENTERS(setns, (int fd, int type), (fd, type))
