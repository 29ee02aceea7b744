/* SPDX-License-Identifier: MIT */
/*
 * peek.c -- walks the stacks of blocked threads; see peek.h. It runs on the
 * sampler thread. It reads everything by system calls, because the thread may
 * run or end meanwhile.
 *
 * The hard thing is fp, which the kernel does not show. Inner frames usually
 * restore it from the stack. Where a function with fp as its frame pointer
 * comes first, its frame is searched, in this order of certainty:
 *
 *   exact      The function's code shows a frame of fixed size (frame_size.h).
 *              So the frame lies this far above sp and nowhere else.
 *   bounded    The function pushes arguments. Its frame can be in few places,
 *              and only one of them leads to the root.
 *   unbounded  The frame has any size (alloca), or the code is not followed.
 *              The lowest place that leads to the root is a call of this
 *              function, and no other place is. The function is on the stack
 *              only once, or the place may be left from an earlier call.
 *              Or there is only one place at all that leads to the root.
 *
 * A place is a word with a return address after a call, and the frame below it.
 * In all other cases the stack is cut.
 */
#include <stddef.h>

#include "base/clock.h"
#include "base/sys.h"
#include "process/modules.h"
#include "process/unloads.h"
#include "call_site.h"
#include "code_rows.h"
#include "frame_size.h"
#include "link.h"
#include "pages.h"
#include "resume.h"
#include "rules.h"
#include "peek.h"
#include "base/poison.h"

/* Limits of what one peek may cost: fills of the window (10 MiB of stack), and
 * CPU time in ns. No thread waits for a peek, so a preemption is no reason to
 * give up. */
#define FILLS 2560
#define PEEK_NS 1000000u
/* Limits in bytes: larger frames are not searched, and larger functions are not
 * followed. */
#define REACH (64u << 10)
#define FUNCTION_MAX (32u << 10)
/* Frames of a trial. A frame has at least two words, so all frames within REACH
 * have room. The tail, which is a quarter, is added. */
#define TRIAL_FRAMES (REACH / 16 / 3 * 4 + 4)

/* Limit of the bytes of a stack that peek_copy copies: as many as a short wait
 * allows. */
#define COPY_MOST (16u << 10)

/* Reserved once. */
static struct memory {
    uint8_t window[COPY_MOST]; /* VIEW_WINDOW at least */
    uint8_t code[FUNCTION_MAX];
    struct frame frames[TRIAL_FRAMES];
} * memory;

/* A search for the frame of one function. */
struct search {
    const struct walk *walk; /* the walk in the frame, without fp */
    struct view *view;
    struct rule rule;
    struct fde function; /* start 0: not known */
    uint64_t low, high;  /* bounds of its frame pointer */
    bool is_bounded;     /* its code gives the bounds */
    uint64_t until;
};

int
peek_begin(void)
{
    if (memory == NULL)
        memory = sys_reserve_for_one(sizeof(*memory));
    return memory == NULL ? -1 : 0;
}

/* Let a step of a hard frame begin where WALK stands. */
static void
set_origin(struct resume *finish, const struct walk *walk)
{
    uint64_t *registers = finish->origin.registers.at;
    registers[ARCH_PC] = walk->regs.pc - walk->is_return;
    registers[ARCH_SP] = walk->regs.sp;
    registers[ARCH_FP] = walk->regs.fp;
    finish->origin.known = 1ull << ARCH_PC | 1ull << ARCH_SP;
    if (walk->regs.fp != REGS_FP_UNKNOWN)
        finish->origin.known |= 1u << ARCH_FP;
    finish->depth = walk->depth - 1;
}

/* Set the registers of the system call's ARGUMENTS, which keep their values
 * (syscall(2)). vfork keeps its return address in one of them. */
static void
set_arguments(struct resume *finish, const uint64_t *arguments)
{
    for (unsigned i = 0; arguments != NULL && i < 6; i++) {
        finish->origin.registers.at[arch_argument(i)] = arguments[i];
        finish->origin.known |= 1ull << arch_argument(i);
    }
}

/* Set the bounds of the frame pointer, as the code of the function shows. */
static void
set_bounds(struct search *search)
{
    struct fde *function = &search->function;
    struct frame_size frame;
    uint64_t sp = search->walk->regs.sp;
    uint64_t pc = search->walk->regs.pc - search->walk->is_return;
    search->low = sp;
    search->high = sp + REACH;
    if (!learn_function(pc, function) &&
        !code_rows_function(pc, &function->start, &function->end)) {
        function->start = 0;
        return;
    }
    uint64_t size = function->end - function->start;
    if (size > FUNCTION_MAX ||
        !pages_read(pages_learner, function->start, memory->code, size) ||
        !frame_size_read(memory->code, size, &frame) ||
        pc - function->start < frame.ready || frame.high > REACH)
        return;
    search->low = sp + frame.low;
    search->high = sp + frame.high;
    search->is_bounded = true;
}

/* Read the return address of the frame if its frame pointer is FP. Returns
 * false if FP cannot be one. */
static bool
read_return(const struct search *search, uint64_t fp, uint64_t *address)
{
    uint64_t cfa = fp + 16, caller;
    if (rule_kind(search->rule) == RULE_FRAME) {
        cfa = fp + (uint64_t)rule_cfa_offset(search->rule);
        if (rule_cfa(search->rule) == RULE_CFA_FP_DEREF &&
            !view_read(search->view, cfa, &cfa))
            return false;
    } else if (!view_read(search->view, fp, &caller) || caller <= fp) {
        return false;
    }
    if (cfa <= fp || cfa - fp > REACH ||
        !view_read(search->view, rule_return_slot(search->rule, cfa), address))
        return false;
    *address = arch_code(*address);
    return true;
}

/* The evidence that ADDRESS is the function's return address. No call precedes
 * an address that begins a stack or leads to a signal frame. */
static enum call_site
find_evidence(const struct search *search, uint64_t address)
{
    enum call_site kind = call_site_before(address, search->function.start);
    if (kind != CALL_SITE_NONE || !search->is_bounded ||
        modules_code_kind(address - 1) != CODE_MODULE)
        return kind;
    enum rule_kind rule = rule_kind(learn_rule(address - 1, true));
    return rule == RULE_SIGNAL || rule == RULE_ROOT ? CALL_SITE_OTHER
                                                    : CALL_SITE_NONE;
}

/* Whether the walk reaches the root with FP. *REPEATS becomes whether it meets
 * the function once more. The trial has its own memory for frames. */
static bool
reaches_root(const struct search *search, uint64_t fp, bool *repeats)
{
    struct resume finish = {.is_trial = true,
                            .clock = clock_own,
                            .until = search->until};
    struct walk trial = *search->walk;
    trial.frames = memory->frames;
    trial.capacity = TRIAL_FRAMES;
    trial.tail = TRIAL_FRAMES / 4;
    trial.depth = 1;
    trial.script = NULL;
    trial.border = SCRIPT_NO_BORDER;
    trial.regs.fp = fp;
    trial.frames[0] = frame_exact(0);
    set_origin(&finish, &trial);
    *repeats = false;
    if (resume_run(&finish, &trial, search->view) != WALK_ROOT)
        return false;
    for (uint32_t i = 1; i < walk_kept(&trial); i++) {
        uint64_t pc = frame_lookup(trial.frames[i]);
        *repeats |= pc >= search->function.start && pc < search->function.end;
    }
    return true;
}

/* Find the only place in SEARCH's bounds where FP can be. Returns false if no
 * place fits, or several may. */
static bool
choose_fp(const struct search *search, uint64_t *fp)
{
    enum call_site first = CALL_SITE_NONE;
    uint64_t address, word, at = search->low;
    bool is_exact = search->low == search->high;
    bool repeats = false, is_doubtful = false;
    for (uint64_t n = (search->high - at) / 8 + 1; n != 0; n--, at += 8) {
        /* The stack ends below the first word that cannot be read. */
        if (!view_read(search->view, at, &word))
            break;
        if (!read_return(search, at, &address))
            continue;
        bool is_end = address == 0 && is_exact;
        enum call_site kind =
            is_end ? CALL_SITE_OTHER : find_evidence(search, address);
        if (kind == CALL_SITE_NONE)
            continue;
        if (is_exact) {
            *fp = at;
            return true;
        }
        bool is_rooted = reaches_root(search, at, &repeats);
        /* The budget is spent: neither this place nor the next can be tried. */
        if (search->view->fills == 0 || clock_own() > search->until)
            return false;
        if (!is_rooted)
            continue;
        if (first == CALL_SITE_NONE) {
            *fp = at;
            first = kind;
            is_doubtful = !search->is_bounded && repeats;
        } else if (search->is_bounded || first != CALL_SITE_OURS ||
                   kind == CALL_SITE_OURS) {
            return false;
        }
    }
    return first != CALL_SITE_NONE && !is_doubtful;
}

/* Find fp, or the return address, as the frame where WALK stands needs it. */
static bool
find_fp(struct walk *walk, struct view *view, uint64_t until)
{
    uint64_t link;
    uint64_t pc = walk->regs.pc - walk->is_return;
    struct search search = {.walk = walk,
                            .view = view,
                            .rule = rules_find(pc),
                            .until = until};
    if (rule_is_linked(search.rule)) {
        if (!link_find(walk, view, &link))
            return false;
        arch_set_link(&walk->regs, link);
        walk->cut = CUT_NONE;
        return true;
    }
    set_bounds(&search);
    view_guess(view);
    if (!choose_fp(&search, &walk->regs.fp)) {
        walk->regs.fp = REGS_FP_UNKNOWN;
        return false;
    }
    walk->cut = CUT_NONE;
    return true;
}

bool
peek_find_by_sp(struct walk *walk, struct view *view)
{
    uint64_t address, pc = walk->regs.pc - walk->is_return;
    struct rule rule = rules_find(pc);
    struct search search = {.walk = walk, .view = view, .rule = rule};
    if (rule_kind(rule) != RULE_FRAME || rule_cfa(rule) != RULE_CFA_FP ||
        rule_fp(rule) != RULE_FP_AT_CFA || rule_is_linked(rule) ||
        !walk->is_return || arch_doubts_sp(&walk->regs) || peek_begin() != 0)
        return false;
    set_bounds(&search);
    if (!search.is_bounded || search.low != search.high ||
        !read_return(&search, search.low, &address) ||
        find_evidence(&search, address) == CALL_SITE_NONE)
        return false;
    rules_put(pc, rule_by_sp(rule, (int64_t)(search.low - walk->regs.sp)));
    walk->cut = CUT_NONE;
    return true;
}

void
peek_copy(uint64_t sp, struct peek_copy *copy)
{
    uint32_t unloads = unloads_last();
    size_t size = sys_present(sp, sizeof(memory->window));
    long got = size != 0 ? sys_read_memory(memory->window, sp, size) : 0;
    *copy = (struct peek_copy){.start = sp,
                               .length = got > 0 ? (uint32_t)got : 0,
                               .unloads = unloads};
}

enum walk_outcome
peek_stack(const struct regs *at, const uint64_t *arguments,
           struct peek_copy *copy, uint64_t since, struct walk *walk)
{
    struct resume finish = {.clock = clock_own,
                            .until = clock_own() + PEEK_NS,
                            .since = since};
    struct view view;
    enum walk_outcome outcome;
    view_begin_bounded(&view, memory->window, FILLS);
    if (copy != NULL) {
        view.window_start = copy->start;
        view.window_end = copy->start + copy->length;
    }
    struct script *script = walk->script;
    walk_begin(walk, at);
    if (script != NULL) {
        script_go_back(script, 0);
        walk_place(walk, script);
    }
    set_origin(&finish, walk);
    set_arguments(&finish, arguments);
    while ((outcome = resume_run(&finish, walk, &view)) == WALK_NEEDS_FP) {
        if (!find_fp(walk, &view, finish.until)) {
            outcome = WALK_CUT;
            break;
        }
        set_origin(&finish, walk);
    }
    if (copy != NULL) {
        copy->was_enough = view.fills == FILLS;
        copy->length = copy->was_enough ? copy->length : 0;
    }
    if (outcome == WALK_CUT && view.fills == 0)
        walk->cut = CUT_DEADLINE;
    return outcome;
}
