/* SPDX-License-Identifier: MIT */
/*
 * old_versions.c -- a program as it was linked when libc had other versions of
 * posix_spawn (it gave a file that is no program to a shell), pthread_kill (it
 * reported a thread that has ended) and quick_exit (it ran a thread's
 * destructors); and the versions of today beside them.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define OLD(name, version) __asm__(".symver old_" #name "," #name "@" version)

extern char **environ;

typedef int spawn_function(pid_t *, const char *,
                           const posix_spawn_file_actions_t *,
                           const posix_spawnattr_t *, char *const[],
                           char *const[]);
spawn_function old_posix_spawn, old_posix_spawnp;
int old_pthread_kill(pthread_t, int);
_Noreturn void old_quick_exit(int);
OLD(posix_spawn, "GLIBC_2.2.5");
OLD(posix_spawnp, "GLIBC_2.2.5");
OLD(pthread_kill, "GLIBC_2.2.5");
OLD(quick_exit, "GLIBC_2.10");

/* What a C++ compiler calls for a thread_local with a destructor. */
int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);

static void
run_script(const char *what, spawn_function *spawn)
{
    char *const arguments[] = {"script", NULL};
    pid_t child;
    int status,
        error = spawn(&child, "./script", NULL, NULL, arguments, environ);

    if (error == 0 && waitpid(child, &status, 0) == child)
        printf("%s: status %d\n", what, WEXITSTATUS(status));
    else
        printf("%s: %s\n", what, strerror(error));
}

static _Atomic pid_t ending;

static void *
end_at_once(void *unused)
{
    ending = (pid_t)syscall(SYS_gettid);
    return unused;
}

static void
destroy(void *unused)
{
    (void)unused;
    puts("destructor");
    fflush(stdout);
}

static void
run_scripts(void)
{
    int fd = open("script", O_CREAT | O_TRUNC | O_WRONLY, 0700);

    if (fd < 0 || write(fd, "exit 5\n", 7) != 7 || close(fd) != 0)
        work_fail("script");
    run_script("old posix_spawn", old_posix_spawn);
    run_script("old posix_spawnp", old_posix_spawnp);
    run_script("posix_spawn", posix_spawn);
    run_script("posix_spawnp", posix_spawnp);
    unlink("script");
}

static void
kill_ended(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, end_at_once, NULL) != 0)
        work_fail("pthread_create");
    while (ending == 0 || syscall(SYS_tgkill, getpid(), ending, 0) == 0)
        work_sleep(1);
    printf("old pthread_kill: %s\n", strerror(old_pthread_kill(thread, 0)));
    printf("pthread_kill: %s\n", strerror(pthread_kill(thread, 0)));
    pthread_join(thread, NULL);
}

int
main(void)
{
    setvbuf(stdout, NULL, _IONBF, 0);
    work_burn(50);
    run_scripts();
    kill_ended();
    pid_t child = fork();
    if (__cxa_thread_atexit_impl(destroy, NULL, &environ) != 0)
        work_fail("__cxa_thread_atexit_impl");
    if (child == 0)
        quick_exit(6);
    waitpid(child, NULL, 0);
    old_quick_exit(7);
}
