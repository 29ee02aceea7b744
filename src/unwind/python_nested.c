/* SPDX-License-Identifier: MIT */
/* python_nested.c -- see python_nested.h. It runs in handlers. */
#include <stdatomic.h>
#include <stddef.h>

#include "base/hot.h"
#include "base/sys.h"
#include "python_nested.h"
#include "base/poison.h"

/* Limit of the system calls of one search. */
#define CALLS_MOST 64u

/* The word after the first interpreter in _PyRuntime is the main one. */
#define MAIN_OFFSET 8u

/* Number of threads whose states are kept: a power of two. */
#define PLACES 64u

/* What was found for the thread with POINTER and its STATE, while NEWEST was
 * the newest interpreter. SEQUENCE is odd while a handler writes; handlers that
 * meet one leave the place alone. */
struct place {
    _Atomic uint32_t sequence;
    _Atomic uint32_t count;
    _Atomic uint64_t pointer, state, newest;
    _Atomic uint64_t others[PYTHON_NESTED_MOST];
};

static struct place places[PLACES];

/* The words in _PyRuntime: the newest interpreter, and the main one. They lie
 * in the module's own data. */
static uint64_t
interpreter_word(const struct python *python, unsigned offset)
{
    return *(const uint64_t *)(python->runtime +
                               python->layout.runtime.interpreters + offset);
}

HOT bool
python_nested_is_there(const struct python *python)
{
    uint64_t newest = interpreter_word(python, 0);
    return newest != 0 && newest != interpreter_word(python, MAIN_OFFSET);
}

HOT bool
python_nested_is_inner(const struct python *python, uint64_t state)
{
    return python_nested_is_there(python) &&
           *(const uint64_t *)(state + python->layout.thread.interpreter) !=
               interpreter_word(python, MAIN_OFFSET);
}

/* A search through the lists. */
struct search {
    const struct python *python;
    uint64_t pointer, state, newest;
    uint64_t *others;
    uint32_t count, calls;
};

static uint64_t
read_word(struct search *search, uint64_t address)
{
    if (search->calls == CALLS_MOST)
        return 0;
    search->calls++;
    return sys_read_word(address);
}

/* Look through the states of INTERPRETER. */
static void
search_states(struct search *search, uint64_t interpreter)
{
    const struct python_layout *layout = &search->python->layout;
    uint64_t state =
        read_word(search, interpreter + layout->interpreter.threads);
    while (state != 0 && search->count < PYTHON_NESTED_MOST) {
        if (state != search->state &&
            read_word(search, state + layout->thread.thread_id) ==
                search->pointer)
            search->others[search->count++] = state;
        state = read_word(search, state + layout->thread.next);
    }
}

/* Take what is kept. Returns false if nothing is. */
static bool
take_kept(struct place *place, struct search *search)
{
    uint32_t sequence = atomic_load(&place->sequence);
    if ((sequence & 1) != 0 || atomic_load(&place->state) != search->state ||
        atomic_load(&place->pointer) != search->pointer ||
        atomic_load(&place->newest) != search->newest)
        return false;
    search->count = atomic_load(&place->count);
    for (uint32_t i = 0; i < search->count && i < PYTHON_NESTED_MOST; i++)
        search->others[i] = atomic_load(&place->others[i]);
    return atomic_load(&place->sequence) == sequence &&
           search->count <= PYTHON_NESTED_MOST;
}

static void
keep(struct place *place, const struct search *search)
{
    uint32_t sequence = atomic_load(&place->sequence);
    if ((sequence & 1) != 0 ||
        !atomic_compare_exchange_strong(&place->sequence, &sequence,
                                        sequence + 1))
        return;
    atomic_store(&place->pointer, search->pointer);
    atomic_store(&place->state, search->state);
    atomic_store(&place->newest, search->newest);
    atomic_store(&place->count, search->count);
    for (uint32_t i = 0; i < search->count; i++)
        atomic_store(&place->others[i], search->others[i]);
    atomic_store(&place->sequence, sequence + 2);
}

uint32_t
python_nested_find(const struct python *python, uint64_t pointer,
                   uint64_t state, uint64_t others[PYTHON_NESTED_MOST])
{
    struct search search = {.python = python,
                            .pointer = pointer,
                            .state = state,
                            .newest = interpreter_word(python, 0),
                            .others = others};
    struct place *place =
        &places[pointer * 0x9e3779b97f4a7c15u >> 40 & (PLACES - 1)];
    if (take_kept(place, &search))
        return search.count;
    search.count = 0;
    uint64_t interpreter = search.newest;
    while (interpreter != 0 && search.calls < CALLS_MOST) {
        search_states(&search, interpreter);
        interpreter =
            read_word(&search, interpreter + python->layout.interpreter.next);
    }
    keep(place, &search);
    return search.count;
}

/* A handler that was left in the middle has left an odd number, too. What two
 * handlers then mix is looked at again before it is used. */
void
python_nested_forget(void)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        atomic_store(&places[i].state, 0);
        atomic_store(&places[i].sequence, 0);
    }
}
