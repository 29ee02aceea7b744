/* SPDX-License-Identifier: MIT */
/*
 * head.c -- the head of `sprofile top` (head_add in top.h). It makes
 *
 *   command  ./app --fast
 *   process  4711, 12.4 s, sampling
 *   cpu      131.2 % of one CPU, 120.9 % since the start
 *   threads  3: 1 running, 2 waiting; 4 have ended
 *   samples  1312 a second, 16034 since the start
 *   lost     none of 16034 asked
 *   cost     sampler 0.021 s CPU, 0.2 % of 12.400 s; ...
 *
 * CPU time is that of the samples, because the process's own clock is read only
 * twice a second. It includes the samples that a filter leaves out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "live/watch.h"
#include "model/quality.h"
#include "show/truncate.h"
#include "util/number.h"
#include "follow.h"
#include "page.h"
#include "top.h"

/* The column at which the value of a line begins. */
enum { WORD_COLUMNS = 9 };

/* How many threads are in which state. */
struct crowd {
    uint32_t all, running, runnable, waiting, ended;
};

/* Add one line. WORD names its subject, and is highlighted if IS_ALERT. */
__attribute__((format(printf, 4, 5))) static void
add_line(struct page *page, bool is_alert, const char *word, const char *format,
         ...)
{
    va_list arguments;
    va_start(arguments, format);
    char text[1024];
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    fprintf(page->stream, "%s%s%s%*s", is_alert ? page_paint.alert : "", word,
            is_alert ? page_paint.end : "", WORD_COLUMNS - (int)strlen(word),
            "");
    truncate_text(page->stream, text,
                  page->columns > 20 ? page->columns - WORD_COLUMNS
                                     : page->columns);
    fputc('\n', page->stream);
}

/* Threads that ended before they were seen have no tid. They are not counted.
 */
static struct crowd
count_threads(const struct watch *watch)
{
    struct crowd crowd = {0};
    for (uint32_t i = 0; i < watch->thread_count; i++) {
        const struct profile_thread *thread = &watch->profile->threads[i];
        if (thread->tid == 0)
            continue;
        const char *unused;
        const char *state = watch_state(watch, i, &unused);
        if (strcmp(state, "ended") == 0) {
            crowd.ended++;
            continue;
        }
        crowd.all++;
        crowd.running += strcmp(state, "running") == 0;
        if (strcmp(state, "runnable") == 0)
            crowd.runnable++;
        else
            crowd.waiting += watch->threads[i].is_open;
    }
    return crowd;
}

static void
add_threads(struct page *page, const struct watch *watch)
{
    struct crowd crowd = count_threads(watch);
    char runnable[32] = "", ended[32] = "";
    if (crowd.runnable > 0)
        snprintf(runnable, sizeof(runnable), ", %u runnable", crowd.runnable);
    if (crowd.ended > 0)
        snprintf(ended, sizeof(ended), "; %u ended", crowd.ended);
    add_line(page, false, "threads", "%u: %u running, %u waiting%s%s",
             crowd.all, crowd.running, crowd.waiting, runnable, ended);
}

/* Percent of one CPU. A process with two running threads has 200. */
static double
cpu_percent(const struct watch *watch, enum span span)
{
    int64_t cpu = watch->everything.values[span][VALUE_CPU];
    return number_percent(cpu > 0 ? (uint64_t)cpu : 0, watch->length[span]);
}

/* An interval without a tick has length 0; its rates are shown as 0. */
static void
add_rates(struct page *page, const struct watch *watch)
{
    double seconds = number_seconds(watch->length[SPAN_INTERVAL]);
    add_line(page, false, "cpu",
             "%.1f %% of one CPU, %.1f %% since the "
             "start",
             cpu_percent(watch, SPAN_INTERVAL), cpu_percent(watch, SPAN_ALL));
    add_threads(page, watch);
    add_line(page, false, "samples",
             "%.0f a second of threads that run, %llu since the start",
             seconds > 0 ? (double)watch->taken[SPAN_INTERVAL] / seconds : 0,
             (unsigned long long)watch->taken[SPAN_ALL]);
}

/* The number of lost samples, of all causes. */
static uint64_t
lost_samples(const struct profile_cost *cost)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < LOSS_COUNT; i++)
        sum_add(&sum, cost->lost[i]);
    return sum;
}

/* The filter, and which share of the time it leaves. */
static void
add_filter(struct page *page, const struct watch *watch)
{
    static const enum value values[2] = {VALUE_CPU, VALUE_WALL};
    double percent[2];
    for (unsigned i = 0; i < 2; i++) {
        int64_t part = watch->totals.values[SPAN_ALL][values[i]];
        int64_t whole = watch->everything.values[SPAN_ALL][values[i]];
        percent[i] = number_percent(part > 0 ? (uint64_t)part : 0,
                                    whole > 0 ? (uint64_t)whole : 0);
    }
    add_line(page, false, "filter", "%s", watch->profile->filter);
    add_line(page, false, "",
             "leaves %.1f %% of the CPU time, %.1f %% of the wall time",
             percent[0], percent[1]);
}

void
head_add(struct page *page, const struct follow *follow, const char *state,
         bool is_short)
{
    const struct watch *watch = follow->watch;
    const struct profile *profile = watch->profile;
    const struct profile_process *process = &profile->processes[0];
    if (is_short) {
        add_line(page, false, "process", "%u, %s, %.1f %% of one CPU",
                 process->pid, state, cpu_percent(watch, SPAN_INTERVAL));
        return;
    }
    add_line(page, false, "command", "%s", process->command);
    add_line(page, false, "process", "%u, %.1f s, %s", process->pid,
             number_seconds(process->duration), state);
    add_rates(page, watch);
    char text[512];
    add_line(page, lost_samples(&profile->cost) > 0, "lost", "%s",
             quality_losses(profile, text, sizeof(text)));
    add_line(page, false, "cost", "%s",
             quality_cost(profile, text, sizeof(text)));
    if (profile->filter != NULL)
        add_filter(page, watch);
    if (follow_problem(follow) != NULL)
        add_line(page, true, "note", "%s", follow_problem(follow));
}
