/* SPDX-License-Identifier: MIT */
/*
 * crowd.c -- see crowd.h. The places are words in a page that the first process
 * of a tree maps before its first fork. A word is the pid of the process that
 * has the place, or 0. A process that was killed gives nothing back. So a place
 * whose process is gone is free, too. So is that of a process which is stopped
 * (SIGSTOP): it may stay so for ever. In another PID namespace a pid names
 * another process, or none: then a place more or less is taken.
 */
#include <linux/futex.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/sys.h"
#include "crowd.h"

#define PAGE_SIZE 4096u

/* Number of processes of a tree that have a place at a time. A process that
 * only waits costs some 2 ms until sampling has begun, and a writer at its end.
 * A writer takes some 30 ms of a CPU; two of them keep a small machine busy. */
#define WAITING 16u
#define WRITING 2u
#define MOST WAITING

/* Time in ns between two checks whether a process with a place was killed. */
#define LOOK_NS 50000000u

/* Time between two looks of a tree at the states of the processes with a place
 * of CROWD_WAITING, in ns. A look reads WAITING files, which takes some 0.2 ms.
 */
#define STATES_NS 1000000000u

/* Time between two complaints of a tree, in ns. */
#define QUIET_NS 60000000000u

struct crowd {
    _Atomic pid_t places[CROWD_PLACES][MOST];
    _Atomic uint32_t left; /* counts crowd_leave; a futex */
    _Atomic uint64_t quiet_until, states_due;
};
_Static_assert(sizeof(struct crowd) <= PAGE_SIZE, "one page");

static const unsigned counts[CROWD_PLACES] = {
    [CROWD_WAITING] = WAITING, [CROWD_WRITING] = WRITING};

/* NULL: nothing was forked. */
static struct crowd *crowd;

void
crowd_before_fork(void)
{
    if (crowd != NULL)
        return;
    long made = sys_map(sizeof(*crowd), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (made > 0)
        crowd = (struct crowd *)made;
}

/* Whether this process of the tree has the turn, which one of them has each
 * PAUSE ns. DUE is the time of the next one. */
static bool
is_turn(_Atomic uint64_t *due, uint64_t pause)
{
    uint64_t now = clock_now(), last = atomic_load(due);
    return last <= now &&
           atomic_compare_exchange_strong(due, &last, now + pause);
}

/* Whether the process HOLDER was killed and is a zombie, which may last for
 * long, or is stopped (proc(5), field 3 of stat). */
static bool
is_at_rest(pid_t holder)
{
    char line[512];
    if (proc_read(holder, PROC_PROCESS, "/stat", line, sizeof(line)) <= 0)
        return false;
    char state = *proc_stat_field(line, 3);
    const char *threads = proc_stat_field(line, 20);
    /* A process whose first thread alone has ended is a Z with more of them. */
    bool is_gone = state == 'Z' && threads[0] <= '1' && threads[1] == ' ';
    return is_gone || state == 'T' || state == 't';
}

/* Take a free place; with LOOKS, also that of a process at rest. */
static bool
take_place(enum crowd_place place, bool looks)
{
    pid_t own = sys_getpid();
    for (unsigned i = 0; i < counts[place]; i++) {
        pid_t holder = atomic_load(&crowd->places[place][i]);
        if (holder == own ||
            ((holder == 0 || sys_kill(holder, 0) == -ESRCH ||
              (looks && is_at_rest(holder))) &&
             atomic_compare_exchange_strong(&crowd->places[place][i], &holder,
                                            own)))
            return true;
    }
    return false;
}

/* Few processes write at a time, and others wait for their places. The states
 * of those that wait are not read for each of many children. */
bool
crowd_enter(enum crowd_place place)
{
    return crowd == NULL || take_place(place, false) ||
           ((place == CROWD_WRITING ||
             is_turn(&crowd->states_due, STATES_NS)) &&
            take_place(place, true));
}

/* A futex of several processes, which base/sys.h has not. */
static long
call_futex(int operation, uint32_t value, const struct timespec *time)
{
    return arch_syscall(SYS_futex, (long)&crowd->left, operation, value,
                        (long)time, 0, (long)FUTEX_BITSET_MATCH_ANY);
}

bool
crowd_enter_until(enum crowd_place place, uint64_t until)
{
    for (;;) {
        uint32_t left = crowd != NULL ? atomic_load(&crowd->left) : 0;
        if (crowd_enter(place))
            return true;
        uint64_t now = clock_now();
        if (now >= until)
            return false;
        struct timespec next =
            clock_timespec(until - now < LOOK_NS ? until : now + LOOK_NS);
        (void)call_futex(FUTEX_WAIT_BITSET, left, &next);
    }
}

void
crowd_leave(enum crowd_place place)
{
    pid_t own = sys_getpid();
    for (unsigned i = 0; crowd != NULL && i < counts[place]; i++) {
        pid_t holder = own;
        if (!atomic_compare_exchange_strong(&crowd->places[place][i], &holder,
                                            0))
            continue;
        atomic_fetch_add(&crowd->left, 1);
        (void)call_futex(FUTEX_WAKE, 1, NULL);
        return;
    }
}

bool
crowd_may_complain(void)
{
    return crowd == NULL || is_turn(&crowd->quiet_until, QUIET_NS);
}
