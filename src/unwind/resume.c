/* SPDX-License-Identifier: MIT */
/*
 * resume.c -- finishes walks; see resume.h. It runs on the sampler thread, also
 * while a thread is parked, so it allocates nothing and takes no lock.
 */
#include <stddef.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "process/loader_list.h"
#include "process/modules.h"
#include "call_site.h"
#include "code_rows.h"
#include "learn.h"
#include "pages.h"
#include "untabled.h"
#include "resume.h"
#include "base/poison.h"

/* A return address in unknown memory has the map read again. The pause after
 * that is this many times as long as the reading took. */
#define REFRESH_SHARE 20

/* Frames between two looks at the clock, which is a system call. */
#define CLOCK_FRAMES 8

/* Pause after a search, as a multiple of the time that the search took. The
 * second is for a search without success, which is tried again later. */
#define SEARCH_SHARE 10
#define SEARCH_SHARE_IN_VAIN 50

/* The map is read this many ns after a reading was refused. */
#define LATE_NS 50000000u

static uint64_t next_refresh, next_search;
/* Time in which functions were read during this walk. It does not count for the
 * walk. */
static uint64_t ahead_ns;
static uint64_t refused_at; /* 0: no reading of the map was refused */

/* Whether the map is to be read again, because it does not know where WALK
 * stands. That may be new code if the map is older than the stack. For a leaf's
 * pc, which surely is code, or after a load of a module it is read at once.
 * Other return addresses may be wrong words on the stack, so only a share of
 * the time is spent on them. */
static bool
needs_map(const struct resume *finish, const struct walk *walk)
{
    if (finish->since <= modules_state.read_at)
        return false;
    uint64_t now = clock_now();
    if (walk->is_return && now < next_refresh && !loader_list_has_grown()) {
        refused_at = refused_at != 0 ? refused_at : now;
        return false;
    }
    refused_at = 0;
    next_refresh = now + (REFRESH_SHARE + 1) * modules_state.took;
    return true;
}

bool
resume_is_map_late(uint64_t now)
{
    bool result = refused_at != 0 && now - refused_at >= LATE_NS;
    if (result)
        refused_at = 0;
    return result;
}

/* Learn the rule for the frame where WALK stands. Returns WALK_ON if one was
 * learned. */
static enum walk_outcome
learn_missing(const struct resume *finish, struct walk *walk)
{
    uint64_t pc = walk->regs.pc - walk->is_return;
    bool is_unknown = modules_code_kind(pc) == CODE_NONE;
    if (is_unknown && finish->is_trial) {
        walk->cut = CUT_NOT_CODE;
        return WALK_CUT;
    }
    if (is_unknown && needs_map(finish, walk))
        return WALK_NEEDS_MAP;
    learn_rule(pc, walk->is_return);
    return WALK_ON;
}

static enum walk_outcome
no_rule(struct walk *walk)
{
    walk->cut = CUT_NO_RULE;
    return WALK_CUT;
}

/* Whether WALK stands in the frame of a new thread or process. */
static bool
is_child(const struct resume *finish, const struct walk *walk)
{
    return walk->depth - 1 == finish->depth &&
           (finish->origin.known & 1u << ARCH_RESULT) != 0 &&
           finish->origin.registers.at[ARCH_RESULT] == 0;
}

/* Undo the frame of a clone that returns twice. LAST is the last pc in its
 * table. The table still holds for the parent, which waits there for a child
 * that shares its memory (posix_spawn, system). The child has its own stack
 * from its first instruction on. That stack has no return address, but perhaps
 * the function that the child must call. */
static enum walk_outcome
step_clone(const struct resume *finish, struct walk *walk, struct view *view,
           uint64_t last)
{
    struct rule rule = learn_rule(last, false);
    uint64_t cfa = walk->regs.sp + (uint64_t)rule_cfa_offset(rule), address;
    struct fde function;
    if (is_child(finish, walk))
        return WALK_ROOT;
    if (rule_kind(rule) != RULE_FRAME || rule_cfa(rule) != RULE_CFA_SP ||
        rule_fp(rule) != RULE_FP_SAME ||
        !view_read(view, rule_return_slot(rule, cfa), &address) ||
        call_site_before(address, 0) == CALL_SITE_NONE ||
        (learn_function(address, &function) && function.start == address))
        return no_rule(walk);
    struct regs caller = {.pc = address, .sp = cfa, .fp = walk->regs.fp};
    return walk_step_to(walk, &caller);
}

/* Undo a frame that has no simple rule. */
static enum walk_outcome
step_hard(const struct resume *finish, struct walk *walk, struct view *view)
{
    struct regs caller;
    bool is_root;
    uint64_t last;
    uint32_t depth = walk->depth - 1 - finish->depth;
    if (!walk->is_return && learn_is_behind_table(walk->regs.pc, &last))
        return step_clone(finish, walk, view, last);
    /* The origin may be on its call, where the pc itself is looked up. */
    uint64_t pc =
        depth == 0 ? finish->origin.registers.at[ARCH_PC] : walk->regs.pc;
    if (learn_step(&finish->origin, depth, pc, view, &caller, &is_root) != 0)
        return no_rule(walk);
    return is_root ? WALK_ROOT : walk_step_to(walk, &caller);
}

/* Limits of a search: its CPU time in ns, and the frames that are kept of a
 * trial. */
#define SCAN_NS 1000000u
#define TRIAL_FRAMES 64u

/* Limit in bytes of the search for a return address above sp; and of the words
 * that look like one and are tried. */
#define SCAN_REACH (32u << 10)
#define SCAN_TRIALS 128u

/* Limits of the search for a saved fp. It is among the first SAVED_WORDS below
 * the return address, and the caller's frame has FRAME_REACH bytes at most. */
#define SAVED_WORDS 8u
#define FRAME_REACH (64u << 10)

/* Frames with which a stack begins, before the program's own: __libc_start_main
 * or start_thread, and what they call. */
#define BEGINNING 3u

/* A search of a stack for a return address. */
struct scan {
    uint64_t at, end; /* addresses of words */
    uint32_t trials;
};

/* Begin the search at the word at SP. */
static void
begin_scan(struct scan *scan, uint64_t sp)
{
    scan->at = (sp + 7) & ~7ull;
    scan->end = scan->at + SCAN_REACH;
    scan->trials = 0;
}

/* Store in *ADDRESS the next word that is an address after a call. It lies
 * below SCAN->at. Only pages in memory are read, because each address is a
 * guess. Returns false if no word is left. */
static bool
find_next(struct scan *scan, struct view *view, uint64_t *address)
{
    view_guess(view);
    while (scan->at < scan->end && scan->trials < SCAN_TRIALS &&
           view_read(view, scan->at, address)) {
        scan->at += 8;
        *address = arch_code(*address);
        /* Most words are numbers and no addresses. */
        if (*address < 4096 || *address >> ARCH_ADDRESS_BITS != 0 ||
            call_site_before(*address, 0) == CALL_SITE_NONE)
            continue;
        scan->trials++;
        return true;
    }
    return false;
}

/* The number of frames of a walk from CALLER to the root; 0: it does not reach
 * the root. It must pass neither a signal frame nor our own code: our handler
 * ran below, and its remains there are no stack. */
static uint32_t
frames_to_root(const struct resume *finish, const struct regs *caller,
               struct view *view)
{
    struct frame frames[TRIAL_FRAMES];
    struct resume trial = *finish;
    struct walk walk = {.frames = frames, .capacity = TRIAL_FRAMES};
    trial.is_trial = true;
    walk_begin(&walk, caller);
    walk.is_return = true;
    walk.is_guessed = true;
    if (resume_run(&trial, &walk, view) != WALK_ROOT)
        return 0;
    const struct module *own = modules_find((uint64_t)resume_run);
    for (uint32_t i = 0; i < walk.depth && i < TRIAL_FRAMES; i++)
        if ((i != 0 && frame_kind(frames[i]) == FRAME_EXACT) ||
            modules_find(frame_lookup(frames[i])) == own)
            return 0;
    return walk.depth;
}

/* The number of frames from CALLER to the root, with one of these fps: that of
 * its callee, one that its callee saved (*RULE says where), or an unknown one.
 * 0: CALLER is no caller. */
static uint32_t
try_caller(const struct resume *finish, struct view *view, struct regs *caller,
           struct rule *rule)
{
    int32_t cfa = (int32_t)rule_cfa_offset(*rule);
    uint32_t count = frames_to_root(finish, caller, view);
    if (count != 0)
        return count;
    for (int32_t i = 2; i < (int32_t)SAVED_WORDS + 2; i++)
        if (i * 8 <= cfa &&
            view_read(view, caller->sp - (uint64_t)i * 8, &caller->fp) &&
            caller->fp % 8 == 0 && caller->fp - caller->sp < FRAME_REACH) {
            count = frames_to_root(finish, caller, view);
            if (count == 0)
                continue;
            *rule = rule_guess(cfa, -i * 8);
            return count;
        }
    caller->fp = REGS_FP_UNKNOWN;
    return frames_to_root(finish, caller, view);
}

/* The result of a search. */
struct found {
    struct regs caller;
    struct rule rule;
    bool is_there, is_doubtful;
    bool has_others; /* return addresses of calls to other functions */
};

/* Take a caller with COUNT frames to the root, which may have made the call
 * through a pointer. Old return addresses look the same, so it must be the only
 * one. A stack begins with such a call, which does not count. */
static void
take_possible(struct found *found, const struct regs *caller, struct rule rule,
              uint32_t count)
{
    if (count <= BEGINNING && (found->is_there || found->has_others))
        return;
    found->is_doubtful = found->is_there;
    found->is_there = true;
    found->caller = *caller;
    found->rule = rule;
}

/* Find the caller of the frame where WALK stands: a return address from which
 * the root is reached. In generated code it is the lowest. In a module it must
 * follow a call of the function of that frame, or the only call that may be
 * one. Returns false if none is found. */
static bool
search_caller(const struct resume *finish, const struct walk *walk,
              struct view *view, struct regs *caller, struct rule *rule)
{
    struct resume trial = *finish;
    struct scan scan;
    struct found found = {0};
    uint64_t pc = walk->regs.pc - walk->is_return;
    bool is_generated = modules_code_kind(pc) == CODE_ANONYMOUS;
    uint64_t address, until = finish->clock() + SCAN_NS;
    trial.until += ahead_ns;
    if (until < trial.until)
        trial.until = until;
    begin_scan(&scan, walk->regs.sp);
    while (find_next(&scan, view, &address)) {
        enum code_way way = is_generated
                                ? CODE_WAY_SURE
                                : code_rows_way(pages_learner, address, pc);
        if (finish->clock() >= trial.until)
            return false;
        found.has_others |= way == CODE_WAY_NONE;
        if (way == CODE_WAY_NONE)
            continue;
        *caller =
            (struct regs){.pc = address, .sp = scan.at, .fp = walk->regs.fp};
        arch_doubt_sp(caller);
        *rule = rule_guess((int32_t)(scan.at - walk->regs.sp), 0);
        uint32_t count = try_caller(&trial, view, caller, rule);
        if (count != 0 && way == CODE_WAY_SURE)
            return true;
        if (count != 0)
            take_possible(&found, caller, *rule, count);
    }
    *caller = found.caller;
    *rule = found.rule;
    /* Others may exist that were not reached. */
    bool is_whole = scan.at < scan.end && scan.trials < SCAN_TRIALS;
    return found.is_there && !found.is_doubtful && is_whole;
}

/* Search, and note the time of the next search. */
static bool
search_in_turn(const struct resume *finish, const struct walk *walk,
               struct view *view, struct regs *caller, struct rule *rule)
{
    uint64_t start = finish->clock();
    bool is_found = search_caller(finish, walk, view, caller, rule);
    uint64_t took = finish->clock() - start;
    next_search =
        clock_now() + (is_found ? SEARCH_SHARE : SEARCH_SHARE_IN_VAIN) * took;
    return is_found;
}

/* Undo a frame of generated code in a trial: by the lowest return address. Such
 * frames are small, so little on them is old. A function that saves fp does so
 * first of all. */
static enum walk_outcome
try_lowest(struct walk *walk, struct view *view)
{
    struct scan scan;
    struct regs caller = {.fp = walk->regs.fp};
    uint64_t saved;
    begin_scan(&scan, walk->regs.sp);
    if (!find_next(&scan, view, &caller.pc))
        return WALK_CUT;
    caller.sp = scan.at;
    if (view_read(view, caller.sp - 16, &saved) && saved % 8 == 0 &&
        saved - caller.sp < FRAME_REACH)
        caller.fp = saved;
    return walk_guess_to(walk, &caller);
}

/* Whether the chain from WALK's frame by RULE leads out of VIEW, to memory that
 * is there. VIEW is a copy of one stack, and Go's code changes stacks. So this
 * one has nothing to find. */
static bool
leaves_copy(const struct walk *walk, const struct view *view, struct rule rule)
{
    uint64_t link[2];
    return view->is_copy && rule_chain_is(rule, RULE_CHAIN_ROOTED) &&
           walk->cut == CUT_BAD_READ &&
           sys_read_present(link, walk->regs.fp, sizeof(link)) ==
               (long)sizeof(link);
}

/* Go on where the walk leads nowhere without a table. A result holds for this
 * pc from now on, so no thread waits for it a second time. A failure may be due
 * to this stack, and is forgotten after a while. */
static enum walk_outcome
step_lost(const struct resume *finish, struct walk *walk, struct view *view)
{
    struct regs caller;
    struct rule found;
    uint64_t pc = walk->regs.pc - walk->is_return;
    bool is_generated = modules_code_kind(pc) == CODE_ANONYMOUS;
    if (finish->is_trial)
        return is_generated ? try_lowest(walk, view) : WALK_CUT;
    /* An earlier rule may have treated its page as code with frame pointers. */
    if (is_generated &&
        rule_kind(learn_rule(pc, walk->is_return)) == RULE_FRAME) {
        walk->cut = CUT_NONE;
        return WALK_ON;
    }
    /* No thread waits for the walk of a copy. */
    if (view->is_copy && !is_generated) {
        uint64_t start = finish->clock();
        code_rows_ahead(pages_learner);
        ahead_ns += finish->clock() - start;
        enum rule_kind kind = rule_kind(code_rows_find(pc).rule);
        /* A leaf's rule may not hold here. */
        if (kind != RULE_NONE &&
            (kind != RULE_LEAF || walk_knows_registers(walk))) {
            learn_rule(pc, walk->is_return);
            walk->cut = CUT_NONE;
            return WALK_ON;
        }
    }
    struct rule known = rules_find(pc);
    if (leaves_copy(walk, view, known) || clock_now() < next_search)
        return WALK_CUT;
    if (!search_in_turn(finish, walk, view, &caller, &found)) {
        if (rule_kind(known) == RULE_CHAIN)
            untabled_give_up(pc, known);
        return WALK_CUT;
    }
    if (rule_kind(known) != RULE_LEAF)
        untabled_decide(pc, is_generated, found);
    walk->cut = CUT_NONE;
    return walk_guess_to(walk, &caller);
}

/* The frames after the one in doubt were found by its rule. Those of a ring
 * are not in order: all of them go. */
bool
resume_confirm(struct walk *walk, uint64_t time, uint32_t after, uint32_t until)
{
    uint32_t head = walk->capacity - walk->tail;
    if (after == until && !modules_state.is_torn)
        return true;
    for (uint32_t i = 0; i < walk_kept(walk); i++) {
        struct frame frame = walk->frames[i];
        if (frame_kind(frame) == FRAME_GUESSED ||
            modules_are_sure(frame_lookup(frame), time, after, until))
            continue;
        walk->depth = i < head ? i : head;
        walk->cut = CUT_OLD_MAP;
        if (walk->script != NULL)
            script_go_back(walk->script, walk->depth);
        return false;
    }
    return true;
}

enum walk_outcome
resume_run(const struct resume *finish, struct walk *walk, struct view *view)
{
    if (!finish->is_trial)
        ahead_ns = 0;
    for (unsigned frames = 1;; frames++) {
        enum walk_outcome outcome = walk_run(walk, view);
        if (outcome == WALK_HARD)
            outcome = step_hard(finish, walk, view);
        if (outcome == WALK_LOST)
            outcome = step_lost(finish, walk, view);
        if (outcome == WALK_MISS)
            outcome = learn_missing(finish, walk);
        if (outcome != WALK_ON)
            return outcome;
        if (frames % CLOCK_FRAMES == 0 &&
            finish->clock() > finish->until + ahead_ns) {
            walk->cut = CUT_DEADLINE;
            return WALK_CUT;
        }
    }
}
