/* SPDX-License-Identifier: MIT */
/*
 * all_stacks.c -- see all_stacks.h. A thread that waits is walked from outside
 * (wait_look). A thread that runs is asked by the sampler's signal, whatever
 * its trigger is, because no other trigger answers at once. A thread between
 * the two is looked at again.
 *
 * The hard thing is not to delay the samples that go on meanwhile. After every
 * few looks parked threads are served and slots are emptied.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "capture/serve.h"
#include "journal/journal.h"
#include "journal/journal_context.h"
#include "journal/journal_labels.h"
#include "journal/journal_live.h"
#include "journal/script_names.h"
#include "journal/stack_tree.h"
#include "labels/labels.h"
#include "process/look.h"
#include "process/modules.h"
#include "process/status.h"
#include "process/threads.h"
#include "signals/signals.h"
#include "unwind/own_frames.h"
#include "unwind/trace_context.h"
#include "harvest.h"
#include "session.h"
#include "thread_time.h"
#include "tracee.h"
#include "wait.h"
#include "all_stacks.h"

/* ANSWER_NS: limit of the time in which a thread may answer (it may be waiting
 * for a CPU). AGAIN_NS: pause before looking again at threads that kept
 * moving. */
#define ANSWER_NS 1000000000u
#define AGAIN_NS 1000000u

/* A thread that blocks our signal at DEAF_TIMES consecutive looks, DEAF_NS
 * apart, will not answer. Our own handler never blocks it for that long. */
#define DEAF_NS 20000000u
#define DEAF_TIMES 3u

#define ASK_MOST 64u /* questions at a time: a quarter of the slots */

/* Looks after which parked threads are served, and slots are harvested. */
#define SERVE_EVERY 8u
#define HARVEST_EVERY 32u

enum step {
    STEP_LOOK,  /* the thread is to be looked at */
    STEP_ASKED, /* an answer is on the way */
    STEP_DONE,
};

/* A thread of the dump. */
struct subject {
    uint32_t index;
    enum step step;
    uint32_t sequence; /* of the question */
    uint32_t deaf;     /* looks in a row at which it blocked the signal */
};

static struct subject *subjects;
static uint32_t *subject_of; /* by thread index: subject + 1; 0: none */
static struct frame *frames;
static uint32_t frames_most;
static OF_PROFILE struct stacks_entry *entries; /* as many as subjects */
static struct stacks_entry *spare; /* used when the spool has no room */
static OF_PROFILE uint32_t count, asked;
static OF_PROFILE bool is_stored;
static OF_PROFILE struct all_stacks_memory *memory;

int
all_stacks_begin(uint32_t max_depth)
{
    if (subjects == NULL) {
        subjects = sys_reserve(THREADS_MAX * sizeof(*subjects));
        frames = sys_reserve(max_depth * sizeof(*frames));
        spare = sys_reserve(THREADS_MAX * sizeof(*spare));
    }
    subject_of = sys_renew(subject_of, THREADS_MAX * sizeof(*subject_of));
    frames_most = max_depth;
    bool has_all = subjects != NULL && subject_of != NULL && frames != NULL &&
                   spare != NULL;
    return has_all ? 0 : -1;
}

/* Add ENTRY of thread INDEX, and the frames of WALK, to the memory. */
static void
remember_stack(const struct stacks_entry *entry, uint32_t index,
               const struct walk *walk)
{
    uint32_t used = walk_kept(walk);
    size_t size = sizeof(struct all_stacks_stack) + used * sizeof(uint64_t);
    if (memory == NULL || memory->size - memory->used < size)
        return;
    struct all_stacks_stack *to = (void *)(memory->bytes + memory->used);
    *to = (struct all_stacks_stack){.size = (uint32_t)size,
                                    .tid = entry->tid,
                                    .cpu = entry->cpu,
                                    .system_call = entry->system_call,
                                    .state = entry->state,
                                    .cause = entry->cause,
                                    .count = used};
    memcpy(to->name, threads_at(index)->name, sizeof(to->name));
    for (uint32_t i = 0; i < used; i++)
        to->frames[i] = frame_pc(walk->frames[i]);
    memory->used += size;
}

/* Enter the stack of subject I, which is then done. */
static void
enter_stack(uint32_t i, struct walk *walk)
{
    struct stacks_entry *entry = &entries[i];
    script_names_resolve(walk->script);
    entry->node = stack_tree_enter(walk, subjects[i].index);
    entry->depth = walk->depth;
    entry->cause = entry->node != 0 ? STACK_NONE : STACK_NO_ROOM;
    remember_stack(entry, subjects[i].index, walk);
    subjects[i].step = STEP_DONE;
}

/* Enter that subject I has no stack, for CAUSE. */
static void
enter_cause(uint32_t i, enum stack_cause cause)
{
    static const struct walk none;
    entries[i].cause = (uint8_t)cause;
    remember_stack(&entries[i], subjects[i].index, &none);
    subjects[i].step = STEP_DONE;
}

/* The thread runs, whatever an earlier look found. */
static void
see_running(struct stacks_entry *entry)
{
    entry->state = entry->state == 'S' ? 'R' : entry->state;
    entry->system_call = SYSCALL_UNKNOWN;
    entry->owner = entry->waits_on = 0;
}

/* An answer has come in SLOT. Returns whether a dump asked for it. */
static bool
take_answer(struct slot *slot)
{
    uint32_t i = subject_of[slot->thread];
    if (i == 0 || subjects[i - 1].step != STEP_ASKED ||
        subjects[i - 1].sequence != slot->sequence)
        return false;
    entries[i - 1].label = journal_context(journal_labels(slot->label),
                                           &slot->context, slot->script.task);
    asked--;
    see_running(&entries[i - 1]);
    enter_stack(i - 1, &slot->walk);
    return true;
}

/* Ask the thread of subject I. If too many are asked already, its turn comes
 * later: slots are few, and shared with the samples. */
static void
ask_subject(uint32_t i, pid_t tid)
{
    struct subject *subject = &subjects[i];
    if (tracee_is_foreign()) {
        enter_cause(i, STACK_TRACED);
        return;
    }
    /* A second signal of one number is lost while the first is pending. So a
     * thread in flight for a sample is not asked. */
    if (asked >= ASK_MOST || thread_time_of(subject->index)->in_flight)
        return;
    subject->sequence = harvest_sequence();
    int result = ask_thread(subject->index, tid, subject->sequence);
    if (result == -ESRCH) {
        enter_cause(i, STACK_EXITED);
    } else if (result == 0) {
        subject->step = STEP_ASKED;
        asked++;
    }
}

/* Whether the thread of LOOK waits in our handler: it was running when the
 * handler began, like a thread that is about to die. */
static bool
waits_for_us(const struct look *look)
{
    return look->number == SYS_futex && own_frames_has(look->pc);
}

/* Describe in ENTRY what the thread waits for. */
static void
describe_wait(struct stacks_entry *entry, const struct look *look)
{
    uint8_t before = entry->state;
    see_running(entry);
    if (look->state != LOOK_WAITING || waits_for_us(look))
        return;
    entry->state = before == 'R' ? 'S' : before;
    if (look->number < 0)
        return;
    entry->system_call = (uint16_t)look->number;
    entry->owner = (uint32_t)wait_owner((pid_t)entry->tid, look);
    entry->waits_on = wait_words((pid_t)entry->tid, look);
}

/* Walk the stack of subject I, which waits as LOOK says since its clock read
 * CLOCK. If it moves meanwhile, it is looked at again. */
static void
look_closely(uint32_t i, const struct look *look, uint64_t clock)
{
    struct walk walk = {.frames = frames, .capacity = frames_most};
    struct stacks_entry *entry = &entries[i];
    struct trace_context context;
    pid_t tid = (pid_t)entry->tid;
    describe_wait(entry, look);
    trace_context_read_from(&context, tid);
    if (!wait_look(tid, look, clock, &walk))
        return;
    entry->label =
        journal_context(journal_labels(labels_of(tid)), &context,
                        walk.script != NULL ? walk.script->task : NULL);
    enter_stack(i, &walk);
}

/* Use the wait of subject I in the journal. Returns whether the wait still goes
 * on. */
static bool
is_known(uint32_t i, const struct look *look, uint64_t clock)
{
    const struct thread_time *account = thread_time_of(subjects[i].index);
    const struct record_sample *wait = &account->latest.record;
    if (memory != NULL || account->wait == NULL || account->seen != clock ||
        wait->node == 0 || wait->system_call != look->number)
        return false;
    entries[i].node = wait->node;
    entries[i].depth = wait->depth;
    entries[i].label = wait->label;
    describe_wait(&entries[i], look);
    subjects[i].step = STEP_DONE;
    return true;
}

/* Returns why a thread that waits has no stack, or STACK_NONE if it may have
 * one. */
static enum stack_cause
cause_of(const struct look *look)
{
    if (look->state == LOOK_BLOCKED)
        return STACK_HIDDEN;
    return look->pc == 0 && look->sp == 0 ? STACK_NO_USER : STACK_NONE;
}

static void
look_at_subject(uint32_t i)
{
    struct stacks_entry *entry = &entries[i];
    pid_t tid = (pid_t)entry->tid;
    struct look look;
    uint64_t clock = clock_thread(tid);
    entry->cpu = clock;
    wait_look_at(tid, &look);
    if (clock == CLOCK_NONE || look.state == LOOK_GONE) {
        enter_cause(i, STACK_EXITED);
    } else if (look.state == LOOK_RUNNING) {
        see_running(entry);
        ask_subject(i, tid);
    } else if (cause_of(&look) != STACK_NONE) {
        enter_cause(i, cause_of(&look));
    } else if (!is_known(i, &look, clock)) {
        look_closely(i, &look, clock);
    }
}

/* If subject I has answered without a stack, ask it again. A thread that cannot
 * be asked gets no stack. */
static void
see_refusal(uint32_t i)
{
    struct subject *subject = &subjects[i];
    enum loss refusal = ask_refusal(subject->index, subject->sequence);
    if (refusal == LOSS_COUNT)
        return;
    asked--;
    subject->step = STEP_LOOK;
    if (refusal == LOSS_UNFIT)
        enter_cause(i, STACK_UNFIT);
}

/* Look once at all subjects that are not done. Returns how many are left. */
static uint32_t
look_at_rest(void)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (subjects[i].step == STEP_ASKED)
            see_refusal(i);
        if (subjects[i].step == STEP_LOOK)
            look_at_subject(i);
        left += subjects[i].step != STEP_DONE;
        if (i % SERVE_EVERY == SERVE_EVERY - 1)
            serve_parked();
        if (i % HARVEST_EVERY == HARVEST_EVERY - 1)
            session_harvest();
    }
    session_harvest();
    return left;
}

/* Do not wait for threads that have our signal blocked. */
static void
look_for_blocking(void)
{
    int signo = signals_number(SIGNALS_ASK);
    struct status status;
    for (uint32_t i = 0; i < count; i++) {
        if (subjects[i].step == STEP_DONE || signo == 0 ||
            status_read((pid_t)entries[i].tid, &status) != 0)
            continue;
        bool blocks = (status.blocked & signals_bit(signo)) != 0;
        subjects[i].deaf = blocks ? subjects[i].deaf + 1 : 0;
        if (subjects[i].deaf < DEAF_TIMES)
            continue;
        asked -= subjects[i].step == STEP_ASKED;
        enter_cause(i, STACK_DEAF);
    }
}

/* Wait for the LEFT subjects that are not done, and look again at threads that
 * kept moving. */
static void
wait_for_rest(uint32_t left)
{
    uint64_t now = clock_now(), until = now + ANSWER_NS, next = now + DEAF_NS;
    while (left != 0 && now < until) {
        serve_wait(now + AGAIN_NS);
        session_harvest();
        now = clock_now();
        if (now >= next) {
            look_for_blocking();
            next = now + DEAF_NS;
        }
        left = look_at_rest();
    }
}

/* A thread without an answer by now does not run, or blocks the signal.
 */
static void
enter_other_causes(void)
{
    for (uint32_t i = 0; i < count; i++) {
        if (subjects[i].step == STEP_DONE)
            continue;
        bool is_silent = subjects[i].step == STEP_ASKED ||
                         thread_time_of(subjects[i].index)->in_flight;
        enum stack_cause cause = is_silent ? STACK_SILENT : STACK_MOVED;
        if (entries[i].state == 'D')
            cause = STACK_KERNEL;
        else if (entries[i].state == 'T' || entries[i].state == 't')
            cause = STACK_STOPPED;
        enter_cause(i, cause);
    }
}

/*
 * Threads are looked at one after the other. If two of them pass a mutex to and
 * fro, each can be seen to wait for the other. So an owner counts on two
 * conditions only. It is the same after the look at all threads. And no thread
 * that waits for an owner has moved since its own look, so all of them wait at
 * the same time.
 */
static void
confirm_owners(void)
{
    struct look look;
    for (uint32_t i = 0; i < count; i++) {
        struct stacks_entry *entry = &entries[i];
        if (entry->owner == 0)
            continue;
        wait_look_at((pid_t)entry->tid, &look);
        if (look.state != LOOK_WAITING || look.number != entry->system_call ||
            (uint32_t)wait_owner((pid_t)entry->tid, &look) != entry->owner)
            entry->owner = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].owner != 0 &&
            clock_thread((pid_t)entries[i].tid) != entries[i].cpu)
            entries[i].owner = 0;
}

/* Enter all existing threads. Returns 0, or an errno. */
static int
enter_threads(void)
{
    count = asked = 0;
    threads_refresh();
    entries = journal_live_stacks_begin(threads_count());
    is_stored = entries != NULL;
    if (!is_stored && memory == NULL)
        return ENOSPC;
    if (!is_stored)
        entries = spare;
    for (uint32_t i = 0; i < threads_limit() && count < threads_count(); i++) {
        const struct thread *thread = threads_at(i);
        struct status status = {.state = '?'};
        if (thread->tid == 0 || status_read(thread->tid, &status) != 0)
            continue;
        (void)journal_thread(i);
        journal_follow_name(i);
        entries[count] = (struct stacks_entry){.tid = (uint32_t)thread->tid,
                                               .thread = thread->serial,
                                               .system_call = SYSCALL_UNKNOWN,
                                               .state = (uint8_t)status.state};
        subjects[count] = (struct subject){.index = i};
        subject_of[i] = ++count;
    }
    return 0;
}

/* Another thread may get the index of a thread that has gone, and answer. */
static void
forget_subjects(void)
{
    for (uint32_t i = 0; i < count; i++)
        subject_of[subjects[i].index] = 0;
}

int
all_stacks_take(uint32_t nonce, struct all_stacks_memory *into)
{
    uint64_t start = clock_now();
    memory = into;
    session_harvest();
    if (!modules_are_current())
        harvest_refresh_modules();
    int error = enter_threads();
    if (error != 0)
        return error;
    harvest_listen(take_answer);
    wait_for_rest(look_at_rest());
    enter_other_causes();
    confirm_owners();
    harvest_listen(NULL);
    forget_subjects();
    if (is_stored)
        journal_live_stacks_end(nonce, count, start, clock_now() - start);
    return 0;
}
