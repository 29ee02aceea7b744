/* SPDX-License-Identifier: MIT */
/*
 * code_flow.c -- see code_flow.h. It runs on the sampler thread, on a copy of
 * the code.
 *
 * Where two ways meet, what both know stays known. Few instructions change what
 * is known, so states have numbers, and the code a number for each byte.
 *
 * The hard thing is where a function ends. A call may not return: what follows
 * it is followed last, and changes nothing that is known otherwise. If it may
 * well be another function, it is forgotten unless it is right. A jump to a
 * computed address is one to another function if the frame is gone. Else it
 * leads to code after it that no other way reaches. If that turns out to be
 * another function's, it is forgotten.
 */
#include <string.h>

#include "base/arch.h"
#include "base/sys.h"
#include "code_effect.h"
#include "code_kept.h"
#include "code_rule.h"
#include "code_flow.h"
#include "base/poison.h"

/* Limits: of the states, a power of two; of the ways that wait to be followed,
 * and of those among them that are doubtful; of what is followed in all, in
 * instructions, functions that are called with it; and of trials. */
#define STATES 2048u
#define WAYS 4096u
#define DOUBTFUL 256u

/* Bytes: assembly begins functions at multiples of that. */
#define ALIGNED 16u
#define STEPS (256u << 10)
#define TRIALS 64u

/* Of what is known of a byte: a trial has come here first; a way from here
 * leads to a return. */
#define TRIAL 0x8000u
#define RETURNS 0x4000u

struct way {
    uint32_t at, state;
};

/* What a byte was before. */
struct change {
    uint32_t at, before;
};

static struct memory {
    struct code_state states[STATES]; /* from 1 on */
    uint16_t ids[2 * STATES];         /* by a hash */
    uint32_t at[CODE_FLOW_REACH]; /* run << 16 | TRIAL | number of the state */
    struct way sure[WAYS], weak[WAYS], doubtful[DOUBTFUL];
    struct change changes[WAYS];
} * memory;

struct following {
    const uint8_t *code;
    size_t length;
    uint32_t run; /* a number of this one */
    uint32_t entry;
    bool is_called; /* a call leads to the entry */
    uint32_t states, sure, weak, doubtful;
    uint32_t tried;     /* of the doubtful ways */
    uint32_t low, high; /* what was reached */
    uint32_t steps;
    uint32_t returns;
    bool has_passed; /* what follows a call was followed */
    bool is_wrong;   /* a return that is none, or code that is not understood */
    /* What follows a jump to a computed address. */
    uint32_t switch_state, switch_end;
    bool switch_is_gone; /* the frame is gone there */
    uint32_t trials;
    bool is_trial;
    bool is_row; /* and no jump was met in it */
    bool meets;  /* the trial has met what is known */
    uint32_t changes;
};

static uint32_t runs;

int
code_flow_begin(void)
{
    if (memory == NULL)
        memory = sys_reserve_for_one(sizeof(*memory));
    return memory != NULL ? 0 : -1;
}

/* The number of STATE; 0: there are too many. */
static uint32_t
number_of(struct following *f, const struct code_state *state)
{
    const size_t size = offsetof(struct code_state, slots) +
                        state->count * sizeof(state->slots[0]);
    const uint8_t *bytes = (const uint8_t *)state;
    uint64_t hash = 0;
    uint32_t word;
    for (size_t i = 0; i < size; i += sizeof(word)) {
        memcpy(&word, bytes + i, sizeof(word));
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        uint16_t *id = &memory->ids[i % (2 * STATES)];
        if (*id != 0 && memcmp(&memory->states[*id], state, size) == 0)
            return *id;
        if (*id != 0)
            continue;
        if (f->states + 1 >= STATES)
            return 0;
        memory->states[++f->states] = *state;
        *id = (uint16_t)f->states;
        return *id;
    }
}

/* The state that is known where the states A and B meet. 0: too many, or one of
 * them is not of this function, because the distance of sp from the CFA is
 * another. */
static uint32_t
meet(struct following *f, uint32_t a, uint32_t b)
{
    const struct code_state *other = &memory->states[b];
    struct code_state state = memory->states[a];
    if (state.registers[CODE_SP].kind == VALUE_CFA &&
        other->registers[CODE_SP].kind == VALUE_CFA &&
        state.registers[CODE_SP].offset != other->registers[CODE_SP].offset)
        return 0;
    code_state_meet(&state, other);
    return number_of(f, &state);
}

static uint32_t
state_at(const struct following *f, uint32_t at)
{
    uint32_t word = memory->at[at];
    return word >> 16 == f->run ? word & (STATES - 1) : 0;
}

static void
put_state(struct following *f, uint32_t at, uint32_t state)
{
    bool is_first =
        f->is_trial && (state_at(f, at) == 0 || (memory->at[at] & TRIAL) != 0);
    if (f->is_trial && f->changes == WAYS) {
        f->is_wrong = true;
        return;
    }
    if (f->is_trial)
        memory->changes[f->changes++] = (struct change){at, memory->at[at]};
    memory->at[at] = f->run << 16 | (is_first ? TRIAL : 0) | state;
    f->low = at < f->low ? at : f->low;
    f->high = at > f->high ? at : f->high;
}

/* A way with *STATE comes to AT. Returns whether anything new is known there:
 * *STATE. */
static bool
arrive(struct following *f, uint32_t at, uint32_t *state)
{
    uint32_t old = state_at(f, at);
    f->meets |= old != 0 && (memory->at[at] & TRIAL) == 0;
    if (old == *state)
        return false;
    if (old != 0) {
        *state = meet(f, old, *state);
        f->is_wrong |= *state == 0;
        if (*state == old || *state == 0)
            return false;
    }
    put_state(f, at, *state);
    return true;
}

static void
add_way(struct following *f, struct way *ways, uint32_t *count, uint32_t at,
        uint32_t state)
{
    if (*count < WAYS)
        ways[(*count)++] = (struct way){at, state};
    else
        f->is_wrong = true;
}

/* Whether the function may be left in STATE. One that assembly calls for its
 * own ends need not restore registers. */
static bool
may_leave(const struct following *f, const struct code_state *state)
{
    return f->is_called ? code_effect_has_no_frame(state)
                        : code_effect_may_return(state);
}

/* The function is left in STATE. That a jump leaves it proves nothing: part of
 * a function may lie elsewhere. */
static void
leave(struct following *f, const struct code_state *state, bool returns)
{
    f->returns += returns;
    f->is_wrong |= !may_leave(f, state);
}

/* Go to TARGET with state ID, which is STATE. */
static void
take_jump(struct following *f, int64_t target, const struct code_state *state,
          uint32_t id)
{
    if (target >= 0 && (uint64_t)target < f->length)
        add_way(f, memory->sure, &f->sure, (uint32_t)target, id);
    else
        leave(f, state, false);
}

/* The code goes on at a computed address. If the frame is gone, that may be
 * another function's; what follows may be one, and is in the same state. */
static void
take_switch(struct following *f, uint32_t end, const struct code_state *state,
            uint32_t id)
{
    bool is_gone = may_leave(f, state);
    if (is_gone && f->switch_state != 0)
        return;
    if (f->switch_is_gone)
        f->switch_state = 0;
    f->switch_is_gone = is_gone;
    /* What they lead to knows what is known at all of them. */
    if (f->switch_state != 0 && f->switch_state != id)
        id = meet(f, f->switch_state, id);
    f->is_wrong |= id == 0;
    if (f->switch_state == 0 || end < f->switch_end)
        f->switch_end = end;
    f->switch_state = id;
}

/* Where STEP, the instruction of LENGTH bytes at AT, goes by TARGET, which is
 * relative to it. Negative: not known, because a register or a word has the
 * address. */
static int64_t
aim_of(enum code_step step, uint32_t at, size_t length, int64_t target)
{
    bool is_known = target != 0 && target != (int64_t)length;
    return step != CODE_CALL || is_known ? at + target : -1;
}

/* The registers that a call of the code at TARGET, if that is known, surely
 * leaves as they are. A bit for each. */
static uint32_t
kept_by_call(struct following *f, int64_t target)
{
    return target >= 0 && (uint64_t)target < f->length && f->steps < STEPS
               ? code_kept_read(f->code, f->length, (size_t)target, &f->steps)
               : 0;
}

/* A call of the code at TARGET, if that is known, ends at AT, in state ID;
 * STATE was before it. If it does not return, what follows is another
 * function's. So it is doubtful what follows if that fills a gap, or if nothing
 * is on the stack, as at the entry of that function: most calls need a stack
 * that is aligned (ABI for x86-64, section 3.2.2), or a place for the return
 * address. Assembly calls its own helpers without. There, functions begin at
 * multiples of 16. A wrong beginning usually does not. One trial is for a row
 * of calls without a jump if what they call is followed to its returns. */
static void
pass_call(struct following *f, uint32_t at, int64_t target,
          const struct code_state *state, uint32_t id)
{
    size_t size;
    if (at >= f->length)
        return;
    bool is_padding =
        code_effect_is_padding(f->code + at, f->length - at, &size);
    bool has_frame = !code_effect_has_no_frame(state);
    bool is_own = target >= 0 && target < (int64_t)f->length && !is_padding &&
                  f->entry % ALIGNED == 0 && at % ALIGNED != 0;
    bool returns = is_own && f->is_row && kept_by_call(f, target) != 0;
    if ((has_frame && !is_padding) || returns)
        add_way(f, memory->weak, &f->weak, at, id);
    else if (f->doubtful < DOUBTFUL && (has_frame || f->is_called || is_own))
        memory->doubtful[f->doubtful++] = (struct way){at, id};
}

/* A call of the code at TARGET has led from BEFORE to STATE. If only a register
 * shows where the frame is, and the call leaves it as it is, it still does. */
static void
keep_registers(struct following *f, int64_t target,
               const struct code_state *before, struct code_state *state)
{
    struct code_state all = *state;
    for (unsigned i = 0; i < CODE_REGISTERS; i++)
        if (i != CODE_LINK)
            all.registers[i] = before->registers[i];
    if (rule_kind(code_rule_of(&all, ~0u)) != RULE_LEAF)
        return;
    uint32_t kept = kept_by_call(f, target);
    for (unsigned i = 0; i < CODE_REGISTERS; i++)
        if ((kept >> i & 1) != 0)
            state->registers[i] = all.registers[i];
}

/* Follow the code from AT on with the state ID, until it goes on elsewhere. */
static void
follow(struct following *f, uint32_t at, uint32_t id)
{
    struct code_state state = memory->states[id];
    while (!f->is_wrong && at < f->length) {
        size_t length;
        int64_t target;
        uint32_t before = id;
        if (!arrive(f, at, &id) || ++f->steps > STEPS)
            break;
        if (id != before)
            state = memory->states[id];
        const struct code_state *here = &memory->states[id];
        enum code_step step =
            code_effect_step(&state, f->code + at, f->length - at, &length,
                             &target);
        target = aim_of(step, at, length, target);
        at += (uint32_t)length;
        if (step == CODE_CALL)
            keep_registers(f, target, here, &state);
        f->is_row &= step == CODE_ON || step == CODE_CALL;
        if (memcmp(&state, &memory->states[id], sizeof(state)) != 0)
            id = number_of(f, &state);
        if (id == 0 || step == CODE_LOST)
            f->is_wrong = true;
        else if (step == CODE_BRANCH || step == CODE_JUMP)
            take_jump(f, target, &state, id);
        else if (step == CODE_SWITCH)
            take_switch(f, at, &state, id);
        else if (step == CODE_CALL)
            pass_call(f, at, target, here, id);
        else if (step == CODE_RETURN || step == CODE_LEAVE)
            leave(f, &state, step == CODE_RETURN);
        if (step != CODE_ON && step != CODE_BRANCH)
            return;
    }
    f->is_wrong |= at >= f->length || f->steps > STEPS;
}

/* Whether WAY tells something new: its code is not known, or sp is known there
 * and not on this way. */
static bool
is_new(const struct following *f, const struct way *way)
{
    if (way->at >= f->length)
        return false;
    uint32_t known = state_at(f, way->at);
    return known == 0 ||
           (memory->states[known].registers[CODE_SP].kind == VALUE_CFA &&
            memory->states[way->state].registers[CODE_SP].kind != VALUE_CFA);
}

/* Take the first of the weak ways that tells something new. */
static bool
take_weak(struct following *f, struct way *way)
{
    while (f->weak != 0) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < f->weak; i++)
            if (memory->weak[i].at < memory->weak[first].at)
                first = i;
        *way = memory->weak[first];
        memory->weak[first] = memory->weak[--f->weak];
        if (is_new(f, way))
            return true;
    }
    return false;
}

static void
follow_all(struct following *f)
{
    struct way way;
    while (!f->is_wrong) {
        if (f->sure != 0)
            way = memory->sure[--f->sure];
        else if (take_weak(f, &way))
            f->has_passed = true;
        else
            return;
        follow(f, way.at, way.state);
    }
}

/* The step at AT. *NEXT becomes the instruction after it, and *TARGET where it
 * goes. */
static enum code_step
step_at(const struct following *f, uint32_t at, uint32_t *next, int64_t *target)
{
    struct code_state state = {0};
    size_t length;
    enum code_step step =
        code_effect_step(&state, f->code + at, f->length - at, &length, target);
    *next = at + (uint32_t)length;
    *target = aim_of(step, at, length, *target);
    return step;
}

/* Follow WAY, and forget it unless it is right: it returns, or meets what is
 * known. Returns whether it is. */
static bool
try_way(struct following *f, struct way way)
{
    struct following before = *f;
    f->is_trial = f->is_row = true;
    f->meets = false;
    f->changes = 0;
    add_way(f, memory->sure, &f->sure, way.at, way.state);
    follow_all(f);
    bool is_ours = !f->is_wrong && (f->meets || f->returns != before.returns);
    f->is_trial = f->is_row = false;
    while (f->changes != 0) {
        struct change *last = &memory->changes[--f->changes];
        if (is_ours)
            memory->at[last->at] &= ~TRIAL;
        else
            memory->at[last->at] = last->before;
    }
    if (!is_ours) {
        before.states = f->states;
        before.steps = f->steps;
        *f = before;
    }
    return is_ours;
}

/* Follow what a call leads to that may not return. Returns whether there was
 * such code. */
static bool
follow_doubtful(struct following *f)
{
    while (f->tried < f->doubtful && f->trials < TRIALS) {
        struct way way = memory->doubtful[f->tried++];
        if (!is_new(f, &way))
            continue;
        f->trials++;
        if (!try_way(f, way))
            continue;
        f->has_passed = true;
        return true;
    }
    return false;
}

/* Follow what only a jump to a computed address reaches. Returns whether there
 * was such code. */
static bool
follow_switch(struct following *f)
{
    uint32_t at = f->switch_end;
    size_t size;
    int64_t target;
    if (f->switch_state == 0 || f->trials++ >= TRIALS)
        return false;
    while (at < f->length) {
        if (state_at(f, at) != 0)
            (void)step_at(f, at, &at, &target);
        else if (code_effect_is_padding(f->code + at, f->length - at, &size))
            at += (uint32_t)size;
        else
            break;
    }
    if (at >= f->length)
        return false;
    if (!try_way(f, (struct way){at, f->switch_state}))
        return false;
    f->switch_end = at;
    return true;
}

/* Add a row from START to END - 1, or extend the last one. */
static bool
add_row(struct code_flow *flow, uint32_t start, uint32_t end, struct rule rule)
{
    struct code_row *last = &flow->rows[flow->count - 1];
    if (flow->count != 0 && last->end == start &&
        last->rule.word == rule.word) {
        last->end = end;
        return true;
    }
    if (flow->count == CODE_FLOW_ROWS)
        return false;
    flow->rows[flow->count++] = (struct code_row){start, end, rule};
    return true;
}

static bool
is_returning(const struct following *f, int64_t at)
{
    return at < 0 || at >= (int64_t)f->length ||
           (state_at(f, (uint32_t)at) != 0 && (memory->at[at] & RETURNS) != 0);
}

/* Whether a way from the instruction at AT leads to a return, by what is known
 * of those that follow it. */
static bool
may_return(const struct following *f, uint32_t at)
{
    struct code_state state = {0};
    size_t length;
    int64_t target;
    switch (code_effect_step(&state, f->code + at, f->length - at, &length,
                             &target)) {
    case CODE_RETURN:
    case CODE_SWITCH:
    case CODE_LEAVE:
        return true;
    case CODE_JUMP:
        return is_returning(f, at + target);
    case CODE_BRANCH:
        return is_returning(f, at + target) ||
               is_returning(f, at + (int64_t)length);
    case CODE_END:
    case CODE_LOST:
        return false;
    default:
        return is_returning(f, at + (int64_t)length);
    }
}

/* A call may not return. What follows it is another function's then, and proves
 * nothing if that does not return either. So forget what no return follows. */
static void
forget_ends(struct following *f)
{
    bool changes = f->has_passed;
    while (changes) {
        changes = false;
        for (uint32_t at = f->high + 1; at-- > f->low;)
            if (state_at(f, at) != 0 && (memory->at[at] & RETURNS) == 0 &&
                may_return(f, at)) {
                memory->at[at] |= RETURNS;
                changes = true;
            }
    }
    for (uint32_t at = f->low; f->has_passed && at <= f->high; at++)
        if (state_at(f, at) != 0 && (memory->at[at] & RETURNS) == 0)
            memory->at[at] = 0;
}

/* The rule of the instruction at AT. *NEXT becomes the one after it. A caller
 * is looked up by the last byte of its call. The registers that it needs then
 * are those of a leaf below it. A link register is no longer what it was. */
static struct rule
rule_at(struct following *f, uint32_t at, uint32_t *next)
{
    struct code_state state = memory->states[state_at(f, at)];
    int64_t target;
    enum code_step step = step_at(f, at, next, &target);
    struct rule rule = code_rule_of(&state, ~0u);
    if (step != CODE_CALL)
        return rule;
    state.registers[CODE_LINK] = (struct code_value){0};
    struct rule later = code_rule_of(&state, ~0u);
    if (rule_kind(later) == RULE_LEAF)
        later = code_rule_of(&state, kept_by_call(f, target));
    return rule_kind(later) == RULE_NONE && rule_kind(rule) != RULE_LEAF
               ? rule
               : later;
}

static bool
make_rows(struct following *f, struct code_flow *flow)
{
    flow->count = 0;
    for (uint32_t at = f->low; at <= f->high; at++) {
        uint32_t next;
        if (state_at(f, at) == 0)
            continue;
        struct rule rule = rule_at(f, at, &next);
        if (rule_kind(rule) != RULE_NONE && !add_row(flow, at, next, rule))
            return false;
    }
    return true;
}

static void
begin(struct following *f)
{
    if (++runs > UINT16_MAX) {
        memset(memory->at, 0, sizeof(memory->at));
        runs = 1;
    }
    f->run = runs;
    memset(memory->ids, 0, sizeof(memory->ids));
}

bool
code_flow_read(const uint8_t *code, size_t length, size_t entry, bool is_called,
               struct code_flow *flow)
{
    struct following f = {.code = code,
                          .length = length,
                          .low = UINT32_MAX,
                          .entry = (uint32_t)entry,
                          .is_called = is_called};
    struct code_state state;
    if (length > CODE_FLOW_REACH || entry >= length)
        return false;
    begin(&f);
    memset(&state, 0, sizeof(state));
    code_effect_enter(&state);
    add_way(&f, memory->sure, &f.sure, (uint32_t)entry, number_of(&f, &state));
    follow_all(&f);
    while (!f.is_wrong && (follow_switch(&f) || follow_doubtful(&f)))
        ;
    if (f.is_wrong || f.returns == 0)
        return false;
    forget_ends(&f);
    return make_rows(&f, flow);
}

const struct code_row *
code_flow_row(const struct code_row *rows, uint32_t count, uint64_t at)
{
    while (count > 1) {
        uint32_t half = count / 2;
        if (rows[half].start <= at) {
            rows += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return count != 0 && at >= rows->start && at < rows->end ? rows : NULL;
}

const struct code_state *
code_flow_state(size_t at)
{
    const struct following last = {.run = runs};
    uint32_t id = memory != NULL && at < CODE_FLOW_REACH
                      ? state_at(&last, (uint32_t)at)
                      : 0;
    return id != 0 ? &memory->states[id] : NULL;
}
