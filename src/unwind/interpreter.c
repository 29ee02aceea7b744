/* SPDX-License-Identifier: MIT */
/*
 * interpreter.c -- see interpreter.h. Entries of the table are written before
 * they are counted, and are never written again: handlers read them without a
 * lock.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "python_find.h"
#include "python_nested.h"
#include "python_task.h"
#include "python_threads.h"
#include "interpreter.h"
#include "base/poison.h"

/* Most interpreters that a process has at a time or one after the other. A
 * program that unloads and loads one more often is shown without. */
#define PYTHONS_MOST 16u

/* Most modules that wait until they are relocated. */
#define EARLY_MOST 2u

/* System calls that a handler may make to read frames. */
#define FILLS_MOST 256u

/* Bytes at the start of the loop's function in which it makes its record on the
 * stack the thread's own one, and fills it, in any order. */
#define ENTRY_SIZE 512u

/* System calls that the sampler may make to read those of one thread. */
#define FILLS_FROM_OUTSIDE 4096u

static struct python pythons[PYTHONS_MOST];
/* Of the word in which a thread has its state, from its pointer; 0: unknown. */
static _Atomic int64_t distances[PYTHONS_MOST];
/* The pointer of a thread for which that was missing, or 0. */
static _Atomic uint64_t pointers[PYTHONS_MOST];
static _Atomic bool is_live[PYTHONS_MOST]; /* its module is loaded */
static uint64_t starts[PYTHONS_MOST];      /* of their modules */
static _Atomic uint32_t count;
static _Atomic uint32_t live; /* how many are live */
static bool is_wanted;

/* Functions that the sampler knows, by their addresses: the address, whose
 * lowest bit says that the function is trusted, and above it a part of its sum.
 * Number of places: a power of two. A function whose place is another one's is
 * not known. */
#define KNOWN_PLACES (1u << 16)
#define KNOWN_TRUSTED 1u
#define KNOWN_ADDRESS 0xfffffffffff8u
#define KNOWN_SUM(sum) ((uint64_t)(sum) << 48)
static _Atomic uint64_t *known;

/* Most functions of which a handler reads the sum in one sample, and of which
 * it copies the description. */
#define SUMS_MOST 12u
#define TEXTS_MOST 4u

/* How many frames are looked back at for the same function. */
#define BACK_MOST 4u
static uint8_t *scratch;         /* for the characters of a name */
static const char *refused_path; /* NULL: all is said */
static unsigned refused_minor;

/* From a thread's pointer to what pthread_self returns in it. */
static uint64_t self_distance;

/* Modules that were not relocated when they came. */
static struct module early[EARLY_MOST];
static uint32_t early_count;

void
interpreter_begin(bool is_on, uint64_t self)
{
    self_distance = self - arch_thread_pointer();
    atomic_store(&count, 0);
    atomic_store(&live, 0);
    early_count = 0;
    python_nested_forget();
    python_task_begin();
    known = sys_renew((void *)known, KNOWN_PLACES * sizeof(*known));
    if (scratch == NULL)
        scratch = sys_reserve_for_one((size_t)4 * PYTHON_CODE_TEXT);
    is_wanted = is_on && known != NULL && scratch != NULL &&
                python_threads_begin() == 0;
}

bool
interpreter_is_there(void)
{
    return atomic_load_explicit(&live, memory_order_relaxed) != 0;
}

/* Note that the frames of the interpreter of MODULE cannot be read. */
static void
refuse(const struct module *module, unsigned minor)
{
    refused_path = module->path;
    refused_minor = minor;
}

bool
interpreter_was_refused(const char **path, unsigned *minor)
{
    *path = refused_path;
    *minor = refused_minor;
    refused_path = NULL;
    return *path != NULL;
}

/* Enter PYTHON, which MODULE has. */
static void
enter(const struct python *python, const struct module *module)
{
    uint32_t number = atomic_load(&count);
    if (number == PYTHONS_MOST)
        return;
    pythons[number] = *python;
    starts[number] = module->start;
    atomic_store(&distances[number], 0);
    atomic_store(&pointers[number], 0);
    atomic_store(&is_live[number], true);
    atomic_store_explicit(&count, number + 1, memory_order_release);
    atomic_fetch_add(&live, 1);
}

/* Returns whether MODULE must be looked at again. */
static bool
look_at(const struct module *module)
{
    struct python python;
    unsigned minor;
    enum python_find found = python_find(&python, module, &minor);
    if (found == PYTHON_FIND_READY)
        enter(&python, module);
    else if (found == PYTHON_FIND_REFUSED)
        refuse(module, minor);
    return found == PYTHON_FIND_EARLY;
}

static void
forget(const struct module *module)
{
    for (uint32_t i = 0; i < early_count; i++)
        if (early[i].start == module->start)
            early[i--] = early[--early_count];
    for (uint32_t i = 0; i < atomic_load(&count); i++)
        if (starts[i] == module->start && atomic_exchange(&is_live[i], false))
            atomic_fetch_sub(&live, 1);
}

void
interpreter_module(const struct module *module, bool gone)
{
    if (!is_wanted)
        return;
    if (gone)
        forget(module);
    else if (look_at(module) && early_count < EARLY_MOST)
        early[early_count++] = *module;
}

/* Find the word of interpreter NUMBER, by the thread that lacked it. */
static void
find_word(uint32_t number)
{
    const struct python *python = &pythons[number];
    uint64_t pointer = atomic_exchange(&pointers[number], 0), state, owner;
    int64_t distance = pointer != 0 && python->has_word
                           ? thread_word_place(&python->word, pointer)
                           : 0;
    /* The thread runs with its state, or with none. */
    if (distance != 0 &&
        sys_read_memory(&state, pointer + (uint64_t)distance, sizeof(state)) ==
            sizeof(state) &&
        (state == 0 ||
         (sys_read_memory(&owner, state + python->layout.thread.thread_id,
                          sizeof(owner)) == sizeof(owner) &&
          owner == pointer + self_distance)))
        atomic_store(&distances[number], distance);
}

/* For how long handlers keep what they found of nested states, and the pause
 * between two searches for tasks, in ns. */
#define RARELY_NS 100000000u

static void
settle_rarely(void)
{
    static uint64_t last;
    uint64_t now = clock_now();
    if (now - last < RARELY_NS)
        return;
    last = now;
    python_nested_forget();
    for (uint32_t i = 0; i < atomic_load(&count); i++)
        if (atomic_load(&is_live[i]))
            python_task_look(&pythons[i]);
}

void
interpreter_settle(void)
{
    if (interpreter_is_there())
        settle_rarely();
    for (uint32_t i = 0; i < atomic_load(&count); i++)
        if (atomic_load(&is_live[i]) && atomic_load(&pointers[i]) != 0)
            find_word(i);
    for (uint32_t i = 0; i < early_count; i++)
        if (!look_at(&early[i]))
            early[i--] = early[--early_count];
}

static _Atomic uint64_t *
known_place(uint64_t code)
{
    return &known[code * 0x9e3779b97f4a7c15u >> 48 & (KNOWN_PLACES - 1)];
}

void
interpreter_know(uint64_t code, uint32_t sum, bool is_trusted)
{
    _Atomic uint64_t *place = known_place(code);
    if (sum != 0 && (code & ~(uint64_t)KNOWN_ADDRESS) == 0)
        atomic_store(place,
                     code | KNOWN_SUM(sum) | (is_trusted ? KNOWN_TRUSTED : 0));
    else if ((atomic_load(place) & KNOWN_ADDRESS) == code)
        atomic_store(place, 0);
}

/* Take what a frame just before number I, of the same function, has. */
static bool
take_from_before(struct script *script, uint32_t i)
{
    struct script_frame *frame = &script->frames[i];
    for (uint32_t back = 1; back <= BACK_MOST && back <= i; back++)
        if (frame[-(int)back].code == frame->code) {
            frame->sum = frame[-(int)back].sum;
            frame->text = frame[-(int)back].text;
            return true;
        }
    return false;
}

/* What a handler has read of functions. */
struct reading {
    uint32_t sums, texts;
    uint32_t used; /* bytes of the texts */
    bool is_gone;  /* the innermost frame has no function */
};

/* Read the sum of FRAME's function, and what it says if the sampler does not
 * know it. */
static void
read_function(struct script *script, struct script_frame *frame,
              struct reading *reading)
{
    const struct python *python = &pythons[script->runtime];
    uint64_t word =
        atomic_load_explicit(known_place(frame->code), memory_order_relaxed);
    bool is_known = (word & KNOWN_ADDRESS) == frame->code;
    if ((is_known && (word & KNOWN_TRUSTED) != 0) ||
        reading->sums++ >= SUMS_MOST)
        return;
    frame->sum = python_code_sum(python, frame->code);
    reading->is_gone |= frame->sum == 0 && frame == script->frames;
    if (frame->sum == 0 || (is_known && word >> 48 == (frame->sum & 0xffff)) ||
        reading->texts++ >= TEXTS_MOST)
        return;
    size_t size = python_code_copy(python, frame->code, frame->sum,
                                   script->texts + reading->used,
                                   HEAP_VIEW_WINDOW - reading->used);
    if (size != 0)
        frame->text = reading->used + 1;
    reading->used += (uint32_t)(size + 7) & ~7u;
    if (reading->used > HEAP_VIEW_WINDOW)
        reading->used = HEAP_VIEW_WINDOW;
}

/* Read of the functions in SCRIPT what may be lost before the sampler comes.
 * The innermost frame may not be there yet, or be gone: its function is none
 * then.
 */
static void
read_functions(struct script *script)
{
    struct reading reading = {0};
    for (uint32_t i = 0; i < script->count && reading.sums <= SUMS_MOST; i++)
        if (!take_from_before(script, i))
            read_function(script, &script->frames[i], &reading);
    if (reading.is_gone) {
        script_drop_first(script);
        script_find_next(script);
    }
}

/* Collect in SCRIPT the frames of a further STATE of the thread. */
static void
collect_more(struct script *script, struct heap_view *view, uint64_t self,
             const struct python *python, uint64_t state)
{
    uint32_t first = script->count;
    python_collect(python, state, self, false, view, script);
    script_sort(script, first);
}

/* Collect the frames of the calling thread, which runs with the state RUNNING
 * of PYTHON, or with none (0): it has let go of the lock. STATE is the one that
 * it was in last (3.12 on), or the first one that it had. */
static void
collect_own(struct script *script, struct heap_view *view, uint64_t self,
            const struct python *python, uint64_t running, uint64_t state)
{
    uint64_t others[PYTHON_NESTED_MOST];
    bool is_nested = running == 0 ? python_nested_is_there(python)
                     : running == state && python->layout.minor < 12
                         ? false
                         : python_nested_is_inner(python, running);
    view->fills = FILLS_MOST;
    if (running != 0)
        state = running;
    uint32_t found =
        is_nested ? python_nested_find(python, self, state, others) : 0;
    /* Up to 3.11 the first state is that of the outermost frames. */
    bool is_last = python->layout.minor < 12 && running == 0;
    if (!is_last)
        python_collect(python, state, self, running != 0, view, script);
    for (uint32_t i = 0; i < found; i++)
        collect_more(script, view, self, python, others[i]);
    if (is_last)
        collect_more(script, view, self, python, state);
    script_find_next(script);
}

/* The state with which the calling thread runs in interpreter NUMBER. STATE is
 * what own_thread returned. 0: none, or it is not known yet. */
static uint64_t
find_running(uint32_t number, uint64_t pointer, uint64_t state)
{
    const struct python *python = &pythons[number];
    int64_t distance =
        atomic_load_explicit(&distances[number], memory_order_relaxed);
    if (distance == 0 && python->has_word)
        atomic_store_explicit(&pointers[number], pointer, memory_order_relaxed);
    return python_running(python, pointer, distance, state);
}

void
interpreter_collect(struct script *script, struct heap_view *view,
                    uint64_t pointer, uint64_t pc)
{
    uint32_t limit = atomic_load_explicit(&count, memory_order_acquire);
    for (uint32_t i = 0; i < limit; i++) {
        if (!atomic_load_explicit(&is_live[i], memory_order_relaxed))
            continue;
        uint64_t state = (uint64_t)pythons[i].own_thread();
        if (state == 0)
            continue;
        script->runtime = i;
        view->is_careful = pc - pythons[i].loop_start < ENTRY_SIZE;
        uint64_t self = pointer != 0 ? pointer + self_distance : 0;
        uint64_t running = find_running(i, pointer, state);
        script_forget_tasks(script);
        python_task_list(&pythons[i], running != 0 ? running : state, script);
        collect_own(script, view, self, &pythons[i], running, state);
        if (script->count != 0) {
            python_task_name(&pythons[i], script);
            script->texts = view->window;
            read_functions(script);
            return;
        }
    }
}

/* Read the sums of all functions in SCRIPT, which cannot be freed now. */
static void
read_all_sums(struct script *script)
{
    struct script_frame *frames = script->frames;
    for (uint32_t i = 0; i < script->count; i++)
        frames[i].sum =
            i > 0 && frames[i].code == frames[i - 1].code
                ? frames[i - 1].sum
                : python_code_sum(&pythons[script->runtime], frames[i].code);
}

bool
interpreter_collect_from(struct script *script, uint8_t *window, pid_t tid)
{
    uint64_t states[PYTHON_STATES_MOST];
    struct heap_view view;
    bool is_early, is_any_early = false;
    for (uint32_t i = 0; i < atomic_load(&count); i++) {
        if (!atomic_load(&is_live[i]))
            continue;
        uint32_t found =
            python_threads_find(&pythons[i], tid, states, &is_early);
        is_any_early |= is_early;
        heap_view_begin(&view, 0, 0, window, FILLS_FROM_OUTSIDE);
        script_forget_tasks(script);
        for (uint32_t n = 0; n < found; n++) {
            python_task_list(&pythons[i], states[n], script);
            collect_more(script, &view, 0, &pythons[i], states[n]);
        }
        if (script->count != 0) {
            script->runtime = i;
            python_task_name(&pythons[i], script);
            script_find_next(script);
            read_all_sums(script);
            return true;
        }
    }
    return !is_any_early;
}

bool
interpreter_is_lock(uint64_t address, pid_t *holder)
{
    uint64_t state;
    for (uint32_t i = 0; i < atomic_load(&count); i++)
        if (atomic_load(&is_live[i]) &&
            python_threads_is_gil(&pythons[i], address, &state)) {
            *holder = state != 0 ? python_threads_tid(&pythons[i], state) : 0;
            return true;
        }
    return false;
}

/* Whether PC is in the loop of PYTHON. */
static bool
is_in_loop(const struct python *python, uint64_t pc)
{
    return (pc >= python->loop_start && pc < python->loop_end) ||
           (pc >= python->cold_start && pc < python->cold_end);
}

/* Interpreters of one frame for each native one: the Nth frame of the loop runs
 * the Nth frame, counted from the root, or from the leaf where the root is not
 * known. A frame of the loop that has just begun has no frame yet. */
void
interpreter_place(struct script *script, const struct frame *frames,
                  uint32_t count_of_native, uint32_t gap, uint32_t elided,
                  bool is_rooted)
{
    const struct python *python = &pythons[script->runtime];
    uint32_t loops = 0, skip = 0;
    if (!script->is_counted)
        return;
    for (uint32_t i = 0; i < count_of_native; i++)
        loops += is_in_loop(python, frame_lookup(frames[i]));
    if (is_rooted && elided == 0 && loops > script->count && !script->is_cut)
        skip = loops - script->count;
    for (uint32_t i = 0; i < count_of_native && script->placed < script->count;
         i++)
        if (is_in_loop(python, frame_lookup(frames[i]))) {
            if (skip > 0)
                skip--;
            else
                script->frames[script->placed++].depth =
                    i + 1 + (i >= gap ? elided : 0);
        }
}

uint32_t
interpreter_sum(uint32_t runtime, uint64_t code)
{
    return python_code_sum(&pythons[runtime], code);
}

unsigned
interpreter_sums(uint32_t runtime, const uint64_t *codes, unsigned most,
                 uint32_t *sums)
{
    return python_code_sums(&pythons[runtime], codes, most, sums);
}

size_t
interpreter_copy(uint32_t runtime, uint64_t code, uint32_t sum, void *to,
                 size_t room)
{
    return python_code_copy(&pythons[runtime], code, sum, to, room);
}

uint32_t
interpreter_lines_form(uint32_t runtime)
{
    return pythons[runtime].layout.lines;
}

bool
interpreter_name(uint32_t runtime, uint64_t code, char *text)
{
    return python_code_name(&pythons[runtime], code, text, scratch);
}
