/* SPDX-License-Identifier: MIT */
/*
 * top_page.c -- composes the tables. A share refers to the interval or to all
 * time. Times in seconds always count from the start, so that both are seen at
 * once:
 *
 *   functions by self CPU time, shares of the last 1.00 s
 *    self %  total %     self s    total s  function
 *      61.0     61.0      7.211      7.211  checksum (app)
 *
 *   threads by CPU time, shares of the last 1.00 s
 *     cpu %  queue %   wait %      cpu s      tid  name             state
 *      99.8      0.2      0.0     11.982     4712  worker           running
 *       0.0      0.0    100.0      0.003     4711  app              futex
 */
#include <stdlib.h>
#include <string.h>

#include "model/phrase.h"
#include "show/fit.h"
#include "show/paint.h"
#include "page.h"
#include "top_page.h"

/* Columns in front of names: in a wide table, and in a narrow one (FEW). */
enum { FUNCTION_COLUMNS = 41, FUNCTION_FEW = 19 };
enum { THREAD_COLUMNS = 48, THREAD_FEW = 28 };

/* Columns of a thread's name and of its state, and the least room for a name
 * that comes last. */
enum { NAME_COLUMNS = 15, STATE_COLUMNS = 16, NAME_LEAST = 8 };

/* Pages with fewer columns than these leave out times, so that names have room.
 */
enum { FUNCTION_NARROW = FUNCTION_COLUMNS + 22, THREAD_NARROW = 100 };

/* The rows of a table, as numbers of functions or threads in their order. */
struct ranking {
    const struct watch *watch;
    const struct top_view *view;
    uint32_t *numbers;
    uint32_t count;
    bool is_narrow; /* columns of times are left out */
};

/* Each table remembers its own order. */
static enum top_order
order_of(const struct top_view *view)
{
    return view->orders[view->by];
}

/* After the last order comes the first. */
void
top_page_next_order(struct top_view *view)
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
    return phrase_percent(positive(part), whole);
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
    const struct function *rows = ranking->watch->functions.rows;
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
        return watch->functions.rows[number]
                   .total.values[SPAN_ALL][view->value] > 0;
    const struct watch_thread *thread = &watch->threads[number];
    bool has_time = time_of(thread, view->span, VALUE_CPU) > 0 ||
                    time_of(thread, view->span, VALUE_WALL) > 0;
    if (watch->profile->filter != NULL)
        return has_time || time_of(thread, SPAN_ALL, VALUE_CPU) > 0 ||
               time_of(thread, SPAN_ALL, VALUE_WALL) > 0;
    return has_time || (watch->profile->threads[number].end == UINT64_MAX &&
                        watch->profile->threads[number].tid != 0);
}

/* Collect all rows that are shown, in their order. Returns -1 if memory is
 * short. */
static int
rank_rows(struct ranking *ranking)
{
    const struct watch *watch = ranking->watch;
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

/* Print a share in column COLUMN; each column has nine characters. */
static void
print_share(struct page *page, unsigned column, double share)
{
    static const enum page_look looks[] = {[PAINT_COLD] = PAGE_PLAIN,
                                           [PAINT_WARM] = PAGE_WARM,
                                           [PAINT_HOT] = PAGE_HOT};
    fprintf(page->stream, "%8.1f ", share);
    page_mark(page, column * 9 + 1, 7, looks[paint_heat(share)]);
}

/* Room for a name behind TAKEN columns, in columns; 0: any number. */
static unsigned
name_room(const struct page *page, unsigned taken)
{
    if (page->columns == 0)
        return 0;
    return page->columns > taken + NAME_LEAST ? page->columns - taken
                                              : NAME_LEAST;
}

/* Shares refer to the time that the filter leaves. */
static void
print_function(struct page *page, const struct ranking *ranking,
               uint32_t number)
{
    const struct watch *watch = ranking->watch;
    const struct top_view *view = ranking->view;
    const struct function *row = &watch->functions.rows[number];
    uint64_t whole = positive(watch->totals.values[view->span][view->value]);
    page_add(page, PAGE_PLAIN);
    print_share(page, 0,
                percent_of(row->self.values[view->span][view->value], whole));
    print_share(page, 1,
                percent_of(row->total.values[view->span][view->value], whole));
    if (!ranking->is_narrow)
        fprintf(
            page->stream, "%10.3f %10.3f ",
            phrase_seconds(positive(row->self.values[SPAN_ALL][view->value])),
            phrase_seconds(positive(row->total.values[SPAN_ALL][view->value])));
    fputc(' ', page->stream);
    fit_print_function(page->stream, row->name, row->module,
                       name_room(page, ranking->is_narrow ? FUNCTION_FEW
                                                          : FUNCTION_COLUMNS));
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

/* Print TEXT padded to COLUMNS; the last text of a line is not padded. */
static void
print_padded(FILE *stream, const char *text, unsigned columns, bool is_last)
{
    unsigned width = fit_width(text);
    fit_print_name(stream, text, columns);
    if (!is_last)
        fprintf(stream, "%*s", width < columns ? (int)(columns - width) : 0,
                "");
}

/* Print the numbers of a thread. Shares refer to the time in which the thread
 * existed. */
static void
print_thread_times(struct page *page, const struct ranking *ranking,
                   uint32_t number)
{
    const struct watch *watch = ranking->watch;
    const struct span_sums *states = watch->threads[number].states;
    const struct span_sums *running = &states[STATE_RUNNING];
    const struct profile_thread *thread = &watch->profile->threads[number];
    enum span span = ranking->view->span;
    uint64_t whole = thread_life(watch, thread, span);
    print_share(page, 0, percent_of(running->values[span][VALUE_CPU], whole));
    if (!ranking->is_narrow)
        fprintf(page->stream, "%8.1f ",
                percent_of(states[STATE_RUNQUEUE].values[span][VALUE_WALL],
                           whole));
    fprintf(page->stream, "%8.1f ",
            percent_of(states[STATE_WAITING].values[span][VALUE_WALL], whole));
    if (!ranking->is_narrow)
        fprintf(page->stream, "%10.3f ",
                phrase_seconds(positive(running->values[SPAN_ALL][VALUE_CPU])));
    fprintf(page->stream, "%8u  ", thread->tid);
}

static void
print_thread(struct page *page, const struct ranking *ranking, uint32_t number)
{
    const struct watch *watch = ranking->watch;
    unsigned taken = ranking->is_narrow ? THREAD_FEW : THREAD_COLUMNS;
    const char *waits_on, *state = watch_state(watch, number, &waits_on);
    page_add(page, PAGE_PLAIN);
    print_thread_times(page, ranking, number);
    print_padded(page->stream, watch->profile->threads[number].name,
                 NAME_COLUMNS, false);
    fputs("  ", page->stream);
    print_padded(page->stream, state, STATE_COLUMNS, waits_on[0] == '\0');
    if (waits_on[0] == '\0')
        return;
    fputs("  ", page->stream);
    fit_print_name(page->stream, waits_on,
                   name_room(page, taken + NAME_COLUMNS + STATE_COLUMNS + 4));
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
    if (!by_function && order_of(view) == TOP_SELF)
        order = "";
    page_add(page, PAGE_PLAIN);
    fprintf(page->stream, "%s by %s%s, shares of ",
            by_function ? "functions" : "threads", order, time);
    if (view->span == SPAN_ALL ||
        watch->length[SPAN_INTERVAL] == watch->length[SPAN_ALL])
        fputs("all", page->stream);
    else
        fprintf(page->stream, "the last %.2f s",
                phrase_seconds(watch->length[SPAN_INTERVAL]));
}

/* The title of the column that the table is sorted by. A table of threads that
 * is sorted by waiting time highlights the column of waiting. */
static const char *
title_of_order(const struct top_view *view)
{
    static const char *const titles[2][TOP_STATE + 1] = {
        [TOP_FUNCTIONS] = {"self %", "total %", "function", "", ""},
        [TOP_THREADS] = {"cpu %", "", "name", "tid", "state"},
    };
    if (view->by == TOP_THREADS && order_of(view) == TOP_SELF &&
        view->value == VALUE_WALL)
        return "wait %";
    return titles[view->by][order_of(view)];
}

/* Print the titles; the title of the sort column is highlighted. */
static void
print_titles(struct page *page, const struct ranking *ranking)
{
    static const char *const lines[2][2] = {
        [TOP_FUNCTIONS] = {"  self %  total %     self s    total s  function",
                           "  self %  total %  function"},
        [TOP_THREADS] = {"   cpu %  queue %   wait %      cpu s      tid  "
                         "name             state             waits for",
                         "   cpu %   wait %      tid  "
                         "name             state             waits for"},
    };
    const char *line = lines[ranking->view->by][ranking->is_narrow];
    const char *title = title_of_order(ranking->view);
    const char *at = strstr(line, title);
    page_add(page, PAGE_TITLE);
    fputs(line, page->stream);
    if (at != NULL)
        page_mark(page, (unsigned)(at - line), (unsigned)strlen(title),
                  PAGE_ALERT);
}

/* Whether PAGE has too few columns for all columns of the table. */
static bool
is_narrow(const struct page *page, const struct top_view *view)
{
    unsigned least =
        view->by == TOP_FUNCTIONS ? FUNCTION_NARROW : THREAD_NARROW;
    return page->columns > 0 && page->columns < least;
}

int
top_page_table(struct page *page, const struct watch *watch,
               const struct top_view *view, uint32_t first, uint32_t rows,
               uint32_t *count)
{
    struct ranking ranking = {.watch = watch,
                              .view = view,
                              .is_narrow = is_narrow(page, view)};
    if (rank_rows(&ranking) != 0)
        return -1;
    *count = ranking.count;
    print_view(page, watch, view);
    print_titles(page, &ranking);
    for (uint32_t i = first;
         i < ranking.count && (rows == 0 || i - first < rows); i++)
        if (view->by == TOP_FUNCTIONS)
            print_function(page, &ranking, ranking.numbers[i]);
        else
            print_thread(page, &ranking, ranking.numbers[i]);
    free(ranking.numbers);
    return 0;
}
