/* SPDX-License-Identifier: MIT */
/* sampling_maker.c -- see sampling_maker.h. */
#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/state.h"
#include "base/sys.h"
#include "capture/ask.h"
#include "capture/serve.h"
#include "capture/shared.h"
#include "labels/labels.h"
#include "process/look.h"
#include "process/modules.h"
#include "process/status.h"
#include "process/threads.h"
#include "sampling/epoch.h"
#include "sampling/harvest.h"
#include "sampling/registry.h"
#include "sampling/roster.h"
#include "sampling/thread_ends.h"
#include "sampling/thread_time.h"
#include "sampling/trigger/cpu_timer.h"
#include "sampling/trigger/trigger.h"
#include "sampling/wait.h"
#include "signals/nested.h"
#include "unwind/learn.h"
#include "unwind/peek.h"
#include "unwind/resume.h"
#include "unwind/rules.h"
#include "sampling_maker.h"

#define THREADS 64u
#define ENDS 64u

struct options made_options;
struct settings made_settings;
uint64_t made_now, made_own, made_measured;
enum trigger made_trigger, made_next;
bool made_is_split;
long made_ask_result;
enum loss made_refusal;
bool made_keeps;
bool made_may_ask;
uint64_t made_list_cost;
uint32_t made_lost[LOSS_COUNT];
bool made_map_is_old;
unsigned made_records_at_map;
unsigned made_doubts;
unsigned made_list_readings, made_rearmed;

static struct made_thread threads[THREADS];
static uint64_t ended_cpu; /* of threads that are gone */
static struct thread_end reports[ENDS];
static unsigned report_first, report_count;
static char names[THREADS][16];
static bool have_labels_changed;

__thread volatile bool shared_is_registered;

bool
nested_is_forked(uint64_t mark)
{
    (void)mark;
    return false;
}

void
made_begin(void)
{
    state_renew_process();
    state_renew_profile();
    memset(threads, 0, sizeof(threads));
    memset(names, 0, sizeof(names));
    memset(made_lost, 0, sizeof(made_lost));
    memset(&made_options, 0, sizeof(made_options));
    made_settings = (struct settings){.options = &made_options,
                                      .pid = MADE_PID,
                                      .period = MADE_PERIOD};
    epoch_begin(MADE_PERIOD);
    shared_is_registered = false;
    made_list_cost = 0;
    made_doubts = 0;
    made_may_ask = made_map_is_old = false;
    made_now = MADE_START;
    made_own = ended_cpu = made_measured = 0;
    made_trigger = TRIGGER_ASK;
    made_is_split = false;
    made_next = TRIGGER_ASK;
    made_ask_result = 0;
    made_refusal = LOSS_COUNT;
    made_keeps = false;
    made_journal_is_full = have_labels_changed = false;
    made_record_count = made_end_count = made_clock_count = 0;
    made_list_readings = made_rearmed = made_records_at_map = 0;
    report_first = report_count = 0;
    assert_int_equal(slots_begin(16, 64), 0);
    (void)made_thread_begin(MADE_PID);
}

void
made_begin_sampling(void)
{
    assert_int_equal(thread_time_begin(&made_settings), 0);
    assert_int_equal(registry_begin(&made_settings), 0);
    assert_int_equal(wait_begin(64), 0);
    roster_begin(&made_settings, true);
    roster_prepare();
    roster_start(made_now, false);
    observe_begin();
}

struct made_thread *
made_thread_of(pid_t tid)
{
    for (unsigned i = 0; i < THREADS; i++)
        if (threads[i].tid == tid)
            return &threads[i];
    return NULL;
}

struct made_thread *
made_thread_begin(pid_t tid)
{
    struct made_thread *thread = made_thread_of(tid);
    if (thread == NULL)
        thread = made_thread_of(0);
    assert_non_null(thread);
    *thread =
        (struct made_thread){.tid = tid, .is_listed = true, .began = made_now};
    snprintf(names[thread - threads], sizeof(names[0]), "thread %d", tid);
    threads_touch();
    return thread;
}

void
made_run(pid_t tid, uint64_t ns)
{
    made_now += ns;
    if (tid == 0)
        return;
    made_thread_of(tid)->cpu += ns;
    made_thread_of(tid)->user += ns;
}

void
made_wait(pid_t tid, uint64_t pc)
{
    struct made_thread *thread = made_thread_of(tid);
    thread->is_waiting = true;
    thread->pc = pc;
    thread->call = 1;
}

void
made_wake(pid_t tid)
{
    made_thread_of(tid)->is_waiting = false;
}

pid_t __wrap_sys_gettid(void);
static pid_t caller; /* 0: the sampler */

pid_t
__wrap_sys_gettid(void)
{
    return caller != 0 ? caller : getpid();
}

void
made_register(pid_t tid)
{
    caller = tid;
    made_own = made_thread_of(tid)->cpu;
    registry_add_caller();
    made_own = caller = 0;
}

void
made_report_end(pid_t tid, uint64_t start, const char *name)
{
    struct thread_end *end = &reports[report_count++ % ENDS];
    *end = (struct thread_end){.tid = tid,
                               .start = start,
                               .time = made_now,
                               .cpu = made_thread_of(tid)->cpu};
    snprintf(end->name, sizeof(end->name), "%s", name);
}

void
made_thread_gone(pid_t tid)
{
    struct made_thread *thread = made_thread_of(tid);
    ended_cpu += thread->cpu;
    *thread = (struct made_thread){.tid = 0};
    threads_touch();
}

void
made_label(pid_t tid, uint32_t label)
{
    made_thread_of(tid)->label = label;
    have_labels_changed = true;
}

struct slot *
made_sample(pid_t tid, enum trigger trigger, uint64_t pc)
{
    struct made_thread *thread = made_thread_of(tid);
    struct slot *slot = slots_claim(0);
    assert_non_null(slot);
    slot->thread = trigger == TRIGGER_ASK ? thread->index : SLOT_NO_THREAD;
    slot->sequence = thread->cookie;
    slot->tid = tid;
    slot->time = made_now;
    slot->clock = thread->cpu;
    slot->label = thread->label;
    slot->trigger = (uint8_t)trigger;
    slot->parked = slot->unfinished = slot->in_syscall = false;
    slot->thread_pointer = 0;
    slot->stopped = 0;
    slot->measured = 0;
    slot->kernel = CLOCK_NONE;
    slot->owed = 0;
    slot->cpu = 0;
    slot->walk.depth = 1;
    slot->walk.cut = CUT_NONE;
    slot->walk.tail = 0;
    slot->walk.frames[0] = frame_exact(pc);
    assert_true(slot_move(slot, SLOT_CLAIMED, SLOT_DONE));
    return slot;
}

struct observe_view
made_tick(void)
{
    struct observe_view view;
    harvest_begin_round(64, 0);
    harvest_slots();
    roster_update(made_now);
    observe_threads(made_now, 0, 1, &view);
    return view;
}

bool
made_sums_add_up(void)
{
    const struct journal_sums *sums = thread_time_sums();
    uint64_t sum = sums->counts.taken + sums->in_flight;
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        sum += sums->lost[i];
    return sum == sums->counts.asked;
}

/* base/clock.h */

uint64_t
clock_now(void)
{
    return made_now;
}

uint64_t
clock_own(void)
{
    return made_own;
}

uint64_t
clock_thread(pid_t tid)
{
    struct made_thread *thread = tid > 0 ? made_thread_of(tid) : NULL;
    return thread != NULL ? thread->cpu += thread->runs_on : CLOCK_NONE;
}

uint64_t
clock_process(void)
{
    uint64_t sum = ended_cpu + made_own;
    for (unsigned i = 0; i < THREADS; i++)
        sum += threads[i].cpu;
    return sum;
}

uint64_t
clock_own_kernel(void)
{
    return CLOCK_NONE;
}

uint64_t
clock_tick(void)
{
    return 4 * MADE_MS;
}

/* process/: the list of threads comes through getdents64(2). */

long __wrap_sys_getdents(int fd, void *buffer, size_t size);
long __wrap_sys_count_links(int fd);
long __wrap_sys_seek(int fd, uint64_t offset);
long __wrap_sys_read_file_at(int directory, const char *path, char *buffer,
                             size_t size);
static unsigned list_place;

long
__wrap_sys_seek(int fd, uint64_t offset)
{
    (void)fd, (void)offset;
    list_place = 0;
    made_own += made_list_cost;
    made_list_readings++;
    return 0;
}

long
__wrap_sys_getdents(int fd, void *buffer, size_t size)
{
    (void)fd;
    assert_true(size >= sizeof(struct dirent64));
    while (list_place < THREADS && !threads[list_place].is_listed)
        list_place++;
    if (list_place == THREADS)
        return 0;
    struct dirent64 *entry = buffer;
    snprintf(entry->d_name, sizeof(entry->d_name), "%d",
             threads[list_place++].tid);
    entry->d_reclen = sizeof(*entry);
    return sizeof(*entry);
}

long
__wrap_sys_count_links(int fd)
{
    long count = 2;
    (void)fd;
    for (unsigned i = 0; i < THREADS; i++)
        count += threads[i].is_listed;
    return count;
}

/* Only names are read: "/proc/self/task/TID/comm". */
long
__wrap_sys_read_file_at(int directory, const char *path, char *buffer,
                        size_t size)
{
    int tid;
    (void)directory;
    if (sscanf(path, "/proc/self/task/%d/comm", &tid) != 1 ||
        made_thread_of(tid) == NULL)
        return -ENOENT;
    return snprintf(buffer, size, "%s\n", names[made_thread_of(tid) - threads]);
}

char
status_state(pid_t tid)
{
    return made_thread_of(tid) != NULL ? 'R' : '\0';
}

uint64_t
status_user_time(pid_t tid)
{
    return made_thread_of(tid)->user;
}

int
status_read(pid_t tid, struct status *status)
{
    *status = (struct status){.state = status_state(tid)};
    return status->state != '\0' ? 0 : -1;
}

void
look_at(pid_t tid, struct look *look)
{
    struct made_thread *thread = made_thread_of(tid);
    *look = (struct look){.state = LOOK_GONE};
    if (thread == NULL)
        return;
    thread->looks++;
    look->state = thread->is_waiting ? LOOK_WAITING : LOOK_RUNNING;
    look->number = thread->is_waiting ? thread->call : LOOK_NO_CALL;
    look->pc = thread->pc;
    look->sp = 1;
}

struct look_line
look_line(pid_t tid)
{
    const struct made_thread *thread = made_thread_of(tid);

    return (struct look_line){thread->queued, thread->slices};
}

size_t
look_words(pid_t tid, const struct look *look,
           const char *(*owner_name)(pid_t tid), char *text, size_t size)
{
    (void)tid, (void)look, (void)owner_name, (void)text, (void)size;
    return 0;
}

pid_t
look_owner(pid_t tid, const struct look *look)
{
    (void)tid, (void)look;
    return 0;
}

int
modules_mapping(uint64_t address, uint64_t *start, uint64_t *end,
                bool *is_stack)
{
    (void)address, (void)start, (void)end, (void)is_stack;
    return -1;
}

struct modules_state modules_state;

bool
modules_are_current(void)
{
    return true;
}

int
modules_refresh(void)
{
    made_map_is_old = false;
    made_records_at_map = made_record_count;
    return 0;
}

/* unwind/: no walk is made. */

void
learn_forget_pages(void)
{
}

void
rules_forget_nowhere(void)
{
}

bool
resume_confirm(struct walk *walk, uint64_t time, uint32_t after, uint32_t until)
{
    (void)walk, (void)time, (void)after, (void)until;
    return true;
}

/* capture/: a question is answered by made_sample. */

int
ask_thread(uint32_t index, pid_t tid, uint32_t sequence)
{
    struct made_thread *thread = made_thread_of(tid);
    if (made_ask_result != 0)
        return (int)made_ask_result;
    if (thread == NULL)
        return -ESRCH;
    thread->asked++;
    thread->index = index;
    thread->cookie = sequence;
    return 0;
}

void
ask_ring(void)
{
}

enum loss
ask_refusal(uint32_t index, uint32_t sequence)
{
    (void)index, (void)sequence;
    return made_refusal;
}

bool
ask_keeps_at(uint64_t address)
{
    (void)address;
    return made_keeps;
}

void
ask_set_stack(uint32_t index, uint64_t low, uint64_t high, uint64_t pointer)
{
    (void)index, (void)low, (void)high, (void)pointer;
}

void
serve_begin_harvest(uint32_t every, uint32_t lost[LOSS_COUNT])
{
    (void)every;
    memcpy(lost, made_lost, sizeof(made_lost));
    memset(made_lost, 0, sizeof(made_lost));
}

uint32_t
serve_take_user_ticks(uint32_t index)
{
    (void)index;
    return 0;
}

uint64_t
serve_take_measured(uint32_t index)
{
    uint64_t measured = made_measured;
    (void)index;
    made_measured = 0;
    return measured;
}

bool
serve_finish(struct slot *slot, uint64_t since)
{
    (void)since;
    slot->unfinished = made_map_is_old;
    return !slot->unfinished;
}

bool
serve_give_up(struct slot *slot)
{
    (void)slot;
    return false;
}

void
serve_parked(void)
{
}

int
peek_begin(void)
{
    return 0;
}

void
peek_copy(uint64_t sp, struct peek_copy *copy)
{
    *copy = (struct peek_copy){.start = sp};
}

enum walk_outcome
peek_stack(const struct regs *at, const uint64_t *arguments,
           struct peek_copy *copy, uint64_t since, struct walk *walk)
{
    (void)arguments, (void)copy, (void)since;
    walk->frames[0] = frame_exact(at->pc);
    walk->depth = 1;
    return WALK_ROOT;
}

uint32_t
labels_of(pid_t tid)
{
    return made_thread_of(tid) != NULL ? made_thread_of(tid)->label : 0;
}

bool
labels_have_changed(void)
{
    bool have = have_labels_changed;
    have_labels_changed = false;
    return have;
}

/* sampling/: the ends that threads report, and what interrupts them. */

uint64_t
thread_ends_reported(void)
{
    return report_first != report_count ? report_count : 0;
}

bool
thread_ends_next_end(uint64_t reported, struct thread_end *end)
{
    if (report_first == reported)
        return false;
    *end = reports[report_first++ % ENDS];
    return true;
}

void
thread_ends_reset(void)
{
    report_first = report_count;
}

enum trigger
trigger_of_thread(pid_t tid)
{
    (void)tid;
    return made_trigger;
}

enum trigger
trigger_after(enum trigger from, pid_t tid, bool may_ask)
{
    (void)tid;
    made_doubts++;
    made_may_ask = may_ask;
    return may_ask ? made_next : from;
}

enum trigger
trigger_return(enum trigger from, pid_t tid)
{
    (void)from, (void)tid;
    return made_trigger;
}

enum limit
trigger_limit(enum trigger trigger)
{
    return trigger == TRIGGER_PERF ? LIMIT_MERGED : LIMIT_SAMPLER;
}

bool
trigger_is_split(void)
{
    return made_is_split;
}

bool
trigger_may_ask(pid_t tid, uint64_t used)
{
    (void)tid, (void)used;
    return true;
}

void
trigger_prepare(pid_t tid)
{
    (void)tid;
}

void
trigger_rearm(pid_t tid, uint64_t random)
{
    (void)tid, (void)random;
    made_rearmed++;
}

uint64_t
trigger_timer_period(uint64_t period)
{
    (void)period;
    return 4 * MADE_MS;
}

void
cpu_timer_drop(pid_t tid)
{
    (void)tid;
}

void
cpu_timer_keep_process_clock(pid_t own_tid)
{
    (void)own_tid;
}
