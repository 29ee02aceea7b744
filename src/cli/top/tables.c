/* SPDX-License-Identifier: MIT */
/*
 * tables.c -- the head and the tables of `sprofile top` (top.h).
 * The head is
 *
 *   command  ./app --fast
 *   process  4711, 12.4 s, sampling
 *   cpu      131.2 % of one CPU, 120.9 % since the start
 *   threads  3: 1 running, 2 waiting; 4 have ended
 *   samples  1312 a second, 16034 since the start; 30512 looks at waits
 *   lost     none of 16034 asked
 *   cost     sampler 0.021 s CPU, 0.2 % of 12.400 s; ...
 *
 * CPU time is that of the samples, because the process's own clock is read only
 * twice a second. It includes the samples that a filter leaves out. In tables,
 * a share refers to the interval or to all time. Times in seconds always count
 * from the start, so that both are seen at once:
 *
 *   functions by self CPU time, shares of the last 1.00 s
 *    self %    ±  total %     self s    total s  function
 *      61.0  2.7     61.0      7.211      7.211  checksum (app)
 *
 *   threads by CPU time, shares of the last 1.00 s
 *     cpu %  queue %   wait %      cpu s      tid  name             state
 *      99.8      0.2      0.0     11.982     4712  worker           running
 *       0.0      0.0    100.0      0.003     4711  app              futex
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "live/shown.h"
#include "model/idle.h"
#include "model/quality.h"
#include "show/columns.h"
#include "show/truncate.h"
#include "store/reader.h"
#include "util/number.h"
#include "view/confidence.h"
#include "view/filter.h"
#include "top.h"

/* The columns, and the least room for a name that comes last. */
static const struct column function_columns[] = {
    {"self %", 7, 1},  {"±", 4, 1},        {"total %", 7, 2},
    {"self s", 10, 1}, {"total s", 10, 1}, {"function", 0, 2},
    {NULL, 0, 0},
};
static const struct column thread_columns[] = {
    {"cpu %", 7, 1},   {"queue %", 7, 2},   {"wait %", 7, 2},
    {"cpu s", 10, 1},  {"tid", 8, 1},       {"name", -15, 2},
    {"state", -16, 2}, {"waits for", 0, 2}, {NULL, 0, 0},
};
enum { NAME_LEAST = 8 };

/* Pages that are narrower than this leave out some columns (bits), so that
 * names have room. */
enum { FUNCTION_NARROW = 68, THREAD_NARROW = 100 };
enum { FUNCTION_HIDDEN = 0x18, THREAD_HIDDEN = 0xa };

/* Bits of the columns that a still narrower page may lack, and of "waits for".
 */
enum {
    FUNCTION_DISPENSABLE = 0x6,
    THREAD_DISPENSABLE = 0x44,
    THREAD_LAST = 0x80
};

/* The rows of a table, as numbers of functions or threads in their order.
 * After them comes a row for idle threads, if there are any and they have one.
 */
struct ranking {
    const struct watch *watch;
    const struct top_view *view;
    const struct function *functions; /* by number */
    struct shown shown;               /* all 0: idle threads are as others */
    uint32_t *numbers;
    uint32_t count;
};

/* Each table remembers its own order. */
static enum top_order
order_of(const struct top_view *view)
{
    return view->orders[view->by == TOP_THREADS];
}

/* After the last order comes the first. */
void
tables_next_order(struct top_view *view)
{
    static const enum top_order next[2][TOP_STATE + 1] = {
        [TOP_FUNCTIONS] = {TOP_TOTAL, TOP_NAME, TOP_SELF, TOP_SELF, TOP_SELF},
        [TOP_THREADS] = {TOP_TID, TOP_TID, TOP_STATE, TOP_NAME, TOP_SELF},
    };
    view->orders[view->by] = next[view->by][order_of(view)];
}

/* Show negative corrections as 0. */
static uint64_t
positive(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static double
percent_of(int64_t part, uint64_t whole)
{
    return number_percent(positive(part), whole);
}

/* -1 if A is larger, for qsort: large values come first. */
static int
larger_first(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

/* Compare by the time in the view's span, then by all time. */
static int
compare_times(const struct span_sums *one, const struct span_sums *two,
              const struct top_view *view)
{
    int order = larger_first(one->values[view->span][view->value],
                             two->values[view->span][view->value]);
    if (order == 0)
        order = larger_first(one->values[SPAN_ALL][view->value],
                             two->values[SPAN_ALL][view->value]);
    return order;
}

/* Functions with equal self time are ordered by their total time. Ties are
 * broken by names, so that rows do not change places at random. */
static int
compare_functions(const void *a, const void *b, void *context)
{
    const struct ranking *ranking = context;
    const struct function *rows = ranking->functions;
    const struct function *one = &rows[*(const uint32_t *)a];
    const struct function *two = &rows[*(const uint32_t *)b];
    enum top_order by = order_of(ranking->view);
    int order = 0;
    if (by == TOP_SELF)
        order = compare_times(&one->self, &two->self, ranking->view);
    if (by == TOP_SELF || (order == 0 && by == TOP_TOTAL))
        order = order != 0
                    ? order
                    : compare_times(&one->total, &two->total, ranking->view);
    if (order == 0)
        order = strcmp(one->name, two->name);
    return order != 0 ? order : strcmp(one->module, two->module);
}

/* The thread's CPU time; for VALUE_WALL, the time in which it did not run. */
static int64_t
time_of(const struct watch_thread *thread, enum span span, enum value value)
{
    int64_t time = 0;
    if (value == VALUE_CPU)
        return thread->states[STATE_RUNNING].values[span][VALUE_CPU];
    span_add(&time, thread->states[STATE_WAITING].values[span][VALUE_WALL]);
    span_add(&time, thread->states[STATE_RUNQUEUE].values[span][VALUE_WALL]);
    return time;
}

/* Threads with equal times are ordered by tid, then by number. Tids are unique
 * among living threads. */
static int
compare_threads(const void *a, const void *b, void *context)
{
    const struct ranking *ranking = context;
    const struct top_view *view = ranking->view;
    const struct watch *watch = ranking->watch;
    uint32_t one = *(const uint32_t *)a, two = *(const uint32_t *)b;
    const struct profile_thread *threads = watch->profile->threads;
    const char *unused;
    int order = 0;
    if (order_of(view) == TOP_NAME)
        order = strcmp(threads[one].name, threads[two].name);
    else if (order_of(view) == TOP_STATE)
        order = strcmp(watch_state(watch, one, &unused),
                       watch_state(watch, two, &unused));
    if (order == 0 && order_of(view) != TOP_TID)
        order =
            larger_first(time_of(&watch->threads[one], view->span, view->value),
                         time_of(&watch->threads[two], view->span,
                                 view->value));
    if (order == 0)
        order = (threads[one].tid > threads[two].tid) -
                (threads[one].tid < threads[two].tid);
    return order != 0 ? order : (one > two) - (one < two);
}

/* Whether row NUMBER is shown. A function is shown if it has any of the view's
 * value. A thread is shown if it lives or had time in the span. */
static bool
is_shown(const struct ranking *ranking, uint32_t number)
{
    const struct watch *watch = ranking->watch;
    const struct top_view *view = ranking->view;
    if (view->by == TOP_FUNCTIONS)
        return ranking->functions[number].total.values[SPAN_ALL][view->value] >
               0;
    if (ranking->shown.idle_count > 0 && ranking->shown.are_idle[number])
        return false;
    const struct watch_thread *thread = &watch->threads[number];
    bool has_time = time_of(thread, view->span, VALUE_CPU) > 0 ||
                    time_of(thread, view->span, VALUE_WALL) > 0;
    if (watch->profile->filter != NULL)
        return has_time || time_of(thread, SPAN_ALL, VALUE_CPU) > 0 ||
               time_of(thread, SPAN_ALL, VALUE_WALL) > 0;
    const char *unused;
    return has_time ||
           (watch->profile->threads[number].tid != 0 &&
            strcmp(watch_state(watch, number, &unused), "ended") != 0);
}

/* Idle threads lead every table of wall time. A filter says what a user wants
 * to see. */
static bool
folds_idle(const struct ranking *ranking)
{
    const struct top_view *view = ranking->view;
    return view->value == VALUE_WALL && !view->shows_idle &&
           ranking->watch->filter->count == 0;
}

/* Collect all rows that are shown, in their order. Returns -1 if memory is
 * short. */
static int
rank_rows(struct ranking *ranking)
{
    const struct watch *watch = ranking->watch;
    ranking->functions = watch->functions.rows;
    if (folds_idle(ranking)) {
        if (shown_begin(&ranking->shown, watch, ranking->view->span) != 0)
            return -1;
        ranking->functions = ranking->shown.functions;
    }
    bool by_function = ranking->view->by == TOP_FUNCTIONS;
    uint32_t count = by_function ? watch->functions.count : watch->thread_count;
    ranking->numbers = malloc((count + 1u) * sizeof(*ranking->numbers));
    if (ranking->numbers == NULL)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        if (is_shown(ranking, i))
            ranking->numbers[ranking->count++] = i;
    qsort_r(ranking->numbers, ranking->count, sizeof(*ranking->numbers),
            by_function ? compare_functions : compare_threads, ranking);
    return 0;
}

/* What the view shows of SUMS. */
static struct confidence
confidence_in(const struct span_sums *sums, const struct top_view *view)
{
    double squares = sums->squares[view->span][view->value];
    return (struct confidence){(double)positive(
                                   sums->values[view->span][view->value]),
                               squares > 0 ? squares : 0};
}

/* Shares refer to the time that the filter leaves. A function of few samples is
 * dim. */
static void
print_function(struct columns *columns, const struct ranking *ranking,
               const struct function *row)
{
    const struct watch *watch = ranking->watch;
    const struct top_view *view = ranking->view;
    uint64_t whole = positive(watch->totals.values[view->span][view->value]);
    const struct confidence all = confidence_in(&watch->totals, view);
    const struct confidence self = confidence_in(&row->self, view);
    const struct confidence total = confidence_in(&row->total, view);
    if (confidence_is_low(&total))
        columns_faint(columns);
    columns_share(columns,
                  percent_of(row->self.values[view->span][view->value], whole));
    columns_percent(columns, confidence_interval(&self, &all));
    columns_share(columns,
                  percent_of(row->total.values[view->span][view->value],
                             whole));
    columns_seconds(columns, positive(row->self.values[SPAN_ALL][view->value]));
    columns_seconds(columns,
                    positive(row->total.values[SPAN_ALL][view->value]));
    unsigned width = columns_last(columns);
    truncate_function(columns->stream, row->name, row->module, width);
}

/* How long the thread existed within the span, in ns. */
static uint64_t
thread_life(const struct watch *watch, const struct profile_thread *thread,
            enum span span)
{
    uint64_t end = watch->last, start = end - watch->length[span];
    if (thread->start > start)
        start = thread->start;
    if (thread->end < end)
        end = thread->end;
    return end > start ? end - start : 0;
}

/* The three shares of the time WHOLE, and the CPU time. */
static void
print_states(struct columns *columns, const struct span_sums *states,
             enum span span, uint64_t whole)
{
    const struct span_sums *running = &states[STATE_RUNNING];
    columns_share(columns, percent_of(running->values[span][VALUE_CPU], whole));
    columns_percent(columns,
                    percent_of(states[STATE_RUNQUEUE].values[span][VALUE_WALL],
                               whole));
    columns_percent(columns,
                    percent_of(states[STATE_WAITING].values[span][VALUE_WALL],
                               whole));
    columns_seconds(columns, positive(running->values[SPAN_ALL][VALUE_CPU]));
}

/* Shares refer to the time in which the thread existed. */
static void
print_thread(struct columns *columns, const struct ranking *ranking,
             uint32_t number)
{
    const struct watch *watch = ranking->watch;
    const struct profile_thread *thread = &watch->profile->threads[number];
    enum span span = ranking->view->span;
    print_states(columns, watch->threads[number].states, span,
                 thread_life(watch, thread, span));
    columns_number(columns, thread->tid);
    columns_name(columns, thread->name);
    const char *waits_on, *state = watch_state(watch, number, &waits_on);
    columns_name(columns, state);
    if (waits_on[0] != '\0')
        columns_name(columns, waits_on);
}

/* The row of all idle threads. Shares refer to the sum of their times. */
static void
print_idle_threads(struct columns *columns, const struct ranking *ranking)
{
    const struct watch *watch = ranking->watch;
    struct span_sums states[STATE_COUNT] = {0};
    enum span span = ranking->view->span;
    uint64_t whole = 0;
    for (uint32_t i = 0; i < watch->thread_count; i++) {
        if (!ranking->shown.are_idle[i])
            continue;
        for (unsigned j = 0; j < STATE_COUNT; j++)
            span_add_sums(&states[j], &watch->threads[i].states[j]);
        sum_add(&whole, thread_life(watch, &watch->profile->threads[i], span));
    }
    print_states(columns, states, span, whole);
    columns_skip(columns);
    columns_name(columns, "[idle threads]");
    char count[16];
    snprintf(count, sizeof(count), "%u", ranking->shown.idle_count);
    columns_name(columns, count);
    columns_name(columns, "--idle shows them");
}

static void
print_idle(struct columns *columns, const struct ranking *ranking)
{
    char name[IDLE_NAME_SIZE];
    const struct function row = {
        .name = idle_name(ranking->shown.idle_count, name),
        .module = "",
        .self = ranking->shown.idle,
        .total = ranking->shown.idle,
    };
    if (ranking->view->by == TOP_FUNCTIONS)
        print_function(columns, ranking, &row);
    else
        print_idle_threads(columns, ranking);
    columns_end_row(columns);
}

/* "functions by self CPU time, shares of the last 1.00 s". */
static void
print_view(struct page *page, const struct watch *watch,
           const struct top_view *view)
{
    static const char *const orders[] = {[TOP_SELF] = "self ",
                                         [TOP_TOTAL] = "total ",
                                         [TOP_NAME] = "name, ",
                                         [TOP_TID] = "tid, ",
                                         [TOP_STATE] = "state, "};
    bool by_function = view->by == TOP_FUNCTIONS;
    const char *time = view->value == VALUE_CPU
                           ? "CPU time"
                           : (by_function ? "wall time" : "waiting time");
    const char *order = orders[order_of(view)];
    char line[128], span[64] = "all";
    if (!by_function && order_of(view) == TOP_SELF)
        order = "";
    if (view->span == SPAN_INTERVAL &&
        watch->length[SPAN_INTERVAL] != watch->length[SPAN_ALL])
        snprintf(span, sizeof(span), "the last %.2f s",
                 number_seconds(watch->length[SPAN_INTERVAL]));
    snprintf(line, sizeof(line), "%s by %s%s, shares of %s",
             by_function ? "functions" : "threads", order, time, span);
    truncate_text(page->stream, line, page->columns);
    fputc('\n', page->stream);
}

/* The title of the column that the table is sorted by. A table of threads that
 * is sorted by waiting time highlights the column of waiting. */
static const char *
title_of_order(const struct top_view *view)
{
    static const char *const functions[] = {"self %", "total %", "function"};
    static const char *const threads[] = {"cpu %", "", "name", "tid", "state"};
    enum top_order order = order_of(view);
    if (view->by == TOP_FUNCTIONS)
        return order <= TOP_NAME ? functions[order] : NULL;
    return order == TOP_SELF && view->value == VALUE_WALL ? "wait %"
                                                          : threads[order];
}

/* Lay out a table for PAGE, which may have too few columns for all. */
static struct columns
lay_out(const struct page *page, const struct top_view *view)
{
    bool by_function = view->by == TOP_FUNCTIONS;
    struct columns columns = {
        .stream = page->stream,
        .all = by_function ? function_columns : thread_columns,
        .paint = &page_paint,
        .limit = page->columns,
        .least = NAME_LEAST,
        .sorted = title_of_order(view),
    };
    unsigned narrow = by_function ? FUNCTION_NARROW : THREAD_NARROW;
    if (page->columns > 0 && page->columns < narrow)
        columns.hidden = by_function ? FUNCTION_HIDDEN : THREAD_HIDDEN;
    /* Without its last column, a table of threads ends with states or names. */
    columns_fit(&columns, by_function ? FUNCTION_DISPENSABLE : THREAD_LAST);
    if (!by_function && (columns.hidden & THREAD_LAST) != 0) {
        columns.least = 0;
        columns_fit(&columns, THREAD_DISPENSABLE);
    }
    return columns;
}

static void
print_rows(struct columns *columns, const struct ranking *ranking,
           uint32_t first, uint32_t rows)
{
    for (uint32_t i = first; i < ranking->count && i - first < rows; i++) {
        uint32_t number = ranking->numbers[i];
        if (ranking->view->by == TOP_FUNCTIONS)
            print_function(columns, ranking, &ranking->functions[number]);
        else
            print_thread(columns, ranking, number);
        columns_end_row(columns);
    }
}

int
tables_add(struct page *page, const struct watch *watch,
           const struct top_view *view, uint32_t first, uint32_t rows,
           uint32_t *count)
{
    struct columns columns = lay_out(page, view);
    struct ranking ranking = {.watch = watch, .view = view};
    int status = rank_rows(&ranking);
    bool has_idle = ranking.shown.idle_count > 0;
    if (status == 0) {
        *count = ranking.count + (has_idle && rows != 1);
        print_view(page, watch, view);
        columns_titles(&columns, NULL);
        print_rows(&columns, &ranking, first,
                   rows > 0 ? rows - (has_idle && rows > 1) : ranking.count);
        if (has_idle && rows != 1)
            print_idle(&columns, &ranking);
    }
    free(ranking.numbers);
    shown_end(&ranking.shown);
    return status;
}

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
        if (strcmp(state, "runnable") == 0)
            crowd.runnable++;
        else if (watch->threads[i].is_open)
            crowd.waiting++;
        else
            crowd.running += strcmp(state, "-") != 0;
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
    return percent_of(watch->everything.values[span][VALUE_CPU],
                      watch->length[span]);
}

/* The sample points of threads in STATE that the filter leaves. */
static uint64_t
count_samples(const struct watch *watch, enum span span, enum state state)
{
    int64_t count = 0;
    for (uint32_t i = 0; i < watch->thread_count; i++)
        span_add(&count,
                 watch->threads[i].states[state].values[span][VALUE_SAMPLES]);
    return positive(count);
}

/* An interval without a tick has length 0; its rates are shown as 0. */
static void
add_rates(struct page *page, const struct watch *watch)
{
    double seconds = number_seconds(watch->length[SPAN_INTERVAL]);
    uint64_t recent = count_samples(watch, SPAN_INTERVAL, STATE_RUNNING);
    /* A flight recorder begins a new file now and then (SPROF_KEEP). */
    const char *all = watch->profile->processes[0].keep != 0
                          ? "in the recorder's present file"
                          : "since the start";
    add_line(page, false, "cpu", "%.1f %% of one CPU, %.1f %% %s",
             cpu_percent(watch, SPAN_INTERVAL), cpu_percent(watch, SPAN_ALL),
             all);
    add_threads(page, watch);
    add_line(
        page, false, "samples", "%.0f a second, %llu %s; %llu looks at waits",
        seconds > 0 ? (double)recent / seconds : 0,
        (unsigned long long)count_samples(watch, SPAN_ALL, STATE_RUNNING), all,
        (unsigned long long)(count_samples(watch, SPAN_ALL, STATE_WAITING) +
                             count_samples(watch, SPAN_ALL, STATE_RUNQUEUE)));
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
        int64_t whole = watch->everything.values[SPAN_ALL][values[i]];
        percent[i] = percent_of(watch->totals.values[SPAN_ALL][values[i]],
                                positive(whole));
    }
    add_line(page, false, "filter", "%s", watch->profile->filter);
    add_line(page, false, "",
             "leaves %.1f %% of the CPU time, %.1f %% of the wall time",
             percent[0], percent[1]);
}

void
tables_add_head(struct page *page, const struct follow *follow,
                const char *state, bool is_short)
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
    if (reader_problem(follow->reader) != NULL)
        add_line(page, true, "note", "%s", reader_problem(follow->reader));
}
