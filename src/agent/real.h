/* SPDX-License-Identifier: MIT */
/*
 * real.h -- the functions that the hooks stand in front of. Each is found once,
 * at the start or at its first call, behind this library in the search order.
 */
#ifndef AGENT_REAL_H
#define AGENT_REAL_H

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/types.h>
#include <threads.h>

/* Find all of them. Any thread; before threads are created. */
void real_begin(void);

int real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                        void *(*start)(void *), void *argument);
void real_pthread_exit(void *result) __attribute__((noreturn));
int real_pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
int real_thrd_create(thrd_t *thread, thrd_start_t start, void *argument);
int real_tss_create(tss_t *key, tss_dtor_t destructor);
int real_dlclose(void *handle);
int real_sigaction(int signo, const struct sigaction *action,
                   struct sigaction *old);
__sighandler_t real_signal(int signo, __sighandler_t handler);
int real_pthread_sigmask(int how, const sigset_t *set, sigset_t *old);
int real_execve(const char *path, char *const arguments[],
                char *const environment[]);
int real_execvpe(const char *file, char *const arguments[],
                 char *const environment[]);
int real_fexecve(int fd, char *const arguments[], char *const environment[]);
int real_execveat(int directory, const char *path, char *const arguments[],
                  char *const environment[], int flags);
int real_posix_spawn(pid_t *pid, const char *path,
                     const posix_spawn_file_actions_t *actions,
                     const posix_spawnattr_t *attributes,
                     char *const arguments[], char *const environment[]);
int real_posix_spawnp(pid_t *pid, const char *file,
                      const posix_spawn_file_actions_t *actions,
                      const posix_spawnattr_t *attributes,
                      char *const arguments[], char *const environment[]);
FILE *real_popen(const char *command, const char *type);
int real_system(const char *command);

/* syscall(2) itself, to be jumped to; NULL before real_begin: an allocator that
 * is just being set up may call it, and dlsym may call that allocator. */
typedef long real_syscall_function(long, long, long, long, long, long, long);
real_syscall_function *real_syscall(void);

void real_exit_now(int status) __attribute__((noreturn));
void real_quick_exit(int status) __attribute__((noreturn));

#endif
