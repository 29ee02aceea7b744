/* SPDX-License-Identifier: MIT */
/*
 * python_runtime.c -- see python_runtime.h. Entries of the table are written
 * before they are counted, and are never written again: handlers read them
 * without a lock.
 */
#include <stdatomic.h>
#include <stddef.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/hot.h"
#include "base/sys.h"
#include "python_code.h"
#include "python_lock.h"
#include "python_loop.h"
#include "python_nested.h"
#include "python_task.h"
#include "python_threads.h"
#include "python_runtime.h"
#include "base/poison.h"

/* System calls that a handler may make to read frames. */
#define FILLS_MOST 256u

/* Bytes at the start of the loop's function in which it makes its record on the
 * stack the thread's own one, and fills it, in any order. */
#define ENTRY_SIZE 512u

/* Limit of the modules that wait until they are relocated. */
#define EARLY_MOST 2u

static struct python pythons[PYTHON_RUNTIMES_MOST];
/* Of the word in which a thread has its state, from its pointer; 0: unknown. */
static HOT_STATE _Atomic int64_t distances[PYTHON_RUNTIMES_MOST];
/* The pointer of a thread for which that was missing, or 0. */
static _Atomic uint64_t pointers[PYTHON_RUNTIMES_MOST];
/* Its module is loaded. */
static HOT_STATE _Atomic bool is_live[PYTHON_RUNTIMES_MOST];
static uint64_t starts[PYTHON_RUNTIMES_MOST]; /* of their modules */
static HOT_STATE _Atomic uint32_t count;
static HOT_STATE _Atomic uint32_t live; /* how many are live */
static uint8_t *scratch;                /* for the characters of a name */

/* From a thread's pointer to what pthread_self returns in it. */
static uint64_t self_distance;

/* Modules that were not relocated when they came. */
static struct module early[EARLY_MOST];
static uint32_t early_count;

int
python_runtime_begin(uint64_t self)
{
    self_distance = self - arch_thread_pointer();
    atomic_store(&count, 0);
    atomic_store(&live, 0);
    early_count = 0;
    python_nested_forget();
    python_lock_begin();
    python_task_begin();
    if (scratch == NULL)
        scratch = sys_reserve_for_one((size_t)4 * SCRIPT_TEXT);
    return scratch != NULL && python_loop_begin() == 0 ? python_threads_begin()
                                                       : -1;
}

HOT bool
python_runtime_is_there(void)
{
    return atomic_load_explicit(&live, memory_order_relaxed) != 0;
}

/* Enter PYTHON, which MODULE has. */
static void
enter(const struct python *python, const struct module *module)
{
    uint32_t number = atomic_load(&count);
    if (number == PYTHON_RUNTIMES_MOST)
        return;
    pythons[number] = *python;
    starts[number] = module->start;
    atomic_store(&distances[number], 0);
    atomic_store(&pointers[number], 0);
    atomic_store(&is_live[number], true);
    atomic_store_explicit(&count, number + 1, memory_order_release);
    atomic_fetch_add(&live, 1);
}

/* Look for an interpreter in MODULE, and enter it. */
static enum python_find
look_at(const struct module *module, unsigned *minor)
{
    struct python python;
    enum python_find found = python_find(&python, module, minor);
    if (found == PYTHON_FIND_READY)
        enter(&python, module);
    return found;
}

enum python_find
python_runtime_look(const struct module *module, unsigned *minor)
{
    enum python_find found = look_at(module, minor);
    if (found == PYTHON_FIND_EARLY && early_count < EARLY_MOST)
        early[early_count++] = *module;
    return found;
}

void
python_runtime_gone(const struct module *module)
{
    for (uint32_t i = 0; i < early_count; i++)
        if (early[i].start == module->start)
            early[i--] = early[--early_count];
    for (uint32_t i = 0; i < atomic_load(&count); i++)
        if (starts[i] == module->start && atomic_exchange(&is_live[i], false))
            atomic_fetch_sub(&live, 1);
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
        sys_copy_memory(&state, pointer + (uint64_t)distance, sizeof(state)) &&
        (state == 0 ||
         (sys_copy_memory(&owner, state + python->layout.thread.thread_id,
                          sizeof(owner)) &&
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

const char *
python_runtime_settle(unsigned *minor)
{
    const char *refused = NULL;
    if (python_runtime_is_there())
        settle_rarely();
    for (uint32_t i = 0; i < atomic_load(&count); i++)
        if (atomic_load(&is_live[i]) && atomic_load(&pointers[i]) != 0)
            find_word(i);
    for (uint32_t i = 0; i < early_count; i++) {
        enum python_find found = look_at(&early[i], minor);
        if (found == PYTHON_FIND_EARLY)
            continue;
        if (found == PYTHON_FIND_REFUSED)
            refused = early[i].path;
        early[i--] = early[--early_count];
    }
    return refused;
}

/* Collect in SCRIPT the frames of a further STATE of the thread. */
static void
collect_more(struct script *script, struct heap_view *view, uint64_t self,
             const struct python *python, uint64_t state)
{
    uint32_t first = script->count;
    python_collect(python, state, self, false, view, script);
    script_sort(script, first);
    script_find_next(script);
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

HOT bool
python_runtime_collect(struct script *script, struct heap_view *view,
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
        script->loop_start = pythons[i].loop_start;
        script->loop_end = pythons[i].loop_end;
        view->is_careful = pc - pythons[i].loop_start < ENTRY_SIZE;
        uint64_t self = pointer != 0 ? pointer + self_distance : 0;
        uint64_t running = find_running(i, pointer, state);
        script_forget_tasks(script);
        script->state = script->left = 0;
        python_task_list(&pythons[i], running != 0 ? running : state,
                         running != 0, script);
        collect_own(script, view, self, &pythons[i], running, state);
        if (script->count != 0) {
            python_task_name(&pythons[i], script);
            return true;
        }
    }
    return script->state != 0;
}

bool
python_runtime_collect_from(struct script *script, uint8_t *window, pid_t tid)
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
        heap_view_begin(&view, 0, 0, window, HEAP_VIEW_FILLS_FROM_OUTSIDE);
        script_forget_tasks(script);
        for (uint32_t n = 0; n < found; n++) {
            python_task_list(&pythons[i], states[n], false, script);
            collect_more(script, &view, 0, &pythons[i], states[n]);
        }
        if (script->count != 0) {
            script->runtime = i;
            python_task_name(&pythons[i], script);
            return true;
        }
    }
    return !is_any_early;
}

bool
python_runtime_is_lock(uint64_t address, struct script_lock *gil)
{
    for (uint32_t i = 0; i < atomic_load(&count); i++)
        if (atomic_load(&is_live[i]) &&
            python_threads_is_gil(&pythons[i], address, gil))
            return true;
    return false;
}

pid_t
python_runtime_lock_owner(uint64_t address, uint64_t sp)
{
    uint64_t owner = 0;
    for (uint32_t i = 0; i < atomic_load(&count) && owner == 0; i++)
        if (atomic_load(&is_live[i]))
            owner = python_lock_owner(&pythons[i], address, sp);
    return python_threads_tid(owner);
}

bool
python_runtime_is_in_loop(uint32_t number, uint64_t pc)
{
    const struct python *python = &pythons[number];
    return pc >= python->loop_start && pc < python->loop_end;
}

HOT const struct python *
python_runtime_at(uint32_t number)
{
    return &pythons[number];
}

bool
python_runtime_name(uint32_t number, uint64_t code, char *text)
{
    return python_code_name(&pythons[number], code, text, scratch);
}
