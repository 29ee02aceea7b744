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

#define STRING(name) #name,
static const char *const names[REAL_COUNT] = {REAL_NAMES(STRING)};

static _Atomic(void *) functions[REAL_COUNT];

/* POSIX allows the caller to convert dlsym's result to a pointer to a function
 * (dlsym: application usage). */
void *
real_find(enum real_name name)
{
    void *function =
        atomic_load_explicit(&functions[name], memory_order_acquire);
    if (function == NULL) {
        function = dlsym(RTLD_NEXT, names[name]);
        atomic_store_explicit(&functions[name], function, memory_order_release);
    }
    return function;
}

#define OLD_NAME(name, version) {#name, version},
static const struct {
    const char *name, *version;
} old_names[REAL_OLD_COUNT] = {REAL_OLD_NAMES(OLD_NAME)};

static _Atomic(void *) old_functions[REAL_OLD_COUNT];

void *
real_find_old(enum real_old_name name)
{
    void *function =
        atomic_load_explicit(&old_functions[name], memory_order_acquire);
    if (function == NULL) {
        function =
            dlvsym(RTLD_NEXT, old_names[name].name, old_names[name].version);
        atomic_store_explicit(&old_functions[name], function,
                              memory_order_release);
    }
    return function;
}

/* These are libc's own functions, even if a sanitizer's library is before libc
 * in the search order. A sanitizer's sigaction delays handlers until the
 * interrupted registers have changed. A sanitizer's clock_gettime takes locks.
 * A sanitizer's clone does more than the system call. */
static real_sigaction_function libc_sigaction;
static real_clone_function libc_clone;
static clock_function libc_clock;

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
    for (enum real_name name = 0; name < REAL_COUNT; name++)
        real_find(name);
    for (enum real_old_name name = 0; name < REAL_OLD_COUNT; name++)
        real_find_old(name);
    libc_sigaction =
        (real_sigaction_function)find_in_libc(libc, "sigaction",
                                              (void *)REAL(sigaction));
    libc_clone =
        (real_clone_function)find_in_libc(libc, "clone", (void *)__clone);
    libc_clock = (clock_function)find_in_libc(libc, "clock_gettime",
                                              (void *)clock_gettime);
}

/* Make system call NUMBER. The functions below use it before real_begin, and do
 * not call dlsym. Another module may have its own dlsym or malloc, which may
 * call these very functions. */
static long
call_kernel(long number, long a, long b, long c, long d, long e, long f)
{
    long result = arch_syscall(number, a, b, c, d, e, f);
    if (result >= 0 || result < -4095)
        return result;
    errno = (int)-result;
    return -1;
}

long
real_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    long (*real)(long, long, long, long, long, long, long) =
        atomic_load_explicit(&functions[REAL_syscall], memory_order_acquire);
    if (real == NULL)
        real = call_kernel;
    return real(number, a, b, c, d, e, f);
}

int
real_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
           unsigned long d)
{
    int (*real)(int, unsigned long, unsigned long, unsigned long,
                unsigned long) =
        atomic_load_explicit(&functions[REAL_prctl], memory_order_acquire);
    if (real == NULL)
        return (int)call_kernel(SYS_prctl, option, (long)a, (long)b, (long)c,
                                (long)d, 0);
    return real(option, a, b, c, d);
}

int
real_mprotect(void *memory, size_t size, int access)
{
    int (*real)(void *, size_t, int) =
        atomic_load_explicit(&functions[REAL_mprotect], memory_order_acquire);
    if (real == NULL)
        return (int)call_kernel(SYS_mprotect, (long)memory, (long)size, access,
                                0, 0, 0);
    return real(memory, size, access);
}

real_sigaction_function
real_libc_sigaction(void)
{
    return libc_sigaction;
}

real_clone_function
real_libc_clone(void)
{
    return libc_clone;
}

clock_function
real_libc_clock(void)
{
    return libc_clock;
}
