/* SPDX-License-Identifier: MIT */
/*
 * window_guard.c -- preloaded after libsprof.so, makes what must not happen
 * while a thread is suspended fail there, and counts it: allocation, locks,
 * stdio, the loader, the end of the process. A call is forbidden
 *
 * - on the sampler's thread (its name is "sprof") from where it takes that
 *   name. That it blocks all signals then is checked by the way;
 * - on any thread that blocks all 64 signals, as one does in libsprof's handler
 *   and else only in libc, when a thread begins or ends.
 *
 * A forbidden call returns what the real one returns when it fails; exit and
 * abort are counted and go on. At the end one line goes to stderr:
 *
 *   guard: 2 forbidden calls: malloc from libsprof.so+0x1a2b (2)
 *   guard: 0 forbidden calls, 3 at the end of the sampler's thread
 *
 * The latter are libc's, and free nothing there. They show that the guard
 * works.
 *
 * It is hard to stand in front of functions of every signature, printf's among
 * them, and of dlsym, which looks at its return address. So each is a stub that
 * keeps all argument registers, asks guard_enter, and jumps on to the real one
 * (MACHINE/window_stubs.c); -mgeneral-regs-only leaves the vector registers
 * alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "machine.h"
#include "raw_call.h"
#include "window_guard.h"

enum kind { MEMORY, LOCK, OTHER, END };

enum call {
#define CALL(name, kind, result) CALL_##name,
    CALLS(CALL)
#undef CALL
        CALL_COUNT
};

static const struct guarded {
    const char *name;
    enum kind kind;
    long result;
} guarded[CALL_COUNT] = {
#define CALL(name, kind, result) {#name, kind, result},
    CALLS(CALL)
#undef CALL
};

/* glibc's own names of its allocator: what dlsym may need while we ask it. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static void *real[CALL_COUNT] = {
    [CALL_malloc] = __libc_malloc,
    [CALL_calloc] = __libc_calloc,
    [CALL_realloc] = __libc_realloc,
    [CALL_free] = __libc_free,
};

static bool is_ready;

#define SIGNAL_BIT(signo) (1ull << ((signo)-1))
#define NEVER_BLOCKED (SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP))
/* This signal is blocked in a handler that asks for all signals, but never by
 * pthread_sigmask. So a handler differs from a thread that starts another one,
 * and allocates. */
#define LIBC_SIGNALS (SIGNAL_BIT(32) | SIGNAL_BIT(33))
/* The sampler alone has it open: requests come by it (SPROF_DUMP_SIGNAL). */
#define CONTROL_SIGNAL SIGNAL_BIT(35)

#define PLACES 32

/* Where forbidden calls came from; what finds no place is counted alone. */
static struct place {
    _Atomic uintptr_t caller;
    _Atomic long call;
    atomic_ulong count;
} places[PLACES];
static atomic_ulong forbidden, at_end, unblocked;

static void
find_real(enum call call)
{
    void *(*find)(void *, const char *);

    if (real[CALL_dlsym] == NULL)
        real[CALL_dlsym] = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
    if (real[CALL_dlsym] == NULL)
        real[CALL_dlsym] = dlvsym(RTLD_NEXT, "dlsym", MACHINE_FIRST_LIBC);
    *(void **)&find = real[CALL_dlsym];
    if (real[call] == NULL)
        real[call] = find(RTLD_NEXT, guarded[call].name);
}

/* As the first of all constructors, libsprof.so's included. */
__attribute__((constructor(101))) static void
begin(void)
{
    for (enum call call = 0; call < CALL_COUNT; call++)
        find_real(call);
    is_ready = true;
}

/* The signals that the calling thread blocks, one bit each. libc's own function
 * hides two of them. */
static uint64_t
blocked_signals(void)
{
    uint64_t blocked = 0;

    return raw_call(SYS_rt_sigprocmask, 0, 0, (long)&blocked,
                    sizeof(blocked)) == 0
               ? blocked
               : 0;
}

static bool
is_sampler(void)
{
    char name[16] = "";

    return prctl(PR_GET_NAME, name) == 0 && strcmp(name, "sprof") == 0;
}

static void
note_place(long call, uintptr_t caller)
{
    atomic_fetch_add(&forbidden, 1);
    for (unsigned i = 0; i < PLACES; i++) {
        uintptr_t seen = 0;
        if (atomic_compare_exchange_strong(&places[i].caller, &seen, caller))
            atomic_store(&places[i].call, call);
        else if (seen != caller)
            continue;
        atomic_fetch_add(&places[i].count, 1);
        return;
    }
}

/* Whether the calling thread may not make this CALL now. */
static bool
is_forbidden(const struct guarded *row, uintptr_t first)
{
    uint64_t open = ~blocked_signals() & ~NEVER_BLOCKED;

    /* Frees nothing; libc does it at the end of every thread. */
    if (row == &guarded[CALL_free] && first == 0) {
        if (is_sampler())
            atomic_fetch_add(&at_end, 1);
        return false;
    }
    if (!is_sampler())
        return open == 0;
    /* A signal for the program must never be handled on that thread. */
    if ((open & ~(LIBC_SIGNALS | CONTROL_SIGNAL)) != 0)
        atomic_fetch_add(&unblocked, 1);
    return true;
}

struct verdict
guard_enter(long call, uintptr_t first, uintptr_t caller)
{
    const struct guarded *row = &guarded[call];

    if (real[call] == NULL)
        find_real((enum call)call);
    struct verdict verdict = {real[call], row->result};
    if (!is_ready || !is_forbidden(row, first))
        return verdict;
    note_place(call, caller);
    if (row->kind != END)
        verdict.target = NULL;
    return verdict;
}

/* One line with what was counted so far. A program may call it by dlsym. */
void window_guard_report(void);

__attribute__((visibility("default"))) void
window_guard_report(void)
{
    char line[2048];
    int (*describe)(const void *, Dl_info *);
    size_t length = (size_t)snprintf(line, 100, "guard: %lu forbidden calls",
                                     atomic_load(&forbidden));

    *(void **)&describe = real[CALL_dladdr];
    for (unsigned i = 0; i < PLACES && length < sizeof line - 400; i++) {
        uintptr_t caller = atomic_load(&places[i].caller);
        Dl_info info;
        if (caller == 0)
            break;
        bool known = describe((void *)caller, &info) != 0;
        const char *module = known ? strrchr(info.dli_fname, '/') : NULL;
        length += (size_t)snprintf(
            line + length, 200, "%s %s from %.100s+0x%lx (%lu)",
            i == 0 ? ":" : ",", guarded[atomic_load(&places[i].call)].name,
            module != NULL ? module + 1 : "?",
            (unsigned long)(caller - (known ? (uintptr_t)info.dli_fbase : 0)),
            atomic_load(&places[i].count));
    }
    if (atomic_load(&at_end) != 0)
        length += (size_t)snprintf(line + length, 100,
                                   ", %lu at the end of the sampler's thread",
                                   atomic_load(&at_end));
    if (atomic_load(&unblocked) != 0)
        length += (size_t)snprintf(line + length, 100,
                                   ", %lu calls with signals open",
                                   atomic_load(&unblocked));
    line[length++] = '\n';
    (void)!write(STDERR_FILENO, line, length);
}

__attribute__((destructor)) static void
finish(void)
{
    window_guard_report();
}
