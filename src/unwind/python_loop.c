/* SPDX-License-Identifier: MIT */
/*
 * python_loop.c -- see python_loop.h. It runs in handlers of threads that hold
 * their state, so their blocks may be read directly. All else is copied by
 * system calls. Few samples need that.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/arch.h"
#include "base/hot.h"
#include "base/sys.h"
#include "python_loop.h"
#include "base/poison.h"

/* Bytes at the start of the loop in which its function may not be in the chain
 * yet. */
#define ENTRY_SIZE 512u

/* How far from the end of a frame of the loop its record may be, in bytes. */
#define RECORD_REACH 1024u

/* Smaller numbers are no addresses of objects. */
#define OBJECTS_FROM (1u << 20)

/* The head of a block: the next older one, its size in bytes, and where frames
 * ended in it when a newer block was last begun. Then come the frames. The
 * oldest block leaves out one word. (Python/pystate.c, push_chunk.) */
enum { BLOCK_OLDER, BLOCK_SIZE, BLOCK_LEFT_AT, BLOCK_DATA };

/* Limit of the frames that are not in the chain. */
#define PUSHED_MOST 8u

/* Words of a frame in front of its variables, in 3.11 (FRAME_SPECIALS_SIZE). */
#define SPECIALS_311 9u

/* Bytes that hold a generator up to the end of what is read of its frame. */
#define OBJECT_MOST 256u
#define OBJECT_TYPE 8u

/* Callers of the loop, by return address: two bits say what they call it for,
 * and above them is the address. Number of places, a power of two, and of those
 * that one address may have. */
#define CALLERS (1u << 10)
#define CALLER_TRIES 8u
#define FOR_FUNCTIONS 1u
#define FOR_GENERATORS 2u
#define FOR_SHIFT 2u
static HOT_STATE _Atomic uint64_t *callers;

/* A caller that is not known is learned at once. Of samples at a known one, one
 * of RARELY looks whether it calls the loop for the other kind, too. */
#define RARELY 16u

/* The largest frame of the loop seen so far, in bytes. Where it has fewer, it
 * is not made yet, or is being left. */
static _Atomic uint64_t loop_size;

/* Where the loop was found to be left (3.9): where it calls what checks its
 * result, and where it gives its frame back. LEAVE_SIZE: bytes before and
 * after these in which its function may be no more in the chain. */
#define LEAVE_SIZE 48u
static _Atomic uint64_t last_call, last_end;

int
python_loop_begin(void)
{
    callers = sys_renew((void *)callers, CALLERS * sizeof(*callers));
    atomic_store(&loop_size, 0);
    atomic_store(&last_call, 0);
    atomic_store(&last_end, 0);
    return callers != NULL ? 0 : -1;
}

/* The place of CALLER, or the one that it may take: a free one, or the last one
 * that was tried. *WORD: what is known of CALLER; 0: nothing. */
static HOT inline _Atomic uint64_t *
caller_place(uint64_t caller, uint64_t *word)
{
    uint64_t hash = caller * 0x9e3779b97f4a7c15u >> 40;
    for (uint32_t i = 0;; i++) {
        _Atomic uint64_t *place = &callers[(hash + i) & (CALLERS - 1)];
        *word = atomic_load_explicit(place, memory_order_relaxed);
        if (*word >> FOR_SHIFT == caller)
            return place;
        if (*word == 0 || i == CALLER_TRIES - 1) {
            *word = 0;
            return place;
        }
    }
}

/* CALLER, of which PLACE has WORD, has called the loop for a function, or for a
 * generator. What another thread stores there now is learned again. */
static HOT inline void
note_caller(_Atomic uint64_t *place, uint64_t word, uint64_t caller,
            bool is_generator)
{
    word |= is_generator ? FOR_GENERATORS : FOR_FUNCTIONS;
    atomic_store_explicit(place, word | caller << FOR_SHIFT,
                          memory_order_relaxed);
}

HOT void
python_loop_learn(const struct python *python, const struct script *script,
                  const struct script_native *native)
{
    uint32_t last = script->placed;
    uint64_t word;
    if (python->layout.chain < PYTHON_ENTRIES)
        return;
    _Atomic uint64_t *place = caller_place(native->caller, &word);
    if (word != 0 && script->time % RARELY != 0)
        return;
    while (script->frames[last].border != script->border)
        last++;
    note_caller(place, word, native->caller, script->frames[last].is_generator);
}

/* What CALLER calls the loop for, as far as it is known. */
static uint64_t
kinds_of(uint64_t caller)
{
    uint64_t word;
    (void)caller_place(caller, &word);
    return word & (FOR_FUNCTIONS | FOR_GENERATORS);
}

/* FRAME becomes that of RECORD, which is at ADDRESS. Returns whether it has a
 * function. */
static bool
take(const struct python_record *record, uint64_t address,
     struct script_frame *frame)
{
    *frame = (struct script_frame){.code = record->code,
                                   .at = address,
                                   .instruction = record->instruction,
                                   .is_generator = record->is_generator};
    return record->code != 0;
}

/* The same for the record at ADDRESS, which BYTES has. */
static bool
take_bytes(const struct python *python, const uint8_t *bytes, uint64_t address,
           struct script_frame *frame)
{
    struct python_record record;
    python_record_take(&python->layout, bytes, &record);
    return take(&record, address, frame);
}

/* The bytes of a frame of the function at CODE; 0: they are not known. In a
 * code object the size of its stack, its first line and the number of its
 * variables follow on each other. From 3.12 on the size of a frame is next. */
static uint64_t
frame_size(const struct python *python, uint64_t code)
{
    uint32_t numbers[4];
    if (!sys_copy_memory(numbers, code + python->layout.code.first_line - 4,
                         sizeof(numbers)))
        return 0;
    return 8ul * (python->layout.minor > 11
                      ? numbers[3]
                      : numbers[0] + numbers[2] + SPECIALS_311);
}

/* The frame in a block that is nearest to number I of SCRIPT, in steps of BY. A
 * generator's is in none. NULL: there is none. */
static const struct script_frame *
nearest_in_block(const struct script *script, uint32_t i, int by)
{
    for (; i < script->count; i += (uint32_t)by)
        if (!script->frames[i].is_generator)
            return &script->frames[i];
    return NULL;
}

/* Where frames lie that are not in the chain. */
struct gap {
    const uint64_t *block;
    uint64_t start, end; /* of the gap */
    uint64_t block_end;
    bool is_last; /* no frame follows */
};

/* Find the gap between the frames of SCRIPT that have a place and the others.
 * Returns false if it is not in the newest block. */
static bool
find_gap(const struct python *python, const struct script *script,
         struct gap *gap)
{
    const uint64_t *fields =
        (const uint64_t *)(script->state + python->layout.thread.block);
    const uint64_t *block = (const uint64_t *)fields[0];
    const struct script_frame *outer =
        nearest_in_block(script, script->placed, 1);
    const struct script_frame *inner =
        nearest_in_block(script, script->placed - 1, -1);
    if (block == NULL)
        return false;
    if (!heap_view_is_block(block[BLOCK_SIZE]))
        return false;
    gap->block = block;
    gap->block_end = (uint64_t)block + block[BLOCK_SIZE];
    gap->is_last = inner == NULL;
    gap->end = inner != NULL ? inner->at : fields[1];
    gap->start = (uint64_t)(block + BLOCK_DATA + (block[BLOCK_OLDER] == 0));
    if (outer != NULL && outer->at >= gap->start && outer->at < gap->end) {
        uint64_t size = frame_size(python, outer->code);
        if (size == 0)
            return false;
        gap->start = outer->at + size;
    }
    return gap->start <= gap->end && gap->end <= gap->block_end;
}

/* The functions' frames in a gap: how many there are, and the last one that was
 * read. */
struct pushed {
    struct python_record record;
    uint64_t at;
    uint32_t count;
};

/* Whether the record at ADDRESS is of NATIVE, or was in it until now. If NATIVE
 * has called another function, what lies below is of that one. */
static bool
is_near(const struct script_native *native, uint64_t address)
{
    return native->cfa - address <= RECORD_REACH &&
           (native->depth == 1 || address >= native->sp);
}

/* Read the frames in GAP up to the one that names the record of NATIVE (NULL:
 * none does) as its caller, or to the last one. *IS_NAMED: there is such a one.
 * Returns false if there is none and they do not fill the gap. */
static bool
read_gap(const struct python *python, const struct gap *gap,
         const struct script_native *native, struct pushed *pushed,
         bool *is_named)
{
    struct python_record record;
    uint64_t at = gap->start;
    *is_named = false;
    for (pushed->count = 0; at < gap->end; pushed->count++) {
        if (at + python->layout.frame.size > gap->block_end)
            return false;
        python_record_take(&python->layout, (const uint8_t *)at, &record);
        pushed->record = record;
        pushed->at = at;
        *is_named = native != NULL && is_near(native, record.previous);
        if (*is_named)
            return true;
        uint64_t size = frame_size(python, record.code);
        if (size == 0 || pushed->count == PUSHED_MOST)
            return false;
        at += size;
    }
    return at == gap->end;
}

/* Read the frame after GAP, which was taken away. It may be another one if a
 * newer block was begun at this very place: then the frame was in that one,
 * which is gone. Returns false in that case. */
static bool
read_gone(const struct python *python, const struct gap *gap,
          struct pushed *pushed)
{
    if (!gap->is_last ||
        gap->end + python->layout.frame.size > gap->block_end ||
        (uint64_t)(gap->block + BLOCK_DATA + gap->block[BLOCK_LEFT_AT]) ==
            gap->end)
        return false;
    pushed->at = gap->end;
    python_record_take(&python->layout, (const uint8_t *)gap->end,
                       &pushed->record);
    return pushed->record.previous != 0;
}

/* Words at the lower end of the caller's frame. 3.9 keeps the frame's object in
 * one of them if its caller lacks a register (_PyEval_EvalCode). */
#define CALLER_WORDS 8u

/* The registers that the caller of the loop keeps: those that the loop has
 * saved, and those that it has not, or has restored already. The latter are
 * mixed with values of its own. Words of the caller's frame may follow. */
struct kept {
    uint64_t words[2 * ARCH_KEPT_COUNT + CALLER_WORDS];
    uint32_t count;
};

static void
collect_kept(const struct script *script, const struct script_native *native,
             struct kept *kept)
{
    uint64_t size = native->cfa - 8 - native->sp;
    if (size > 8 * ARCH_KEPT_COUNT)
        size = 8 * ARCH_KEPT_COUNT;
    bool is_read = native->cfa - 8 > native->sp &&
                   sys_copy_memory(kept->words, native->cfa - 8 - size, size);
    kept->count = is_read ? (uint32_t)size / 8 : 0;
    if (native->depth != 1)
        return;
    for (uint32_t i = 0; i < ARCH_KEPT_COUNT; i++)
        kept->words[kept->count++] =
            arch_register(script->context, arch_kept(i));
}

/* Whether word number I of KEPT may be the address of an object. */
static bool
may_be_object(const struct kept *kept, uint32_t i, const struct script *script)
{
    uint64_t word = kept->words[i];
    if (word < OBJECTS_FROM || (word & 7) != 0 || word == script->state ||
        word >> ARCH_ADDRESS_BITS != 0)
        return false;
    for (uint32_t before = 0; before < i; before++)
        if (kept->words[before] == word)
            return false;
    return true;
}

static bool
is_generator_type(const struct python *python, uint64_t type)
{
    for (unsigned i = 0; i < PYTHON_GENERATORS; i++)
        if (type == python->generator_types[i])
            return type != 0;
    return false;
}

/* Whether the record at ADDRESS is of SCRIPT already. */
static bool
has_record(const struct script *script, uint64_t address)
{
    for (uint32_t i = 0; i < script->count; i++)
        if (script->frames[i].at == address)
            return true;
    return false;
}

/* Where the state of a generator is, in bytes before its frame, and its value
 * while the generator runs (FRAME_EXECUTING, from 3.11 on). The loop sets
 * another one before it takes the frame from the chain. */
#define STATE_BEFORE 5u
#define STATE_RUNS 0u

/* The frame of the generator that the caller of NATIVE runs. If there may be
 * several, it is not known. IS_ENTERED: only one that is just entered. */
static bool
find_generator(const struct python *python, const struct script *script,
               const struct script_native *native, bool is_entered,
               struct script_frame *frame)
{
    const struct python_layout *layout = &python->layout;
    uint32_t size = layout->task.frame + layout->frame.size, found = 0;
    uint8_t bytes[OBJECT_MOST];
    struct kept kept;
    collect_kept(script, native, &kept);
    for (uint32_t i = 0; i < kept.count && size <= sizeof(bytes); i++) {
        uint64_t address = kept.words[i] + layout->task.frame;
        struct script_frame one;
        if (may_be_object(&kept, i, script) &&
            sys_copy_memory(bytes, kept.words[i], size) &&
            is_generator_type(python, python_word(bytes, OBJECT_TYPE)) &&
            (!is_entered ||
             bytes[layout->task.frame - STATE_BEFORE] == STATE_RUNS) &&
            take_bytes(python, bytes + layout->task.frame, address, &one) &&
            one.is_generator && !has_record(script, address)) {
            *frame = one;
            found++;
        }
    }
    return found == 1;
}

/* Whether the last one of PUSHED has run no instruction yet. Up to 3.12 a frame
 * tells the one that it ran last, and later the one that it runs. */
static bool
is_new(const struct python *python, const struct pushed *pushed)
{
    return pushed->count != 0 &&
           pushed->record.instruction < (python->layout.minor > 12);
}

/* The frame of the function that NATIVE runs. In 3.11 only the loop's caller
 * takes it away, so it is the last one. Later the frame names the record in
 * NATIVE, once the loop has begun. Until then it is the last one, and is new.
 * One that is not new is left just now: what it kept is freed, and may call
 * NATIVE. */
static bool
find_function(const struct python *python, const struct script_native *native,
              const struct gap *gap, uint64_t kinds, struct script_frame *frame)
{
    struct pushed pushed;
    bool is_named;
    if (!read_gap(python, gap, native, &pushed, &is_named))
        return false;
    bool is_there = python->layout.minor == 11
                        ? pushed.count != 0 && kinds == FOR_FUNCTIONS
                        : is_named || is_new(python, &pushed);
    if (!is_there && (python->layout.minor == 11 || kinds != FOR_FUNCTIONS ||
                      !read_gone(python, gap, &pushed) ||
                      !is_near(native, pushed.record.previous)))
        return false;
    return !pushed.record.is_generator &&
           take(&pushed.record, pushed.at, frame);
}

/* 3.11 and later. In 3.11 a function always has its frame. Of a caller that is
 * not known, a loop without one may have run a function or a generator. It is
 * certain where it begins. */
static bool
find_in_gap(const struct python *python, const struct script *script,
            const struct script_native *native, struct script_frame *frame)
{
    struct gap gap;
    uint64_t word;
    _Atomic uint64_t *place = caller_place(native->caller, &word);
    uint64_t kinds = word & (FOR_FUNCTIONS | FOR_GENERATORS);
    if (!find_gap(python, script, &gap))
        return false;
    bool is_unsure = kinds == 0 && python->layout.minor != 11;
    bool is_generator =
        kinds == FOR_GENERATORS ||
        (gap.start == gap.end && (is_unsure || python->layout.minor == 11));
    bool is_found =
        is_generator ? find_generator(python, script, native, is_unsure, frame)
                     : find_function(python, native, &gap, kinds, frame);
    if (is_found)
        note_caller(place, word, native->caller, is_generator);
    return is_found;
}

static bool
is_around(uint64_t pc, const _Atomic uint64_t *place)
{
    uint64_t middle = atomic_load_explicit(place, memory_order_relaxed);
    return pc - (middle - LEAVE_SIZE) < 2 * LEAVE_SIZE;
}

/* Whether NATIVE may have just been entered, or be about to be left (3.9). At
 * first it is not as large as it will be, and in the end it calls what checks
 * its result. Elsewhere the innermost frame is its own. */
static bool
is_at_end(const struct python *python, const struct script *script,
          const struct script_native *native)
{
    uint64_t size = native->cfa - native->sp;
    uint64_t most = atomic_load_explicit(&loop_size, memory_order_relaxed);
    if (size > most)
        atomic_store_explicit(&loop_size, size, memory_order_relaxed);
    /* The linker's stub may be in between. */
    if (native->depth != 1)
        return native->pc ==
                   atomic_load_explicit(&last_call, memory_order_relaxed) ||
               arch_register(script->context, ARCH_PC) - python->check_start <
                   python->check_size;
    return size < most || native->pc - python->loop_start < ENTRY_SIZE ||
           is_around(native->pc, &last_call) ||
           is_around(native->pc, &last_end);
}

/* The function of NATIVE is no more in the chain. */
static void
note_end(const struct python *python, const struct script_native *native)
{
    uint64_t most = atomic_load_explicit(&loop_size, memory_order_relaxed);
    if (native->depth != 1)
        atomic_store_explicit(&last_call, native->pc, memory_order_relaxed);
    else if (native->cfa - native->sp < most &&
             native->pc - python->loop_start >= ENTRY_SIZE)
        atomic_store_explicit(&last_end, native->pc, memory_order_relaxed);
}

/* Up to 3.10. */
static bool
find_object(const struct python *python, const struct script *script,
            const struct script_native *native, struct script_frame *frame)
{
    const struct python_layout *layout = &python->layout;
    uint8_t bytes[OBJECT_MOST];
    struct kept kept;
    if (script->left != 0)
        return sys_copy_memory(bytes, script->left, layout->frame.size) &&
               take_bytes(python, bytes, script->left, frame);
    if (script->is_counted && !is_at_end(python, script, native))
        return false;
    collect_kept(script, native, &kept);
    if (sys_copy_memory(kept.words + kept.count, native->cfa, 8 * CALLER_WORDS))
        kept.count += CALLER_WORDS;
    for (uint32_t i = 0; i < kept.count; i++) {
        if (kept.words[i] == script->innermost ||
            !may_be_object(&kept, i, script) ||
            !sys_copy_memory(bytes, kept.words[i], layout->frame.size) ||
            python_word(bytes, OBJECT_TYPE) != python->frame_type ||
            python_word(bytes, layout->frame.previous) != script->innermost)
            continue;
        note_end(python, native);
        return take_bytes(python, bytes, kept.words[i], frame);
    }
    return false;
}

bool
python_loop_find(const struct python *python, const struct script *script,
                 const struct script_native *native, struct script_frame *frame)
{
    *frame = script->spare;
    if (script->state == 0)
        return frame->code != 0 &&
               (script->spare_border == 0 ||
                is_near(native, script->spare_border)) &&
               (!script->spare_is_one ||
                kinds_of(native->caller) == FOR_FUNCTIONS);
    return python->layout.chain <= PYTHON_OBJECTS
               ? find_object(python, script, native, frame)
               : find_in_gap(python, script, native, frame);
}

bool
python_loop_spare(const struct python *python, struct script *script)
{
    struct gap gap;
    struct pushed pushed;
    bool is_first = python->layout.minor == 11, is_named;
    if (python->layout.chain <= PYTHON_OBJECTS ||
        !find_gap(python, script, &gap) ||
        !read_gap(python, &gap, NULL, &pushed, &is_named) ||
        (pushed.count == 0 && (is_first || !read_gone(python, &gap, &pushed))))
        return false;
    script->spare_is_one = is_first || pushed.count == 0;
    bool is_sure = is_first || (is_new(python, &pushed) && script->empty == 0);
    script->spare_border = is_sure ? 0 : pushed.record.previous;
    return !pushed.record.is_generator &&
           take(&pushed.record, pushed.at, &script->spare);
}
