/* SPDX-License-Identifier: MIT */
/*
 * observe.c -- see observe.h.
 *
 * Wall time is split exactly. The thread's CPU clock shows how long it ran
 * between two looks, and the samples that interrupted it show where. For the
 * rest it waited. That time is shown at the place where the look finds it.
 *
 * The hard thing is the cost of looking. A quiet thread has not run since a
 * look found it waiting, so it still waits there. Its record stays open, and
 * the thread is not looked at. Subtract from the process's CPU time that of the
 * sampler, and of all threads that were looked at. If the rest has grown, a
 * quiet thread has run. Then the quiet threads are looked at (quiet.h).
 */
#include <stddef.h>

#include "base/clock.h"
#include "base/state.h"
#include "capture/ask.h"
#include "capture/serve.h"
#include "capture/waiting.h"
#include "journal/journal.h"
#include "labels/labels.h"
#include "process/status.h"
#include "process/threads.h"
#include "sampling/trigger/trigger.h"
#include "alarms.h"
#include "asking.h"
#include "epoch.h"
#include "in_line.h"
#include "quiet.h"
#include "rates.h"
#include "thread_time.h"
#include "wait.h"
#include "wait_times.h"
#include "observe.h"

/* Limits of the threads that one tick looks at: LOOK_MOST of those that ran
 * lately, and SCAN_MOST of the others. Thrift divides both limits, but not
 * below LOOK_LEAST. */
#define LOOK_MOST 256u
#define SCAN_MOST 64u
#define LOOK_LEAST 8u

/* Limit of the threads that are looked at once more when the program ends. */
#define LAST_MOST 8u

/* Limit of the threads whose labels are compared in one tick. */
#define LABEL_MOST 256u

/* A thread is quiet when QUIET_LOOKS looks in a row find that it has not run,
 * or QUIET_LOOKS_OF_FEW if at most FEW_ACTIVE others are active. A short run of
 * a quiet thread is found late, and its wait gets the time until then. */
#define QUIET_LOOKS 2u
#define QUIET_LOOKS_OF_FEW 64u
#define FEW_ACTIVE 128u

/* CPU time, in ns, after which a thread's clock is written again. After a kill
 * the profile lacks less than that for each thread, and the time since the last
 * tick. */
#define LIVE_NS 2000000u

/* CPU time without a sample after which a thread's trigger is doubted:
 * UNREACHED_PERIODS periods, and at least UNREACHED_NS ns. */
#define UNREACHED_PERIODS 16u
#define UNREACHED_NS 100000000u

/* Least part of that time, 1 / USER_PART, that is outside the kernel. A thread
 * with a smaller part may have been in one system call. */
#define USER_PART 8u

/* After a noted wait, a thread counts as one that waits now and then for this
 * CPU time, in ns. */
#define NOTED_NS 100000000u

#define ASK_MOST 128u /* most questions in a tick: half of SLOTS_LEAST */

/* Number of looks after which parked threads are served. */
#define SERVE_EVERY 8u

/* Some threads must not be interrupted (TRIGGER_NONE; tracee.h). Their CPU time
 * is recorded without a stack, so that their other samples are not scaled up to
 * cover it. One record covers the looks of RECORD_NS ns of wall time. */
#define RECORD_NS 100000000u

/* A look at thread INDEX, whose thread time is ACCOUNT: it ran for RAN of the
 * BETWEEN ns before NOW. */
static void
add_unsampled(struct thread_time *account, uint32_t index, uint64_t ran,
              uint64_t between, uint64_t now)
{
    if (account->unsampled == 0)
        account->unsampled_since = now - between;
    account->unsampled += ran;
    account->unsampled_until = now;
    if (now - account->unsampled_since >= RECORD_NS)
        observe_flush(account, index);
}

/* Write that thread INDEX used CPU ns from SINCE to UNTIL, at the age AGE.
 * Returns whether that was written. */
static bool
write_unsampled(uint32_t index, uint64_t cpu, uint64_t since, uint64_t until,
                uint64_t age)
{
    uint64_t count = cpu / thread_time_period();
    struct record_sample sample =
        journal_make_sample(STATE_RUNNING, (struct journal_place){0}, since,
                            until);
    sample.wall = sample.cpu = cpu;
    sample.count = count != 0 ? count : 1;
    sample.flags = SAMPLE_NOT_SAMPLED;
    sample.age = age;
    if (journal_sample(&sample, index) == 0)
        return false;
    thread_time_sums()->counts.kept += sample.count;
    return true;
}

void
observe_flush(struct thread_time *account, uint32_t index)
{
    if (account->unsampled == 0)
        return;
    uint64_t age =
        account->seen > account->base ? account->seen - account->base : 0;
    bool is_written =
        write_unsampled(index, account->unsampled, account->unsampled_since,
                        account->unsampled_until, age);
    account->unsampled = 0;
    account->last = NULL;
    thread_time_sums()->unsampled += is_written;
}

void
observe_early(uint32_t index, uint64_t cpu, uint64_t since, uint64_t until)
{
    if (cpu != 0)
        (void)write_unsampled(index, cpu, since, until, cpu / 2);
}

/* Part of the time between two looks in which a thread neither ran nor stood in
 * line for a CPU. Above 1 / WAITED_PART, the thread is looked at closely.
 * Above 1 / WAITS_PART, the next tick should not come late. */
#define WAITED_PART 8u
#define WAITS_PART 32u

static OF_PROFILE uint32_t label_cursor, label_looks; /* activate_relabelled */
static OF_PROFILE uint64_t distance; /* least ns between two recent looks */

void
observe_begin(void)
{
    quiet_begin();
    label_looks = 0;
}

/* The thread's clock has moved, so its wait is over. Since the last look it ran
 * for RAN ns, and did not run for IDLE ns. If looks came at equal distances,
 * the next wait would get all of IDLE, which is right on average. But they are
 * rarer after a long wait. Half of the distance that this adds belongs to the
 * wait. */
static void
end_wait(struct thread_time *account, uint32_t index, uint64_t ran,
         uint64_t idle, uint64_t now)
{
    bool is_timed = wait_times_close(account, account->wait_until);
    uint64_t more = idle > distance && !is_timed ? (idle - distance) / 2 : 0;
    uint64_t end = account->wait_until + more;
    wait_close(index, end);
    account->rest += (int64_t)(now - end);
    account->rest -= (int64_t)ran;
    account->woke_clock = account->seen;
    account->has_woken = !is_timed;
    if (!is_timed)
        account->stood_at = account->waited_at;
    account->mostly_queues = false;
}

/* Doubt the trigger of a thread that has run for long without a sample.
 *
 * Samples are harvested before the clocks are read, and the thread runs on
 * between the two. So its run since the last check proves nothing: its samples
 * may not be harvested yet. Its run before that check counts, because those
 * samples were harvested before this check. (A busy thread is looked at up to
 * 128 ms apart. A doubt by the clock at this check gave such threads a timer
 * beside their event.)
 *
 * Our events and timers do not interrupt a system call. A question does, and
 * some calls then return before they have done all (sendfile(2),
 * copy_file_range(2)). So a thread that is in the kernel all the time is not
 * asked. */
static void
doubt_trigger(struct thread_time *account, uint32_t index, uint64_t clock)
{
    uint64_t most = UNREACHED_PERIODS * epoch_period();
    pid_t tid = threads_at(index)->tid;
    uint64_t checked = account->checked;
    account->checked = clock;
    if (account->is_reached)
        account->reached = clock;
    account->is_reached = false;
    bool is_again = account->doubted > account->reached;
    if (most < UNREACHED_NS)
        most = UNREACHED_NS;
    if (checked <= (is_again ? account->doubted : account->reached) + most)
        return;
    uint64_t user = status_user_time(tid);
    bool is_outside =
        is_again && user - account->doubted_user >= most / USER_PART;
    account->trigger = trigger_after(account->trigger, tid, is_outside);
    account->doubted = clock;
    account->doubted_user = user;
}

/* Ask the thread for a sample, if it may be asked. Returns whether it was. */
static bool
ask_now(struct thread_time *account, uint32_t index, uint64_t clock,
        uint64_t now, struct observe_view *view)
{
    if (view->asked >= ASK_MOST || !asking_may(account, index, clock) ||
        !asking_sample(account, index, clock, now))
        return false;
    view->asked++;
    return true;
}

/* The thread ran, and may still run. Ask it, or check its own trigger. */
static void
see_running(struct thread_time *account, uint32_t index, uint64_t clock,
            uint64_t now, uint64_t between, struct observe_view *view)
{
    if (account->trigger == TRIGGER_PERF || account->trigger == TRIGGER_TIMER)
        doubt_trigger(account, index, clock);
    if (between != 0 && ask_now(account, index, clock, now, view))
        asking_weigh(account, between);
    if (account->rest > (int64_t)(2 * thread_time_period()) &&
        account->stood_at.node == 0 && !thread_time_is_cpu_only()) {
        uint64_t times, queued = in_line_read(account, index, &times);
        in_line_note(account, index, queued, times, distance, now);
    }
    in_line_hurry(account, index, now);
}

/* The thread is in line. Find its place. */
static void
see_in_line(struct thread_time *account, uint32_t index, uint64_t clock,
            uint64_t now, struct observe_view *view)
{
    if (view->asked < ASK_MOST && asking_place(account, index, clock, now))
        view->asked++;
    else
        in_line_see(account, index, clock, now);
}

/* A look finds the thread waiting. Take the note of that wait. */
static void
note_wait(struct thread_time *account, uint32_t index, uint64_t clock)
{
    (void)waiting_read(index, &account->noted);
    account->noted_clock = clock;
}

/* Wall time outside measured calls is not given to one, unless it is at least
 * this much, in ns: then no look will find its place. */
#define UNTIMED_MOST 100000000

/* The thread waits at PLACE, as LOOK says. */
static void
begin_wait(struct thread_time *account, uint32_t index, const struct look *look,
           const struct journal_place *place, uint64_t now)
{
    uint64_t ns;
    int64_t others = 0;
    if (!wait_times_find(account, index, place, now, &ns)) {
        /* While a wait is open, its record is the last one. */
        in_line_place(account, index, place, now);
    } else if (account->rest < UNTIMED_MOST) {
        others = account->rest;
        account->rest = (int64_t)ns;
    } else {
        account->rest += (int64_t)ns;
    }
    wait_open(index, look, place, now);
    account->rest += others;
}

/* Find out what the thread does at this instant, when its clock does not say.
 */
static void
look_closer(struct thread_time *account, uint32_t index, uint64_t clock,
            uint64_t now, uint64_t between, struct observe_view *view)
{
    struct look look;
    struct journal_place place;
    pid_t tid = threads_at(index)->tid;
    /* CLOCK was read some us ago. A short wait may have begun since. */
    uint64_t latest = clock_thread(tid);
    wait_look_at(tid, &look);
    if (look.state == LOOK_RUNNING) {
        if (!thread_time_is_cpu_only() && account->stood_at.node == 0 &&
            clock_thread(tid) == latest)
            see_in_line(account, index, latest, now, view);
        bool is_asked = asking_is_time(account, index);
        see_running(account, index, clock, now, is_asked ? between : 0, view);
    } else if (look.state != LOOK_GONE && !thread_time_is_cpu_only()) {
        note_wait(account, index, clock);
        if (wait_place(index, &look, latest, &place)) {
            account->stood_at.node = 0;
            account->held = account->stood = 0;
            begin_wait(account, index, &look, &place, now);
        }
    }
    if (view->same > account->same_waits)
        view->same = account->same_waits;
}

/* The thread ran for RAN ns between two looks. Returns the part of it that no
 * sample covers yet. A hook has made a sample of each fork. A thread that is
 * asked just after its fork would show the time of the fork a second time.
 */
static uint64_t
without_measured(uint32_t index, uint64_t ran)
{
    uint64_t measured = serve_take_measured(index);
    return ran - (measured < ran ? measured : ran);
}

/* Write the thread's CPU clock, if it has moved by LIVE_NS. */
static void
write_clock(struct thread_time *account, uint32_t index)
{
    uint64_t used = account->seen - account->base;
    if (used - account->live_cpu < LIVE_NS)
        return;
    account->live_cpu = used;
    if (account->live_place != 0) {
        journal_change(account->live_place, offsetof(struct record_live, cpu),
                       &used, sizeof(used));
        return;
    }
    struct record_live record = {.thread = journal_thread(index), .cpu = used};
    account->live_place =
        journal_append(RECORD_LIVE, &record, sizeof(record), NULL, 0);
}

/* The thread ran for RAN of the time since the last look. */
static void
see_moved(struct thread_time *account, uint32_t index, uint64_t clock,
          uint64_t ran, uint64_t now, struct observe_view *view)
{
    uint64_t since = account->seen_at, between = now - since;
    uint64_t queued = 0, times = 0;
    uint64_t rest = without_measured(index, ran);
    bool runs = asking_finds(account, index, clock, ran, between);
    bool was_in_flight = account->in_flight;
    /* Done at once: a moment later it may be elsewhere. */
    bool is_asked =
        runs && rest != 0 && ask_now(account, index, clock, now, view);
    bool has_no_waits =
        thread_time_is_cpu_only() && account->trigger != TRIGGER_ASK;
    rates_run(account, clock);
    thread_time_activate(index);
    /* While it waited, it was not in line. */
    if (account->wait != NULL) {
        since = account->wait_until;
        between = now - since;
    }
    uint64_t idle = between > ran ? between - ran : 0;
    /* On a busy machine a thread that never waits spends much time in line. It
     * needs no look in every period. */
    if ((idle > between / WAITED_PART || account->stood_at.node != 0) &&
        !has_no_waits)
        queued = in_line_read(account, index, &times);
    uint64_t idle_queued = queued < idle ? queued : idle;
    bool was_waiting = account->wait != NULL;
    idle -= idle_queued;
    if (account->wait != NULL)
        end_wait(account, index, ran, idle, now);
    else
        account->rest += (int64_t)between - (int64_t)ran;
    if (!thread_time_is_cpu_only()) {
        queued = wait_times_take(account, index, queued, now);
        in_line_note(account, index, queued, times, distance, now);
        wait_times_measure(account, index,
                           was_waiting || idle > between / WAITS_PART, now);
    }
    account->seen = clock;
    account->seen_at = now;
    if (clock - account->noted_clock > NOTED_NS)
        account->noted.pc = 0;
    write_clock(account, index);
    view->ran = true;
    if (account->trigger == TRIGGER_NONE)
        add_unsampled(account, index, ran, between, now);
    /* A thread that is asked in line, too, is found more often. */
    bool is_found = runs && account->noted.pc != 0;
    uint64_t open =
        (uint64_t)((__uint128_t)(between - (is_found ? 0 : idle_queued)) *
                   rest / ran);
    /* It answers when its system call returns, and runs until then. */
    if (was_in_flight && account->trigger == TRIGGER_ASK)
        account->asked_for += rest;
    if (is_asked)
        asking_weigh(account, open);
    if (has_no_waits) {
        see_running(account, index, clock, now, open, view);
        return;
    }
    view->waits |= idle > between / WAITS_PART;
    bool has_waited = idle > between / WAITED_PART || account->is_new;
    bool has_queued = idle_queued > between / WAITED_PART;
    if (!has_waited && !(has_queued && in_line_may_wait(account, index))) {
        if (has_queued)
            in_line_guess(account, index, now);
        see_running(account, index, clock, now, open, view);
        return;
    }
    view->changes = true;
    if (runs)
        see_running(account, index, clock, now, open, view);
    else
        look_closer(account, index, clock, now, open, view);
}

/* The thread has not run since the last look. */
static void
see_unmoved(struct thread_time *account, uint32_t index, uint64_t clock,
            uint64_t now, struct observe_view *view)
{
    account->quiet++;
    if (account->wait != NULL) {
        account->wait_until = now;
    } else if (!thread_time_is_cpu_only()) {
        uint64_t between = now - account->seen_at;
        account->rest += (int64_t)between;
        if (account->stood_at.node != 0)
            account->stood += between;
        (void)wait_times_take(account, index, 0, now);
        look_closer(account, index, clock, now, 0, view);
        view->changes |= account->wait == NULL;
    }
    account->seen_at = now;
    thread_time_sums()->counts.kept++;
    bool are_few = thread_time_active_count() <= FEW_ACTIVE;
    if (account->quiet >= (are_few ? QUIET_LOOKS_OF_FEW : QUIET_LOOKS) &&
        (account->wait != NULL || thread_time_is_cpu_only()))
        thread_time_deactivate(index);
}

/* Returns the CPU time that thread INDEX used since the last look. Its calls
 * are measured up to now, not to the beginning of the tick. */
static uint64_t
look_at_thread(uint32_t index, struct observe_view *view)
{
    struct thread_time *account = thread_time_of(index);
    uint64_t clock = clock_thread(threads_at(index)->tid), now = clock_now();
    if (clock == CLOCK_NONE) {
        threads_touch();
        thread_time_deactivate(index);
        return 0;
    }
    uint64_t ran = clock - account->seen;
    if (account->is_new && !account->is_timed && !thread_time_is_cpu_only())
        wait_times_begin(account, index, now);
    if (account->told_at.node != 0) {
        in_line_place(account, index, &account->told_at, now);
        account->told_at.node = 0;
    }
    enum loss refusal = ask_refusal(index, account->sequence);
    if (account->in_flight && refusal != LOSS_COUNT)
        thread_time_lose(account, refusal);
    if (ran != 0)
        see_moved(account, index, clock, ran, now, view);
    else
        see_unmoved(account, index, clock, now, view);
    view->first_looks += account->is_new;
    account->is_new = false;
    return ran;
}

/* MOST divided by THRIFT, but at least LOOK_LEAST. */
static uint32_t
share_of(uint32_t most, uint32_t thrift)
{
    return most / thrift > LOOK_LEAST ? most / thrift : LOOK_LEAST;
}

/* A thread that wakes, changes its labels and waits again may use too little
 * CPU time to be noticed. Its new labels show that this wait is another one. So
 * a tick compares the labels of some threads, and looks at those that changed.
 * It does so twice after each change, because the first look may be too early.
 */
static void
activate_relabelled(struct observe_view *view)
{
    uint32_t limit = threads_limit();
    if (labels_have_changed())
        label_looks = 2 * limit;
    uint32_t count = label_looks < limit ? label_looks : limit;
    if (count > LABEL_MOST)
        count = LABEL_MOST;
    label_looks -= count;
    while (count-- > 0) {
        uint32_t index = label_cursor++ % limit;
        const struct thread_time *account = thread_time_of(index);
        if (threads_at(index)->tid != 0 && account->wait != NULL &&
            account->waited_at.set != labels_of(threads_at(index)->tid)) {
            thread_time_activate(index);
            view->relabelled = true;
        }
    }
}

static void
look_at_active(uint64_t random, uint32_t most, struct observe_view *view)
{
    uint32_t count = thread_time_active_count();
    uint32_t first = count > most ? (uint32_t)(random % count) : 0;
    uint32_t looked[LOOK_MOST];
    /* A look changes the list: copy a part of it first. */
    if (count > most)
        count = most;
    for (uint32_t i = 0; i < count; i++)
        looked[i] =
            thread_time_active_at((first + i) % thread_time_active_count());
    for (uint32_t i = 0; i < count; i++) {
        quiet_explain(look_at_thread(looked[i], view));
        /* A thread may park during the looks. It is served between two of them.
         */
        if (i % SERVE_EVERY == SERVE_EVERY - 1)
            serve_parked();
    }
}

void
observe_last(pid_t ender)
{
    struct observe_view view = {0};
    uint32_t looked[LAST_MOST], count = 0;
    for (uint32_t i = 0; i < thread_time_active_count() && count < LAST_MOST;
         i++) {
        uint32_t index = thread_time_active_at(i);
        if (threads_at(index)->tid != ender)
            looked[count++] = index;
    }
    for (uint32_t i = 0; i < count; i++)
        quiet_explain(look_at_thread(looked[i], &view));
}

void
observe_threads(uint64_t now, uint64_t random, uint32_t thrift,
                struct observe_view *view)
{
    *view = (struct observe_view){.same = UINT32_MAX};
    distance = thrift * thread_time_period();
    activate_relabelled(view);
    look_at_active(random, share_of(LOOK_MOST, thrift), view);
    view->own =
        quiet_read(now, share_of(SCAN_MOST, thrift), thrift, &view->process);
    uint32_t index;
    while ((index = quiet_next()) != THREADS_NONE)
        quiet_explain(look_at_thread(index, view));
    quiet_end(now);
}

/* Show, without a stack, the wall time in which the thread was seen neither
 * running nor waiting. Less than a period is left out: looks at random instants
 * may miss as much. */
static void
show_rest(struct thread_time *account, uint32_t index, uint64_t end)
{
    if (account->rest < (int64_t)thread_time_period() ||
        thread_time_is_cpu_only())
        return;
    struct record_sample sample =
        journal_make_sample(STATE_WAITING, (struct journal_place){0},
                            end - (uint64_t)account->rest, end);
    journal_sample(&sample, index);
}

/* Show all of the thread's time up to END, when its CPU clock reads CLOCK.
 * IS_ALIVE: the thread has not ended. Returns the CPU time since the last look.
 */
static uint64_t
show_all(struct thread_time *account, uint32_t index, uint64_t clock,
         uint64_t end, bool is_alive)
{
    uint64_t ran = clock > account->seen ? clock - account->seen : 0;
    uint64_t waited = account->wait_until;
    observe_flush(account, index);
    rates_run(account, clock);
    if (account->wait != NULL) {
        /* The wait reaches to END, less the CPU time that followed it. */
        if (end > waited + ran)
            waited = end - ran;
        (void)wait_times_close(account, waited);
        wait_close(index, waited);
    } else {
        /* A thread that reported its END may have been entered after that. */
        account->rest += (int64_t)(end - account->seen_at) - (int64_t)ran;
    }
    (void)wait_times_take(account, index, 0, end);
    wait_times_flush(account, index, end, true);
    in_line_end(account, index, end, is_alive);
    show_rest(account, index, end);
    return ran;
}

void
observe_end_thread(uint32_t index, uint64_t clock, uint64_t start, uint64_t end,
                   bool exact)
{
    struct thread_time *account = thread_time_of(index);
    if (start < account->known_from)
        account->rest += (int64_t)(account->known_from - start);
    quiet_explain(show_all(account, index, clock, end, false));
    thread_time_deactivate(index);
    journal_thread_end(index, clock > account->base ? clock - account->base : 0,
                       exact ? THREAD_END_EXACT : 0, end);
}

static bool
is_followed(uint32_t index)
{
    return threads_at(index)->tid != 0 && !thread_time_of(index)->is_ignored &&
           !thread_time_of(index)->has_ended;
}

void
observe_end(uint64_t now)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        struct thread_time *account = thread_time_of(i);
        if (!is_followed(i))
            continue;
        uint64_t clock = clock_thread(threads_at(i)->tid);
        bool exact = clock != CLOCK_NONE;
        if (!exact)
            clock = account->seen;
        uint64_t cpu = clock > account->base ? clock - account->base : 0;
        (void)show_all(account, i, clock, now, exact);
        account->seen = clock;
        journal_thread_end(i, cpu,
                           THREAD_END_ALIVE | (exact ? THREAD_END_EXACT : 0),
                           now);
        thread_time_keep(i, cpu);
    }
}

/* Close the thread's wait, or add its time until NOW, and read its CPU clock.
 * Wall time that no record shows yet is shown in the next file. */
static void
rotate_thread(struct thread_time *account, uint32_t index, uint64_t now)
{
    uint64_t clock = clock_thread(threads_at(index)->tid);
    bool is_there = clock != CLOCK_NONE;
    uint64_t ran = is_there ? clock - account->seen : 0, end = account->seen_at;
    observe_flush(account, index);
    in_line_settle(account, index, now);
    wait_times_flush(account, index, now, false);
    rates_run(account, account->seen + ran);
    if (account->wait != NULL) {
        end = account->wait_until;
        if (is_there && now > end + ran)
            end = now - ran;
        (void)wait_times_close(account, end);
        wait_close(index, end);
        /* The thread may still wait: the next tick looks at it. */
        account->is_new = is_there;
    }
    if (is_there) {
        account->rest += (int64_t)(now - end) - (int64_t)ran;
        account->seen = clock;
        account->seen_at = account->wait_until = now;
    }
    quiet_explain(ran);
    journal_thread_end(index, account->seen - account->base,
                       THREAD_END_ALIVE | (is_there ? THREAD_END_EXACT : 0u),
                       now);
}

void
observe_end_before_rotate(uint64_t now)
{
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (is_followed(i))
            rotate_thread(thread_time_of(i), i, now);
}

void
observe_end_after_rotate(void)
{
    for (uint32_t i = 0; i < threads_limit(); i++) {
        thread_time_rotate(i);
        if (is_followed(i) && thread_time_of(i)->is_new)
            thread_time_activate(i);
    }
}
