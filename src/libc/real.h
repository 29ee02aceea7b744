/* SPDX-License-Identifier: MIT */
/*
 * real.h -- the functions that the hooks replace: REAL(fork)() calls libc's
 * fork. A function is looked for at the start or at its first call. The search
 * begins behind this library in the search order. The caller includes the
 * header that declares the function.
 */
#ifndef LIBC_REAL_H
#define LIBC_REAL_H

#include <signal.h>
#include <stddef.h>

#include "base/clock.h"

#define REAL_NAMES(X)              \
    X(pthread_create)              \
    X(pthread_exit)                \
    X(pthread_key_create)          \
    X(thrd_create)                 \
    X(tss_create)                  \
    X(dlclose)                     \
    X(fork)                        \
    X(forkpty)                     \
    X(sigaction)                   \
    X(signal)                      \
    X(sysv_signal)                 \
    X(sigset)                      \
    X(sigignore)                   \
    X(siginterrupt)                \
    X(pthread_sigmask)             \
    X(sigtimedwait)                \
    X(raise)                       \
    X(kill)                        \
    X(killpg)                      \
    X(sigqueue)                    \
    X(pthread_kill)                \
    X(pthread_sigqueue)            \
    X(tgkill)                      \
    X(sigsuspend)                  \
    X(signalfd)                    \
    X(ppoll)                       \
    X(__ppoll_chk)                 \
    X(pselect)                     \
    X(epoll_pwait)                 \
    X(epoll_pwait2)                \
    X(posix_spawn)                 \
    X(posix_spawnp)                \
    X(system)                      \
    X(popen)                       \
    X(wordexp)                     \
    X(setuid)                      \
    X(setgid)                      \
    X(seteuid)                     \
    X(setegid)                     \
    X(setreuid)                    \
    X(setregid)                    \
    X(setresuid)                   \
    X(setresgid)                   \
    X(setgroups)                   \
    X(initgroups)                  \
    X(chroot)                      \
    X(execve)                      \
    X(execvpe)                     \
    X(fexecve)                     \
    X(execveat)                    \
    X(_exit)                       \
    X(quick_exit)                  \
    X(syscall)                     \
    X(prctl)                       \
    X(ptrace)                      \
    X(mprotect)                    \
    X(sigaltstack)                 \
    X(stat)                        \
    X(stat64)                      \
    X(fstatat)                     \
    X(fstatat64)                   \
    X(__xstat)                     \
    X(__xstat64)                   \
    X(__fxstatat)                  \
    X(__fxstatat64)                \
    X(statx)                       \
    X(unshare)                     \
    X(setns)                       \
    X(sched_getcpu)                \
    X(dladdr)                      \
    X(dl_iterate_phdr)             \
    X(fnmatch)                     \
    X(sigabbrev_np)                \
    X(pthread_attr_init)           \
    X(pthread_attr_destroy)        \
    X(pthread_attr_setdetachstate) \
    X(pthread_attr_setstacksize)   \
    X(pthread_attr_getsigmask_np)  \
    X(pthread_attr_getstack)       \
    X(pthread_detach)              \
    X(pthread_key_delete)          \
    X(pthread_setspecific)         \
    X(pthread_mutex_init)          \
    X(pthread_mutex_lock)          \
    X(pthread_mutex_unlock)

#define REAL_ENUMERATOR(name) REAL_##name,
enum real_name { REAL_NAMES(REAL_ENUMERATOR) REAL_COUNT };

/* Find all functions of this file. Any thread may call it; before threads are
 * created. */
void real_begin(void);

/* Return the function NAME, or NULL if this C library has no such function. Any
 * thread may call it, in a handler only after real_begin. */
void *real_find(enum real_name name);

/* syscall(2), prctl(2) and mprotect(2). Headers declare the first two with a
 * variable number of arguments. An allocator may call mprotect. Before
 * real_begin these functions make the system call directly. Context: any. */
long real_syscall(long number, long a, long b, long c, long d, long e, long f);
int real_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
               unsigned long d);
int real_mprotect(void *memory, size_t size, int access);

#define REAL(name) ((__typeof__(&name))real_find(REAL_##name))

/* Old versions of functions. libc keeps them for programs that were linked
 * before libc changed these functions. The old posix_spawn lets a shell run a
 * file that is no program. The old pthread_kill returns an error for a thread
 * that has ended. The old quick_exit runs the C++ destructors of the thread. */
#define REAL_OLD_NAMES(X)          \
    X(posix_spawn, "GLIBC_2.2.5")  \
    X(posix_spawnp, "GLIBC_2.2.5") \
    X(pthread_kill, "GLIBC_2.2.5") \
    X(quick_exit, "GLIBC_2.10")

#define REAL_OLD_ENUMERATOR(name, version) REAL_OLD_##name,
enum real_old_name { REAL_OLD_NAMES(REAL_OLD_ENUMERATOR) REAL_OLD_COUNT };

/* Find an old version, with the rules of real_find. */
void *real_find_old(enum real_old_name name);

#define REAL_OLD(name) ((__typeof__(&name))real_find_old(REAL_OLD_##name))

/* Return libc's own functions, which a sanitizer's library cannot replace. They
 * also work in a signal handler. real_begin finds them. */
typedef int (*real_sigaction_function)(int, const struct sigaction *,
                                       struct sigaction *);
real_sigaction_function real_libc_sigaction(void);
clock_function real_libc_clock(void);
typedef int (*real_clone_function)(int (*)(void *), void *, int, void *, ...);
real_clone_function real_libc_clone(void);

#endif
