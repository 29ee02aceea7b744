/* SPDX-License-Identifier: MIT */
/*
 * hooks.c -- the functions of libc that this library stands in front of. Each
 * is thin: it tells the profiler what is about to happen or has happened, and
 * calls the real one. They work before the constructor and in processes that
 * only share our memory (vfork), where they do nothing but call on.
 *
 * The hard thing is what must not change: arguments, results, errno, and that a
 * process which is not profiled behaves as if the hooks were not there.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sys.h"
#include "capture/suspend.h"
#include "target/modules.h"
#include "target/threads.h"
#include "fatal.h"
#include "guardian.h"
#include "lifecycle.h"
#include "mask.h"
#include "real.h"
#include "thread_life.h"

#define HOOK __attribute__((visibility("default")))

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
    real_pthread_exit(result);
}

/* Modules: rules learned before are not trusted until the map is read again.
 * dlopen has no hook: it looks up the RUNPATH of the library that calls it, and
 * behind a hook that would be ours. Code that is new is noticed when a pc lies
 * in it. */

HOOK int
dlclose(void *handle)
{
    modules_closing(1);
    int result = real_dlclose(handle);
    modules_touch();
    modules_closing(-1);
    return result;
}

/* Our signals: the program sees and sets its own disposition, which gets every
 * signal that is not ours. */

HOOK int
sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    if (lifecycle_is_on() && suspend_program_action(signo, action, old))
        return 0;
    if (fatal_action(signo, action, old))
        return 0;
    return real_sigaction(signo, action, old);
}

HOOK __sighandler_t
signal(int signo, __sighandler_t handler)
{
    struct sigaction action, old;
    memset(&action, 0, sizeof(action));
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, signo);
    if (lifecycle_is_on() && suspend_program_action(signo, &action, &old))
        return old.sa_handler;
    if (handler != SIG_ERR && fatal_action(signo, &action, &old))
        return old.sa_handler;
    return real_signal(signo, handler);
}

HOOK int
pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    return mask_change(how, set, old);
}

HOOK int
sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
    int error = mask_change(how, set, old);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* Ends of the process that run no destructor. */

HOOK void
_exit(int status)
{
    lifecycle_end(END_QUICK);
    real_exit_now(status);
}

HOOK void
_Exit(int status)
{
    lifecycle_end(END_QUICK);
    real_exit_now(status);
}

HOOK void
quick_exit(int status)
{
    lifecycle_end(END_QUICK);
    real_quick_exit(status);
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
    return exec(path, arguments, environment, real_execve);
}

HOOK int
execv(const char *path, char *const arguments[])
{
    return exec(path, arguments, environ, real_execve);
}

HOOK int
execvp(const char *file, char *const arguments[])
{
    return exec(file, arguments, environ, real_execvpe);
}

HOOK int
execvpe(const char *file, char *const arguments[], char *const environment[])
{
    return exec(file, arguments, environment, real_execvpe);
}

HOOK int
fexecve(int fd, char *const arguments[], char *const environment[])
{
    lifecycle_end(END_EXEC);
    mask_before_exec();
    int result = real_fexecve(fd, arguments, environment);
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
