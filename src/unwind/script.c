/* SPDX-License-Identifier: MIT */
/* script.c -- see script.h. It runs in any thread, also in handlers. */
#include <stddef.h>

#include "base/hot.h"
#include "script.h"
#include "base/poison.h"

HOT void
script_begin(struct script *script, uint64_t time)
{
    script->count = script->placed = 0;
    script->border = SCRIPT_NO_BORDER;
    script->time = time;
    script->is_cut = script->is_counted = script->is_open = false;
    script->empty = 0;
    script->state = script->left = 0;
    script->spare.code = 0;
    script->task[0] = '\0';
    script_forget_tasks(script);
}

HOT void
script_forget_tasks(struct script *script)
{
    script->task_count = script->met = 0;
}

HOT void
script_meet(struct script *script, uint64_t record)
{
    for (uint32_t i = 0; i < script->task_count && script->met == 0; i++)
        if (script->tasks[i].frame == record)
            script->met = i + 1;
}

HOT struct script_frame *
script_add(struct script *script, uint64_t code, int32_t instruction)
{
    if (script->count == script->capacity) {
        script->is_cut = true;
        return NULL;
    }
    struct script_frame *frame = &script->frames[script->count++];
    *frame = (struct script_frame){.code = code, .instruction = instruction};
    return frame;
}

HOT void
script_close(struct script *script, uint32_t first, uint64_t border)
{
    if (script->count > first)
        script->frames[script->count - 1].border = border;
}

HOT void
script_note_empty(struct script *script, uint64_t border)
{
    if (script->empty < SCRIPT_EMPTIES_MOST)
        script->empties[script->empty++] = border;
}

HOT uint32_t
script_empties_from(const struct script *script, uint64_t address)
{
    uint32_t count = script->empty;
    for (uint32_t i = 0; i < script->empty && i < SCRIPT_EMPTIES_MOST; i++)
        count -= script->empties[i] < address;
    return count;
}

/* The first border of the frames from number FIRST up to END. */
static uint64_t
border_of(const struct script *script, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++)
        if (script->frames[i].border != 0)
            return script->frames[i].border;
    return SCRIPT_NO_BORDER;
}

static void
reverse(struct script_frame *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count / 2; i++) {
        struct script_frame frame = frames[i];
        frames[i] = frames[count - 1 - i];
        frames[count - 1 - i] = frame;
    }
}

void
script_sort(struct script *script, uint32_t first)
{
    uint32_t count = script->count;
    if (first == 0 || first == count ||
        border_of(script, first, count) >= border_of(script, 0, first))
        return;
    reverse(script->frames, first);
    reverse(script->frames + first, count - first);
    reverse(script->frames, count);
}

void
script_drop_first(struct script *script)
{
    script->count--;
    for (uint32_t i = 0; i < script->count; i++)
        script->frames[i] = script->frames[i + 1];
}

void
script_insert(struct script *script, const struct script_frame *frame,
              uint32_t depth)
{
    struct script_frame *at = &script->frames[script->placed];
    if (script->count == script->capacity)
        return;
    __builtin_memmove(at + 1, at,
                      (script->count - script->placed) * sizeof(*at));
    script->count++;
    *at = *frame;
    at->border = script->is_counted;
    if (script->is_counted)
        return;
    at->depth = depth;
    script->placed++;
}

HOT void
script_find_next(struct script *script)
{
    script->border = SCRIPT_NO_BORDER;
    if (script->is_counted)
        return;
    for (uint32_t i = script->placed; i < script->count; i++)
        if (script->frames[i].border != 0) {
            script->border = script->frames[i].border;
            return;
        }
}

HOT void
script_place_next(struct script *script, uint32_t depth)
{
    bool is_last = false;
    while (!is_last && script->placed < script->count) {
        struct script_frame *frame = &script->frames[script->placed++];
        frame->depth = depth;
        is_last = frame->border != 0;
    }
    script_find_next(script);
}

HOT void
script_cross(struct script *script, uint64_t low, uint64_t high, uint32_t depth)
{
    while (script->border >= low && script->border < high)
        script_place_next(script, depth);
}

void
script_go_back(struct script *script, uint32_t depth)
{
    while (script->placed > 0 &&
           script->frames[script->placed - 1].depth > depth)
        script->frames[--script->placed].depth = 0;
    script_find_next(script);
}
