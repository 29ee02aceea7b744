/* SPDX-License-Identifier: MIT */
/*
 * fill.c -- see fill.h. It runs in handlers as handler.c does, under the same
 * rules, and in hooks.
 *
 * The hard thing is to leave in time. A thread that had to park waits for the
 * sampler, but never longer than its deadline, whatever the sampler does.
 *
 * The kernel looks at the pages of the rest of a stack before it is copied,
 * because a page of it may be inaccessible. Only pages that are in memory are
 * copied: this very thread may have to supply any other page (userfaultfd(2)).
 */
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/hot.h"
#include "base/scheduling.h"
#include "base/sys.h"
#include "base/thread_local.h"
#include "process/modules.h"
#include "process/unloads.h"
#include "signals/nested.h"
#include "signals/signals.h"
#include "unwind/heap_view.h"
#include "unwind/interpreter.h"
#include "unwind/rules.h"
#include "unwind/script.h"
#include "unwind/trace_context.h"
#include "unwind/walk.h"
#include "ask.h"
#include "shared.h"
#include "fill.h"
#include "base/poison.h"

/* Start of the stack that the thread was given. 0: it was given none. */
static __thread uint64_t given_stack;

/* A stack pointer between this and the thread pointer is on the stack that the
 * thread began with. 0: not known. */
static __thread uint64_t first_stack;

#define PAGE 4096u

static uint64_t
page_of(uint64_t address)
{
    return address & ~(uint64_t)(PAGE - 1);
}

/* Note in SLOT where the thread's own stack lies, if the walk starts there, and
 * the thread is still the one that its index names. */
static void
note_stack(struct slot *slot)
{
    struct shared_thread *thread = shared_thread_at(slot->thread);
    if (first_stack != 0 && slot->sp >= first_stack &&
        slot->sp < slot->thread_pointer) {
        slot->low = first_stack;
        slot->high = slot->thread_pointer;
        return;
    }
    if (thread == NULL)
        return;
    /* Three words of one stack: the version is the same before and after. Its
     * first load and this fence pair with ask_set_stack. */
    uint32_t version =
        atomic_load_explicit(&thread->version, memory_order_acquire);
    uint64_t low = atomic_load_explicit(&thread->low, memory_order_relaxed);
    uint64_t high = atomic_load_explicit(&thread->high, memory_order_relaxed);
    uint64_t pointer =
        atomic_load_explicit(&thread->pointer, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    if (version % 2 == 0 && pointer == slot->thread_pointer &&
        slot->sp >= low && slot->sp < high && slot->sp >= given_stack &&
        atomic_load_explicit(&thread->version, memory_order_relaxed) ==
            version) {
        slot->low = low;
        slot->high = high;
    }
}

/* Begin VIEW. It reads the thread's own stack directly. A copy by the kernel
 * would wait for the lock of the process's memory map. If a thread with that
 * lock loses its CPU, all other sampled threads would wait for it. MASK must
 * not block the signal that an unreadable page raises. */
static void
begin_view(struct view *view, struct slot *slot, uint64_t mask)
{
    /* Below may be a guard that no map shows (MADV_GUARD_INSTALL). A register
     * that was just restored is usually on the same page. */
    uint64_t first = page_of(slot->sp);
    slot->low = slot->high = 0;
    if (slot->thread_pointer != 0 && (mask & NESTED_READS) == 0)
        note_stack(slot);
    view_begin(view, slot->high != 0 && first > slot->low ? first : slot->low,
               slot->high, slot->sp, slot->window);
}

static bool
is_own(const struct slot *slot, uint64_t address)
{
    return address >= slot->low && address < slot->high;
}

/* The end of the stack that goes on at START. Returns FAR if the end is not
 * known, or not before FAR. The thread's own stack ends below its control block
 * (glibc). */
static uint64_t
find_end(const struct slot *slot, uint64_t start, uint64_t far)
{
    const struct shared_thread *thread = shared_thread_at(slot->thread);
    uint64_t end = slot->thread_pointer;
    if (thread != NULL && is_own(slot, start)) {
        uint64_t root =
            atomic_load_explicit(&thread->root, memory_order_relaxed);
        end = root > start && root < slot->high ? root : slot->high;
    }
    return end > start && end < far ? end : far;
}

/* The byte that replaces those of a page that is not in memory. A return
 * address of such bytes is neither code nor a root. */
#define HOLE 0xfe

/* Whether the kernel can read a word of each page of the LENGTH bytes at START.
 */
static bool
is_readable(uint64_t start, uint64_t length)
{
    for (uint64_t at = start; at < start + length; at = (at | (PAGE - 1)) + 1)
        if (!sys_can_load(at))
            return false;
    return true;
}

/* Copy the LENGTH bytes at START, which are in memory, to TO. IS_SELF: they are
 * of the calling thread's own stack, which no other thread takes away. Then the
 * kernel only reads a word of each page, which costs less than a copy. A
 * sanitizer of the program may have replaced memcpy, and would find fault with
 * these reads. */
static bool
copy_present(uint8_t *to, uint64_t start, uint64_t length, bool is_self)
{
    if (!is_self || ((start | length) & 7) != 0 || !is_readable(start, length))
        return sys_copy_memory(to, start, length);
    for (uint64_t at = 0; at < length; at += sizeof(uint64_t))
        *(uint64_t *)(to + at) = *(const volatile uint64_t *)(start + at);
    return true;
}

/* Returns how many bytes from AT on, before END, are in memory. They are of the
 * stack of SLOT's thread. The pages of its stack pointer and of its control
 * block are in use, so the kernel need not be asked. Its answer waits for the
 * lock of the process's memory map. */
static uint64_t
present_bytes(const struct slot *slot, uint64_t at, uint64_t end)
{
    uint64_t first = page_of(slot->sp), last = page_of(slot->thread_pointer);
    if (slot->thread_pointer == slot->high && page_of(at) == first &&
        (page_of(end - 1) == first ||
         (page_of(end - 1) == last && last - first == PAGE)))
        return end - at;
    return sys_present(at, end - at);
}

/* Copy START to END of the thread's own stack, which is mapped as a whole. A
 * large frame may have pages in the middle that were never touched. */
static bool
copy_own(struct slot *slot, uint64_t start, uint64_t end, bool is_self)
{
    for (uint64_t at = start; at < end;) {
        uint8_t *to = slot->stack + (at - start);
        uint64_t present = present_bytes(slot, at, end);
        if (present != 0 && !copy_present(to, at, present, is_self))
            return false;
        at += present;
        uint64_t hole = PAGE - (at & (PAGE - 1));
        if (at >= end)
            break;
        hole = hole < end - at ? hole : end - at;
        memset(slot->stack + (at - start), HOLE, hole);
        at += hole;
    }
    slot->copy_start = start;
    slot->copied = (uint32_t)(end - start);
    return true;
}

/* Limit in bytes of the frames that the walk has undone and that are copied,
 * too. */
#define UNDONE_MOST 8192u

/* The lowest stack pointer to copy for. learn_step begins at the leaf, and
 * finds there the registers that the walk does not follow. */
static uint64_t
first_pointer(const struct slot *slot)
{
    uint64_t at = slot->walk.regs.sp;
    return at - slot->sp <= UNDONE_MOST ? slot->sp : at;
}

/* fill_copy. IS_SELF: the calling thread is the one that was interrupted. */
static bool
copy_rest(struct slot *slot, uint8_t *to, uint32_t most, bool is_self)
{
    /* A register that was just restored is found below the stack pointer, in
     * the red zone, which a signal leaves alone (psABI, section 3.2.2). */
    uint64_t start = (first_pointer(slot) - ARCH_RED_ZONE) & ~7ull;
    uint64_t far = start + most;
    uint64_t end = find_end(slot, start, far);
    slot->stack = to;
    if (is_own(slot, start))
        return end != far && copy_own(slot, start, end, is_self);
    uint64_t present = sys_present(start, end - start);
    long got = sys_read_memory(to, start, present);
    slot->copy_start = start;
    slot->copied = got > 0 ? (uint32_t)got : 0;
    /* A stack that is not the thread's own ends where nothing can be read. */
    bool is_whole = slot->copied == end - start
                        ? end != far
                        : got > 0 && (slot->copied < present ||
                                      !sys_is_mapped(start + slot->copied));
    slot->copied = is_whole ? slot->copied : 0;
    return is_whole;
}

bool
fill_copy(struct slot *slot, uint8_t *to, uint32_t most)
{
    return copy_rest(slot, to, most, false);
}

/* Wait in PARKED until served or until the deadline. Returns true if the slot
 * is the handler's again, false if it is left to the sampler. After the
 * deadline an exchange fails only if the sampler has changed the slot's state,
 * which it can do twice. */
static bool
park(struct slot *slot, uint32_t generation)
{
    uint64_t until = slot->entered + PARK_NS;
    slot->parked = true;
    if (!slot_pass(slot, generation, SLOT_CLAIMED, SLOT_PARKED))
        return false;
    /* When serve_parked sees this, it looks for the slot. */
    atomic_fetch_add_explicit(&shared.parks, 1, memory_order_release);
    ask_ring();
    scheduling_hurry();
    for (;;) {
        uint32_t word =
            atomic_load_explicit(&slot->state, memory_order_relaxed);
        /* The sampler has what it wants, and no longer touches the slot. */
        if (word == (generation | SLOT_SERVED))
            return slot_pass(slot, generation, SLOT_SERVED, SLOT_CLAIMED);
        /* All slots were emptied: a new sampler has begun. */
        if (word != (generation | SLOT_PARKED) &&
            word != (generation | SLOT_SERVING))
            return false;
        if (clock_now() < until) {
            sys_futex_wait(&slot->state, word, until);
            continue;
        }
        /* The sampler did not come: the slot is ours again, with a stack that
         * is cut. */
        if (slot_pass(slot, generation, SLOT_PARKED, SLOT_CLAIMED)) {
            slot->walk.cut = CUT_DEADLINE;
            return true;
        }
        /* The sampler is working on the slot. It will find that we have left.
         */
        if (slot_pass(slot, generation, SLOT_SERVING, SLOT_LEFT))
            return false;
    }
}

/* Whether it is worth waiting for the sampler. It is not if the sampler has
 * already looked at the pc, or may have found nothing there. */
static bool
is_worth_waiting(const struct slot *slot, enum walk_outcome outcome)
{
    uint64_t pc = slot->walk.regs.pc - slot->walk.is_return;
    return outcome != WALK_NEEDS_FP &&
           (outcome != WALK_LOST || rule_kind(rules_find(pc)) != RULE_GUESS);
}

/* Leave to the sampler a walk that only the sampler can go on with. Returns as
 * park does. */
static bool
leave_to_sampler(struct slot *slot, uint32_t generation,
                 const ucontext_t *context, enum walk_outcome outcome)
{
    arch_all_registers(context, &slot->registers);
    slot->walk.registers = &slot->registers;
    slot->walk.context = NULL;
    slot->missed = true;
    if (copy_rest(slot, slot->copy, SLOT_COPY, true))
        slot->unfinished = true;
    else if (is_worth_waiting(slot, outcome))
        return park(slot, generation);
    return true;
}

/* The CPU on which the calling thread runs. */
static int
number_of_cpu(bool has_words)
{
    unsigned cpu = 0;
    if (has_words)
        return sched_getcpu();
    sys_call(SYS_getcpu, &cpu);
    return (int)cpu;
}

/* Note in SLOT what the thread's words hold. Without words the thread pointer
 * does not show whose stack it is, so the stack is not read directly. */
static void
describe_thread(struct slot *slot, bool has_words)
{
    if (has_words) {
        slot->label = thread_local_label();
        slot->thread_pointer = arch_thread_pointer();
    } else {
        slot->label = thread_local_label_of(sys_gettid());
        slot->thread_pointer = 0;
    }
    if (slot->trigger == TRIGGER_ASK)
        slot->cpu = number_of_cpu(has_words);
}

static void
begin_slot(struct slot *slot, bool has_words, const ucontext_t *context)
{
    struct regs regs;
    slot->parked = slot->missed = slot->unfinished = false;
    slot->copied = slot->newest = 0;
    slot->context.span = 0;
    describe_thread(slot, has_words);
    arch_regs(context, &regs);
    slot->sp = regs.sp;
    rules_fetch_rest(regs.pc);
    slot->in_syscall = arch_is_at_call(regs.pc);
    walk_begin(&slot->walk, &regs);
    slot->walk.go = arch_register(context, ARCH_GO);
    slot->walk.context = context;
}

/* Collect the frames that an interpreter has of the calling thread, and let the
 * walk find their places. */
static void
collect_script(struct slot *slot, const ucontext_t *context)
{
    struct heap_view view;
    heap_view_begin(&view, slot->low != 0 ? slot->sp : 0, slot->high,
                    slot->heap_window, 0);
    interpreter_collect(&slot->script, &view, slot->thread_pointer, context);
    if (slot->script.count != 0 || slot->script.is_open)
        walk_place(&slot->walk, &slot->script);
}

/* Walk the stack into SLOT of GENERATION, whose thread is set. Returns whether
 * SLOT is still the handler's, which then gives it to the sampler. */
static bool
walk_into(struct slot *slot, uint32_t generation, bool has_words,
          const ucontext_t *context)
{
    struct view view;
    slot->unloads = unloads_last();
    begin_slot(slot, has_words, context);
    begin_view(&view, slot, signals_word(&context->uc_sigmask));
    /* While modules change, rules may be stale. Only the sampler then knows
     * what a pc means. A thread that closes a module itself, and runs its
     * destructors, has not unloaded what is on its stack. */
    bool is_current = modules_are_current();
    bool is_walkable = is_current || (has_words && modules_are_current_here());
    script_begin(&slot->script, slot->time);
    if (is_current && has_words)
        trace_context_read(&slot->context, slot->thread_pointer);
    if (is_current && has_words && interpreter_is_there())
        collect_script(slot, context);
    enum walk_outcome outcome =
        is_walkable ? walk_run(&slot->walk, &view) : WALK_MISS;
    bool is_missing = outcome == WALK_MISS || outcome == WALK_HARD ||
                      outcome == WALK_LOST || outcome == WALK_NEEDS_FP;
    if (is_missing)
        walk_leave(&slot->walk);
    return !is_missing || leave_to_sampler(slot, generation, context, outcome);
}

/* A stack was left at TIME. The sampler should finish it soon, before its code
 * is unloaded. */
static void
hurry(uint64_t time)
{
    uint64_t from =
        atomic_load_explicit(&shared.hurry_from, memory_order_relaxed);
    if (from == 0 || time < from ||
        !atomic_compare_exchange_strong(&shared.hurry_from, &from, 0))
        return;
    ask_ring();
    scheduling_hurry();
}

/* Give SLOT of GENERATION to the sampler. */
static struct filled
give(struct slot *slot, uint32_t generation)
{
    uint64_t time = slot->time;
    bool is_left = slot->unfinished;
    struct filled filled = {clock_now(), walk_kept(&slot->walk)};
    slot->stopped = (uint32_t)(filled.end - slot->entered);
    if (slot_pass(slot, generation, SLOT_CLAIMED, SLOT_DONE) && is_left)
        hurry(time);
    return filled;
}

/* The mark stands until the slot is given away: before, serve_reclaim would
 * free a slot that is in use. */
HOT struct filled
fill_slot(struct slot *slot, enum trigger trigger, bool has_words,
          const ucontext_t *context)
{
    struct nested_mark mark;
    uint32_t generation = slot_generation(slot);
    slot->trigger = (uint8_t)trigger;
    slot->entered = trigger == TRIGGER_HOOK ? clock_now() : slot->time;
    nested_enter(&mark, &slot->mark, slot->entered, has_words, context);
    struct filled filled = walk_into(slot, generation, has_words, context)
                               ? give(slot, generation)
                               : (struct filled){clock_now(), 0};
    nested_leave(&mark, has_words);
    return filled;
}

void
fill_know_stack(uint64_t start, uint64_t size)
{
    given_stack = start;
    /* The size may include a guard and thread-local memory. */
    first_stack = start != 0 ? start : arch_thread_pointer() - size / 2;
}
