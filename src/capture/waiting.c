/* SPDX-License-Identifier: MIT */
/* waiting.c -- see waiting.h. */
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "base/phase.h"
#include "base/thread_local.h"
#include "waiting.h"
#include "base/poison.h"

__thread struct waiting_own waiting_own;

struct shared_thread *
waiting_find(void)
{
    struct shared_thread *thread = NULL;
    if (phase_now() == PHASE_RUNNING)
        thread = shared_thread_at(shared_index_of(thread_local_tid()));
    if (thread != NULL)
        waiting_own =
            (struct waiting_own){thread,
                                 atomic_load_explicit(&shared.generation,
                                                      memory_order_relaxed)};
    return thread;
}

void
waiting_forget(uint32_t index)
{
    struct shared_thread *thread = shared_thread_at(index);
    atomic_fetch_add(&shared.generation, 1);
    if (thread == NULL)
        return;
    waiting_set_pc(thread, 0);
    thread->meter = (struct shared_meter){0};
}

bool
waiting_read(uint32_t index, struct regs *at)
{
    const struct shared_thread *thread = shared_thread_at(index);
    *at = thread != NULL ? waiting_get(thread) : (struct regs){0};
    return at->pc != 0;
}

/* The CPU time of the first READ_FIRST calls at a site is read, and that of one
 * in READ_EVERY, by chance, after these. Reading it is a system call. The last
 * READ_MOST of them count, or half as many. */
#define READ_FIRST 8u
#define READ_EVERY 16u
#define READ_MOST 64u

/* Where less than 1 / WAITS_PART of those calls wait for WAIT_NS ns, the others
 * are not measured: most calls of a busy server return at once. */
#define WAITS_PART 8u
#define WAIT_NS 5000u

/* A plain store is enough for the only writer: no locked instruction. */
static inline void
store(_Atomic uint64_t *word, uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static inline uint64_t
load(const _Atomic uint64_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static inline void
add(_Atomic uint64_t *word, uint64_t ns)
{
    store(word, load(word) + ns);
}

/* Returns the place of the site ID in METER, or SHARED_SITES. A new site takes
 * a free place, or that of an old site without a present call. */
static uint32_t
find_site(struct shared_meter *meter, uint64_t id)
{
    uint32_t present =
        load(&meter->since) != 0
            ? atomic_load_explicit(&meter->site, memory_order_relaxed)
            : SHARED_SITES;
    uint32_t place = SHARED_SITES;
    for (uint32_t i = 0; i < SHARED_SITES; i++) {
        uint64_t had = load(&meter->sites[i].id);
        if (had == id)
            return i;
        if (had == 0 ||
            (i != present && atomic_load_explicit(&meter->sites[i].is_old,
                                                  memory_order_relaxed)))
            place = i;
        if (had == 0)
            break;
    }
    if (place == SHARED_SITES)
        return place;
    struct shared_site *site = &meter->sites[place];
    /* The id changes before the times do (waiting_times). */
    store(&site->id, 0);
    atomic_thread_fence(memory_order_release);
    store(&site->ns, 0);
    store(&site->calls, 0);
    store(&site->read_calls, 0);
    store(&site->read_ns, 0);
    store(&site->read_cpu, 0);
    site->read_waits = 0;
    atomic_store_explicit(&site->is_old, false, memory_order_relaxed);
    atomic_store_explicit(&site->id, id, memory_order_release);
    return place;
}

/* Whether the CPU time of the next call at SITE is read. */
static bool
is_drawn(struct shared_meter *meter, const struct shared_site *site)
{
    meter->dice = meter->dice * 1664525 + 1013904223;
    return load(&site->read_calls) < READ_FIRST ||
           (meter->dice >> 16) % READ_EVERY == 0;
}

static bool
returns_at_once(const struct shared_site *site)
{
    return site->read_waits < load(&site->read_calls) / WAITS_PART;
}

void
waiting_time_begin(struct shared_thread *thread, const struct regs *at,
                   const void *caller)
{
    struct shared_meter *meter = &thread->meter;
    uint64_t id = (at->pc * 31 + at->sp) * 31 + (uint64_t)caller;
    uint32_t i = find_site(meter, id != 0 ? id : 1);
    store(&meter->since, 0);
    if (i == SHARED_SITES)
        return;
    bool reads = is_drawn(meter, &meter->sites[i]);
    if (!reads && returns_at_once(&meter->sites[i]))
        return;
    meter->cpu = reads ? clock_own() : CLOCK_NONE;
    atomic_store_explicit(&meter->site, i, memory_order_relaxed);
    /* The site is written before the time (waiting_times). */
    atomic_store_explicit(&meter->since, clock_now(), memory_order_release);
}

/* The calling thread's present call, which began at SINCE, is over. Returns how
 * long it took. */
static uint64_t
end_call(struct shared_meter *meter, uint64_t since)
{
    struct shared_site *site =
        &meter->sites[atomic_load_explicit(&meter->site, memory_order_relaxed)];
    uint64_t took = clock_now() - since;
    add(&site->ns, took);
    add(&site->calls, 1);
    uint64_t cpu = meter->cpu != CLOCK_NONE ? clock_own() : CLOCK_NONE;
    if (cpu != CLOCK_NONE) {
        add(&site->read_ns, took);
        add(&site->read_cpu, cpu - meter->cpu);
        add(&site->read_calls, 1);
        site->read_waits += took > cpu - meter->cpu + WAIT_NS;
    }
    if (load(&site->read_calls) == READ_MOST) {
        store(&site->read_calls, READ_MOST / 2);
        store(&site->read_ns, load(&site->read_ns) / 2);
        store(&site->read_cpu, load(&site->read_cpu) / 2);
        site->read_waits /= 2;
    }
    return took;
}

void
waiting_time_end(const struct waiting *waiting)
{
    struct shared_meter *meter = &waiting->thread->meter;
    uint64_t since = load(&meter->since), took = 0;
    /* This comes first: a reader would count a call twice that is over and
     * still the present one. */
    store(&meter->since, 0);
    atomic_thread_fence(memory_order_release);
    /* No clock is read after that: a filter of system calls may be there. */
    if (!atomic_load_explicit(&meter->is_on, memory_order_relaxed))
        return;
    if (since != 0)
        took = end_call(meter, since);
    if (waiting->outer.pc == 0 || waiting->outer_since == 0)
        return;
    /* The call that a handler interrupted goes on, without this one. */
    meter->cpu = CLOCK_NONE;
    atomic_store_explicit(&meter->site, waiting->outer_site,
                          memory_order_relaxed);
    atomic_store_explicit(&meter->since, waiting->outer_since + took,
                          memory_order_release);
}

void
waiting_retire(uint32_t index, uint32_t site, bool is_old)
{
    struct shared_thread *thread = shared_thread_at(index);
    if (thread != NULL)
        atomic_store_explicit(&thread->meter.sites[site].is_old, is_old,
                              memory_order_relaxed);
}

void
waiting_measure(uint32_t index, bool is_on)
{
    struct shared_thread *thread = shared_thread_at(index);
    if (thread != NULL)
        atomic_store_explicit(&thread->meter.is_on, is_on,
                              memory_order_relaxed);
}

/* Limit of the attempts to read while ends of calls disturb. */
#define READ_TRIES 4

uint32_t
waiting_times(uint32_t index, uint64_t now,
              struct waiting_time times[SHARED_SITES])
{
    const struct shared_thread *thread = shared_thread_at(index);
    uint64_t since, until;
    uint32_t own, tries = 0;
    if (thread == NULL) {
        memset(times, 0, SHARED_SITES * sizeof(*times));
        return SHARED_SITES;
    }
    const struct shared_meter *meter = &thread->meter;
    do {
        since = atomic_load_explicit(&meter->since, memory_order_acquire);
        own = since != 0
                  ? atomic_load_explicit(&meter->site, memory_order_relaxed)
                  : SHARED_SITES;
        for (uint32_t i = 0; i < SHARED_SITES; i++) {
            const struct shared_site *site = &meter->sites[i];
            uint64_t present = i == own && now > since ? now - since : 0;
            times[i].id = atomic_load_explicit(&site->id, memory_order_acquire);
            times[i].calls = load(&site->calls);
            times[i].ns = load(&site->ns) + present;
            times[i].read_ns = load(&site->read_ns);
            times[i].read_cpu = load(&site->read_cpu);
            atomic_thread_fence(memory_order_acquire);
            if (load(&site->id) != times[i].id)
                times[i] = (struct waiting_time){0};
        }
        atomic_thread_fence(memory_order_acquire);
        until = load(&meter->since);
    } while (until != since && ++tries < READ_TRIES);
    return until == since ? own : SHARED_SITES;
}
