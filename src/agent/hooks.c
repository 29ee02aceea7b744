/* SPDX-License-Identifier: MIT */
/*
 * hooks.c -- the functions of libc that this library stands in front of, all
 * but those that deal with signals (hooks_signal.c). Each is thin: it tells the
 * profiler what is about to happen or has happened, and calls the real one.
 * They work before the constructor and in processes that only share our memory
 * (vfork), where they do nothing but call on.
 *
 * The hard thing is what must not change: arguments, results, errno, and that a
 * process which is not profiled behaves as if the hooks were not there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "target/modules.h"
#include "target/threads.h"
#include "credentials.h"
#include "guardian.h"
#include "hook.h"
#include "lifecycle.h"
#include "mask.h"
#include "real.h"
#include "thread_life.h"

/* Threads: known at once, not only at the next enumeration. */

HOOK int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
               void *(*start)(void *), void *argument)
{
    int result = thread_life_create(thread, attributes, start, argument);
    threads_touch();
    return result;
}

HOOK void
pthread_exit(void *result)
{
    if (lifecycle_is_running() && sys_gettid() == sys_getpid())
        guardian_start();
    REAL(pthread_exit)(result);
    __builtin_unreachable();
}

/* Modules: rules learned before are not trusted until the map is read again.
 * dlopen has no hook: it looks up the RUNPATH of the library that calls it, and
 * behind a hook that would be ours. Code that is new is noticed when a pc lies
 * in it. */

HOOK int
dlclose(void *handle)
{
    modules_closing(1);
    int result = REAL(dlclose)(handle);
    modules_touch();
    modules_closing(-1);
    return result;
}

/* Children inherit what the program believes of the mask. */

HOOK int
posix_spawn(pid_t *pid, const char *path,
            const posix_spawn_file_actions_t *actions,
            const posix_spawnattr_t *attributes, char *const arguments[],
            char *const environment[])
{
    mask_before_exec();
    int result = REAL(posix_spawn)(pid, path, actions, attributes, arguments,
                                   environment);
    mask_after_failed_exec();
    return result;
}

HOOK int
posix_spawnp(pid_t *pid, const char *file,
             const posix_spawn_file_actions_t *actions,
             const posix_spawnattr_t *attributes, char *const arguments[],
             char *const environment[])
{
    mask_before_exec();
    int result = REAL(posix_spawnp)(pid, file, actions, attributes, arguments,
                                    environment);
    mask_after_failed_exec();
    return result;
}

HOOK int
system(const char *command)
{
    mask_before_exec();
    int result = REAL(system)(command);
    mask_after_failed_exec();
    return result;
}

HOOK FILE *
popen(const char *command, const char *mode)
{
    mask_before_exec();
    FILE *result = REAL(popen)(command, mode);
    mask_after_failed_exec();
    return result;
}

/* Ids of the process: the sampler has to be able to make the same change. */

HOOK int
setuid(uid_t uid)
{
    credentials_before_change();
    return REAL(setuid)(uid);
}

HOOK int
setgid(gid_t gid)
{
    credentials_before_change();
    return REAL(setgid)(gid);
}

HOOK int
seteuid(uid_t uid)
{
    credentials_before_change();
    return REAL(seteuid)(uid);
}

HOOK int
setegid(gid_t gid)
{
    credentials_before_change();
    return REAL(setegid)(gid);
}

HOOK int
setreuid(uid_t uid, uid_t euid)
{
    credentials_before_change();
    return REAL(setreuid)(uid, euid);
}

HOOK int
setregid(gid_t gid, gid_t egid)
{
    credentials_before_change();
    return REAL(setregid)(gid, egid);
}

HOOK int
setresuid(uid_t uid, uid_t euid, uid_t suid)
{
    credentials_before_change();
    return REAL(setresuid)(uid, euid, suid);
}

HOOK int
setresgid(gid_t gid, gid_t egid, gid_t sgid)
{
    credentials_before_change();
    return REAL(setresgid)(gid, egid, sgid);
}

HOOK int
setgroups(size_t count, const gid_t *groups)
{
    credentials_before_change();
    return REAL(setgroups)(count, groups);
}

HOOK int
initgroups(const char *user, gid_t group)
{
    credentials_before_change();
    return REAL(initgroups)(user, group);
}

/* Ends of the process that run no destructor. */

HOOK void
_exit(int status)
{
    lifecycle_end(END_QUICK);
    REAL(_exit)(status);
    __builtin_unreachable();
}

HOOK void
_Exit(int status)
{
    lifecycle_end(END_QUICK);
    REAL(_exit)(status);
    __builtin_unreachable();
}

HOOK void
quick_exit(int status)
{
    lifecycle_end(END_QUICK);
    REAL(quick_exit)(status);
    __builtin_unreachable();
}

/* exec: a signal that is still pending would kill the new image, and what was
 * sampled of this one is written first. A file that is not there, or cannot be
 * executed, is left to the real function alone. */

static int
exec(const char *path, char *const arguments[], char *const environment[],
     int (*real)(const char *, char *const[], char *const[]))
{
    bool searches = path != NULL && strchr(path, '/') == NULL;
    bool is_likely = searches || (path != NULL && access(path, X_OK) == 0);
    if (is_likely)
        lifecycle_end(END_EXEC);
    mask_before_exec();
    int result = real(path, arguments, environment);
    mask_after_failed_exec();
    if (is_likely)
        lifecycle_after_failed_exec();
    return result;
}

HOOK int
execve(const char *path, char *const arguments[], char *const environment[])
{
    return exec(path, arguments, environment, REAL(execve));
}

HOOK int
execv(const char *path, char *const arguments[])
{
    return exec(path, arguments, environ, REAL(execve));
}

HOOK int
execvp(const char *file, char *const arguments[])
{
    return exec(file, arguments, environ, REAL(execvpe));
}

HOOK int
execvpe(const char *file, char *const arguments[], char *const environment[])
{
    return exec(file, arguments, environment, REAL(execvpe));
}

HOOK int
fexecve(int fd, char *const arguments[], char *const environment[])
{
    lifecycle_end(END_EXEC);
    mask_before_exec();
    int result = REAL(fexecve)(fd, arguments, environment);
    mask_after_failed_exec();
    lifecycle_after_failed_exec();
    return result;
}

/* The number of arguments from FIRST up to the NULL in LIST. */
static size_t
count_arguments(const char *first, va_list list)
{
    size_t count = 0;
    va_list copy;
    va_copy(copy, list);
    for (const char *a = first; a != NULL; a = va_arg(copy, const char *))
        count++;
    va_end(copy);
    return count;
}

/* Copy FIRST and those in LIST, NULL included, to ARGUMENTS. */
static void
collect_arguments(char **arguments, const char *first, va_list list)
{
    *arguments++ = (char *)(uintptr_t)first;
    while (arguments[-1] != NULL)
        *arguments++ = va_arg(list, char *);
}

HOOK int
execl(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    char *arguments[count_arguments(first, list) + 1];
    collect_arguments(arguments, first, list);
    va_end(list);
    return execv(path, arguments);
}

HOOK int
execlp(const char *file, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    char *arguments[count_arguments(first, list) + 1];
    collect_arguments(arguments, first, list);
    va_end(list);
    return execvp(file, arguments);
}

HOOK int
execle(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    char *arguments[count_arguments(first, list) + 1];
    collect_arguments(arguments, first, list);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return execve(path, arguments, environment);
}
