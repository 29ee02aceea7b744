/* SPDX-License-Identifier: MIT */
/*
 * python_layout.c -- see python_layout.h. The rows were read from the debug
 * information of released interpreters (x86-64). The offsets of code objects
 * come from the type of code objects itself, where it tells them
 * (python_find.c): distributions patch that structure.
 */
#include <stddef.h>
#include <string.h>

#include "base/sys.h"
#include "python_layout.h"
#include "base/poison.h"

#define NONE PYTHON_NO_FIELD

static const struct python_layout rows[] = {
    {.minor = 9,
     .chain = PYTHON_COUNTED,
     .lines = PYTHON_LNOTAB,
     .runtime = {32, 368, 360},
     .interpreter = {0, 8, 816, 0, 856},
     .thread = {8, 16, 24, 24, 176, NONE, NONE, 184},
     .cframe = {NONE, NONE, NONE},
     .frame = {32, 24, 104, NONE, 112},
     .code = {40, 104, 112, 120, NONE},
     .text = {16, 32, 48, 72},
     .bytes = {16, 32},
     .task = {152, 16, NONE},
     .gil = {8, 16}},
    {.minor = 10,
     .chain = PYTHON_OBJECTS,
     .lines = PYTHON_LINES_310,
     .runtime = {32, 368, 360},
     .interpreter = {0, 8, 816, 0, 856},
     .thread = {8, 16, 48, 24, 176, NONE, NONE, 184},
     .cframe = {NONE, 8, 264},
     .frame = {32, 24, 96, NONE, 104},
     .code = {40, 104, 112, 120, NONE},
     .text = {16, 32, 48, 72},
     .bytes = {16, 32},
     .task = {160, 16, NONE},
     .gil = {8, 16}},
    {.minor = 11,
     .chain = PYTHON_ENTRIES,
     .lines = PYTHON_LOCATIONS,
     .runtime = {40, 376, 368},
     .interpreter = {0, 16, 848, 0, 888},
     .thread = {8, 16, 56, NONE, 152, 160, 296, 304},
     .cframe = {8, 16, 336},
     .frame = {32, 48, 56, 68, 72},
     .code = {72, 112, 128, 136, 184},
     .text = {16, 32, 48, 72},
     .bytes = {16, 32},
     .task = {136, 80, NONE},
     .gil = {8, 16}},
    {.minor = 12,
     .chain = PYTHON_SHIMS,
     .lines = PYTHON_LOCATIONS,
     .runtime = {40, NONE, NONE},
     .interpreter = {0, 72, 312, 384, 944},
     .thread = {8, 16, 56, NONE, 136, 144, 232, 240},
     .cframe = {0, 8, 272},
     .frame = {0, 8, 56, 70, 72},
     .shim = 3,
     .code = {68, 112, 128, 136, 192},
     .text = {16, 32, 40, 56},
     .bytes = {16, 32},
     .task = {136, 72, NONE},
     .gil = {8, 16}},
};

const struct python_layout *
python_layout_of(unsigned minor)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        if (rows[i].minor == minor)
            return &rows[i];
    return NULL;
}

/* The words at which the parts of the interpreter's own table begin
 * (_Py_DebugOffsets), by version. */
struct parts {
    uint8_t interpreter_gc, interpreter_gil, thread, frame, code, bytes, text;
    uint8_t collecting;
    uint8_t words; /* in all */
    uint8_t shim;
    struct python_task_layout task; /* which that table does not tell */
};
static const struct parts parts_of_13 = {
    10, 14, 19, 28, 34, 64, 67, 72, 73, 3, {120, 72, NONE}};
static const struct parts parts_of_14 = {
    11, 15, 22, 31, 39, 74, 77, 82, 83, 3, {128, 72, 864}};
#define WORDS_MAX 83u

/* What the table begins with. */
static const char cookie[] = "xdebugpy";

/* Bytes of a record that hold a word at each of the offsets A, B, C and D. */
static uint16_t
size_of(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t most = a > b ? a : b;
    most = c > most ? c : most;
    most = d > most ? d : most;
    return (uint16_t)(most + 8);
}

/* Whether the offsets W make sense: each lies within its structure, and what no
 * version has changed is as it was. A version with another table has none of
 * that. */
static bool
is_sound(const uint64_t *w, const struct parts *at)
{
    const uint64_t *thread = w + at->thread, *frame = w + at->frame;
    const uint64_t *code = w + at->code;
    for (unsigned i = 1; i < 8; i++)
        if (thread[i] >= thread[0] || thread[0] > 4096)
            return false;
    for (unsigned i = 1; i < 6; i++)
        if (frame[i] > frame[0] || frame[0] > 512 || code[i] >= code[0] ||
            code[0] > 1024)
            return false;
    return w[at->bytes + 1] == 16 && w[at->bytes + 2] == 32 &&
           w[at->text + 2] == 16 && w[at->text + 1] < 64 &&
           w[at->interpreter_gil] < w[6] && w[9] < w[6] && w[8] < w[6] &&
           w[6] < 1u << 30 && w[5] < NONE;
}

/* Fill LAYOUT from the words W of the interpreter's table. */
static void
fill(struct python_layout *layout, const uint64_t *w, const struct parts *at)
{
    const uint64_t *thread = w + at->thread, *frame = w + at->frame;
    const uint64_t *code = w + at->code;
    *layout = (struct python_layout){
        .chain = PYTHON_SHIMS_ALONE,
        .lines = PYTHON_LOCATIONS,
        .runtime = {(uint16_t)w[5], NONE, NONE},
        .interpreter = {(uint32_t)w[8], (uint32_t)w[9],
                        (uint32_t)(w[at->interpreter_gc] + w[at->collecting]),
                        (uint32_t)w[at->interpreter_gil],
                        (uint32_t)w[at->interpreter_gc + 1]},
        .thread = {(uint16_t)thread[2], (uint16_t)thread[3],
                   (uint16_t)thread[4], NONE, (uint16_t)thread[5],
                   (uint16_t)thread[6], (uint16_t)thread[7], 0},
        .cframe = {NONE, NONE, NONE},
        .frame = {(uint16_t)frame[2], (uint16_t)frame[1], (uint16_t)frame[3],
                  (uint16_t)frame[5], 0},
        .shim = at->shim,
        .code = {(uint16_t)code[5], (uint16_t)code[1], (uint16_t)code[3],
                 (uint16_t)code[4], (uint16_t)code[9]},
        .text = {(uint16_t)w[at->text + 2], (uint16_t)w[at->text + 1],
                 (uint16_t)w[at->text + 3], (uint16_t)(w[at->text + 3] + 16)},
        .bytes = {16, 32},
        .task = at->task,
        .gil = {(uint16_t)(w[at->interpreter_gil + 4] -
                           w[at->interpreter_gil + 1]),
                (uint16_t)(w[at->interpreter_gil + 3] -
                           w[at->interpreter_gil + 1])},
    };
    layout->thread.size = size_of(thread[4], thread[5], thread[6], thread[7]);
    layout->frame.size = size_of(frame[1], frame[2], frame[3], frame[5]);
}

bool
python_layout_read(struct python_layout *layout, uint64_t address,
                   unsigned minor)
{
    uint64_t words[WORDS_MAX];
    const struct parts *at = minor == 13   ? &parts_of_13
                             : minor == 14 ? &parts_of_14
                                           : NULL;
    if (at == NULL)
        return false;
    long size = (long)(at->words * sizeof(*words));
    if (sys_read_memory(words, address, (size_t)size) != size ||
        memcmp(words, cookie, sizeof(*words)) != 0 || words[1] >> 24 != 3 ||
        (words[1] >> 16 & 0xff) != minor || words[2] != 0 ||
        !is_sound(words, at))
        return false;
    fill(layout, words, at);
    layout->minor = (uint16_t)minor;
    return true;
}
