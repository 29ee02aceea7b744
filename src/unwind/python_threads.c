/* SPDX-License-Identifier: MIT */
/*
 * python_threads.c -- see python_threads.h. The lists may be long, so they are
 * read only when a thread is not known, and not more often than a share of the
 * time allows.
 */
#include <stddef.h>

#include "base/arch.h"
#include "base/clock.h"
#include "base/sys.h"
#include "python_threads.h"
#include "base/poison.h"

/* Places for states: a power of two. Half of them may be used. */
#define PLACES (1u << 16)

/* Limit of the interpreters of which the lists are read. */
#define INTERPRETERS_MOST 256u

/* The pause after the lists were read, as a multiple of the time that took. */
#define PAUSE_SHARE 20u

/* Size of the structure of a GIL, in bytes; its first member is the interval.
 */
#define GIL_SIZE 208u

/* A state of thread TID. */
struct place {
    uint64_t state; /* 0: the place is free */
    uint64_t pointer;
    const struct python *python;
    pid_t tid;
};

/* Threads that had no state, by their tids. Number of places. */
#define WITHOUT_PLACES 256u

/* For how long a thread may be without its state, in nanoseconds. */
#define YOUNG_NS 1000000000u

/* How often the lists are read in a row for a thread that is not there. While
 * they change, a reading may end too early. */
#define READINGS_MOST 2u

struct without {
    pid_t tid;
    uint64_t since;
};

static struct without *without;
static struct place *places;
static uint32_t used;
static uint64_t next_reading;
static uint64_t newest_read; /* the newest interpreter at the last reading */

int
python_threads_begin(void)
{
    places = sys_renew(places, PLACES * sizeof(*places));
    without = sys_renew(without, WITHOUT_PLACES * sizeof(*without));
    used = 0;
    next_reading = 0;
    return places == NULL || without == NULL ? -1 : 0;
}

/* The tid is in the control block of the thread (glibc). */
pid_t
python_threads_tid(uint64_t pointer)
{
    pid_t tid;
    return pointer != 0 &&
                   sys_copy_memory(&tid, pointer + ARCH_THREAD_TID, sizeof(tid))
               ? tid
               : 0;
}

static uint32_t
hash_of(pid_t tid)
{
    return (uint32_t)tid * 0x9e3779b1u >> 8;
}

static void
add_state(const struct python *python, uint64_t state)
{
    uint64_t pointer = sys_read_word(state + python->layout.thread.thread_id);
    pid_t tid = python_threads_tid(pointer);
    if (tid == 0 || used >= PLACES / 2)
        return;
    for (uint32_t at = hash_of(tid);; at++) {
        struct place *place = &places[at % PLACES];
        if (place->state != 0)
            continue;
        *place = (struct place){state, pointer, python, tid};
        used++;
        return;
    }
}

/* Whether TID has had no state for so long that it runs no interpreter. A
 * thread gets its state soon after it has begun. */
static bool
is_without(pid_t tid, uint64_t now)
{
    const struct without *place = &without[(uint32_t)tid % WITHOUT_PLACES];
    return place->tid == tid && now - place->since > YOUNG_NS;
}

/* TID had no state when the lists were read. */
static void
note_without(pid_t tid, uint64_t now)
{
    struct without *place = &without[(uint32_t)tid % WITHOUT_PLACES];
    if (place->tid != tid)
        *place = (struct without){tid, now};
}

/* Read the lists of PYTHON. */
static void
read_lists(const struct python *python)
{
    const struct python_layout *layout = &python->layout;
    uint64_t interpreter =
        sys_read_word(python->runtime + layout->runtime.interpreters);
    for (uint32_t i = 0; interpreter != 0 && i < INTERPRETERS_MOST; i++) {
        uint64_t state =
            sys_read_word(interpreter + layout->interpreter.threads);
        for (uint32_t n = 0; state != 0 && n < PLACES / 2; n++) {
            add_state(python, state);
            state = sys_read_word(state + layout->thread.next);
        }
        interpreter = sys_read_word(interpreter + layout->interpreter.next);
    }
}

/* Find the states of TID that are known and still valid. */
static uint32_t
find_known(const struct python *python, pid_t tid,
           uint64_t states[PYTHON_STATES_MOST])
{
    uint32_t count = 0;
    for (uint32_t at = hash_of(tid);
         places != NULL && count < PYTHON_STATES_MOST; at++) {
        const struct place *place = &places[at % PLACES];
        if (place->state == 0)
            break;
        if (place->tid != tid || place->python != python ||
            sys_read_word(place->state + python->layout.thread.thread_id) !=
                place->pointer ||
            python_threads_tid(place->pointer) != tid)
            continue;
        states[count++] = place->state;
    }
    return count;
}

uint32_t
python_threads_find(const struct python *python, pid_t tid,
                    uint64_t states[PYTHON_STATES_MOST], bool *is_early)
{
    uint64_t newest =
        sys_read_word(python->runtime + python->layout.runtime.interpreters);
    uint32_t count =
        newest == newest_read ? find_known(python, tid, states) : 0;
    uint64_t now = clock_now();
    *is_early = count == 0 && now < next_reading && !is_without(tid, now);
    if (count != 0 || now < next_reading)
        return count;
    newest_read = newest;
    for (uint32_t i = 0; i < READINGS_MOST && count == 0; i++) {
        places = sys_renew(places, PLACES * sizeof(*places));
        used = 0;
        if (places == NULL)
            return 0;
        read_lists(python);
        count = find_known(python, tid, states);
    }
    uint64_t end = clock_now();
    next_reading = end + PAUSE_SHARE * (end - now);
    if (count == 0)
        note_without(tid, now);
    return count;
}

/* Fill GIL from STATE, which holds it. */
static void
describe_holder(const struct python *python, uint64_t state,
                struct script_lock *gil)
{
    const struct python_layout *layout = &python->layout;
    uint64_t interpreter = sys_read_word(state + layout->thread.interpreter);
    uint32_t collecting = 0;
    gil->holder =
        python_threads_tid(sys_read_word(state + layout->thread.thread_id));
    gil->is_collecting =
        sys_copy_memory(&collecting,
                        interpreter + layout->interpreter.collecting,
                        sizeof(collecting)) &&
        collecting != 0;
}

/* Whether ADDRESS is in the lock at LOCK. */
static bool
is_in_gil(const struct python *python, uint64_t lock, uint64_t address,
          struct script_lock *gil)
{
    uint32_t locked = 0;
    if (lock == 0 || address - lock >= GIL_SIZE)
        return false;
    *gil = (struct script_lock){0, false};
    if (sys_copy_memory(&locked, lock + python->layout.gil.locked,
                        sizeof(locked)) &&
        locked != 0)
        describe_holder(python, sys_read_word(lock + python->layout.gil.holder),
                        gil);
    return true;
}

bool
python_threads_is_gil(const struct python *python, uint64_t address,
                      struct script_lock *gil)
{
    const struct python_layout *layout = &python->layout;
    if (layout->interpreter.gil == 0)
        return is_in_gil(python,
                         python->runtime + layout->runtime.gil_holder -
                             layout->gil.holder,
                         address, gil);
    uint64_t interpreter =
        sys_read_word(python->runtime + layout->runtime.interpreters);
    for (uint32_t i = 0; interpreter != 0 && i < INTERPRETERS_MOST; i++) {
        if (is_in_gil(python,
                      sys_read_word(interpreter + layout->interpreter.gil),
                      address, gil))
            return true;
        interpreter = sys_read_word(interpreter + layout->interpreter.next);
    }
    return false;
}
