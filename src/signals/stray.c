/* SPDX-License-Identifier: MIT */
/*
 * stray.c -- see stray.h. Only the main thread of the process may name another
 * sender of a signal (rt_tgsigqueueinfo(2)). So what the program must see of a
 * stray waits here, in a numbered place. The signal that is sent on carries the
 * number of that place.
 *
 * The hard thing is to know what the main thread itself blocks. While it is in
 * our handler, or makes a thread, the kernel shows that it blocks all signals.
 * Among these are the C library's own numbers, which no program can block. Then
 * its mask is the one that it notes in our handler.
 *
 * On its way into the handler and out of it, the last note may be old. A
 * handler of the program, which blocks its own signal, may have returned since.
 * A thread that asks then waits a moment, as long as the main thread would need
 * for the signal itself.
 */
#include <linux/errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "base/hot.h"
#include "base/phase.h"
#include "base/proc.h"
#include "base/sys.h"
#include "base/text.h"
#include "base/thread_local.h"
#include "cookie.h"
#include "signals.h"
#include "stray.h"
#include "base/poison.h"

/* Number of signals that may be on their way to the main thread. After these
 * the oldest is overwritten. A power of 2. */
#define PLACES 64u

struct place {
    /* number of the signal that lies here, counted from 1 */
    _Atomic uint32_t number;
    siginfo_t info;
};
static struct place places[PLACES];
static _Atomic uint32_t count;

/* The mask of the main thread as it was last noted. NOTE_IS_OLD is the bit of a
 * signal that cannot be blocked. It means that the mask may have changed since.
 */
#define NOTE_IS_OLD (1ull << (SIGKILL - 1))
static HOT_STATE _Atomic uint64_t main_mask = NOTE_IS_OLD;

/* Longest wait for a main thread on its way into or out of our handler, and the
 * pause between two looks, in ns. */
#define WAY_NS 100000000u
#define WAY_STEP_NS 100000u

/* The mask under which the main thread waits. NO_WAIT: it does not wait. */
#define NO_WAIT UINT64_MAX
static _Atomic uint64_t main_wait = NO_WAIT;

/* One buffer for files of /proc, because stacks may be small. One thread uses
 * it at a time, and another one tries BUFFER_TRIES times to get it. */
#define BUFFER_SIZE 4096u
#define BUFFER_TRIES 100u
static char buffer[BUFFER_SIZE];
static _Atomic bool is_taken;

/* Try to get the buffer. Returns whether the calling thread has it now. */
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

HOT void
stray_note_mask(uint64_t mask)
{
    atomic_store_explicit(&main_mask, mask, memory_order_relaxed);
}

HOT void
stray_end_note(void)
{
    stray_note_mask(stray_noted_mask() | NOTE_IS_OLD);
}

void
stray_note_wait(bool waits, uint64_t mask)
{
    if (thread_local_tid() == phase_process())
        atomic_store(&main_wait, waits ? mask : NO_WAIT);
}

void
stray_end_wait(void)
{
    if (atomic_load(&main_wait) != NO_WAIT && sys_gettid() == sys_getpid())
        atomic_store(&main_wait, NO_WAIT);
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
    if (thread_local_tid() != phase_process())
        return;
    sys_mask(SIG_BLOCK, 0, &mask);
    stray_note_mask(mask | NOTE_IS_OLD);
    /* A handler may have left the thread's wait by a jump. */
    atomic_store(&main_wait, NO_WAIT);
}

/* Whether the main thread has made CHILD. The kernel prefers that thread for
 * the signal (kernel/signal.c, do_notify_parent). CHILD is on that thread's
 * list until it is waited for (proc_tid_children(5)). */
static bool
is_child_of_main(pid_t child)
{
    char wanted[24];
    struct text text;
    text_begin(&text, wanted, sizeof(wanted));
    text_add_number(&text, (uint64_t)child);
    text_add(&text, " ");
    if (!take_buffer())
        return false;
    bool is_there = false;
    if (proc_read(0, phase_process(), "/children", buffer, sizeof(buffer)) >
        0) {
        const char *at = strstr(buffer, wanted);
        while (at != NULL && at != buffer && at[-1] != ' ')
            at = strstr(at + 1, wanted);
        is_there = at != NULL;
    }
    atomic_store(&is_taken, false);
    return is_there;
}

/* By si_code (sigaction(2)): kill, the kernel, a message queue, a child's end.
 * A sigqueue(3) of this very process may have been pthread_sigqueue(3). A
 * timer's signal goes to a thread that runs at that moment, if one does (Linux
 * 6.4). */
bool
stray_is_for_process(const siginfo_t *info)
{
    switch (info->si_code) {
    case SI_USER:
    case SI_KERNEL:
    case SI_MESGQ:
        return true;
    case SI_QUEUE:
        return info->si_pid != phase_process();
    default:
        return info->si_signo == SIGCHLD && info->si_code > 0 &&
               is_child_of_main(info->si_pid);
    }
}

enum taker { TAKER_MAIN, TAKER_OTHER, TAKER_UNKNOWN };

/* The thread that takes SIGNO. The buffer has the status of the main thread. */
static enum taker
find_taker(int signo)
{
    char letter = *proc_status_line(buffer, "State");
    const char *blocked = proc_status_line(buffer, "SigBlk");
    if (letter == '\0' || *blocked == '\0')
        return TAKER_OTHER;
    uint64_t mask = proc_bits(blocked);
    if (letter == 'Z' || letter == 'X' || letter == 'T' || letter == 't')
        return TAKER_OTHER;
    if ((mask & SIGNALS_OF_LIBC) == SIGNALS_OF_LIBC)
        mask = stray_noted_mask();
    /* While the main thread waits, the kernel may find that another thread has
     * taken a signal. Until it looks again, the main thread has the mask from
     * before the wait. */
    uint64_t wait = atomic_load(&main_wait);
    if ((mask & wait & signals_bit(signo)) == 0)
        return TAKER_MAIN;
    return (mask & NOTE_IS_OLD) != 0 ? TAKER_UNKNOWN : TAKER_OTHER;
}

static enum taker
look_for_taker(int signo)
{
    if (!take_buffer())
        return TAKER_OTHER;
    enum taker taker = TAKER_OTHER;
    if (proc_read(0, PROC_PROCESS, "/status", buffer, sizeof(buffer)) > 0)
        taker = find_taker(signo);
    atomic_store(&is_taken, false);
    return taker;
}

/* If the main thread blocks all signals by its own system call, its note stays
 * old. Only one wait is spent on such a thread. */
bool
stray_is_taken_by_main(int signo)
{
    static _Atomic uint32_t never;
    uint64_t until = clock_now() + WAY_NS, now;
    enum taker taker;
    while ((taker = look_for_taker(signo)) == TAKER_UNKNOWN) {
        if ((now = clock_now()) >= until)
            atomic_fetch_and(&main_mask, ~NOTE_IS_OLD);
        else
            sys_futex_wait(&never, 0, now + WAY_STEP_NS);
    }
    return taker == TAKER_MAIN;
}

/* Keep INFO for the main thread. Returns the number of its place. */
static uint32_t
keep_stray(const siginfo_t *info)
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
    if (info->si_code != COOKIE_CODE || info->si_pid != phase_process() ||
        cookie != cookie_make(COOKIE_STRAY, number) ||
        !atomic_compare_exchange_strong(&place->number, &number, 0))
        return false;
    *info = place->info;
    return true;
}

bool
stray_send_on(int signo, siginfo_t *info)
{
    if (stray_restore(info) || !phase_may_ask())
        return false;
    pid_t pid = sys_getpid();
    if (pid != phase_process() || sys_gettid() == pid ||
        !stray_is_for_process(info) || !stray_is_taken_by_main(signo))
        return false;
    return cookie_send(pid, signo,
                       cookie_make(COOKIE_STRAY, keep_stray(info))) == 0;
}
