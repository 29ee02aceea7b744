/* SPDX-License-Identifier: MIT */
/* scheduling.c -- see scheduling.h. */
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "arch.h"
#include "state.h"
#include "sys.h"
#include "scheduling.h"
#include "poison.h"

/* For a sampler that hurries: the slice of the scheduler in ns, and the nice
 * value. For one that does not: the slice in ns. The first is the shortest
 * slice that the kernel knows. The kernel's own choice is some 3 ms. */
#define SLICE_NS 100000u
#define NICE (-20)
#define PATIENT_SLICE_NS 10000000u

/* struct sched_attr of sched_setattr(2). */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

/* The scheduling of the program's thread that made ours; SIZE 0: not known. */
static OF_PROFILE struct scheduling inherited;
/* The sampler's tid while it is patient, else 0. */
static OF_PROFILE _Atomic pid_t patient_tid;
static OF_PROFILE _Atomic bool was_hurried;

/* Of the calling thread. */
static long
get_scheduling(struct scheduling *to)
{
    return arch_syscall(SYS_sched_getattr, 0, (long)to, sizeof(*to), 0, 0, 0);
}

/* Of thread TID; 0: of the calling thread. */
static long
set_scheduling(pid_t tid, const struct scheduling *from)
{
    return arch_syscall(SYS_sched_setattr, tid, (long)from, 0, 0, 0, 0);
}

/* Give thread TID, which runs briefly, the scheduler's shortest slice, so that
 * it runs early. Kernels before 6.12 ignore that. */
static void
hurry(pid_t tid)
{
    struct scheduling own = inherited;
    own.runtime = SLICE_NS;
    /* Ask for a higher weight: the later an instant is sampled, the more it
     * depends on when the program leaves a CPU free. */
    own.nice = NICE;
    if (set_scheduling(tid, &own) == 0)
        return;
    own.nice = inherited.nice;
    (void)set_scheduling(tid, &own);
}

/* A thread of SCHED_BATCH that wakes preempts no other. Its slice is longer
 * than theirs, so that each thread that wakes preempts it. */
static void
give_precedence(void)
{
    struct scheduling own = inherited;
    own.policy = SCHED_BATCH;
    own.runtime = PATIENT_SLICE_NS;
    (void)set_scheduling(0, &own);
}

void
scheduling_begin(void)
{
    struct scheduling own = {.size = sizeof(own)};
    atomic_store(&patient_tid, 0);
    atomic_store(&was_hurried, false);
    if (get_scheduling(&own) != 0 || own.policy != SCHED_OTHER)
        return;
    inherited = own;
    hurry(0);
}

void
scheduling_be_patient(bool patient)
{
    bool is_patient = atomic_load(&patient_tid) != 0;
    if (inherited.size == 0 || is_patient == patient)
        return;
    if (patient) {
        give_precedence();
        atomic_store(&patient_tid, sys_gettid());
    } else if (atomic_exchange(&patient_tid, 0) != 0) {
        hurry(0);
    }
}

void
scheduling_hurry(void)
{
    if (atomic_load_explicit(&patient_tid, memory_order_relaxed) == 0)
        return;
    pid_t tid = atomic_exchange(&patient_tid, 0);
    if (tid == 0)
        return;
    atomic_store(&was_hurried, true);
    hurry(tid);
}

bool
scheduling_was_hurried(void)
{
    return atomic_exchange(&was_hurried, false);
}

/* Whether the sampler has set NOW, the scheduling of the caller. */
static bool
is_own_scheduling(const struct scheduling *now)
{
    return now->policy == SCHED_BATCH ||
           (now->nice == NICE && inherited.nice != NICE);
}

void
scheduling_give_way(void)
{
    struct scheduling now = {.size = sizeof(now)};
    if (inherited.size != 0 && get_scheduling(&now) == 0 &&
        is_own_scheduling(&now))
        (void)set_scheduling(0, &inherited);
}
