/* SPDX-License-Identifier: MIT */
/*
 * afford.c -- see afford.h. A process is sampled at the rate that was asked for
 * until it has SAMPLES_LEAST samples. Then the sampler measures what an
 * interruption costs, and writes the first EPOCH.
 *
 * The hard thing is a change of the rate. A new thread inherits its parent's
 * event, and the kernel cannot change the period of an inherited event. So the
 * sampler closes all events, reads the clocks, and opens new events. Meanwhile
 * no thread is interrupted.
 */
#include <stddef.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/proc.h"
#include "base/state.h"
#include "capture/ask.h"
#include "journal/journal.h"
#include "process/threads.h"
#include "sampling/trigger/event_cost.h"
#include "sampling/trigger/trigger.h"
#include "cost.h"
#include "epoch.h"
#include "rates.h"
#include "roster.h"
#include "thread_time.h"
#include "afford.h"

/* Samples of a process before the cost of an interruption is measured. For a
 * short process the measurement would take too long. */
#define SAMPLES_LEAST 250u

/* The longest period, in ns. With the default of SPROF_COST a profile has 100
 * samples of a CPU second, whatever they cost: with fewer, a function that has
 * a tenth of ten seconds is wrong by a fifth of itself
 * (docs/measurements/cost.md). */
#define LONGEST_NS 100000000u
#define LONGEST_DEFAULT_NS 10000000u

/* Least time between two updates of the account, in ns. */
#define LOOK_NS 100000000u

/* Least time between two looks at the program's memory, in ns. */
#define MEMORY_NS NS_PER_SECOND

/* ns for the delivery of a signal. */
#define SIGNAL_NS 3000u

/* What an event of perf costs, in tenths of what event_cost.h has measured.
 * With little memory it costs EVENT_SMALL, with much memory EVENT_LARGE more.
 * An interruption empties the program's caches. On a virtual machine it cost 17
 * us in a loop, 35 us in CPython and sqlite3, 44 us in node, and up to 70 us in
 * a compiler (tests/bench/sample_cost.py). */
#define EVENT_SMALL 12u
#define EVENT_LARGE 30u

/* Cost of a timer's signal or a question in ns, with little memory; and what
 * much memory adds. Both come with an interrupt that would come anyway. */
#define TICK_SMALL_NS 6000u
#define TICK_LARGE_NS 6000u

/* MEMORY_SMALL bytes of resident memory are little. Doubled MEMORY_DOUBLED
 * times, they are much. */
#define MEMORY_SMALL (2u << 20)
#define MEMORY_DOUBLED 5u

/* CPU time, in ns, in which the sampler makes a record of a sample. */
#define RECORD_NS 2000u

static const struct settings *settings;
static struct cost cost;  /* of a forked child: begins with the rest */
static uint64_t event_ns; /* result of event_cost_measure */
static OF_PROFILE bool is_measured;
static OF_PROFILE uint64_t looked; /* CLOCK_MONOTONIC of the last update */
/* Result of memory_percent, and its CLOCK_MONOTONIC time; 0: not yet. */
static OF_PROFILE uint64_t memory, memory_at;
/* The sampler's CPU clock at the last tick. Its ns in ticks for samples alone
 * that are not in the account yet. */
static OF_PROFILE uint64_t own_seen, own;
static OF_PROFILE uint64_t taken, handled; /* sums that are in the account */
/* Whether a reader follows the spool; the period before it came, in ns. Each
 * reader makes two epochs, so readers do not count after EPOCHS_FOLLOWED
 * epochs. Other changes are rare: between two of them, a sixteenth of all CPU
 * time passes (cost.c). */
#define EPOCHS_FOLLOWED (EPOCHS_MOST / 2)
static OF_PROFILE bool is_followed;
static OF_PROFILE uint64_t unfollowed;
static OF_PROFILE uint32_t epochs; /* of the present file */

/* The record of the present epoch, and the account when that epoch began. */
static OF_PROFILE struct record_epoch record;
static OF_PROFILE uint64_t place; /* of RECORD in the file; 0: not written */
static OF_PROFILE uint32_t generation;
static OF_PROFILE uint64_t base_cpu, base_taken, base_spent;

void
afford_begin(const struct settings *given)
{
    uint64_t allowed = given->options->cost.number;
    settings = given;
    uint64_t longest =
        given->options->is_cost_given ? LONGEST_NS : LONGEST_DEFAULT_NS;
    if (given->is_child)
        cost_begin_child(&cost, allowed, longest);
    else
        cost_begin(&cost, allowed, longest);
    epoch_begin(given->period);
    record = (struct record_epoch){.period = given->period, .allowed = allowed};
}

void
afford_start(uint64_t clock)
{
    own_seen = clock;
}

/* Returns how much resident memory the program has, from 0 (little) to 100
 * (much), by the logarithm. */
static uint64_t
memory_percent(void)
{
    char line[128];
    if (proc_read(0, PROC_CALLER, "/statm", line, sizeof(line)) <= 0)
        return 100;
    const char *at = line;
    while (*at != ' ' && *at != '\0')
        at++;
    uint64_t bytes = proc_number(at + (*at == ' ')) * arch_page_size();
    uint64_t percent = 0;
    for (unsigned i = 0; i < MEMORY_DOUBLED && bytes > MEMORY_SMALL; i++) {
        bool is_half = bytes < 2 * (uint64_t)MEMORY_SMALL;
        percent += (is_half ? 50 : 100) / MEMORY_DOUBLED;
        bytes /= 2;
    }
    return percent;
}

/* Returns the ns that an interruption costs beside the handler. */
static uint64_t
interruption(void)
{
    uint64_t now = clock_now();
    if (memory_at == 0 || now - memory_at >= MEMORY_NS) {
        memory = memory_percent();
        memory_at = now;
    }
    if (!trigger_is_perf() || event_ns == 0)
        return TICK_SMALL_NS + TICK_LARGE_NS * memory / 100;
    return SIGNAL_NS +
           event_ns * (EVENT_SMALL + EVENT_LARGE * memory / 100) / 10;
}

static uint64_t
total_cpu(void)
{
    uint64_t cpu = 0;
    for (unsigned i = 0; i < LIMIT_COUNT; i++)
        cpu += thread_time_sums()->due_cpu[i];
    return cpu;
}

/* Note the sampler's CPU time since the last tick, if that tick was made for
 * samples alone. Other ticks look at threads that wait, too. */
static void
note_own(uint64_t clock, bool is_busy)
{
    if (is_busy || trigger_is_ask())
        own += clock - own_seen;
    own_seen = clock;
}

/* Add the costs since the last update to the account. */
static void
update_account(void)
{
    const struct journal_sums *sums = thread_time_sums();
    uint64_t more = sums->counts.taken - taken;
    uint64_t handler = sums->handled - handled;
    uint64_t records = more * RECORD_NS;
    record.each = interruption();
    cost_note(&cost, total_cpu(), more, more * record.each + handler + records,
              own > records ? own - records : 0);
    taken = sums->counts.taken;
    handled = sums->handled;
    own = 0;
}

/* Fill RECORD with the account of the present epoch. */
static void
fill_record(void)
{
    record.cpu = cost.cpu - base_cpu;
    record.taken = cost.taken - base_taken;
    record.spent = cost.spent - base_spent;
}

static void
append_record(uint64_t began)
{
    record.time = journal_time(began);
    fill_record();
    generation = journal_generation();
    place = journal_append(RECORD_EPOCH, &record, sizeof(record), NULL, 0);
    epochs++;
}

void
afford_publish(void)
{
    const size_t from = offsetof(struct record_epoch, each);
    if (place == 0 || generation != journal_generation())
        return;
    update_account();
    fill_record();
    journal_change(place, from, (const char *)&record + from,
                   sizeof(record) - from);
}

/* Begin to count for a new record. */
static void
begin_record(void)
{
    base_cpu = cost.cpu;
    base_taken = cost.taken;
    base_spent = cost.spent;
}

void
afford_rotate(uint64_t now)
{
    epochs = 0;
    if (is_measured) {
        begin_record();
        append_record(now);
    } else {
        base_cpu = total_cpu();
        base_taken = thread_time_sums()->counts.taken;
    }
}

/* Write the CPU time of thread INDEX, if it has run since the last epoch began.
 */
static void
write_clock(uint32_t index)
{
    struct thread_time *account = thread_time_of(index);
    uint64_t clock = CLOCK_NONE;
    if (account->is_active)
        clock = clock_thread(threads_at(index)->tid);
    if (clock == CLOCK_NONE)
        clock = account->seen;
    rates_run(account, clock);
    uint64_t used = clock > account->base ? clock - account->base : 0;
    account->asked_for = 0; /* CPU time in the epoch before */
    if (used == account->epoch_used)
        return;
    account->epoch_used = used;
    struct record_clock clock_record = {.thread = journal_thread(index),
                                        .cpu = used};
    journal_append(RECORD_CLOCK, &clock_record, sizeof(clock_record), NULL, 0);
}

/* Begin an epoch with a sample every PERIOD ns. */
static void
change_rate(uint64_t period, uint64_t random)
{
    trigger_pause();
    uint64_t now = clock_now();
    afford_publish();
    epoch_change(period, now);
    ask_set_period(period);
    record.period = period;
    begin_record();
    append_record(now);
    for (uint32_t i = 0; i < threads_limit(); i++)
        if (threads_at(i)->tid != 0 && !thread_time_of(i)->is_ignored &&
            !thread_time_of(i)->has_ended)
            write_clock(i);
    roster_begin_epoch();
    trigger_resume(random);
}

static void
measure(void)
{
    event_ns = trigger_is_perf() ? event_cost_measure() : 0;
    is_measured = true;
    update_account();
    append_record(settings->start);
}

/* Returns the period that the process is to have now, in ns. */
static uint64_t
wanted_period(void)
{
    bool was_followed = is_followed;
    is_followed = !settings->options->is_cost_given && cost.plan != 0 &&
                  (was_followed || epochs < EPOCHS_FOLLOWED) &&
                  journal_is_followed();
    if (!was_followed && !is_followed)
        return cost_period(&cost, settings->period, epoch_period());
    cost_forgive(&cost);
    if (!was_followed)
        unfollowed = epoch_period();
    return is_followed ? settings->period : unfollowed;
}

bool
afford_tick(uint64_t now, uint64_t clock, bool is_busy, uint64_t random)
{
    note_own(clock, is_busy);
    if (now - looked < LOOK_NS)
        return false;
    looked = now;
    bool is_due = thread_time_sums()->counts.taken >= SAMPLES_LEAST;
    if (!is_measured && !is_due)
        return false;
    if (!is_measured)
        measure();
    afford_publish();
    uint64_t period = wanted_period();
    if (period == epoch_period())
        return false;
    change_rate(period, random);
    return true;
}
