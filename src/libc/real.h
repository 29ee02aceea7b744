/* SPDX-License-Identifier: MIT */
/*
 * real.h -- the functions that the hooks replace: REAL(fork)() calls libc's
 * fork. A function is looked for at the start or at its first call. The search
 * begins after this library in the search order. The caller includes the
 * header that declares the function.
 */
#ifndef LIBC_REAL_H
#define LIBC_REAL_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/clock.h"

/* A function of libc, and whether libc lacks it. VERSION is NULL, except for an
 * old version. Each use of a name below adds one to a section, which makes the
 * list of all. Its alignment leaves no gap between two of them. It counts as
 * used, because the list changes it unseen by the compiler. */
struct real {
    const char *name, *version;
    _Atomic(void *) function; /* NULL: not found, or not looked for yet */
    _Atomic bool is_missing;
} __attribute__((aligned(32)));

#define REAL_ENTRY(which, old)                                               \
    __extension__({                                                          \
        static struct real real_entry                                        \
            __attribute__((used,                                             \
                           section("real_functions"))) = {.name = (which),   \
                                                          .version = (old)}; \
        &real_entry;                                                         \
    })

/* Find all functions that are used anywhere. Any thread may call it; before
 * threads are created. */
void real_begin(void);

/* Return the function REAL, or NULL if this C library has no such function. Any
 * thread may call it, in a handler only after real_begin. */
void *real_find(struct real *real);

#define REAL_AS(type, name) ((type)real_find(REAL_ENTRY(#name, NULL)))
#define REAL(name) REAL_AS(__typeof__(&name), name)

/* An old version of a function. libc keeps it for programs that were linked
 * before libc changed the function. The old posix_spawn lets a shell run a file
 * that is no program. The old pthread_kill returns an error for a thread that
 * has ended. The old quick_exit runs the C++ destructors of the thread. */
#define REAL_OLD(name, version) \
    ((__typeof__(&name))real_find(REAL_ENTRY(#name, version)))

/* The function NAME if it was found already; else NULL, and it is not looked
 * for. */
#define REAL_FOUND_AS(type, name)                                   \
    ((type)atomic_load_explicit(&REAL_ENTRY(#name, NULL)->function, \
                                memory_order_acquire))

/* syscall(2), prctl(2), mprotect(2) and mmap(2). Headers declare the first two
 * with a variable number of arguments. An allocator may call the others. Before
 * real_begin these functions make the system call directly. Context: any. */
long real_syscall(long number, long a, long b, long c, long d, long e, long f);
int real_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
               unsigned long d);
int real_mprotect(void *memory, size_t size, int access);
void *real_mmap(void *place, size_t size, int access, int flags, int fd,
                off_t offset);

/* System call NUMBER, made directly, with the result of syscall(2). Context:
 * any. */
long real_direct(long number, long a, long b, long c, long d, long e, long f);

/* libc's own functions, which a sanitizer's library cannot replace. They also
 * work in a signal handler. real_begin finds them. A sanitizer's sigaction
 * delays handlers until the interrupted registers have changed. Its
 * clock_gettime takes locks, and its clone does more than the system call.
 *
 * PTHREAD_CREATE is libc's own only where leaks are looked for. In a forked
 * child LeakSanitizer would report that the parent's thread, which it knows, is
 * missing. ThreadSanitizer must know each thread. */
struct real_libc {
    int (*sigaction)(int, const struct sigaction *, struct sigaction *);
    int (*clone)(int (*)(void *), void *, int, void *, ...);
    clock_function clock;
    int (*pthread_create)(pthread_t *, const pthread_attr_t *,
                          void *(*)(void *), void *);
};
extern struct real_libc real_libc;

#endif
