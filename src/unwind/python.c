/* SPDX-License-Identifier: MIT */
/* python.c -- see python.h. It runs in any thread, also in handlers. */
#include "base/hot.h"
#include "base/sys.h"
#include "python.h"
#include "base/poison.h"

/* Limit of the frames of the loop without a function of Python. */
#define EMPTY_MOST 64u

/* How far up the stack the next CFrame is looked for: PIECES_MOST times so many
 * bytes. And how many places that look like one are tried. */
#define PIECE 3072u
#define PIECES_MOST 4u
#define TRIES_MOST 32u

/* Limit of the CFrames that are followed to see whether the innermost one is
 * filled. */
#define CFRAMES_MOST 64u

/* Size of a CFrame, in bytes. */
#define CFRAME_SIZE 24u

/* A walk along the chain. */
struct chain {
    const struct python *python;
    const struct python_layout *layout;
    struct heap_view *view;
    struct script *script;
    uint64_t state;      /* address of the thread's state */
    uint64_t next_frame; /* what the last frame named as its caller */
    unsigned empty;
};

/* The offset of the instruction to which a frame's POINTER points in CODE. */
static int32_t
offset_of(const struct python_layout *layout, uint64_t code, uint64_t pointer)
{
    int64_t offset = (int64_t)(pointer - code - layout->code.start);
    return offset >= -2 && offset < INT32_MAX ? (int32_t)offset : -1;
}

/* Addresses of code are aligned; 3.14 keeps marks in the lowest bits. In 3.11
 * the owner is after is_entry. */
HOT inline void
python_record_take(const struct python_layout *layout, const uint8_t *bytes,
                   struct python_record *record)
{
    record->code = python_word(bytes, layout->frame.code) & ~3ull;
    record->previous = python_word(bytes, layout->frame.previous);
    record->is_generator = false;
    record->mark = 0;
    if (layout->chain <= PYTHON_OBJECTS) {
        int32_t last;
        __builtin_memcpy(&last, bytes + layout->frame.instruction, 4);
        record->instruction = layout->chain == PYTHON_OBJECTS ? last * 2 : last;
        return;
    }
    record->instruction =
        offset_of(layout, record->code,
                  python_word(bytes, layout->frame.instruction));
    record->mark = bytes[layout->frame.mark];
    record->is_generator =
        bytes[layout->frame.mark + (layout->chain == PYTHON_ENTRIES)] == 1;
}

/* Read the frame at ADDRESS. */
static HOT bool
read_frame(struct chain *chain, uint64_t address, struct python_record *record)
{
    const uint8_t *bytes =
        address != 0 && (address & 7) == 0
            ? heap_view_at(chain->view, address, chain->layout->frame.size)
            : NULL;
    if (bytes != NULL)
        python_record_take(chain->layout, bytes, record);
    return bytes != NULL;
}

/* Add the function of RECORD, which is at ADDRESS. */
static bool
add_frame(struct chain *chain, uint64_t address,
          const struct python_record *record)
{
    struct script_frame *frame =
        script_add(chain->script, record->code, record->instruction);
    if (frame == NULL)
        return false;
    frame->at = address;
    frame->is_generator = record->is_generator;
    return true;
}

/* Collect the frames from ADDRESS on that ran in one native frame of the loop.
 * *BORDER becomes the address of the frame after them on the native stack, if
 * the version has one. Returns false where the chain ends or makes no sense. */
static HOT bool
collect_frames(struct chain *chain, uint64_t address, uint64_t *border)
{
    const struct python_layout *layout = chain->layout;
    struct python_record record;
    while (read_frame(chain, address, &record)) {
        script_meet(chain->script, address);
        chain->next_frame = record.previous;
        bool is_shim =
            layout->chain >= PYTHON_SHIMS && record.mark >= layout->shim;
        if (is_shim) {
            *border = address;
            return true;
        }
        if (record.code == 0 || !add_frame(chain, address, &record))
            return false;
        if (layout->chain == PYTHON_ENTRIES && record.mark == 1)
            return true;
        address = record.previous;
    }
    return false;
}

/* Whether the CFrame at ADDRESS is the one in the thread's state. It stands for
 * no native frame, and names none. Other pointers into the state are often
 * beside one to a frame, where a function has saved registers. */
static bool
is_root(const struct chain *chain, uint64_t address)
{
    return address == chain->state + chain->layout->cframe.root;
}

/* The number of CFrames from ADDRESS on. MOST: there are as many or more, or
 * they do not end as they should. */
static HOT uint32_t
count_cframes(struct chain *chain, uint64_t address, uint32_t most)
{
    uint32_t records = 0;
    uint64_t next[3];
    while (records < most && !is_root(chain, address)) {
        if (!heap_view_copy(chain->view, address, next,
                            chain->layout->cframe.previous + sizeof(*next)))
            return most;
        records++;
        address = next[chain->layout->cframe.previous / 8];
    }
    return records;
}

/* The frames from number FIRST on are those of the native frame with BORDER. */
static HOT void
close_frames(struct chain *chain, uint32_t first, uint64_t border)
{
    if (chain->script->count == first) {
        chain->empty++;
        script_note_empty(chain->script, border);
    }
    script_close(chain->script, first, border);
}

/* Collect all frames of a chain of which each CFrame on the stack, from ADDRESS
 * on, names the innermost. The interpreter fills a new one in several steps. If
 * its frames do not lead to those of the next one, they are left out. Returns
 * whether none were, and the chain ends as it should. */
static HOT bool
collect_by_cframes(struct chain *chain, uint64_t address)
{
    const struct python_layout *layout = chain->layout;
    uint64_t border = 0, next[3], above[3];
    bool is_sound = true;
    if (address == 0 || (address & 7) != 0 || is_root(chain, address) ||
        !heap_view_copy(chain->view, address, next, sizeof(next)))
        return is_root(chain, address);
    while (chain->empty < EMPTY_MOST) {
        uint32_t first = chain->script->count;
        uint64_t outer = next[layout->cframe.previous / 8];
        bool is_whole =
            collect_frames(chain, next[layout->cframe.current / 8], &border);
        if (chain->script->is_cut)
            return false;
        bool is_last = is_root(chain, outer);
        bool is_there =
            !is_last && outer != 0 && (outer & 7) == 0 &&
            heap_view_copy(chain->view, outer, above, sizeof(above));
        uint64_t expected = is_there ? above[layout->cframe.current / 8] : 0;
        if (!is_whole || (!is_there && !is_last && outer != 0) ||
            expected != chain->next_frame) {
            chain->script->count = first;
            is_sound = false;
        }
        close_frames(chain, first, address);
        if (!is_there)
            return is_sound && is_last;
        address = outer;
        __builtin_memcpy(next, above, sizeof(next));
    }
    return false;
}

/* Look for a CFrame in the LENGTH bytes of the stack from START on, which are
 * at BYTES. Returns whether one was found, and its frames were collected, or
 * TRIES is at its end. */
static bool
search_piece(struct chain *chain, const uint8_t *bytes, uint64_t start,
             uint64_t length, uint32_t *tries)
{
    const struct python_layout *layout = chain->layout;
    const uint32_t empty = chain->script->empty;
    for (unsigned at = 0; at + CFRAME_SIZE <= length; at += 8) {
        uint64_t current = python_word(bytes, at + layout->cframe.current);
        uint64_t previous = python_word(bytes, at + layout->cframe.previous);
        if (current == 0 || (current & 7) != 0 || (previous & 7) != 0 ||
            (!is_root(chain, previous) &&
             (previous <= start + at || previous >= chain->view->high)))
            continue;
        if ((*tries)-- == 0)
            return true;
        chain->empty = 0;
        if (collect_by_cframes(chain, start + at) && chain->script->count != 0)
            return true;
        chain->script->count = 0;
        chain->script->empty = empty;
        chain->script->is_cut = false;
    }
    return false;
}

/* The LENGTH bytes of the stack at START, PIECE at most. */
static const uint8_t *
read_piece(struct heap_view *view, uint64_t start, uint64_t length)
{
    const uint8_t *piece = heap_view_stack(view, start, length);
    /* The frames of generators come to the front of the window. */
    uint8_t *copied = view->window + HEAP_VIEW_WINDOW - PIECE;
    if (piece == NULL && heap_view_copy(view, start, copied, length))
        piece = copied;
    return piece;
}

/* The innermost CFrame, which is at TOP, has just been made the thread's own.
 * It is not filled yet, and tells nothing of the others. The next one lies
 * farther up on the stack, in the loop that called this one. Look for it: its
 * frames and those of all others must be there. */
static void
collect_behind(struct chain *chain, uint64_t top)
{
    struct heap_view *view = chain->view;
    uint32_t tries = TRIES_MOST;
    uint64_t start = top + 8;
    for (uint32_t i = 0; i < PIECES_MOST && start < view->high; i++) {
        uint64_t length =
            view->high - start < PIECE ? view->high - start : PIECE;
        const uint8_t *piece = read_piece(view, start, length);
        if (piece == NULL || length < CFRAME_SIZE ||
            search_piece(chain, piece, start, length, &tries))
            return;
        start += length - CFRAME_SIZE + 8;
    }
}

/* Whether the CFrame at TOP has its link already: it leads to the thread's
 * state. The interpreter stores the frame beside the record. Otherwise the
 * place has what an earlier CFrame left there: a frame that the thread had. */
static bool
has_link(struct chain *chain, uint64_t top)
{
    return count_cframes(chain, top, CFRAMES_MOST + 1) <= CFRAMES_MOST;
}

static HOT void
collect_all_cframes(struct chain *chain, uint64_t top)
{
    uint32_t first = chain->script->count;
    chain->view->has_objects = chain->view->is_careful && has_link(chain, top);
    (void)collect_by_cframes(chain, top);
    chain->view->has_objects = false;
    if (chain->script->count == 0 && first == 0 && chain->view->is_careful &&
        chain->view->kept == HEAP_VIEW_BLOCKS)
        collect_behind(chain, top);
}

/* Collect all frames of a chain that goes on after each frame on the stack. */
static HOT void
collect_by_shims(struct chain *chain, uint64_t address)
{
    while (address != 0 && chain->empty < EMPTY_MOST) {
        uint32_t first = chain->script->count;
        uint64_t border = 0;
        bool is_whole = collect_frames(chain, address, &border);
        if (chain->script->is_cut)
            return;
        close_frames(chain, first, border);
        if (!is_whole)
            return;
        address = chain->next_frame;
    }
}

/* Say in which native frame each frame ran, from number FIRST on. There is a
 * CFrame for each. The innermost is at ADDRESS. The interpreter makes a CFrame
 * before it enters a frame, and takes it back before it leaves that one. So for
 * an instant there is one more of these, or of those. */
static HOT void
close_objects(struct chain *chain, uint32_t first, uint64_t address)
{
    struct script *script = chain->script;
    uint32_t frames = script->count - first, records = frames;
    uint64_t next[2];
    if (chain->view->kept == HEAP_VIEW_ALL && !script->is_cut)
        records = count_cframes(chain, address, frames + 2);
    if (records == frames + 1 &&
        heap_view_copy(chain->view, address, next, sizeof(next)))
        address = next[1];
    if (records + 1 == frames && first == 0) {
        script->left = script->frames[0].at;
        script_drop_first(script);
    }
    for (uint32_t i = first;
         i < script->count &&
         heap_view_copy(chain->view, address, next, sizeof(next));
         i++) {
        script->frames[i].border = address;
        address = next[1];
    }
}

/* Collect all frames of a chain in which each has its own native frame, from
 * ADDRESS on. CFRAME is the innermost CFrame, if the version has them. */
static HOT void
collect_objects(struct chain *chain, uint64_t address, uint64_t cframe)
{
    uint32_t first = chain->script->count;
    struct python_record record;
    while (read_frame(chain, address, &record) &&
           add_frame(chain, address, &record)) {
        script_meet(chain->script, address);
        address = record.previous;
    }
    if (chain->layout->chain == PYTHON_OBJECTS)
        close_objects(chain, first, cframe);
    else
        for (uint32_t i = first; i < chain->script->count; i++)
            chain->script->frames[i].border = 1;
}

/* The word at OFFSET of a thread's state, which is at BYTES. */
static uint64_t
state_word(const uint8_t *bytes, uint16_t offset)
{
    return offset != PYTHON_NO_FIELD ? python_word(bytes, offset) : 0;
}

/* Whether STATE is that of the thread that has begun the interpreter. In 3.11
 * and 3.12 it is a part of _PyRuntime, and so of the module, and no other
 * thread gets it. Later ones may give it to another thread, and have no record
 * on the native stack that shows whether the thread runs with it. */
static bool
is_of_first_thread(const struct python *python, uint64_t state)
{
    return python->layout.cframe.previous != PYTHON_NO_FIELD &&
           state - python->runtime < python->runtime_size;
}

/* What may be read directly of the calling thread. IS_KEPT: no other thread
 * frees its state. TOP is its innermost record on the native stack.
 *
 * Up to 3.10 all frames are objects. Each refers to its caller, and the native
 * stack to the innermost one, also while the thread has let go of the lock.
 * Later ones lie in blocks, which are freed with the state. Or they lie in
 * generators, which only a thread with the lock frees, as soon as they are no
 * callers. A record on another stack means that another thread uses this state,
 * or that the stacks were switched. In 3.10 the last record is gone before its
 * frame. 3.9 has no record: there the state must be the thread's own one. */
static enum heap_view_kept
kept_of(const struct chain *chain, bool is_kept, uint64_t top)
{
    const struct heap_view *view = chain->view;
    if (chain->layout->cframe.previous != PYTHON_NO_FIELD &&
        (top < view->low || top >= view->high) &&
        (chain->layout->chain != PYTHON_OBJECTS || !is_root(chain, top)))
        return HEAP_VIEW_NOTHING;
    if (chain->layout->chain == PYTHON_COUNTED && !is_kept &&
        (uint64_t)chain->python->own_thread() != chain->state)
        return HEAP_VIEW_NOTHING;
    if (chain->layout->chain <= PYTHON_OBJECTS)
        return HEAP_VIEW_ALL;
    return is_kept ? HEAP_VIEW_BLOCKS : HEAP_VIEW_NOTHING;
}

HOT bool
python_collect(const struct python *python, uint64_t state, uint64_t pointer,
               bool is_held, struct heap_view *view, struct script *script)
{
    const struct python_layout *layout = &python->layout;
    struct chain chain = {.python = python,
                          .layout = layout,
                          .view = view,
                          .script = script,
                          .state = state};
    /* The state of a thread that does not run may be freed by the thread that
     * ends the interpreter. That is the first one itself (Py_FinalizeEx in "The
     * Python/C API"). Whoever frees blocks takes them from the state before. */
    bool is_kept =
        is_held || (pointer != 0 && is_of_first_thread(python, state));
    const uint8_t *bytes = is_kept
                               ? (const uint8_t *)state
                               : heap_view_at(view, state, layout->thread.size);
    if (bytes == NULL ||
        (pointer != 0 &&
         state_word(bytes, layout->thread.thread_id) != pointer))
        return false;
    uint64_t top = state_word(bytes, layout->thread.top);
    uint64_t frame = state_word(bytes, layout->thread.frame);
    view->block = state_word(bytes, layout->thread.block);
    view->block_start = view->block_end = 0;
    view->kept =
        pointer != 0 ? kept_of(&chain, is_kept, top) : HEAP_VIEW_NOTHING;
    if (layout->chain == PYTHON_SHIMS_ALONE)
        collect_by_shims(&chain, top);
    else if (layout->chain >= PYTHON_ENTRIES)
        collect_all_cframes(&chain, top);
    else
        collect_objects(&chain, frame, top);
    script->is_counted = layout->chain == PYTHON_COUNTED;
    script->innermost = frame;
    if (is_held)
        script->state = state;
    script_find_next(script);
    return true;
}

HOT uint64_t
python_running(const struct python *python, uint64_t pointer, int64_t distance,
               uint64_t state)
{
    if (distance != 0)
        return *(const uint64_t *)(pointer + (uint64_t)distance);
    return python->holder != NULL && (uint64_t)python->holder() == state ? state
                                                                         : 0;
}
