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
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "base/sys.h"
#include "capture/suspend.h"
#include "target/modules.h"
#include "target/threads.h"
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

HOOK int
thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    int result = thread_life_create_c11(thread, start, argument);
    threads_touch();
    return result;
}

/* Keys are few (PTHREAD_KEYS_MAX), and all of them the program's. */

HOOK int
pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    int error = real_pthread_key_create(key, destructor);
    if (error == EAGAIN && thread_life_give_key())
        error = real_pthread_key_create(key, destructor);
    return error;
}

HOOK int
tss_create(tss_t *key, tss_dtor_t destructor)
{
    int result = real_tss_create(key, destructor);
    if (result == thrd_error && thread_life_give_key())
        result = real_tss_create(key, destructor);
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
