/* SPDX-License-Identifier: MIT */
/*
 * window_guard.h -- the functions that window_guard.c stands in front of, and
 * what their stubs ask it. Each machine's folder has stubs.
 */
#ifndef WORKLOAD_WINDOW_GUARD_H
#define WORKLOAD_WINDOW_GUARD_H

#include <errno.h>
#include <stdint.h>

/* CALL(name, kind, what it returns when it is forbidden). */
#define CALLS(CALL)                             \
    CALL(malloc, MEMORY, 0)                     \
    CALL(calloc, MEMORY, 0)                     \
    CALL(realloc, MEMORY, 0)                    \
    CALL(reallocarray, MEMORY, 0)               \
    CALL(free, MEMORY, 0)                       \
    CALL(posix_memalign, MEMORY, ENOMEM)        \
    CALL(aligned_alloc, MEMORY, 0)              \
    CALL(memalign, MEMORY, 0)                   \
    CALL(pthread_mutex_lock, LOCK, EBUSY)       \
    CALL(pthread_mutex_trylock, LOCK, EBUSY)    \
    CALL(pthread_mutex_timedlock, LOCK, EBUSY)  \
    CALL(pthread_mutex_unlock, LOCK, EBUSY)     \
    CALL(pthread_rwlock_rdlock, LOCK, EBUSY)    \
    CALL(pthread_rwlock_wrlock, LOCK, EBUSY)    \
    CALL(pthread_rwlock_tryrdlock, LOCK, EBUSY) \
    CALL(pthread_rwlock_trywrlock, LOCK, EBUSY) \
    CALL(pthread_rwlock_unlock, LOCK, EBUSY)    \
    CALL(pthread_cond_wait, LOCK, EBUSY)        \
    CALL(pthread_cond_timedwait, LOCK, EBUSY)   \
    CALL(pthread_cond_signal, LOCK, EBUSY)      \
    CALL(pthread_cond_broadcast, LOCK, EBUSY)   \
    CALL(pthread_spin_lock, LOCK, EBUSY)        \
    CALL(sem_wait, LOCK, -1)                    \
    CALL(sem_trywait, LOCK, -1)                 \
    CALL(sem_timedwait, LOCK, -1)               \
    CALL(sem_post, LOCK, -1)                    \
    CALL(dl_iterate_phdr, OTHER, 0)             \
    CALL(dlopen, OTHER, 0)                      \
    CALL(dlclose, OTHER, -1)                    \
    CALL(dlsym, OTHER, 0)                       \
    CALL(dladdr, OTHER, 0)                      \
    CALL(fopen, OTHER, 0)                       \
    CALL(fdopen, OTHER, 0)                      \
    CALL(fclose, OTHER, -1)                     \
    CALL(fflush, OTHER, -1)                     \
    CALL(fread, OTHER, 0)                       \
    CALL(fwrite, OTHER, 0)                      \
    CALL(fputs, OTHER, -1)                      \
    CALL(fputc, OTHER, -1)                      \
    CALL(puts, OTHER, -1)                       \
    CALL(putchar, OTHER, -1)                    \
    CALL(printf, OTHER, -1)                     \
    CALL(fprintf, OTHER, -1)                    \
    CALL(dprintf, OTHER, -1)                    \
    CALL(vfprintf, OTHER, -1)                   \
    CALL(snprintf, OTHER, -1)                   \
    CALL(vsnprintf, OTHER, -1)                  \
    CALL(__printf_chk, OTHER, -1)               \
    CALL(__fprintf_chk, OTHER, -1)              \
    CALL(__snprintf_chk, OTHER, -1)             \
    CALL(perror, OTHER, 0)                      \
    CALL(exit, END, 0)                          \
    CALL(abort, END, 0)

/* What guard_enter decides, in the two registers of a result. */
struct verdict {
    void *target; /* the real function; NULL: do not call it */
    long result;
};

/* Decide about the function number CALL of CALLS, from 0 on. Its first argument
 * is FIRST, and it was called from CALLER. */
__attribute__((visibility("hidden"))) struct verdict
guard_enter(long call, uintptr_t first, uintptr_t caller);

#endif
