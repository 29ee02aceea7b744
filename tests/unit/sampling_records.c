/* SPDX-License-Identifier: MIT */
/* sampling_records.c -- the journal of sampling_maker.h, sums over it, and what
 * the hooks of its threads note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/waiting.h"
#include "journal/journal.h"
#include "journal/journal_labels.h"
#include "journal/stack_tree.h"
#include "process/threads.h"
#include "sampling_maker.h"

struct made_record made_records[MADE_SAMPLES];
struct made_end made_ends[MADE_ENDS];
unsigned made_record_count, made_end_count;
struct record_live made_clocks[MADE_ENDS];
unsigned made_clock_count;

/* The place of the first of these in the file. */
#define CLOCKS_PLACE 1000000u

bool made_journal_is_full;

uint64_t
made_cpu(pid_t tid)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < made_record_count; i++)
        if (made_records[i].tid == tid)
            sum += made_records[i].sample.cpu;
    return sum;
}

uint64_t
made_wall(pid_t tid, enum state state)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < made_record_count; i++)
        if (made_records[i].tid == tid &&
            made_records[i].sample.state == (uint8_t)state)
            sum += made_records[i].sample.wall;
    return sum;
}

int
made_set_up(void **state)
{
    (void)state;
    made_begin();
    made_begin_sampling();
    return 0;
}

uint64_t
made_wall_at(uint32_t node, enum state state)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < made_record_count; i++)
        if (made_records[i].sample.node == node &&
            made_records[i].sample.state == state)
            sum += made_records[i].sample.wall;
    return sum;
}

void
made_pass(pid_t tid, uint64_t ns)
{
    made_run(tid, ns);
    made_tick();
    if (tid != 0 && thread_time_of(threads_index(tid))->in_flight)
        made_sample(tid, TRIGGER_ASK, RUNS);
}

void
made_pass_waits(uint64_t ns)
{
    for (; ns >= MADE_MS; ns -= MADE_MS)
        made_pass(0, MADE_MS);
}

unsigned
made_count(pid_t tid, enum state state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < made_record_count; i++)
        count += made_records[i].tid == tid &&
                 made_records[i].sample.state == (uint8_t)state;
    return count;
}

const struct record_sample *
made_last(pid_t tid)
{
    assert_true(made_record_count > 0);
    const struct made_record *last = &made_records[made_record_count - 1];
    assert_int_equal(last->tid, tid);
    return &last->sample;
}

/* journal/: a node is its leaf's address, a place is 1 and more. */

uint32_t
journal_generation(void)
{
    return 1;
}

void
journal_jitdumps(void)
{
}

uint32_t
journal_labels(uint32_t set)
{
    return set;
}

uint32_t
stack_tree_enter(struct walk *walk, uint32_t index)
{
    (void)index;
    return made_journal_is_full ? 0 : (uint32_t)walk->frames[0].word;
}

struct record_sample
journal_make_sample(enum state state, struct journal_place place,
                    uint64_t since, uint64_t until)
{
    return (struct record_sample){.time = since,
                                  .duration = until - since,
                                  .wall = until - since,
                                  .count = 1,
                                  .node = place.node,
                                  .depth = place.depth,
                                  .label = place.label,
                                  .state = (uint8_t)state};
}

uint64_t
journal_time(uint64_t time)
{
    return time;
}

uint64_t
journal_append(enum record_kind kind, const void *record, size_t fixed,
               const struct writer_tail *tail, size_t parts)
{
    (void)tail, (void)parts;
    if (made_journal_is_full)
        return 0;
    if (kind == RECORD_LIVE) {
        assert_true(made_clock_count < MADE_ENDS);
        memcpy(&made_clocks[made_clock_count], record, fixed);
        return CLOCKS_PLACE + made_clock_count++;
    }
    assert_true(made_record_count < MADE_SAMPLES);
    assert_int_equal(kind, RECORD_SAMPLE);
    struct made_record *made = &made_records[made_record_count];
    *made = (struct made_record){.tid = 0};
    memcpy(&made->sample, record, fixed);
    return ++made_record_count;
}

uint64_t
journal_sample(struct record_sample *sample, uint32_t index)
{
    const struct thread *thread = threads_at(index);
    sample->thread = thread->serial;
    uint64_t place =
        journal_append(RECORD_SAMPLE, sample, sizeof(*sample), NULL, 0);
    if (place != 0) {
        made_records[place - 1].tid = thread->tid;
        made_records[place - 1].serial = thread->serial;
    }
    return place;
}

void
journal_change(uint64_t place, size_t skip, const void *bytes, size_t length)
{
    if (place >= CLOCKS_PLACE) {
        assert_true(place - CLOCKS_PLACE < made_clock_count);
        assert_true(skip + length <= sizeof(struct record_live));
        memcpy((char *)&made_clocks[place - CLOCKS_PLACE] + skip, bytes,
               length);
        return;
    }
    assert_true(place != 0 && place <= made_record_count);
    assert_true(skip + length <= sizeof(struct record_sample));
    memcpy((char *)&made_records[place - 1].sample + skip, bytes, length);
}

void
journal_thread_end(uint32_t index, uint64_t cpu, uint64_t flags, uint64_t end)
{
    const struct thread *thread = threads_at(index);
    assert_true(made_end_count < MADE_ENDS);
    made_ends[made_end_count++] =
        (struct made_end){thread->tid, thread->serial, cpu, flags, end};
}

void
journal_thread_as(uint32_t id, pid_t tid, const char *name)
{
    (void)id, (void)tid, (void)name;
}

void
journal_follow_name(uint32_t index)
{
    (void)threads_read_name(index);
}

uint32_t
journal_thread(uint32_t index)
{
    return threads_at(index)->serial;
}

void
journal_thread_name(uint32_t index, const char *name)
{
    (void)threads_set_name(index, name);
}

uint32_t
journal_text(const char *text)
{
    return text[0] != '\0';
}

/* capture/waiting.h */

void
waiting_forget(uint32_t index)
{
    (void)index;
}

bool
waiting_read(uint32_t index, struct regs *at)
{
    const struct made_thread *thread = made_thread_of(threads_at(index)->tid);

    *at = (struct regs){.pc = thread != NULL ? thread->noted : 0, .sp = 1};
    return at->pc != 0;
}

void
waiting_retire(uint32_t index, uint32_t site, bool is_old)
{
    struct made_thread *thread = made_thread_of(threads_at(index)->tid);
    if (thread != NULL)
        thread->is_old[site] = is_old;
}

void
waiting_measure(uint32_t index, bool is_on)
{
    struct made_thread *thread = made_thread_of(threads_at(index)->tid);
    if (thread != NULL)
        thread->measures = is_on;
}

uint32_t
waiting_times(uint32_t index, uint64_t now,
              struct waiting_time times[SHARED_SITES])
{
    const struct made_thread *thread = made_thread_of(threads_at(index)->tid);
    uint32_t own = SHARED_SITES;
    (void)now;
    memset(times, 0, SHARED_SITES * sizeof(*times));
    for (uint32_t i = 0; thread != NULL && i < SHARED_SITES; i++) {
        times[i].id = thread->sites[i];
        times[i].ns = thread->site_ns[i];
        times[i].calls = thread->site_calls[i];
        if (times[i].id != 0 && times[i].id == thread->noted)
            own = i;
    }
    return thread != NULL && thread->measures ? own : SHARED_SITES;
}
