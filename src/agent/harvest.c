/* SPDX-License-Identifier: MIT */
/*
 * harvest.c -- per-thread accounting and the way from slot to sample; see
 * harvest.h. Sampler thread alone.
 *
 * The hard thing is a thread that sleeps: the answer to a signal itself moves
 * its CPU clock, so that "has moved" must leave room for what the last answer
 * cost, or an idle thread would be woken again at every tick.
 */
#include <errno.h>
#include <stddef.h>

#include "base/sys.h"
#include "capture/suspend.h"
#include "target/modules.h"
#include "target/threads.h"
#include "harvest.h"
#include "journal.h"
#include "place.h"

/* A wake-up, the signal, the handler and the way back to sleep cost a thread up
 * to this much CPU time. */
#define WAKE_NS 30000u

struct account {
    uint64_t clock;       /* CPU time that samples have been given */
    uint64_t seen;        /* CPU clock at the last tick */
    uint64_t asked_clock; /* CPU clock when the thread was asked */
    uint64_t asked_at;    /* when it was asked */
    uint64_t taken_at;    /* when it was asked for its last sample */
    uint64_t owed;        /* periods that no sample stands for yet */
    uint64_t asked_owed;  /* those that the sample in flight stands for */
    uint64_t rest;        /* by so much the last answer may move the clock */
    uint64_t wait_sp;     /* its stack pointer in the system call it waits in */
    uint32_t sequence;    /* of the question in flight */
    uint32_t node, depth; /* its last stack; node 0: none */
    bool in_flight;
    bool waited; /* when it was asked, it stood in a system call and waited */
    bool has_stack;             /* the handler knows its stack's bounds */
    struct record_sample *kept; /* the growing sample of its present wait */
};

static struct account *accounts;
static struct harvest_counts state;
static uint64_t period;
static bool cpu_only;
static uint32_t last_sequence;

int
harvest_begin(uint64_t period_ns, bool running_only)
{
    sys_release(accounts, THREADS_MAX * sizeof(*accounts));
    accounts = sys_reserve(THREADS_MAX * sizeof(*accounts));
    state = (struct harvest_counts){0};
    period = period_ns;
    cpu_only = running_only;
    return accounts != NULL ? 0 : -1;
}

struct harvest_counts *
harvest_state(void)
{
    return &state;
}

void
harvest_thread_added(uint32_t index, uint64_t clock)
{
    accounts[index] = (struct account){.clock = clock, .seen = clock};
    suspend_set_stack(index, 0, 0, 0);
}

static void
lose(struct account *account, enum loss cause)
{
    state.lost[cause]++;
    if (account->in_flight) {
        account->in_flight = false;
        state.in_flight--;
    }
}

void
harvest_thread_gone(uint32_t index)
{
    struct account *account = &accounts[index];
    if (account->in_flight)
        lose(account, LOSS_EXITED);
    journal_thread_end(index, account->seen);
}

/* One more sample point with the last stack: the thread waits. */
static void
keep(struct account *account, uint32_t index, uint64_t now)
{
    uint64_t owed = account->owed;
    account->owed = 0;
    if (cpu_only)
        return;
    state.counts.kept++;
    if (account->kept != NULL) {
        journal_grow(account->kept, owed * period, now);
        return;
    }
    struct record_sample sample = {.time = now,
                                   .wall = owed * period,
                                   .count = 1,
                                   .node = account->node,
                                   .depth = account->depth,
                                   .system_call = SYSCALL_UNKNOWN,
                                   .state = STATE_WAITING,
                                   .trigger = TRIGGER_KEPT};
    account->kept = journal_sample(&sample, index);
}

static bool
ask(struct account *account, uint32_t index, uint64_t clock, uint64_t now)
{
    account->sequence = ++last_sequence % SUSPEND_SEQUENCES;
    account->asked_clock = clock;
    account->asked_at = now;
    account->asked_owed = account->owed;
    account->kept = NULL;
    state.counts.asked++;
    int result = suspend_ask(index, threads_at(index)->tid, account->sequence);
    if (result != 0) {
        lose(account, result == -EAGAIN ? LOSS_QUEUE_FULL : LOSS_EXITED);
        return false;
    }
    account->owed = 0;
    account->in_flight = true;
    state.in_flight++;
    return true;
}

/* Whether a thread has run since its last stack was taken. The answer itself
 * moved its clock a little; then it must wait where it waited before. */
static bool
has_moved(struct account *account, pid_t tid, uint64_t clock)
{
    uint64_t since = clock - account->seen;
    uint64_t rest = account->rest;
    if (since == 0)
        return false;
    account->rest = 0;
    if (since > rest)
        return true;
    uint64_t sp = threads_wait_sp(tid);
    account->seen = clock;
    return sp != 0 && sp != account->wait_sp;
}

/* Whether a thread that is about to be asked waits in a system call at this
 * instant. Who ran all the time does not, and is spared the look. */
static bool
is_waiting(const struct account *account, pid_t tid, uint64_t clock,
           uint64_t periods)
{
    uint64_t ran = clock - account->seen;
    return ran < periods * period / 8 * 7 && threads_wait_sp(tid) != 0;
}

bool
harvest_point(uint32_t index, uint64_t clock, uint64_t periods, uint64_t now,
              bool may_ask)
{
    struct account *account = &accounts[index];
    bool moved = has_moved(account, threads_at(index)->tid, clock);
    bool is_new = account->node == 0 && !cpu_only;
    account->owed += periods;
    if (account->in_flight) {
        account->seen = clock;
        if (!suspend_was_refused(index, account->sequence))
            return false;
        account->owed += account->asked_owed;
        lose(account, LOSS_RING_FULL);
    }
    if (!moved && !is_new) {
        keep(account, index, now);
        return false;
    }
    if (!may_ask)
        return false;
    account->waited =
        is_waiting(account, threads_at(index)->tid, clock, periods);
    account->seen = clock;
    if (account->waited && cpu_only)
        return false;
    return ask(account, index, clock, now);
}

/* Tell the handler where the thread's own stack lies: below its control block,
 * if that is in the same mapping as the stack pointer; the main thread's
 * reaches to the end of its mapping. */
static void
learn_stack(struct account *account, const struct slot *slot)
{
    uint64_t low, high;
    bool is_stack;
    account->has_stack = true;
    if (modules_mapping(slot->sp, &low, &high, &is_stack) != 0)
        return;
    if (slot->thread_pointer > slot->sp && slot->thread_pointer < high)
        high = slot->thread_pointer;
    else if (!is_stack)
        return;
    suspend_set_stack(slot->thread, low, high, slot->thread_pointer);
}

static void
take(struct slot *slot)
{
    struct account *account = &accounts[slot->thread];
    uint32_t gap, elided;
    suspend_finish(slot);
    uint32_t count = walk_finish(&slot->walk, &gap, &elided);
    uint32_t node = journal_stack(slot->walk.frames, count, gap, elided != 0,
                                  slot->walk.cut);
    /* Work is not shown where the thread waits: what it used before it came
     * here is left to the next sample that finds it running. */
    uint64_t cpu = account->waited ? 0 : account->asked_clock - account->clock;
    /* Points are at random instants: what matters is the time between two. */
    uint64_t between = account->asked_at - account->taken_at;
    place_see(slot->thread, slot->cpu, cpu >= between / 4 * 3);
    account->taken_at = account->asked_at;
    bool waited = account->waited || (slot->in_syscall && cpu <= WAKE_NS);
    struct record_sample sample = {.time = slot->time,
                                   .wall = account->asked_owed * period,
                                   .cpu = cpu,
                                   .count = 1,
                                   .node = node,
                                   .system_call = SYSCALL_UNKNOWN,
                                   .state =
                                       waited ? STATE_WAITING : STATE_RUNNING,
                                   .trigger = slot->trigger,
                                   .stopped = slot->stopped,
                                   .depth = slot->walk.depth};
    account->in_flight = false;
    state.in_flight--;
    if (node == 0 || journal_sample(&sample, slot->thread) == NULL) {
        state.lost[LOSS_SPOOL_FULL]++;
        return;
    }
    state.counts.taken++;
    state.counts.parked += slot->parked;
    state.counts.stopped += slot->stopped;
    state.cut[slot->walk.cut]++;
    account->clock += cpu;
    account->node = node;
    account->depth = slot->walk.depth;
    account->rest = slot->in_syscall ? WAKE_NS : 0;
    account->wait_sp = slot->sp;
}

/* Turn SLOT into a sample, unless its question was given up meanwhile. */
static void
harvest_slot(struct slot *slot)
{
    struct account *account = &accounts[slot->thread];
    bool is_current = account->in_flight &&
                      account->sequence == slot->sequence &&
                      threads_at(slot->thread)->tid != 0;
    if (!is_current)
        return;
    take(slot);
    if (!account->has_stack)
        learn_stack(account, slot);
}

void
harvest_slots(bool walked_only)
{
    for (uint32_t i = 0; i < slots_used(); i++) {
        /* Claimed again: finishing a walk may read the module map anew, and
         * that harvests all other slots first. */
        struct slot *slot = slots_at(i);
        if (!slot_move(slot, SLOT_DONE, SLOT_CLAIMED))
            continue;
        if (walked_only && slot->unfinished) {
            slot_move(slot, SLOT_CLAIMED, SLOT_DONE);
            continue;
        }
        harvest_slot(slot);
        slot_free(slot);
    }
}

void
harvest_give_up(enum loss cause)
{
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (accounts[i].in_flight)
            lose(&accounts[i], cause);
}

bool
harvest_is_waiting(uint64_t since)
{
    for (uint32_t i = 0; state.in_flight != 0 && i < threads_limit(); i++)
        if (accounts[i].in_flight && accounts[i].asked_at >= since)
            return true;
    return false;
}
