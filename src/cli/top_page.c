/* SPDX-License-Identifier: MIT */
/*
 * top_page.c -- composes the tables. A share is of the interval, or of all;
 * times in seconds are always since the start, so that both are seen at once:
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
#include "top_page.h"

#include <stdlib.h>
#include <string.h>

#include "write/fit.h"
#include "write/paint.h"
#include "write/phrase.h"

#include "page.h"

/* Columns in front of names, and of the other texts of a thread. */
enum { FUNCTION_COLUMNS = 41, THREAD_COLUMNS = 48 };
enum { NAME_COLUMNS = 15, STATE_COLUMNS = 16, NAME_LEAST = 8 };

/* The rows of a table, as numbers of functions or threads in their order. */
struct ranking {
    const struct watch *watch;
    const struct top_view *view;
    uint32_t *numbers;
    uint32_t count;
};

/* Each table remembers its own. */
static enum top_order
order_of(const struct top_view *view)
{
    return view->orders[view->by];
}

/* Round and round. */
void
top_page_next_order(struct top_view *view)
{
    static const enum top_order next[2][TOP_STATE + 1] = {
        [TOP_FUNCTIONS] = {TOP_TOTAL, TOP_NAME, TOP_SELF, TOP_SELF, TOP_SELF},
        [TOP_THREADS] = {TOP_TID, TOP_TID, TOP_STATE, TOP_NAME, TOP_SELF},
    };

    view->orders[view->by] = next[view->by][order_of(view)];
}

/* Nothing is less than nothing to who looks. */
static uint64_t
amount(int64_t value)
{
    return value > 0 ? (uint64_t)value : 0;
}

static double
percent(int64_t part, uint64_t whole)
{
    return phrase_percent(amount(part), whole);
}

/* -1 if A is the larger: large values come first. */
static int
larger(int64_t a, int64_t b)
{
    return (a < b) - (a > b);
}

/* By what is asked for in the span, then by all there is. */
static int
compare_times(const struct span_sums *one, const struct span_sums *two,
              const struct top_view *view)
{
    int order = larger(one->values[view->span][view->value],
                       two->values[view->span][view->value]);

    if (order == 0)
        order = larger(one->values[SPAN_ALL][view->value],
                       two->values[SPAN_ALL][view->value]);
    return order;
}

/* What was never spent in a function itself is told apart by what it called.
 * Ties are broken by names, so that rows do not dance. */
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

/* CPU time, or time that it did not run. */
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

/* Threads of one time are in the order of their tids, which are unique while
 * they live, and then of their numbers. */
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
        order = larger(time_of(&watch->threads[one], view->span, view->value),
                       time_of(&watch->threads[two], view->span, view->value));
    if (order == 0)
        order = (threads[one].tid > threads[two].tid) -
                (threads[one].tid < threads[two].tid);
    return order != 0 ? order : (one > two) - (one < two);
}

/* Functions that were seen with the value that is asked for; threads that live,
 * or had something in the span. */
static bool
is_shown(const struct ranking *ranking, uint32_t number)
{
    const struct watch *watch = ranking->watch;
    const struct top_view *view = ranking->view;
    const struct watch_thread *thread;
    bool has_time;

    if (view->by == TOP_FUNCTIONS)
        return watch->functions.rows[number]
                   .total.values[SPAN_ALL][view->value] > 0;
    thread = &watch->threads[number];
    has_time = time_of(thread, view->span, VALUE_CPU) > 0 ||
               time_of(thread, view->span, VALUE_WALL) > 0;
    if (watch->profile->filter != NULL)
        return has_time || time_of(thread, SPAN_ALL, VALUE_CPU) > 0 ||
               time_of(thread, SPAN_ALL, VALUE_WALL) > 0;
    return has_time || (watch->profile->threads[number].end == UINT64_MAX &&
                        watch->profile->threads[number].tid != 0);
}

/* All rows that there are, in their order. */
static int
rank(struct ranking *ranking)
{
    const struct watch *watch = ranking->watch;
    bool by_function = ranking->view->by == TOP_FUNCTIONS;
    uint32_t count = by_function ? watch->functions.count : watch->thread_count;

    ranking->numbers = malloc((count + 1u) * sizeof *ranking->numbers);
    if (ranking->numbers == NULL)
        return -1;
    for (uint32_t i = 0; i < count; i++)
        if (is_shown(ranking, i))
            ranking->numbers[ranking->count++] = i;
    qsort_r(ranking->numbers, ranking->count, sizeof *ranking->numbers,
            by_function ? compare_functions : compare_threads, ranking);
    return 0;
}

/* A share in the COLUMNth of the columns of nine characters. */
static void
print_share(struct page *page, unsigned column, double share)
{
    static const enum page_look looks[] = {[PAINT_COLD] = PAGE_PLAIN,
                                           [PAINT_WARM] = PAGE_WARM,
                                           [PAINT_HOT] = PAGE_HOT};

    fprintf(page->stream, "%8.1f ", share);
    page_mark(page, column * 9 + 1, 7, looks[paint_heat(share)]);
}

/* What names may take behind TAKEN columns; 0: any number. */
static unsigned
room(const struct page *page, unsigned taken)
{
    if (page->columns == 0)
        return 0;
    return page->columns > taken + NAME_LEAST ? page->columns - taken
                                              : NAME_LEAST;
}

/* Shares are of what the filter leaves. */
static void
print_function(struct page *page, const struct ranking *ranking,
               uint32_t number)
{
    const struct watch *watch = ranking->watch;
    const struct top_view *view = ranking->view;
    const struct function *row = &watch->functions.rows[number];
    uint64_t whole = amount(watch->totals.values[view->span][view->value]);

    page_add(page, PAGE_PLAIN);
    print_share(page, 0,
                percent(row->self.values[view->span][view->value], whole));
    print_share(page, 1,
                percent(row->total.values[view->span][view->value], whole));
    fprintf(page->stream, "%10.3f %10.3f  ",
            phrase_seconds(amount(row->self.values[SPAN_ALL][view->value])),
            phrase_seconds(amount(row->total.values[SPAN_ALL][view->value])));
    fit_print_function(page->stream, row->name, row->module,
                       room(page, FUNCTION_COLUMNS));
}

/* For how long of the span the thread was there. */
static uint64_t
life(const struct watch *watch, const struct profile_thread *thread,
     enum span span)
{
    uint64_t end = watch->last, start = end - watch->length[span];

    if (thread->start > start)
        start = thread->start;
    if (thread->end < end)
        end = thread->end;
    return end > start ? end - start : 0;
}

/* TEXT in COLUMNS, or fewer if they are the last. */
static void
print_padded(FILE *stream, const char *text, unsigned columns, bool is_last)
{
    unsigned width = fit_width(text);

    fit_print(stream, text, columns);
    if (!is_last)
        fprintf(stream, "%*s", width < columns ? (int)(columns - width) : 0,
                "");
}

/* Shares are of the thread's own time. */
static void
print_thread(struct page *page, const struct ranking *ranking, uint32_t number)
{
    const struct watch *watch = ranking->watch;
    const struct watch_thread *thread = &watch->threads[number];
    const struct profile_thread *at = &watch->profile->threads[number];
    enum span span = ranking->view->span;
    uint64_t whole = life(watch, at, span);
    const struct span_sums *states = thread->states;
    const char *waits_on, *state = watch_state(watch, number, &waits_on);

    page_add(page, PAGE_PLAIN);
    print_share(page, 0,
                percent(states[STATE_RUNNING].values[span][VALUE_CPU], whole));
    fprintf(page->stream, "%8.1f %8.1f %10.3f %8u  ",
            percent(states[STATE_RUNQUEUE].values[span][VALUE_WALL], whole),
            percent(states[STATE_WAITING].values[span][VALUE_WALL], whole),
            phrase_seconds(
                amount(states[STATE_RUNNING].values[SPAN_ALL][VALUE_CPU])),
            at->tid);
    print_padded(page->stream, at->name, NAME_COLUMNS, false);
    fputs("  ", page->stream);
    print_padded(page->stream, state, STATE_COLUMNS, waits_on[0] == '\0');
    if (waits_on[0] == '\0')
        return;
    fputs("  ", page->stream);
    fit_print(page->stream, waits_on,
              room(page, THREAD_COLUMNS + NAME_COLUMNS + STATE_COLUMNS + 4));
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

/* The titles; that of the order stands out. */
static void
print_titles(struct page *page, const struct top_view *view)
{
    static const struct page_mark orders[2][TOP_STATE + 1] = {
        [TOP_FUNCTIONS] = {[TOP_SELF] = {2, 6, PAGE_ALERT},
                           [TOP_TOTAL] = {10, 7, PAGE_ALERT},
                           [TOP_NAME] = {41, 8, PAGE_ALERT}},
        [TOP_THREADS] = {[TOP_SELF] = {3, 5, PAGE_ALERT},
                         [TOP_NAME] = {48, 4, PAGE_ALERT},
                         [TOP_TID] = {43, 3, PAGE_ALERT},
                         [TOP_STATE] = {65, 5, PAGE_ALERT}},
    };
    const struct page_mark *mark = &orders[view->by][order_of(view)];
    unsigned start = mark->start;

    /* Who sorts threads by waiting looks at that column. */
    if (view->by == TOP_THREADS && order_of(view) == TOP_SELF &&
        view->value == VALUE_WALL)
        start = 20;
    page_add(page, PAGE_TITLE);
    if (view->by == TOP_FUNCTIONS)
        fputs("  self %  total %     self s    total s  function",
              page->stream);
    else
        fputs("   cpu %  queue %   wait %      cpu s      tid  "
              "name             state             waits for",
              page->stream);
    page_mark(page, start, start == 20 ? 6 : mark->length, mark->look);
}

int
top_page_table(struct page *page, const struct watch *watch,
               const struct top_view *view, uint32_t first, uint32_t rows,
               uint32_t *count)
{
    struct ranking ranking = {.watch = watch, .view = view};

    if (rank(&ranking) < 0)
        return -1;
    *count = ranking.count;
    print_view(page, watch, view);
    print_titles(page, view);
    for (uint32_t i = first;
         i < ranking.count && (rows == 0 || i - first < rows); i++)
        if (view->by == TOP_FUNCTIONS)
            print_function(page, &ranking, ranking.numbers[i]);
        else
            print_thread(page, &ranking, ranking.numbers[i]);
    free(ranking.numbers);
    return 0;
}
