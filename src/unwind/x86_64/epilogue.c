/* SPDX-License-Identifier: MIT */
/*
 * epilogue.c -- see epilogue.h. It runs on the sampler thread, on a copy of the
 * code.
 *
 * At one pc a function always has the same amount on the stack, whichever way
 * led there. So any way from there to a return shows how much. A jump to
 * another function is a return, too. The use of rbp does not matter: a function
 * that changes it takes its caller's rbp off the stack again, last of all.
 *
 * The hard thing is not to leave the function. Code after a call that does not
 * return, or after an instruction that ends the program, is another function's.
 * So a call is passed only if its function is followed to its own return.
 */
#include <string.h>

#include "base/sys.h"
#include "instruction.h"
#include "unwind/epilogue.h"
#include "base/poison.h"

/* Limits of the ways that wait to be followed, and of the instructions on all
 * ways. STRAIGHT_MAX limits those in a row for EPILOGUE_STRAIGHT. */
#define BRANCHES_MAX 64
#define STEPS_MAX 4096u
#define STRAIGHT_MAX 16u

/* Limits of the calls that are followed: how deep, how many bytes of a called
 * function, and how many calls. */
#define LEVELS 3u
#define CALLEE_REACH 2048u
#define CALLS_MAX 32u

/* A place in the code, and the amount taken off the stack up to there. */
struct path {
    size_t at;
    int64_t taken; /* how far rsp is above its start, or above rbp */
    bool by_fp;
    /* The caller's rbp was taken from FP_AT, which is counted as TAKEN is. */
    bool has_fp;
    int64_t fp_at;
    bool sets_fp; /* rbp became the TAKEN of that moment: FP_VALUE */
    int64_t fp_value;
};

enum step { ON, CALL, BRANCH, JUMP, RETURN, END };

struct reading {
    const uint8_t *code;
    size_t length;
    enum epilogue_way way;
    uint64_t pc; /* address of the code */
    epilogue_reader *reader;
    unsigned level; /* of calls */
    unsigned steps, branches, calls;
    size_t same;
    bool is_first; /* nothing was taken yet, without a jump */
    uint8_t seen[EPILOGUE_REACH / 8];
    struct path later[BRANCHES_MAX];
};

/* rsp becomes rbp + OFFSET. */
static enum step
use_fp(struct path *path, int32_t offset)
{
    if (path->sets_fp && !path->has_fp) {
        path->taken = path->fp_value + offset;
        return ON;
    }
    if (path->by_fp || path->has_fp)
        return END;
    path->by_fp = true;
    path->taken = offset;
    return ON;
}

static void
take_fp(struct path *path, int64_t at)
{
    path->has_fp = true;
    path->fp_at = at;
}

static enum step
step_pop(struct path *path, unsigned rm)
{
    if (rm == RSP)
        return END;
    if (rm == RBP)
        take_fp(path, path->taken);
    path->taken += 8;
    return ON;
}

/* add or sub of a constant, or a comparison. Other operations on rsp align it.
 */
static enum step
step_arithmetic(struct path *path, const struct instruction *in)
{
    unsigned operation = in->reg & 7;
    if (in->mod != 3 || in->rm != RSP || operation == 7)
        return ON;
    if (!in->is_wide || (operation != 0 && operation != 5))
        return END;
    path->taken += operation == 0 ? in->immediate : -(int64_t)in->immediate;
    return ON;
}

/* rbp becomes rsp + OFFSET: the function begins. */
static enum step
set_fp(struct path *path, int32_t offset)
{
    path->sets_fp = true;
    path->fp_value = path->taken + offset;
    return ON;
}

/* mov and lea to rsp or rbp. */
static enum step
step_move(struct path *path, const struct instruction *in)
{
    bool is_lea = in->opcode == 0x8d, is_store = in->opcode == 0x89;
    unsigned to = !is_store ? in->reg : in->mod == 3 ? in->rm : 0;
    unsigned from = is_store ? in->reg : in->rm;
    bool is_plain = in->mod != 3 && in->has_base && !in->has_index;
    if (to == RBP && in->mod == 3 && from == RSP && !is_lea)
        return set_fp(path, 0);
    if (to == RBP && is_plain && in->base == RSP && is_lea)
        return set_fp(path, in->displacement);
    if (to == RBP && is_plain && in->base == RSP && !is_store)
        take_fp(path, path->taken + in->displacement);
    if (to != RSP)
        return ON;
    if (in->mod == 3 && from == RBP)
        return use_fp(path, 0);
    if (is_lea && is_plain && in->base == RBP)
        return use_fp(path, in->displacement);
    if (!is_lea || !is_plain || in->base != RSP)
        return END;
    path->taken += in->displacement;
    return ON;
}

static enum step
step_leave(struct path *path)
{
    if (use_fp(path, 0) == END)
        return END;
    return step_pop(path, RBP);
}

static enum step
step_group(struct path *path, const struct instruction *in)
{
    unsigned operation = in->reg & 7;
    if (operation == 2 || operation == 3)
        return CALL;
    /* A jump to an address that lies beside the code leads to another function:
     * libffi's closures end so, and stubs of a PLT. A switch has an index. */
    if (operation == 4 && in->mod == 0 && (in->rm & 7) == RBP)
        return RETURN;
    if (operation == 4 || operation == 5 ||
        (operation < 2 && in->mod == 3 && in->rm == RSP))
        return END;
    path->taken -= operation == 6 ? 8 : 0;
    return ON;
}

/* Instructions of two bytes: jumps, pushes and ends of a program. */
static enum step
step_two_bytes(struct path *path, const struct instruction *in)
{
    bool is_entry = in->opcode == 0x1e && in->is_repeated && in->mod == 3 &&
                    (in->reg & 7) == 7 && (in->rm & 7) == 2;
    if ((in->opcode & 0xf0) == 0x80)
        return BRANCH;
    /* endbr64 begins another function, unless the reading began there. */
    if (in->opcode == 0x0b || (is_entry && path->at != 0))
        return END;
    if (in->opcode == 0xa0 || in->opcode == 0xa8)
        path->taken -= 8;
    if (in->opcode == 0xa1 || in->opcode == 0xa9)
        path->taken += 8;
    return ON;
}

/* Whether rsp is the operand that IN, of one byte, writes as a whole. */
static bool
writes_rsp(const struct instruction *in)
{
    unsigned op = in->opcode;
    bool compares = op == 0x85 || (op & 0xfe) == 0x38 || (op & 0xfe) == 0x3a;
    bool to_reg =
        op == 0x63 || op == 0x69 || op == 0x6b || (op < 0x40 && (op & 2) != 0);
    bool has_operand = in->form == 'm' || in->form == 'B' || in->form == 'Z' ||
                       in->form == 'g';
    if ((op & 0xf8) == 0xb8 || ((op & 0xf8) == 0x90 && op != 0x90))
        return in->rm == RSP;
    if (!has_operand || compares || ((op & 1) == 0 && op != 0x8d && !to_reg))
        return false;
    return to_reg ? in->reg == RSP : in->mod == 3 && in->rm == RSP;
}

/* Follow IN, which has an opcode of one byte. */
static enum step
step_one_byte(struct path *path, const struct instruction *in)
{
    unsigned op = in->opcode;
    if ((op & 0xf8) == 0x50 || op == 0x68 || op == 0x6a || op == 0x9c) {
        path->taken -= 8;
        return ON;
    }
    if ((op & 0xf8) == 0x58)
        return step_pop(path, in->rm);
    if (op == 0x9d) {
        path->taken += 8;
        return ON;
    }
    if (op == 0x81 || op == 0x83)
        return step_arithmetic(path, in);
    if (op == 0x89 || op == 0x8b || op == 0x8d)
        return step_move(path, in);
    if (op == 0xc9)
        return step_leave(path);
    if (op == 0xc2 || op == 0xc3)
        return RETURN;
    if (op == 0xe8)
        return CALL;
    if (op == 0xe9 || op == 0xeb)
        return JUMP;
    if ((op & 0xf0) == 0x70 || (op >= 0xe0 && op <= 0xe3))
        return BRANCH;
    if (op == 0xff)
        return step_group(path, in);
    /* Far returns and pops to memory are not followed. int3 and hlt end the
     * program. */
    if (op == 0xca || op == 0xcb || op == 0x8f || op == 0xcc || op == 0xcd ||
        op == 0xf4)
        return END;
    return writes_rsp(in) ? END : ON;
}

static enum step
step_over(struct path *path, const struct instruction *in)
{
    if (in->is_vector || in->map == MAP_0F38 || in->map == MAP_0F3A)
        return ON;
    return in->map == MAP_0F ? step_two_bytes(path, in)
                             : step_one_byte(path, in);
}

/* Go to the target of the jump IN, which ends at PATH. Returns false if the
 * target is not in the code that was read. */
static bool
take_jump(const struct reading *reading, struct path *path,
          const struct instruction *in)
{
    uint64_t target = path->at + (uint64_t)(int64_t)in->immediate;
    path->at = target;
    return target < reading->length;
}

/* Whether PATH is at a new place. From now on the place is not new. */
static bool
note_seen(struct reading *reading, const struct path *path)
{
    uint8_t *byte = &reading->seen[path->at / 8];
    uint8_t bit = (uint8_t)(1u << path->at % 8);
    bool is_new = (*byte & bit) == 0;
    *byte |= bit;
    return is_new;
}

/* Note whether the rule of the first pc holds up to PATH. */
static void
note_same(struct reading *reading, const struct path *path, enum step step)
{
    reading->is_first &= (step == ON || step == BRANCH) && path->taken == 0 &&
                         !path->by_fp && !path->has_fp;
    if (reading->is_first)
        reading->same = path->at;
}

/* Reserved at the first use. */
static struct memory {
    struct reading readings[LEVELS]; /* 6 KiB each */
    uint8_t callees[LEVELS][CALLEE_REACH];
} * memory;

static bool follow_ways(struct reading *reading, struct path *path);

/* Whether the function that IN calls is seen to return. IN ends at AT. */
static bool
is_passed(struct reading *reading, const struct instruction *in, size_t at)
{
    unsigned level = reading->level + 1;
    struct path path = {0};
    if (in->opcode != 0xe8 || reading->reader == NULL || level >= LEVELS ||
        ++reading->calls > CALLS_MAX)
        return false;
    struct reading *callee = &memory->readings[level];
    memset(callee, 0, sizeof(*callee));
    callee->level = level;
    callee->way = EPILOGUE_BRANCHED;
    callee->reader = reading->reader;
    callee->pc = reading->pc + at + (uint64_t)(int64_t)in->immediate;
    callee->code = memory->callees[level];
    callee->length =
        reading->reader(callee->pc, memory->callees[level], CALLEE_REACH);
    return follow_ways(callee, &path) && path.taken == 0 && !path.by_fp;
}

/* Follow PATH until a return (true) or until it is lost. */
static bool
follow(struct reading *reading, struct path *path)
{
    bool is_straight = reading->way == EPILOGUE_STRAIGHT;
    struct instruction in;
    while (path->at < reading->length && note_seen(reading, path) &&
           instruction_read(reading->code + path->at,
                            reading->length - path->at, &in)) {
        enum step step = step_over(path, &in);
        path->at += in.length;
        note_same(reading, path, step);
        if (step == RETURN)
            return true;
        if (step == CALL && !is_straight)
            step = is_passed(reading, &in, path->at) ? ON : END;
        if (step == END || ((step == BRANCH || step == JUMP) && is_straight) ||
            ++reading->steps >= (is_straight ? STRAIGHT_MAX : STEPS_MAX) ||
            (step == JUMP && !take_jump(reading, path, &in)))
            return false;
        if (step == BRANCH && reading->branches < BRANCHES_MAX) {
            struct path *later = &reading->later[reading->branches];
            *later = *path;
            reading->branches += take_jump(reading, later, &in);
        }
    }
    return false;
}

/* Make the rule that PATH, which is right after a return, shows. */
static bool
make_rule(const struct path *path, struct rule *rule)
{
    int64_t cfa = path->taken + 8, fp = path->fp_at - cfa;
    /* A place below rsp is not saved yet. */
    bool has_fp = path->has_fp && (path->by_fp || path->fp_at >= 0);
    if (path->taken < 0 || path->taken % 8 != 0 || cfa > RULE_OFFSET_MAX ||
        (has_fp && (fp > 0 || fp < -RULE_OFFSET_MAX)))
        return false;
    *rule = rule_frame(path->by_fp ? RULE_CFA_FP : RULE_CFA_SP, (int32_t)cfa,
                       has_fp ? RULE_FP_AT_CFA : RULE_FP_SAME,
                       has_fp ? (int32_t)fp : 0);
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
    struct path path = {0};
    memset(reading, 0, sizeof(*reading));
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
