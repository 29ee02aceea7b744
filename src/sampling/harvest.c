/* SPDX-License-Identifier: MIT */
/*
 * harvest.c -- see harvest.h.
 *
 * The hard thing is a thread that is not on the roster: its own clock may bring
 * a sample before the thread was ever listed, and it may have ended by now.
 */
#include <stddef.h>

#include "base/clock.h"
#include "base/state.h"
#include "capture/ask.h"
#include "capture/serve.h"
#include "journal/journal.h"
#include "journal/journal_context.h"
#include "journal/journal_labels.h"
#include "journal/script_names.h"
#include "journal/stack_tree.h"
#include "process/modules.h"
#include "process/threads.h"
#include "sampling/trigger/trigger.h"
#include "unwind/learn.h"
#include "unwind/resume.h"
#include "unwind/rules.h"
#include "epoch.h"
#include "follow_cpu.h"
#include "rates.h"
#include "thread_time.h"
#include "harvest.h"

/* Longest run of a handler in ns. A thread that was longer in it had no CPU, or
 * was parked. */
#define HANDLED_MOST_NS 100000u

/* Two times between samples are the same if they differ by at most 1 /
 * BEAT_PART. BEATS_LEAST same times in a row are a beat; at most BEATS_MOST are
 * counted.
 */
#define BEAT_PART 16u
#define BEATS_LEAST 4u
#define BEATS_MOST 8u

/* If the machine stood still, a sample takes this part of the missed points. */
#define STALLED_PART 4u

/* Samples over which the time between two of them is an average. */
#define GAP_POINTS 128u

/* A sample without a clock stands for a point, give or take 1 / ROUGH_PART of
 * it (vary.h). */
#define ROUGH_PART 4u

static uint32_t last_sequence;
static OF_PROFILE uint64_t round_random;
static OF_PROFILE bool (*listener)(struct slot *slot);

/* Slots are being turned into samples, in the order of their times. */
static OF_PROFILE bool is_harvesting;

uint32_t
harvest_sequence(void)
{
    return ++last_sequence % ASK_SEQUENCES;
}

void
harvest_listen(bool (*given)(struct slot *slot))
{
    listener = given;
}

/* Limit in bytes of the growth of the main thread's stack at once. Nothing else
 * is mapped so close below it. */
#define GROWTH_MOST (64u << 20)

/* Give the handler the bounds of the thread's own stack. It ends below the
 * thread's control block, if that is in the same mapping as the stack pointer.
 * The main thread's stack reaches to the end of its mapping. */
static void
learn_stack(struct thread_time *account, uint32_t index,
            const struct slot *slot)
{
    uint64_t low, high;
    bool is_stack;
    if (slot->thread_pointer == 0)
        return;
    account->has_stack = true;
    if (modules_mapping(slot->sp, &low, &high, &is_stack) != 0)
        return;
    if (slot->thread_pointer > slot->sp && slot->thread_pointer < high)
        high = slot->thread_pointer;
    else if (!is_stack)
        return;
    account->stack_low = is_stack ? low : 0;
    ask_set_stack(index, low, high, slot->thread_pointer);
}

/* Whether the handler that made SLOT may not know where the thread's stack is:
 * no sample has shown it, or the main thread's stack has grown since. */
static bool
lacks_stack(const struct thread_time *account, const struct slot *slot)
{
    return !account->has_stack ||
           (slot->low == 0 && slot->sp < account->stack_low &&
            account->stack_low - slot->sp < GROWTH_MOST);
}

/* Returns the CPU time of one timer tick in kernel time, which perf does not
 * see: the average time between two ticks. */
static uint64_t
tick_weight(struct thread_time *account, uint32_t index, uint64_t clock)
{
    account->ticks += 1 + serve_take_user_ticks(index);
    /* A slot from before a fork may come after the fork's sample. */
    return clock > account->ticks_clock
               ? (clock - account->ticks_clock) / account->ticks
               : 0;
}

/*
 * Returns the weight of the sample in SLOT in CPU time if none was held back:
 * the average time between two samples, not the time between these two. The
 * kernel lets threads that take turns on a CPU share the countdown to the next
 * sample. So the distances between one thread's samples are as irregular as
 * chance can make them. Weights by them would double the variance. The rest is
 * made up for at the end, when the samples of a thread are scaled to its clock.
 */
static uint64_t
weigh_point(struct thread_time *account, uint32_t index,
            const struct slot *slot, uint64_t clock)
{
    if (slot->trigger == TRIGGER_ASK)
        return account->asked_for;
    if (slot->trigger == TRIGGER_HOOK)
        return slot->measured;
    uint64_t period = epoch_period_at(slot->time);
    if (slot->trigger == TRIGGER_PERF)
        return period;
    if (account->trigger == TRIGGER_TIMER)
        return trigger_timer_period(period);
    /* Samples by the timers of young threads count only for threads that end
     * young. */
    return trigger_is_split() && slot->in_syscall
               ? tick_weight(account, index, clock)
               : 0;
}

/* Note that GAP ns of CPU time lie between two samples outside system calls, at
 * one sample for each POINT ns. Points that were missed end a beat only if they
 * are many. */
static void
note_beat(struct thread_time *account, uint64_t gap, uint64_t point)
{
    uint64_t most = account->beat / BEAT_PART;
    if (account->beats >= BEATS_LEAST && gap > 2 * account->beat - most) {
        account->beats--;
    } else if (gap + most >= account->beat && gap <= account->beat + most) {
        account->beats += account->beats < BEATS_MOST;
    } else if (account->beats > 0) {
        account->beats /= 2;
    } else if (gap > point / 2 && gap < 2 * point) {
        account->beat = gap;
    }
}

/* The CPU time between two samples, in ns. ALL may be wrong by ROUGH. KERNEL:
 * the kernel's part since the last sample of which it is known. */
struct between {
    uint64_t all, rough, kernel;
};

/* Returns B - A, or 0 if one of them is not known. */
static uint64_t
passed(uint64_t a, uint64_t b)
{
    return a != CLOCK_NONE && b != CLOCK_NONE && b > a ? b - a : 0;
}

/* Returns the CPU time since the thread's last sample, 0 if it is not known,
 * and makes SLOT the last one. If the handler did not read the clock at the
 * last samples, each of them stands for a point of POINT ns, and no more CPU
 * time than wall time has passed since the last one. */
static struct between
take_between(struct thread_time *account, const struct slot *slot,
             uint64_t point)
{
    struct between between = {.rough = account->unread * point / ROUGH_PART};
    uint64_t wall = passed(account->sampled_at, slot->time);
    account->sampled_at = slot->time;
    if (slot->clock == CLOCK_NONE) {
        account->unread += 1 + slot->owed;
        return between;
    }
    if (account->sampled != 0)
        between.all =
            passed(account->sampled + account->unread * point, slot->clock);
    if (between.rough > 0 && between.all > wall)
        between.all = wall;
    /* If nothing is known of the kernel's part, it is one point. */
    between.kernel = account->read_clock != 0
                         ? passed(account->read_kernel, slot->kernel)
                         : point;
    account->sampled = slot->clock;
    account->unread = 0;
    return between;
}

/* Count SLOT's sample, and the program's own time since the kernel's part was
 * last read. About the last GAP_POINTS points count. */
static void
count_own(struct thread_time *account, const struct slot *slot)
{
    account->own_points += slot->in_syscall ? 0 : 1 + slot->owed;
    if (slot->kernel == CLOCK_NONE)
        return;
    if (account->read_clock == 0)
        account->own_points = account->own_time = 0;
    else
        account->own_time += passed(passed(account->read_kernel, slot->kernel),
                                    passed(account->read_clock, slot->clock));
    account->read_kernel = slot->kernel;
    account->read_clock = slot->clock;
    if (account->own_points > GAP_POINTS) {
        account->own_points /= 2;
        account->own_time /= 2;
    }
}

/* Returns the average CPU time of the program's own between two samples. It is
 * not POINT if timers expire at ticks of the kernel: on a busy machine a thread
 * runs up to a tick, or between two ticks. */
static uint64_t
average_gap(const struct thread_time *account, uint64_t point)
{
    if (account->own_points < GAP_POINTS / 4)
        return point;
    uint64_t gap = account->own_time / account->own_points;
    return gap > point / 4 ? gap : point;
}

/* Returns how many points of POINT ns passed in the system call before a
 * sample, by the kernel's part of the thread's clock: at least LEAST. The part
 * counts by ticks, so its rest, up to a tick, belongs to the next call. */
static uint64_t
count_in_kernel(struct thread_time *account, const struct between *between,
                uint64_t least, uint64_t point)
{
    int64_t tick = (int64_t)clock_tick();
    int64_t kernel = account->kernel_rest + (int64_t)between->kernel;
    uint64_t used = kernel > 0 ? (uint64_t)kernel : 0;
    uint64_t gap = average_gap(account, point);
    uint64_t points =
        ((used < between->all ? used : between->all) + gap / 2) / gap;
    points = points > least ? points : least;
    kernel -= (int64_t)(points * gap);
    account->kernel_rest = kernel > tick    ? tick
                           : kernel < -tick ? -tick
                                            : kernel;
    return points;
}

/* The same by the beat. The next one counts from the last one that passed in
 * the call. SINCE: the clock that BETWEEN counts from. */
static uint64_t
count_beats(struct thread_time *account, const struct between *between,
            uint64_t since, uint64_t least)
{
    uint64_t beat = account->beat;
    uint64_t points = (between->all + beat / BEAT_PART) / beat;
    account->kernel_rest = 0;
    if (points < least)
        return least;
    if (between->rough == 0)
        account->sampled = since + points * beat;
    return points;
}

/* Returns how many points a sample outside calls stands for, if there is a
 * beat. Beats that passed without a sample, as on a machine that stood still,
 * are shared among this sample and the next ones: each takes 1 / STALLED_PART.
 * A call cannot distinguish them from its own. If they were dropped here, calls
 * would get too much. */
static uint64_t
count_stalled(struct thread_time *account, const struct between *between,
              uint64_t least)
{
    uint64_t beat = account->beat;
    uint64_t points = (between->all + beat / BEAT_PART) / beat;
    account->stalled += points > least ? points - least : 0;
    uint64_t part = (account->stalled + STALLED_PART - 1) / STALLED_PART;
    account->stalled -= part;
    return least + part;
}

/*
 * Returns how many points, each of POINT ns of CPU time, the sample in SLOT
 * stands for. A system call holds back the signals of all points that pass in
 * it, and the thread has one sample when it returns. The thread's clocks show
 * how many points these were.
 *
 * A thread that shares no countdown has a sample every beat, so there was a
 * point for each whole beat. Otherwise the kernel's part of the time since the
 * last sample shows the number. It counts by ticks, so it is right on average.
 */
static uint64_t
count_points(struct thread_time *account, const struct slot *slot,
             uint64_t point)
{
    uint64_t since = account->sampled, least = 1 + slot->owed;
    struct between between =
        take_between(account, slot,
                     account->beats < BEATS_LEAST ? point : account->beat);
    bool was_in_call = account->was_in_call;
    account->was_in_call = slot->in_syscall;
    if (account->beat_of != point) {
        account->beat = account->beats = 0;
        account->own_points = account->own_time = 0;
        account->beat_of = point;
    }
    count_own(account, slot);
    if (point == 0 || between.all == 0)
        return least;
    /* If perf does not see the kernel, a beat may have passed there. Its time
     * belongs to the timers' samples. */
    bool is_known = slot->in_syscall || !trigger_is_split();
    bool is_regular = is_known && account->beats >= BEATS_LEAST &&
                      between.all >= 2 * between.rough;
    if (!slot->in_syscall && !was_in_call && slot->owed == 0 &&
        between.rough == 0)
        note_beat(account, between.all, point);
    if (!slot->in_syscall)
        return is_regular ? count_stalled(account, &between, least) : least;
    return is_regular ? count_beats(account, &between, since, least)
                      : count_in_kernel(account, &between, least, point);
}

/* Give half of the samples that were lost before SLOT's, each of POINT ns, to
 * the place of the thread's last sample: they lie between the two samples.
 * Returns their CPU time. */
static uint64_t
give_back_owed(const struct thread_time *account, uint32_t index,
               const struct slot *slot, uint64_t point)
{
    struct record_sample sample =
        journal_make_sample(STATE_RUNNING, account->ran_at, slot->time,
                            slot->time);
    sample.wall = sample.cpu = slot->owed / 2 * point;
    sample.count = 0;
    sample.trigger = slot->trigger;
    if (sample.cpu == 0 || account->ran_at.node == 0 ||
        journal_sample(&sample, index) == 0)
        return 0;
    return slot->owed / 2 * point;
}

/* Returns the CPU time that the sample in SLOT stands for, in ns. */
static uint64_t
weigh_sample(struct thread_time *account, uint32_t index,
             const struct slot *slot, uint64_t clock)
{
    uint64_t point = weigh_point(account, index, slot, clock);
    if (slot->trigger == TRIGGER_HOOK || slot->trigger == TRIGGER_ASK) {
        account->sampled = slot->clock != CLOCK_NONE ? slot->clock : 0;
        account->read_clock = account->unread = 0;
        return point;
    }
    return point * count_points(account, slot, point) -
           give_back_owed(account, index, slot, point);
}

/* Let the sampler follow the thread that was asked, if it is busy. */
static void
follow_asked(const struct thread_time *account, uint32_t index,
             const struct slot *slot, uint64_t cpu)
{
    uint64_t between = account->asked_clock - account->woke_clock;
    if (slot->trigger == TRIGGER_ASK)
        follow_cpu_seen(index, slot->cpu,
                        between > thread_time_period() * 2 && cpu != 0);
}

static void
count_taken(struct thread_time *account, const struct slot *slot,
            uint64_t clock)
{
    struct journal_sums *sums = thread_time_sums();
    sums->counts.taken++;
    sums->cut[slot->walk.cut]++;
    rates_take(account, clock);
}

/* No question asked for this sample, and no tick has its CPU time. */
static void
count_measured(struct thread_time *account, const struct slot *slot)
{
    thread_time_sums()->measured++;
    account->ticks_clock += slot->measured;
    rates_measure(account, slot->measured);
}

/* The thread was stopped for SLOT. */
static void
count_stopped(const struct slot *slot)
{
    struct journal_sums *sums = thread_time_sums();
    sums->counts.stopped += slot->stopped;
    sums->handled +=
        slot->stopped < HANDLED_MOST_NS ? slot->stopped : HANDLED_MOST_NS;
}

/* Returns where thread INDEX was, whose walk in SLOT is over. */
static struct journal_place
place_of(struct slot *slot, uint32_t index)
{
    script_names_resolve(slot->walk.script);
    struct journal_place place = {.node = stack_tree_enter(&slot->walk, index),
                                  .depth = slot->walk.depth,
                                  .set = slot->label};
    place.label = journal_context(journal_labels(place.set), &slot->context,
                                  slot->script.task);
    return place;
}

static void
take_sample(struct slot *slot, uint32_t index)
{
    struct thread_time *account = thread_time_of(index);
    struct journal_sums *sums = thread_time_sums();
    struct journal_place place = place_of(slot, index);
    /* Where the handler did not read the clock, its value at the last look is
     * good enough. */
    uint64_t clock = slot->clock != CLOCK_NONE ? slot->clock : account->seen;
    uint64_t cpu = weigh_sample(account, index, slot, clock);
    account->is_reached = true;
    follow_asked(account, index, slot, cpu);
    struct record_sample sample =
        journal_make_sample(STATE_RUNNING, place, slot->time, slot->time);
    sample.wall = sample.cpu = cpu;
    sample.trigger = slot->trigger;
    sample.stopped = slot->stopped;
    sample.age = clock > account->base ? clock - account->base : 0;
    if (place.node == 0 || journal_sample(&sample, index) == 0) {
        sums->lost[LOSS_SPOOL_FULL]++;
        return;
    }
    if (slot->trigger == TRIGGER_HOOK)
        count_measured(account, slot);
    else
        count_taken(account, slot, clock);
    sums->counts.parked += slot->parked;
    sums->missed += slot->missed;
    count_stopped(slot);
    account->ran_at = place;
    account->last = NULL;
}

/* Take the answer to a question, unless the question was given up meanwhile. */
static void
harvest_answer(struct slot *slot)
{
    uint32_t index = slot->thread;
    struct thread_time *account = thread_time_of(index);
    if (!account->in_flight || account->sequence != slot->sequence ||
        threads_at(index)->tid == 0)
        return;
    account->in_flight = false;
    thread_time_sums()->in_flight--;
    if (account->asks_place && account->asked_for == 0) {
        account->told_at = place_of(slot, index);
        thread_time_sums()->counts.asked--;
        count_stopped(slot);
        return;
    }
    take_sample(slot, index);
    if (lacks_stack(account, slot))
        learn_stack(account, index, slot);
}

/* Whether the tid of the thread of ACCOUNT belonged to another thread at TIME,
 * when that thread's clock read CLOCK. A thread runs on for a moment after it
 * has reported its end. */
static bool
has_successor(const struct thread_time *account, uint64_t time, uint64_t clock)
{
    if (!account->has_ended || time <= account->ended_at)
        return false;
    if (clock == CLOCK_NONE)
        return time - account->ended_at > HARVEST_LEAVING_NS;
    return clock < account->seen || clock - account->seen > HARVEST_LEAVING_NS;
}

uint32_t
harvest_find_thread(pid_t tid, uint64_t time, uint64_t clock)
{
    uint32_t index = threads_index(tid);
    if (index != THREADS_NONE &&
        has_successor(thread_time_of(index), time, clock)) {
        threads_remove(index);
        index = threads_index(tid);
    }
    return index == THREADS_NONE || thread_time_of(index)->is_ignored
               ? THREADS_NONE
               : index;
}

/* perf interrupts a thread that got another trigger, because no sample had come
 * for a long time. With both, the thread would have too many samples. */
static void
return_to_perf(struct thread_time *account, const struct slot *slot)
{
    if (slot->trigger != TRIGGER_PERF ||
        (account->trigger != TRIGGER_TIMER && account->trigger != TRIGGER_ASK))
        return;
    account->trigger = trigger_return(account->trigger, slot->tid);
    account->ticks_clock = account->seen;
    account->ticks = 0;
}

/* Take a sample that the thread's own clock brought. */
static void
harvest_own(struct slot *slot)
{
    uint32_t index = harvest_find_thread(slot->tid, slot->time, slot->clock);
    if (index == THREADS_NONE)
        return;
    struct thread_time *account = thread_time_of(index);
    if (slot->trigger != TRIGGER_HOOK)
        thread_time_sums()->counts.asked++;
    return_to_perf(account, slot);
    take_sample(slot, index);
    if (!account->has_ended)
        thread_time_activate(index);
    if (lacks_stack(account, slot))
        learn_stack(account, index, slot);
    if (slot->trigger == TRIGGER_TIMER)
        trigger_rearm(slot->tid, round_random ^ slot->time);
}

void
harvest_begin_round(uint32_t every, uint64_t random)
{
    uint32_t lost[LOSS_COUNT];
    struct journal_sums *sums = thread_time_sums();
    serve_begin_harvest(every, lost);
    for (uint32_t i = 0; i < LOSS_COUNT; i++) {
        sums->counts.asked += lost[i];
        sums->lost[i] += lost[i];
    }
    round_random = random;
}

/* Turn SLOT, which is taken and whose walk is over, into a sample, and free
 * it. */
static void
take_slot(struct slot *slot)
{
    (void)resume_confirm(&slot->walk, slot->time, slot->unloads,
                         modules_state.unloads);
    if (slot->trigger == TRIGGER_ASK && listener != NULL && listener(slot))
        ;
    else if (slot->trigger == TRIGGER_ASK)
        harvest_answer(slot);
    else
        harvest_own(slot);
    slot_free(slot);
}

/* List the slots that are done (slots_list), the oldest first: what a sample
 * stands for depends on the thread's sample before it. Returns their number. */
static uint32_t
list_done(void)
{
    uint16_t *done = slots_list();
    uint32_t count = 0;
    for (uint32_t i = 0; i < slots_used(); i++) {
        const struct slot *slot = slots_at(i);
        if (!slot_is_in(slot, SLOT_DONE))
            continue;
        uint32_t at = count++;
        for (; at > 0 && slots_at(done[at - 1])->time > slot->time; at--)
            done[at] = done[at - 1];
        done[at] = (uint16_t)i;
    }
    return count;
}

/* Turn the slots whose walk is over into samples: the present module map knows
 * their addresses. */
static void
take_walked(void)
{
    bool was_harvesting = is_harvesting;
    uint32_t count = list_done();
    is_harvesting = true;
    for (uint32_t i = 0; i < count; i++) {
        struct slot *slot = slots_at(slots_list()[i]);
        if (!slot_move(slot, SLOT_DONE, SLOT_TAKEN))
            continue;
        if (slot->unfinished && !serve_give_up(slot))
            slot_move(slot, SLOT_TAKEN, SLOT_DONE);
        else
            take_slot(slot);
    }
    is_harvesting = was_harvesting;
}

void
harvest_refresh_modules(void)
{
    take_walked();
    learn_forget_pages();
    rules_forget_nowhere();
    modules_refresh();
    journal_jitdumps();
}

/* Returns whether the list of done slots is unchanged. */
static bool
finish_slot(struct slot *slot)
{
    bool is_listed = true;
    uint64_t now = slot->unfinished ? clock_now() : 0;
    while (slot->unfinished && !serve_finish(slot, now)) {
        harvest_refresh_modules();
        is_listed = false;
    }
    take_slot(slot);
    return is_listed;
}

bool
harvest_slots(void)
{
    bool is_listed;
    if (is_harvesting)
        return false;
    is_harvesting = true;
    do {
        is_listed = true;
        uint32_t count = list_done();
        for (uint32_t i = 0; i < count && is_listed; i++)
            if (slot_move(slots_at(slots_list()[i]), SLOT_DONE, SLOT_TAKEN))
                is_listed = finish_slot(slots_at(slots_list()[i]));
    } while (!is_listed);
    is_harvesting = false;
    return true;
}

void
harvest_thread_gone(uint32_t index)
{
    if (thread_time_of(index)->in_flight)
        thread_time_lose(thread_time_of(index), LOSS_EXITED);
}

void
harvest_give_up(enum loss cause)
{
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (thread_time_of(i)->in_flight)
            thread_time_lose(thread_time_of(i), cause);
}

bool
harvest_is_waiting(uint64_t since)
{
    for (uint32_t i = 0;
         thread_time_sums()->in_flight != 0 && i < threads_limit(); i++)
        if (thread_time_of(i)->in_flight &&
            thread_time_of(i)->asked_at >= since)
            return true;
    return false;
}
