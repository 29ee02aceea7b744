/* SPDX-License-Identifier: MIT */
/*
 * hook.h -- defines hooks: functions of this library that are exported and so
 * replace libc's (tests/lint/exports.txt lists the names).
 */
#ifndef HOOKS_HOOK_H
#define HOOKS_HOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sys.h"

#define HOOK __attribute__((visibility("default")))

/* The hook NAME runs the statement TELLS, and then calls the real function. */
#define HOOK_AFTER(tells, result, name, parameters, arguments) \
    HOOK result name parameters                                \
    {                                                          \
        tells;                                                 \
        return REAL(name) arguments;                           \
    }

/* The hook old_NAME serves programs that were linked when libc's NAME was
 * another function: NAME@VERSION (libsprof.map, REAL_OLD). */
#define HOOK_OLD(name, version) \
    __asm__(".symver old_" #name "," #name "@" version)

/* The system call rt_sigaction(2), for a signal whose disposition we keep.
 * *RESULT is that of syscall(2), with errno. Returns false for any other
 * signal, without effect. */
bool hook_signal_by_number(int signo, const struct sys_action *action,
                           struct sys_action *old, long *result);

/* As hook_signal_by_number, for a wait for signals or under a mask. Returns
 * false for any other call, and for one that the kernel will refuse. */
bool hook_wait_by_number(long number, long a, long b, long c, long d, long e,
                         long f, long *result);

/* The calling thread has changed its mask, by any function or call. */
void hook_after_mask(void);

/* syscall(2) is about to send a signal; NUMBER is kill(2) or a similar call. If
 * the signal goes to this process, do first what the hooks of raise and kill
 * do. */
void hook_send_by_number(long number, long a, long b, long c);

/* The program is about to call unshare(2) or setns(2), by any function or call.
 * Returns whether the sampler has stepped aside for it. If so, the caller calls
 * lifecycle_come_back after it. */
bool hook_before_unshare(int flags);
bool hook_before_setns(int fd, int type);

/* SIZE bytes of MEMORY are about to get ACCESS, as by mprotect(2). */
void hook_before_protect(const void *memory, size_t size, long access);

/* PATH is about to be looked at, as by stat(2). */
void hook_before_look(const char *path);

#endif
