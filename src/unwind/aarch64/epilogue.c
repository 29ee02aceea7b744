/* SPDX-License-Identifier: MIT */
/*
 * epilogue.c -- see epilogue.h. It runs on the sampler thread, on a copy of the
 * code. At one pc a function always has the same amount on the stack, whichever
 * way led there. So any way from there to a return shows how much, and from
 * where x29 and x30 are loaded.
 *
 * The hard thing is not to leave the function. Code after a call that does not
 * return, or after an instruction that ends the program, is another function's.
 * So a call is passed in straight code, or if its function is seen to return.
 */
#include <string.h>

#include "base/sys.h"
#include "instruction.h"
#include "unwind/epilogue.h"
#include "base/poison.h"

/* Limits of the ways that wait to be followed, and of the instructions on all
 * ways, in a row for EPILOGUE_STRAIGHT. */
#define BRANCHES_MAX 32
#define STEPS_MAX 1024u
#define STRAIGHT_MAX 16u

/* Limits of the search that shows that a call returns: levels of calls,
 * including the function itself, calls of one function, and bytes of code of a
 * called one. */
#define LEVELS 3u
#define CALLS_MAX 32u
#define CALLEE_REACH 2048u

#define NOWHERE INT64_MIN

/* A place in the code, and the amount taken off the stack up to there. */
struct path {
    size_t at;
    int64_t taken;    /* how far sp is above its start, or above x29 */
    int64_t fp, link; /* from where they were loaded, or NOWHERE */
    /* Where they were stored before, or NOWHERE. */
    int64_t fp_stored, link_stored;
    bool by_fp;
};

struct reading {
    const uint8_t *code;
    size_t length, same;
    enum epilogue_way way;
    uint64_t pc; /* address of the code */
    epilogue_reader *reader;
    unsigned level; /* of calls */
    unsigned steps, branches, calls;
    bool is_first; /* nothing was taken yet, without a jump */
    uint8_t seen[EPILOGUE_REACH / 4 / 8];
    struct path later[BRANCHES_MAX];
};

/* Reserved at the first use. */
static struct memory {
    struct reading readings[LEVELS]; /* 2 KiB each */
    uint8_t callees[LEVELS][CALLEE_REACH];
} * memory;

static bool follow_ways(struct reading *reading, struct path *path);

/* Note in PATH that register NUMBER is stored at AT: it still has the caller's
 * value, unless that was loaded from the stack before. */
static void
note_store(struct path *path, unsigned number, int64_t at)
{
    if (number == REG_FP && path->fp == NOWHERE)
        path->fp_stored = at;
    if (number == REG_LINK && path->link == NOWHERE)
        path->link_stored = at;
}

/* Note in PATH that register NUMBER is loaded from AT. A value stored there on
 * the way was in the register when the way began. */
static void
note_load(struct path *path, unsigned number, int64_t at)
{
    if (number == REG_FP && at != path->fp_stored)
        path->fp = at;
    if (number == REG_LINK && at != path->link_stored)
        path->link = at;
}

/* A way from the first instruction on. */
static struct path
begin_path(void)
{
    return (struct path){.fp = NOWHERE,
                         .link = NOWHERE,
                         .fp_stored = NOWHERE,
                         .link_stored = NOWHERE};
}

/* Whether the function that IN calls, at AT, is seen to return. */
static bool
is_passed(struct reading *reading, const struct instruction *in, size_t at)
{
    unsigned level = reading->level + 1;
    struct path path = begin_path();
    if (in->kind != IN_CALL || reading->reader == NULL || level >= LEVELS ||
        ++reading->calls > CALLS_MAX)
        return false;
    struct reading *callee = &memory->readings[level];
    memset(callee, 0, sizeof(*callee));
    callee->level = level;
    callee->way = EPILOGUE_BRANCHED;
    callee->reader = reading->reader;
    callee->pc = reading->pc + at + (uint64_t)in->target;
    callee->code = memory->callees[level];
    callee->length =
        reading->reader(callee->pc, memory->callees[level], CALLEE_REACH);
    return follow_ways(callee, &path) && path.taken == 0 && !path.by_fp &&
           path.link == NOWHERE;
}

/* Follow IN. Returns false if the way is lost. */
static bool
step_over(struct reading *reading, struct path *path,
          const struct instruction *in)
{
    bool is_straight = reading->way == EPILOGUE_STRAIGHT;
    switch (in->kind) {
    case IN_LOAD:
        note_load(path, in->first, path->taken + in->offset);
        note_load(path, in->second, path->taken + in->offset + 8);
        path->taken += in->move;
        return true;
    case IN_STORE:
        note_store(path, in->first, path->taken + in->offset);
        note_store(path, in->second, path->taken + in->offset + 8);
        path->taken += in->move;
        return true;
    case IN_MOVE:
        path->taken += in->offset;
        return true;
    case IN_USE_FP:
        if (path->by_fp || path->fp != NOWHERE || path->link != NOWHERE)
            return false;
        path->by_fp = true;
        path->taken = in->offset;
        path->fp_stored = path->link_stored = NOWHERE;
        return true;
    case IN_CALL:
    case IN_CALL_REGISTER:
        /* A call needs a frame: x30 is loaded after it. */
        return path->link == NOWHERE &&
               (is_straight || is_passed(reading, in, path->at));
    case IN_BRANCH:
    case IN_JUMP:
        return !is_straight;
    case IN_LANDING:
        return path->at == 0;
    case IN_SET_FP:
    case IN_WRITE_FP:
    case IN_UNKNOWN:
    case IN_END:
        return false;
    default:
        return true;
    }
}

/* Whether PATH is at a new place. From now on the place is not new. */
static bool
note_seen(struct reading *reading, const struct path *path)
{
    size_t number = path->at / 4;
    uint8_t bit = (uint8_t)(1u << number % 8);
    bool is_new = (reading->seen[number / 8] & bit) == 0;
    reading->seen[number / 8] |= bit;
    return is_new;
}

/* Let PATH go to the target of IN. Returns false if that is not in the code. */
static bool
take_jump(const struct reading *reading, struct path *path,
          const struct instruction *in)
{
    uint64_t target = path->at + (uint64_t)in->target;
    path->at = target;
    return target < reading->length;
}

/* Note whether the rule of the first pc holds after IN, too. */
static void
note_same(struct reading *reading, const struct path *path,
          const struct instruction *in)
{
    reading->is_first &=
        in->kind != IN_JUMP && in->kind != IN_RETURN && path->taken == 0 &&
        !path->by_fp && path->fp == NOWHERE && path->link == NOWHERE &&
        path->fp_stored == NOWHERE && path->link_stored == NOWHERE;
    if (reading->is_first)
        reading->same = path->at + 4;
}

/* Follow PATH until a return (true) or until it is lost. */
static bool
follow(struct reading *reading, struct path *path)
{
    unsigned most =
        reading->way == EPILOGUE_STRAIGHT ? STRAIGHT_MAX : STEPS_MAX;
    while (path->at + 4 <= reading->length && note_seen(reading, path) &&
           reading->steps++ < most) {
        uint32_t word;
        struct instruction in;
        memcpy(&word, reading->code + path->at, sizeof(word));
        instruction_read(word, &in);
        if (!step_over(reading, path, &in))
            return false;
        note_same(reading, path, &in);
        if (in.kind == IN_RETURN)
            return true;
        if (in.kind == IN_BRANCH && reading->branches < BRANCHES_MAX) {
            struct path *later = &reading->later[reading->branches];
            *later = *path;
            reading->branches += take_jump(reading, later, &in);
        }
        if (in.kind != IN_JUMP)
            path->at += 4;
        else if (!take_jump(reading, path, &in))
            return false;
    }
    return false;
}

/* Make the rule that PATH, which is right after a return, shows. */
static bool
make_rule(const struct path *path, struct rule *rule)
{
    int64_t cfa = path->taken, fp = path->fp - cfa, link = path->link - cfa;
    bool has_fp = path->fp != NOWHERE, has_link = path->link != NOWHERE;
    uint64_t bits;
    if (cfa < 0 || cfa % 8 != 0 || cfa > RULE_OFFSET_MAX ||
        (has_fp && (fp >= 0 || !rule_bits_fit(fp))) ||
        !rule_bits_of_return(has_link, has_link ? link : 0, &bits))
        return false;
    *rule = rule_frame(path->by_fp ? RULE_CFA_FP : RULE_CFA_SP, (int32_t)cfa,
                       has_fp ? RULE_FP_AT_CFA : RULE_FP_SAME,
                       has_fp ? (int32_t)fp : 0);
    rule->word |= bits;
    return true;
}

/* Follow one way after the other, from PATH on, until one of them returns. */
static bool
follow_ways(struct reading *reading, struct path *path)
{
    reading->is_first = true;
    while (!follow(reading, path)) {
        reading->is_first = false;
        if (reading->branches == 0 || reading->steps >= STEPS_MAX)
            return false;
        *path = reading->later[--reading->branches];
    }
    return true;
}

bool
epilogue_read(const uint8_t *code, size_t length, enum epilogue_way way,
              uint64_t pc, epilogue_reader *reader, struct epilogue *epilogue)
{
    if (memory == NULL)
        memory = sys_reserve_for_one(sizeof(*memory));
    if (memory == NULL)
        return false;
    struct reading *reading = &memory->readings[0];
    struct path path = begin_path();
    memset(reading, 0, sizeof(*reading));
    if (pc % 4 != 0)
        return false;
    reading->code = code;
    reading->length = length < EPILOGUE_REACH ? length : EPILOGUE_REACH;
    reading->way = way;
    reading->pc = pc;
    reading->reader = reader;
    if (!follow_ways(reading, &path))
        return false;
    epilogue->same = reading->same;
    return make_rule(&path, &epilogue->rule);
}
