/* SPDX-License-Identifier: MIT */
/*
 * frame_size.c -- see frame_size.h. A function moves sp down before its first
 * jump, sets x29 to its frame record once, and may move sp farther after that.
 * At its end it gives back in any order. So the frame lies between the setting
 * of x29 and the next instruction that leaves the row.
 */
#include <string.h>

#include "instruction.h"
#include "unwind/frame_size.h"
#include "base/poison.h"

struct reading {
    bool has_frame, has_left, is_ending;
    int64_t above; /* how far x29 is above sp */
    size_t ready;
};

/* Note the effect of IN, which ends at END. Returns false if the frame cannot
 * be known after it. */
static bool
note_instruction(struct reading *reading, const struct instruction *in,
                 size_t end)
{
    int32_t move = in->kind == IN_MOVE ? in->offset : in->move;
    if (in->kind == IN_SET_FP) {
        /* The second one would be another frame's. */
        bool is_second = reading->has_frame;
        reading->has_frame = true;
        reading->above = in->offset;
        reading->ready = end;
        return !is_second;
    }
    if (in->kind == IN_UNKNOWN || in->kind == IN_WRITE_FP)
        return false;
    if (!reading->has_frame)
        return true;
    /* At an end sp rises. A call can follow only if sp has not risen. */
    reading->is_ending |= in->kind == IN_USE_FP || move > 0;
    if (in->kind == IN_CALL || in->kind == IN_CALL_REGISTER) {
        reading->has_left = true;
        return !reading->is_ending;
    }
    if (in->kind == IN_RETURN || in->kind == IN_JUMP || in->kind == IN_END)
        reading->is_ending = false;
    if (in->kind == IN_BRANCH || in->kind == IN_JUMP || in->kind == IN_RETURN)
        reading->has_left = true;
    if (move >= 0)
        return true;
    /* More of the frame: in its first instructions alone. */
    if (reading->has_left || in->kind == IN_STORE)
        return false;
    reading->above -= move;
    reading->ready = end;
    return true;
}

bool
frame_size_read(const uint8_t *code, size_t length, struct frame_size *frame)
{
    struct reading reading = {0};
    struct instruction in;
    uint32_t word;
    for (size_t at = 0; at + sizeof(word) <= length; at += sizeof(word)) {
        memcpy(&word, code + at, sizeof(word));
        instruction_read(word, &in);
        if (!note_instruction(&reading, &in, at + sizeof(word)))
            return false;
    }
    frame->low = frame->high = (uint64_t)reading.above;
    frame->ready = reading.ready;
    return reading.has_frame && reading.above >= 0;
}
