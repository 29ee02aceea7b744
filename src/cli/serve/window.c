/* SPDX-License-Identifier: MIT */
/*
 * window.c -- see window.h. Times in spools are CLOCK_MONOTONIC since the start
 * of their process. The start on the clock of the day is taken from the present
 * difference of both clocks, and not from the spool: that clock may have been
 * set meanwhile, and all processes must agree.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "model/events.h"
#include "model/profile.h"
#include "read/load.h"
#include "window.h"

/* SERVER_SECONDS: the longest wait for a server of debug files, in seconds. A
 * client waits for the answer. */
enum { SERVER_SECONDS = 5 };

/* Add what MEMBER did so far, if its spool can be read. OFFSET is the clock of
 * the day less CLOCK_MONOTONIC. */
static void
add_member(struct profile *profile, const struct member *member,
           uint64_t offset)
{
    char path[PATH_MAX + 64], unused[PATH_MAX + 512];
    uint32_t first = profile->process_count;
    fleet_path(member, path, sizeof(path));
    profile->next_pid = (uint32_t)member->process.pid;
    if (load_file(profile, path, unused, sizeof(unused)) != 0)
        return;
    uint64_t start = member->header.start_monotonic + offset;
    for (uint32_t i = first; i < profile->process_count; i++) {
        struct profile_process *process = &profile->processes[i];
        process->start += start - member->header.start_realtime;
    }
}

/* Let the times of the profile begin at FROM and end at TO, both on the clock
 * of the day. */
static void
set_times(struct profile *profile)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < profile->process_count; i++)
        if (profile->processes[i].start < first)
            first = profile->processes[i].start;
    profile->start = first;
}

/* By how much the times of process NUMBER go back when the profile begins at
 * FROM. */
static uint64_t
shift_of(const struct profile *profile, uint32_t number, uint64_t from)
{
    uint64_t start = profile->processes[number].start;
    return from > start ? from - start : 0;
}

static uint64_t
after(uint64_t time, uint64_t shift)
{
    return time > shift ? time - shift : 0;
}

/* Let the times of PROFILE begin at FROM, on the clock of the day, and end
 * after LENGTH ns. Nothing of it is earlier. */
static void
rebase(struct profile *profile, uint64_t from, uint64_t length)
{
    for (size_t i = 0; i < profile->event_count; i++) {
        struct profile_event *event = &profile->events[i];
        uint32_t thread = profile->samples[event->sample].thread;
        event->time =
            after(event->time,
                  shift_of(profile, profile->threads[thread].process, from));
    }
    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        struct profile_mark *mark = &profile->timed_marks[i];
        mark->time = after(mark->time, shift_of(profile, mark->process, from));
    }
    for (uint32_t i = 0; i < profile->epoch_count; i++) {
        struct profile_epoch *epoch = &profile->epochs[i];
        epoch->time =
            after(epoch->time, shift_of(profile, epoch->process, from));
    }
    for (uint32_t i = 0; i < profile->thread_count; i++) {
        struct profile_thread *thread = &profile->threads[i];
        uint64_t shift = shift_of(profile, thread->process, from);
        thread->start = after(thread->start, shift);
        if (thread->end != UINT64_MAX)
            thread->end = after(thread->end, shift);
    }
    for (uint32_t i = 0; i < profile->process_count; i++) {
        struct profile_process *process = &profile->processes[i];
        uint64_t shift = shift_of(profile, i, from);
        process->start += shift;
        process->duration = after(process->duration, shift);
        if (process->duration > length)
            process->duration = length;
    }
    profile->start = from;
    profile->duration = length;
}

/* Whether MEMBER lived between FROM and TO. */
static bool
has_lived(const struct member *member, uint64_t from, uint64_t to)
{
    return (member->ended == 0 || member->ended > from) &&
           member->header.start_monotonic < to;
}

/* Add all processes that QUERY wants. Returns how many it wants. */
static uint32_t
add_members(struct profile *profile, const struct fleet *fleet,
            const struct query *query, uint64_t from, uint64_t to,
            uint64_t offset)
{
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct member *member = fleet->members[i];
        if (!query_wants(query, member->process.pid, member->exe) ||
            !has_lived(member, from, to))
            continue;
        wanted++;
        add_member(profile, member, offset);
    }
    return wanted;
}

struct profile *
window_profile(const struct fleet *fleet, const struct query *query,
               uint64_t from, uint64_t to, char *error, size_t size)
{
    const struct symbolizer_options options = {.inlines = true,
                                               .server_seconds =
                                                   SERVER_SECONDS};
    uint64_t offset = clock_realtime() - clock_now();
    struct profile *profile = profile_new(&options);
    if (profile == NULL) {
        snprintf(error, size, "%s", strerror(errno));
        return NULL;
    }
    profile->keeps_events = true;
    uint32_t wanted = add_members(profile, fleet, query, from, to, offset);
    if (wanted == 0) {
        snprintf(error, size,
                 "no profiled process that this server may see matches the "
                 "query");
        goto err;
    }
    set_times(profile);
    uint64_t start =
        profile->process_count > 0 ? profile->start : from + offset;
    if (events_clip(profile, after(from + offset, start),
                    after(to + offset, start)) != 0) {
        snprintf(error, size, "%s", strerror(ENOMEM));
        goto err;
    }
    profile_clip_marks(profile, after(from + offset, start),
                       after(to + offset, start));
    rebase(profile, from + offset, to - from);
    return profile;

err:
    profile_free(profile);
    return NULL;
}
