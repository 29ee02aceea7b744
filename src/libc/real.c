/* SPDX-License-Identifier: MIT */
/*
 * real.c -- see real.h. dlsym(RTLD_NEXT) finds the functions. The constructor
 * of another library may call a hook before this library's constructor has run.
 * dlsym may allocate, so a signal handler must not make the first call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/arch.h"
#include "real.h"

/* Defined by libc; its headers do not declare it. */
int __clone(int (*)(void *), void *, int, void *, ...);

/* The section of all uses: ld(1) defines where it begins and ends. */
extern struct real __start_real_functions[]
    __attribute__((visibility("hidden")));
extern struct real __stop_real_functions[]
    __attribute__((visibility("hidden")));

/* POSIX allows the caller to convert dlsym's result to a pointer to a function
 * (dlsym: application usage). */
void *
real_find(struct real *real)
{
    void *function =
        atomic_load_explicit(&real->function, memory_order_acquire);
    if (function == NULL && !atomic_load(&real->is_missing)) {
        function = real->version != NULL
                       ? dlvsym(RTLD_NEXT, real->name, real->version)
                       : dlsym(RTLD_NEXT, real->name);
        atomic_store_explicit(&real->function, function, memory_order_release);
        atomic_store(&real->is_missing, function == NULL);
    }
    return function;
}

struct real_libc real_libc;

static void *
find_in_libc(void *libc, const char *name, void *fallback)
{
    void *function = libc != NULL ? dlsym(libc, name) : NULL;
    return function != NULL ? function : fallback;
}

void
real_begin(void)
{
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    for (struct real *real = __start_real_functions;
         real < __stop_real_functions; real++)
        real_find(real);
    real_libc.sigaction =
        find_in_libc(libc, "sigaction", (void *)REAL(sigaction));
    real_libc.clone = find_in_libc(libc, "clone", (void *)__clone);
    real_libc.clock =
        find_in_libc(libc, "clock_gettime", (void *)clock_gettime);
    real_libc.pthread_create = REAL(pthread_create);
    if (dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != NULL)
        real_libc.pthread_create =
            find_in_libc(libc, "pthread_create", (void *)REAL(pthread_create));
}

long
real_direct(long number, long a, long b, long c, long d, long e, long f)
{
    long result = arch_syscall(number, a, b, c, d, e, f);
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

/* Before real_begin the functions below do not call dlsym. Another module may
 * have its own dlsym or malloc, which may call these very functions. */
long
real_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long (*real)(long, long, long, long, long, long, long) =
        REAL_FOUND_AS(long (*)(long, long, long, long, long, long, long),
                      syscall);
    if (real == NULL)
        real = real_direct;
    return real(number, a, b, c, d, e, f);
}

int
real_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
           unsigned long d)
{
    int (*real)(int, unsigned long, unsigned long, unsigned long,
                unsigned long) =
        REAL_FOUND_AS(int (*)(int, unsigned long, unsigned long, unsigned long,
                              unsigned long),
                      prctl);
    if (real == NULL)
        return (int)real_direct(SYS_prctl, option, (long)a, (long)b, (long)c,
                                (long)d, 0);
    return real(option, a, b, c, d);
}

int
real_mprotect(void *memory, size_t size, int access)
{
    int (*real)(void *, size_t, int) =
        REAL_FOUND_AS(int (*)(void *, size_t, int), mprotect);
    if (real == NULL)
        return (int)real_direct(SYS_mprotect, (long)memory, (long)size, access,
                                0, 0, 0);
    return real(memory, size, access);
}

void *
real_mmap(void *place, size_t size, int access, int flags, int fd, off_t offset)
{
    void *(*real)(void *, size_t, int, int, int, off_t) =
        REAL_FOUND_AS(void *(*)(void *, size_t, int, int, int, off_t), mmap);
    if (real == NULL)
        return (void *)real_direct(SYS_mmap, (long)place, (long)size, access,
                                   flags, fd, offset);
    return real(place, size, access, flags, fd, offset);
}
