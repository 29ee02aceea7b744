/* SPDX-License-Identifier: MIT */
/*
 * stray.c -- see stray.h. Only the process's main thread may send a signal as
 * if another had (rt_tgsigqueueinfo(2)), so what the program is to see of it
 * waits here, and what is sent names the place.
 *
 * The hard thing is to know what the main thread blocks for itself. While it is
 * in our handler, or makes a thread, the kernel shows that it blocks all, the C
 * library's own numbers among them, which no program can: then its mask is the
 * one that was noted last.
 */
#include <linux/errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/digits.h"
#include "base/sys.h"
#include "base/text.h"
#include "handler.h"
#include "self.h"
#include "signals.h"
#include "stray.h"
#include "poison.h"

/* Signals that are on their way to the main thread; the oldest is overwritten.
 * A power of 2. */
#define PLACES 64u

struct place {
    _Atomic uint32_t number; /* of the signal that lies here, counted from 1 */
    siginfo_t info;
};
static struct place places[PLACES];
static _Atomic uint32_t count;

static _Atomic uint64_t main_mask;

/* Under which it waits; all: it does not. */
#define NO_WAIT UINT64_MAX
static _Atomic uint64_t main_wait = NO_WAIT;

/* For files of /proc, which one thread reads at a time: stacks may be small. */
#define BUFFER_SIZE 4096u
#define BUFFER_TRIES 100u
static char buffer[BUFFER_SIZE];
static _Atomic bool is_taken;

/* Whether the calling thread has the buffer now. */
static bool
take_buffer(void)
{
    for (unsigned i = 0; i < BUFFER_TRIES; i++) {
        if (!atomic_exchange(&is_taken, true))
            return true;
        sched_yield();
    }
    return false;
}

void
stray_note_mask(uint64_t mask)
{
    atomic_store_explicit(&main_mask, mask, memory_order_relaxed);
}

void
stray_note_wait(bool waits, uint64_t mask)
{
    if (self_tid() == handler_shared.pid)
        atomic_store(&main_wait, waits ? mask : NO_WAIT);
}

uint64_t
stray_noted_mask(void)
{
    return atomic_load_explicit(&main_mask, memory_order_relaxed);
}

void
stray_note_own_mask(void)
{
    uint64_t mask = 0;
    if (self_tid() != handler_shared.pid)
        return;
    arch_syscall(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)&mask, sizeof(mask), 0,
                 0);
    stray_note_mask(mask);
    /* A handler may have left its wait by a jump. */
    atomic_store(&main_wait, NO_WAIT);
}

/* The kernel prefers the thread that has made the child (kernel/signal.c,
 * do_notify_parent); it is on that thread's list until somebody waits for it
 * (proc_tid_children(5)). */
static bool
is_child_of_main(pid_t child)
{
    char path[64], wanted[24];
    struct text text;
    text_begin(&text, path, sizeof(path));
    text_add(&text, "/proc/self/task/");
    text_add_number(&text, (uint64_t)handler_shared.pid);
    text_add(&text, "/children");
    text_begin(&text, wanted, sizeof(wanted));
    text_add_number(&text, (uint64_t)child);
    text_add(&text, " ");
    if (!take_buffer())
        return false;
    bool is_there = false;
    if (sys_read_file(path, buffer, sizeof(buffer)) > 0) {
        const char *at = strstr(buffer, wanted);
        while (at != NULL && at != buffer && at[-1] != ' ')
            at = strstr(at + 1, wanted);
        is_there = at != NULL;
    }
    atomic_store(&is_taken, false);
    return is_there;
}

/* By si_code (sigaction(2)): kill, the kernel, a message queue, a child's end.
 * sigqueue(3) of this very process may have been pthread_sigqueue(3). A timer's
 * goes to a thread that runs at that moment, where there is one (Linux 6.4). */
bool
stray_is_for_process(const siginfo_t *info)
{
    switch (info->si_code) {
    case SI_USER:
    case SI_KERNEL:
    case SI_MESGQ:
        return true;
    case SI_QUEUE:
        return info->si_pid != handler_shared.pid;
    default:
        return info->si_signo == SIGCHLD && info->si_code > 0 &&
               is_child_of_main(info->si_pid);
    }
}

/* Whether the text in the buffer is of a thread that takes SIGNO. */
static bool
would_take(int signo)
{
    const char *state = strstr(buffer, "\nState:\t");
    const char *blocked = strstr(buffer, "\nSigBlk:\t");
    if (state == NULL || blocked == NULL)
        return false;
    char letter = state[sizeof("\nState:\t") - 1];
    blocked += sizeof("\nSigBlk:\t") - 1;
    uint64_t mask = digits_take_hex(&blocked);
    if ((mask & SIGNALS_OF_LIBC) == SIGNALS_OF_LIBC)
        mask = stray_noted_mask();
    /* Between two looks of the kernel for a signal that another thread has
     * taken, the mask is the one from before the wait. */
    mask &= atomic_load(&main_wait);
    return letter != 'Z' && letter != 'X' && letter != 'T' && letter != 't' &&
           (mask & signals_bit(signo)) == 0;
}

bool
stray_is_taken_by_main(int signo)
{
    if (!take_buffer())
        return false;
    bool takes =
        sys_read_file("/proc/self/status", buffer, sizeof(buffer)) > 0 &&
        would_take(signo);
    atomic_store(&is_taken, false);
    return takes;
}

/* Keep INFO for the main thread. Returns the number by which it is found. */
static uint32_t
keep(const siginfo_t *info)
{
    uint32_t number;
    do
        number = (atomic_fetch_add(&count, 1) + 1) & COOKIE_MASK;
    while (number == 0);
    struct place *place = &places[number % PLACES];
    atomic_store(&place->number, 0);
    place->info = *info;
    atomic_store(&place->number, number);
    return number;
}

bool
stray_restore(siginfo_t *info)
{
    uint64_t cookie = (uint64_t)info->si_value.sival_ptr;
    uint32_t number = (uint32_t)cookie & COOKIE_MASK;
    struct place *place = &places[number % PLACES];
    if (info->si_code != HANDLER_CODE || info->si_pid != handler_shared.pid ||
        cookie != cookie_make(handler_shared.secret, COOKIE_STRAY, number) ||
        !atomic_compare_exchange_strong(&place->number, &number, 0))
        return false;
    *info = place->info;
    return true;
}

bool
stray_send_on(int signo, siginfo_t *info)
{
    pid_t pid = sys_getpid();
    if (stray_restore(info) || pid != handler_shared.pid ||
        sys_gettid() == pid || !stray_is_for_process(info) ||
        !stray_is_taken_by_main(signo))
        return false;
    uint64_t cookie =
        cookie_make(handler_shared.secret, COOKIE_STRAY, keep(info));
    return sys_queue_signal(pid, pid, signo, HANDLER_CODE, cookie) == 0;
}
