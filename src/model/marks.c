/* SPDX-License-Identifier: MIT */
/* marks.c -- see marks.h. */
#include "marks.h"

/* In ns since the start of the mark's process. */
static uint64_t
own_end(const struct profile *profile, size_t start)
{
    uint32_t process = profile->timed_marks[start].process;
    for (size_t i = start + 1; i < profile->timed_mark_count; i++)
        if (profile->timed_marks[i].kind == MARK_STOP &&
            profile->timed_marks[i].process == process)
            return profile->timed_marks[i].time;
    return profile->processes[process].duration;
}

uint32_t
marks_sessions(const struct profile *profile, uint64_t *sampled)
{
    uint32_t count = 0;
    *sampled = 0;
    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        const struct profile_mark *mark = &profile->timed_marks[i];
        if (mark->kind != MARK_START)
            continue;
        count++;
        uint64_t end = own_end(profile, i);
        if (end > mark->time)
            sum_add(sampled, end - mark->time);
    }
    return count;
}

uint64_t
marks_time(const struct profile *profile, const struct profile_mark *mark)
{
    uint64_t time = profile->processes[mark->process].start - profile->start;
    sum_add(&time, mark->time);
    return time;
}

uint64_t
marks_session_end(const struct profile *profile, size_t start)
{
    const struct profile_mark *mark = &profile->timed_marks[start];
    uint64_t end = profile->processes[mark->process].start - profile->start;
    sum_add(&end, own_end(profile, start));
    return end;
}

void
marks_clip(struct profile *profile, uint64_t from, uint64_t to)
{
    size_t kept = 0;
    for (size_t i = 0; i < profile->timed_mark_count; i++) {
        struct profile_mark mark = profile->timed_marks[i];
        uint64_t start = marks_time(profile, &mark), end = start;
        sum_add(&end, mark.duration);
        if (start < to && (start >= from || end > from))
            profile->timed_marks[kept++] = mark;
    }
    profile->timed_mark_count = kept;
}
