/* SPDX-License-Identifier: MIT */
/*
 * real.c -- finds what the hooks stand in front of, by dlsym(RTLD_NEXT). The
 * first call may come before our constructor, from another library's; dlsym
 * may allocate, so nothing here is for a handler.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>

#include "real.h"

enum name {
    PTHREAD_CREATE,
    PTHREAD_EXIT,
    PTHREAD_KEY_CREATE,
    THRD_CREATE,
    TSS_CREATE,
    DLCLOSE,
    SIGACTION,
    SIGNAL,
    SIGMASK,
    EXECVE,
    EXECVPE,
    FEXECVE,
    EXECVEAT,
    SPAWN,
    SPAWNP,
    POPEN,
    SYSTEM,
    SYSCALL,
    EXIT_NOW,
    QUICK_EXIT,
    NAME_COUNT
};

static const char *const names[NAME_COUNT] = {
    [PTHREAD_CREATE] = "pthread_create",
    [PTHREAD_EXIT] = "pthread_exit",
    [PTHREAD_KEY_CREATE] = "pthread_key_create",
    [THRD_CREATE] = "thrd_create",
    [TSS_CREATE] = "tss_create",
    [DLCLOSE] = "dlclose",
    [SIGACTION] = "sigaction",
    [SIGNAL] = "signal",
    [SIGMASK] = "pthread_sigmask",
    [EXECVE] = "execve",
    [EXECVPE] = "execvpe",
    [FEXECVE] = "fexecve",
    [EXECVEAT] = "execveat",
    [SPAWN] = "posix_spawn",
    [SPAWNP] = "posix_spawnp",
    [POPEN] = "popen",
    [SYSTEM] = "system",
    [SYSCALL] = "syscall",
    [EXIT_NOW] = "_exit",
    [QUICK_EXIT] = "quick_exit",
};

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

void
real_begin(void)
{
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
real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
    __typeof__(&pthread_key_create) real = find(PTHREAD_KEY_CREATE);
    return real(key, destructor);
}

int
real_thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    __typeof__(&thrd_create) real = find(THRD_CREATE);
    return real(thread, start, argument);
}

int
real_tss_create(tss_t *key, tss_dtor_t destructor)
{
    __typeof__(&tss_create) real = find(TSS_CREATE);
    return real(key, destructor);
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

int
real_execveat(int directory, const char *path, char *const arguments[],
              char *const environment[], int flags)
{
    __typeof__(&real_execveat) real = find(EXECVEAT);
    return real(directory, path, arguments, environment, flags);
}

int
real_posix_spawn(pid_t *pid, const char *path,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[])
{
    __typeof__(&real_posix_spawn) real = find(SPAWN);
    return real(pid, path, actions, attributes, arguments, environment);
}

int
real_posix_spawnp(pid_t *pid, const char *file,
                  const posix_spawn_file_actions_t *actions,
                  const posix_spawnattr_t *attributes, char *const arguments[],
                  char *const environment[])
{
    __typeof__(&real_posix_spawnp) real = find(SPAWNP);
    return real(pid, file, actions, attributes, arguments, environment);
}

FILE *
real_popen(const char *command, const char *type)
{
    __typeof__(&real_popen) real = find(POPEN);
    return real(command, type);
}

int
real_system(const char *command)
{
    __typeof__(&real_system) real = find(SYSTEM);
    return real(command);
}

real_syscall_function *
real_syscall(void)
{
    return atomic_load_explicit(&functions[SYSCALL], memory_order_acquire);
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
