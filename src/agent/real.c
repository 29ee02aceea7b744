/* SPDX-License-Identifier: MIT */
/*
 * real.c -- finds what the hooks stand in front of, by dlsym(RTLD_NEXT). The
 * first call may come before our constructor, from another library's; dlsym
 * may allocate, so nothing here is for a handler.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <time.h>

#include "real.h"

enum name {
    PTHREAD_CREATE,
    PTHREAD_EXIT,
    DLCLOSE,
    SIGACTION,
    SIGNAL,
    SIGMASK,
    EXECVE,
    EXECVPE,
    FEXECVE,
    EXIT_NOW,
    QUICK_EXIT,
    NAME_COUNT
};

static const char *const names[NAME_COUNT] = {
    "pthread_create", "pthread_exit",

    "dlclose",        "sigaction",    "signal", "pthread_sigmask", "execve",
    "execvpe",        "fexecve",      "_exit",  "quick_exit"};

static _Atomic(void *) functions[NAME_COUNT];

/* A pointer to a function is what dlsym's result is meant to become (POSIX,
 * dlsym: application usage). */
static void *
find(enum name name)
{
    void *function =
        atomic_load_explicit(&functions[name], memory_order_acquire);
    if (function == NULL) {
        function = dlsym(RTLD_NEXT, names[name]);
        atomic_store_explicit(&functions[name], function, memory_order_release);
    }
    return function;
}

/* In libc itself, whatever stands before it in the search order. */
static void *libc;

static void *
find_in_libc(const char *name, void *fallback)
{
    void *function = libc != NULL ? dlsym(libc, name) : NULL;
    return function != NULL ? function : fallback;
}

void
real_begin(void)
{
    libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    for (unsigned i = 0; i < NAME_COUNT; i++)
        find(i);
}

int
real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                    void *(*start)(void *), void *argument)
{
    __typeof__(&pthread_create) real = find(PTHREAD_CREATE);
    return real(thread, attributes, start, argument);
}

void
real_pthread_exit(void *result)
{
    void (*real)(void *) = find(PTHREAD_EXIT);
    real(result);
    __builtin_unreachable();
}

int
real_dlclose(void *handle)
{
    __typeof__(&dlclose) real = find(DLCLOSE);
    return real(handle);
}

int
real_sigaction(int signo, const struct sigaction *action, struct sigaction *old)
{
    int (*real)(int, const struct sigaction *, struct sigaction *) =
        find(SIGACTION);
    return real(signo, action, old);
}

real_sigaction_function
real_libc_sigaction(void)
{
    return (real_sigaction_function)find_in_libc("sigaction",
                                                 (void *)real_sigaction);
}

clock_function
real_libc_clock(void)
{
    return (clock_function)find_in_libc("clock_gettime", (void *)clock_gettime);
}

__sighandler_t
real_signal(int signo, __sighandler_t handler)
{
    __typeof__(&signal) real = find(SIGNAL);
    return real(signo, handler);
}

int
real_pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
    __typeof__(&pthread_sigmask) real = find(SIGMASK);
    return real(how, set, old);
}

int
real_execve(const char *path, char *const arguments[],
            char *const environment[])
{
    int (*real)(const char *, char *const[], char *const[]) = find(EXECVE);
    return real(path, arguments, environment);
}

int
real_execvpe(const char *file, char *const arguments[],
             char *const environment[])
{
    int (*real)(const char *, char *const[], char *const[]) = find(EXECVPE);
    return real(file, arguments, environment);
}

int
real_fexecve(int fd, char *const arguments[], char *const environment[])
{
    int (*real)(int, char *const[], char *const[]) = find(FEXECVE);
    return real(fd, arguments, environment);
}

void
real_exit_now(int status)
{
    void (*real)(int) = find(EXIT_NOW);
    real(status);
    __builtin_unreachable();
}

void
real_quick_exit(int status)
{
    void (*real)(int) = find(QUICK_EXIT);
    real(status);
    __builtin_unreachable();
}
