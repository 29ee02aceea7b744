/* SPDX-License-Identifier: MIT */
/*
 * forward.c -- functions of libc that are more than a system call, for this
 * library alone, as in system_calls.c. They call libc's own, which comes after
 * this library in the search order (real.h) or has a name that is libc's alone
 * (C11, 7.1.3). Those as short as such a call are written out. The linker binds
 * the calls in this library to these functions. In handlers only after
 * real_begin, except those of memory and text.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/arch.h"
#include "real.h"

/* Defined by libc; its headers do not declare them. */
long __sysconf(int name);
unsigned long __getauxval(unsigned long type);
char *__realpath_chk(const char *path, char *to, size_t size);

#define DEFINE(result, name, parameters, value) \
    result name parameters                      \
    {                                           \
        return value;                           \
    }

DEFINE(long, sysconf, (int name), __sysconf(name))
DEFINE(int, getpagesize, (void), (int)__sysconf(_SC_PAGESIZE))
DEFINE(unsigned long, getauxval, (unsigned long type), __getauxval(type))
/* TO has PATH_MAX bytes, as the check demands. */
DEFINE(char *, realpath, (const char *restrict path, char *restrict to),
       __realpath_chk(path, to, PATH_MAX))

/* libc's own function, after this library in the search order. */
#define FORWARD(result, name, parameters, arguments) \
    DEFINE(result, name, parameters, REAL(name) arguments)

/* From the thread's rseq area, without a system call. */
FORWARD(int, sched_getcpu, (void), ())
FORWARD(int, dladdr, (const void *address, Dl_info *info), (address, info))
FORWARD(int, dl_iterate_phdr,
        (int (*look)(struct dl_phdr_info *, size_t, void *), void *data),
        (look, data))
FORWARD(int, fnmatch, (const char *pattern, const char *text, int flags),
        (pattern, text, flags))
FORWARD(const char *, sigabbrev_np, (int signo), (signo))

/* Threads. libunwind has mutexes, and checks for each of these functions
 * whether it exists. */

FORWARD(int, pthread_attr_init, (pthread_attr_t * attributes), (attributes))
FORWARD(int, pthread_attr_destroy, (pthread_attr_t * attributes), (attributes))
FORWARD(int, pthread_attr_setdetachstate,
        (pthread_attr_t * attributes, int state), (attributes, state))
FORWARD(int, pthread_attr_setstack,
        (pthread_attr_t * attributes, void *start, size_t size),
        (attributes, start, size))
FORWARD(int, pthread_attr_setstacksize,
        (pthread_attr_t * attributes, size_t size), (attributes, size))
FORWARD(int, pthread_attr_getsigmask_np,
        (const pthread_attr_t *attributes, sigset_t *mask), (attributes, mask))
FORWARD(int, pthread_attr_getstack,
        (const pthread_attr_t *attributes, void **start, size_t *size),
        (attributes, start, size))
FORWARD(int, pthread_attr_getstacksize,
        (const pthread_attr_t *attributes, size_t *size), (attributes, size))
FORWARD(int, pthread_detach, (pthread_t thread), (thread))
FORWARD(int, pthread_key_delete, (pthread_key_t key), (key))
FORWARD(pthread_t, pthread_self, (void), ())
FORWARD(int, pthread_setspecific, (pthread_key_t key, const void *value),
        (key, value))
FORWARD(int, pthread_mutex_init,
        (pthread_mutex_t * mutex, const pthread_mutexattr_t *kind),
        (mutex, kind))
FORWARD(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))
FORWARD(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))

/* Memory. Other modules define functions with these names, too, and the loader
 * would find a sanitizer's functions first. Those check every byte. A target
 * thread or the sampler copies a whole stack, with the gaps between its
 * variables. A sanitizer takes such a copy for an error, and ends the program.
 * It may also take locks that the interrupted thread holds. */

void *
memcpy(void *restrict to, const void *restrict from, size_t length)
{
    arch_copy(to, from, length);
    return to;
}

/* A copy from the first byte up could overwrite bytes that are not copied yet.
 * The copy then goes from the last byte down. */
void *
memmove(void *to, const void *from, size_t length)
{
    if ((uintptr_t)to - (uintptr_t)from >= length)
        return memcpy(to, from, length);
    arch_copy_down((char *)to + length - 1, (const char *)from + length - 1,
                   length);
    return to;
}

void *
memset(void *to, int byte, size_t length)
{
    arch_fill(to, byte, length);
    return to;
}

int
memcmp(const void *left, const void *right, size_t length)
{
    const unsigned char *a = left, *b = right;
    for (size_t i = 0; i < length; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}

/* Text. */

size_t
strnlen(const char *text, size_t most)
{
    const char *end = memchr(text, '\0', most);
    return end != NULL ? (size_t)(end - text) : most;
}

char *
stpcpy(char *restrict to, const char *restrict from)
{
    size_t length = strlen(from);
    return (char *)memcpy(to, from, length + 1) + length;
}

/* Sets of signals. Two numbers are libc's own; it hides them (nptl(7)). */

static int
check(const sigset_t *set, int signo, int libc_first)
{
    if (set != NULL && signo > 0 && signo < NSIG &&
        (signo < libc_first || signo > 33))
        return 0;
    errno = EINVAL;
    return -1;
}

static uint64_t
bit_of(int signo)
{
    return UINT64_C(1) << (signo - 1);
}

int
sigemptyset(sigset_t *set)
{
    memset(set, 0, sizeof(*set));
    return 0;
}

int
sigfillset(sigset_t *set)
{
    memset(set, 0xff, sizeof(*set));
    set->__val[0] &= ~(bit_of(32) | bit_of(33));
    return 0;
}

int
sigaddset(sigset_t *set, int signo)
{
    if (check(set, signo, 32) != 0)
        return -1;
    set->__val[0] |= bit_of(signo);
    return 0;
}

int
sigdelset(sigset_t *set, int signo)
{
    if (check(set, signo, 32) != 0)
        return -1;
    set->__val[0] &= ~bit_of(signo);
    return 0;
}

int
sigismember(const sigset_t *set, int signo)
{
    if (check(set, signo, 34) != 0)
        return -1;
    return (set->__val[0] & bit_of(signo)) != 0;
}
