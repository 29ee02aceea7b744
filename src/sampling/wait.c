/* SPDX-License-Identifier: MIT */
/*
 * wait.c -- see wait.h. The stack of a thread that waits is walked from
 * outside, from the stack pointer and pc that the kernel gives. The thread may
 * wake at any instant and change what is being read; but it cannot do so
 * without CPU time. So its clock, which was read before the first look, is read
 * again after the stack. The stack is used only if the clock has not moved.
 */
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/sys.h"
#include "base/text.h"
#include "capture/ask.h"
#include "journal/journal.h"
#include "journal/journal_context.h"
#include "journal/journal_labels.h"
#include "journal/script_names.h"
#include "journal/stack_tree.h"
#include "labels/labels.h"
#include "process/modules.h"
#include "process/threads.h"
#include "process/unloads.h"
#include "unwind/heap_view.h"
#include "unwind/interpreter.h"
#include "unwind/peek.h"
#include "unwind/resume.h"
#include "unwind/trace_context.h"
#include "harvest.h"
#include "thread_time.h"
#include "wait.h"

static struct frame *frames;
static uint32_t frames_most;
static struct script script; /* frames of interpreters in one stack */
static uint8_t *heap_window;

int
wait_begin(uint32_t max_depth)
{
    if (frames == NULL)
        frames = sys_reserve_for_one(max_depth * sizeof(*frames));
    frames_most = script.capacity = max_depth;
    if (script.frames == NULL)
        script.frames = sys_reserve_for_one(max_depth * sizeof(*script.frames));
    if (heap_window == NULL)
        heap_window = sys_reserve_for_one(HEAP_VIEW_WINDOW);
    return frames != NULL && script.frames != NULL && heap_window != NULL
               ? peek_begin()
               : -1;
}

void
wait_look_at(pid_t tid, struct look *look)
{
    struct script_lock gil;
    look_at(tid, look);
    /* It ran when it was kept. */
    if (look->state == LOOK_WAITING && look->number == SYS_futex &&
        ask_keeps_at(look->arguments[0]))
        look->state = LOOK_RUNNING;
    if (look->state == LOOK_WAITING && look->number == SYS_futex &&
        interpreter_is_lock(look->arguments[0], &gil))
        look->number = SYSCALL_GIL;
}

/* Whether a waiting thread has a user stack of its own. A worker thread of the
 * kernel (io_uring's) has none: its registers are copies of those of the thread
 * that it was made for. */
static bool
has_user_mode(const struct look *look)
{
    return look->state == LOOK_WAITING && (look->pc != 0 || look->sp != 0);
}

/* Walk the stack of thread TID, which stands at AT since its clock read CLOCK,
 * into WALK. ARGUMENTS and COPY are those of peek_stack. Returns false if the
 * thread has gone on, unless all was read in COPY. */
static bool
walk_from(pid_t tid, const struct regs *at, const uint64_t *arguments,
          struct peek_copy *copy, uint64_t clock, struct walk *walk)
{
    uint64_t now = clock_now();
    if (!modules_are_current())
        harvest_refresh_modules();
    script_begin(&script, now);
    if (interpreter_is_there() &&
        (!interpreter_collect_from(&script, heap_window, tid) ||
         clock_thread(tid) != clock))
        return false;
    walk->script = script.count != 0 ? &script : NULL;
    while (peek_stack(at, arguments, copy, now, walk) == WALK_NEEDS_MAP)
        harvest_refresh_modules();
    script_names_resolve(walk->script);
    /* Code on the stack of a thread that stood still was not unloaded. */
    return clock_thread(tid) == clock ||
           (copy != NULL && copy->was_enough && walk->script == NULL &&
            resume_confirm(walk, now, copy->unloads, unloads_last()));
}

bool
wait_look(pid_t tid, const struct look *look, uint64_t clock, struct walk *walk)
{
    const struct regs at = {.pc = look->pc,
                            .sp = look->sp,
                            .fp = REGS_FP_UNKNOWN};
    bool is_call = look->number != LOOK_NO_CALL;
    return walk_from(tid, &at, is_call ? look->arguments : NULL, NULL, clock,
                     walk);
}

/* Find the place of thread INDEX, which stands AT since its clock read CLOCK.
 * LOOK: it waits so; NULL: it is in line. A walk takes longer than a short
 * wait. So the stack is copied first, and the labels are read. Then the clock
 * shows whether the thread has stood still until now. Returns false if not.
 */
static bool
find_place(uint32_t index, const struct regs *at, const struct look *look,
           uint64_t clock, struct journal_place *place)
{
    bool is_call = look != NULL && look->number != LOOK_NO_CALL;
    pid_t tid = threads_at(index)->tid;
    struct journal_sums *sums = thread_time_sums();
    struct walk walk = {.frames = frames, .capacity = frames_most};
    struct trace_context context;
    struct peek_copy copy;
    peek_copy(at->sp, &copy);
    *place = (struct journal_place){.set = labels_of(tid)};
    trace_context_read_from(&context, tid);
    if (clock_thread(tid) != clock ||
        !walk_from(tid, at, is_call ? look->arguments : NULL, &copy, clock,
                   &walk)) {
        sums->counts.unsure++;
        return false;
    }
    place->label =
        journal_context(journal_labels(place->set), &context,
                        walk.script != NULL ? walk.script->task : NULL);
    place->node = stack_tree_enter(&walk, index);
    place->depth = walk.depth;
    sums->counts.peeked++;
    sums->cut[walk.cut] += walk.cut != CUT_NONE;
    return true;
}

bool
wait_place(uint32_t index, const struct look *look, uint64_t clock,
           struct journal_place *place)
{
    const struct regs at = {.pc = look->pc,
                            .sp = look->sp,
                            .fp = REGS_FP_UNKNOWN};
    struct trace_context context;
    pid_t tid = threads_at(index)->tid;
    if (has_user_mode(look))
        return find_place(index, &at, look, clock, place);
    *place = (struct journal_place){.set = labels_of(tid)};
    trace_context_read_from(&context, tid);
    place->label = journal_context(journal_labels(place->set), &context, NULL);
    return true;
}

bool
wait_place_in_line(uint32_t index, const struct regs *at, uint64_t clock,
                   struct journal_place *place)
{
    return find_place(index, at, NULL, clock, place);
}

static const char *
name_of_thread(pid_t tid)
{
    uint32_t index = threads_indexes()[(uint32_t)tid % THREADS_TIDS];
    if (index == 0)
        return NULL;
    if (threads_at(index - 1)->name[0] == '\0')
        threads_read_name(index - 1);
    return threads_at(index - 1)->name;
}

/* Add the interpreter's function in which thread TID is. */
static void
add_function(struct text *text, pid_t tid)
{
    static char *name;
    struct script_frame leaf;
    struct script top = {.frames = &leaf, .capacity = 1};
    if (name == NULL)
        name = sys_reserve(SCRIPT_TEXT);
    if (name == NULL)
        return;
    script_begin(&top, 0);
    interpreter_collect_from(&top, heap_window, tid);
    if (top.count == 0 || !interpreter_name(top.runtime, leaf.code, name))
        return;
    text_add(text, " in ");
    text_add(text, name);
}

/* Add the lock called WHAT of thread OWNER. */
static void
add_lock(struct text *text, const char *what, pid_t owner)
{
    const char *name = name_of_thread(owner);
    text_add(text, what);
    text_add(text, name != NULL ? name : "");
    text_add(text, " (");
    text_add_number(text, (uint64_t)owner);
    text_add(text, ")");
}

/* Describe in words the wait of thread TID for an interpreter's lock at
 * ADDRESS: the thread that has it. Returns their number in the journal; 0 if no
 * thread has it, or TID has just got it. */
static uint32_t
gil_words(pid_t tid, uint64_t address)
{
    char words[256];
    struct text text;
    struct script_lock gil;
    if (!interpreter_is_lock(address, &gil) || gil.holder == 0 ||
        gil.holder == tid)
        return 0;
    text_begin(&text, words, sizeof(words));
    add_lock(&text, "GIL of ", gil.holder);
    add_function(&text, gil.holder);
    if (gil.is_collecting)
        text_add(&text, ", garbage collection");
    return journal_text(words);
}

/* The thread with the lock of an interpreter's program for which thread TID
 * waits as LOOK says; 0: not known. */
static pid_t
lock_owner(pid_t tid, const struct look *look)
{
    pid_t owner = look->state == LOOK_WAITING && look->number == SYS_futex
                      ? interpreter_lock_owner(look->arguments[0], look->sp)
                      : 0;
    return owner != tid ? owner : 0;
}

pid_t
wait_owner(pid_t tid, const struct look *look)
{
    struct script_lock gil;
    if (look->number == (long)SYSCALL_GIL)
        return interpreter_is_lock(look->arguments[0], &gil) &&
                       gil.holder != tid
                   ? gil.holder
                   : 0;
    pid_t owner = lock_owner(tid, look);
    return owner != 0 ? owner : look_owner(tid, look);
}

uint32_t
wait_words(pid_t tid, const struct look *look)
{
    char words[256];
    struct text text;
    if (look->number == (long)SYSCALL_GIL)
        return gil_words(tid, look->arguments[0]);
    pid_t owner = lock_owner(tid, look);
    if (owner != 0) {
        text_begin(&text, words, sizeof(words));
        add_lock(&text, "RLock of ", owner);
        return journal_text(words);
    }
    if (look_words(tid, look, name_of_thread, words, sizeof(words)) == 0)
        return 0;
    return journal_text(words);
}

/* Store WAIT. All growing fields lie between these two; the flags come last.
 */
static void
store_wait(const struct thread_wait *wait)
{
    const size_t from = offsetof(struct record_sample, duration);
    const size_t to = offsetof(struct record_sample, flags) + 4;
    journal_change(wait->place, from, (const char *)&wait->record + from,
                   to - from);
}

/* Open WAIT, which was closed, again at NOW with the weight WALL, in ns. */
static void
grow_again(struct thread_wait *wait, uint64_t wall, uint64_t now)
{
    wait->record.duration = journal_time(now) - wait->record.time;
    wait->record.wall = wall;
    wait->record.flags = SAMPLE_OPEN;
    store_wait(wait);
}

/* End WAIT, which is open, at END with the weight WALL, in ns. */
static void
end_growing(struct thread_wait *wait, uint64_t wall, uint64_t end)
{
    uint64_t time = journal_time(end);
    uint64_t count = wall / thread_time_period();
    if (time > wait->record.time)
        wait->record.duration = time - wait->record.time;
    wait->record.count = count != 0 ? count : 1;
    wait->record.wall = wall;
    wait->record.flags = 0;
    store_wait(wait);
}

/* Reopen the thread's latest wait, if it waits again at the same place with the
 * same labels and no sample came between. Returns whether it was reopened. */
static bool
reopen_wait(struct thread_time *account, const struct look *look,
            uint32_t waits_on, uint64_t now)
{
    const struct record_sample *last = &account->latest.record;
    if (account->last == NULL || last->node != account->waited_at.node ||
        last->label != account->waited_at.label || last->waits_on != waits_on ||
        look->number != last->system_call)
        return false;
    account->wait = account->last;
    account->opened_wall =
        last->wall + (account->rest > 0 ? (uint64_t)account->rest : 0);
    grow_again(account->wait, account->opened_wall, now);
    return true;
}

void
wait_open(uint32_t index, const struct look *look,
          const struct journal_place *place, uint64_t now)
{
    struct thread_time *account = thread_time_of(index);
    uint32_t waits_on = wait_words(threads_at(index)->tid, look);
    bool is_same = journal_is_same_place(&account->waited_at, place);
    account->same_waits = is_same ? account->same_waits + 1 : 0;
    account->waited_at = *place;
    account->opened_at = account->wait_until = now;
    if (!reopen_wait(account, look, waits_on, now)) {
        uint64_t wall = account->rest > 0 ? (uint64_t)account->rest : 0;
        struct record_sample sample =
            journal_make_sample(STATE_WAITING, *place, now - wall, now);
        if (has_user_mode(look) && look->number >= 0)
            sample.system_call = (uint16_t)look->number;
        sample.waits_on = waits_on;
        sample.flags = SAMPLE_OPEN;
        uint64_t at = journal_sample(&sample, index);
        account->latest = (struct thread_wait){at, sample};
        account->wait = account->last = at != 0 ? &account->latest : NULL;
        account->opened_wall = wall;
    }
    account->rest = account->rest > 0 ? 0 : account->rest;
}

void
wait_close(uint32_t index, uint64_t end)
{
    struct thread_time *account = thread_time_of(index);
    struct thread_wait *wait = account->wait;
    if (wait == NULL)
        return;
    uint64_t more = end > account->opened_at ? end - account->opened_at : 0;
    /* If too much was given before, it is taken back here. */
    uint64_t wall = account->opened_wall + more;
    if (account->rest < 0) {
        uint64_t over = (uint64_t)-account->rest;
        over = over < wall ? over : wall;
        wall -= over;
        account->rest += (int64_t)over;
    }
    end_growing(wait, wall, end);
    account->wait = NULL;
    account->last_wait = more;
}
