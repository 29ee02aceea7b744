/* SPDX-License-Identifier: MIT */
/*
 * dump.c -- see dump.h. A thread that waits is walked where it lies
 * (wait_look); one that runs is asked by the sampler's signal, whatever trigger
 * there is, since nothing else brings an answer now. Who is between the two is
 * looked at again.
 *
 * The hard thing is to stay out of the way of the samples that go on meanwhile:
 * who parks is served after every few threads, and slots are emptied.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/sys.h"
#include "capture/signals.h"
#include "capture/suspend.h"
#include "target/look.h"
#include "target/modules.h"
#include "target/status.h"
#include "target/threads.h"
#include "account.h"
#include "dump.h"
#include "harvest.h"
#include "journal.h"
#include "journal_live.h"
#include "label_journal.h"
#include "labels.h"
#include "own_frames.h"
#include "session.h"
#include "traced.h"
#include "wait.h"

/* Who was asked has so long to answer: it may have to wait for a CPU; between
 * two looks at those who did not stand still. */
#define ANSWER_NS 1000000000u
#define AGAIN_NS 1000000u

/* Who blocks the signal whenever it is looked at, so many times in a row, will
 * not answer. In our own handler a thread does so for less. */
#define DEAF_NS 20000000u
#define DEAF_TIMES 3u

#define ASK_MOST 64u /* at a time: a quarter of the slots */
#define SERVE_EVERY 8u
#define HARVEST_EVERY 32u

enum step {
    STEP_LOOK,  /* to be looked at */
    STEP_ASKED, /* an answer is on the way */
    STEP_DONE,
};

/* A thread that is to be in the dump. */
struct subject {
    uint32_t index;
    enum step step;
    uint32_t sequence; /* of the question */
    uint32_t deaf;     /* looks in a row at which it blocked the signal */
};

static struct subject *subjects;
static uint32_t *subject_of; /* by thread index: + 1, 0 for none */
static uint64_t *frames;
static uint32_t frames_most;
static struct stacks_entry *entries; /* as many as subjects */
static struct stacks_entry *spare;   /* if they do not go into the spool */
static uint32_t count, asked;
static bool is_stored;
static struct dump_memory *memory;

int
dump_begin(uint32_t max_depth)
{
    if (subjects == NULL) {
        subjects = sys_reserve(THREADS_MAX * sizeof(*subjects));
        subject_of = sys_reserve(THREADS_MAX * sizeof(*subject_of));
        frames = sys_reserve(max_depth * sizeof(*frames));
        spare = sys_reserve(THREADS_MAX * sizeof(*spare));
    }
    frames_most = max_depth;
    bool has_all = subjects != NULL && subject_of != NULL && frames != NULL &&
                   spare != NULL;
    return has_all ? 0 : -1;
}

/* Add what ENTRY says of thread INDEX, and WALK, to the memory. */
static void
remember(const struct stacks_entry *entry, uint32_t index,
         const struct walk *walk, uint32_t used)
{
    size_t size = sizeof(struct dump_stack) + used * sizeof(uint64_t);
    if (memory == NULL || memory->size - memory->used < size)
        return;
    struct dump_stack *to = (void *)(memory->bytes + memory->used);
    *to = (struct dump_stack){.size = (uint32_t)size,
                              .tid = entry->tid,
                              .cpu = entry->cpu,
                              .system_call = entry->system_call,
                              .state = entry->state,
                              .cause = entry->cause,
                              .count = used};
    memcpy(to->name, threads_at(index)->name, sizeof(to->name));
    for (uint32_t i = 0; i < used; i++)
        to->frames[i] = FRAME_PC(walk->frames[i]);
    memory->used += size;
}

/* The stack of subject I is known. */
static void
settle(uint32_t i, const struct walk *walk, uint32_t used, uint32_t gap,
       bool elided)
{
    struct stacks_entry *entry = &entries[i];
    entry->node = journal_stack(walk->frames, used, gap, elided, walk->cut);
    entry->depth = walk->depth;
    entry->cause = entry->node != 0 ? STACK_NONE : STACK_NO_ROOM;
    remember(entry, subjects[i].index, walk, used);
    subjects[i].step = STEP_DONE;
}

/* Subject I has none, for CAUSE. */
static void
give_up(uint32_t i, enum stack_cause cause)
{
    static const struct walk none;
    entries[i].cause = (uint8_t)cause;
    remember(&entries[i], subjects[i].index, &none, 0);
    subjects[i].step = STEP_DONE;
}

/* It runs, whatever it did when it was looked at before. */
static void
see_running(struct stacks_entry *entry)
{
    entry->state = entry->state == 'S' ? 'R' : entry->state;
    entry->system_call = SYSCALL_UNKNOWN;
    entry->owner = entry->waits_on = 0;
}

/* An answer has come in SLOT. Returns whether it was a dump that asked. */
static bool
hear(struct slot *slot)
{
    uint32_t gap, elided, i = subject_of[slot->thread];
    if (i == 0 || subjects[i - 1].step != STEP_ASKED ||
        subjects[i - 1].sequence != slot->sequence)
        return false;
    suspend_finish(slot);
    uint32_t used = walk_finish(&slot->walk, &gap, &elided);
    entries[i - 1].label = label_journal_put(slot->label);
    asked--;
    see_running(&entries[i - 1]);
    settle(i - 1, &slot->walk, used, gap, elided != 0);
    return true;
}

/* Ask the thread of subject I, unless too many were asked already: slots are
 * few, and shared with the samples. Then its turn comes later. */
static void
ask(uint32_t i, pid_t tid)
{
    struct subject *subject = &subjects[i];
    /* A second signal of one number is lost while the first has not come. */
    if (traced_by_other()) {
        give_up(i, STACK_TRACED);
        return;
    }
    if (asked >= ASK_MOST || account_of(subject->index)->in_flight)
        return;
    subject->sequence = harvest_sequence();
    int result = suspend_ask(subject->index, tid, subject->sequence);
    if (result == -ESRCH) {
        give_up(i, STACK_EXITED);
    } else if (result == 0) {
        subject->step = STEP_ASKED;
        asked++;
    }
}

/* Whether the thread that LOOK is of waits in our handler: it was running when
 * that began, as one that is about to die. */
static bool
waits_for_us(const struct look *look)
{
    return look->number == SYS_futex && own_frames_has(look->pc);
}

/* What it waits for, of which the journal may have the words already. */
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
    entry->label = label_journal_put(labels_of((pid_t)entry->tid));
    entry->owner = (uint32_t)look_owner((pid_t)entry->tid, look);
    entry->waits_on = wait_words((pid_t)entry->tid, look);
}

/* Subject I waits as LOOK says since its clock read CLOCK: walk its stack. If
 * it moves meanwhile it is looked at again. */
static void
look_closely(uint32_t i, const struct look *look, uint64_t clock)
{
    struct walk walk = {.frames = frames, .capacity = frames_most};
    struct stacks_entry *entry = &entries[i];
    uint32_t gap, elided;
    describe_wait(entry, look);
    if (!wait_look((pid_t)entry->tid, look, clock, &walk))
        return;
    uint32_t used = walk_finish(&walk, &gap, &elided);
    settle(i, &walk, used, gap, elided != 0);
}

/* The wait of subject I is in the journal, and goes on. */
static bool
is_known(uint32_t i, const struct look *look, uint64_t clock)
{
    const struct account *account = account_of(subjects[i].index);
    const struct record_sample *wait = &account->latest.record;
    if (memory != NULL || account->wait == NULL || account->seen != clock ||
        wait->node == 0 || wait->system_call != look->number)
        return false;
    entries[i].node = wait->node;
    entries[i].depth = wait->depth;
    describe_wait(&entries[i], look);
    subjects[i].step = STEP_DONE;
    return true;
}

/* Why there is nothing to see of a thread that waits. */
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
    look_at(tid, &look);
    if (clock == CLOCK_NONE || look.state == LOOK_GONE) {
        give_up(i, STACK_EXITED);
    } else if (look.state == LOOK_RUNNING) {
        see_running(entry);
        ask(i, tid);
    } else if (cause_of(&look) != STACK_NONE) {
        give_up(i, cause_of(&look));
    } else if (!is_known(i, &look, clock)) {
        look_closely(i, &look, clock);
    }
}

/* Whether the question to subject I was answered without a stack: then it is
 * asked again, or cannot be. */
static void
see_refusal(uint32_t i)
{
    struct subject *subject = &subjects[i];
    enum loss refusal = suspend_refusal(subject->index, subject->sequence);
    if (refusal == LOSS_COUNT)
        return;
    asked--;
    subject->step = STEP_LOOK;
    if (refusal == LOSS_UNFIT)
        give_up(i, STACK_UNFIT);
}

/* One look at all that are not known yet. Returns how many are left. */
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
            suspend_serve();
        if (i % HARVEST_EVERY == HARVEST_EVERY - 1)
            session_harvest();
    }
    session_harvest();
    return left;
}

/* Who was asked and hears nothing need not be waited for. */
static void
look_for_deaf(void)
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
        give_up(i, STACK_DEAF);
    }
}

/* Wait for answers, LEFT of them, and look again at who was not still. */
static void
wait_for_rest(uint32_t left)
{
    uint64_t now = clock_now(), until = now + ANSWER_NS, next = now + DEAF_NS;
    while (left != 0 && now < until) {
        suspend_wait(now + AGAIN_NS);
        session_harvest();
        now = clock_now();
        if (now >= next) {
            look_for_deaf();
            next = now + DEAF_NS;
        }
        left = look_at_rest();
    }
}

/* Who has not answered until now does not run, or does not hear. */
static void
give_up_rest(void)
{
    for (uint32_t i = 0; i < count; i++) {
        if (subjects[i].step == STEP_DONE)
            continue;
        bool is_silent = subjects[i].step == STEP_ASKED ||
                         account_of(subjects[i].index)->in_flight;
        enum stack_cause cause = is_silent ? STACK_SILENT : STACK_MOVED;
        if (entries[i].state == 'D')
            cause = STACK_KERNEL;
        else if (entries[i].state == 'T' || entries[i].state == 't')
            cause = STACK_STOPPED;
        give_up(i, cause);
    }
}

/*
 * Threads are looked at one after the other: of two that pass a mutex to and
 * fro, each can be seen to wait for the other. So an owner counts only if it is
 * the same when all have been looked at, and if behind that nobody who waits
 * for one has moved since its look: then they all wait at one time.
 */
static void
confirm_owners(void)
{
    struct look look;
    for (uint32_t i = 0; i < count; i++) {
        struct stacks_entry *entry = &entries[i];
        if (entry->owner == 0)
            continue;
        look_at((pid_t)entry->tid, &look);
        if (look.state != LOOK_WAITING || look.number != entry->system_call ||
            (uint32_t)look_owner((pid_t)entry->tid, &look) != entry->owner)
            entry->owner = 0;
    }
    for (uint32_t i = 0; i < count; i++)
        if (entries[i].owner != 0 &&
            clock_thread((pid_t)entries[i].tid) != entries[i].cpu)
            entries[i].owner = 0;
}

/* Enter all threads that are there. Returns 0, or an errno. */
static int
enumerate(void)
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

/* A thread that has gone leaves its index to another, which may answer. */
static void
forget_subjects(void)
{
    for (uint32_t i = 0; i < count; i++)
        subject_of[subjects[i].index] = 0;
}

int
dump_take(uint32_t nonce, struct dump_memory *into)
{
    uint64_t start = clock_now();
    memory = into;
    session_harvest();
    if (!modules_are_settled())
        session_refresh_modules();
    int error = enumerate();
    if (error != 0)
        return error;
    harvest_listen(hear);
    wait_for_rest(look_at_rest());
    give_up_rest();
    confirm_owners();
    harvest_listen(NULL);
    forget_subjects();
    if (is_stored)
        journal_live_stacks_end(nonce, count, start, clock_now() - start);
    return 0;
}
